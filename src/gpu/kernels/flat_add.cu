/* The kernels of flat.cu with alpha, op and beta (scale.h). Where the output is read, a thread asks for its first batch of it
 * before the tile's rows, so that a small tensor waits for memory once, and for each other batch before it stores any of it. */
#include "flat_add.h"
#include "flat_runs.h"

/* A tile's rows, element by element or as a range, or scattered to a range of columns. */
#define DEFINE_FLAT_LOAD_JOINED(width, words)                                                                          \
  DEVICE void flat_load_joined##width(const cutt_flat_args *args, const unsigned char *in, const flat_tile *t,         \
                                      bool single) {                                                                   \
    if (args->joined == CUTT_FLAT_NOT_JOINED) {                                                                        \
      flat_load_##width(args, in, t, single);                                                                          \
    } else if (args->joined == CUTT_FLAT_COLUMNS) {                                                                    \
      words;                                                                                                           \
    } else if (args->range_log2 == 4) {                                                                                \
      flat_load_range16(args, in + t->in, t->rows * t->row_bytes);                                                     \
    } else {                                                                                                           \
      flat_load_range4(args, in + t->in, t->rows * t->row_bytes);                                                      \
    }                                                                                                                  \
  }
DEFINE_FLAT_LOAD_JOINED(
    2, if (args->load_log2 == 2) { flat_load_2of4(args, in, t, single); } else { flat_load_2of2(args, in, t, single); })
DEFINE_FLAT_LOAD_JOINED(4, flat_load_4of4(args, in, t, single))
DEFINE_FLAT_LOAD_JOINED(8, flat_load_8of8(args, in, t, single))
DEFINE_FLAT_LOAD_JOINED(16, flat_load_16of16(args, in, t, single))

/* Elements of 8 bytes alone have fewer in flight: what they load for the tile is in registers then, too. */
enum { FLAT_BATCH_8 = 3 };

/* Each type, and as in scale.h: w, several elements gathered for each store, and q, those that always travel together. */
FLAT_ADD(add_f16, flat_load_joined2, 2, 2, uint16_t, FLAT_BATCH, flat_get2, sum_f16)
FLAT_ADD(add_bf16, flat_load_joined2, 2, 2, uint16_t, FLAT_BATCH, flat_get2, sum_bf16)
FLAT_ADD(add_f32, flat_load_joined4, 4, 4, uint32_t, FLAT_BATCH, flat_get4, sum_f32)
FLAT_ADD(add_i32, flat_load_joined4, 4, 4, uint32_t, FLAT_BATCH, flat_get4, sum_i32)
FLAT_ADD(add_f64, flat_load_joined8, 8, 8, word2, FLAT_BATCH_8, flat_get8, sum_f64)
FLAT_ADD(add_c32, flat_load_joined8, 8, 8, word2, FLAT_BATCH_8, flat_get8, sum_c32)
FLAT_ADD(add_i64, flat_load_joined8, 8, 8, word2, FLAT_BATCH_8, flat_get8, sum_i64)
FLAT_ADD(add_c64, flat_load_joined16, 16, 16, word4, FLAT_BATCH_16, flat_get16, sum_c64)
FLAT_ADD(add_f32w, flat_load_4w, 4, 16, word4, FLAT_BATCH_16, flat_get4w, sum_f32_4)
FLAT_ADD(add_i32w, flat_load_4w, 4, 16, word4, FLAT_BATCH_16, flat_get4w, sum_i32_4)
FLAT_ADD(add_f64w, flat_load_8w, 8, 16, word4, FLAT_BATCH_16, flat_get8w, sum_f64_2)
FLAT_ADD(add_c32w, flat_load_8w, 8, 16, word4, FLAT_BATCH_16, flat_get8w, sum_c32_2)
FLAT_ADD(add_i64w, flat_load_8w, 8, 16, word4, FLAT_BATCH_16, flat_get8w, sum_i64_2)
FLAT_ADD(add_f16q, flat_load_joined16, 16, 16, word4, FLAT_BATCH_16, flat_get16, sum_f16_8)
FLAT_ADD(add_bf16q, flat_load_joined16, 16, 16, word4, FLAT_BATCH_16, flat_get16, sum_bf16_8)
FLAT_ADD(add_f32q, flat_load_joined16, 16, 16, word4, FLAT_BATCH_16, flat_get16, sum_f32_4)
FLAT_ADD(add_i32q, flat_load_joined16, 16, 16, word4, FLAT_BATCH_16, flat_get16, sum_i32_4)
FLAT_ADD(add_f64q, flat_load_joined16, 16, 16, word4, FLAT_BATCH_16, flat_get16, sum_f64_2)
FLAT_ADD(add_c32q, flat_load_joined16, 16, 16, word4, FLAT_BATCH_16, flat_get16, sum_c32_2)
FLAT_ADD(add_i64q, flat_load_joined16, 16, 16, word4, FLAT_BATCH_16, flat_get16, sum_i64_2)

/* Elements of 2 bytes in words, two columns at a time; v: 16 bytes of each. */
typedef struct flat_pair {
  uint32_t of[2];
} flat_pair;
typedef struct flat_wide_pair {
  word4 of[2];
} flat_wide_pair;

#define FLAT_ADD_TURN(name, bytes, type, pair, batch, turn, sum)                                                       \
  DEVICE void flat_fetch_##name(const cutt_flat_args *args, const unsigned char *out, const flat_tile *t, flat_share s, \
                                uint32_t access, uint32_t run, pair *before) {                                         \
    const uint32_t accesses = t->rows * 2 / bytes, groups = t->row_bytes / 4;                                          \
    const bool single = args->column.modes == 1;                                                                       \
    const unsigned char *const from = out + (args->second + t->out);                                                                    \
    if (!args->reads_out || run >= groups) return;                                                                     \
    FLAT_STEPS(batch, groups, &args->stores, , \
              before[i].of[0] = global_load##bytes(from + (flat_offset(&args->column, run * 2, single) + access * bytes));       \
              before[i].of[1] = global_load##bytes(from + (flat_offset(&args->column, run * 2 + 1, single) + access * bytes)))   \
  }                                                                                                                    \
  DEVICE void flat_add_##name(const cutt_flat_args *args, unsigned char *out, const flat_tile *t, flat_share s,        \
                              pair *before) {                                                                          \
    const uint32_t accesses = t->rows * 2 / bytes, groups = t->row_bytes / 4;                                          \
    const bool single = args->column.modes == 1, reads = args->reads_out;                                              \
    unsigned char *const to = out + t->out;                                                                            \
    uint32_t access = s.along, run = s.across;                                                                         \
    if (run >= groups) return;                                                                                         \
    for (bool first = true; access < accesses; first = false) {                                                        \
      type value[2];                                                                                                   \
      if (!first) flat_fetch_##name(args, out, t, s, access, run, before);                                             \
      FLAT_STEPS(batch, groups, &args->stores, , \
                turn(access * (bytes / 2) * args->pitch + run * 4, args->pitch, value);                                \
                global_store##bytes(to + (flat_offset(&args->column, run * 2, single) + access * bytes),               \
                              sum(&args->scale, value[0], before[i].of[0], reads));                                    \
                global_store##bytes(to + (flat_offset(&args->column, run * 2 + 1, single) + access * bytes),           \
                              sum(&args->scale, value[1], before[i].of[1], reads)))                                    \
    }                                                                                                                  \
  }                                                                                                                    \
  FLAT_ADD_KERNEL(name, 2, flat_load_any, pair, batch)
FLAT_ADD_TURN(add_f16w, 4, uint32_t, flat_pair, FLAT_BATCH_16, flat_turn2, sum_f16_2)
FLAT_ADD_TURN(add_bf16w, 4, uint32_t, flat_pair, FLAT_BATCH_16, flat_turn2, sum_bf16_2)
enum { FLAT_BATCH_PAIRS = 2 };
FLAT_ADD_TURN(add_f16v, 16, word4, flat_wide_pair, FLAT_BATCH_PAIRS, flat_turn2w, sum_f16_8)
FLAT_ADD_TURN(add_bf16v, 16, word4, flat_wide_pair, FLAT_BATCH_PAIRS, flat_turn2w, sum_bf16_8)

/* Copies of runs (flat_runs.h) with alpha, op and beta; s: elements of 2 bytes one by one, of runs that begin at any. */
#define FLAT_SUM(name, bytes, type, sum, most)                                                                         \
  DEFINE_FLAT_RUNS(sum_##name, bytes, type, bytes, most, type before[most],                                            \
                   if (args.reads_out) before[i] = global_load##bytes(out + (args.second + to[i])),                    \
                   sum(&args.scale, value[i], before[i], args.reads_out), bytes, bytes)
FLAT_SUM(f16s, 2, uint16_t, sum_f16, CUTT_FLAT_NARROW)
FLAT_SUM(f16, 4, uint32_t, sum_f16_2, CUTT_FLAT_NARROW)
FLAT_SUM(f16v, 16, word4, sum_f16_8, CUTT_FLAT_COPIES)
FLAT_SUM(bf16s, 2, uint16_t, sum_bf16, CUTT_FLAT_NARROW)
FLAT_SUM(bf16, 4, uint32_t, sum_bf16_2, CUTT_FLAT_NARROW)
FLAT_SUM(bf16v, 16, word4, sum_bf16_8, CUTT_FLAT_COPIES)
FLAT_SUM(f32, 4, uint32_t, sum_f32, CUTT_FLAT_NARROW)
FLAT_SUM(f32v, 16, word4, sum_f32_4, CUTT_FLAT_COPIES)
FLAT_SUM(i32, 4, uint32_t, sum_i32, CUTT_FLAT_NARROW)
FLAT_SUM(i32v, 16, word4, sum_i32_4, CUTT_FLAT_COPIES)
FLAT_SUM(f64, 8, word2, sum_f64, CUTT_FLAT_COPIES)
FLAT_SUM(f64v, 16, word4, sum_f64_2, CUTT_FLAT_COPIES)
FLAT_SUM(i64, 8, word2, sum_i64, CUTT_FLAT_COPIES)
FLAT_SUM(i64v, 16, word4, sum_i64_2, CUTT_FLAT_COPIES)
FLAT_SUM(c32, 8, word2, sum_c32, CUTT_FLAT_COPIES)
FLAT_SUM(c32v, 16, word4, sum_c32_2, CUTT_FLAT_COPIES)
FLAT_SUM(c64v, 16, word4, sum_c64, CUTT_FLAT_COPIES)
