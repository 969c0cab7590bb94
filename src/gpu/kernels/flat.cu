/* Tiled and Packed without tables: for tiles whose rows and columns are counted over few modes, none of them common to M_m and
 * M_k. A block does one tile: it loads into registers, turns the tile in shared memory, and stores. What tables would hold is
 * worked out where it is wanted, by a division for each mode but the last; so nothing stands between the launch and the
 * first load but the few parameters. */
#include "flat_tile.h"

/* Where an access is one element, of which there are enough in a column's batch: less is worked out for each. */
#define DEFINE_FLAT_STORE_EACH(bytes, type)                                                                            \
  DEVICE void flat_store_##bytes(const cutt_flat_args *args, unsigned char *out, const flat_tile *t, bool single) {    \
    const uint32_t rows = t->rows, columns = t->row_bytes / bytes, step = args->stores.across.by;                      \
    const flat_share s = flat_share_of(&args->stores);                                                                 \
    for (uint32_t row = s.along; row < rows; row += args->stores.along_step) {                                         \
      unsigned char *const to = out + (t->out + row * bytes);                                                          \
      const uint32_t from = row * args->pitch;                                                                         \
      for (uint32_t column = s.across; column < columns; column += FLAT_BATCH * step) {                                \
        type value[FLAT_BATCH];                                                                                        \
        UNROLL(FLAT_BATCH)                                                                                             \
        for (uint32_t i = 0; i < FLAT_BATCH; ++i) {                                                                    \
          if (column + i * step < columns) value[i] = shared_load##bytes(from + (column + i * step) * bytes);          \
        }                                                                                                              \
        UNROLL(FLAT_BATCH)                                                                                             \
        for (uint32_t i = 0; i < FLAT_BATCH; ++i) {                                                                    \
          if (column + i * step < columns)                                                                             \
            global_store##bytes(to + flat_offset(&args->column, column + i * step, single), value[i]);                 \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }
DEFINE_FLAT_STORE_EACH(1, uint8_t)
DEFINE_FLAT_STORE_EACH(2, uint16_t)
DEFINE_FLAT_STORE_EACH(4, uint32_t)
DEFINE_FLAT_STORE_EACH(8, word2)
DEFINE_FLAT_STORE(16, 16, 16, word4, FLAT_BATCH_16, flat_get16)
DEFINE_FLAT_STORE(4w, 4, 16, word4, FLAT_BATCH_16, flat_get4w)
DEFINE_FLAT_STORE(8w, 8, 16, word4, FLAT_BATCH_16, flat_get8w)

/* Elements of one and two bytes in words: as many columns as a word has elements are read by words and stored by words, the
 * elements changing places by permutes of bytes. */
#define DEFINE_FLAT_TURN(name, width, bytes, type, turn)                                                               \
  DEVICE void flat_store_##name(const cutt_flat_args *args, unsigned char *out, const flat_tile *t, bool single) {     \
    const uint32_t accesses = t->rows * width / bytes, groups = t->row_bytes / 4;                                      \
    const flat_share s = flat_share_of(&args->stores);                                                                 \
    unsigned char *const to = out + t->out;                                                                            \
    uint32_t access = s.along, run = s.across;                                                                         \
    if (run >= groups) return;                                                                                         \
    while (access < accesses) {                                                                                        \
      type value[4 / width];                                                                                           \
      turn(access * (bytes / width) * args->pitch + run * 4, args->pitch, value);                                      \
      UNROLL(4)                                                                                                        \
      for (uint32_t i = 0; i < 4 / width; ++i) {                                                                       \
        const int64_t offset = flat_offset(&args->column, run * (4 / width) + i, single) + access * bytes;             \
        global_store##bytes(to + offset, value[i]);                                                                    \
      }                                                                                                                \
      run += args->stores.across.by;                                                                                   \
      if (run >= groups) {                                                                                             \
        run = s.across;                                                                                                \
        access += args->stores.along_step;                                                                             \
      }                                                                                                                \
    }                                                                                                                  \
  }
DEVICE void flat_turn1(uint32_t at, uint32_t pitch, uint32_t *value) {
  const uint32_t a = shared_load4(at), b = shared_load4(at + pitch);
  const uint32_t c = shared_load4(at + 2 * pitch), d = shared_load4(at + 3 * pitch);
  const uint32_t ab0 = permute_bytes(a, b, 0x5140), ab1 = permute_bytes(a, b, 0x7362);
  const uint32_t cd0 = permute_bytes(c, d, 0x5140), cd1 = permute_bytes(c, d, 0x7362);
  value[0] = permute_bytes(ab0, cd0, 0x5410);
  value[1] = permute_bytes(ab0, cd0, 0x7632);
  value[2] = permute_bytes(ab1, cd1, 0x5410);
  value[3] = permute_bytes(ab1, cd1, 0x7632);
}
DEFINE_FLAT_TURN(1w, 1, 4, uint32_t, flat_turn1)
DEFINE_FLAT_TURN(2w, 2, 4, uint32_t, flat_turn2)
DEFINE_FLAT_TURN(2q, 2, 16, word4, flat_turn2w)

#define flat_load_1w flat_load_any
#define flat_load_2w flat_load_any
#define flat_load_2q flat_load_any

/* On sm_120 64 registers for each thread are one or two too few. */
#if __CUDA_ARCH__ >= 1000
#define FLAT_TURN_BLOCKS (FLAT_BLOCKS - 1)
#else
#define FLAT_TURN_BLOCKS FLAT_BLOCKS
#endif
#define FLAT_KERNEL(name)                                                                                              \
  KERNEL(cutt_flat_##name, CUTT_FLAT_THREADS, FLAT_TURN_BLOCKS)                                                        \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_args) args) {                                       \
    const flat_tile t = flat_tile_of(&args, flat_number(&args), false);                                                            \
    wait_for_earlier(args.next_early);                                                                                 \
    if (args.row.modes == 1) {                                                                                         \
      flat_load_##name(&args, in, &t, true);                                                                           \
    } else {                                                                                                           \
      flat_load_##name(&args, in, &t, false);                                                                          \
    }                                                                                                                  \
    barrier();                                                                                                         \
    if (args.column.modes == 1) {                                                                                      \
      flat_store_##name(&args, out, &t, true);                                                                         \
    } else {                                                                                                           \
      flat_store_##name(&args, out, &t, false);                                                                        \
    }                                                                                                                  \
  }
FLAT_KERNEL(1)
FLAT_KERNEL(2)
FLAT_KERNEL(4)
FLAT_KERNEL(8)
FLAT_KERNEL(16)
FLAT_KERNEL(1w)
FLAT_KERNEL(2w)
FLAT_KERNEL(2q)
FLAT_KERNEL(4w)
FLAT_KERNEL(8w)
