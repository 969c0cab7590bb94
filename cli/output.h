/* A file that is written whole or not at all: a new one in the folder of its destination, mapped into memory, that
 * takes the destination's name when it is done, and is gone on failure, and on signals that end the program.
 *
 * One output at a time, since the signal handlers (guard.h) have to know it. */
#ifndef CUTT_CLI_OUTPUT_H
#define CUTT_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli.h"

typedef struct cutt_output {
  char *path;   /* the destination, symbolic links resolved when it is replaced */
  bool replace; /* an existing file may be replaced */
  bool exists;  /* there was one at the start, which may be */
  bool stream;  /* the destination is standard output, "-" */
  bool folder;  /* it is a folder, for files that others make in it */
  int descriptor;
  uint8_t *data; /* the mapping; `bytes` long */
  size_t bytes;
} cutt_output;

/* May OUT be created, or replaced when force is set? Says why not, and returns false. `input` is the path of the file
 * that is read, whose identity OUT is compared with. Touches nothing: for failing before the work is done. */
bool cutt_output_check(const char *path, const char *input, bool force);

/* "-", standard output: it gets everything at the end, from memory or from a temporary file, by what --memory gives. */
bool cutt_output_is_stream(const char *path);

/* Creates the new file for `path` with room for `bytes` on the disk (so that a full disk is found now), and maps it.
 * It has the owner, the group, the mode and the access list of the file that it is to replace, or is refused; without
 * one, the permissions follow the umask. On false a message has been given and nothing is left. From here to commit
 * or abandon, signals that end the program leave nothing either. */
bool cutt_output_create(cutt_output *output, const char *path, size_t bytes, bool force, size_t memory);

/* The same without mapping it, for writing to the descriptor; data is NULL. */
bool cutt_output_open(cutt_output *output, const char *path, size_t bytes, bool force, size_t memory);

/* The same for ranks: the new file has the name cutt_guard_temporary() from the beginning, so that others can open it. */
bool cutt_output_open_named(cutt_output *output, const char *path, size_t bytes, bool force);

/* The same for a folder, which is to be a Zarr array: only one of these is replaced. Its name is cutt_guard_temporary() until
 * it is complete. check says beforehand whether it can be. */
bool cutt_output_check_folder(const char *path, bool force);
bool cutt_output_open_folder(cutt_output *output, const char *path, bool force);

/* The file, or folder, that another process has opened so, to be written to; that process commits. */
bool cutt_output_open_shared(cutt_output *output, const char *path, const char *temporary, size_t bytes);

/* Writes what this process has written to disk, which progress shows. On false a message has been given. */
bool cutt_output_flush(cutt_output *output, cutt_cli_progress *progress);

/* Writes the first bytes of the file. On false a message has been given. */
bool cutt_output_write_header(const cutt_output *output, const uint8_t *header, size_t bytes);

/* An intermediate file of `bytes`, with its room on the disk, in the folder of the output: it has no name, and is gone
 * when its descriptor, which this returns, is closed, however the program ends. -1 after a message, which closes with
 * what could be done about it (`advice`). */
int cutt_output_intermediate(const cutt_output *output, size_t bytes, const char *advice);

/* Brings the mapping into memory, which progress shows, so that this is not part of what is timed afterwards. On
 * false a message has been given. */
bool cutt_output_populate(const cutt_output *output, cutt_cli_progress *progress);

/* Writes everything to disk, which progress shows, and gives it the name. On false a message has been given and the
 * new file is gone; OUT is untouched. `output` is finished either way. */
bool cutt_output_commit(cutt_output *output, cutt_cli_progress *progress);

/* Gives the new file up. Harmless after create failed, and after commit. */
void cutt_output_abandon(cutt_output *output);

#endif
