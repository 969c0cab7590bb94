/* The parameters of the kernels of small.cu: one struct, passed by value. Steps in tensors are in bytes, as are places in shared memory.
 *
 * D = alpha * L R + beta * D of many small products, or of one whose operands are a small one and a long one. A tile is some matrices, each
 * with all its terms, or some rows or columns of one. A block does tiles that are as many apart as there are blocks. It copies both operands'
 * parts of a tile to shared memory while the tile before is multiplied, each as it lies: in runs of elements that follow each other,
 * by accesses of 16 bytes, 8 or 4 where all runs allow that, element by element where not. There D's part is put together, too, and is written in the same way. If D is read,
 * its part comes to shared memory with those of the operands.
 *
 * Runs, rows, columns, terms, matrices and tiles are numbers whose digits are modes, or chunks of modes. One mode may be cut with a shorter
 * last chunk. What is behind its end is zero in shared memory, and is not written. */
#ifndef CUTT_GPU_KERNELS_SMALL_ARGS_H
#define CUTT_GPU_KERNELS_SMALL_ARGS_H

#include "digit.h"
#include "pass_args.h"

enum {
  CUTT_SMALL_THREADS = 256, /* most */
  CUTT_SMALL_MODES = 12,    /* most of a tile */
  CUTT_SMALL_DIGITS = 24,   /* most of the number of a tile */
  CUTT_SMALL_WIDE = 16,     /* bytes of the widest access */
  CUTT_SMALL_ENTRY = 16,    /* bytes in shared memory of a run's description */
  CUTT_SMALL_TERM = 8       /* the same of a term's */
};

/* Rows and columns of a thread. */
#define CUTT_SMALL_EACH(element_bytes) ((element_bytes) > 8 ? 2u : 4u)

/* Threads of an SM that registers are there for. */
#define CUTT_SMALL_SM_THREADS(element_bytes) ((element_bytes) == 8 ? 512 : 768)

/* A digit of the number of a run: its step in the tensor and in shared memory, and how far it goes in the mode that is cut. */
typedef struct cutt_small_run {
  cutt_divisor extent;
  uint32_t shared, cut;
  int64_t step;
} cutt_small_run;

/* How a tensor's part of a tile is moved. */
typedef struct cutt_small_access {
  uint32_t digits, runs, runs_at; /* runs_at: their descriptions */
  /* Bytes of an access, if all runs begin at multiples of that, and are: so many (windows) are a run; and element by element. */
  uint32_t width;
  cutt_divisor windows, elements;
  uint32_t run_bytes;
  uint32_t cut_bytes;      /* of a run that goes along the mode that is cut: for each position there; else 0 */
  uint32_t at, slot_bytes; /* the part of a tile; from that of one to that of the next */
  cutt_small_run run[CUTT_SMALL_MODES];
} cutt_small_access;

/* A digit of the number of a row, column, term or matrix: its step in each tensor's part of a tile. */
typedef struct cutt_small_digit {
  cutt_divisor extent;
  uint32_t step[3];
} cutt_small_digit;

typedef struct cutt_small_args {
  /* Ends of the lists of digits in place[]: of rows, columns, terms and matrices. */
  uint32_t row_end, column_end, term_end, matrix_end;
  uint32_t rows, columns, terms, matrices; /* of a tile */
  cutt_divisor row_blocks, column_blocks;  /* of a matrix: each of a thread's rows and columns */
  uint32_t terms_at;                       /* their descriptions in shared memory */
  uint32_t tiles, blocks, tile_end;        /* tile_end: of digit[] */
  /* The digit that counts chunks of the mode that is cut, tile_end if none is; positions of a chunk, and all. */
  uint32_t cut_digit, cut;
  int64_t cut_extent;
  uint32_t flip[2]; /* sign bits of imaginary parts that are to be changed */
  cutt_sum_scalars scalars;
  cutt_small_access access[3]; /* of L, R and D */
  cutt_small_digit place[CUTT_SMALL_MODES];
  cutt_digit digit[CUTT_SMALL_DIGITS];
} cutt_small_args;

#endif
