/* The .npy format, versions 1.0, 2.0 and 3.0: a strict reader of the header and a writer of it.
 *
 * A header is a Python dict literal with exactly the keys descr, fortran_order and shape. The reader is a small parser
 * of just that, over memory of known size: it never evaluates anything, allocates nothing, and what it does not
 * understand is an error that says what it found. */
#ifndef CUTT_CLI_NPY_H
#define CUTT_CLI_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cutt.h"

enum {
  CUTT_NPY_MAX_RANK = CUTT_MAX_RANK,
  CUTT_NPY_DESCR = 64,           /* bytes for a dtype's name with its final 0 */
  CUTT_NPY_MAX_HEADER = 1 << 20, /* bytes that the dict may take; NumPy's own take some hundred */
  CUTT_NPY_HEADER_ROOM = 4096,   /* bytes that any header written here fits in */
  CUTT_NPY_WHY = 512             /* bytes that every error text fits in, with its final 0 */
};

typedef struct cutt_npy {
  int version;                /* 1, 2 or 3 */
  char descr[CUTT_NPY_DESCR]; /* the dtype as the file names it: "<f8" */
  int elem_bytes;             /* 1, 2, 4, 8 or 16 */
  bool fortran_order;         /* the first axis is the stride-1 axis, else the last is */
  int rank;                   /* 0 .. CUTT_NPY_MAX_RANK */
  int64_t shape[CUTT_NPY_MAX_RANK];
  int64_t volume;     /* elements; 1 for rank 0 */
  int64_t data_start; /* bytes from the file's start to the first element */
  int64_t data_bytes; /* volume * elem_bytes */
} cutt_npy;

/* Reads the header at the start of `size` bytes of a file (all of it, or as much as there is). Whether the elements are
 * there is cutt_npy_check_length's affair. On false `why`, of CUTT_NPY_WHY bytes, says what is wrong. */
bool cutt_npy_parse(const uint8_t *data, size_t size, cutt_npy *npy, char *why);

/* Is a file of this many bytes long enough to hold what the header promises? On false `why` gives the numbers. */
bool cutt_npy_check_length(const cutt_npy *npy, int64_t file_bytes, char *why);

/* Writes the header of a C-order array of this descr and shape, to `buffer` of CUTT_NPY_HEADER_ROOM bytes; returns its
 * length, a multiple of 64, after which the elements follow. The bytes are those that NumPy's own writer gives. Fills
 * version, fortran_order, data_start, volume and data_bytes of *npy from elem_bytes and shape, whose product has been
 * checked. */
size_t cutt_npy_write_header(cutt_npy *npy, uint8_t *buffer);

#endif
