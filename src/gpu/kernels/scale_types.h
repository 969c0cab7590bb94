/* The kernels with tables that compute (scale.cu, add.cu), type by type. */
#ifndef CUTT_GPU_KERNELS_SCALE_TYPES_H
#define CUTT_GPU_KERNELS_SCALE_TYPES_H

#include "columns.h"
#include "scale.h"

/* An element of 2 bytes where rows begin at any of them. `entry`: of the run's table; phase: of the tile's first row, plus the
 * column's. */
DEVICE uint32_t place_of_half(uint32_t stage_at, uint32_t entry, uint32_t phase) {
  return stage_at + (entry >> 2) + ((entry + phase) & 3);
}

/* The kernels of a type, DEFINE(name, unaligned, lengthy, bytes, word, accesses, begin, get, sum, load, put, batch) each: may
 * rows begin at any byte; are columns often longer than a block has threads, as those of elements of 16 bytes are; the bytes of an access, and their C type; how many accesses a column has; what is done once for each of
 * these, and what then gives it from shared memory; what makes the result of it and of what the output holds, what loads
 * the latter and stores the result; and how many loads of the output a thread has under way.
 *
 *   <type>   element by element
 *   <type>h  the same, of which only the halves are aligned in the output
 *   <type>w  several elements gathered for each store
 *   <type>q  elements that always travel together, 16 bytes at a time */
#define AT_RUN const uint32_t at = stage_at + read_run(args, access)
#if __CUDA_ARCH__ >= 1000 /* on sm_120 more of them take more registers than there are */
#define SCALE_BATCH_2 4
#define SCALE_BATCH_Q 3
#else
#define SCALE_BATCH_2 8
#define SCALE_BATCH_Q 4
#endif
#define SCALE_QUADS(DEFINE, type, elements)                                                                            \
  DEFINE(type##q, false, true, 16, word4, now->run, AT_RUN, shared_load16(at + c.shared), sum_##type##_##elements,     \
         global_load, global_store, SCALE_BATCH_Q)
#define SCALE_2_BYTES(DEFINE, type)                                                                                    \
  DEFINE(type, true, false, 2, uint16_t, now->run, const uint32_t in_run = read_run(args, access),                     \
         shared_load2(c.shared + place_of_half(stage_at, in_run, c.phase + (uint32_t)(uintptr_t)(in + now->in))),      \
         sum_##type, global_load, global_store, SCALE_BATCH_2)                                                         \
  DEFINE(type##w, false, false, 4, uint32_t, now->run / 2, const gather g = gather_of(args, stage_at, access, 2),      \
         gather2(&g, c.shared), sum_##type##_2, global_load, global_store, SCALE_BATCH_2)                              \
  SCALE_QUADS(DEFINE, type, 8)
#define SCALE_4_BYTES(DEFINE, type)                                                                                    \
  DEFINE(type, false, false, 4, uint32_t, now->run, AT_RUN, shared_load4(at + c.shared), sum_##type, global_load,      \
         global_store, 8)                                                                                              \
  DEFINE(type##w, false, false, 16, word4, now->run / 4, const gather g = gather_of(args, stage_at, access, 4),        \
         gather4w(&g, c.shared), sum_##type##_4, global_load, global_store, 4)                                         \
  SCALE_QUADS(DEFINE, type, 4)
#define SCALE_8_BYTES(DEFINE, type)                                                                                    \
  DEFINE(type, false, false, 8, word2, now->run, AT_RUN, shared_load8(at + c.shared), sum_##type, global_load,         \
         global_store, 6)                                                                                              \
  DEFINE(type##h, false, false, 8, word2, now->run, AT_RUN, shared_load8(at + c.shared), sum_##type, halves_load,      \
         halves_store, 4)                                                                                              \
  DEFINE(type##w, false, false, 16, word4, now->run / 2, const gather g = gather_of_8w(args, stage_at, access),        \
         gather8w(&g, c.shared), sum_##type##_2, global_load, global_store, 4)                                         \
  SCALE_QUADS(DEFINE, type, 2)
#define SCALE_16_BYTES(DEFINE, type)                                                                                   \
  DEFINE(type, false, true, 16, word4, now->run, AT_RUN, shared_load16(at + c.shared), sum_##type, global_load,        \
         global_store, 4)                                                                                              \
  DEFINE(type##h, false, false, 16, word4, now->run, AT_RUN, shared_load16(at + c.shared), sum_##type, halves_load,    \
         halves_store, 4)
#define SCALE_ALL(DEFINE)                                                                                              \
  SCALE_2_BYTES(DEFINE, f16)                                                                                           \
  SCALE_2_BYTES(DEFINE, bf16)                                                                                          \
  SCALE_4_BYTES(DEFINE, f32)                                                                                           \
  SCALE_4_BYTES(DEFINE, i32)                                                                                           \
  SCALE_8_BYTES(DEFINE, f64)                                                                                           \
  SCALE_8_BYTES(DEFINE, c32)                                                                                           \
  SCALE_8_BYTES(DEFINE, i64)                                                                                           \
  SCALE_16_BYTES(DEFINE, c64)

#endif
