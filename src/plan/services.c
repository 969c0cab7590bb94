/* The table of services (services.h), in libcutt. */
#include "plan/services.h"

const cutt_services CUTT_SERVICES = {
#define ENTRY(type, name, parameters, arguments) .name = (name),
    CUTT_SERVICE_FUNCTIONS(ENTRY)
#undef ENTRY
        .cutt_info_write = cutt_info_write,
    .cutt_team_run = cutt_team_run,
    .cutt_scratch_give = cutt_scratch_give,
    .error = cutt_error_list,
    .log = cutt_log_list,
};
