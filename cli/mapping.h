/* What is done with files mapped into memory, for reading as for writing. */
#ifndef CUTT_CLI_MAPPING_H
#define CUTT_CLI_MAPPING_H

#include <stdbool.h>
#include <stddef.h>

#include "cli.h"

/* Do so many bytes fit in memory at once with room to spare? Else populating one array would push out the other. */
bool cutt_mapping_fits_in_memory(double bytes);

/* Brings a mapping that will be read, or also written, into memory, which progress shows as `what`. False when its file
 * failed; the caller says which that is. */
bool cutt_mapping_populate(const void *data, size_t bytes, bool written, const char *what, cutt_cli_progress *progress);

#endif
