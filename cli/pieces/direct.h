/* Reading a file from the disk past the system's cache. Stretches that the system reads into its cache on demand go there page by page,
 * which a disk that can do more is slowed down by, and are then copied by a processor that has other work. Here each thread
 * reads into a buffer of its own, of large pages, and copies from there what is asked for. */
#ifndef CUTT_CLI_PIECES_DIRECT_H
#define CUTT_CLI_PIECES_DIRECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { CUTT_DIRECT_READERS = 32, CUTT_DIRECT_ALIGNMENT = 4096 }; /* at most; the latter: no disk asks for more */

typedef struct cutt_direct {
  int descriptor; /* of the file, once more; -1: it is read as others are */
  int readers;
  int64_t bytes; /* of a buffer */
  void *memory;
  uint8_t *buffer; /* the first one, aligned */
  atomic_flag taken[CUTT_DIRECT_READERS];
} cutt_direct;

/* Opens the file once more for so many threads, CUTT_DIRECT_READERS at most, that share buffers of so many bytes, unless the
 * system can't, there is no memory, or most of the file is in the system's cache. */
void cutt_direct_open(cutt_direct *direct, int descriptor, int readers, int64_t all_bytes);

/* Reads a stretch as far as that is possible, and returns how far. By that many threads at most at a time. */
int64_t cutt_direct_read(cutt_direct *direct, int64_t offset, int64_t bytes, uint8_t *to);

void cutt_direct_close(cutt_direct *direct);

#endif
