/* What a walk along rows (along.h) prefetches while it works on a pass over as many rows as fill a line of the output, or two: the next
 * lines of the same rows, the next rows, or the next tile. A header of kernels.c for every instruction set.
 *
 * w, the bytes of an element, is a constant in all functions. */
#ifndef CUTT_CPU_KERNELS_ALONG_AHEAD_H
#define CUTT_CPU_KERNELS_ALONG_AHEAD_H

/* The line of each row at src + row[i]. */
CUTT_INLINE void prefetch_lines(const char *src, const int64_t *row, int64_t rows, int to) {
  for (int64_t i = 0; i < rows; ++i) cutt_cpu_prefetch_line(src + row[i], to);
}

/* What is read next: the rows of this pass, and those of the next one, in this tile or in the next. */
typedef struct along_ahead {
  const char *src, *next;
  const int64_t *row, *next_row;
  int64_t rows, next_rows; /* none: nothing to prefetch there */
  int64_t bytes;           /* of a row, whole lines */
  int64_t end;             /* the last byte of a row */
  int64_t distance;        /* bytes along the row, from what is read to what is prefetched */
  int to;
} along_ahead;

CUTT_INLINE void prefetch_along(const along_ahead *a, int64_t at) {
  at += a->distance;
  if (at < a->bytes) {
    prefetch_lines(a->src + at, a->row, a->rows, a->to);
  } else if (a->next_rows > 0) {
    prefetch_lines(a->next + (at - a->bytes), a->next_row, a->next_rows, a->to);
  }
}

/* The same by pieces of rows: several lines of a row before those of the next row. */
typedef struct along_pieces {
  const char *base; /* of the piece's rows, of which [at, end) are left, each from byte `from` until byte `until` */
  const int64_t *at, *end;
  int64_t from, byte, until;
  bool last; /* the piece is of the next rows */
} along_pieces;

/* The piece that begins `from` bytes along the rows, or where these end, along the next ones. Where there is room for them longer ones are
 * faster, if rows have some. */
CUTT_INLINE void begin_piece(along_pieces *p, const along_ahead *a, int64_t from) {
  enum { PIECE = 4 * CUTT_CPU_LINE, LONG_PIECE = 8 * CUTT_CPU_LINE };
  const int64_t piece = a->to == CUTT_CPU_TO_L2 && a->bytes >= LONG_PIECE ? LONG_PIECE : PIECE;
  p->last = from >= a->bytes;
  const int64_t rows = p->last ? a->next_rows : a->rows;
  p->base = p->last ? a->next : a->src;
  p->at = p->last ? a->next_row : a->row;
  p->end = rows > 0 ? p->at + rows : p->at;
  p->from = p->byte = p->last ? 0 : from;
  p->until = a->bytes - p->from < piece ? a->bytes : p->from + piece;
}

/* Not inlined: what a walk without pieces keeps in registers would go to memory. A row's last byte may be in a line of its own, since
 * rows begin anywhere in a line. */
static __attribute__((noinline)) void prefetch_pieces(along_pieces *p, const along_ahead *a, int lines) {
  const int64_t *at = p->at;
  int64_t byte = p->byte;
  while (lines > 0) {
    if (at == p->end) {
      if (p->last) break;
      begin_piece(p, a, p->until);
      at = p->at;
      byte = p->byte;
      if (at == p->end) break;
    }
    const char *row = p->base + *at;
    for (; lines > 0 && byte < p->until; byte += CUTT_CPU_LINE, --lines) cutt_cpu_prefetch_line(row + byte, a->to);
    if (byte < p->until) break;
    if (p->until == a->bytes) cutt_cpu_prefetch_line(row + a->end, a->to);
    byte = p->from;
    ++at;
  }
  p->at = at;
  p->byte = byte;
}

/* Are pieces the faster way? Of bytes, which are read from more rows at once than prefetchers follow, into L2; and of rows that lie
 * apart by multiples of a large power of two, whose lines share few sets of L1. */
CUTT_INLINE bool by_pieces(int w, const cutt_cpu_ahead *ahead, const int64_t *row) {
  enum { APART = 1024 };
  if (!ahead->rows || ahead->to == CUTT_CPU_TO_NONE) return false;
  return ahead->to == CUTT_CPU_TO_L2 ? w == 1 : (row[1] - row[0]) % APART == 0;
}

/* The prefetches of one pass over all columns. */
typedef struct along_pass {
  along_ahead lines;
  along_pieces piece;
  bool pieces;
  cutt_cpu_ahead *tile;
  int64_t rows;
  bool alone; /* the tile has no other pass */
  bool last;  /* ... none after it */
} along_pass;

/* Rows of a pass: two lines of a column, which carries half as much as two passes of one. Of narrow elements that is 64 or 128 rows, more
 * than hardware prefetchers follow and L1 has room to be prefetched into: so where they come from L2, and the tile has room for several such
 * passes; 2-byte elements with 64-byte vectors and short rows. One line where that is asked for. */
CUTT_INLINE int64_t rows_of_pass(int w, int64_t nrows, int64_t ncols, const cutt_cpu_ahead *ahead) {
  enum { FEW_COLUMNS = 512, SEVERAL = 4 };
  const int64_t line = CUTT_CPU_LINE / w;
  const bool narrow = ahead->to == CUTT_CPU_TO_L2 && nrows >= SEVERAL * line &&
                      (w == 1 || (CUTT_VECTOR_BYTES == CUTT_CPU_LINE && ncols <= FEW_COLUMNS));
  return !ahead->one_line && (w >= 4 || narrow) ? 2 * line : line;
}

/* Of a pass over `rows` rows from row r on, of which the next one has as many as a pass has. Into L1 a few lines ahead, since hardware prefetchers
 * do the rest of long rows; or, of short rows, at each of whose ends these have to begin anew, as much as L1 has room for. Into L2 the
 * same place in the next pass. */
CUTT_INLINE along_pass begin_pass(int w, cutt_cpu_ahead *ahead, const char *src, const int64_t *row, int64_t r,
                                  int64_t rows, int64_t nrows, int64_t ncols) {
  enum { LINES_IN_L1 = 128 };
  const int64_t most = rows_of_pass(w, nrows, ncols, ahead);
  const int64_t left = nrows - r - rows, each = rows > most ? rows : most, few = LINES_IN_L1 / each * CUTT_CPU_LINE;
  along_pass p = {.tile = ahead, .rows = rows, .alone = rows >= nrows, .pieces = by_pieces(w, ahead, row)};
  along_ahead *a = &p.lines;
  *a = (along_ahead){
      .src = src, .row = row + r, .next = src, .next_row = row + r + rows, .rows = rows, .next_rows = left};
  if (left <= 0) {
    a->next = ahead->base;
    a->next_row = ahead->start;
    a->next_rows = ahead->rows || ahead->runs == 0 ? ahead->runs : nrows; /* of all tiles as many */
    p.last = true;
  }
  if (a->next_rows > most) a->next_rows = most;
  a->bytes = (ncols * w + CUTT_CPU_LINE - 1) / CUTT_CPU_LINE * CUTT_CPU_LINE;
  a->end = ncols * w - 1;
  const bool whole = ahead->to != CUTT_CPU_TO_L1 || a->bytes * each <= ahead->room || a->bytes <= few;
  a->distance = whole ? a->bytes : few;
  a->to = ahead->to;
  if (p.pieces) {
    begin_piece(&p.piece, a, 0);
    begin_piece(&p.piece, a, p.piece.until);
  }
  return p;
}

/* Before 16 bytes of the pass's rows from column c on are read: as many lines are prefetched. */
CUTT_INLINE void prefetch_pass(along_pass *p, int w, int64_t c) {
  const int lines = (int)(p->rows * 16 / CUTT_CPU_LINE);
  if (p->pieces) {
    prefetch_pieces(&p->piece, &p->lines, lines);
  } else if (!p->tile->rows) {
    cutt_cpu_prefetch(p->tile, lines);
  } else if (p->tile->to != CUTT_CPU_TO_NONE && c * w % CUTT_CPU_LINE == 0) {
    prefetch_along(&p->lines, c * w);
  }
}

#endif
