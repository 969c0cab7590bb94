/* cutt bench: the paper's benchmark sets, or a file's, beside the speed of a plain copy.
 *
 * A default run is meant to take a few minutes and yet to be about memory: volumes are such that 400 MB move at least,
 * where the paper's 200M elements (--volume paper) would ask for several gigabytes. Whatever the seed, a case is the
 * same on every machine; every element of every result is checked. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "cases.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "files.h"
#include "memory.h"
#include "report.h"
#include "run.h"

static const char me[] = "bench";

enum { PAPER_VOLUME = -1, DEFAULT_VOLUME = 0 };
enum { FIGURES = 4, EVERYDAY = 5, LAYOUTS = 6, FIGURES_CPU_CANDIDATES = 24 };

/* What the command line asks for. */
typedef struct request {
  const char *set; /* as given: "set1", "FILE.csv" */
  int number;      /* 1, 2, 3, FIGURES, EVERYDAY, LAYOUTS; 0 for a file */
  cuttBackend_t backend;
  const cutt_bench_dtype *dtype;
  int64_t volume;        /* elements, or PAPER_VOLUME or DEFAULT_VOLUME */
  bool volume_as_listed; /* set2 and figures: the paper's tensors as they are */
  int64_t samples;       /* -1: the set's default */
  int64_t seed;
  int threads;
  double case_seconds;     /* 0: as long as is usual */
  int64_t most_candidates; /* 0: not said */
  double beta;
  cutt_bench_check_t check;
  bool measure, all_candidates, list, force, quiet;
  const char *json_path, *csv_path;
} request;

/* Set by Ctrl-C: the case under way is finished, and what there is gets reported. */
static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
  (void)number;
  interrupted = 1;
}

/* ---------------------------------------------------------------------------------------------------------- options */

static bool read_dtype(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  const cutt_bench_dtype **dtype = field;
  *dtype = cutt_bench_dtype_find(text);
  if (*dtype) return true;
  cutt_cli_misused(command, "--%s is '%s'; it must be one of %s", option->name, text, cutt_bench_dtype_names());
  return false;
}

static bool read_volume(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  int64_t *volume = field;
  *volume = PAPER_VOLUME;
  return !strcmp(text, "paper") || cutt_cli_parse_size(command, option->name, text, 1, INT64_C(1) << 40, volume);
}

static bool read_samples(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  return cutt_cli_parse_int(command, option->name, text, 0, 100000, field);
}

static bool read_candidates(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  return cutt_cli_parse_int(command, option->name, text, 1, 100000, field);
}

static bool read_beta(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  return cutt_cli_parse_double(command, option->name, text, -1000, 1000, field);
}

static bool read_full_check(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  (void)command;
  (void)option;
  (void)text;
  *(cutt_bench_check_t *)field = CUTT_BENCH_CHECK_ALL;
  return true;
}

static bool read_no_check(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  (void)command;
  (void)option;
  (void)text;
  *(cutt_bench_check_t *)field = CUTT_BENCH_CHECK_NOTHING;
  return true;
}

static const cutt_cli_option options[] = {
    {NULL, "set1", "tensors of ranks 2 to 7, extents in ratios 1:1, 5:1 and 15:1, random permutations", NULL, 0},
    {NULL, "set2", "the paper's tensors of rank 8 and 12: trivial, reverse and random permutations", NULL, 0},
    {NULL, "set3", "the 57 permutations of the TTC benchmark", NULL, 0},
    {NULL, "figures", "sets 1 and 2 with --all-candidates: the paper's Fig. 5-7 and 9, chosen beside measured", NULL,
     0},
    {NULL, "everyday", "pictures, flips, rotations, broadcasts, strided views, batches, 1 KB to 200 MB", NULL, 0},
    {NULL, "layouts", "attention, channels of images, FFT axes, amplitudes, qubits, long matrices", NULL, 0},
    {NULL, "FILE.csv",
     "lines 'id,dims,perm' under that heading, such as '1,48x28x28,2 0 1': the first index is the fastest, output mode "
     "i is input mode perm[i]; - reads standard input. A fourth column 'in_strides' has the input's strides in "
     "elements, or nothing if it is contiguous: '1,48x28,0 1,-1 48'",
     NULL, 0},
    {NULL, NULL, "", NULL, 0},
    {"backend", "NAME", "cpu, cuda, or auto for the GPU where there is one (default: auto)", cutt_cli_read_backend,
     offsetof(request, backend)},
    {"dtype", "NAME", "b1 i1 u1 i2 u2 f2 i4 u4 f4 i8 u8 f8 c8 c16 (default: f8)", read_dtype, offsetof(request, dtype)},
    {"volume", "N",
     "elements of a tensor, on average (200M, 1.5Gi); 'paper' for the paper's own volumes (default: set1 336 MB, set2 "
     "208 MB, figures 96 MB in each tensor; the others as listed)",
     read_volume, offsetof(request, volume)},
    {"samples", "N",
     "set1: tensors of each rank and ratio (default: 4; the paper has 500 permutations of each rank); set2: random "
     "permutations of each tensor (default: 30; the paper has 500); figures: N as for set1, 6 N as for set2 (default: "
     "2)",
     read_samples, offsetof(request, samples)},
    {"seed", "S", "another draw of cases (default: 2017)", cutt_cli_read_seed, offsetof(request, seed)},
    {"threads", "N", "CPU: use N threads (default: OMP_NUM_THREADS, else all cores)", cutt_cli_read_threads,
     offsetof(request, threads)},
    {"seconds", "S", "time each case for about so long (default: 0.3; on a GPU 0.06)", cutt_cli_read_case_seconds,
     offsetof(request, case_seconds)},
    {"measure", NULL, "choose by timing, and compare with the model's choice", cutt_cli_read_flag,
     offsetof(request, measure)},
    {"beta", "B", "out = in + B * out; bytes count 3x rather than 2x when B is not 0 (default: 0)", read_beta,
     offsetof(request, beta)},
    {"all-candidates", NULL,
     "also time every candidate of each case, judge the model by it, and write them with --json", cutt_cli_read_flag,
     offsetof(request, all_candidates)},
    {"candidates", "N",
     "the same for N candidates of each case, those that the model puts first (figures: on the CPU 24)",
     read_candidates, offsetof(request, most_candidates)},
    {"full-check", NULL, "on a GPU: check every element of every result (default: 8 MB of each, in blocks)",
     read_full_check, offsetof(request, check)},
    {"no-check", NULL, "do not check the results", read_no_check, offsetof(request, check)},
    {"json", "FILE", "write machine, results and summary; - is standard output, and the tables then go to stderr",
     cutt_cli_read_text, offsetof(request, json_path)},
    {"csv", "FILE", "write the cases, in the form of FILE.csv", cutt_cli_read_text, offsetof(request, csv_path)},
    {"list", NULL, "print the cases and measure nothing", cutt_cli_read_flag, offsetof(request, list)},
    {"force", NULL, "replace the files of --json and --csv when they exist", cutt_cli_read_flag,
     offsetof(request, force)},
    {"quiet", NULL, "no progress bar", cutt_cli_read_flag, offsetof(request, quiet)},
};

static const cutt_cli_syntax syntax = {
    .command = me,
    .usage =
        "Usage: cutt bench set1|set2|set3|figures|everyday|layouts|FILE.csv [OPTION]...\n"
        "       cutt bench contract --set SET [OPTION]...\n"
        "Measure permutations beside the speed of a plain copy, and check the results; or contractions beside that\n"
        "of their matrix products, which 'cutt bench contract --help' explains.\n",
    .options = options,
    .count = sizeof options / sizeof options[0],
};

/* ---------------------------------------------------------------------------------------------------------- request */

static int default_threads(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

/* What is not said of volumes and samples. Of set 1, 336 MB a tensor: two deviations below that are 400 MB of traffic
 * still. The figures take each case dozens of times, and some minutes with less. */
static void set_defaults(request *ask) {
  static const int64_t samples[] = {-1, 4, 30, -1, 2, -1, -1}, bytes[] = {0, 336000000, 208000000, 0, 96000000, 0, 0};
  if (ask->samples < 0) ask->samples = samples[ask->number];
  if (ask->volume == PAPER_VOLUME) {
    ask->volume_as_listed = true;
    ask->volume = ask->number == 1 || ask->number == FIGURES ? 200000000 : 0;
  } else if (ask->volume == DEFAULT_VOLUME) {
    ask->volume = bytes[ask->number] / ask->dtype->bytes;
  }
}

/* What options say together; the operand. */
static int check_request(int argc, char **argv, request *ask) {
  if (argc - optind != 1)
    return cutt_cli_misused(
        me, argc == optind ? "no set given; it must be set1, set2, set3, figures, everyday, layouts or a file FILE.csv"
                           : "more than one set given; there may be one of set1, set2, set3, "
                             "figures, everyday, layouts or a file FILE.csv");
  ask->set = argv[optind];
  for (int i = 1; i <= 3; ++i) {
    char name[8];
    snprintf(name, sizeof name, "set%d", i);
    if (!strcmp(ask->set, name)) ask->number = i;
  }
  if (!strcmp(ask->set, "figures")) ask->number = FIGURES;
  if (!strcmp(ask->set, "everyday")) ask->number = EVERYDAY;
  if (!strcmp(ask->set, "layouts")) ask->number = LAYOUTS;
  if (!strcmp(ask->set, "contract"))
    return cutt_cli_misused(me, "contract has options of its own and comes first: cutt bench contract --set SET ...");
  if ((ask->number == 0 || ask->number >= EVERYDAY) && ask->volume != DEFAULT_VOLUME)
    return cutt_cli_misused(me, "--volume is for set1, set2, set3 and figures; the extents in %s are taken as they are",
                            ask->set);
  if ((ask->number == 0 || ask->number == 3 || ask->number >= EVERYDAY) && ask->samples >= 0)
    return cutt_cli_misused(me, "--samples is for set1, set2 and figures; %s has its own cases", ask->set);
  if ((ask->number == 1 || ask->number == FIGURES) && ask->samples == 0)
    return cutt_cli_misused(me, "--samples is '0'; for %s it must be a whole number from 1 to 100000", ask->set);
  if (ask->beta != 0 && ask->dtype->computed == 0)
    return cutt_cli_misused(me,
                            "--beta needs elements to compute with; --dtype %s has none, but f2 f4 f8 c8 c16 i4 i8 do",
                            ask->dtype->name);
  bool whole = (double)(int64_t)ask->beta == ask->beta;
  if (!whole && (ask->dtype->computed == CUTT_I32 || ask->dtype->computed == CUTT_I64))
    return cutt_cli_misused(me, "--beta is %g; with --dtype %s it must be a whole number", ask->beta, ask->dtype->name);
  if (ask->all_candidates && ask->most_candidates)
    return cutt_cli_misused(me, "--all-candidates and --candidates exclude each other");
  const char *writer = ask->number == FIGURES ? ask->set
                       : ask->all_candidates  ? "--all-candidates"
                       : ask->most_candidates ? "--candidates"
                                              : NULL;
  if (writer && !ask->json_path && !ask->list)
    return cutt_cli_misused(me, "%s writes to the file of --json, and there is none", writer);
  if (ask->threads == 0) ask->threads = default_threads();
#ifndef _OPENMP
  if (ask->threads > 1) return cutt_cli_misused(me, "--threads must be 1: this program was built without OpenMP");
#endif
  set_defaults(ask);
  return CUTT_CLI_DONE;
}

/* ------------------------------------------------------------------------------------------------------------ files */

static int read_cases(const request *ask, cutt_bench_cases *cases) {
  char error[512];
  bool good = true;
  uint64_t seed = (uint64_t)ask->seed;
  switch (ask->number) {
    case 1:
      good = cutt_bench_set1(cases, (int)ask->samples, ask->volume, seed);
      break;
    case 2:
      good = cutt_bench_set2(cases, (int)ask->samples, ask->volume, seed);
      break;
    case 3:
      good = cutt_bench_set3(cases, ask->volume);
      break;
    case EVERYDAY:
      good = cutt_bench_everyday(cases);
      break;
    case LAYOUTS:
      good = cutt_bench_layouts(cases);
      break;
    case FIGURES:
      good = cutt_bench_set1(cases, (int)ask->samples, ask->volume, seed) &&
             cutt_bench_set2(cases, 6 * (int)ask->samples, ask->volume_as_listed ? 0 : ask->volume, seed);
      break;
    default: {
      bool is_stdin = !strcmp(ask->set, "-");
      const char *name = is_stdin ? "stdin" : ask->set;
      FILE *file = is_stdin ? stdin : fopen(name, "r");
      if (!file && errno == ENOENT && !strchr(name, '.') && !strchr(name, '/'))
        return cutt_cli_misused(
            me, "unknown set '%s'; it must be set1, set2, set3, figures, everyday, layouts or a file FILE.csv", name);
      if (!file) return cutt_cli_failed("%s can't be read: %s", name, strerror(errno));
      good = cutt_bench_read(cases, file, name, "cases", error, sizeof error);
      if (!is_stdin) fclose(file);
      if (!good) return cutt_cli_failed("%s", error);
      return CUTT_CLI_DONE;
    }
  }
  return good ? CUTT_CLI_DONE : cutt_cli_failed("out of memory for the list of cases");
}

static int write_csv(const request *ask, const cutt_bench_cases *cases) {
  FILE *file = cutt_bench_file_open("--csv", ask->csv_path, ask->force);
  if (!file) return CUTT_CLI_FAILED;
  bool written = cutt_bench_write(cases, file);
  if (!cutt_bench_file_close(file) || !written)
    return cutt_cli_failed("--csv: %s can't be written: %s", ask->csv_path, strerror(errno));
  return CUTT_CLI_DONE;
}

/* ---------------------------------------------------------------------------------------------------------- running */

/* Bytes of each buffer, or a refusal when that is more than the machine has. */
static int find_bytes(const request *ask, const cutt_bench_cases *cases, int64_t *bytes) {
  int64_t largest = 0;
  const cutt_bench_case *of = &cases->item[0];
  for (size_t i = 0; i < cases->count; ++i) {
    int64_t first, volume = cutt_bench_volume(&cases->item[i]), span = cutt_bench_span(&cases->item[i], &first);
    if (span > volume) volume = span;
    if (volume <= largest) continue;
    largest = volume;
    of = &cases->item[i];
  }
  int64_t available = cutt_bench_memory_available();
  double need = 2.0 * (double)largest * ask->dtype->bytes;
  *bytes = need < 9e18 ? largest * ask->dtype->bytes : INT64_MAX;
  if (ask->backend != CUTT_BACKEND_CPU) return CUTT_CLI_DONE; /* the device says when it is asked for them */
  /* A tenth is left to the rest of the machine. */
  double usable = available > 0 ? 0.9 * (double)available : 4e18;
  if (need <= usable) return CUTT_CLI_DONE;
  char advice[128] = "";
  if (ask->number > 0 && ask->number < EVERYDAY) {
    /* Volumes scale all cases, in set 1 up to 1.4 times the mean; rounded to two digits, downwards. */
    double mean = ask->volume > 0 ? (double)ask->volume : (double)largest, fits = mean * usable / need;
    int64_t digits = (int64_t)(fits * 0.95), power = 1;
    while (digits / power >= 100) power *= 10;
    digits = digits / power * power;
    if (digits >= 1) snprintf(advice, sizeof advice, "; --volume %lld would fit", (long long)digits);
  }
  return cutt_cli_failed("case %s needs %.1f GB for its two tensors, and %.1f GB of memory are available%s", of->id,
                         1e-9 * need, 1e-9 * (double)available, advice);
}

/* Runs the cases; *done receives how many. Failures are in the results, and said as they come. */
static void run_cases(cutt_bench_run *run, const cutt_bench_cases *cases, cutt_bench_result *results, size_t *done,
                      FILE *table, bool quiet) {
  /* Once only: a second Ctrl-C ends the program at once. */
  struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND}, before;
  sigaction(SIGINT, &action, &before);
  cutt_cli_progress progress = cutt_cli_progress_start(quiet);
  cutt_bench_print_head(table, cases);
  for (*done = 0; *done < cases->count && !interrupted; ++*done) {
    const cutt_bench_case *c = &cases->item[*done];
    char what[128];
    snprintf(what, sizeof what, "%zu of %zu: %s", *done + 1, cases->count, c->id);
    cutt_cli_progress_show(&progress, what, (double)*done / (double)cases->count);
    cutt_bench_run_case(run, c, &results[*done]);
    cutt_cli_progress_clear(&progress);
    cutt_bench_print_row(table, cases, &results[*done]);
    if (results[*done].error[0]) {
      char dims[256], perm[256];
      cutt_cli_message("case %s (%s, perm %s): %s", c->id, cutt_bench_dims_text(c, dims, sizeof dims),
                       cutt_bench_perm_text(c, perm, sizeof perm), results[*done].error);
    }
  }
  sigaction(SIGINT, &before, NULL);
}

/* Takes and fills the memory, and wakes a device up. False after a message. */
static bool open_run(const request *ask, int64_t bytes, cutt_bench_run *run) {
  char why[512];
  *run = (cutt_bench_run){.values = {ask->dtype, ask->beta != 0, ask->beta},
                          .threads = ask->threads,
                          .measure = ask->measure,
                          .all_candidates = ask->all_candidates || ask->most_candidates || ask->number == FIGURES,
                          .most_candidates = (int)ask->most_candidates,
                          .check = ask->check};
  if (ask->number == FIGURES && !ask->all_candidates && !ask->most_candidates && ask->backend == CUTT_BACKEND_CPU)
    run->most_candidates = FIGURES_CPU_CANDIDATES;
  run->clock = (cutt_bench_clock){.buffers = &run->buffers, .threads = run->threads, .case_seconds = ask->case_seconds};
  if (!cutt_bench_buffers_open(&run->buffers, ask->backend, (size_t)bytes, run->threads, why, sizeof why)) {
    cutt_cli_message(
        "two buffers of %.1f GB each can't be had for --backend %s: %s; a smaller --volume would need less",
        1e-9 * (double)bytes, cutt_cli_backend_name(ask->backend), why);
    return false;
  }
  if (cutt_bench_fill_in(&run->buffers, &run->values, bytes / ask->dtype->bytes, why, sizeof why) &&
      cutt_bench_warm_up(&run->clock, why, sizeof why))
    return true;
  cutt_cli_message("the input could not be made: %s", why);
  cutt_bench_buffers_close(&run->buffers);
  return false;
}

static const char *name_of_check(const request *ask) {
  if (ask->check == CUTT_BENCH_CHECK_NOTHING) return "nothing";
  return ask->check == CUTT_BENCH_CHECK_ALL || ask->backend == CUTT_BACKEND_CPU ? "all" : "sample";
}

/* Everything after the cases, the bytes of a buffer and the JSON file (or NULL) are there. */
static int measure(const request *ask, const cutt_bench_cases *cases, int64_t bytes, FILE *json) {
  int code = CUTT_CLI_DONE;
  cutt_bench_run run;
  cutt_bench_result *results = calloc(cases->count, sizeof *results);
  if (!results) return cutt_cli_failed("out of memory for %zu results", cases->count);
  if (!open_run(ask, bytes, &run)) {
    free(results);
    return CUTT_CLI_FAILED;
  }
  FILE *table = json == stdout ? stderr : stdout;
  size_t done = 0;
  run_cases(&run, cases, results, &done, table, ask->quiet);
  cutt_bench_buffers_close(&run.buffers);

  cutt_bench_setup setup = {.set = ask->set,
                            .dtype = ask->dtype->name,
                            .elem_bytes = ask->dtype->bytes,
                            .backend = ask->backend,
                            .threads = run.threads,
                            .check = name_of_check(ask),
                            .measure = ask->measure,
                            .most_candidates = run.most_candidates,
                            .beta = ask->beta,
                            .volume = ask->volume,
                            .samples = (int)(ask->samples < 0 ? 0 : ask->samples),
                            .seed = (uint64_t)ask->seed};
  if (!cutt_bench_print_summary(table, &setup, results, done)) code = cutt_cli_failed("out of memory for the summary");
  if (fflush(table) != 0) code = cutt_cli_failed("the output could not be written: %s", strerror(errno));
  if (json && !cutt_bench_write_json(json, &setup, results, done))
    code = cutt_cli_failed("--json: %s can't be written: %s", ask->json_path, strerror(errno));
  for (size_t i = 0; i < done; ++i)
    if (results[i].error[0]) code = CUTT_CLI_FAILED;
  if (done < cases->count) code = cutt_cli_failed("interrupted after %zu of %zu cases", done, cases->count);
  cutt_bench_results_free(results, done);
  return code;
}

int cutt_cli_bench(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "contract")) return cutt_cli_bench_contract(argc - 1, argv + 1);
  request ask = {
      .set = "", .dtype = cutt_bench_dtype_find("f8"), .samples = -1, .seed = 2017, .check = CUTT_BENCH_CHECK_SAMPLE};
  int code = CUTT_CLI_DONE;
  if (!cutt_cli_read_options(&syntax, argc, argv, &ask, &code)) return code;
  code = check_request(argc, argv, &ask);
  if (code != CUTT_CLI_DONE) return code;

  cutt_bench_cases cases = {0};
  int64_t bytes = 0;
  code = read_cases(&ask, &cases);
  if (code == CUTT_CLI_DONE && ask.csv_path) code = write_csv(&ask, &cases);
  if (code == CUTT_CLI_DONE && ask.list) {
    if (!cutt_bench_write(&cases, stdout))
      code = cutt_cli_failed("the output could not be written: %s", strerror(errno));
  } else if (code == CUTT_CLI_DONE && !cutt_cli_find_backend(ask.backend, &ask.backend)) {
    code = CUTT_CLI_FAILED;
  } else if (code == CUTT_CLI_DONE) {
    code = find_bytes(&ask, &cases, &bytes);
    /* Opened before anything is measured, so that a wrong path costs no run. */
    FILE *json =
        code == CUTT_CLI_DONE && ask.json_path ? cutt_bench_file_open("--json", ask.json_path, ask.force) : NULL;
    if (code == CUTT_CLI_DONE && ask.json_path && !json) code = CUTT_CLI_FAILED;
    if (code == CUTT_CLI_DONE) code = measure(&ask, &cases, bytes, json);
    if (!cutt_bench_file_close(json) && code == CUTT_CLI_DONE)
      code = cutt_cli_failed("--json: %s can't be written: %s", ask.json_path, strerror(errno));
  }
  cutt_bench_cases_free(&cases);
  return code;
}
