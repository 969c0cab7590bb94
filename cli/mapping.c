/* Files mapped into memory; see mapping.h. */
#include "mapping.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/* Reading a disk and faulting pages in is not what is timed, and in order it is faster than in a permutation's order.
 * Where the kernel can't (before 5.14) the work faults the pages in, more slowly. */
bool cutt_mapping_populate(const void *data, size_t bytes, bool written, const char *what,
                           cutt_cli_progress *progress) {
  const size_t block = (size_t)32 << 20, page = (size_t)sysconf(_SC_PAGESIZE);
  const int advice = written ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  uintptr_t start = (uintptr_t)data & ~(page - 1), end = (uintptr_t)data + bytes;
  for (uintptr_t at = start; at < end; at += block) {
    cutt_cli_progress_show(progress, what, (double)(at - start) / (double)(end - start));
    if (madvise((void *)at, end - at < block ? end - at : block, advice) == 0) continue;
    return errno != EFAULT && errno != EIO && errno != ENOSPC;
  }
  return true;
}

bool cutt_mapping_fits_in_memory(double bytes) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 && bytes < 0.75 * (double)pages * (double)page;
}
