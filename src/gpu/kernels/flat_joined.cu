/* The kernels without tables where one side has a few elements only, such as the colours of pixels, which lie one behind the
 * other: rows in the input (flat_in_*), or columns in the output (flat_out_*). That side of a tile is one range of memory,
 * moved 16 bytes at a time, and lies in shared memory as it does outside; the other side has a few long runs, whose elements are
 * gathered from their places in the range for stores of up to 16 bytes, or scattered to them from loads of up to 16 bytes. Where the long
 * runs are not aligned to words, they are accessed element by element. */
#include "flat_range.h"

#define FLAT_IN(width, store)                                                                                          \
  KERNEL(cutt_flat_in_##width, CUTT_FLAT_THREADS, FLAT_BLOCKS)                                                         \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_args) args) {                                       \
    const flat_tile t = flat_tile_of(&args, flat_number(&args), false);                                                            \
    wait_for_earlier(args.next_early);                                                                                 \
    const bool single = args.column.modes == 1;                                                                        \
    if (args.range_log2 == 4) {                                                                                        \
      flat_load_range16(&args, in + t.in, t.rows * t.row_bytes);                                                       \
    } else {                                                                                                           \
      flat_load_range4(&args, in + t.in, t.rows * t.row_bytes);                                                        \
    }                                                                                                                  \
    barrier();                                                                                                         \
    store;                                                                                                             \
  }
#define FLAT_STORED(width, bytes) flat_store_##width##of##bytes(&args, out, &t, single)
FLAT_IN(
    1, if (args.store_log2 == 2) { FLAT_STORED(1, 4); } else { FLAT_STORED(1, 1); })
FLAT_IN(
    2, if (args.store_log2 == 4) { FLAT_STORED(2, 16); } else if (args.store_log2 == 2) {
      FLAT_STORED(2, 4);
    } else { FLAT_STORED(2, 2); })
FLAT_IN(
    4, if (args.store_log2 == 4) { FLAT_STORED(4, 16); } else { FLAT_STORED(4, 4); })
FLAT_IN(
    8, if (args.store_log2 == 4) { FLAT_STORED(8, 16); } else { FLAT_STORED(8, 8); })

#define FLAT_OUT(width, load)                                                                                          \
  KERNEL(cutt_flat_out_##width, CUTT_FLAT_THREADS, FLAT_BLOCKS)                                                        \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_args) args) {                                       \
    const flat_tile t = flat_tile_of(&args, flat_number(&args), false);                                                            \
    wait_for_earlier(args.next_early);                                                                                 \
    const bool single = args.row.modes == 1;                                                                           \
    load;                                                                                                              \
    barrier();                                                                                                         \
    if (args.range_log2 == 4) {                                                                                        \
      flat_store_range16(&args, out + t.out, t.rows * t.row_bytes);                                                    \
    } else {                                                                                                           \
      flat_store_range4(&args, out + t.out, t.rows * t.row_bytes);                                                     \
    }                                                                                                                  \
  }
#define FLAT_LOADED(width, bytes) flat_load_##width##of##bytes(&args, in, &t, single)
FLAT_OUT(
    1, if (args.load_log2 == 3) { FLAT_LOADED(1, 8); } else if (args.load_log2 == 2) {
      FLAT_LOADED(1, 4);
    } else { FLAT_LOADED(1, 1); })
FLAT_OUT(
    2, if (args.load_log2 == 3) { FLAT_LOADED(2, 8); } else if (args.load_log2 == 2) {
      FLAT_LOADED(2, 4);
    } else { FLAT_LOADED(2, 2); })
FLAT_OUT(
    4, if (args.load_log2 == 4) { FLAT_LOADED(4, 16); } else { FLAT_LOADED(4, 4); })
FLAT_OUT(
    8, if (args.load_log2 == 4) { FLAT_LOADED(8, 16); } else { FLAT_LOADED(8, 8); })
