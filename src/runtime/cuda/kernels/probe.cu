/* Measuring a device: the pointer chase of Fig. 4 of the paper in global memory, one in shared memory, reading, writing,
 * and nothing at all. Their parameters are in probe_args.h. */
#include "device.h"
#include "probe_args.h"

DEVICE word2 split_address(const unsigned char *p) {
  const uint64_t bits = (uint64_t)(uintptr_t)p;
  const word2 v = {(uint32_t)bits, (uint32_t)(bits >> 32)};
  return v;
}

/* Where in the buffer the cache line of a place is. Each step can be undone, so each line of a window has one place. */
DEVICE size_t line_of(uint32_t place) {
  const uint32_t mask = CUTT_PROBE_WINDOW_LINES - 1;
  uint32_t line = (place * 0x5a35u + 0x3c6fu) & mask;
  line ^= line >> 8;
  line = line * 0x6b4du & mask;
  line ^= line >> 7;
  line = line * 0x2f1bu & mask;
  line ^= line >> 8;
  return (size_t)((place & ~mask) | line) * CUTT_PROBE_LINE;
}

/* Lane i has places i, i + 32, i + 64 and so on of a window: 32 chains, each of which comes back to its beginning. A thread
 * makes one link. */
KERNEL(cutt_probe_chain, CUTT_PROBE_THREADS, 1)
(const unsigned char *in, unsigned char *out, CONSTANT(cutt_probe_args) args) {
  (void)in, (void)args;
  const uint32_t mask = CUTT_PROBE_WINDOW_LINES - 1;
  const uint32_t place = block_index() * thread_count() + thread_index();
  const uint32_t next = (place & ~mask) | ((place + CUTT_PROBE_LANES) & mask);
  global_store8(out + line_of(place), split_address(out + line_of(next)));
}

/* As many lanes as the block has threads. The clock is read in each iteration between its load and the one before, whose
 * result that load needs: from one reading to the next is one access, whatever the latency of reading the clock. */
KERNEL(cutt_probe_chase, CUTT_PROBE_LANES, 1)
(const unsigned char *in, unsigned char *out, CONSTANT(cutt_probe_args) args) {
  const uint32_t lane = thread_index(), accesses = args.accesses;
  const unsigned char *at = in + line_of(args.place + lane);
  for (uint32_t i = 0; i <= accesses; ++i) {
    const uint32_t now = cycle_count();
    if (lane == 0) shared_store4(4 * i, now);
    at = global_load_address(at);
  }
  barrier();
  for (uint32_t i = lane; i < accesses; i += thread_count()) {
    global_store4(out + CUTT_PROBE_CYCLES_AT + 4 * (size_t)i, shared_load4(4 * i + 4) - shared_load4(4 * i));
  }
  global_store8(out + 8 * lane, split_address(at));
}

/* A whole warp without bank conflicts. The clock is read at both ends only: to store each reading would use the memory that
 * is measured. */
KERNEL(cutt_probe_shared, CUTT_PROBE_LANES, 1)
(const unsigned char *in, unsigned char *out, CONSTANT(cutt_probe_args) args) {
  (void)in;
  const uint32_t lane = thread_index(), accesses = args.accesses;
  for (uint32_t i = 0; i < CUTT_PROBE_SHARED_WORDS; ++i) {
    const uint32_t next = (i + 1) % CUTT_PROBE_SHARED_WORDS;
    shared_store4(4 * (i * CUTT_PROBE_LANES + lane), 4 * (next * CUTT_PROBE_LANES + lane));
  }
  uint32_t at = 4 * lane;
  const uint32_t start = cycle_count();
  UNROLL(16)
  for (uint32_t i = 0; i < accesses; ++i) at = shared_load4(at);
  const uint32_t cycles = cycle_count() - start;
  global_store4(out + 4 * lane, at);
  if (lane == 0) global_store4(out + CUTT_PROBE_SHARED_AT, cycles);
}

/* Adds up words, and writes the sum only where it is the one asked for: so the compiler can leave out no load, and nothing
 * but loads is measured. */
KERNEL(cutt_probe_read, CUTT_PROBE_THREADS, 4)
(const unsigned char *in, unsigned char *out, CONSTANT(cutt_probe_args) args) {
  const unsigned char *const from = in + (size_t)block_index() * CUTT_PROBE_BLOCK_BYTES + thread_index() * 16;
  word4 value[CUTT_PROBE_VECTORS];
  uint32_t sum = 0;
  UNROLL(CUTT_PROBE_VECTORS)
  for (uint32_t i = 0; i < CUTT_PROBE_VECTORS; ++i) value[i] = global_load16(from + (size_t)i * CUTT_PROBE_THREADS * 16);
  UNROLL(CUTT_PROBE_VECTORS)
  for (uint32_t i = 0; i < CUTT_PROBE_VECTORS; ++i) sum += value[i].x + value[i].y + value[i].z + value[i].w;
  if (sum == args.word) global_store4(out + 4 * ((size_t)block_index() * thread_count() + thread_index()), sum);
}

KERNEL(cutt_probe_write, CUTT_PROBE_THREADS, 4)
(const unsigned char *in, unsigned char *out, CONSTANT(cutt_probe_args) args) {
  (void)in;
  unsigned char *const to = out + (size_t)block_index() * CUTT_PROBE_BLOCK_BYTES + thread_index() * 16;
  const word4 value = {args.word, args.word, args.word, args.word};
  UNROLL(CUTT_PROBE_VECTORS)
  for (uint32_t i = 0; i < CUTT_PROBE_VECTORS; ++i) global_store16(to + (size_t)i * CUTT_PROBE_THREADS * 16, value);
}

KERNEL(cutt_probe_empty, CUTT_PROBE_LANES, 1)
(const unsigned char *in, unsigned char *out, CONSTANT(cutt_probe_args) args) { (void)in, (void)out, (void)args; }
