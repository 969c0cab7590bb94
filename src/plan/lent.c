/* The table that libcutt lends to the libraries that come with it. */
#include "plan/lent.h"

const cutt_private CUTT_PRIVATE = {
#define ENTRY(type, name, parameters, arguments) .name = (name),
    CUTT_PRIVATE_FUNCTIONS(ENTRY)
#undef ENTRY
        .cutt_team_run = cutt_team_run,
    .cutt_scratch_give = cutt_scratch_give,
    .error = cutt_error_list,
    .log = cutt_log_list,
};
