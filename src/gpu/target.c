/* A GPU as a target of planning (target.h). */
#include "gpu/target.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "gpu/cost.h"
#include "gpu/count.h"
#include "gpu/flat.h"
#include "gpu/kernels/args.h"
#include "gpu/link.h"

/* ----------------------------------------------------------------------------------------------------------- schema */

#define WHOLE(name, unit, what, least, most)                                                                           \
  { #name, unit, what, CUTT_PROPERTY_INT, offsetof(cutt_device, name), least, most }
#define BYTES(name, what)                                                                                              \
  { #name, "B", what, CUTT_PROPERTY_INT64, offsetof(cutt_device, name), 0, 1e15 }
#define REAL(name, unit, what, most)                                                                                   \
  { #name, unit, what, CUTT_PROPERTY_REAL, offsetof(cutt_device, name), 0, most }
static const cutt_property properties[] = {
    WHOLE(major, "1", "compute capability", 1, 99),
    WHOLE(minor, "1", "compute capability, behind the point", 0, 9),
    WHOLE(sms, "1", "streaming multiprocessors", 1, 10000),
    /* At least what the blocks of the kernels need: every device that CUDA supports has more. */
    WHOLE(sm_threads, "1", "most threads resident on an SM", CUTT_BLOCK_THREADS, 65536),
    WHOLE(sm_blocks, "1", "most blocks resident on an SM", 1, 1024),
    WHOLE(sm_shared, "B", "shared memory of an SM", 48 * 1024, 1 << 30),
    WHOLE(block_shared, "B", "shared memory that a block may have", 48 * 1024, 1 << 30),
    WHOLE(reserved_shared, "B", "shared memory that the system takes of each block's", 0, 1 << 20),
    BYTES(l2_bytes, "L2 cache"),
    BYTES(memory_bytes, "memory"),
    REAL(clock_hz, "Hz", "clock of the SMs", 1e12),
    REAL(memory_bandwidth, "B/s", "memory, from clock and width of the bus", 1e16),
    REAL(copy_bandwidth, "B/s", "a plain copy, read and written bytes", 1e16),
    REAL(read_bandwidth, "B/s", "reading memory", 1e16),
    REAL(write_bandwidth, "B/s", "writing memory", 1e16),
    REAL(launch_seconds, "s", "an empty kernel", 1),
    REAL(memory_latency, "cycles", "a load from memory (the paper's mem_baselat)", 1e6),
    REAL(departure_delay, "cycles", "between the transactions of a warp (the paper's Delta)", 1e6),
    REAL(shared_latency, "cycles", "an access to shared memory (the paper's shmem_lat)", 1e6),
    REAL(arithmetic, "cycles", "arithmetic and control of an iteration (the paper's cycles_ac)", 1e6),
};

const cutt_schema cutt_gpu_schema = {.backend = "cuda",
                                     .bytes = sizeof(cutt_device),
                                     .properties = properties,
                                     .property_count = sizeof properties / sizeof *properties,
                                     .parameters = cutt_gpu_parameters,
                                     .value = cutt_gpu_values,
                                     .parameter_count = CUTT_GPU_PARAMETERS};

void cutt_gpu_complete(cutt_device *device) {
  const cutt_device *like = cutt_device_like(device->base.name, device->major);
  device->memory_latency = like->memory_latency;
  device->departure_delay = like->departure_delay;
  device->shared_latency = like->shared_latency;
  device->arithmetic = like->arithmetic;
}

/* ------------------------------------------------------------------------------------------------------ explanation */

void cutt_gpu_explain(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                      cutt_explanation *e) {
  const cutt_device *device = (const cutt_device *)target;
  cutt_gpu_tile tile;
  cutt_gpu_counts counts;
  const char *why;
  memset(e, 0, sizeof *e);
  e->sector_name = "sectors";
  e->sector_bytes = cutt_gpu_sector(device);
  const double bytes = (double)canonical->volume * canonical->elem_bytes, copy = cutt_gpu_copy_bandwidth(device);
  e->copy_seconds = 2 * bytes / copy + cutt_gpu_launch_seconds(device);
  e->least_sectors = bytes / e->sector_bytes;
  if (!cutt_gpu_tile_derive(canonical, candidate, &tile, &why)) return; /* it is of another kind of device */
  const bool direct = candidate->param[CUTT_GPU_PARAM_DIRECT] != 0;
  const int stages = (int)candidate->param[CUTT_GPU_PARAM_STAGES];
  cutt_candidate predicted = *candidate;
  cutt_gpu_count(device, canonical, &tile, direct, &counts);
  if (candidate->param[CUTT_GPU_PARAM_FLAT] == 0 || !cutt_gpu_flat_takes(canonical, &tile, direct, &why) ||
      !cutt_gpu_count_flat(device, canonical, &tile, candidate->threads, &counts)) {
    cutt_gpu_count_threads(canonical, &tile, candidate->threads, true, &counts);
  }
  if (!cutt_gpu_predict(device, canonical, &tile, &counts, stages, &predicted, &e->breakdown)) {
    e->breakdown.count = 0;
  }
  e->link_seconds = cutt_gpu_link_seconds(device, canonical, &tile, &counts, &predicted);
  e->least_link_seconds = cutt_gpu_least_link_seconds(device, canonical);
  for (int j = 0; j < canonical->rank; ++j) e->tile[j] = tile.extent[j];
  e->row_length = tile.volume / (tile.rows * tile.repeats); /* without gaps */
  e->rows = tile.rows;
  e->column_length = tile.column_length;
  e->columns = tile.columns;
  e->tiles = tile.tiles;
  e->shared_bytes = (int64_t)ceil(counts.table_bytes + stages * counts.shared_bytes);
  e->blocks_per_sm = cutt_gpu_occupancy(device, direct && candidate->param[CUTT_GPU_PARAM_FLAT] == 0,
                                        candidate->threads, (double)e->shared_bytes);
  e->occupancy = (double)e->blocks_per_sm * candidate->threads / (device->sm_threads > 0 ? device->sm_threads : 1);
  cutt_gpu_requests requests;
  cutt_gpu_count_requests(device, canonical, &tile, candidate, &requests);
  e->read_sectors = larger(e->least_sectors / (double)tile.repeats, requests.tile_load_sectors);
  e->written_sectors = larger(e->least_sectors, requests.tile_store_sectors);
  e->partial_sectors = larger(0, requests.tile_store_sectors - requests.tile_store_sectors_whole);
  e->requests = requests.load_requests + requests.store_requests;
  e->wavefronts = requests.shared_store_wavefronts + requests.shared_load_wavefronts;
}
