/* The kernels of flat_joined.cu with alpha, op and beta, 16 bytes of the output at a time: flat_in_add_*, whose columns are long runs,
 * and flat_out_add_*, whose columns are one range. As in flat_add.cu the output's first batch is asked for before the tile's
 * rows. Where the output is not aligned to that, flat_add.cu does these tiles element by element. */
#include "flat_add.h"

DEVICE void flat_load_range(const cutt_flat_args *args, const unsigned char *in, const flat_tile *t, bool single) {
  const uint32_t length = t->rows * t->row_bytes;
  (void)single; /* rows are not found one by one */
  if (args->range_log2 == 4) {
    flat_load_range16(args, in + t->in, length);
  } else {
    flat_load_range4(args, in + t->in, length);
  }
}

/* w: of elements of 2 bytes, a word at a time, where 16 bytes would have too many bank conflicts or are not aligned. */
FLAT_ADD(in_add_f16, flat_load_range, 2, 16, word4, FLAT_BATCH_16, flat_get2of16, sum_f16_8)
FLAT_ADD(in_add_bf16, flat_load_range, 2, 16, word4, FLAT_BATCH_16, flat_get2of16, sum_bf16_8)
FLAT_ADD(in_add_f16w, flat_load_range, 2, 4, uint32_t, FLAT_BATCH, flat_get2of4, sum_f16_2)
FLAT_ADD(in_add_bf16w, flat_load_range, 2, 4, uint32_t, FLAT_BATCH, flat_get2of4, sum_bf16_2)
FLAT_ADD(in_add_f32, flat_load_range, 4, 16, word4, FLAT_BATCH_16, flat_get4w, sum_f32_4)
FLAT_ADD(in_add_i32, flat_load_range, 4, 16, word4, FLAT_BATCH_16, flat_get4w, sum_i32_4)
FLAT_ADD(in_add_f64, flat_load_range, 8, 16, word4, FLAT_BATCH_16, flat_get8w, sum_f64_2)
FLAT_ADD(in_add_c32, flat_load_range, 8, 16, word4, FLAT_BATCH_16, flat_get8w, sum_c32_2)
FLAT_ADD(in_add_i64, flat_load_range, 8, 16, word4, FLAT_BATCH_16, flat_get8w, sum_i64_2)

/* The thread's next accesses of a range of the output, from `access` on. */
DEVICE void flat_fetch_range(const cutt_flat_args *args, const unsigned char *from, uint32_t accesses, uint32_t access,
                             word4 *before) {
  const uint32_t step = args->stores.along_step;
  if (!args->reads_out) return;
  UNROLL(FLAT_BATCH_16)
  for (uint32_t i = 0; i < FLAT_BATCH_16; ++i) {
    if (access + i * step < accesses) before[i] = global_load16(from + (access + i * step) * 16);
  }
}

/* load: of the rows, scattered to the range; all: sum of 16 bytes; one: of an element, for what a range at the edge has beyond. */
#define FLAT_OUT_ADD(name, width, type, load, all, one)                                                                   \
  KERNEL(cutt_flat_out_add_##name, CUTT_FLAT_THREADS, FLAT_BLOCKS)                                                     \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_args) args) {                                       \
    const flat_tile t = flat_tile_of(&args, flat_number(&args), false);                                                            \
    const bool single = args.row.modes == 1, reads = args.reads_out;                                                   \
    const flat_share s = flat_share_of(&args.stores);                                                                  \
    const uint32_t length = t.rows * t.row_bytes, accesses = length / 16, step = args.stores.along_step;               \
    unsigned char *const to = out + t.out;                                                                             \
    word4 before[FLAT_BATCH_16];                                                                                       \
    wait_for_earlier(args.next_early);                                                                                 \
    flat_fetch_range(&args, to + args.second, accesses, s.along, before);                                                            \
    load;                                                                                                              \
    barrier();                                                                                                         \
    for (uint32_t access = s.along; access < accesses; access += FLAT_BATCH_16 * step) {                               \
      if (access != s.along) flat_fetch_range(&args, to + args.second, accesses, access, before);                                    \
      UNROLL(FLAT_BATCH_16)                                                                                            \
      for (uint32_t i = 0; i < FLAT_BATCH_16; ++i) {                                                                   \
        const uint32_t at = (access + i * step) * 16;                                                                  \
        if (access + i * step < accesses)                                                                              \
          global_store16(to + at, all(&args.scale, shared_load16(at), before[i], reads));                              \
      }                                                                                                                \
    }                                                                                                                  \
    const uint32_t tail = accesses * 16 + thread_index() * width;                                                      \
    type last = {0};                                                                                                   \
    if (tail >= length) return;                                                                                        \
    if (reads) last = global_load##width(to + (args.second + tail));                                                                   \
    global_store##width(to + tail, one(&args.scale, shared_load##width(tail), last, reads));                           \
  }
#define FLAT_LOADED(width, bytes) flat_load_##width##of##bytes(&args, in, &t, single)
#define FLAT_OUT_ADD_2(name)                                                                                           \
  FLAT_OUT_ADD(                                                                                                        \
      name, 2, uint16_t, if (args.load_log2 == 3) { FLAT_LOADED(2, 8); } else if (args.load_log2 == 2) {                         \
        FLAT_LOADED(2, 4);                                                                                             \
      } else { FLAT_LOADED(2, 2); }, sum_##name##_8, sum_##name)
#define FLAT_OUT_ADD_4(name)                                                                                           \
  FLAT_OUT_ADD(                                                                                                        \
      name, 4, uint32_t, if (args.load_log2 == 4) { FLAT_LOADED(4, 16); } else { FLAT_LOADED(4, 4); }, sum_##name##_4, sum_##name)
#define FLAT_OUT_ADD_8(name)                                                                                           \
  FLAT_OUT_ADD(                                                                                                        \
      name, 8, word2, if (args.load_log2 == 4) { FLAT_LOADED(8, 16); } else { FLAT_LOADED(8, 8); }, sum_##name##_2, sum_##name)
FLAT_OUT_ADD_2(f16)
FLAT_OUT_ADD_2(bf16)
FLAT_OUT_ADD_4(f32)
FLAT_OUT_ADD_4(i32)
FLAT_OUT_ADD_8(f64)
FLAT_OUT_ADD_8(c32)
FLAT_OUT_ADD_8(i64)
