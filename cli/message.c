/* What the program says: messages, the nearest word to a mistyped one, durations, shapes, the progress bar. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static char speaker[32];

void cutt_cli_speak_as(int rank) { snprintf(speaker, sizeof speaker, "rank %d: ", rank); }

static void say(const char *format, va_list arguments, const char *end) {
  /* One write per message, so that messages of processes that share a terminal do not mix within a line. */
  char text[2048];
  int length = vsnprintf(text, sizeof text, format, arguments);
  if (length < 0) return;
  fprintf(stderr, "cutt: %s%s%s%s\n", speaker, text, (size_t)length < sizeof text ? "" : "...", end);
}

void cutt_cli_message(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments, "");
  va_end(arguments);
}

int cutt_cli_failed(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments, "");
  va_end(arguments);
  return CUTT_CLI_FAILED;
}

int cutt_cli_misused(const char *command, const char *format, ...) {
  char end[64];
  snprintf(end, sizeof end, " (see 'cutt %s%s--help')", command ? command : "", command ? " " : "");
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments, end);
  va_end(arguments);
  return CUTT_CLI_USAGE;
}

int cutt_cli_print(const char *text) {
  /* A full disk is found at the flush, not by fputs. */
  if (fputs(text, stdout) == EOF || fflush(stdout) == EOF)
    return cutt_cli_failed("the output could not be written: %s", strerror(errno));
  return CUTT_CLI_DONE;
}

/* The Levenshtein distance, or a large number for words too long to be a mistyped one of ours. */
static size_t distance(const char *a, const char *b) {
  enum { LONGEST = 32 };
  size_t a_length = strlen(a), b_length = strlen(b), row[LONGEST + 1];
  if (a_length > LONGEST || b_length > LONGEST) return LONGEST;
  for (size_t j = 0; j <= b_length; ++j) row[j] = j;
  for (size_t i = 1; i <= a_length; ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_length; ++j) {
      size_t best = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[b_length];
}

const char *cutt_cli_nearest(const char *word, const char *const *words, size_t count) {
  const char *nearest = NULL;
  size_t least = 0, length = strlen(word);
  for (size_t i = 0; i < count; ++i) {
    if (!words[i]) continue;
    /* A beginning of three letters or more is meant as an abbreviation, however much is missing. */
    size_t away = length >= 3 && !strncmp(word, words[i], length) ? 1 : distance(word, words[i]);
    if (!nearest || away < least) {
      nearest = words[i];
      least = away;
    }
  }
  return nearest && least <= (strlen(nearest) + 2) / 3 ? nearest : NULL;
}

double cutt_cli_seconds(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0.0;
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *cutt_cli_duration(double seconds, char *buffer, size_t size) {
  if (seconds >= 0.9995)
    snprintf(buffer, size, "%.3g s", seconds);
  else if (seconds >= 0.9995e-3)
    snprintf(buffer, size, "%.3g ms", seconds * 1e3);
  else
    snprintf(buffer, size, "%.3g us", seconds * 1e6);
  return buffer;
}

const char *cutt_cli_bytes(double bytes, char *buffer, size_t size) {
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
  int unit = 0;
  for (; bytes >= 999.5 && unit < 4; ++unit) bytes /= 1000;
  snprintf(buffer, size, "%.3g %s", bytes, units[unit]);
  return buffer;
}

const char *cutt_cli_shape(const int64_t *shape, int rank, char *buffer, size_t size) {
  size_t length = (size_t)snprintf(buffer, size, "(");
  for (int i = 0; i < rank && length < size; ++i)
    length += (size_t)snprintf(buffer + length, size - length, i ? ", %lld" : "%lld", (long long)shape[i]);
  if (length < size) length += (size_t)snprintf(buffer + length, size - length, rank == 1 ? ",)" : ")");
  if (length >= size && size > 5) snprintf(buffer + size - 5, 5, "...)");
  return buffer;
}

cutt_cli_progress cutt_cli_progress_start(bool quiet) {
  cutt_cli_progress progress = {0};
  const char *term = getenv("TERM");
  progress.enabled = !quiet && isatty(STDERR_FILENO) && !(term && !strcmp(term, "dumb"));
  progress.began = cutt_cli_seconds();
  return progress;
}

void cutt_cli_progress_show(cutt_cli_progress *progress, const char *what, double fraction) {
  if (!progress->enabled) return;
  double now = cutt_cli_seconds();
  if (now - progress->began < 1.0 || now - progress->last_draw < 0.1) return;
  progress->last_draw = now;
  progress->shown = true;
  if (!(fraction > 0.0)) fraction = 0.0;
  if (fraction > 1.0) fraction = 1.0;
  enum { WIDTH = 40 };
  char bar[WIDTH + 1];
  int full = (int)(fraction * WIDTH);
  memset(bar, '#', (size_t)full);
  memset(bar + full, '.', (size_t)(WIDTH - full));
  bar[WIDTH] = 0;
  fprintf(stderr, "\r\033[K[%s] %3d%% %s", bar, (int)(fraction * 100.0), what);
  fflush(stderr);
}

void cutt_cli_progress_clear(cutt_cli_progress *progress) {
  if (!progress->shown) return;
  fprintf(stderr, "\r\033[K");
  fflush(stderr);
  progress->shown = false;
}
