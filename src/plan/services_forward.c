/* The functions of services.h as libcutt_contract.so and libcutt_dist.so have them: each calls libcutt's own through the table. */
#include <stdarg.h>
#include <stdio.h>

#include "plan/services.h"

#define CALL(type, name, parameters, arguments)                                                                        \
  type name parameters { return CUTT_SERVICES.name arguments; }
CUTT_SERVICE_FUNCTIONS(CALL)
#undef CALL

void cutt_info_write(void *info, const void *own, size_t own_size) {
  CUTT_SERVICES.cutt_info_write(info, own, own_size);
}

void cutt_team_run(int threads, cutt_team_work *work, void *what) { CUTT_SERVICES.cutt_team_run(threads, work, what); }

void cutt_scratch_give(void *block) { CUTT_SERVICES.cutt_scratch_give(block); }

cuttResult(cutt_error)(cuttResult code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  CUTT_SERVICES.error(code, format, arguments);
  va_end(arguments);
  return code;
}

void cutt_log(cutt_log_level level, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  CUTT_SERVICES.log(level, format, arguments);
  va_end(arguments);
}
