/* Zarr arrays: folders with a file for each chunk, read and written box by box.
 *
 * Which library: the metadata is jansson's to read, and libblosc, libzstd and zlib compress. What is between, a grid of
 * files, is here, since no C library for it is in the distributions: netCDF's does version 2 only, inside HDF5's types,
 * and TensorStore and z5 are C++ with a build of their own.
 *
 * Modes count from the fastest axis of the array, NumPy's last. Any number of threads may read and write. */
#ifndef CUTT_CLI_ZARR_ZARR_H
#define CUTT_CLI_ZARR_ZARR_H

#include <pthread.h>

#include "cli/zarr/meta.h"

enum { CUTT_ZARR_SCRATCH = 24 };

typedef struct cutt_zarr {
  cutt_zarr_meta meta;
  int descriptor;                                       /* of the folder */
  int rank;                                             /* at least 1: a scalar has one mode of extent 1 */
  int64_t extents[CUTT_MAX_RANK], chunk[CUTT_MAX_RANK]; /* by modes */
  int64_t strides[CUTT_MAX_RANK];                       /* of a chunk as it is stored, in elements */
  int64_t chunk_bytes;                                  /* not compressed */
  int word;                                             /* bytes that are turned round after reading; 0: none */
  pthread_mutex_t lock;                                 /* of what follows */
  uint8_t *scratch[CUTT_ZARR_SCRATCH];                  /* memory for chunks that is not in use */
} cutt_zarr;

/* Is the folder a Zarr array? */
bool cutt_zarr_is(const char *path);

/* Opens the array in a folder. On false `why`, of CUTT_ZARR_WHY bytes, says what is wrong; close it all the same. */
bool cutt_zarr_open(cutt_zarr *zarr, const char *path, char *why);

/* One that has no folder yet: for its numbers. */
void cutt_zarr_describe(cutt_zarr *zarr, const cutt_zarr_meta *meta);

/* One to be written, into a folder that is there and empty. It takes what `meta` has, and writes the metadata unless
 * another process does. */
bool cutt_zarr_create(cutt_zarr *zarr, const cutt_zarr_meta *meta, int folder, bool write_metadata, char *why);

void cutt_zarr_close(cutt_zarr *zarr);

/* Memory that a thread takes while it reads or writes: a chunk, and one that is compressed. */
size_t cutt_zarr_thread_bytes(const cutt_zarr *zarr);

/* Chunks that a box has a part of. */
int64_t cutt_zarr_count(const cutt_zarr *zarr, const int64_t *origin, const int64_t *extents);

/* Reads what chunks first .. last-1 of a box have of it into the box in memory, which is packed; or writes the chunks from
 * there, of which the box must be made. */
bool cutt_zarr_read(cutt_zarr *zarr, const int64_t *origin, const int64_t *extents, int64_t first, int64_t last,
                    uint8_t *memory, char *why);
bool cutt_zarr_write(cutt_zarr *zarr, const int64_t *origin, const int64_t *extents, int64_t first, int64_t last,
                     const uint8_t *memory, char *why);

#endif
