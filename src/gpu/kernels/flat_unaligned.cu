/* The kernels of flat.cu for elements of one and two bytes whose rows or columns begin at any of them, such as those of extents that
 * are odd: both sides are accessed as the words that a row, or a column, has all of, and element by element where it has a part of
 * one. What of a word a row lacks belongs to its neighbours: so nothing outside of a tile is read or written. In shared memory
 * rows are a number of elements apart that is odd, so that a word's elements, one below the other, lie in different banks. */
#include "flat_range.h"

/* A word's element i, `first` bytes from the beginning of a run of so many: is it one of the run? */
#define FLAT_INSIDE(first, i, width, bytes) ((first) + (i) * (width) < (bytes))

/* first: bytes from the run's beginning to the word, modulo 2^32. */
#define DEFINE_FLAT_UNALIGNED(width, type)                                                                             \
  DEVICE uint32_t flat_part##width(const unsigned char *begin, uint32_t first, uint32_t bytes) {                       \
    uint32_t value = 0;                                                                                                \
    UNROLL(4)                                                                                                          \
    for (uint32_t i = 0; i < 4 / width; ++i) {                                                                         \
      if (FLAT_INSIDE(first, i, width, bytes))                                                                         \
        value |= (uint32_t)global_load##width(begin + (int32_t)(first + i * width)) << i * width * 8;                  \
    }                                                                                                                  \
    return value;                                                                                                      \
  }                                                                                                                    \
  DEVICE void flat_load_##width##u(const cutt_flat_args *args, const unsigned char *in, const flat_tile *t,            \
                                   bool single) {                                                                      \
    const uint32_t bytes = t->row_bytes, words = (bytes + 6) / 4, rows = t->rows, step = args->loads.across.by;        \
    const flat_share s = flat_share_of(&args->loads);                                                                  \
    const unsigned char *const from = in + t->in;                                                                      \
    for (uint32_t word = s.along; word < words; word += args->loads.along_step) {                                      \
      for (uint32_t row = s.across; row < rows; row += FLAT_BATCH * step) {                                            \
        uint32_t value[FLAT_BATCH], first[FLAT_BATCH];                                                                 \
        UNROLL(FLAT_BATCH)                                                                                             \
        for (uint32_t i = 0; i < FLAT_BATCH; ++i) {                                                                    \
          if (row + i * step >= rows) continue;                                                                        \
          const unsigned char *const begin = from + flat_offset(&args->row, row + i * step, single);                   \
          first[i] = word * 4 - ((uint32_t)(uintptr_t)begin & 3);                                                      \
          if (first[i] < bytes && first[i] + 4 <= bytes) {                                                             \
            value[i] = global_load4(begin + first[i]);                                                                 \
          } else {                                                                                                     \
            value[i] = flat_part##width(begin, first[i], bytes);                                                       \
          }                                                                                                            \
        }                                                                                                              \
        UNROLL(FLAT_BATCH)                                                                                             \
        for (uint32_t i = 0; i < FLAT_BATCH; ++i) {                                                                    \
          if (row + i * step >= rows) continue;                                                                        \
          UNROLL(4)                                                                                                    \
          for (uint32_t j = 0; j < 4 / width; ++j) {                                                                   \
            if (FLAT_INSIDE(first[i], j, width, bytes))                                                                \
              shared_store##width((row + i * step) * args->pitch + first[i] + j * width,                               \
                                  (type)(value[i] >> j * width * 8));                                                  \
          }                                                                                                            \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  DEVICE void flat_store_##width##u(const cutt_flat_args *args, unsigned char *out, const flat_tile *t, bool single) { \
    const uint32_t bytes = t->rows * width, words = (bytes + 6) / 4, columns = t->row_bytes / width;                   \
    const uint32_t step = args->stores.across.by;                                                                      \
    const flat_share s = flat_share_of(&args->stores);                                                                 \
    unsigned char *const to = out + t->out;                                                                            \
    for (uint32_t word = s.along; word < words; word += args->stores.along_step) {                                     \
      UNROLL(FLAT_BATCH_JOINED)                                                                                        \
      for (uint32_t column = s.across; column < columns; column += step) {                                             \
        unsigned char *const begin = to + flat_offset(&args->column, column, single);                                  \
        const uint32_t first = word * 4 - ((uint32_t)(uintptr_t)begin & 3), from = column * width;                     \
        if (first < bytes && first + 4 <= bytes) {                                                                     \
          global_store4(begin + first, flat_get##width##of4(first / width * args->pitch + from, args->pitch));         \
          continue;                                                                                                    \
        }                                                                                                              \
        UNROLL(4)                                                                                                      \
        for (uint32_t i = 0; i < 4 / width; ++i) {                                                                     \
          const uint32_t at = first + i * width;                                                                       \
          if (at < bytes) global_store##width(begin + at, shared_load##width(at / width * args->pitch + from));        \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  KERNEL(cutt_flat_##width##u, CUTT_FLAT_THREADS, FLAT_BLOCKS)                                                         \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_args) args) {                                       \
    const flat_tile t = flat_tile_of(&args, flat_number(&args));                                                       \
    if (args.row.modes == 1) {                                                                                         \
      flat_load_##width##u(&args, in, &t, true);                                                                       \
    } else {                                                                                                           \
      flat_load_##width##u(&args, in, &t, false);                                                                      \
    }                                                                                                                  \
    barrier();                                                                                                         \
    if (args.column.modes == 1) {                                                                                      \
      flat_store_##width##u(&args, out, &t, true);                                                                     \
    } else {                                                                                                           \
      flat_store_##width##u(&args, out, &t, false);                                                                    \
    }                                                                                                                  \
  }
DEFINE_FLAT_UNALIGNED(1, uint8_t)
DEFINE_FLAT_UNALIGNED(2, uint16_t)
