/* Devices that plans can be made for without them (device.h).
 *
 * What they have comes from NVIDIA's data sheets and whitepapers (SMs, clocks, memory, L2), and from the tables of
 * compute capabilities in the CUDA C Programming Guide (threads, blocks and shared memory of an SM); names are as the
 * driver says them. The clock is the boost clock but where a line says otherwise. GB of memory are counted as 2^30.
 *
 * The model's parameters are the paper's Table I for Kepler, Maxwell and Pascal. For later devices it has none:
 *   memory_latency   as measured by chasing a pointer through much more than L2 holds, single warp, in cycles:
 *                    gpu-benches by D. Ernst (RRZE Erlangen), gpu-latency: V100 437, A100 572, H100 (PCIe) 658
 *   shared_latency   as measured: V100 19 (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via
 *                    Microbenchmarking", 2018); A100 and H100 29 (Luo et al., "Benchmarking and Dissecting the Nvidia
 *                    Hopper GPU Architecture", 2024). The paper fitted it instead, and got 1 for Maxwell and Pascal
 *   departure_delay, arithmetic   not published: Pascal's are carried on
 * and B200 has H100's. `cutt calibrate` replaces what is carried on by what it measures.
 *
 * Bandwidths of copies: the paper's, by GPU-STREAM (section 3); H200: measured (docs/performance.md). */
#include <stdbool.h>
#include <string.h>

#include "base/number.h"
#include "model/device.h"

#define GB (INT64_C(1) << 30)

#define KEPLER .memory_latency = 358, .departure_delay = 14, .shared_latency = 11, .arithmetic = 50
#define MAXWELL .memory_latency = 385, .departure_delay = 2.5, .shared_latency = 1, .arithmetic = 220
#define PASCAL .memory_latency = 485, .departure_delay = 2.8, .shared_latency = 1, .arithmetic = 260
#define VOLTA .memory_latency = 437, .departure_delay = 2.8, .shared_latency = 19, .arithmetic = 260
#define AMPERE .memory_latency = 572, .departure_delay = 2.8, .shared_latency = 29, .arithmetic = 260
#define HOPPER .memory_latency = 658, .departure_delay = 2.8, .shared_latency = 29, .arithmetic = 260

/* A block opts in to more than 48 KB; the system takes 1 KB of each block's from sm_80 on. Warps, banks and sectors are the
 * same on all of them. */
#define SHARED(sm_kb, block_kb, reserved)                                                                              \
  .sm_shared = (sm_kb)*1024, .block_shared = (block_kb)*1024, .reserved_shared = (reserved), .warp = 32, .banks = 32,  \
  .bank_bytes = 4, .sector_bytes = 32

const cutt_known_device cutt_known_devices[] = {
    /* Data sheet "Tesla K20X GPU Accelerator" (BD-06397): base clock, for it has no other. */
    {"k20x",
     {.base.name = "Tesla K20Xm",
      .major = 3,
      .minor = 5,
      .sms = 14,
      .sm_threads = 2048,
      .sm_blocks = 16,
      SHARED(48, 48, 0),
      .l2_bytes = 1572864,
      .memory_bytes = 6 * GB,
      .clock_hz = 732e6,
      .memory_bandwidth = 250e9,
      .copy_bandwidth = 179e9,
      KEPLER}},
    /* Data sheet "Tesla K40 GPU Accelerator" (BD-06902): base clock, as the paper ran it ("in the non-boost mode"). */
    {"k40",
     {.base.name = "Tesla K40m",
      .major = 3,
      .minor = 5,
      .sms = 15,
      .sm_threads = 2048,
      .sm_blocks = 16,
      SHARED(48, 48, 0),
      .l2_bytes = 1572864,
      .memory_bytes = 12 * GB,
      .clock_hz = 745e6,
      .memory_bandwidth = 288e9,
      .copy_bandwidth = 190e9,
      KEPLER}},
    /* Data sheet "Tesla M40 GPU Accelerator" (2015). */
    {"m40",
     {.base.name = "Tesla M40",
      .major = 5,
      .minor = 2,
      .sms = 24,
      .sm_threads = 2048,
      .sm_blocks = 32,
      SHARED(96, 48, 0),
      .l2_bytes = 3145728,
      .memory_bytes = 12 * GB,
      .clock_hz = 1.112e9,
      .memory_bandwidth = 288e9,
      .copy_bandwidth = 224e9,
      MAXWELL}},
    /* Whitepaper "NVIDIA Tesla P100" (WP-08019), with NVLink. */
    {"p100",
     {.base.name = "Tesla P100-SXM2-16GB",
      .major = 6,
      .minor = 0,
      .sms = 56,
      .sm_threads = 2048,
      .sm_blocks = 32,
      SHARED(64, 48, 0),
      .l2_bytes = 4194304,
      .memory_bytes = 16 * GB,
      .clock_hz = 1.48e9,
      .memory_bandwidth = 732e9,
      .copy_bandwidth = 541e9,
      PASCAL}},
    /* Whitepaper "NVIDIA Tesla V100 GPU Architecture" (WP-08608), SXM2. */
    {"v100",
     {.base.name = "Tesla V100-SXM2-16GB",
      .major = 7,
      .minor = 0,
      .sms = 80,
      .sm_threads = 2048,
      .sm_blocks = 32,
      SHARED(96, 96, 0),
      .l2_bytes = 6291456,
      .memory_bytes = 16 * GB,
      .clock_hz = 1.53e9,
      .memory_bandwidth = 900e9,
      VOLTA}},
    /* Data sheet "NVIDIA A100 Tensor Core GPU", SXM4 of 80 GB. */
    {"a100",
     {.base.name = "NVIDIA A100-SXM4-80GB",
      .major = 8,
      .minor = 0,
      .sms = 108,
      .sm_threads = 2048,
      .sm_blocks = 32,
      SHARED(164, 163, 1024),
      .l2_bytes = 41943040,
      .memory_bytes = 80 * GB,
      .clock_hz = 1.41e9,
      .memory_bandwidth = 2.039e12,
      AMPERE}},
    /* Data sheet "NVIDIA H100 Tensor Core GPU", SXM5. */
    {"h100",
     {.base.name = "NVIDIA H100 80GB HBM3",
      .major = 9,
      .minor = 0,
      .sms = 132,
      .sm_threads = 2048,
      .sm_blocks = 32,
      SHARED(228, 227, 1024),
      .l2_bytes = 52428800,
      .memory_bytes = 80 * GB,
      .clock_hz = 1.98e9,
      .memory_bandwidth = 3.35e12,
      HOPPER}},
    /* Data sheet "NVIDIA H200 Tensor Core GPU", SXM; L2 and bytes of memory as its driver says. Bandwidth of a copy,
     * launch and latencies as `cutt calibrate` measured them on one (docs/performance.md); cycles_ac is Pascal's. */
    {"h200",
     {.base.name = "NVIDIA H200",
      .major = 9,
      .minor = 0,
      .sms = 132,
      .sm_threads = 2048,
      .sm_blocks = 32,
      SHARED(228, 227, 1024),
      .l2_bytes = 62914560,
      .memory_bytes = INT64_C(150754820096),
      .clock_hz = 1.98e9,
      .memory_bandwidth = 4.8e12,
      .copy_bandwidth = 4.25e12,
      .launch_seconds = 5e-6,
      .memory_latency = 753,
      .departure_delay = 14.5,
      .shared_latency = 23.1,
      .arithmetic = 260}},
    /* Data sheet "NVIDIA DGX B200" (1.44 TB and 64 TB/s in eight; newer drivers say 7680 bits at 3996 MHz, 7.67 TB/s);
     * "NVIDIA Blackwell Tuning Guide" for shared memory; SMs, L2 and clock as its driver says. */
    {"b200",
     {.base.name = "NVIDIA B200",
      .major = 10,
      .minor = 0,
      .sms = 148,
      .sm_threads = 2048,
      .sm_blocks = 32,
      SHARED(228, 227, 1024),
      .l2_bytes = 132644864,
      .memory_bytes = 180 * GB,
      .clock_hz = 1.965e9,
      .memory_bandwidth = 8e12,
      HOPPER}},
    {NULL, {.major = 0}}};

/* ASCII alone, whatever the locale: keys have no other letters. */
static char lower(char c) {
  if (c >= 'A' && c <= 'Z') return (char)(c - 'A' + 'a');
  return c;
}

/* Does text begin with this key, in whatever case? */
static bool begins(const char *text, const char *key) {
  for (; *key; ++key, ++text) {
    if (lower(*text) != *key) return false;
  }
  return true;
}

static bool contains(const char *text, const char *key) {
  for (; *text; ++text) {
    if (begins(text, key)) return true;
  }
  return false;
}

const cutt_device *cutt_device_find(const char *key) {
  for (const cutt_known_device *known = cutt_known_devices; known->key; ++known) {
    if (begins(key, known->key) && strlen(key) == strlen(known->key)) return &known->device;
  }
  return NULL;
}

const cutt_device *cutt_device_like(const char *name, int major) {
  for (const cutt_known_device *known = cutt_known_devices; known->key; ++known) {
    if (strstr(name, known->device.base.name)) return &known->device;
  }
  /* "NVIDIA H100 PCIe", "NVIDIA GH200 480GB". Of the same generation, for a name may have a key by chance. */
  for (const cutt_known_device *known = cutt_known_devices; known->key; ++known) {
    if (known->device.major == major && contains(name, known->key)) return &known->device;
  }
  const cutt_device *nearest = NULL;
  int64_t least = INT64_MAX;
  for (const cutt_known_device *known = cutt_known_devices; known->key; ++known) {
    const int64_t ahead = (int64_t)known->device.major - major, apart = magnitude(ahead);
    if (apart >= least) continue;
    least = apart;
    nearest = &known->device;
  }
  return nearest;
}
