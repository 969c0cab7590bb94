#include "gpu/fixture.h"

#include <stdlib.h>
#include <string.h>

#include "support/buffers.h"
#include "support/reference.h"

gpu_case gpu_case_make(uint64_t seed) {
  static const int64_t extents[4] = {33, 7, 19, 9};
  static const int perm[4] = {2, 0, 3, 1};
  gpu_case c;
  memset(&c, 0, sizeof c);
  c.problem = test_packed(CUTT_BYTES_4, 4, extents, perm);
  c.bytes = gpu_bytes(&c.problem);
  c.in = malloc(c.bytes);
  c.expected = malloc(c.bytes);
  c.got = malloc(c.bytes);
  assert_true(c.in && c.expected && c.got);
  gpu_case_refill(&c, seed);
  return c;
}

void gpu_case_free(gpu_case *c) {
  free(c->in);
  free(c->expected);
  free(c->got);
  memset(c, 0, sizeof *c);
}

void gpu_case_refill(gpu_case *c, uint64_t seed) {
  c->problem.seed = seed;
  test_fill_bits(c->in, c->bytes, 4, seed);
  test_reference(&c->problem, c->in, c->expected);
}

gpu_address gpu_case_in(const gpu_case *c) {
  const gpu_address in = gpu_allocate(c->bytes);
  gpu_check(gpu.to_device(in, c->in, c->bytes));
  return in;
}

gpu_address gpu_case_out(const gpu_case *c) {
  const gpu_address out = gpu_allocate(c->bytes);
  gpu_check(gpu.set_bytes(out, 0xa5, c->bytes));
  gpu_check(gpu.synchronize());
  return out;
}

bool gpu_case_right(gpu_case *c, gpu_address out) {
  memset(c->got, 0x5a, c->bytes);
  return !gpu.to_host(c->got, out, c->bytes) && !memcmp(c->got, c->expected, c->bytes);
}
