/* Tiles whose runs begin anywhere (odd extents, sub-tensors), of tensors that L2 does not hold. Memory moves in sectors of 32 bytes,
 * and one that is written in two parts costs more than two. So each run has a window that begins with a sector, wherever the run
 * itself begins, and is accessed 16 bytes at a time:
 *
 *   a row      from the sector that its first element is in, by asynchronous copies. It lies in shared memory as far behind a multiple
 *              of 16 bytes as it does in global memory; what is not the row's is copied with it, but for what is outside of the tensor.
 *   a column   the sectors that begin in it. The last of them may end in the next tile, so that some of the next tile's rows are
 *              read, too. The first tile of a run also has what comes before its first sector, and the last one ends where the
 *              run does; what is no whole access there is moved element by element.
 *
 * A block does one tile. It has three short tables in shared memory: where rows begin, where the windows of columns do and what else an
 * access has to know of them, and where rows have a column's elements, in 2 bytes. All but the first are filled while rows are on their
 * way. M_m and M_k may have modes in common. Where M_k is M_m's last mode alone, of which a tile may have a chunk, a row has all of some
 * columns, one element of each in turns, or is a column itself: their elements, which lie equally far apart, need no table.
 * As many rows as 16 bytes of a column have elements are followed by 16 bytes of room, so that lanes side by side along a column access
 * different banks. */
#include "async.h" /* the runtime's: src/runtime/cuda/kernels */
#include "flat_tile.h"

enum { FLAT_SECTOR = 32, FLAT_WINDOW_COPIES = 2, FLAT_WINDOW_STORES = 2 };

/* Blocks that fit on an SM: as in flat_async.cu. */
#if __CUDA_ARCH__ >= 1000
#define FLAT_WINDOW_BLOCKS 6
#elif __CUDA_ARCH__ >= 900
#define FLAT_WINDOW_BLOCKS 8
#elif __CUDA_ARCH__ >= 800
#define FLAT_WINDOW_BLOCKS 6
#else
#define FLAT_WINDOW_BLOCKS 4
#endif

/* A tile's part of each column: `bytes` of it, the first or the last of a run, of which `most` bytes are left. What its windows have
 * is in so many rows, and so many of a column's elements. */
typedef struct flat_part {
  flat_tile tile;
  uint32_t columns, bytes, most, rows, elements;
  bool first, last;
} flat_part;

DEVICE flat_part flat_part_of(const cutt_flat_window_args *args, const unsigned char *out, uint32_t width) {
  const uint32_t number = flat_number(&args->flat), chunk = divide(number, args->flat.row_group);
  const uint32_t positions = args->grid[0].extent.by, chunks = args->whole ? 1 : positions;
  const uint32_t digit = args->whole ? 0 : chunk - divide(chunk, args->grid[0].extent) * positions;
  const uint32_t next = digit + 1 == chunks ? 0 : digit + 2 == chunks ? args->last_elements : args->elements;
  flat_part t;
  t.tile = flat_tile_in(&args->flat, args->grid, CUTT_FLAT_WINDOW_GRID, number, true);
  t.first = digit == 0;
  t.last = digit + 1 == chunks;
  t.columns = t.tile.row_bytes == args->flat.row_bytes ? args->columns : t.tile.row_bytes > 0 ? args->last_columns : 0;
  t.bytes = (t.last ? args->last_elements : args->elements) * width;
  t.most = t.bytes + next * width; /* at least a sector more, unless the run ends there */
  /* The most that any column has behind its part: they begin alike, modulo `align`. */
  const uint32_t end = (uint32_t)(uintptr_t)(out + t.tile.out) + t.bytes;
  const uint32_t reach = t.bytes + FLAT_SECTOR - args->align + ((0 - end) & (args->align - 1));
  t.elements = (reach < t.most ? reach : t.most) / width;
  t.rows = divide(t.elements + args->step_elements.by - 1, args->step_elements) * args->step_rows;
  if (args->run_columns > 0) {
    t.rows = t.tile.rows;
    t.columns = t.rows * args->run_columns;
  }
  return t;
}

typedef struct flat_counted {
  int64_t at;
  uint32_t rows, inside;
} flat_counted;

DEVICE flat_counted flat_counted_of(const cutt_flat_count *count, uint32_t n) {
  flat_counted c = {0, 0, 0};
  for (uint32_t i = 0; i < count->modes; ++i) {
    const uint32_t rest = i + 1 < count->modes ? divide(n, count->mode[i].extent) : 0;
    const uint32_t digit = n - rest * count->mode[i].extent.by;
    c.at += (int64_t)(int32_t)digit * count->mode[i].step;
    c.rows += digit * (uint32_t)count->mode[i].rows;
    c.inside += digit * (uint32_t)count->mode[i].inside;
    n = rest;
  }
  return c;
}

/* An address, in the first two words of what a table has of a run. */
DEVICE void flat_put_address(uint32_t at, uint64_t address) {
  const word2 v = {(uint32_t)address, (uint32_t)(address >> 32)};
  shared_store8(at, v);
}
DEVICE uint64_t flat_address_of(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

/* Where a row begins in shared memory, whose elements begin `before` bytes later. */
DEVICE uint32_t flat_row_at(const cutt_flat_window_args *args, uint32_t row, uint32_t width) {
  return row * args->flat.pitch + row / (16 / width) * 16;
}

/* Bytes of a row that windows have. */
DEVICE uint32_t flat_row_bytes(const cutt_flat_window_args *args, const flat_part *t, uint32_t width) {
  return args->run_columns > 0 ? t->elements * width * args->run_columns : t->tile.row_bytes;
}

/* Where rows begin. The lowest bit, which an element's address has not, says that some 16 bytes of the window may lie outside of the
 * tensor: a copy asks for that alone. */
DEVICE void flat_fill_rows(const cutt_flat_window_args *args, const unsigned char *in, const flat_part *t,
                           uint32_t width) {
  const uint32_t bytes = flat_row_bytes(args, t, width);
  for (uint32_t i = thread_index(); i < t->rows; i += thread_count()) {
    const unsigned char *const row = in + (t->tile.in + flat_counted_of(&args->row, i).at);
    const uint32_t begin = (uint32_t)(uintptr_t)row, before = begin & 15, behind = (0 - (begin + bytes)) & 15;
    const bool outside = row - before < in + args->in_low || row + bytes + behind > in + args->in_high;
    flat_put_address(args->rows_at + i * 8, (uint64_t)(uintptr_t)row | outside);
  }
  barrier();
}

/* Where the first access of a column's window is. Behind it, how many bytes into the column that is, which is less than 0 where the
 * window begins before it, above where the row has the column's first element; and where the last access of 16 bytes may begin, in bytes
 * from the first. And where rows have the elements. */
DEVICE void flat_fill_columns(const cutt_flat_window_args *args, const unsigned char *in, const unsigned char *out,
                              const flat_part *t, uint32_t width) {
  const uint32_t step = thread_count();
  for (uint32_t i = thread_index(); i < t->columns; i += step) {
    const flat_counted c = flat_counted_of(&args->column, i);
    const unsigned char *const column = out + (t->tile.out + c.at);
    const uint32_t begin = (uint32_t)(uintptr_t)column, next = (0 - begin) & (FLAT_SECTOR - 1);
    const uint32_t end = t->bytes + ((0 - (begin + t->bytes)) & (FLAT_SECTOR - 1));
    const int32_t skipped = t->first ? -(int32_t)(begin & (FLAT_SECTOR - 1)) : (int32_t)next;
    const int32_t last = (int32_t)(t->last ? t->bytes : end < t->most ? end : t->most) - 16 - skipped;
    uint32_t inside = c.inside;
    if (args->run_columns > 0) {
      const int64_t row = flat_counted_of(&args->row, c.rows).at;
      inside += flat_row_at(args, c.rows, width) + ((uint32_t)(uintptr_t)(in + t->tile.in + row) & (FLAT_SECTOR - 1));
    }
    const uint64_t address = (uint64_t)(uintptr_t)(column + skipped);
    const word4 entry = {(uint32_t)address, (uint32_t)(address >> 32), (uint32_t)skipped << 16 | inside,
                         (uint32_t)last};
    shared_store16(args->columns_at + i * 16, entry);
  }
  for (uint32_t i = thread_index(); i < t->elements && args->run_columns == 0; i += step) {
    const flat_counted c = flat_counted_of(&args->element, i);
    const uint32_t before = (uint32_t)(uintptr_t)(in + t->tile.in + c.at) & (FLAT_SECTOR - 1);
    shared_store2(args->places_at + i * 2, (uint16_t)(flat_row_at(args, c.rows, width) + before + c.inside));
  }
}

/* The most accesses that a column's window has. */
DEVICE uint32_t flat_window_accesses(const flat_part *t) {
  return (t->bytes + FLAT_SECTOR - 1) / FLAT_SECTOR * 2 + (t->first ? 2 : 0);
}

/* Access number `access` of the window of a row that begins at `row`, element by element where that is not all inside of the tensor. */
#define DEFINE_FLAT_COPY_WINDOWS(width)                                                                                \
  DEVICE void flat_copy_outside##width(const cutt_flat_window_args *args, const unsigned char *in,                     \
                                       const unsigned char *row, uint32_t bytes, uint32_t at, uint32_t from) {         \
    const uint32_t before = (uint32_t)(uintptr_t)row & (FLAT_SECTOR - 1);                                              \
    const unsigned char *const p = row - before + from;                                                                \
    if (p >= in + args->in_low && p + 16 <= in + args->in_high) {                                                      \
      async_copy16_line(at, p);                                                                                        \
      return;                                                                                                          \
    }                                                                                                                  \
    for (uint32_t i = 0; i < 16; i += width) {                                                                         \
      if (from + i >= before && from + i < before + bytes) shared_store##width(at + i, global_load##width(p + i));     \
    }                                                                                                                  \
  }                                                                                                                    \
  DEVICE void flat_copy_windows##width(const cutt_flat_window_args *args, const unsigned char *in,                     \
                                       const flat_part *t) {                                                           \
    const uint32_t bytes = flat_row_bytes(args, t, width), rows = t->rows, step = args->flat.loads.across.by;          \
    const uint32_t accesses = t->tile.row_bytes > 0 ? (bytes + FLAT_SECTOR - width + 15) / 16 : 0;                     \
    const flat_share s = flat_share_of(&args->flat.loads);                                                             \
    for (uint32_t access = s.along; access < accesses; access += args->flat.loads.along_step) {                        \
      const uint32_t from = access * 16;                                                                               \
      UNROLL(FLAT_WINDOW_COPIES)                                                                                       \
      for (uint32_t run = s.across; run < rows; run += step) {                                                         \
        const word2 row = shared_load8(args->rows_at + run * 8);                                                       \
        const uint32_t before = row.x & (FLAT_SECTOR - 1), at = flat_row_at(args, run, width) + from;                  \
        if (from + 16 <= before || from >= before + bytes) continue;                                                   \
        if (row.x & 1) {                                                                                               \
          flat_copy_outside##width(args, in, global_at(flat_address_of(row.x, row.y) - 1), bytes, at, from);           \
        } else {                                                                                                       \
          async_copy16_line(at, global_at(flat_address_of(row.x - before, row.y) + from));                             \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
    async_commit();                                                                                                    \
  }
DEFINE_FLAT_COPY_WINDOWS(2)
DEFINE_FLAT_COPY_WINDOWS(4)
DEFINE_FLAT_COPY_WINDOWS(8)
DEFINE_FLAT_COPY_WINDOWS(16)

/* Elements of column `inside`, as many as 16 bytes hold, whose places begin at `places`. */
DEVICE word4 flat_of_rows2(uint32_t places, uint32_t x) {
  uint32_t v[4];
  UNROLL(4)
  for (uint32_t i = 0; i < 4; ++i) {
    v[i] = (uint32_t)shared_load2(shared_load2(places + 4 * i) + x) |
           (uint32_t)shared_load2(shared_load2(places + 4 * i + 2) + x) << 16;
  }
  const word4 all = {v[0], v[1], v[2], v[3]};
  return all;
}
DEVICE word4 flat_of_rows4(uint32_t places, uint32_t x) {
  const word4 v = {shared_load4(shared_load2(places) + x), shared_load4(shared_load2(places + 2) + x),
                   shared_load4(shared_load2(places + 4) + x), shared_load4(shared_load2(places + 6) + x)};
  return v;
}
DEVICE word4 flat_of_rows8(uint32_t places, uint32_t x) {
  const word2 a = shared_load8(shared_load2(places) + x), b = shared_load8(shared_load2(places + 2) + x);
  const word4 v = {a.x, a.y, b.x, b.y};
  return v;
}
DEVICE word4 flat_of_rows16(uint32_t places, uint32_t x) { return shared_load16(shared_load2(places) + x); }

/* The same of a run of which one row has all elements, `step` bytes apart. */
DEVICE word4 flat_of_run2(uint32_t at, uint32_t step) {
  uint32_t v[4];
  UNROLL(4)
  for (uint32_t i = 0; i < 4; ++i) {
    v[i] = (uint32_t)shared_load2(at + 2 * i * step) | (uint32_t)shared_load2(at + (2 * i + 1) * step) << 16;
  }
  const word4 all = {v[0], v[1], v[2], v[3]};
  return all;
}
DEVICE word4 flat_of_run4(uint32_t at, uint32_t step) {
  const word4 v = {shared_load4(at), shared_load4(at + step), shared_load4(at + 2 * step), shared_load4(at + 3 * step)};
  return v;
}
DEVICE word4 flat_of_run8(uint32_t at, uint32_t step) {
  const word2 a = shared_load8(at), b = shared_load8(at + step);
  const word4 v = {a.x, a.y, b.x, b.y};
  return v;
}
DEVICE word4 flat_of_run16(uint32_t at, uint32_t step) {
  (void)step;
  return shared_load16(at);
}

/* Where the place is of what is `from` bytes into a column. */
#define FLAT_PLACE(width, from) (args->places_at + (uint32_t)(from) / width * 2)

/* Where an element is in shared memory that is `from` bytes into a column, of which that begins at x; and 16 bytes from there on. */
#define FLAT_ROWS_AT(width, from, x) (shared_load2(FLAT_PLACE(width, from)) + (x))
#define FLAT_ROWS(width, from, x) flat_of_rows##width(FLAT_PLACE(width, from), x)
#define FLAT_RUN_AT(width, from, x) ((x) + (uint32_t)(from)*args->run_columns)
#define FLAT_RUN(width, from, x) flat_of_run##width(FLAT_RUN_AT(width, from, x), width * args->run_columns)

/* Columns. What of an access is not all of 16 bytes goes element by element. */
#define DEFINE_FLAT_STORE_WINDOWS(name, width, place, all)                                                             \
  DEVICE void flat_store_part##name(const cutt_flat_window_args *args, unsigned char *to, int32_t from, int32_t end,   \
                                    uint32_t x) {                                                                      \
    for (int32_t i = 0; i < 16; i += width) {                                                                          \
      if (from + i >= 0 && from + i < end) global_store##width(to + i, shared_load##width(place(width, from + i, x))); \
    }                                                                                                                  \
  }                                                                                                                    \
  DEVICE void flat_store_##name(const cutt_flat_window_args *args, const flat_part *t) {                               \
    const uint32_t accesses = flat_window_accesses(t), columns = t->columns, step = args->flat.stores.across.by;       \
    const flat_share s = flat_share_of(&args->flat.stores);                                                            \
    for (uint32_t access = s.along; access < accesses; access += args->flat.stores.along_step) {                       \
      UNROLL(FLAT_WINDOW_STORES)                                                                                       \
      for (uint32_t run = s.across; run < columns; run += step) {                                                      \
        const word4 column = shared_load16(args->columns_at + run * 16);                                               \
        const int32_t skipped = (int32_t)column.z >> 16, from = skipped + (int32_t)(access * 16);                      \
        const uint32_t x = column.z & 0xffff;                                                                          \
        unsigned char *const to = global_at(flat_address_of(column.x, column.y) + access * 16);                        \
        if (from >= 0 && (int32_t)(access * 16) <= (int32_t)column.w) {                                                \
          global_store16(to, all(width, from, x));                                                                     \
        } else {                                                                                                       \
          flat_store_part##name(args, to, from, (int32_t)column.w + 16 + skipped, x);                                  \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }

#define FLAT_WINDOWS(name, width)                                                                                      \
  DEFINE_FLAT_STORE_WINDOWS(name, width, FLAT_ROWS_AT, FLAT_ROWS)                                                      \
  DEFINE_FLAT_STORE_WINDOWS(name##r, width, FLAT_RUN_AT, FLAT_RUN)                                                     \
  KERNEL(cutt_flat_##name, CUTT_FLAT_THREADS, FLAT_WINDOW_BLOCKS)                                                      \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_window_args) args) {                                \
    const flat_part t = flat_part_of(&args, out, width);                                                               \
    flat_fill_rows(&args, in, &t, width);                                                                              \
    wait_for_earlier(args.flat.next_early);                                                                            \
    flat_copy_windows##width(&args, in, &t);                                                                           \
    flat_fill_columns(&args, in, out, &t, width);                                                                      \
    async_wait(0);                                                                                                     \
    barrier();                                                                                                         \
    if (args.run_columns > 0) {                                                                                        \
      flat_store_##name##r(&args, &t);                                                                                 \
    } else {                                                                                                           \
      flat_store_##name(&args, &t);                                                                                    \
    }                                                                                                                  \
  }
FLAT_WINDOWS(2s, 2)
FLAT_WINDOWS(4s, 4)
FLAT_WINDOWS(8s, 8)
FLAT_WINDOWS(16s, 16)
