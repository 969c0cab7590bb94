/* The kernels of flat.cu for tensors that L2 does not hold, of elements of 2 to 16 bytes in runs that are aligned to 16: rows go
 * to shared memory by asynchronous copies, so that a thread needs no registers for them, and twice as many blocks fit on an SM, of
 * which some load while others store. A copy of 16 bytes leaves no freedom in where rows begin. So the 16 bytes of a row change places
 * from one access of a column to the next, and those of lanes along a line of a column fall into different banks all the same. */
#include "async.h" /* the runtime's: src/runtime/cuda/kernels */
#include "flat_add.h"

enum { FLAT_ASYNC_COPIES = 4 };

/* Blocks that fit on an SM. Those of sm_75 have 1024 threads at most, of sm_86, sm_89 and sm_120 1536, of sm_90 2048. */
#if __CUDA_ARCH__ >= 1000
#define FLAT_ASYNC_BLOCKS 6
#define FLAT_ASYNC_ADD_BLOCKS 5
#elif __CUDA_ARCH__ >= 900
#define FLAT_ASYNC_BLOCKS 8
#define FLAT_ASYNC_ADD_BLOCKS 5
#elif __CUDA_ARCH__ >= 800
#define FLAT_ASYNC_BLOCKS 6
#define FLAT_ASYNC_ADD_BLOCKS 5
#else
#define FLAT_ASYNC_BLOCKS 4
#define FLAT_ASYNC_ADD_BLOCKS 4
#endif

/* Where, of two rows of 64 bytes or one or more lines, 16 bytes are that would be at `at`, in access number `access` of the columns. */
DEVICE uint32_t flat_turned(uint32_t at, uint32_t access) { return at ^ (access & 7) * 16; }

/* rows_log2: of the rows of an access. */
DEVICE void flat_copy_rows(const cutt_flat_args *args, const unsigned char *in, const flat_tile *t, uint32_t rows_log2,
                           bool single) {
  const uint32_t accesses = t->row_bytes / 16, rows = t->rows, step = args->loads.across.by;
  const bool line_alone = args->line_alone;
  const flat_share s = flat_share_of(&args->loads);
  for (uint32_t access = s.along; access < accesses; access += args->loads.along_step) {
    const unsigned char *const from = in + (t->in + access * 16);
    UNROLL(FLAT_ASYNC_COPIES)
    for (uint32_t run = s.across; run < rows; run += step) {
      const uint32_t at = flat_turned(run * args->pitch + access * 16, run >> rows_log2);
      const unsigned char *const there = from + flat_offset(&args->row, run, single);
      if (line_alone)
        async_copy16_line(at, there);
      else
        async_copy16(at, there, true);
    }
  }
  async_commit();
}

/* The place of access number `access` of column `run`; and what begins there, of which the second element is in the next row. */
#define FLAT_TURNED_AT(width) flat_turned(access * (16 / width) * args->pitch + run * width, access)
DEVICE uint32_t flat_next_row(const cutt_flat_args *args, uint32_t at, uint32_t access) {
  const uint32_t half = CUTT_FLAT_HALF_LINE, other = access & 4 ? 0 - half : half; /* of the line */
  return at + (args->pitch == half ? other : args->pitch);
}
DEVICE word4 flat_get4a(const cutt_flat_args *args, uint32_t at, uint32_t access) {
  const uint32_t next = flat_next_row(args, at, access), two = 2 * args->pitch;
  const word4 v = {shared_load4(at), shared_load4(next), shared_load4(at + two), shared_load4(next + two)};
  return v;
}
DEVICE word4 flat_get8a(const cutt_flat_args *args, uint32_t at, uint32_t access) {
  const word2 a = shared_load8(at), b = shared_load8(flat_next_row(args, at, access));
  const word4 v = {a.x, a.y, b.x, b.y};
  return v;
}
DEVICE word4 flat_get16a(const cutt_flat_args *args, uint32_t at, uint32_t access) {
  (void)args, (void)access;
  return shared_load16(at);
}
#define FLAT_ROWS_LOG2(width) (width == 2 ? 3 : width == 4 ? 2 : width == 8 ? 1 : 0)

#define FLAT_ASYNC_KERNEL(name, width)                                                                                 \
  KERNEL(cutt_flat_##name, CUTT_FLAT_THREADS, FLAT_ASYNC_BLOCKS)                                                       \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_args) args) {                                       \
    const flat_tile t = flat_tile_of(&args, flat_number(&args), true);                                                 \
    wait_for_earlier(args.next_early);                                                                                 \
    if (args.row.modes == 1) {                                                                                         \
      flat_copy_rows(&args, in, &t, FLAT_ROWS_LOG2(width), true);                                                      \
    } else {                                                                                                           \
      flat_copy_rows(&args, in, &t, FLAT_ROWS_LOG2(width), false);                                                     \
    }                                                                                                                  \
    async_wait(0);                                                                                                     \
    barrier();                                                                                                         \
    if (args.column.modes == 1) {                                                                                      \
      flat_store_##name(&args, out, &t, true);                                                                         \
    } else {                                                                                                           \
      flat_store_##name(&args, out, &t, false);                                                                        \
    }                                                                                                                  \
  }

/* One access of all of a thread's columns. Several at a time have registers only where columns are counted over a single mode. */
#define FLAT_ASYNC_COLUMNS(at_once, width, get)                                                                        \
  UNROLL(at_once)                                                                                                      \
  for (uint32_t run = s.across; run < columns; run += step) {                                                          \
    global_store16(to + flat_offset(&args->column, run, single), get(args, FLAT_TURNED_AT(width), access));            \
  }
#define FLAT_ASYNC(name, width, get)                                                                                   \
  DEVICE void flat_store_##name(const cutt_flat_args *args, unsigned char *out, const flat_tile *t, bool single) {     \
    const uint32_t accesses = t->rows * width / 16, columns = t->row_bytes / width, step = args->stores.across.by;     \
    const flat_share s = flat_share_of(&args->stores);                                                                 \
    for (uint32_t access = s.along; access < accesses; access += args->stores.along_step) {                            \
      unsigned char *const to = out + (t->out + access * 16);                                                          \
      if (single) {                                                                                                    \
        FLAT_ASYNC_COLUMNS(2, width, get)                                                                              \
      } else {                                                                                                         \
        FLAT_ASYNC_COLUMNS(1, width, get)                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  FLAT_ASYNC_KERNEL(name, width)
FLAT_ASYNC(4a, 4, flat_get4a)
FLAT_ASYNC(8a, 8, flat_get8a)
FLAT_ASYNC(16a, 16, flat_get16a)

/* Elements of 2 bytes: two columns at a time, which lie in the same words. */
DEVICE void flat_turn2a(const cutt_flat_args *args, uint32_t at, uint32_t access, word4 *value) {
  uint32_t low[4], high[4], next = flat_next_row(args, at, access);
  UNROLL(4)
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t a = shared_load4(at), b = shared_load4(next);
    low[i] = permute_bytes(a, b, 0x5410);
    high[i] = permute_bytes(a, b, 0x7632);
    at += 2 * args->pitch;
    next += 2 * args->pitch;
  }
  const word4 first = {low[0], low[1], low[2], low[3]}, second = {high[0], high[1], high[2], high[3]};
  value[0] = first;
  value[1] = second;
}
DEVICE void flat_store_2a(const cutt_flat_args *args, unsigned char *out, const flat_tile *t, bool single) {
  const uint32_t accesses = t->rows / 8, groups = t->row_bytes / 4;
  const flat_share s = flat_share_of(&args->stores);
  unsigned char *const to = out + t->out;
  uint32_t access = s.along, run = s.across;
  if (run >= groups) return;
  while (access < accesses) {
    word4 value[2];
    flat_turn2a(args, flat_turned(access * 8 * args->pitch + run * 4, access), access, value);
    global_store16(to + (flat_offset(&args->column, run * 2, single) + access * 16), value[0]);
    global_store16(to + (flat_offset(&args->column, run * 2 + 1, single) + access * 16), value[1]);
    run += args->stores.across.by;
    if (run >= groups) {
      run = s.across;
      access += args->stores.along_step;
    }
  }
}
FLAT_ASYNC_KERNEL(2a, 2)

/* With alpha, op and beta: a thread's first batch of the output is on its way while the rows are. */
#define FLAT_ASYNC_ADD(name, width, get, sum)                                                                          \
  DEVICE void flat_ask_##name(const cutt_flat_args *args, const unsigned char *out, const flat_tile *t, flat_share s,  \
                              uint32_t access, uint32_t run, word4 *before) {                                          \
    const uint32_t accesses = t->rows * width / 16, columns = t->row_bytes / width;                                    \
    const bool single = args->column.modes == 1;                                                                       \
    const unsigned char *const from = out + (args->second + t->out);                                                   \
    if (!args->reads_out || run >= columns) return;                                                                    \
    FLAT_STEPS(FLAT_BATCH_16, columns, &args->stores, ,                                                                \
               before[i] = global_load16(from + (flat_offset(&args->column, run, single) + access * 16)))              \
  }                                                                                                                    \
  DEVICE void flat_sum_up_##name(const cutt_flat_args *args, const unsigned char *in, unsigned char *out) {            \
    const flat_tile t = flat_tile_of(args, flat_number(args), true);                                                   \
    const flat_share s = flat_share_of(&args->stores);                                                                 \
    const uint32_t accesses = t.rows * width / 16, columns = t.row_bytes / width;                                      \
    const bool single = args->column.modes == 1, reads = args->reads_out;                                              \
    unsigned char *const to = out + t.out;                                                                             \
    word4 before[FLAT_BATCH_16];                                                                                       \
    uint32_t access = s.along, run = s.across;                                                                         \
    wait_for_earlier(args->next_early);                                                                                \
    flat_copy_rows(args, in, &t, FLAT_ROWS_LOG2(width), args->row.modes == 1);                                         \
    flat_ask_##name(args, out, &t, s, access, run, before);                                                            \
    async_wait(0);                                                                                                     \
    barrier();                                                                                                         \
    if (run >= columns) return;                                                                                        \
    for (bool first = true; access < accesses; first = false) {                                                        \
      if (!first) flat_ask_##name(args, out, &t, s, access, run, before);                                              \
      FLAT_STEPS(FLAT_BATCH_16, columns, &args->stores, ,                                                              \
                 global_store16(to + (flat_offset(&args->column, run, single) + access * 16),                          \
                                sum(&args->scale, get(args, FLAT_TURNED_AT(width), access), before[i], reads)))        \
    }                                                                                                                  \
  }                                                                                                                    \
  KERNEL(cutt_flat_add_##name, CUTT_FLAT_THREADS, FLAT_ASYNC_ADD_BLOCKS)                                               \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_args) args) {                                       \
    flat_sum_up_##name(&args, in, out);                                                                                \
  }
FLAT_ASYNC_ADD(f32a, 4, flat_get4a, sum_f32_4)
FLAT_ASYNC_ADD(i32a, 4, flat_get4a, sum_i32_4)
FLAT_ASYNC_ADD(f64a, 8, flat_get8a, sum_f64_2)
FLAT_ASYNC_ADD(c32a, 8, flat_get8a, sum_c32_2)
FLAT_ASYNC_ADD(i64a, 8, flat_get8a, sum_i64_2)
FLAT_ASYNC_ADD(c64a, 16, flat_get16a, sum_c64)
/* Elements of 16 bytes that always travel together. */
FLAT_ASYNC_ADD(f16qa, 16, flat_get16a, sum_f16_8)
FLAT_ASYNC_ADD(bf16qa, 16, flat_get16a, sum_bf16_8)
FLAT_ASYNC_ADD(f32qa, 16, flat_get16a, sum_f32_4)
FLAT_ASYNC_ADD(i32qa, 16, flat_get16a, sum_i32_4)
FLAT_ASYNC_ADD(f64qa, 16, flat_get16a, sum_f64_2)
FLAT_ASYNC_ADD(c32qa, 16, flat_get16a, sum_c32_2)
FLAT_ASYNC_ADD(i64qa, 16, flat_get16a, sum_i64_2)
