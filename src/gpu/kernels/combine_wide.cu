/* Elementwise operations of tensors that have their elements side by side in one mode, in which 16 bytes are accessed at once
 * (combine_args.h). */
#include "combine_walk.h"

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

#define COMBINE_TYPE f64
#define COMBINE_WORD word2
#define COMBINE_BYTES 8
#define COMBINE_NUMBER double
#define COMBINE_COUNT 8
#include "combine_numbers.h"
#include "combine_wide_type.h"

#define COMBINE_TYPE c32
#define COMBINE_WORD word2
#define COMBINE_BYTES 8
#define COMBINE_NUMBER complex_float
#define COMBINE_COUNT 4 /* of 8 some would be in local memory */
#include "combine_numbers.h"
#include "combine_wide_type.h"

#define COMBINE_TYPE i32
#define COMBINE_WORD uint32_t
#define COMBINE_BYTES 4
#define COMBINE_NUMBER u32
#define COMBINE_COUNT 16
#include "combine_numbers.h"
#include "combine_wide_type.h"

#define COMBINE_TYPE i64
#define COMBINE_WORD word2
#define COMBINE_BYTES 8
#define COMBINE_NUMBER u64
#define COMBINE_COUNT 8
#include "combine_numbers.h"
#include "combine_wide_type.h"
