/* An .npy file that is read: mapped into memory, its header parsed, guarded against changing under the reader. */
#ifndef CUTT_CLI_INPUT_H
#define CUTT_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cli.h"
#include "npy.h"

typedef struct cutt_input {
  const char *path;
  int descriptor;
  const uint8_t *data; /* all of the file */
  size_t bytes;
  struct stat status;
  cutt_npy npy;
} cutt_input;

/* Opens and maps a file, and reads its header. On false a message has been given; close it all the same. */
bool cutt_input_open(cutt_input *in, const char *path);
void cutt_input_close(cutt_input *in);

/* Is it still the file that was opened? On false a message has been given. */
bool cutt_input_unchanged(const cutt_input *in);

/* Brings the elements into memory before a clock starts, which progress shows. On false a message has been given. */
bool cutt_input_populate(const cutt_input *in, cutt_cli_progress *progress);

#endif
