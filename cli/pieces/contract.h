/* Contracting files that are together larger than memory, block by block. */
#ifndef CUTT_CLI_PIECES_CONTRACT_H
#define CUTT_CLI_PIECES_CONTRACT_H

#include "cli/contraction.h"
#include "cli/output.h"
#include "cli/zarr/zarr.h"

/* An operand's file, or that of what the result is added to. */
typedef struct cutt_blocks_file {
  const char *path; /* NULL: there is none, of the right operand or to be added to */
  int descriptor;
  cutt_zarr *zarr; /* NULL: it is a file */
  int64_t start;   /* bytes before the first element */
  bool fortran_order;
  bool swapped; /* its elements are in the other byte order */
} cutt_blocks_file;

typedef struct cutt_blocks_job {
  const char *command; /* for messages of wrong usage */
  const cutt_cli_contraction *contraction;
  cuttContractionOptions_t options; /* backend: the CPU's */
  cutt_blocks_file file[CUTT_CLI_TENSORS];
  cutt_output *output;
  cutt_zarr *out_zarr; /* NULL: it is a file */
  int64_t out_start;
  cutt_cli_progress *progress;
  /* How it is cut, by cutt_blocks_cut. */
  cutt_cli_pattern pattern;
  int64_t extents[CUTT_CLI_LABELS], block[CUTT_CLI_LABELS]; /* of each label */
  int walk[CUTT_CLI_LABELS];                                /* labels by how soon the steps go on along them */
  int readers;                                              /* threads that read */
  int64_t steps, blocks;                                    /* contractions of blocks; blocks of the result */
  double read_bytes, written_bytes;
} cutt_blocks_job;

/* Cuts the work for `memory` bytes of buffers and workspace; the fields before are there but for the output. On false a
 * message has been given. */
bool cutt_blocks_cut(cutt_blocks_job *job, size_t memory);

/* What will be done, for people. */
const char *cutt_blocks_words(const cutt_blocks_job *job, char *buffer, size_t size);

/* Does it; an exit code, after a message unless it is CUTT_CLI_DONE. */
int cutt_blocks_contract(cutt_blocks_job *job);

#endif
