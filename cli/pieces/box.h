/* Boxes of a tensor in a file: ranges of its indices, read into packed memory, and written from it.
 *
 * A file holds a tensor packed, its modes from the fastest on; or in chunks, boxes of one size (smaller at the end of a
 * mode), each packed by itself, which follow each other in the order of their places without gaps. Or it is a Zarr array,
 * which has files for its chunks: in memory its boxes are packed. */
#ifndef CUTT_CLI_PIECES_BOX_H
#define CUTT_CLI_PIECES_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/pieces/direct.h"
#include "cli/zarr/zarr.h"

typedef struct cutt_box_file {
  const char *path; /* in messages */
  int descriptor;
  cutt_direct *direct; /* NULL: it is not read past the system's cache */
  cutt_zarr *zarr;     /* NULL: it is a file */
  int64_t start;       /* bytes before the first element */
  int elem_bytes;
  int rank;
  int64_t extents[CUTT_MAX_RANK];
  int64_t chunk[CUTT_MAX_RANK]; /* the extents of a chunk; those of the tensor where it is packed */
} cutt_box_file;

/* In the order of the file's modes. Of a file in chunks, a box is made of whole ones. */
typedef struct cutt_box {
  int64_t origin[CUTT_MAX_RANK], extents[CUTT_MAX_RANK];
} cutt_box;

static inline int64_t cutt_box_volume(const int64_t *extents, int rank) {
  int64_t volume = 1;
  for (int i = 0; i < rank; ++i) volume *= extents[i];
  return volume;
}

/* Bytes that lie in one stretch, when a box of these extents is taken from a packed tensor. */
int64_t cutt_box_run(const int64_t *tensor, const int64_t *box, int rank, int elem_bytes);

/* Reads bytes low .. high-1 of the box, counted as they lie in memory, to memory + low; or writes them from there. In
 * memory the box is packed, or its chunks are, in their order. On false `why`, of CUTT_PIPELINE_WHY bytes, says what
 * went wrong. */
bool cutt_box_read(const cutt_box_file *file, const cutt_box *box, int64_t low, int64_t high, uint8_t *memory,
                   char *why);
bool cutt_box_write(const cutt_box_file *file, const cutt_box *box, int64_t low, int64_t high, const uint8_t *memory,
                    char *why);

/* Tells the system that from the beginning of each stretch among bytes low .. high-1 of the box so many will be read soon. */
void cutt_box_expect(const cutt_box_file *file, const cutt_box *box, int64_t low, int64_t high, int64_t bytes);

/* A walk over the chunks of a box, in their order. */
typedef struct cutt_box_walk {
  const cutt_box_file *file;
  const cutt_box *box;
  int64_t origin[CUTT_MAX_RANK], extents[CUTT_MAX_RANK]; /* of the chunk, in the tensor */
  int64_t offset;                                        /* of the chunk in the file, in bytes */
  int64_t place;                                         /* of the chunk in the box's memory, in bytes */
  int64_t bytes;
} cutt_box_walk;

/* Stands at the first chunk; a box has at least one. */
void cutt_box_walk_start(cutt_box_walk *walk, const cutt_box_file *file, const cutt_box *box);
/* False: that was the last one. */
bool cutt_box_walk_next(cutt_box_walk *walk);

#endif
