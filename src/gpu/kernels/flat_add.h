/* What the kernels without tables that compute have in common: columns that are added to (flat_add.cu, flat_joined_add.cu). */
#ifndef CUTT_GPU_KERNELS_FLAT_ADD_H
#define CUTT_GPU_KERNELS_FLAT_ADD_H

#include "flat_range.h"
#include "scale.h"

/* get(at, pitch) collects an access from shared memory; sum(args, x, y, reads) makes what is stored of it and of what the output
 * holds. */
#define DEFINE_FLAT_ADD(name, width, bytes, type, batch, get, sum)                                                     \
  /* What the output holds at the thread's next accesses, from `access` of column `run` on. */                         \
  DEVICE void flat_fetch_##name(const cutt_flat_args *args, const unsigned char *out, const flat_tile *t,              \
                                flat_share s, uint32_t access, uint32_t run, type *before) {                           \
    const uint32_t accesses = t->rows * width / bytes, columns = t->row_bytes / width;                                 \
    const bool single = args->column.modes == 1;                                                                       \
    const unsigned char *const from = out + (args->second + t->out);                                                   \
    if (!args->reads_out || run >= columns) return;                                                                    \
    FLAT_STEPS(batch, columns, &args->stores, ,                                                                        \
               before[i] = global_load##bytes(from + (flat_offset(&args->column, run, single) + access * bytes)))      \
  }                                                                                                                    \
  DEVICE void flat_add_##name(const cutt_flat_args *args, unsigned char *out, const flat_tile *t, flat_share s,        \
                              type *before) {                                                                          \
    const uint32_t accesses = t->rows * width / bytes, columns = t->row_bytes / width;                                 \
    const bool single = args->column.modes == 1, reads = args->reads_out;                                              \
    unsigned char *const to = out + t->out;                                                                            \
    uint32_t access = s.along, run = s.across;                                                                         \
    if (run >= columns) return;                                                                                        \
    for (bool first = true; access < accesses; first = false) {                                                        \
      int64_t offset[batch];                                                                                           \
      uint32_t at[batch];                                                                                              \
      if (!first) flat_fetch_##name(args, out, t, s, access, run, before);                                             \
      FLAT_WALK(batch, columns, &args->stores, at[i] = access * (bytes / width) * args->store_pitch + run * width;     \
                before[i] = sum(&args->scale, get(at[i], args->store_pitch), before[i], reads);                        \
                offset[i] = flat_offset(&args->column, run, single) + access * bytes)                                  \
      UNROLL(batch)                                                                                                    \
      for (uint32_t i = 0; i < batch; ++i) {                                                                           \
        if (at[i] != FLAT_NOWHERE) global_store##bytes(to + offset[i], before[i]);                                     \
      }                                                                                                                \
    }                                                                                                                  \
  }

/* The kernel flat_<name>, load(args, in, tile, single) bringing the tile's rows. */
#define FLAT_ADD_KERNEL(name, width, load, type, batch)                                                                \
  KERNEL(cutt_flat_##name, CUTT_FLAT_THREADS, FLAT_BLOCKS)                                                             \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_args) args) {                                       \
    const flat_tile t = flat_tile_of(&args, flat_number(&args), false), written = flat_written(&args, &t, width);      \
    const flat_share s = flat_share_of(&args.stores);                                                                  \
    type before[batch];                                                                                                \
    wait_for_earlier(args.next_early);                                                                                 \
    flat_fetch_##name(&args, out, &written, s, s.along, s.across, before);                                             \
    load(&args, in, &t, args.row.modes == 1);                                                                          \
    barrier();                                                                                                         \
    flat_add_##name(&args, out, &written, s, before);                                                                  \
  }
#define FLAT_ADD(name, load, width, bytes, type, batch, get, sum)                                                      \
  DEFINE_FLAT_ADD(name, width, bytes, type, batch, get, sum)                                                           \
  FLAT_ADD_KERNEL(name, width, load, type, batch)

/* The columns of a tile that are one range are one column, whose places in shared memory are as in memory. */
DEVICE flat_tile flat_written(const cutt_flat_args *args, const flat_tile *t, uint32_t width) {
  flat_tile written = *t;
  if (args->joined != CUTT_FLAT_COLUMNS) return written;
  written.rows = t->rows * (t->row_bytes / width);
  written.row_bytes = width;
  return written;
}

#endif
