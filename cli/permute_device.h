/* Permuting one array through the memory of a device. */
#ifndef CUTT_CLI_PERMUTE_DEVICE_H
#define CUTT_CLI_PERMUTE_DEVICE_H

#include "permute_job.h"

/* Does the job on the device job->backend. On false and *no_room the device has no memory for the two
 * arrays, cuttLastError() says so, and nothing has been done; else a message has been given. */
bool cutt_cli_permute_on_device(cutt_cli_permute_job *job, bool *no_room);

#endif
