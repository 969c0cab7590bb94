/* What the execution of a tile is made of: execute.c goes through the tiles, gather.c and transpose.c do one, and flush.c writes what
 * they have staged. */
#ifndef CUTT_CPU_EXECUTE_H
#define CUTT_CPU_EXECUTE_H

#include "cpu/prepared.h"

/* One execution: what all its items share. */
typedef struct cutt_cpu_job {
  const cutt_cpu_plan *p;
  const char *in; /* element (0, ..., 0) */
  char *out;
  const char *in_begin, *in_end; /* the bytes that the input spans */
  bool direct;                   /* kernels write the output themselves, nothing is staged */
} cutt_cpu_job;

/* One tile: its place, its size, and whether it begins or ends a sequence. */
typedef struct cutt_cpu_tile_at {
  const char *in;
  char *out;
  int64_t rows, cols, apart, inners, segments, shared_run;
  bool first, last; /* tile of the item's part of the sequence */
} cutt_cpu_tile_at;

/* Both are aligned to a cache line. */
typedef struct cutt_cpu_scratch {
  char *stage;
  char (*carry)[CUTT_CPU_LINE]; /* the last 64 bytes of each segment's run so far */
  char (*head)[CUTT_CPU_LINE];  /* where columns follow one another: the first 64 bytes of each segment's run */
} cutt_cpu_scratch;

/* Reads may reach beyond elements, but not into a page without elements, which need not be mapped. 4096 bytes is the
 * smallest page there is, and an address range within such a page is within a larger one too. */
static inline bool cutt_cpu_same_page(const char *a, const char *b) {
  return (((uintptr_t)a ^ (uintptr_t)b) & ~(uintptr_t)4095) == 0;
}

/* The row at the highest address has its elements up to `last`. May it be read up to `end`, and the other rows as far
 * beyond their elements? Below `last` every page has an element unless the rows are apart. */
static inline bool cutt_cpu_may_overrun(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, const char *last,
                                        const char *end) {
  const cutt_cpu_plan *p = j->p;
  if (end > j->in_end) return false;
  if (!p->gaps) return true;
  return !p->rows_apart && t->rows == p->rows &&
         cutt_cpu_same_page(last - 1, end - 1); /* of fewer rows, another one is the highest */
}

/* A run that is staged little by little, of which whole lines are written in between: memory does neither at its speed while much is
 * read and then much written. `at`: bytes that are written, from the beginning of the line in which the run begins. */
typedef struct cutt_cpu_drain {
  bool writes; /* else nothing is written in between */
  const cutt_cpu_kernels *kernels;
  char *line, *stage;
  int64_t lead, at;
} cutt_cpu_drain;

/* So many bytes of the run are staged. */
void cutt_cpu_drain_lines(cutt_cpu_drain *d, int64_t bytes);

/* Puts what the tile before left of dst's line into the stage; returns the offset in that line at which the run goes
 * on. */
int64_t cutt_cpu_begin_run(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, const char *dst, char *stage,
                           const char *carry);

/* Writes a run that is staged at `stage + lead` to dst, with its scalars: `bytes` of it, of which `written` are there already, counted
 * from the beginning of the line in which the run begins. carry: of this run, and afterwards of what goes on with it. */
void cutt_cpu_flush_run(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, char *dst, char *stage, int64_t lead,
                        int64_t bytes, char *carry, int64_t written);

/* A tile whose runs are gathered, and one that is transposed; each asks for what comes next. */
void cutt_cpu_gather_tile(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, cutt_cpu_scratch *s, cutt_cpu_ahead *ahead);
void cutt_cpu_transpose_tile(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, cutt_cpu_scratch *s,
                             cutt_cpu_ahead *next);

#endif
