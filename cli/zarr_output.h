/* What Zarr arrays that are written are like: by the options, by the array that they are made from, or by rule. */
#ifndef CUTT_CLI_ZARR_OUTPUT_H
#define CUTT_CLI_ZARR_OUTPUT_H

#include "cli.h"
#include "options.h"
#include "zarr/zarr.h"

typedef struct cutt_zarr_choice {
  int64_t format;     /* --zarr: 2 or 3; 0: not given */
  const char *chunks; /* --chunks and --codec; NULL: not given */
  const char *codec;
} cutt_zarr_choice;

cutt_cli_reader cutt_zarr_read_format;

/* Is OUT to be a Zarr folder: by its name, or since --zarr is given? *path loses the slash at its end then. False: options
 * for Zarr are given for another output; a message has been given. */
bool cutt_zarr_wanted(const char *command, const cutt_zarr_choice *choice, char *path, bool *wanted);

/* The metadata of an array of this dtype and shape. Of `from`, or NULL, comes what is not given: format, chunks, codec,
 * fill value and attributes; axis i is its axis axes[i]. `memory` is what --memory gives, or 0. The caller releases
 * *meta. An exit code, after a message unless it is CUTT_CLI_DONE. */
int cutt_zarr_choose(const char *command, const cutt_zarr_choice *choice, const cutt_zarr_meta *from, const int *axes,
                     const cutt_npy *npy, size_t memory, cutt_zarr_meta *meta);

#endif
