/* Contractions of few terms, whose result is large, in one pass (panel_args.h): each element of D is written once, from operands
 * that are read as they lie, one of them once. Sums are in registers, by fused operations, in the order of the terms. */
#include "async.h" /* the runtime's: src/runtime/cuda/kernels */
#include "panel_args.h"
#include "pass_numbers.h"
#include "place.h"

/* Describes a panel's rows, by L and D, and the terms, by L and R. A row that there is not is loaded from where the first one is. */
DEVICE void panel_describe(const cutt_panel_args *args, uint32_t begin, uint32_t rows) {
  for (uint32_t i = thread_index(); i < rows; i += CUTT_PANEL_THREADS) {
    place p = {0, 0, 0};
    const bool there = begin + i < args->rows;
    place_go(args->digit, 0, args->row_end, there ? begin + i : begin, &p);
    pass_store(i * CUTT_PANEL_ENTRY, p.left, there ? p.result : PLACE_NOWHERE);
  }
  for (uint32_t i = thread_index(); i < args->terms; i += CUTT_PANEL_THREADS) {
    place p = {0, 0, 0};
    place_go(args->digit, args->column_end, args->term_end, i, &p);
    pass_store(args->terms_at + i * CUTT_PANEL_ENTRY, p.left, p.right);
  }
}

/* Where the description of a column of a tile is; a tile has so many. */
DEVICE uint32_t panel_column(const cutt_panel_args *args, uint32_t columns, uint32_t tile, uint32_t column) {
  return args->columns_at + (tile % CUTT_PANEL_TABLES * columns + column) * CUTT_PANEL_ENTRY;
}

/* Describes one of a tile's columns, by R and D. */
DEVICE void panel_describe_column(const cutt_panel_args *args, uint32_t columns, uint32_t tile, uint32_t column) {
  const uint32_t begin = tile * columns, number = begin + column;
  const bool there = number < args->columns;
  place p = {0, 0, 0};
  place_go(args->digit, args->row_end, args->column_end, there ? number : begin, &p);
  pass_store(panel_column(args, columns, tile, column), p.right, there ? p.result : PLACE_NOWHERE);
}

#define PANEL_PASTE(a, b) a##b
#define PANEL_NAME(a, b) PANEL_PASTE(a, b)
#define PANEL_OF(what) PANEL_NAME(what, PANEL_TYPE)
#define PANEL_ACCESS(what) PANEL_NAME(what, PANEL_BYTES)
#define PANEL_KERNEL(name) KERNEL(name, CUTT_PANEL_THREADS, PANEL_BLOCKS) /* whose name is put together first */

DEVICE float panel_fuse_f32(float a, float b, float c) { return multiply_add_float(a, b, c); }
DEVICE double panel_fuse_f64(double a, double b, double c) { return multiply_add_double(a, b, c); }
DEVICE float panel_number_f32(uint32_t v) { return bits_to_float(v); }
DEVICE double panel_number_f64(word2 v) { return bits_to_double(v); }
DEVICE uint32_t panel_bits_f32(float v) { return float_to_bits(v); }
DEVICE word2 panel_bits_f64(double v) { return double_to_bits(v); }

#define PANEL_TYPE f32
#define PANEL_REAL float
#define PANEL_BYTES 4
#include "panel_type.h"

#define PANEL_TYPE f64
#define PANEL_REAL double
#define PANEL_BYTES 8
#include "panel_type.h"
