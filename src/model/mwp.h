/* The modified MWP-CWP model as the paper has it (section 2.3, Eq. 10 to 13): how many clock cycles a transpose takes,
 * from counts of memory accesses and a device's parameters (Table I). Each term is a function of its own and named as
 * there, so that it can be checked by hand; what a candidate of a backend is in these terms is the backend's business.
 *
 * The letters are the paper's: a warp has L = 32 lanes, R is the warps of a thread block, Delta the departure delay. */
#ifndef CUTT_MODEL_MWP_H
#define CUTT_MODEL_MWP_H

#include <stdint.h>

#include "model/device.h"

enum { CUTT_MWP_L = 32, CUTT_MWP_TRAN_SIZE = 128 /* bytes of a memory transaction */ };

/* What a kernel asks of global memory. Only ratios matter, so the counts may be those of a sample. */
typedef struct cutt_mwp_counts {
  double ld_req, st_req;   /* memory requests: instructions of a warp */
  double ld_tran, st_tran; /* the transactions that they take */
  double cl_full, cl_part; /* 32-byte L2 lines that are stored to in full, in part */
} cutt_mwp_counts;

/* L x L tiles, by where the tensor's edge cuts them at memory read. */
typedef struct cutt_mwp_tiles {
  double full, horz, vert, corn; /* not cut; in the horizontal direction; in the vertical one; in both */
  int h, v;                      /* the width and the height of those that are cut: vol(M_m) mod L, vol(M_k) mod L */
} cutt_mwp_tiles;

/* All that the model wants to know of a kernel's run. */
typedef struct cutt_mwp_kernel {
  cutt_mwp_counts counts;
  double mlp;
  double tpr_shmem;    /* 0: it uses no shared memory */
  double warps;        /* N_warp: of a thread block */
  double warps_per_sm; /* N_warpsPerSM: active on an SM */
  double iterations;   /* N_iter: "load global - store global" iterations, one after the other */
} cutt_mwp_kernel;

typedef struct cutt_mwp_terms {
  double tpr_mem, mem_lat, bytes_req, bw_warp;
  double mwp_mem, mwp_peak, mwp;
  double cycles_mem, cycles_shmem, cycles;
} cutt_mwp_terms;

double cutt_mwp_tpr_original(const cutt_mwp_counts *n);             /* Eq. 12: transactions per request */
double cutt_mwp_tpr_mem(const cutt_mwp_counts *n);                  /* Eq. 13: the same */
double cutt_mwp_mem_lat(const cutt_device *device, double tpr_mem); /* cycles */
double cutt_mwp_mlp_tiled(const cutt_mwp_tiles *t, double r);       /* requests of a warp per iteration */
double cutt_mwp_mlp_tiled_copy(const cutt_mwp_tiles *t, double r);  /* the same */
double cutt_mwp_mlp_packed(int64_t volume, int threads);            /* the same: nReg */
double cutt_mwp_mem(const cutt_device *device, double mem_lat);     /* warps */
double cutt_mwp_bytes_req(double tpr_mem);                          /* bytes */
double cutt_mwp_bw_warp(const cutt_device *device, double bytes_req, double mem_lat); /* bytes per second */
double cutt_mwp_peak(const cutt_device *device, double bw_warp);                      /* warps */
double cutt_mwp(double mwp_mem, double mlp, double mwp_peak, double warps_per_sm);
double cutt_mwp_cycles_mem(double mem_lat, double mlp, double warps, double mwp); /* Eq. 11, of an iteration */
double cutt_mwp_cycles_shmem(const cutt_device *device, double tpr_shmem, double mlp);
double cutt_mwp_cycles(const cutt_device *device, double cycles_mem, double cycles_shmem,
                       double iterations); /* Eq. 10 */

/* All of them, one after the other. The device's clock, bandwidth, SMs and parameters of Table I may not be 0. */
void cutt_mwp_evaluate(const cutt_device *device, const cutt_mwp_kernel *kernel, cutt_mwp_terms *terms);

#endif
