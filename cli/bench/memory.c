/* Buffers, on the CPU or on a device, and the check of what an execution has written to them.
 *
 * In host memory every element of a result is checked. From a device all of it would have to be fetched, which takes
 * hundreds of times as long as an execution; so by default blocks are: the first and the last bytes, and one at a
 * random place of every equal share of the output, 8 MB in all. Each block holds poison before the execution and every
 * element of it is compared after, so an element of a block that was not written, or from the wrong place, is found.
 * Every check draws other places. Where that is not enough, CUTT_BENCH_CHECK_ALL fetches everything. */
#include "memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
  HUGE_PAGE = 2 << 20,
  GUARD = 64,
  STAGING_BYTES = 64 << 20, /* what is copied to or from a device at once */
  BLOCKS = 128,
  BLOCK_BYTES = 64 << 10
};

/* ----------------------------------------------------------------------------------------------------- host memory */

/* The number behind "NAME" in a file of "NAME NUMBER" lines, or of the number alone when name is ""; -1 without one. */
static int64_t read_number(const char *path, const char *name) {
  FILE *file = fopen(path, "r");
  if (!file) return -1;
  char line[256];
  int64_t value = -1;
  size_t length = strlen(name);
  while (value < 0 && fgets(line, sizeof line, file))
    if (!strncmp(line, name, length) && sscanf(line + length, "%" SCNd64, &value) != 1) value = -1;
  fclose(file);
  return value;
}

int64_t cutt_bench_memory_available(void) {
  int64_t kib = read_number("/proc/meminfo", "MemAvailable:");
  int64_t available = kib < 0 ? 0 : kib * 1024;
  /* In a container the limit is the control group's. Caches count as used there, though they would be given back. */
  int64_t limit = read_number("/sys/fs/cgroup/memory.max", "");
  int64_t used = read_number("/sys/fs/cgroup/memory.current", "");
  int64_t cache = read_number("/sys/fs/cgroup/memory.stat", "file ");
  if (limit >= 0 && used >= 0) {
    int64_t left = limit - used + (cache > 0 ? cache : 0);
    if (left < 0) left = 0;
    if (available == 0 || left < available) available = left;
  }
  return available;
}

static void touch_first(char *memory, size_t count, int threads) {
  size_t part = count / (size_t)(threads > 0 ? threads : 1) / HUGE_PAGE * HUGE_PAGE + HUGE_PAGE;
  int64_t parts = (int64_t)((count + part - 1) / part);
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads)
#endif
  for (int64_t p = 0; p < parts; ++p) {
    size_t begin = (size_t)p * part, left = count - begin;
    memset(memory + begin, CUTT_BENCH_POISON, left < part ? left : part);
  }
}

static bool open_host(cutt_bench_buffers *buffers, size_t bytes, int threads) {
  if (bytes > SIZE_MAX / 2 - 2 * HUGE_PAGE) {
    errno = ENOMEM;
    return false;
  }
  buffers->mapped = bytes + GUARD + HUGE_PAGE;
  for (int i = 0; i < 2; ++i) {
    void *map = mmap(NULL, buffers->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return false;
    buffers->map[i] = map;
    char *start = (char *)map + (-(uintptr_t)map & (HUGE_PAGE - 1));
#ifdef MADV_HUGEPAGE
    /* A wish: where it is not granted, small pages do. */
    (void)madvise(start, bytes + GUARD, MADV_HUGEPAGE);
#endif
    touch_first(start, bytes + GUARD, threads);
    if (i == 0) {
      buffers->in = start;
    } else {
      buffers->out = start;
    }
  }
  return true;
}

/* ------------------------------------------------------------------------------------------------------------ both */

static bool open_device(cutt_bench_buffers *buffers, size_t bytes) {
  return cuttMemoryAllocate(buffers->backend, bytes + GUARD, &buffers->in) == CUTT_SUCCESS &&
         cuttMemoryAllocate(buffers->backend, bytes + GUARD, &buffers->out) == CUTT_SUCCESS;
}

bool cutt_bench_buffers_open(cutt_bench_buffers *buffers, cuttBackend_t backend, size_t bytes, int threads, char *why,
                             size_t why_size) {
  *buffers = (cutt_bench_buffers){.backend = backend, .bytes = bytes};
  if (backend == CUTT_BACKEND_CPU) {
    if (open_host(buffers, bytes, threads)) return true;
    snprintf(why, why_size, "%s", strerror(errno));
  } else {
    buffers->staging = malloc(STAGING_BYTES);
    if (buffers->staging && open_device(buffers, bytes)) return true;
    snprintf(why, why_size, "%s", buffers->staging ? cuttLastError() : "out of host memory");
  }
  cutt_bench_buffers_close(buffers);
  return false;
}

void cutt_bench_buffers_close(cutt_bench_buffers *buffers) {
  if (buffers->backend == CUTT_BACKEND_CPU) {
    for (int i = 0; i < 2; ++i)
      if (buffers->map[i]) munmap(buffers->map[i], buffers->mapped);
  } else {
    cuttMemoryFree(buffers->backend, buffers->in);
    cuttMemoryFree(buffers->backend, buffers->out);
  }
  free(buffers->staging);
  *buffers = (cutt_bench_buffers){.backend = CUTT_BACKEND_CPU};
}

/* Copies to or from a device; false with `why`. */
static bool move(const cutt_bench_buffers *buffers, void *to, const void *from, size_t bytes, char *why,
                 size_t why_size) {
  if (cuttMemoryCopy(buffers->backend, to, from, bytes) == CUTT_SUCCESS) return true;
  snprintf(why, why_size, "%zu bytes could not be copied: %s", bytes, cuttLastError());
  return false;
}

bool cutt_bench_fill_in(cutt_bench_buffers *buffers, const cutt_bench_values *values, int64_t count, char *why,
                        size_t why_size) {
  if (!buffers->staging) {
    cutt_bench_fill(values, buffers->in, 0, count);
    return true;
  }
  const int64_t bytes = values->dtype->bytes, most = STAGING_BYTES / bytes;
  for (int64_t begin = 0; begin < count; begin += most) {
    int64_t here = count - begin < most ? count - begin : most;
    cutt_bench_fill(values, buffers->staging, begin, here);
    if (!move(buffers, (char *)buffers->in + begin * bytes, buffers->staging, (size_t)(here * bytes), why, why_size))
      return false;
  }
  return true;
}

/* ------------------------------------------------------------------------------------------------------------ check */

typedef struct block {
  int64_t begin, count; /* elements */
} block;

/* Whole tensors are walked in blocks as large as the staging memory. */
static bool sampled(cutt_bench_check_t check, int64_t count, int64_t bytes) {
  return check == CUTT_BENCH_CHECK_SAMPLE && count * bytes > 2 * (int64_t)BLOCKS * BLOCK_BYTES;
}

static int64_t count_blocks(cutt_bench_check_t check, int64_t count, int64_t bytes) {
  const int64_t most = STAGING_BYTES / bytes;
  return sampled(check, count, bytes) ? BLOCKS : (count + most - 1) / most;
}

/* The same numbers give the same block, so that the check finds what was prepared. */
static block find_block(const cutt_bench_buffers *buffers, cutt_bench_check_t check, int64_t count, int64_t bytes,
                        int64_t number) {
  if (!sampled(check, count, bytes)) {
    const int64_t most = STAGING_BYTES / bytes, begin = number * most;
    return (block){begin, count - begin < most ? count - begin : most};
  }
  const int64_t length = BLOCK_BYTES / bytes, share = count / BLOCKS;
  if (number == 0) return (block){0, length};
  if (number == BLOCKS - 1) return (block){count - length, length};
  uint64_t z = (buffers->draws << 8 | (uint64_t)number) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z ^= z >> 31;
  return (block){number * share + (int64_t)(z % (uint64_t)(share - length + 1)), length};
}

bool cutt_bench_prepare_out(cutt_bench_buffers *buffers, const cutt_bench_values *values, cutt_bench_check_t check,
                            int64_t count, char *why, size_t why_size) {
  const int64_t bytes = values->dtype->bytes;
  char *behind = (char *)buffers->out + count * bytes;
  if (!buffers->staging) {
    cutt_bench_fill_before(values, buffers->out, 0, count);
    cutt_bench_poison(behind, GUARD);
    return true;
  }
  ++buffers->draws;
  const int64_t blocks = count_blocks(check, count, bytes);
  for (int64_t i = 0; i < blocks; ++i) {
    block p = find_block(buffers, check, count, bytes, i);
    cutt_bench_fill_before(values, buffers->staging, p.begin, p.count);
    if (!move(buffers, (char *)buffers->out + p.begin * bytes, buffers->staging, (size_t)(p.count * bytes), why,
              why_size))
      return false;
  }
  cutt_bench_poison(buffers->staging, GUARD);
  return move(buffers, behind, buffers->staging, GUARD, why, why_size);
}

static bool check_guard(const unsigned char *guard, char *why, size_t why_size) {
  for (size_t i = 0; i < GUARD; ++i) {
    if (guard[i] == CUTT_BENCH_POISON) continue;
    snprintf(why, why_size, "byte %zu behind the end of the output was overwritten", i);
    return false;
  }
  return true;
}

bool cutt_bench_check(const cutt_bench_buffers *buffers, const cutt_bench_values *values, const cutt_bench_case *c,
                      cutt_bench_check_t check, char *why, size_t why_size) {
  const int64_t count = cutt_bench_volume(c), bytes = values->dtype->bytes;
  const char *behind = (const char *)buffers->out + count * bytes;
  if (!buffers->staging)
    return cutt_bench_compare(values, c, buffers->out, 0, count, why, why_size) &&
           check_guard((const unsigned char *)behind, why, why_size);
  const int64_t blocks = count_blocks(check, count, bytes);
  for (int64_t i = 0; i < blocks; ++i) {
    block p = find_block(buffers, check, count, bytes, i);
    if (!move(buffers, buffers->staging, (const char *)buffers->out + p.begin * bytes, (size_t)(p.count * bytes), why,
              why_size) ||
        !cutt_bench_compare(values, c, buffers->staging, p.begin, p.count, why, why_size))
      return false;
  }
  return move(buffers, buffers->staging, behind, GUARD, why, why_size) && check_guard(buffers->staging, why, why_size);
}
