/* What to set in the environment where a BLAS library picks slow kernels for this processor. */
#ifndef CUTT_CLI_OVERRIDE_H
#define CUTT_CLI_OVERRIDE_H

#include <stdbool.h>

#include "cutt_contract.h"

/* Where the BLAS library that options->provider names, or the default one, has picked slow kernels of its own and a
 * variable of the environment, which is not set, would have it pick better ones: says so, unless quiet. For subcommands
 * that contract; on a GPU there is nothing to say. */
void cutt_cli_tell_override(const cuttContractionOptions_t *options, bool quiet);

#endif
