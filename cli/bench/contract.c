/* cutt bench contract: contractions beside the speed of their matrix products, by the cuTT paper's section 3.4.
 *
 * Three sets: the lists of TAL-SH and of the TCCG benchmark, which are coupled cluster's and their kin, and the paper's
 * random sample, whose thousands of cases and 75M elements are more than a default run should take: it has 100 cases
 * with tensors of 4M elements, and takes a few minutes. Whatever the seed, a case is the same on every machine. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "cli/options.h"
#include "cli/override.h"
#include "contract_report.h"
#include "files.h"
#include "memory.h"

static const char me[] = "bench contract";

enum { TALSH48, TCCG48, RANDOM, SETS };
static const char *const set_names[SETS] = {"talsh48", "tccg48", "random"};
enum { UNSAID = -1, PAPER = -2, DEFAULT_SAMPLES = 100, DEFAULT_VOLUME = 4000000 };

/* What the command line asks for. */
typedef struct request {
  int set;
  int64_t samples, seed, volume; /* samples and volume: UNSAID, PAPER or a number */
  const cutt_cli_number *number;
  cuttContractionOptions_t options;
  double case_seconds;
  bool no_check, list, force, quiet;
  const char *json_path, *csv_path;
} request;

/* Set by Ctrl-C: the case under way is finished, and what there is gets reported. */
static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
  (void)number;
  interrupted = 1;
}

/* ---------------------------------------------------------------------------------------------------------- options */

static bool read_set(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  int *set = field;
  for (*set = 0; *set < SETS; ++*set)
    if (!strcmp(text, set_names[*set])) return true;
  cutt_cli_misused(command, "--%s is '%s'; it must be talsh48, tccg48 or random", option->name, text);
  return false;
}

static bool read_dtype(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  const cutt_cli_number **number = field;
  *number = cutt_cli_number_find(text);
  if (*number && (*number)->word >= 4) return true;
  cutt_cli_misused(command, "--%s is '%s'; it must be f4, f8, c8 or c16", option->name, text);
  return false;
}

static bool read_samples(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  int64_t *samples = field;
  *samples = PAPER;
  return !strcmp(text, "paper") || cutt_cli_parse_int(command, option->name, text, 1, 100000, samples);
}

static bool read_volume(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  int64_t *volume = field;
  *volume = PAPER;
  return !strcmp(text, "paper") || cutt_cli_parse_size(command, option->name, text, 1, INT64_C(1) << 40, volume);
}

static const cutt_cli_option options[] = {
    {"set", "NAME",
     "talsh48: the 48 contractions of TAL-SH; tccg48: those of the TCCG benchmark; random: the sample of the cuTT "
     "paper's section 3.4, 9306 contractions of tensors of ranks 1 to 8",
     read_set, offsetof(request, set)},
    {"samples", "N", "random: N cases, every kind as likely as another (default: 100); 'paper' for all", read_samples,
     offsetof(request, samples)},
    {"seed", "S", "random: another draw of cases (default: 2017)", cutt_cli_read_seed, offsetof(request, seed)},
    {"dtype", "NAME", "f4, f8, c8 or c16 (default: f8)", read_dtype, offsetof(request, number)},
    {"volume", "N",
     "elements of the largest tensor of a case, at most (4M, 1.5Gi); 'paper' for the paper's, 75M, and 150M of f4 "
     "(default: random 4M, others as listed)",
     read_volume, offsetof(request, volume)},
    {"threads", "N", "CPU: use N threads at most (default: OMP_NUM_THREADS, else all cores)", cutt_cli_read_threads,
     offsetof(request, options.threads)},
    {"seconds", "S", "time each case for about so long (default: 0.4)", cutt_cli_read_case_seconds,
     offsetof(request, case_seconds)},
    {"workspace", "SIZE", "the most bytes of workspace, such as 400M (default: no limit)", cutt_cli_read_bytes,
     offsetof(request, options.workspace_limit)},
    {"backend", "NAME", "cpu, cuda, or auto for the GPU where there is one (default: auto)", cutt_cli_read_backend,
     offsetof(request, options.backend)},
    {"provider", "NAME", "the BLAS library: one that 'cutt devices' lists, or a path (default: the fastest)",
     cutt_cli_read_text, offsetof(request, options.provider)},
    {"no-check", NULL, "do not check the results", cutt_cli_read_flag, offsetof(request, no_check)},
    {"json", "FILE",
     "write machine, settings, cases and summary; - is standard output, and the tables then go to stderr",
     cutt_cli_read_text, offsetof(request, json_path)},
    {"csv", "FILE", "write the cases: id;group;pattern;extents", cutt_cli_read_text, offsetof(request, csv_path)},
    {"list", NULL, "print the cases in that form and measure nothing", cutt_cli_read_flag, offsetof(request, list)},
    {"force", NULL, "replace the files of --json and --csv when they exist", cutt_cli_read_flag,
     offsetof(request, force)},
    {"quiet", NULL, "no progress bar, and no word on an environment override", cutt_cli_read_flag,
     offsetof(request, quiet)},
};

static const cutt_cli_syntax syntax = {
    .command = me,
    .usage =
        "Usage: cutt bench contract --set talsh48|tccg48|random [OPTION]...\n"
        "Measure contractions beside the speed of the matrix products that they are, and check the results.\n",
    .options = options,
    .count = sizeof options / sizeof options[0],
    .remarks = "In a pattern the first letter of a tensor is its fastest mode, as in the library.\n",
};

/* ---------------------------------------------------------------------------------------------------------- request */

/* What options say together, and what is not said. */
static int check_request(int argc, char **argv, request *ask) {
  if (optind < argc)
    return cutt_cli_misused(me, "'%s' is not an option; bench contract takes options only", argv[optind]);
  if (ask->set == SETS) return cutt_cli_misused(me, "--set is missing; it must be talsh48, tccg48 or random");
  if (ask->set != RANDOM && ask->samples != UNSAID)
    return cutt_cli_misused(me, "--samples is for the set random; %s has its own cases", set_names[ask->set]);
  if (ask->samples == UNSAID) ask->samples = DEFAULT_SAMPLES;
  if (ask->samples == PAPER || ask->set != RANDOM) ask->samples = 0;
  if (ask->volume == UNSAID) ask->volume = ask->set == RANDOM ? DEFAULT_VOLUME : 0;
  if (ask->volume == PAPER) ask->volume = ask->set != RANDOM ? 0 : ask->number->bytes <= 4 ? 150000000 : 75000000;
#ifdef _OPENMP
  if (ask->options.threads == 0) ask->options.threads = omp_get_max_threads();
  omp_set_num_threads(ask->options.threads); /* for filling and checking, too */
#endif
  return CUTT_CLI_DONE;
}

static int read_cases(const request *ask, cutt_bench_contractions *cases) {
  const bool good = ask->set == TALSH48 ? cutt_bench_contract_talsh48(cases, ask->volume)
                    : ask->set == TCCG48
                        ? cutt_bench_contract_tccg48(cases, ask->number->bytes, ask->volume)
                        : cutt_bench_contract_random(cases, ask->samples, ask->volume, (uint64_t)ask->seed);
  return good ? CUTT_CLI_DONE : cutt_cli_failed("out of memory for the list of cases");
}

static int write_csv(const request *ask, const cutt_bench_contractions *cases) {
  FILE *file = cutt_bench_file_open("--csv", ask->csv_path, ask->force);
  if (!file) return CUTT_CLI_FAILED;
  const bool written = cutt_bench_contract_write(cases, file);
  if (!cutt_bench_file_close(file) || !written)
    return cutt_cli_failed("--csv: %s can't be written: %s", ask->csv_path, strerror(errno));
  return CUTT_CLI_DONE;
}

/* ---------------------------------------------------------------------------------------------------------- running */

/* Tensors, workspace and the matrix product's scratch memory: each as much as the three tensors together. A tenth is
 * left to the rest of the machine. */
static int check_memory(const request *ask, const cutt_bench_contractions *cases) {
  double need = 0, largest[CUTT_CLI_TENSORS] = {0};
  if (ask->options.backend != CUTT_BACKEND_CPU) return CUTT_CLI_DONE; /* the device says when it is asked for it */
  for (size_t i = 0; i < cases->count; ++i) {
    double all = 0;
    for (int t = 0; t < CUTT_CLI_TENSORS; ++t) {
      const double bytes = (double)cutt_bench_contract_volume(&cases->item[i], t) * ask->number->bytes;
      all += bytes;
      if (bytes > largest[t]) largest[t] = bytes;
    }
    if (2 * all > need) need = 2 * all;
  }
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t) need += largest[t];
  const double available = (double)cutt_bench_memory_available();
  if (available <= 0 || need <= 0.9 * available) return CUTT_CLI_DONE;
  return cutt_cli_failed(
      "%.1f GB are needed for the largest case, and %.1f GB of memory are available; a smaller "
      "--volume would need less",
      1e-9 * need, 1e-9 * available);
}

/* Runs the cases; *done receives how many. Failures are in the results, and said as they come. */
static void run_cases(cutt_bench_contract_run *run, const cutt_bench_contractions *cases,
                      cutt_bench_contract_result *results, size_t *done, FILE *table, bool quiet) {
  /* Once only: a second Ctrl-C ends the program at once. */
  struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND}, before;
  sigaction(SIGINT, &action, &before);
  cutt_cli_progress progress = cutt_cli_progress_start(quiet);
  cutt_bench_contract_head(table, cases);
  for (*done = 0; *done < cases->count && !interrupted; ++*done) {
    const cutt_bench_contraction *c = &cases->item[*done];
    cutt_bench_contract_result *result = &results[*done];
    char what[128], pattern[64], extents[512];
    snprintf(what, sizeof what, "%zu of %zu: %s", *done + 1, cases->count, c->id);
    cutt_cli_progress_show(&progress, what, (double)*done / (double)cases->count);
    cutt_bench_contract_case(run, c, result);
    cutt_cli_progress_clear(&progress);
    cutt_bench_contract_row(table, cases, result);
    if (result->error[0])
      cutt_cli_message("case %s (%s, %s): %s", c->id, cutt_bench_contract_pattern(c, pattern, sizeof pattern),
                       cutt_bench_contract_extents(c, extents, sizeof extents), result->error);
  }
  sigaction(SIGINT, &before, NULL);
}

/* Everything after the cases and the JSON file (or NULL) are there. */
static int measure(const request *ask, const cutt_bench_contractions *cases, FILE *json) {
  char why[512];
  cutt_bench_contract_result *results = calloc(cases->count, sizeof *results);
  if (!results) return cutt_cli_failed("out of memory for %zu results", cases->count);
  cutt_bench_contract_run run = {
      .number = ask->number, .options = ask->options, .case_seconds = ask->case_seconds, .check = !ask->no_check};
  if (!cutt_bench_contract_open(&run, cases, why, sizeof why)) {
    free(results);
    return cutt_cli_failed("the tensors' memory can't be had for --backend %s: %s; a smaller --volume would need less",
                           cutt_cli_backend_name(ask->options.backend), why);
  }
  FILE *table = json == stdout ? stderr : stdout;
  size_t done = 0;
  run_cases(&run, cases, results, &done, table, ask->quiet);
  cutt_bench_contract_close(&run);
  const cutt_bench_contract_setup setup = {.set = set_names[ask->set],
                                           .number = ask->number,
                                           .backend = ask->options.backend,
                                           .threads = ask->options.threads,
                                           .provider = ask->options.provider,
                                           .workspace_limit = ask->options.workspace_limit,
                                           .check = !ask->no_check,
                                           .volume = ask->volume,
                                           .samples = ask->samples,
                                           .seed = (uint64_t)ask->seed};
  int code = CUTT_CLI_DONE;
  if (!cutt_bench_contract_summary(table, &setup, results, done))
    code = cutt_cli_failed("out of memory for the summary");
  if (fflush(table) != 0) code = cutt_cli_failed("the output could not be written: %s", strerror(errno));
  if (json && !cutt_bench_contract_write_json(json, &setup, results, done))
    code = cutt_cli_failed("--json: %s can't be written: %s", ask->json_path, strerror(errno));
  for (size_t i = 0; i < done; ++i)
    if (results[i].error[0]) code = CUTT_CLI_FAILED;
  if (done < cases->count) code = cutt_cli_failed("interrupted after %zu of %zu cases", done, cases->count);
  free(results);
  return code;
}

/* The files are opened before anything is measured, so that a wrong path costs no run. */
static int open_and_measure(request *ask, const cutt_bench_contractions *cases) {
  if (!cutt_cli_find_backend(ask->options.backend, &ask->options.backend)) return CUTT_CLI_FAILED;
  int code = check_memory(ask, cases);
  if (code != CUTT_CLI_DONE) return code;
  cutt_cli_tell_override(&ask->options, ask->quiet);
  if (ask->csv_path) code = write_csv(ask, cases);
  if (code != CUTT_CLI_DONE) return code;
  FILE *json = ask->json_path ? cutt_bench_file_open("--json", ask->json_path, ask->force) : NULL;
  if (ask->json_path && !json) return CUTT_CLI_FAILED;
  code = measure(ask, cases, json);
  if (!cutt_bench_file_close(json) && code == CUTT_CLI_DONE)
    code = cutt_cli_failed("--json: %s can't be written: %s", ask->json_path, strerror(errno));
  return code;
}

int cutt_cli_bench_contract(int argc, char **argv) {
  request ask = {.set = SETS,
                 .samples = UNSAID,
                 .volume = UNSAID,
                 .seed = 2017,
                 .case_seconds = 0.4,
                 .number = cutt_cli_number_find("f8"),
                 .options = CUTT_CONTRACTION_OPTIONS_INIT};
  int code;
  if (!cutt_cli_read_options(&syntax, argc, argv, &ask, &code)) return code;
  code = check_request(argc, argv, &ask);
  if (code != CUTT_CLI_DONE) return code;
  cutt_bench_contractions cases = {0};
  code = read_cases(&ask, &cases);
  if (code == CUTT_CLI_DONE && ask.list) {
    if (ask.csv_path) code = write_csv(&ask, &cases);
    if (code == CUTT_CLI_DONE && !cutt_bench_contract_write(&cases, stdout))
      code = cutt_cli_failed("the output could not be written: %s", strerror(errno));
  } else if (code == CUTT_CLI_DONE) {
    code = open_and_measure(&ask, &cases);
  }
  cutt_bench_contractions_free(&cases);
  return code;
}
