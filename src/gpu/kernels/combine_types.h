/* Includes COMBINE_BODY, which defines a kernel and undefines the rest, once for each type of elements (combine_type.h). */

#define COMBINE_TYPE f16
#define COMBINE_WORD uint16_t
#define COMBINE_BYTES 2
#define COMBINE_NUMBER float
#define COMBINE_COUNT CUTT_COMBINE_ROWS_OF(2)
#include "combine_numbers.h"
#include COMBINE_BODY

#define COMBINE_TYPE bf16
#define COMBINE_WORD uint16_t
#define COMBINE_BYTES 2
#define COMBINE_NUMBER float
#define COMBINE_COUNT CUTT_COMBINE_ROWS_OF(2)
#include "combine_numbers.h"
#include COMBINE_BODY

#define COMBINE_TYPE f32
#define COMBINE_WORD uint32_t
#define COMBINE_BYTES 4
#define COMBINE_NUMBER float
#define COMBINE_COUNT CUTT_COMBINE_ROWS_OF(4)
#include "combine_numbers.h"
#include COMBINE_BODY

#define COMBINE_TYPE f64
#define COMBINE_WORD word2
#define COMBINE_BYTES 8
#define COMBINE_NUMBER double
#define COMBINE_COUNT CUTT_COMBINE_ROWS_OF(8)
#include "combine_numbers.h"
#include COMBINE_BODY

#define COMBINE_TYPE c32
#define COMBINE_WORD word2
#define COMBINE_BYTES 8
#define COMBINE_NUMBER complex_float
#define COMBINE_COUNT CUTT_COMBINE_ROWS_OF(8)
#include "combine_numbers.h"
#include COMBINE_BODY

#define COMBINE_TYPE c64
#define COMBINE_WORD word4
#define COMBINE_BYTES 16
#define COMBINE_NUMBER complex_double
#define COMBINE_COUNT CUTT_COMBINE_ROWS_OF(16)
#include "combine_numbers.h"
#include COMBINE_BODY

#define COMBINE_TYPE i32
#define COMBINE_WORD uint32_t
#define COMBINE_BYTES 4
#define COMBINE_NUMBER u32
#define COMBINE_COUNT CUTT_COMBINE_ROWS_OF(4)
#include "combine_numbers.h"
#include COMBINE_BODY

#define COMBINE_TYPE i64
#define COMBINE_WORD word2
#define COMBINE_BYTES 8
#define COMBINE_NUMBER u64
#define COMBINE_COUNT CUTT_COMBINE_ROWS_OF(8)
#include "combine_numbers.h"
#include COMBINE_BODY
