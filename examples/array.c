/* Reading and writing .npy files whole, with the program's own parser. */
#include "array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool array_read(const char *path, array *a) {
  memset(a, 0, sizeof *a);
  char why[CUTT_NPY_WHY] = "";
  FILE *file = fopen(path, "rb");
  long size = -1;
  if (file && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
  if (size > 0 && fseek(file, 0, SEEK_SET) == 0) a->file = malloc((size_t)size);
  const bool whole = a->file && fread(a->file, 1, (size_t)size, file) == (size_t)size;
  if (!whole) snprintf(why, sizeof why, "%s", errno ? strerror(errno) : "can't be read");
  if (file) fclose(file);
  if (whole && cutt_npy_parse(a->file, (size_t)size, &a->npy, why) && cutt_npy_check_length(&a->npy, size, why)) {
    a->data = a->file + a->npy.data_start;
    return true;
  }
  fprintf(stderr, "%s: %s\n", path, why);
  free(a->file);
  a->file = NULL;
  return false;
}

bool array_write(const char *path, cutt_npy *npy, const void *data) {
  uint8_t header[CUTT_NPY_HEADER_ROOM];
  const size_t length = cutt_npy_write_header(npy, header);
  FILE *file = fopen(path, "wb");
  bool good = file && fwrite(header, 1, length, file) == length &&
              fwrite(data, 1, (size_t)npy->data_bytes, file) == (size_t)npy->data_bytes;
  if (file && fclose(file) != 0) good = false;
  if (!good) fprintf(stderr, "%s: can't be written: %s\n", path, strerror(errno));
  return good;
}
