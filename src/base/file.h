/* Files of the library: read if they are what they should be, and replaced as a whole or not at all. */
#ifndef CUTT_BASE_FILE_H
#define CUTT_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "cutt.h"

/* Is given what a file holds, some bytes at a time, until it returns false. */
typedef bool cutt_file_take(void *context, const char *bytes, size_t length);

/* Reads a regular file. NULL, or what went wrong, worded to follow the file's name ("can't be opened"); errno then
 * says why, if it is not 0. */
const char *cutt_file_try(const char *path, cutt_file_take *take, void *context);

/* The same, wording the error. argument: what the caller of the library calls the path ("path is \"x\", which can't be
 * opened: ..."). Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_file_read(const char *argument, const char *path, cutt_file_take *take, void *context);

/* Could path be written by cutt_file_replace? Tries it, up to the writing, and leaves nothing. For asking before work
 * that takes long. Errors: CUTT_INVALID_PARAMETER, CUTT_INTERNAL_ERROR. */
cuttResult cutt_file_writable(const char *argument, const char *path);

/* Replaces the contents of path by text: writes a new file in the same folder, synchronises it to the disk, and renames
 * it. If path is a link, the file that it leads to is replaced. A file that is there is replaced only if the new one can
 * have its owner, group, mode and access list.
 * Errors: CUTT_INVALID_PARAMETER (path), CUTT_INTERNAL_ERROR; the file is then as it was. */
cuttResult cutt_file_replace(const char *argument, const char *path, const char *text, size_t length);

/* Keeps everybody else who asks for it out of the folder that a file is in, so that a file can be read and replaced as if in one
 * step: other processes, and other threads. Waits for them, but 30 seconds at most; where there can be no lock (a network's
 * file system), the log says so and the call returns all the same. Nothing is left behind by a process that is killed.
 * Until cutt_file_unlock, which must follow, the calling thread is not cancelled. */
typedef struct cutt_file_guard {
  int folder, cancellation;
} cutt_file_guard;
cutt_file_guard cutt_file_lock(const char *path);
void cutt_file_unlock(cutt_file_guard guard);

/* Creates the folder that path is in, and those above it, where they are missing. path is changed and changed back.
 * Errors: CUTT_INTERNAL_ERROR. */
cuttResult cutt_file_make_folders(char *path);

#endif
