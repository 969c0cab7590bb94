/* cutt calibrate: measures the device at hand and writes what planning needs to know of it.
 *
 * The work is the library's. Here are the questions that a program asks before it writes a file, the progress bar, and
 * Ctrl-C, which ends the calibration at the next measurement: nothing has been written by then. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "options.h"

static const char me[] = "calibrate";

enum { REPORT_BYTES = 65536 };

typedef struct request {
  cuttCalibration_t calibration;
  bool json, quiet;
} request;

static bool read_seconds(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  return cutt_cli_parse_double(command, option->name, text, 0.1, 86400, field);
}

static bool read_quick(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  (void)command;
  (void)option;
  (void)text;
  *(double *)field = 2;
  return true;
}

static const cutt_cli_option options[] = {
    {"backend", "NAME", "cpu, cuda, or auto for the GPU where there is one (default: auto)", cutt_cli_read_backend,
     offsetof(request, calibration.backend)},
    {"seconds", "S", "take about so long (default: 60)", read_seconds, offsetof(request, calibration.seconds)},
    {"quick", NULL, "the same as --seconds 2", read_quick, offsetof(request, calibration.seconds)},
    {"seed", "N", "another draw of random permutations (default: 1)", cutt_cli_read_seed,
     offsetof(request, calibration.seed)},
    {"threads", "N", "CPU: use N threads at most (default: OMP_NUM_THREADS, else all cores)", cutt_cli_read_threads,
     offsetof(request, calibration.threads)},
    {"out", "FILE",
     "write FILE, which must not exist or be a device file (default: the file of this device in $XDG_DATA_HOME/cutt, "
     "else in ~/.local/share/cutt, where plans look for it)",
     cutt_cli_read_text, offsetof(request, calibration.path)},
    {"json", NULL, "print the report as one JSON object", cutt_cli_read_flag, offsetof(request, json)},
    {"quiet", NULL, "no progress bar", cutt_cli_read_flag, offsetof(request, quiet)},
};

static const cutt_cli_syntax syntax = {
    .command = me,
    .usage =
        "Usage: cutt calibrate [OPTION]...\n"
        "Measure the bandwidths, the latencies and the times of random permutations on this machine, fit the model "
        "that\n"
        "predicts times to them, and write a device file that later plans on this machine use. Prints what was\n"
        "measured, the parameters, and how good the model's choices are on problems that the fit did not see.\n",
    .options = options,
    .count = sizeof options / sizeof options[0],
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
  (void)number;
  interrupted = 1;
}

static int show_progress(void *data, double done, const char *what) {
  cutt_cli_progress_show(data, what, done);
  return interrupted;
}

/* May this path be written? Yes, if nothing is there, or an earlier device file. False after a message. */
static bool may_replace(const char *path) {
  static const char header[] = "cutt device, format ";
  struct stat status;
  if (stat(path, &status) != 0) return true; /* the library says what is wrong with the path, if anything is */
  char start[sizeof header] = "";
  FILE *file = S_ISREG(status.st_mode) ? fopen(path, "r") : NULL;
  const int error = errno;
  if (!file) {
    cutt_cli_message("--out: %s is there, and %s", path,
                     S_ISREG(status.st_mode) ? strerror(error) : "is not a regular file");
    return false;
  }
  const size_t got = fread(start, 1, sizeof header - 1, file);
  fclose(file);
  if (got == sizeof header - 1 && !memcmp(start, header, got)) return true;
  cutt_cli_message("--out: %s exists and is not a device file; it is left alone", path);
  return false;
}

static int calibrate(request *ask) {
  char *report = malloc(REPORT_BYTES);
  if (!report) return cutt_cli_failed("out of memory: %d bytes for the report", REPORT_BYTES);
  cutt_cli_progress progress = cutt_cli_progress_start(ask->quiet);
  ask->calibration.progress = show_progress;
  ask->calibration.data = &progress;
  /* Once only: a second Ctrl-C ends the program at once. */
  struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND}, before;
  sigaction(SIGINT, &action, &before);
  size_t needed = 0;
  const cuttResult result =
      cuttCalibrate(&ask->calibration, ask->json ? CUTT_JSON : CUTT_TEXT, report, REPORT_BYTES, &needed);
  sigaction(SIGINT, &before, NULL);
  cutt_cli_progress_clear(&progress);
  int code;
  if (result == CUTT_SUCCESS) {
    if (needed > REPORT_BYTES) cutt_cli_message("the report is cut: it has %zu bytes", needed);
    code = cutt_cli_print(report);
  } else if (interrupted) {
    code = cutt_cli_failed("interrupted; nothing was written");
  } else {
    code = cutt_cli_failed("this machine could not be calibrated: %s", cuttLastError());
  }
  free(report);
  const char *used = getenv("CUTT_CALIBRATION");
  if (code == CUTT_CLI_DONE && !ask->calibration.path && used && *used && !ask->quiet)
    cutt_cli_message("CUTT_CALIBRATION is '%s' here, so plans will not look at the file that was written", used);
  return code;
}

int cutt_cli_calibrate(int argc, char **argv) {
  request ask = {.calibration = CUTT_CALIBRATION_INIT};
  int code;
  if (!cutt_cli_read_options(&syntax, argc, argv, &ask, &code)) return code;
  if (optind < argc) return cutt_cli_misused(me, "'%s' is not an option; calibrate takes options only", argv[optind]);
  if (ask.calibration.path && !may_replace(ask.calibration.path)) return CUTT_CLI_FAILED;
  return calibrate(&ask);
}
