/* What the subcommands of the program `cutt` share: their entries, their messages, and what several of them ask of the
 * library. Everything that a person reads as a message goes to stderr as "cutt: ..."; results go to stdout. */
#ifndef CUTT_CLI_CLI_H
#define CUTT_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cutt.h"

/* The exit codes, a contract with scripts. */
enum { CUTT_CLI_DONE = 0, CUTT_CLI_FAILED = 1, CUTT_CLI_USAGE = 2 };

/* As many threads as the library takes. */
enum { CUTT_CLI_MAX_THREADS = 4096 };

/* The subcommands. argv[0] is the subcommand's own name; each returns an exit code. */
int cutt_cli_transpose(int argc, char **argv);
int cutt_cli_contract(int argc, char **argv);
int cutt_cli_plan(int argc, char **argv);
int cutt_cli_bench(int argc, char **argv);
int cutt_cli_bench_contract(int argc, char **argv); /* of `cutt bench`; argv[0] is "contract" */
int cutt_cli_devices(int argc, char **argv);
int cutt_cli_calibrate(int argc, char **argv);

/* ------------------------------------------------------------------------------------------------------- messages */

/* "cutt: ..." and a line end on stderr. */
void cutt_cli_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and returns CUTT_CLI_FAILED. */
int cutt_cli_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for wrong usage: adds where help is, "(see 'cutt COMMAND --help')", and returns CUTT_CLI_USAGE.
 * command may be NULL: 'cutt --help'. */
int cutt_cli_misused(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Of several processes that do one thing: messages then begin with "cutt: rank 3: ". */
void cutt_cli_speak_as(int rank);

/* Writes text to stdout and makes sure that it arrived: a full disk or a closed pipe is CUTT_CLI_FAILED with a message,
 * else CUTT_CLI_DONE. */
int cutt_cli_print(const char *text);

/* Of the count words (those for which word is not NULL), the one nearest to a mistyped word, or NULL when none is near
 * enough to be meant. */
const char *cutt_cli_nearest(const char *word, const char *const *words, size_t count);

/* ------------------------------------------------------------------------------------------------ backend and wisdom */

/* A backend by its name: auto, cpu or cuda. False: it is none of them. */
bool cutt_cli_backend_of(const char *name, cuttBackend_t *backend);

/* The name, for a message. */
const char *cutt_cli_backend_name(cuttBackend_t backend);

/* What --backend comes to on this machine, which is never CUTT_BACKEND_AUTO. False after a message when it is not
 * usable here. */
bool cutt_cli_find_backend(cuttBackend_t asked, cuttBackend_t *backend);

/* A wisdom object from a file, which need not exist yet (*is_new tells); NULL after a message. What the file holds and
 * can't be used is said unless quiet. The caller destroys it. */
cuttWisdom_t cutt_cli_wisdom_open(const char *path, bool quiet, bool *is_new);

/* -------------------------------------------------------------------------------------------------------------- time */

/* Seconds of a clock that only goes forward. */
double cutt_cli_seconds(void);

/* "1.23 s", "45.6 ms", "789 us": for people. */
const char *cutt_cli_duration(double seconds, char *buffer, size_t size);

/* "12.3 MB": for people. */
const char *cutt_cli_bytes(double bytes, char *buffer, size_t size);

/* "(3, 4, 5)", "(3,)", "()": a shape as Python writes it; cut with "..." when it does not fit. */
const char *cutt_cli_shape(const int64_t *shape, int rank, char *buffer, size_t size);

/* ---------------------------------------------------------------------------------------------------------- progress */

/* A progress bar on stderr, which shows only on a terminal and only once a second has passed since it began. */
typedef struct cutt_cli_progress {
  bool enabled;     /* stderr is a terminal and nobody asked for quiet */
  bool shown;       /* something is on the line and has to be cleared */
  double began;     /* cutt_cli_seconds() at the start */
  double last_draw; /* when the bar was last drawn */
} cutt_cli_progress;

cutt_cli_progress cutt_cli_progress_start(bool quiet);
/* `what` is in a few words what goes on now ("permuting"); fraction is 0 to 1. Cheap: draws at most ten times a
 * second. */
void cutt_cli_progress_show(cutt_cli_progress *progress, const char *what, double fraction);
/* Clears the line; the next show draws it again. Call it before a message and at the end. */
void cutt_cli_progress_clear(cutt_cli_progress *progress);

#endif
