/* Elementwise operations of tensors that have their elements side by side in one mode, in which 16 bytes are accessed at once
 * (combine_args.h): of elements of 2 and 4 bytes, since larger ones are as fast by themselves (combine_line.cu). */
#include "combine_line.h"

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
