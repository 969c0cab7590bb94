/* Elementwise operations of tensors that have their elements side by side in one mode, in which 16 bytes are accessed at once
 * (combine_args.h). */
#include "combine_walk.h"

/* The elements of an access, and an access of elements. */
DEVICE void combine_unpack2(word4 v, uint16_t *e) {
  e[0] = (uint16_t)v.x, e[1] = (uint16_t)(v.x >> 16), e[2] = (uint16_t)v.y, e[3] = (uint16_t)(v.y >> 16);
  e[4] = (uint16_t)v.z, e[5] = (uint16_t)(v.z >> 16), e[6] = (uint16_t)v.w, e[7] = (uint16_t)(v.w >> 16);
}
DEVICE word4 combine_pack2(const uint16_t *e) {
  const word4 v = {(uint32_t)e[1] << 16 | e[0], (uint32_t)e[3] << 16 | e[2], (uint32_t)e[5] << 16 | e[4],
                   (uint32_t)e[7] << 16 | e[6]};
  return v;
}
DEVICE void combine_unpack4(word4 v, uint32_t *e) { e[0] = v.x, e[1] = v.y, e[2] = v.z, e[3] = v.w; }
DEVICE word4 combine_pack4(const uint32_t *e) {
  const word4 v = {e[0], e[1], e[2], e[3]};
  return v;
}
DEVICE void combine_unpack8(word4 v, word2 *e) { e[0].x = v.x, e[0].y = v.y, e[1].x = v.z, e[1].y = v.w; }
DEVICE word4 combine_pack8(const word2 *e) {
  const word4 v = {e[0].x, e[0].y, e[1].x, e[1].y};
  return v;
}

#define COMBINE_TYPE f16
#define COMBINE_WORD uint16_t
#define COMBINE_BYTES 2
#define COMBINE_NUMBER float
#define COMBINE_COUNT 8
#include "combine_numbers.h"
#include "combine_wide_type.h"

#define COMBINE_TYPE bf16
#define COMBINE_WORD uint16_t
#define COMBINE_BYTES 2
#define COMBINE_NUMBER float
#define COMBINE_COUNT 8
#include "combine_numbers.h"
#include "combine_wide_type.h"

#define COMBINE_TYPE f32
#define COMBINE_WORD uint32_t
#define COMBINE_BYTES 4
#define COMBINE_NUMBER float
#define COMBINE_COUNT 4
#include "combine_numbers.h"
#include "combine_wide_type.h"

#define COMBINE_TYPE f64
#define COMBINE_WORD word2
#define COMBINE_BYTES 8
#define COMBINE_NUMBER double
#define COMBINE_COUNT 2
#include "combine_numbers.h"
#include "combine_wide_type.h"

#define COMBINE_TYPE c32
#define COMBINE_WORD word2
#define COMBINE_BYTES 8
#define COMBINE_NUMBER complex_float
#define COMBINE_COUNT 2
#include "combine_numbers.h"
#include "combine_wide_type.h"

#define COMBINE_TYPE i32
#define COMBINE_WORD uint32_t
#define COMBINE_BYTES 4
#define COMBINE_NUMBER u32
#define COMBINE_COUNT 4
#include "combine_numbers.h"
#include "combine_wide_type.h"

#define COMBINE_TYPE i64
#define COMBINE_WORD word2
#define COMBINE_BYTES 8
#define COMBINE_NUMBER u64
#define COMBINE_COUNT 2
#include "combine_numbers.h"
#include "combine_wide_type.h"
