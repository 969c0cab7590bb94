/* Guarded buffers. The guard pages catch what AddressSanitizer can't see (vector code in assembly, system calls) and
 * work without it; the patterned zones catch writes that stay within a page. */
#include "support/buffers.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/reference.h"

enum { ZONE = 1024 }; /* bytes watched on either side, where there is room */

void test_region_free(test_region *region) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (region->base) munmap(region->base - page, region->bytes + 2 * page);
  region->base = NULL;
  region->bytes = 0;
}

bool test_region_protect(test_region *region, bool read_only) {
  return mprotect(region->base, region->bytes, read_only ? PROT_READ : PROT_READ | PROT_WRITE) == 0;
}

static bool region_grow(test_region *region, size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  bytes = (bytes + page - 1) / page * page;
  if (region->bytes >= bytes) return true;
  if (bytes < (size_t)1 << 20) bytes = (size_t)1 << 20;
  test_region_free(region);
  unsigned char *map = mmap(NULL, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return false;
  region->base = map + page;
  region->bytes = bytes;
  if (test_region_protect(region, false)) return true;
  test_region_free(region);
  return false;
}

bool test_buffer_place(test_region *region, size_t bytes, int at, test_buffer *buffer) {
  if (!region_grow(region, bytes + 2 * ZONE + 64)) return false;
  unsigned char *end = region->base + region->bytes;
  buffer->bytes = bytes;
  if (at == TEST_AT_END)
    buffer->data = end - bytes;
  else if (at == TEST_AT_START)
    buffer->data = region->base;
  else
    buffer->data = region->base + ZONE + at;
  size_t before = (size_t)(buffer->data - region->base), after = (size_t)(end - buffer->data) - bytes;
  if (before > ZONE) before = ZONE;
  if (after > ZONE) after = ZONE;
  buffer->zone = buffer->data - before;
  buffer->zone_bytes = before + bytes + after;
  return true;
}

void test_fill_bits(void *memory, size_t bytes, size_t elem_bytes, uint64_t seed) {
  unsigned char *to = memory;
  size_t count = bytes / elem_bytes;
  uint64_t base = test_mix(seed);
  switch (elem_bytes) {
    case 1: /* can't all differ: a hash, so that no shift or stride repeats them; eight of each number */
      for (size_t i = 0; i < count; i += 8) {
        const uint64_t v = test_mix(i / 8 ^ base);
        if (count - i >= 8)
          memcpy(to + i, &v, 8);
        else
          memcpy(to + i, &v, count - i);
      }
      break;
    case 2: /* an odd multiple: a bijection in every stretch of 65536; other stretches are shifted */
      for (size_t i = 0; i < count; i++) {
        uint16_t v = (uint16_t)(i * 40503 + (i >> 16) * 7919 + base);
        memcpy(to + 2 * i, &v, 2);
      }
      break;
    case 4:
      for (size_t i = 0; i < count; i++) {
        uint32_t v = ((uint32_t)i + (uint32_t)base) * 2654435761u;
        v ^= v >> 15;
        memcpy(to + 4 * i, &v, 4);
      }
      break;
    default: /* 8 and 16 */
      for (size_t i = 0; i < bytes / 8; i++) {
        uint64_t v = test_mix(i + base);
        memcpy(to + 8 * i, &v, 8);
      }
  }
}

/* A number in +-[1/4, 4) with as many random bits as the type holds. */
static long double number(uint64_t bits) {
  long double fraction = 1.0L + (long double)(bits >> 11) * 0x1p-53L;
  return (bits & 1 ? -fraction : fraction) * (bits & 2 ? 2.0L : 1.0L) * (bits & 4 ? 0.25L : 1.0L);
}

/* The unit in memory: a real or imaginary part. */
static size_t unit_of(cuttType_t type) { return type == CUTT_C32 ? 4 : type == CUTT_C64 ? 8 : test_type_bytes(type); }

void test_fill_numbers(void *memory, size_t bytes, cuttType_t type, uint64_t seed) {
  unsigned char *to = memory;
  uint64_t base = test_mix(seed + 1);
  const size_t unit = unit_of(type);
  if (type == CUTT_I32 || type == CUTT_I64 || !test_type_computes(type)) {
    test_fill_bits(memory, bytes, test_type_bytes(type), seed);
    return;
  }
  for (size_t i = 0; i < bytes / unit; i++) {
    long double v = number(test_mix(i + base));
    float f = (float)v;
    double d = (double)v;
    uint16_t half = type == CUTT_F16 ? test_half_from(v) : type == CUTT_BF16 ? test_bfloat_from(v) : 0;
    if (unit == 2)
      memcpy(to + 2 * i, &half, 2);
    else if (unit == 4)
      memcpy(to + 4 * i, &f, 4);
    else
      memcpy(to + 8 * i, &d, 8);
  }
}

/* The bits of a special value without its sign: a fraction of so many bits, and the exponent above it. */
static uint64_t special(uint64_t random, int fraction_bits, uint64_t infinity) {
  const uint64_t one = 1, normal = one << fraction_bits, quiet = normal / 2;
  switch (random % 10) {
    case 0:
    case 1:
      return 0;
    case 2:
      return 1; /* the smallest subnormal */
    case 3:
      return normal - 1; /* the largest one */
    case 4:
      return (random >> 8) % normal;
    case 5:
      return normal;
    case 6:
      return infinity - 1; /* the largest number */
    case 7:
      return infinity;
    case 8:
      return infinity + quiet + (random >> 8) % quiet; /* a quiet NaN */
    default:
      return infinity + 1 + (random >> 8) % (quiet - 1); /* one that signals */
  }
}

void test_fill_values(void *memory, size_t bytes, cuttType_t type, uint64_t seed) {
  unsigned char *to = memory;
  const size_t unit = unit_of(type);
  test_fill_numbers(memory, bytes, type, seed);
  if (type == CUTT_I32 || type == CUTT_I64 || !test_type_computes(type)) return;
  const int fraction_bits = type == CUTT_F16 ? 10 : type == CUTT_BF16 ? 7 : unit == 4 ? 23 : 52;
  const uint64_t base = test_mix(seed + 2);
  const uint64_t sign = UINT64_C(1) << (unit * 8 - 1), infinity = sign - (UINT64_C(1) << fraction_bits);
  for (size_t i = 0; i < bytes / unit; i++) {
    const uint64_t random = test_mix(i + base);
    if (random >> 62) continue; /* every fourth one */
    const uint64_t wide = special(random, fraction_bits, infinity) | (random >> 61 & 1 ? sign : 0);
    const uint16_t half = (uint16_t)wide;
    const uint32_t narrow = (uint32_t)wide;
    if (unit == 2)
      memcpy(to + 2 * i, &half, 2);
    else if (unit == 4)
      memcpy(to + 4 * i, &narrow, 4);
    else
      memcpy(to + 8 * i, &wide, 8);
  }
}
