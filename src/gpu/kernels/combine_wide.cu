/* Elementwise operations of tensors that have their elements side by side in one mode, in which 16 bytes are accessed at once
 * (combine_args.h): of elements of 2 and 4 bytes, since larger ones are as fast by themselves (combine_line.cu). */
#include "combine_line.h"

/* Is an access the one that is not whole? */
DEVICE bool combine_is_tail(const cutt_combine_args *args, const combine_line_part *part, uint32_t number) {
  return combine_line_first(args, number) == args->parts.tail_at && (part->last || !args->parts.cut);
}

/* Where an access is, and in the third operand. */
DEVICE combine_line_spot combine_wide_at(const cutt_combine_args *args, uint32_t number, uint32_t *third) {
  *third = args->three ? combine_line_third(args, number, CUTT_COMBINE_WINDOW) : 0;
  return args->parts.one ? combine_line_beside(args, number, CUTT_COMBINE_WINDOW) : combine_line_at(args, number);
}

#define COMBINE_TYPE f16
#define COMBINE_WORD uint16_t
#define COMBINE_BYTES 2
#define COMBINE_NUMBER float
#define COMBINE_COUNT 16
#include "combine_numbers.h"
#include "combine_wide_type.h"

#define COMBINE_TYPE bf16
#define COMBINE_WORD uint16_t
#define COMBINE_BYTES 2
#define COMBINE_NUMBER float
#define COMBINE_COUNT 16
#include "combine_numbers.h"
#include "combine_wide_type.h"

#define COMBINE_TYPE f32
#define COMBINE_WORD uint32_t
#define COMBINE_BYTES 4
#define COMBINE_NUMBER float
#define COMBINE_COUNT 16
#include "combine_numbers.h"
#include "combine_wide_type.h"

#define COMBINE_TYPE i32
#define COMBINE_WORD uint32_t
#define COMBINE_BYTES 4
#define COMBINE_NUMBER u32
#define COMBINE_COUNT 16
#include "combine_numbers.h"
#include "combine_wide_type.h"
