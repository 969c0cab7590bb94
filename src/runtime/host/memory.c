/* Memory of the host, copies, and the timing of work. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise */
#endif
#include "runtime/host/memory.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/error.h"
#include "runtime/host/team.h"

enum { ALIGNMENT = 64, HUGE_PAGE = 2 << 20 };

/* Large memory is in huge pages where the system has them, since a permutation uses so many pages at a time that TLB
 * misses would take longer than the data; and times would differ from buffer to buffer with the small pages that each
 * happens to get. */
static void *allocate(size_t bytes) {
  const bool large = bytes >= 2 * (size_t)HUGE_PAGE && bytes < SIZE_MAX - 2 * (size_t)HUGE_PAGE;
  const size_t alignment = large ? HUGE_PAGE : ALIGNMENT;
  if (bytes > SIZE_MAX - alignment) return NULL;
  const size_t whole = (bytes / alignment + 1) * alignment; /* a multiple of it, and never 0 */
  void *memory = aligned_alloc(alignment, whole);
#ifdef MADV_HUGEPAGE
  if (large && memory) (void)madvise(memory, whole, MADV_HUGEPAGE); /* if it fails, the pages are small */
#endif
  return memory;
}

cuttResult cutt_host_memory_allocate(size_t bytes, void **memory) {
  *memory = allocate(bytes);
  if (!*memory) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes", bytes);
  return CUTT_SUCCESS;
}

cuttResult cutt_host_memory_free(void *memory) {
  free(memory);
  return CUTT_SUCCESS;
}

cuttResult cutt_host_memory_copy(void *to, const void *from, size_t bytes) {
  memmove(to, from, bytes);
  return CUTT_SUCCESS;
}

cuttResult cutt_host_copy(void *to, const void *from, size_t bytes, cudaStream_t stream) {
  (void)stream;
  memcpy(to, from, bytes);
  return CUTT_SUCCESS;
}

cuttResult cutt_host_time(const cutt_work *work, cudaStream_t stream, int count, double *seconds) {
  for (int i = 0; i < count; ++i) {
    const double start = cutt_clock();
    const cuttResult result = work->run(work->what, stream);
    seconds[i] = cutt_clock() - start;
    if (result) return result;
  }
  return CUTT_SUCCESS;
}

enum { FILL_PARTS = 64 };

typedef struct fill {
  uint64_t *words;
  size_t count;
  atomic_int next;
} fill;

static void fill_parts(void *what, int me, int team) {
  fill *f = what;
  (void)me, (void)team;
  for (size_t part = 0; (part = (size_t)atomic_fetch_add(&f->next, 1)) < FILL_PARTS;) {
    const size_t end = f->count / FILL_PARTS * (part + 1) + (part + 1 == FILL_PARTS ? f->count % FILL_PARTS : 0);
    for (size_t i = f->count / FILL_PARTS * part; i < end; ++i) f->words[i] = i * 0x9e3779b97f4a7c15u;
  }
}

/* Filled with distinct values by as many threads as will use it, so that each page is near one that does. */
cuttResult cutt_host_scratch_create(size_t bytes, int threads, void **memory) {
  fill f = {.words = bytes > SIZE_MAX - sizeof(uint64_t) ? NULL : allocate(bytes + sizeof(uint64_t)),
            .count = bytes / sizeof(uint64_t) + 1};
  *memory = f.words;
  if (!f.words) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to measure on", bytes);
  cutt_team_run(threads > 0 ? threads : cutt_team_default(), fill_parts, &f);
  return CUTT_SUCCESS;
}

void cutt_host_scratch_release(void *memory) { free(memory); }
