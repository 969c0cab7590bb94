/* The last error of each thread, and the log.
 *
 * The text lives in a fixed thread-local buffer, so that wording a failure can itself neither fail nor allocate, and so
 * that two threads never see each other's text. CUTT_LOG is read anew at each use: a failure or a plan is rare enough,
 * and nothing has to be remembered between calls. */
#include "base/error.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 1024 };

static _Thread_local char last_error[TEXT_BYTES];

static const char *const level_name[] = {"none", "error", "warn", "info", "debug"};

static cutt_log_level asked_level(void) {
  const char *asked = getenv("CUTT_LOG");
  if (!asked || !*asked) return CUTT_LOG_NONE;
  for (int i = CUTT_LOG_NONE; i <= CUTT_LOG_DEBUG; ++i) {
    if (!strcmp(asked, level_name[i])) return (cutt_log_level)i;
  }
  return CUTT_LOG_ERROR; /* what planning refuses (environment.c) */
}

/* One call of fputs per line, so that the lines of several threads don't mix. The thread is not cancelled in it,
 * because its caller may hold a lock or a file. Not inlined, so that its buffer takes room on the stack only where
 * something is logged. */
__attribute__((noinline)) static void print_line(cutt_log_level level, const char *message) {
  char line[TEXT_BYTES + 32];
  int before = PTHREAD_CANCEL_ENABLE;
  snprintf(line, sizeof line, "cutt: %s: %s\n", level_name[level], message);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  fputs(line, stderr);
  pthread_setcancelstate(before, NULL);
}

void cutt_log_list(cutt_log_level level, const char *format, va_list arguments) {
  if (level <= CUTT_LOG_NONE || level > asked_level()) return;
  char message[TEXT_BYTES];
  vsnprintf(message, sizeof message, format, arguments);
  print_line(level, message);
}

void cutt_log(cutt_log_level level, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  cutt_log_list(level, format, arguments);
  va_end(arguments);
}

cuttResult cutt_error_list(cuttResult code, const char *format, va_list arguments) {
  /* Into a second buffer, because the arguments may include the last error itself. */
  char message[TEXT_BYTES];
  vsnprintf(message, sizeof message, format, arguments);
  memcpy(last_error, message, strlen(message) + 1);
  const cutt_log_level level = code == CUTT_SUCCESS ? CUTT_LOG_WARN : CUTT_LOG_ERROR;
  if (level <= asked_level()) print_line(level, message);
  return code;
}

cuttResult(cutt_error)(cuttResult code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  cutt_error_list(code, format, arguments);
  va_end(arguments);
  return code;
}

const char *cuttLastError(void) { return last_error; }

const char *cuttResultName(cuttResult result) {
  switch (result) {
    case CUTT_SUCCESS:
      return "CUTT_SUCCESS";
    case CUTT_INVALID_PLAN:
      return "CUTT_INVALID_PLAN";
    case CUTT_INVALID_PARAMETER:
      return "CUTT_INVALID_PARAMETER";
    case CUTT_INVALID_DEVICE:
      return "CUTT_INVALID_DEVICE";
    case CUTT_INTERNAL_ERROR:
      return "CUTT_INTERNAL_ERROR";
    case CUTT_UNDEFINED_ERROR:
      return "CUTT_UNDEFINED_ERROR";
  }
  return "(not a cuttResult)";
}

int cuttVersion(void) { return CUTT_VERSION_MAJOR * 10000 + CUTT_VERSION_MINOR * 100 + CUTT_VERSION_PATCH; }
