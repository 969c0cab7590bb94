/* The terms of the paper's model (mwp.h). */
#include "model/mwp.h"

#include <math.h>

static const double cache_hit = 0.2; /* the paper's, of L1 and L2 together, for all transposes */

/* TPR_mem = (LD_tran + ST_tran) / (LD_req + ST_req)   (12) */
double cutt_mwp_tpr_original(const cutt_mwp_counts *n) { return (n->ld_tran + n->st_tran) / (n->ld_req + n->st_req); }

/* TPR_mem = (LD_tran + ST_tran (1 + CL_part / (CL_full + CL_part))) / (LD_req + ST_req)   (13)
 * A line that is stored to in part has to be loaded first. */
double cutt_mwp_tpr_mem(const cutt_mwp_counts *n) {
  const double lines = n->cl_full + n->cl_part;
  const double partial = lines > 0 ? n->cl_part / lines : 0;
  return (n->ld_tran + n->st_tran * (1 + partial)) / (n->ld_req + n->st_req);
}

/* mem_lat = mem_baselat + (TPR_mem - 1) Delta */
double cutt_mwp_mem_lat(const cutt_device *device, double tpr_mem) {
  return device->memory_latency + (tpr_mem - 1) * device->departure_delay;
}

/* MLP = ((L/R) (2 T_full + T_horz) + ceil(v/R) (T_vert + T_corn) + ceil(h/R) (T_horz + T_corn))
 *       / (2 (T_full + T_horz + T_vert + T_corn))
 *
 * A tile's reads and its writes, over two. As printed: where T_horz has L/R for its reads and ceil(h/R) for its writes,
 * T_vert has ceil(v/R) for its reads, and for its writes, which are as many as a full tile's, nothing. */
double cutt_mwp_mlp_tiled(const cutt_mwp_tiles *t, double r) {
  const double all = t->full + t->horz + t->vert + t->corn;
  return (CUTT_MWP_L / r * (2 * t->full + t->horz) + ceil(t->v / r) * (t->vert + t->corn) +
          ceil(t->h / r) * (t->horz + t->corn)) /
         (2 * all);
}

/* MLP = ((L/R) (T_full + T_horz) + ceil(v/R) (T_vert + T_corn)) / (T_full + T_horz + T_vert + T_corn) */
double cutt_mwp_mlp_tiled_copy(const cutt_mwp_tiles *t, double r) {
  const double all = t->full + t->horz + t->vert + t->corn;
  return (CUTT_MWP_L / r * (t->full + t->horz) + ceil(t->v / r) * (t->vert + t->corn)) / all;
}

/* MLP = nReg = ceil(vol(M_mk) / nThread) */
double cutt_mwp_mlp_packed(int64_t volume, int threads) {
  const int64_t registers = (volume + threads - 1) / threads;
  return (double)registers;
}

/* MWP_mem = mem_lat / Delta: the warps that can access memory when its peak bandwidth is not reached. */
double cutt_mwp_mem(const cutt_device *device, double mem_lat) { return mem_lat / device->departure_delay; }

/* Bytes_req = (TPR_mem (1 - cache_hit) + cache_hit) TranSize: through the memory bus, per request. */
double cutt_mwp_bytes_req(double tpr_mem) { return (tpr_mem * (1 - cache_hit) + cache_hit) * CUTT_MWP_TRAN_SIZE; }

/* BW_warp = Freq Bytes_req / mem_lat: one request under way at a time. Hz * bytes / cycles = bytes per second. */
double cutt_mwp_bw_warp(const cutt_device *device, double bytes_req, double mem_lat) {
  return device->clock_hz * bytes_req / mem_lat;
}

/* MWP_peak = mem_BW / (BW_warp N_SM): the warps of an SM that can access memory when its peak bandwidth is reached. */
double cutt_mwp_peak(const cutt_device *device, double bw_warp) {
  return device->memory_bandwidth / (bw_warp * device->sms);
}

/* MWP = min(MWP_mem MLP, MWP_peak, N_warpsPerSM) */
double cutt_mwp(double mwp_mem, double mlp, double mwp_peak, double warps_per_sm) {
  return fmin(fmin(mwp_mem * mlp, mwp_peak), warps_per_sm);
}

/* cycles_mem = 2 mem_lat MLP N_warp / MWP   (11): loads and stores. */
double cutt_mwp_cycles_mem(double mem_lat, double mlp, double warps, double mwp) {
  return 2 * mem_lat * mlp * warps / mwp;
}

/* cycles_shmem = 2 TPR_shmem shmem_lat MLP */
double cutt_mwp_cycles_shmem(const cutt_device *device, double tpr_shmem, double mlp) {
  return 2 * tpr_shmem * device->shared_latency * mlp;
}

/* cycles = (cycles_mem + cycles_shmem + cycles_ac) N_iter   (10) */
double cutt_mwp_cycles(const cutt_device *device, double cycles_mem, double cycles_shmem, double iterations) {
  return (cycles_mem + cycles_shmem + device->arithmetic) * iterations;
}

void cutt_mwp_evaluate(const cutt_device *device, const cutt_mwp_kernel *kernel, cutt_mwp_terms *t) {
  t->tpr_mem = cutt_mwp_tpr_mem(&kernel->counts);
  t->mem_lat = cutt_mwp_mem_lat(device, t->tpr_mem);
  t->bytes_req = cutt_mwp_bytes_req(t->tpr_mem);
  t->bw_warp = cutt_mwp_bw_warp(device, t->bytes_req, t->mem_lat);
  t->mwp_mem = cutt_mwp_mem(device, t->mem_lat);
  t->mwp_peak = cutt_mwp_peak(device, t->bw_warp);
  t->mwp = cutt_mwp(t->mwp_mem, kernel->mlp, t->mwp_peak, kernel->warps_per_sm);
  t->cycles_mem = cutt_mwp_cycles_mem(t->mem_lat, kernel->mlp, kernel->warps, t->mwp);
  t->cycles_shmem = cutt_mwp_cycles_shmem(device, kernel->tpr_shmem, kernel->mlp);
  t->cycles = cutt_mwp_cycles(device, t->cycles_mem, t->cycles_shmem, kernel->iterations);
}
