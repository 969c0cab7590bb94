/* Permuting a file that is larger than memory, in pieces. */
#ifndef CUTT_CLI_PIECES_PERMUTE_H
#define CUTT_CLI_PIECES_PERMUTE_H

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/pieces/cut.h"
#include "cli/ranks.h"
#include "cli/zarr/zarr.h"

typedef struct cutt_pieces_job {
  cutt_cut_problem problem;
  cutt_cut cut;
  const char *in_path;
  int in_descriptor;
  cutt_zarr *in_zarr, *out_zarr; /* NULL: files */
  int64_t in_start;              /* bytes before the first element */
  cutt_output *output;
  int64_t out_start;
  cuttOptions_t options; /* backend: the CPU's */
  cutt_cli_progress *progress;
  cutt_ranks *ranks;    /* each does a part of the pieces */
  int readers;          /* threads that read a Zarr array, by cutt_pieces_most */
  int64_t direct_bytes; /* likewise, of all buffers to read into past the system's cache */
} cutt_pieces_job;

/* The most bytes of a piece for `memory` bytes of buffers, of each rank; job->problem and job->ranks are there. */
int64_t cutt_pieces_most(cutt_pieces_job *job, size_t memory);

/* Cuts the work. Several ranks do it in one pass, and so are Zarr arrays done. False after a message: there is not memory
 * enough for a piece of whole chunks. */
bool cutt_pieces_cut(cutt_pieces_job *job, int64_t most_bytes);

/* What will be done, for people: "in 35 pieces of 128 MB, 2 passes ..." */
const char *cutt_pieces_words(const cutt_pieces_job *job, char *buffer, size_t size);

/* Does it. On false a message has been given. */
bool cutt_pieces_permute(cutt_pieces_job *job);

#endif
