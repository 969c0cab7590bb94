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

#include "cli/cure.h"
#include "contract_report.h"
#include "files.h"
#include "memory.h"

static const char me[] = "bench contract";

static const char help[] =
    "Usage: cutt bench contract --set talsh48|tccg48|random [OPTION]...\n"
    "Measure contractions beside the speed of the matrix products that they are, and check the results.\n\n"
    "  --set NAME       talsh48: the 48 contractions of TAL-SH; tccg48: those of the TCCG benchmark; random: the "
    "sample\n"
    "                   of the cuTT paper's section 3.4, 9306 contractions of tensors of ranks 1 to 8\n"
    "  --samples N      random: N cases, every kind as likely as another (default: 100); 'paper' for all\n"
    "  --seed S         random: another draw of cases (default: 2017)\n"
    "  --dtype NAME     f4, f8, c8 or c16 (default: f8)\n"
    "  --volume N       elements of the largest tensor of a case, at most (4M, 1.5Gi); 'paper' for the paper's, 75M,\n"
    "                   and 150M of f4 (default: random 4M, others as listed)\n"
    "  --threads N      CPU: use N threads at most (default: OMP_NUM_THREADS, else all cores)\n"
    "  --workspace SIZE the most bytes of workspace, such as 400M (default: no limit)\n"
    "  --backend NAME   cpu, cuda, or auto for the GPU where there is one (default: auto)\n"
    "  --provider NAME  the library of matrix products: one that 'cutt devices' lists, or a path (default: the "
    "fastest)\n"
    "  --no-cure        use that library as it is, also where it picks slow kernels and can be told better\n"
    "  --no-check       do not check the results\n"
    "  --json FILE      write machine, settings, cases and summary; - is standard output, and the tables then go to\n"
    "                   stderr\n"
    "  --csv FILE       write the cases: id;group;pattern;extents\n"
    "  --list           print the cases in that form and measure nothing\n"
    "  --force          replace the files of --json and --csv when they exist\n"
    "  --quiet          no progress bar\n"
    "  -h, --help       this help\n\n"
    "In a pattern the first letter of a tensor is its fastest mode, as in the library.\n";

enum {
  OPTION_SET = 256,
  OPTION_SAMPLES,
  OPTION_SEED,
  OPTION_DTYPE,
  OPTION_VOLUME,
  OPTION_THREADS,
  OPTION_WORKSPACE,
  OPTION_BACKEND,
  OPTION_PROVIDER,
  OPTION_NO_CURE,
  OPTION_NO_CHECK,
  OPTION_JSON,
  OPTION_CSV,
  OPTION_LIST,
  OPTION_FORCE,
  OPTION_QUIET
};

static const struct option options[] = {{"set", required_argument, NULL, OPTION_SET},
                                        {"samples", required_argument, NULL, OPTION_SAMPLES},
                                        {"seed", required_argument, NULL, OPTION_SEED},
                                        {"dtype", required_argument, NULL, OPTION_DTYPE},
                                        {"volume", required_argument, NULL, OPTION_VOLUME},
                                        {"threads", required_argument, NULL, OPTION_THREADS},
                                        {"workspace", required_argument, NULL, OPTION_WORKSPACE},
                                        {"backend", required_argument, NULL, OPTION_BACKEND},
                                        {"provider", required_argument, NULL, OPTION_PROVIDER},
                                        {"no-cure", no_argument, NULL, OPTION_NO_CURE},
                                        {"no-check", no_argument, NULL, OPTION_NO_CHECK},
                                        {"json", required_argument, NULL, OPTION_JSON},
                                        {"csv", required_argument, NULL, OPTION_CSV},
                                        {"list", no_argument, NULL, OPTION_LIST},
                                        {"force", no_argument, NULL, OPTION_FORCE},
                                        {"quiet", no_argument, NULL, OPTION_QUIET},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};

enum { TALSH48, TCCG48, RANDOM, SETS };
static const char *const set_names[SETS] = {"talsh48", "tccg48", "random"};
enum { UNSAID = -1, PAPER = -2, DEFAULT_SAMPLES = 100, DEFAULT_VOLUME = 4000000 };

/* What the command line asks for. */
typedef struct request {
  int set;
  int64_t samples, seed, volume; /* samples and volume: UNSAID, PAPER or a number */
  const cutt_cli_number *number;
  cuttContractionOptions_t options;
  bool check, cure, list, force, quiet;
  const char *json_path, *csv_path;
} request;

/* Set by Ctrl-C: the case under way is finished, and what there is gets reported. */
static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
  (void)number;
  interrupted = 1;
}

/* ---------------------------------------------------------------------------------------------------------- request */

static bool read_set(const char *text, int *set) {
  for (*set = 0; *set < SETS; ++*set)
    if (strcmp(text, set_names[*set]) == 0) return true;
  cutt_cli_misused(me, "--set is '%s'; it must be talsh48, tccg48 or random", text);
  return false;
}

static bool read_dtype(const char *text, const cutt_cli_number **number) {
  *number = cutt_cli_number_find(text);
  if (*number && (*number)->word >= 4) return true;
  cutt_cli_misused(me, "--dtype is '%s'; it must be f4, f8, c8 or c16", text);
  return false;
}

static bool is_paper(const char *text) { return strcmp(text, "paper") == 0; }

/* One option into the request; false after a message. */
static bool take_option(int option, request *ask) {
  int64_t number = 0;
  switch (option) {
    case OPTION_SET:
      return read_set(optarg, &ask->set);
    case OPTION_SAMPLES:
      ask->samples = PAPER;
      return is_paper(optarg) || cutt_cli_parse_int(me, "--samples", optarg, 1, 100000, &ask->samples);
    case OPTION_SEED:
      return cutt_cli_parse_int(me, "--seed", optarg, 0, INT64_MAX, &ask->seed);
    case OPTION_DTYPE:
      return read_dtype(optarg, &ask->number);
    case OPTION_VOLUME:
      ask->volume = PAPER;
      return is_paper(optarg) || cutt_cli_parse_size(me, "--volume", optarg, 1, INT64_C(1) << 40, &ask->volume);
    case OPTION_THREADS:
      if (!cutt_cli_parse_int(me, "--threads", optarg, 1, CUTT_CLI_MAX_THREADS, &number)) return false;
      ask->options.threads = (int)number;
      return true;
    case OPTION_WORKSPACE:
      return cutt_cli_parse_workspace(me, optarg, &ask->options.workspace_limit);
    case OPTION_BACKEND:
      return cutt_cli_parse_backend(me, optarg, &ask->options.backend);
    case OPTION_PROVIDER:
      ask->options.provider = optarg;
      return true;
    case OPTION_NO_CURE:
      ask->cure = false;
      return true;
    case OPTION_NO_CHECK:
      ask->check = false;
      return true;
    case OPTION_JSON:
      ask->json_path = optarg;
      return true;
    case OPTION_CSV:
      ask->csv_path = optarg;
      return true;
    case OPTION_LIST:
      ask->list = true;
      return true;
    case OPTION_FORCE:
      ask->force = true;
      return true;
    case OPTION_QUIET:
      ask->quiet = true;
      return true;
    default:
      return false;
  }
}

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
    cutt_bench_contract_line(table, cases, result);
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
  cutt_bench_contract_run run = {.number = ask->number, .options = ask->options, .check = ask->check};
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
                                           .check = ask->check,
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

/* The files are opened before anything is measured, so that a wrong path costs no run, and after the program may have
 * started itself again. */
static int open_and_measure(request *ask, const cutt_bench_contractions *cases) {
  if (!cutt_cli_find_backend(ask->options.backend, &ask->options.backend)) return CUTT_CLI_FAILED;
  int code = check_memory(ask, cases);
  if (code != CUTT_CLI_DONE) return code;
  if (ask->cure && ask->options.backend == CUTT_BACKEND_CPU) cutt_cli_cure(ask->quiet);
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
                 .number = cutt_cli_number_find("f8"),
                 .options = CUTT_CONTRACTION_OPTIONS_INIT,
                 .check = true,
                 .cure = true};
  for (int option; (option = cutt_cli_option(me, argc, argv, options)) != -1;) {
    if (option == 'h') return cutt_cli_print(help);
    if (!take_option(option, &ask)) return CUTT_CLI_USAGE;
  }
  int code = check_request(argc, argv, &ask);
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
