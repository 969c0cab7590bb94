/* The kernels of the algorithm "one pass" (contract/pass.h): one table for each instruction set, all compiled from one source.
 *
 * A tile is a set of rows, each a sum of terms. Of a tile along a free mode a row is n numbers, and each term is n products;
 * of a tile along a summed mode a row is one number, and each term a dot product of n. Numbers are of the type that is computed
 * in: float for half types, whose operands are converted when they are packed. Nothing need be aligned. */
#ifndef CUTT_CONTRACT_KERNELS_KERNELS_H
#define CUTT_CONTRACT_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cpu/kernels/kernels.h"
#include "cutt_contract.h"

/* What the second operand of a product is. */
typedef enum cutt_pass_kind {
  CUTT_PASS_MULTIPLY, /* n numbers, as the first */
  CUTT_PASS_SCALE,    /* one number for all n */
  CUTT_PASS_ADD,      /* nothing: it is 1 everywhere */
  CUTT_PASS_KINDS
} cutt_pass_kind;

enum {
  CUTT_OPERATORS = CUTT_OP_MIN + 1,
  CUTT_PASS_AHEAD = 2048 /* bytes ahead of what is read in order that are asked for, by cores on which that is faster */
};

/* Places are in bytes. The numbers of a row and term begin at operand[t] + row[t][r] + term[t][s], one after the other. */
typedef struct cutt_pass_tile {
  const char *operand[2];
  const int64_t *row[2], *term[2];
  int64_t rows, terms, n;
  /* Along a free mode: so many terms, or all that are left, are added up before it is the next row's turn; then rows come again. */
  int64_t each;
  /* Of blocks: so many rows, one after the other, are sums of the same numbers of the first operand. It divides rows. */
  int64_t group;
  /* Row r goes to out + r * pitch, or where out_row is not NULL to out + out_row[r]. */
  char *out;
  int64_t pitch;
  const int64_t *out_row;
  /* Behind each row's end, along a free mode, there is room up to the end of its last vector. */
  bool room;
  /* What lies ahead in an operand may be asked for, since it is read from where it lies in memory, by a core on which that is faster. */
  bool may_ask[2];
  /* Along a summed mode: so many bytes ahead is asked for what rows are read of; 0: it is not. */
  int64_t ask_bytes;
  /* Along a free mode: of terms of which each lies behind the one before one after the other is added to the sums, which stay in the nearest cache,
   * so that memory is read in order. Else some vectors of all terms are added up at once, which takes fewer loads and stores. */
  bool in_order;
  /* What is there takes part in the sum, or other reduction, as its first term. */
  bool adds;
  /* Of complex types. */
  bool conjugate[2];
  /* Of blocks: what the next tile reads of the second operand is asked for meanwhile, some of it with each block. */
  cutt_cpu_ahead ahead;
} cutt_pass_tile;

typedef void cutt_pass_rows_fn(const cutt_pass_tile *tile);

/* d = alpha * sum + beta * d for n elements that follow each other, d of the tensors' type, the rest of the type that is
 * computed in. With reads false d is not read, and beta is 0. */
typedef struct cutt_pass_scalars {
  _Alignas(16) unsigned char alpha[16];
  _Alignas(16) unsigned char beta[16];
  bool alpha_is_one, reads;
} cutt_pass_scalars;
typedef void cutt_pass_finish_fn(char *d, const char *sum, int64_t n, const cutt_pass_scalars *scalars);

/* dst[j * pitch + i] = src[i * stride + j * element], i < n and j < columns: the element's bytes, or converted from a half type.
 * pitch and stride are in bytes; i counts elements of dst. */
typedef void cutt_pass_pack_fn(char *dst, int64_t pitch, const char *src, int64_t stride, int64_t n, int64_t columns);

/* So many runs of `bytes` each, a multiple of 4, from src + from[i] to dst + to[i]. */
typedef void cutt_pass_copy_fn(char *dst, const int64_t *to, const char *src, const int64_t *from, int64_t runs,
                               int64_t bytes);

/* An operand of an elementwise operation. */
typedef struct cutt_combine_operand {
  int64_t step;  /* bytes from the beginning of a row to that of the next one */
  int64_t ahead; /* what lies so far from what is read is asked for; 0: nothing is */
  bool single;   /* one element for all of a row */
  bool scaled, conjugate;
  _Alignas(16) unsigned char scale[16]; /* of the type that is computed in */
} cutt_combine_operand;

/* (operand 0 op[0] operand 1) op[1] operand 2 for rows of n elements of memory that follow each other, half types too. */
typedef struct cutt_combination {
  int operands; /* 1 to 3 */
  cutt_combine_operand operand[3];
  cuttOperator_t op[2];
  int64_t n, rows, step; /* the result's */
  int aheads;            /* of what is asked for meanwhile */
} cutt_combination;

/* The first bytes of the cache line at `at`, which are not yet written: who goes on there writes it whole. */
typedef struct cutt_combine_edge {
  _Alignas(64) char line[64];
  char *at;
  int64_t bytes;
} cutt_combine_edge;

/* Writes them. */
static inline void cutt_combine_end(cutt_combine_edge *edge) {
  if (edge->bytes) memcpy(edge->at, edge->line, (size_t)edge->bytes);
  edge->bytes = 0;
}

/* Rows whose first one is at[o] of each operand; out may be where operands are. What is handed over by itself is what changes from call to
 * call: a combination is loaded by vectors, which wait for stores that have just been made. edge: of each row, if edge_step is 1, since it goes on
 * where a row of another call ended, or one for all rows, of which each goes on where the one before ends, if it is 0; NULL: none. With edges whole
 * cache lines of the result are written past the caches, and elements have to lie at multiples of their bytes. */
typedef void cutt_combine_fn(char *out, const char *const *at, const cutt_combination *combination,
                             cutt_combine_edge *edge, int64_t edge_step, cutt_cpu_ahead *ahead);

/* A tile of an elementwise operation with operands that have their elements next to each other not along the result's rows but from row to
 * row: those have their n places of a row in a table, whatever modes a row runs over. */
typedef struct cutt_combine_turn {
  cutt_combination combination; /* at least CUTT_TURN_LEAST rows; aheads are not used */
  const char *at[3];            /* where the tile begins in each operand */
  const int64_t *place[3];      /* of a turned operand, from its `at`, in bytes; NULL: it has rows, too */
  const char *next[3];          /* where the next tile begins */
  bool asks;                    /* for what comes next */
  /* Past the caches: the last 64 bytes of each row, kept from tile to tile. NULL: through them. */
  char (*carry)[64];
  bool begins, ends; /* rows begin in this tile, and end; one that does not end has 64 bytes at least */
} cutt_combine_turn;
typedef void cutt_combine_turn_fn(char *out, const cutt_combine_turn *turn);

/* Rows that are turned together, of elements of 2 bytes twice as many; rows of a tile that are turned; and entries that a table of places has behind a row's, for what is asked for in advance. */
enum { CUTT_TURN_GROUP = 4, CUTT_TURN_LEAST = 8, CUTT_TURN_MOST = 128, CUTT_TURN_BEHIND = 320 };

/* What is done with numbers of one type in memory. NULL: there is no such operator of complex numbers. */
typedef struct cutt_pass_type {
  cutt_pass_rows_fn *along[CUTT_OPERATORS][CUTT_PASS_KINDS];  /* a free mode */
  cutt_pass_rows_fn *across[CUTT_OPERATORS][CUTT_PASS_KINDS]; /* a summed mode */
  cutt_combine_fn *combine;
  cutt_combine_turn_fn *turn; /* NULL: not with this instruction set */
  /* Along a free mode, of the kind CUTT_PASS_SCALE, groups of rows in blocks; out_row is not NULL. NULL: whole numbers. */
  cutt_pass_rows_fn *blocks;
  cutt_pass_finish_fn *finish;
  cutt_pass_pack_fn *pack;      /* from memory to numbers that are computed with */
  cutt_pass_pack_fn *transpose; /* the same among these */
  int bytes;                    /* of one of these */
} cutt_pass_type;

typedef struct cutt_pass_kernels {
  const char *isa;
  const cutt_pass_type *type; /* by cuttType_t */
  cutt_pass_copy_fn *copy;
  /* Copies past the caches; fence: before anyone else may read what was. */
  void (*stream)(char *dst, const char *src, int64_t bytes);
  void (*fence)(void);
} cutt_pass_kernels;

/* The kernels for an instruction set by the runtime's name of it; NULL: none were compiled. */
const cutt_pass_kernels *cutt_pass_kernels_named(const char *isa);

#endif
