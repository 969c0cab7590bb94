/* Every byte of shared memory has two stamps, who wrote it last and who read it last; a stamp is the thread and the
 * interval between two barriers in which it was. Intervals are numbered on from block to block and launch to launch, so
 * that nothing has to be cleared: a stamp that is older than the block's first interval counts as none.
 * The loops over an access's bytes have no branches, so that compilers vectorise them. */
#include <string.h>
#include <sys/mman.h>

#include "simt/state.h"

enum { THREAD_BITS = 11, MANY = (1 << THREAD_BITS) - 1 }; /* MANY: read by several threads in the interval */
static const uint32_t under_way = 1u << 31;               /* a copy has started and not landed */
static const uint32_t last_interval = (1u << (31 - THREAD_BITS)) - 1;

static struct {
  uint32_t *wrote, *read; /* stamps of shared memory */
  size_t shared_room;
  uint32_t interval;
  uint32_t block, now;          /* the stamp of thread 0 in the block's first interval, and in this one */
  uint32_t free_from, free_end; /* what may be read though the block has not written it */
  /* Of each byte of the output: the number of the launch that wrote it last. */
  unsigned char *written;
  size_t written_room;
  const unsigned char *out_low;
  unsigned char launch;
} shadow;

static void *reserve(size_t bytes) {
  void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return map == MAP_FAILED ? NULL : map;
}

void simt_shadow_cleanup(void) {
  if (shadow.wrote) munmap(shadow.wrote, 2 * shadow.shared_room * sizeof(uint32_t));
  if (shadow.written) munmap(shadow.written, shadow.written_room);
  memset(&shadow, 0, sizeof shadow);
}

/* Pages that are mapped anew are zero, so a large output of which little is touched stays cheap. */
static bool forget_written(size_t bytes) {
  if (shadow.written) munmap(shadow.written, shadow.written_room);
  if (bytes < shadow.written_room) bytes = shadow.written_room;
  shadow.written = reserve(bytes);
  shadow.written_room = shadow.written ? bytes : 0;
  shadow.launch = 1;
  return shadow.written != NULL;
}

bool simt_shadow_begin(const simt_launch *launch) {
  if (!shadow.wrote || launch->shared_bytes > shadow.shared_room) {
    if (shadow.wrote) munmap(shadow.wrote, 2 * shadow.shared_room * sizeof(uint32_t));
    shadow.shared_room = launch->shared_bytes < 65536 ? 65536 : launch->shared_bytes;
    shadow.wrote = reserve(2 * shadow.shared_room * sizeof(uint32_t));
    if (!shadow.wrote) return false;
    shadow.read = shadow.wrote + shadow.shared_room;
    shadow.interval = 0;
  }
  shadow.out_low = launch->write.low;
  if (!shadow.written || launch->write.bytes > shadow.written_room || shadow.launch == UINT8_MAX)
    return forget_written(launch->write.bytes > 65536 ? launch->write.bytes : 65536);
  ++shadow.launch;
  return true;
}

void simt_shadow_interval(void) {
  if (shadow.interval < last_interval) {
    ++shadow.interval;
  } else { /* no numbers are left: what this block has done so far moves to interval 1 */
    for (size_t i = 0; i < shadow.shared_room; ++i) {
      const uint32_t flying = shadow.wrote[i] & under_way, stamp = shadow.wrote[i] & ~under_way;
      shadow.wrote[i] = stamp >= shadow.block ? flying | 1u << THREAD_BITS | (stamp & MANY) : 0;
      shadow.read[i] = 0;
    }
    shadow.block = 1u << THREAD_BITS;
    shadow.interval = 2;
  }
  shadow.now = shadow.interval << THREAD_BITS;
}

void simt_shadow_forget(void) {
  if (shadow.wrote) memset(shadow.wrote, 0, 2 * shadow.shared_room * sizeof(uint32_t));
  shadow.interval = 0;
}

void simt_shadow_block(void) {
  if (shadow.interval == last_interval) simt_shadow_forget();
  ++shadow.interval;
  shadow.now = shadow.block = shadow.interval << THREAD_BITS;
  shadow.free_from = shadow.free_end = 0;
}

void simt_shadow_free(uint32_t from, uint32_t end) {
  shadow.free_from = from;
  shadow.free_end = end;
}

/* The number of bytes as a constant, for the vector code. */
#define FOR_CONSTANT(bytes, call)                                                                                      \
  switch (bytes) {                                                                                                     \
    case 1:                                                                                                            \
      return call(1);                                                                                                  \
    case 2:                                                                                                            \
      return call(2);                                                                                                  \
    case 4:                                                                                                            \
      return call(4);                                                                                                  \
    case 8:                                                                                                            \
      return call(8);                                                                                                  \
    default:                                                                                                           \
      return call(16);                                                                                                 \
  }

static const char *why_not_read(uint32_t at, uint32_t bytes, uint32_t me) {
  const uint32_t *wrote = shadow.wrote + at;
  const bool is_free = at >= shadow.free_from && at + bytes <= shadow.free_end;
  for (uint32_t i = 0; i < bytes; ++i) {
    if ((wrote[i] & ~under_way) < shadow.block) {
      if (is_free) continue;
      return "reads shared memory that nothing has been written to";
    }
    if (wrote[i] & under_way) return "reads shared memory to which a copy is under way: a wait is missing";
    if (wrote[i] >= shadow.now && wrote[i] != me)
      return "reads shared memory that another thread wrote since the last barrier";
  }
  return is_free ? NULL : "reads shared memory wrongly";
}

/* Compared as numbers with a sign, which is one instruction for four bytes even where there is only SSE2: a copy under way, whose stamp is
 * below 0, is older than the block then, and refused as that. */
static inline __attribute__((always_inline)) const char *load(uint32_t at, const uint32_t bytes) {
  const int32_t now = (int32_t)shadow.now, block = (int32_t)shadow.block, me = now | (int32_t)simt_now.thread;
  const int32_t many = now | MANY;
  const int32_t *restrict wrote = (const int32_t *)shadow.wrote + at;
  int32_t *restrict read = (int32_t *)shadow.read + at;
  int32_t bad = 0;
  for (uint32_t i = 0; i < bytes; ++i) {
    bad |= (wrote[i] < block) | ((wrote[i] >= now) & (wrote[i] != me));
    read[i] = ((read[i] < now) | (read[i] == me)) ? me : many;
  }
  return bad ? why_not_read(at, bytes, (uint32_t)me) : NULL;
}

const char *simt_shadow_load(uint32_t at, uint32_t bytes) {
#define LOAD(constant) load(at, constant)
  FOR_CONSTANT(bytes, LOAD)
}

static const char *why_not_write(const uint32_t *wrote, uint32_t bytes, uint32_t me) {
  for (uint32_t i = 0; i < bytes; ++i) {
    if (wrote[i] & under_way && (wrote[i] & ~under_way) >= shadow.block)
      return "writes shared memory to which a copy is under way";
    if (wrote[i] >= shadow.now && wrote[i] != me)
      return "writes shared memory that another thread wrote since the last barrier";
  }
  return "writes shared memory that another thread read since the last barrier";
}

static inline __attribute__((always_inline)) const char *store(uint32_t at, const uint32_t bytes, uint32_t stamp) {
  const uint32_t me = shadow.now | simt_now.thread, now = shadow.now;
  uint32_t *wrote = shadow.wrote + at, bad = 0;
  const uint32_t *read = shadow.read + at;
  for (uint32_t i = 0; i < bytes; ++i) {
    bad |= (uint32_t) !((wrote[i] < now) | (wrote[i] == me));
    bad |= (uint32_t) !((read[i] < now) | (read[i] == me));
  }
  if (bad) return why_not_write(wrote, bytes, me);
  for (uint32_t i = 0; i < bytes; ++i) wrote[i] = stamp;
  return NULL;
}

const char *simt_shadow_store(uint32_t at, uint32_t bytes) {
#define STORE(constant) store(at, constant, shadow.now | simt_now.thread)
  FOR_CONSTANT(bytes, STORE)
}

/* A copy may write at any moment from its start to its landing, so no other thread may use the bytes at either. */
const char *simt_shadow_copy_starts(uint32_t at, uint32_t bytes) {
#define START(constant) store(at, constant, under_way | shadow.now | simt_now.thread)
  FOR_CONSTANT(bytes, START)
}

void simt_shadow_copy_lands(uint32_t at, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i) shadow.wrote[at + i] = shadow.now | simt_now.thread;
}

static inline __attribute__((always_inline)) const char *write_once(unsigned char *written, const uint32_t bytes) {
  const unsigned char launch = shadow.launch;
  uint32_t bad = 0;
  for (uint32_t i = 0; i < bytes; ++i) {
    bad |= written[i] == launch;
    written[i] = launch;
  }
  return bad ? "writes bytes of the output that have been written before" : NULL;
}

const char *simt_shadow_write(const unsigned char *p, uint32_t bytes) {
  unsigned char *const written = shadow.written + (p - shadow.out_low);
#define WRITE(constant) write_once(written, constant)
  FOR_CONSTANT(bytes, WRITE)
}
