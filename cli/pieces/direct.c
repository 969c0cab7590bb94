/* Reading past the system's cache; see direct.h. */
#include "cli/pieces/direct.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cutt.h"

enum { ALIGNMENT = CUTT_DIRECT_ALIGNMENT };

/* Is more than half of the file in the cache, going by some of its pages? */
static bool is_cached(int descriptor) {
  enum { SAMPLES = 256 };
  const int64_t page = sysconf(_SC_PAGESIZE);
  struct stat about;
  if (fstat(descriptor, &about) || !S_ISREG(about.st_mode) || about.st_size < page) return true;
  uint8_t *map = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (map == MAP_FAILED) return true;
  const int64_t pages = about.st_size / page;
  int found = 0;
  for (int i = 0; i < SAMPLES; ++i) {
    unsigned char there = 0;
    if (mincore(map + (int64_t)((double)pages / SAMPLES * i) * page, (size_t)page, &there)) there = 1;
    found += there & 1;
  }
  munmap(map, (size_t)about.st_size);
  return found > SAMPLES / 2;
}

void cutt_direct_open(cutt_direct *direct, int descriptor, int readers, int64_t all_bytes) {
  direct->descriptor = -1;
  direct->memory = NULL;
#ifdef O_DIRECT
  const int64_t most = (int64_t)1 << 20; /* what is copied from a buffer is still in a cache */
  char path[64];
  direct->readers = readers;
  direct->bytes = (all_bytes / readers < most ? all_bytes / readers : most) / ALIGNMENT * ALIGNMENT;
  if (direct->bytes < 2 * ALIGNMENT || is_cached(descriptor)) return;
  const size_t all = (size_t)(direct->bytes * readers) + ALIGNMENT;
  if (cuttMemoryAllocate(CUTT_BACKEND_CPU, all, &direct->memory) != CUTT_SUCCESS) return;
  const uintptr_t begin = (uintptr_t)direct->memory;
  direct->buffer = (uint8_t *)direct->memory + (ALIGNMENT - begin % ALIGNMENT) % ALIGNMENT;
  for (int i = 0; i < readers; ++i) atomic_flag_clear(&direct->taken[i]);
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor); /* that very file, whatever its name is by now */
  direct->descriptor = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
#else
  (void)descriptor;
  (void)readers;
  (void)all_bytes;
#endif
}

void cutt_direct_close(cutt_direct *direct) {
  if (direct->descriptor >= 0) close(direct->descriptor);
  if (direct->memory) cuttMemoryFree(CUTT_BACKEND_CPU, direct->memory);
  direct->descriptor = -1;
  direct->memory = NULL;
}

/* Whole blocks around what is wanted of a stretch, as many as the buffer has room for. Returns the bytes of the stretch that came. */
static int64_t read_blocks(const cutt_direct *direct, uint8_t *buffer, int64_t offset, int64_t bytes, uint8_t *to) {
  const int64_t before = offset % ALIGNMENT, room = direct->bytes - before, wanted = bytes < room ? bytes : room;
  const int64_t blocks = (before + wanted + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  ssize_t got = -1;
  do {
    got = pread(direct->descriptor, buffer, (size_t)blocks, (off_t)(offset - before));
  } while (got < 0 && errno == EINTR);
  const int64_t came = (int64_t)got - before < wanted ? (int64_t)got - before : wanted;
  if (got < 0 || came <= 0) return 0;
  memcpy(to, buffer + before, (size_t)came);
  return came;
}

int64_t cutt_direct_read(cutt_direct *direct, int64_t offset, int64_t bytes, uint8_t *to) {
  int mine = 0;
  while (mine < direct->readers && atomic_flag_test_and_set(&direct->taken[mine])) ++mine;
  if (mine == direct->readers) return 0;
  int64_t done = 0, came = 1;
  for (; done < bytes && came > 0; done += came)
    came = read_blocks(direct, direct->buffer + direct->bytes * mine, offset + done, bytes - done, to + done);
  atomic_flag_clear(&direct->taken[mine]);
  return done;
}
