/* The thread-local error text, and the log that speaks only when CUTT_LOG asks.
 *
 * Habit (from UCX): only the function that finds a failure words it; callers pass the code on. */
#ifndef CUTT_BASE_ERROR_H
#define CUTT_BASE_ERROR_H

#include <stdarg.h>

#include "cutt.h"

/* Words the calling thread's last error and returns code, so that a check is one line:
 *   if (rank < 0) return cutt_error(CUTT_INVALID_PARAMETER, "rank is %d; it must be 0 to %d", rank, CUTT_MAX_RANK); */
cuttResult cutt_error(cuttResult code, const char *format, ...) __attribute__((format(printf, 2, 3)));
cuttResult cutt_error_list(cuttResult code, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/* Clang's path analyser (make lint) does not look into functions of variable arguments: what comes back is the code. */
#ifdef __clang_analyzer__
#define cutt_error(code, ...) ((cutt_error)(code, __VA_ARGS__), (code))
#endif

typedef enum cutt_log_level {
  CUTT_LOG_NONE,
  CUTT_LOG_ERROR,
  CUTT_LOG_WARN,
  CUTT_LOG_INFO,
  CUTT_LOG_DEBUG
} cutt_log_level;

/* One line "cutt: LEVEL: ..." on stderr when CUTT_LOG (error, warn, info, debug) is at least that level. */
void cutt_log(cutt_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cutt_log_list(cutt_log_level level, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

#endif
