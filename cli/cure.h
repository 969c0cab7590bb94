/* The cure of a BLAS that picks slow kernels for this processor. */
#ifndef CUTT_CLI_CURE_H
#define CUTT_CLI_CURE_H

#include <stdbool.h>

/* main's arguments, to start the program with again. */
void cutt_cli_cure_remember(char **argv);

/* Where a provider that was found has a cure (cuttProvidersDescribe: a variable of the environment that it reads when
 * it is loaded), and the variable is not set: sets it and starts the program again with the same arguments, which does
 * not return. To be called before anything has been written, by subcommands that contract on the processor. Says so
 * unless quiet. Once only: CUTT_CURED is then set in the environment, and also keeps anybody from being cured who sets
 * it. */
void cutt_cli_cure(bool quiet);

#endif
