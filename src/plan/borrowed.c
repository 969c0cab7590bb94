/* The functions of private.h as a shared library that comes with libcutt has them: each calls libcutt's own. */
#include <stdarg.h>
#include <stdio.h>

#include "plan/lent.h"

#define CALL(type, name, parameters, arguments)                                                                        \
  type name parameters { return CUTT_PRIVATE.name arguments; }
CUTT_PRIVATE_FUNCTIONS(CALL)
#undef CALL

void cutt_cuda_leave(const cutt_cuda_scope *scope) { CUTT_PRIVATE.cutt_cuda_leave(scope); }

void cutt_team_run(int threads, cutt_team_work *work, void *what) { CUTT_PRIVATE.cutt_team_run(threads, work, what); }

void cutt_scratch_give(void *block) { CUTT_PRIVATE.cutt_scratch_give(block); }

cuttResult cutt_error(cuttResult code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  CUTT_PRIVATE.error(code, format, arguments);
  va_end(arguments);
  return code;
}

void cutt_log(cutt_log_level level, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  CUTT_PRIVATE.log(level, format, arguments);
  va_end(arguments);
}

cuttResult cutt_cuda_failed(const cutt_cu *cu, cutt_cu_result error, const char *doing, ...) {
  char text[128]; /* as much as there is room for in the error */
  va_list arguments;
  va_start(arguments, doing);
  vsnprintf(text, sizeof text, doing, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it was started */
  va_end(arguments);
  return CUTT_PRIVATE.cuda_failed(cu, error, "%s", text);
}
