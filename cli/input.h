/* An .npy file that is read: mapped into memory, its header parsed, guarded against changing under the reader. It may be a
 * member of an archive, FILE.npz:NAME, a data set, FILE.h5:/NAME, or come by standard input, which is "-". Or a Zarr array,
 * which is a folder and is not mapped. */
#ifndef CUTT_CLI_INPUT_H
#define CUTT_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cli.h"
#include "npy.h"
#include "zarr/zarr.h"

typedef struct cutt_input {
  const char *path; /* in messages */
  int descriptor;
  const uint8_t *data; /* all of the file; npy.data_start counts from here */
  size_t bytes;
  struct stat status;
  cutt_npy npy;
  cutt_zarr *zarr; /* it is a folder, and `data` NULL; else NULL */
} cutt_input;

/* Opens and maps a file, and reads its header. What comes by a pipe, or is compressed, is kept in memory or in a temporary
 * file, by what --memory gives (0: nothing was said). On false a message has been given; close it all the same. */
bool cutt_input_open(cutt_input *in, const char *path, size_t memory);
void cutt_input_close(cutt_input *in);

/* Is it still the file that was opened? On false a message has been given. */
bool cutt_input_unchanged(const cutt_input *in);

/* Brings the elements into memory before a clock starts, which progress shows. On false a message has been given. */
bool cutt_input_populate(const cutt_input *in, cutt_cli_progress *progress);

#endif
