/* A GPU as numbers: all that planning needs, so that a plan for any device can be made on any machine. */
#ifndef CUTT_MODEL_DEVICE_H
#define CUTT_MODEL_DEVICE_H

#include "model/target.h"

typedef struct cutt_device {
  cutt_target base;
  int major, minor;          /* compute capability */
  int sms;                   /* streaming multiprocessors */
  int sm_threads, sm_blocks; /* most resident on an SM */
  int sm_shared;             /* bytes of shared memory of an SM */
  int block_shared;          /* most that a block may have, opted in to */
  int reserved_shared;       /* what the system takes of each block's (1 KB from sm_80 on) */
  int warp;                  /* lanes of a warp; 32 (in these four, 0 stands for what NVIDIA has) */
  int banks, bank_bytes;     /* of shared memory: 32, of 4 bytes */
  int sector_bytes;          /* the least that memory moves: 32 */
  int64_t l2_bytes, memory_bytes;
  double clock_hz;         /* of the SMs */
  double memory_bandwidth; /* bytes per second, from clock and width of the bus; 0: unknown */
  /* As measured; 0: unknown. */
  double copy_bandwidth;                  /* of a plain copy: read and written bytes per second */
  double read_bandwidth, write_bandwidth; /* bytes per second */
  double launch_seconds;                  /* of an empty kernel, from start to end */
  /* The paper's parameters (Table I), in clock cycles; 0: unknown. */
  double memory_latency;  /* mem_baselat: of a load from global memory */
  double departure_delay; /* Delta: between the memory transactions of a warp */
  double shared_latency;  /* shmem_lat: of an access to shared memory */
  double arithmetic;      /* cycles_ac: of arithmetic and control in an iteration */
} cutt_device;

/* The devices that the library describes by itself, for planning without them: "k20x", "p100", "h200" ... */
typedef struct cutt_known_device {
  const char *key;
  cutt_device device;
} cutt_known_device;
extern const cutt_known_device cutt_known_devices[]; /* ended by a NULL key */
#define CUTT_KNOWN_DEVICE_KEYS "k20x, k40, m40, p100, v100, a100, h100, h200, b200"

/* By key, whatever the case of its letters. NULL: none of that name. */
const cutt_device *cutt_device_find(const char *key);

/* The known device that has this full name ("NVIDIA H200") or, if none has, is of this generation; never NULL. It lends
 * what a driver does not tell: latencies. */
const cutt_device *cutt_device_like(const char *name, int major);

#endif
