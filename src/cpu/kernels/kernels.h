/* The micro-kernels of one instruction set, as a table. kernels.c is compiled once per instruction set; each object
 * file has one table, and prepare takes that of its target.
 *
 * The kernels work on one tile, between the user's input and a staging buffer in L1 ("stage"), in which each output run
 * of the tile is contiguous and has the same offset in a 64-byte line as in the output; store_lines() and copy() then
 * write it there. */
#ifndef CUTT_CPU_KERNELS_KERNELS_H
#define CUTT_CPU_KERNELS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "model/canonical.h"

enum {
  CUTT_CPU_LINE = 64,  /* bytes of a cache line, and of the longest vector */
  CUTT_CPU_WIDTHS = 5, /* element widths: 1 << 0 .. 1 << 4 bytes */
  CUTT_CPU_VECTORS = 3 /* vector widths: 16 << 0 .. 16 << 2 bytes */
};

/* Lines to prefetch while a kernel works on others: `runs` runs of `bytes` bytes, run i at base + start[i]; (run, byte)
 * is the next one. A few lines at a time, since a burst of prefetches waits for free fill buffers and blocks all other
 * loads. Asked for are bytes 0, 64, ... of a run and its last one, which may be in a line that has been asked for: where in
 * a line a run begins changes from run to run, and a branch on that is predicted wrongly. As these are more lines than a run's bytes
 * fill, 8 + more are prefetched for 8 lines that are worked on. */
typedef struct cutt_cpu_ahead {
  const char *base;
  const int64_t *start;
  int64_t runs, bytes;
  int64_t run, byte;
  int to;        /* cutt_cpu_prefetch_to */
  bool rows;     /* of a walk along rows: the runs are the next tile's rows */
  bool one_line; /* ... and its passes have rows for one line, whatever the element */
  int64_t more;
  int64_t due;  /* eighths of lines that are to be prefetched now */
  int64_t room; /* of a walk along rows: bytes that L1 has for rows which are prefetched whole */
} cutt_cpu_ahead;

/* Where prefetched lines go to: L2 leaves the few fill buffers of L1 to loads and non-temporal stores. */
enum cutt_cpu_prefetch_to { CUTT_CPU_TO_L1, CUTT_CPU_TO_L2, CUTT_CPU_TO_NONE, CUTT_CPU_PREFETCHES };

/* `more` for so many runs, while so many bytes are worked on. */
static inline int64_t cutt_cpu_ahead_more(int64_t runs, int64_t bytes, int64_t work) {
  const int64_t asked = 8 * CUTT_CPU_LINE * runs * ((bytes + CUTT_CPU_LINE - 2) / CUTT_CPU_LINE + 1);
  return asked > 8 * work ? (asked - 8 * work + work - 1) / work : 0;
}

static inline void cutt_cpu_prefetch_line(const char *line, int to) {
  if (to == CUTT_CPU_TO_L1) {
    __builtin_prefetch(line, 0, 3);
  } else {
    __builtin_prefetch(line, 0, 2);
  }
}

/* Into L1: what is `ahead` bytes beyond so many bytes from `from` on, backwards where they are negative. */
static inline void cutt_cpu_prefetch_beyond(const char *from, int64_t bytes, int64_t ahead) {
  const int64_t sign = bytes < 0 ? -1 : 1;
  for (int64_t i = 0; i < bytes * sign; i += CUTT_CPU_LINE)
    cutt_cpu_prefetch_line(from + sign * (ahead + i), CUTT_CPU_TO_L1);
}

/* Called as so many lines are worked on. */
static inline void cutt_cpu_prefetch(cutt_cpu_ahead *ahead, int lines) {
  const int64_t runs = ahead->runs, last = ahead->bytes - 1;
  int64_t run = ahead->run, byte = ahead->byte, due = ahead->due + lines * (8 + ahead->more);
  if (run == runs) return;
  while (due >= 8 && run < runs) {
    const char *from = ahead->base + ahead->start[run];
    for (; due >= 8 && byte < last; byte += CUTT_CPU_LINE, due -= 8) cutt_cpu_prefetch_line(from + byte, ahead->to);
    if (due < 8) break;
    cutt_cpu_prefetch_line(from + last, ahead->to);
    due -= 8;
    byte = 0;
    ++run;
  }
  ahead->run = run;
  ahead->byte = byte;
  ahead->due = due;
}

/* Transposes nrows x ncols elements of w bytes through registers of V bytes, W = V / w rows at a time.
 *   stage   receives element (r, c) at stage + pos[c] + r * w
 *   src     element (r, c) is at src + row[r] + c * w
 *   nrows   rows. Under W: row[] must still have W readable entries with valid offsets, and what is written past
 *           element nrows - 1 of column c (at most V bytes from pos[c]) is arbitrary; columns are written in ascending
 *           order, so that a column that starts right there may follow. From W on, nothing is written past the end.
 *   ncols   columns. Each row is read by loads of 16 bytes: with ncols * w >= 16 nothing past its end is read; below
 *           that, 16 bytes from src + row[r] on are.
 *   ahead   prefetched meanwhile, as many lines as are read. */
typedef void cutt_cpu_transpose_fn(char *stage, const int64_t *pos, const char *src, const int64_t *row, int64_t nrows,
                                   int64_t ncols, cutt_cpu_ahead *ahead);

/* The same with 64-byte registers, each column written straight to the output by non-temporal stores of whole lines.
 * Takes nrows >= 64 / w, and destinations that are multiples of min(w, 8) bytes.
 *   dst     where each column's first element goes
 *   carry   of each column: on entry the 64 bytes before dst[c], of which those in dst[c]'s line are used unless
 *           `first`; on return the last 64 bytes of the column
 *   first   the bytes before dst[c] belong to others: its line is written in part
 *   last    nothing follows, and the last line is written in part; otherwise its bytes are left to carry */
typedef void cutt_cpu_shift_fn(char *const *dst, char (*carry)[CUTT_CPU_LINE], const char *src, const int64_t *row,
                               int64_t nrows, int64_t ncols, bool first, bool last, cutt_cpu_ahead *ahead);

/* The same for columns of which each begins in the output where the one before it ends, so that the line in which they meet is written
 * whole, too.
 *   dst     where the first column's first element goes
 *   carry   of the run that they are, as above
 *   first, last   likewise: the bytes before the run belong to others, and nothing follows it */
typedef void cutt_cpu_follow_fn(char *dst, char *carry, const char *src, const int64_t *row, int64_t nrows,
                                int64_t ncols, bool first, bool last, cutt_cpu_ahead *ahead);

/* The same for a whole tile, whose columns are all under way at once: block by block of 64 / w rows, each from the first
 * column to the last. Takes nrows >= 64 / w.
 *   ahead   with `rows` the next tile's rows: the block that comes next is prefetched, in this tile or in that; else what
 *           memory has of the next tile */
typedef struct cutt_cpu_columns {
  char *out; /* column c's first element goes to out + col[c], a multiple of min(w, 8) bytes */
  const int64_t *col;
  int64_t count;
  int64_t
      run; /* a column that many bytes behind the one before begins where that one ends, and their line is written whole; 0:
                * none is */
  char (*carry)[CUTT_CPU_LINE];
  char (*head)
      [CUTT_CPU_LINE]; /* where run > 0: the first 64 bytes of each column, kept from the first tile to the last */
  int64_t even,
      step; /* the first `even` rows, and each `even` after them, are `step` bytes from each other; 0: none are known to be */
} cutt_cpu_columns;
typedef void cutt_cpu_along_fn(const cutt_cpu_columns *columns, const char *src, const int64_t *row, int64_t nrows,
                               bool first, bool last, cutt_cpu_ahead *ahead);

/* A table of gather offsets, sorted into windows: vector v of the output, of V bytes, has windows first[v] ..
 * first[v + 1] - 1, and window i is at offset[i].
 *   V = 64   a window has 128 bytes, or 64 if all are narrow. Element e of the vector is index[i * 64 / w + e] elements
 *            from its beginning, if bit e of mask[i] is set; the last of these elements ends span[i] bytes from there.
 *   V = 16   a window has 16 bytes. Byte e of the vector is index[i * 16 + e] bytes from its beginning, or not in it if
 *            that is 128.
 * The bytes that are read of all windows are [low, high). */
typedef struct cutt_cpu_windows {
  const int64_t *offset;
  const uint64_t *mask;
  const int32_t *first;
  const uint8_t *span;
  const uint8_t *index;
  int64_t low, high;
  bool narrow;
  int each;     /* windows of every vector; 0: they differ */
  int64_t even; /* the first so many vectors have windows alike, `step` bytes behind those of the vector before */
  int64_t step;
} cutt_cpu_windows;

/* Gathers vectors [from, to) through their windows: vector v goes to stage + v * V, but nothing beyond stage + bytes.
 * Whole windows are read, or if `guarded` (V = 64 only) nothing but the bytes from their first element to their last
 * one. */
typedef void cutt_cpu_window_fn(char *stage, const char *src, const cutt_cpu_windows *windows, int64_t from, int64_t to,
                                int64_t bytes, bool guarded);

/* Rows that a transpose of few rows takes, and reads, at most. Of more, rounds of interleaving are faster. */
enum { CUTT_CPU_FEW_ROWS = 16 };

/* The indices of a transpose of few rows (few.c): of each line of a block's output, a block being 16 bytes of each row, and each pair of
 * registers that hold it, an index for each element, and a bit in the mask if it comes from that pair. Four rows are in a register. */
typedef struct cutt_cpu_few {
  int64_t rows;
  int registers;
  const uint64_t *mask; /* [line][pair] */
  const char *index;    /* [line][pair], 64 bytes each */
} cutt_cpu_few;

/* Transposes rows that are so few that a column has less than 64 bytes, n times: row r begins at src + from[i] + row[r], for all rows that
 * registers have, and its columns go to stage + pos[i], one after another. Reads 16 bytes of each row, where it has fewer too. The n
 * blocks are done in order, and behind each up to 63 bytes are written that mean nothing; ahead is prefetched meanwhile. */
typedef void cutt_cpu_few_fn(char *stage, const int64_t *pos, int64_t n, const char *src, const int64_t *from,
                             const int64_t *row, int64_t ncols, const cutt_cpu_few *few, cutt_cpu_ahead *ahead);

/* The transpose of runs of n bytes, 3 to 8, of which cutt_cpu_turned(n) lie side by side in each row: run c of row r goes to
 * dst[c] + r * n. Takes nrows >= 4 * cutt_cpu_turned(n), and reads 16 bytes of each row; ahead is prefetched meanwhile. */
typedef void cutt_cpu_turn_fn(char *const *dst, const char *src, const int64_t *row, int64_t nrows, int64_t n,
                              cutt_cpu_ahead *ahead);
static inline int cutt_cpu_turned(int64_t n) { return (int)(16 / n); }

/* n elements of w bytes, `step` bytes apart, 2 to 4 times w or -w, one after another to dst, which for stores past the caches is a multiple
 * of w. Nothing but what lies from the first element to the last one is read. */
typedef void cutt_cpu_skip_fn(char *dst, const char *src, int64_t n, int64_t step, bool past);

/* Kinds of arithmetic that a transpose does on its way: by numbers of this kind, whatever the elements that they are in. */
typedef enum cutt_cpu_arithmetic {
  CUTT_CPU_F32,
  CUTT_CPU_F64,
  CUTT_CPU_F16,
  CUTT_CPU_BF16,
  CUTT_CPU_ARITHMETICS /* none of these */
} cutt_cpu_arithmetic;

/* What a problem's scalars ask for, if a transpose can do it; else CUTT_CPU_ARITHMETICS. */
static inline cutt_cpu_arithmetic cutt_cpu_arithmetic_of(const cutt_scale *s) {
  if (s->conjugate || s->alpha_factor == CUTT_FACTOR_COMPLEX || s->beta_factor == CUTT_FACTOR_COMPLEX) {
    return CUTT_CPU_ARITHMETICS;
  }
  switch (s->type) {
    case CUTT_F32:
    case CUTT_C32:
      return CUTT_CPU_F32;
    case CUTT_F64:
    case CUTT_C64:
      return CUTT_CPU_F64;
    case CUTT_F16:
      return CUTT_CPU_F16;
    case CUTT_BF16:
      return CUTT_CPU_BF16;
    default:
      return CUTT_CPU_ARITHMETICS;
  }
}

/* The transpose with out = alpha * in + beta * out: element (r, c) of the input is added into out + pos[c] + r * w. The
 * other arguments are those of cutt_cpu_transpose_fn, but that nrows >= W, and that nothing past a column's end is written. */
typedef void cutt_cpu_scaled_fn(char *out, const int64_t *pos, const char *src, const int64_t *row, int64_t nrows,
                                int64_t ncols, const cutt_scale *scale, cutt_cpu_ahead *ahead);

/* Which kernels there are for elements of w bytes with registers of so many bytes, for planning, which has no table of
 * kernels. Transposes have registers of 16, 32 and 64 bytes. */
static inline int cutt_cpu_widest(int vector_bytes) { return vector_bytes >= 64 ? 64 : vector_bytes >= 32 ? 32 : 16; }
static inline bool cutt_cpu_has_shift(int64_t vector_bytes, bool byte_permutes, int64_t w) {
  return vector_bytes >= 64 && (w >= 2 || byte_permutes);
}
/* Bytes of rows that follow one another up to which a walk along them asks for the next pass's into L1 itself, where it has the kernels for that: hardware
 * prefetchers do longer ones. A fourth of it where a tile is one pass. */
enum { CUTT_CPU_NEXT_ROWS = 512 };
static inline bool cutt_cpu_asks_for_next_rows(int64_t vector_bytes, int64_t w, int64_t row_bytes) {
  return vector_bytes >= 64 && w <= 4 && row_bytes <= CUTT_CPU_NEXT_ROWS;
}
static inline bool cutt_cpu_has_follow(int64_t vector_bytes, int64_t w) { return vector_bytes >= 64 && w >= 4; }
static inline bool cutt_cpu_has_few(int64_t vector_bytes, bool byte_permutes, int64_t w) {
  return vector_bytes >= 64 && w <= 4 && (w >= 2 || byte_permutes);
}
static inline bool cutt_cpu_has_window(int64_t vector_bytes, bool byte_permutes, int64_t w) {
  return (vector_bytes >= 64 && w >= 2 && w <= 8) || (byte_permutes && w <= 8);
}
static inline bool cutt_cpu_has_turn(int64_t vector_bytes, bool byte_permutes, int64_t n) {
  return vector_bytes >= 64 && byte_permutes && n >= 3 && n <= 8;
}
static inline bool cutt_cpu_has_skip(int64_t vector_bytes, bool byte_permutes, int64_t w, int64_t step) {
  const bool has_width = vector_bytes == 32 || (vector_bytes >= 64 && (w >= 2 || byte_permutes));
  return has_width && (step == -1 || (w <= 8 && step >= 2 && step <= 4));
}
static inline int cutt_cpu_window_vector(int64_t vector_bytes) { return vector_bytes >= 64 ? 64 : 16; }
static inline bool cutt_cpu_guards_windows(int64_t vector_bytes) { return vector_bytes >= 64; }

/* What differs where bytes can be permuted: AVX-512 with VBMI has such a table of its own, and AVX-512's for everything else. Each other
 * instruction set has both. Of elements of 1 byte what cutt_cpu_kernels has of wider ones, and two more. */
typedef struct cutt_cpu_byte_kernels {
  cutt_cpu_transpose_fn *transpose[CUTT_CPU_VECTORS];
  cutt_cpu_shift_fn *shift, *lines;
  cutt_cpu_along_fn *along;
  cutt_cpu_few_fn *few;
  cutt_cpu_window_fn *window;

  cutt_cpu_turn_fn *turn; /* NULL where there is none */
  cutt_cpu_skip_fn *skip; /* likewise */
  /* The reverse of gather, for an output without a unit stride: element k of w bytes, any w, goes to dst + k * stride_bytes. */
  void (*scatter)(char *dst, int64_t stride_bytes, const char *stage, int64_t n, int64_t w);
} cutt_cpu_byte_kernels;

/* Of elements of w bytes, from 2 on; those of 1 byte are NULL. */
typedef struct cutt_cpu_kernels {
  /* [log2 w][log2 (V / 16)]; NULL where V is wider than this instruction set has. */
  cutt_cpu_transpose_fn *transpose[CUTT_CPU_WIDTHS][CUTT_CPU_VECTORS];
  /* The same with 64-byte registers, by loads of whole lines; NULL but for elements of 4, 8 and 16 bytes. */
  cutt_cpu_transpose_fn *whole[CUTT_CPU_WIDTHS];

  /* [kind][log2 w][log2 (V / 16)]; NULL also where an element is narrower than the numbers of that kind. */
  cutt_cpu_scaled_fn *scaled[CUTT_CPU_ARITHMETICS][CUTT_CPU_WIDTHS][CUTT_CPU_VECTORS];

  cutt_cpu_shift_fn *shift[CUTT_CPU_WIDTHS]; /* [log2 w]; NULL where there is none */
  /* The same through the caches, by stores of whole lines but for a column's first and last ones. What `first` and `last` say
   * of other tiles is of other rows of the same columns. */
  cutt_cpu_shift_fn *lines[CUTT_CPU_WIDTHS];

  cutt_cpu_follow_fn *follow[CUTT_CPU_WIDTHS]; /* [log2 w]; NULL but for elements of 4, 8 and 16 bytes */

  cutt_cpu_few_fn *few[CUTT_CPU_WIDTHS]; /* [log2 w]; NULL but for elements of 2 and 4 bytes */

  cutt_cpu_along_fn *along[CUTT_CPU_WIDTHS]; /* [log2 w] */
  /* The same by loads of whole lines of each row; NULL but for elements of 4, 8 and 16 bytes and registers of 64. */
  cutt_cpu_along_fn *along_whole[CUTT_CPU_WIDTHS];

  cutt_cpu_window_fn *window[CUTT_CPU_WIDTHS]; /* [log2 w]; NULL where there is none */

  cutt_cpu_skip_fn *skip[CUTT_CPU_WIDTHS]; /* [log2 w]; NULL where there is none */

  /* Equations 4-6 as a table: copies n runs of run_bytes each, run k from src + offset[k], to stage, one after another.
   * Writes nothing beyond them, and reads nothing, or if `overrun` up to 32 bytes of each. */
  void (*gather)(char *stage, const char *src, const int64_t *offset, int64_t n, int64_t run_bytes, bool overrun);
  /* n elements of w bytes (8 or 16), `step` bytes apart from src on, to stage, one after another; what is `ahead` bytes further on is
   * prefetched meanwhile, unless that is 0. */
  void (*strided)(char *stage, const char *src, int64_t step, int64_t n, int64_t w, int64_t ahead);
  /* n elements of w bytes (4, 8 or 16), element k from src + offset[k] to dst + k * stride: for an output with gaps, without a stage. */
  void (*spread)(char *dst, int64_t stride, const char *src, const int64_t *offset, int64_t n, int64_t w);
  /* n runs of so many bytes, run k from src + from[k] to dst + to[k]; no others are read or written. */
  void (*runs)(char *dst, const int64_t *to, const char *src, const int64_t *from, int64_t n, int64_t bytes);
  /* A broadcast: n elements of w bytes, `times` times each, element k at src + from[k * step]. To dst + to[k], or if that is NULL one
   * after another. */
  void (*repeat)(char *dst, const int64_t *to, const char *src, const int64_t *from, int64_t step, int64_t n,
                 int64_t times, int64_t w);
  /* The gather of runs of at least 64 bytes, straight to dst by non-temporal stores of whole lines. carry, first and last
   * as for cutt_cpu_shift_fn; ahead is prefetched meanwhile. */
  void (*join_runs)(char *dst, char *carry, const char *src, const int64_t *offset, int64_t n, int64_t run_bytes,
                    bool first, bool last, cutt_cpu_ahead *ahead);
  /* The same for runs that are repeated, wherever they begin and end. */
  void (*join_again)(char *dst, char *carry, const char *src, const int64_t *offset, int64_t n, int64_t run_bytes,
                     bool first, bool last, cutt_cpu_ahead *ahead);
  /* The same for n elements, `repeats` times each of w bytes: at least 64 bytes of each, and dst is aligned to w. */
  void (*join_repeats)(char *dst, char *carry, const char *src, const int64_t *offset, int64_t n, int64_t repeats,
                       int64_t w, bool first, bool last);

  /* Non-temporal stores of whole lines from stage to dst, both 64-byte aligned. fence() orders them before later
   * stores. */
  void (*store_lines)(char *dst, const char *stage, int64_t lines);
  void (*fence)(void);
  /* Bytes from anywhere to anywhere, through the caches. */
  void (*copy)(char *dst, const char *src, int64_t bytes);
  /* A long contiguous copy by non-temporal stores, of any alignment: the ceiling that the rest is held against. Four pages at a
   * time, or line after line. */
  void (*copy_non_temporal)(char *dst, const char *src, int64_t bytes, bool one_stream);

  /* dst[i] = alpha * op(src[i]) + beta * out[i] for n elements of scale->type (out is read only if scale->reads_out);
   * floating-point types round each operation (f16 and bf16: once, from float). dst may be src, out or both, and
   * overlaps them in no other way. */
  void (*scale)(char *dst, const char *src, const char *out, int64_t n, const cutt_scale *scale);
} cutt_cpu_kernels;

#endif
