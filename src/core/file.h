/* Files of the library: read if they are what they should be, and replaced as a whole or not at all. */
#ifndef CUTT_CORE_FILE_H
#define CUTT_CORE_FILE_H

#include <stddef.h>

#include "cutt.h"

/* Opens a regular file for reading; the caller closes it. NULL, or what went wrong in words that follow a name ("can't be
 * opened"); errno then says why, if it is not 0. */
const char *cutt_file_try(const char *path, int *file);

/* The same, wording the error. argument: what the caller of the library calls the path ("path is \"x\", which can't be
 * opened: ..."). Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_file_open(const char *argument, const char *path, int *file);

/* Could path be written by cutt_file_replace, as far as can be told without writing? For asking before work that takes
 * long. Errors: CUTT_INVALID_PARAMETER, CUTT_INTERNAL_ERROR. */
cuttResult cutt_file_writable(const char *argument, const char *path);

/* Makes text the contents of path: writes a temporary file beside it, brings that to the disk, and gives it the name. Of
 * a link, what it leads to is replaced; a file that is there lends its mode.
 * Errors: CUTT_INVALID_PARAMETER (path), CUTT_INTERNAL_ERROR; the file is then as it was. */
cuttResult cutt_file_replace(const char *argument, const char *path, const char *text, size_t length);

/* Creates the folder that path is in, and those above it, where they are missing. path is changed and changed back.
 * Errors: CUTT_INTERNAL_ERROR. */
cuttResult cutt_file_make_folders(char *path);

#endif
