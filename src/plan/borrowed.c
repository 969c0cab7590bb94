/* The functions of lent.h as a shared library that comes with libcutt has them: each calls libcutt's own. */
#include <stdarg.h>
#include <stdio.h>

#include "plan/lent.h"

#define CALL(type, name, parameters, arguments)                                                                        \
  type name parameters { return CUTT_PRIVATE.name arguments; }
CUTT_PRIVATE_FUNCTIONS(CALL)
#undef CALL

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
