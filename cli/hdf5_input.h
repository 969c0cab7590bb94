/* Data sets of HDF5 files, through HDF5's own library where the program was built with it. */
#ifndef CUTT_CLI_HDF5_INPUT_H
#define CUTT_CLI_HDF5_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "npy.h"

enum { CUTT_HDF5_WHY = 1024 };

/* An open data set. */
typedef struct cutt_hdf5 {
  int64_t file, set, type; /* the library's */
  cutt_npy npy;            /* as what it would be in an .npy file */
  uint8_t header[CUTT_NPY_HEADER_ROOM];
  int64_t offset; /* of the elements in the file, where they lie there as in an .npy file; else -1 */
} cutt_hdf5;

/* Opens a data set, "/group/name". On false `why`, of CUTT_HDF5_WHY bytes, says what is wrong, and nothing is open. */
bool cutt_hdf5_open(cutt_hdf5 *set, const char *path, const char *name, char *why);

/* Writes what the .npy file would be to a descriptor. On false `why` says what is wrong. */
bool cutt_hdf5_copy(const cutt_hdf5 *set, int descriptor, char *why);

void cutt_hdf5_close(cutt_hdf5 *set);

#endif
