/* Permuting one array in memory on behalf of a subcommand, with a progress bar, and the copy speed for comparison. */
#ifndef CUTT_CLI_PERMUTE_H
#define CUTT_CLI_PERMUTE_H

#include "permute_job.h"

/* Does the job. On false a message has been given. */
bool cutt_cli_permute(cutt_cli_permute_job *job);

#endif
