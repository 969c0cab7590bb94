/* How far apart rows lie in shared memory, and how they are loaded, so that banks do not conflict. */
#ifndef CUTT_GPU_PITCH_H
#define CUTT_GPU_PITCH_H

#include <stdint.h>

#include "gpu/tile.h"
#include "model/canonical.h"

typedef struct cutt_gpu_pitch {
  uint32_t bytes; /* from row to row */
  uint32_t load;  /* bytes of a load; 0: rows are aligned to nothing */
  bool conflicts; /* between banks: reading the columns takes a quarter more wavefronts than without, or worse */
} cutt_gpu_pitch;

/* Columns that begin with so many bytes of a row go along the rows: a warp reads one of them. */
enum { CUTT_GPU_ALONG = 128 };

/* No pitch of rows of so many bytes is larger: up to 16 bytes at the end of a row, then 16 bytes or a quarter more. */
static inline double cutt_gpu_pitch_most(double row_bytes) { return 1.25 * row_bytes + 32; }

/* The bytes of a load from global memory that suit the banks; `load` is the most that the rows' alignment allows. */
uint32_t cutt_gpu_pitch_load(const cutt_canonical *canonical, const cutt_gpu_tile *tile, uint32_t shared_load,
                             uint32_t load);

/* Bytes at a time: shared_load, of a load from shared memory; store, of a store to global memory, of one or more of these;
 * load, of the widest load from global memory that the rows' alignment allows, 0 for none. */
cutt_gpu_pitch cutt_gpu_pitch_choose(const cutt_canonical *canonical, const cutt_gpu_tile *tile, uint32_t shared_load,
                                     uint32_t store, uint32_t load);

#endif
