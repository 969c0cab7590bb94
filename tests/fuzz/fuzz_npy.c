/* libFuzzer target for the .npy header: any bytes at all are either a header that holds what it promises, or an error
 * with a text; and what was read can be written and read again. */
#include <stdlib.h>
#include <string.h>

#include "npy.h"

static void require(int condition) {
  if (!condition) abort();
}

static void check(const cutt_npy *npy, size_t size) {
  require(npy->version >= 1 && npy->version <= 3);
  require(npy->rank >= 0 && npy->rank <= CUTT_NPY_MAX_RANK);
  require(npy->elem_bytes >= 1 && npy->elem_bytes <= 16 && (npy->elem_bytes & (npy->elem_bytes - 1)) == 0);
  require(npy->data_start >= 10 && (size_t)npy->data_start <= size);
  int64_t volume = 1;
  for (int i = 0; i < npy->rank; ++i) {
    require(npy->shape[i] >= 0);
    if (npy->shape[i] == 0) volume = 0;
  }
  for (int i = 0; i < npy->rank && volume > 0; ++i) require(!__builtin_mul_overflow(volume, npy->shape[i], &volume));
  require(volume == npy->volume && npy->data_bytes == volume * npy->elem_bytes);
}

static void check_round_trip(const cutt_npy *npy) {
  uint8_t header[CUTT_NPY_HEADER_ROOM];
  char why[CUTT_NPY_WHY];
  cutt_npy written = *npy, again;
  const size_t length = cutt_npy_write_header(&written, header);
  require(length > 0 && length < sizeof header && length % 64 == 0);
  require(cutt_npy_parse(header, length, &again, why));
  check(&again, length);
  require(again.rank == npy->rank && again.elem_bytes == npy->elem_bytes && strcmp(again.descr, npy->descr) == 0);
  require(memcmp(again.shape, npy->shape, sizeof again.shape) == 0 && !again.fortran_order);
  require(again.data_start == (int64_t)length && written.data_bytes == npy->data_bytes);
  require(cutt_npy_check_length(&again, again.data_start + again.data_bytes, why));
  if (again.data_bytes > 0) require(!cutt_npy_check_length(&again, again.data_start + again.data_bytes - 1, why));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  /* A copy of exactly this size, so that the sanitizer sees a read past its end. */
  uint8_t *copy = malloc(size ? size : 1);
  if (!copy) return 0;
  if (size) memcpy(copy, data, size);
  char why[CUTT_NPY_WHY] = "";
  cutt_npy npy;
  if (cutt_npy_parse(copy, size, &npy, why)) {
    check(&npy, size);
    check_round_trip(&npy);
    (void)cutt_npy_check_length(&npy, (int64_t)size, why);
  } else {
    require(why[0] != 0 && memchr(why, 0, sizeof why) != NULL);
  }
  free(copy);
  return 0;
}
