/* The parameters of the kernels of stretch.cu: one struct, passed by value. Offsets and steps are in bytes.
 *
 * D = alpha * sum of L + beta * D, of one operand, or with a product, maximum or minimum in place of the sum, which is then what "sum"
 * means. A stretch is some elements of L that follow each other in memory: all of its first modes, and of the next one a part. They come
 * to shared memory while the one before is worked on, in windows of 16 bytes, at multiples of 16, wherever it begins. A result's
 * terms in a stretch are dealt out to lanes, threads that have one result. So the modes of a stretch may be short, many and in any order
 * in D. */
#ifndef CUTT_GPU_KERNELS_STRETCH_ARGS_H
#define CUTT_GPU_KERNELS_STRETCH_ARGS_H

#include "pass_args.h"
#include "sum_walk_args.h"

enum {
  CUTT_STRETCH_THREADS = 256,
  CUTT_STRETCH_STAGES = 2, /* in shared memory: a stretch that is worked on, and the next one */
  CUTT_STRETCH_WINDOW = 16,
  /* Bytes of a line. A stretch lies in shared memory as far from a multiple of it as in memory: copies of 16 bytes ask L2 once for what is in one
   * line on both sides, and for a sector that is in two lines of shared memory twice. */
  CUTT_STRETCH_LINE = 128,
  CUTT_STRETCH_ENTRY = 16,  /* bytes in shared memory of a result's description */
  CUTT_STRETCH_TERM = 4,    /* the same of terms' */
  CUTT_STRETCH_COUNTER = 8, /* and of a counter of copies in bulk, one for each stage */
  CUTT_STRETCH_WARP = 32,
  CUTT_STRETCH_DIGITS = 12 /* most modes of a stretch that are D's, and that are not */
};

/* Results that a thread has at once, where it has all of their terms: as many as there are registers for, by the bytes of an element. */
#define CUTT_STRETCH_AT_ONCE(bytes) ((bytes) > 4 ? 2u : 4u)

/* A digit of the number of a result or a term of a stretch: its steps there and in D. */
typedef struct cutt_stretch_digit {
  cutt_divisor extent;
  uint32_t step;
  int64_t result_step;
} cutt_stretch_digit;

typedef struct cutt_stretch_args {
  cutt_sum_walk
      walk; /* its tiles are stretches but for the terms of the results, and its columns the last mode of a stretch */
  /* Of the last mode: how much of it a stretch has, of how much, and its step there; is it D's? */
  uint32_t part, part_step, part_kept;
  int64_t extent;
  int64_t low, high; /* the bytes that L spans, from its element (0, ..., 0) */
  uint32_t stage_bytes;
  uint32_t results, result_end; /* of a whole stretch; of result[] */
  uint32_t described; /* results have descriptions; else they are of one mode, and a thread has several at once */
  /* Terms of a result in a whole stretch: inner ones, and outer ones, for each of which there are those. */
  uint32_t inner, inner_step, outer, term_end; /* term_end: of term[], which has the outer ones */
  uint32_t inner_part, outer_part;             /* of these, for each of the last mode; 0: it is not among them */
  /* Lanes of inner terms and all lanes, powers of 2: their logarithms. Do threads side by side have results, or else lanes of one? */
  uint32_t inner_bits, lane_bits, results_first;
  uint32_t several; /* there is one lane, of which a thread has several results at once */
  uint32_t
      pairs; /* of half types: inner terms follow each other, and all begin at multiples of 4 bytes, if the first ones do */
  uint32_t wide;                     /* inner terms follow each other, and are dealt out by windows, as they lie */
  uint32_t result_apart, lane_apart; /* sums in shared memory, from those of a result to the next, and of a lane */
  uint32_t results_at, terms_at;     /* in shared memory: descriptions */
  uint32_t sums_at, sums_bytes;      /* and sums, twice */
  uint32_t counters_at;
  int64_t part_bytes; /* from the results of one part to those of the next, in workspace */
  uint32_t flip;      /* sign bit of the imaginary part, where that is to be changed */
  uint8_t stores_sums, op;
  cutt_sum_scalars scalars;
  cutt_stretch_digit result[CUTT_STRETCH_DIGITS], term[CUTT_STRETCH_DIGITS];
} cutt_stretch_args;

#endif
