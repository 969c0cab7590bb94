/* The paper's performance model, term by term against values worked out by hand, and the table of devices. */
#include <stdio.h>
#include <string.h>

#include "model/device.h"
#include "model/mwp.h"
#include "support/check.h"

static const cutt_device *known(const char *key) {
  const cutt_device *device = cutt_device_find(key);
  assert_non_null(device);
  return device;
}

/* ----------------------------------------------------------------------------------------------- terms of the model */

static void transactions_per_request(void **unused) {
  (void)unused;
  /* Lines stored in full: (64 + 32) / (32 + 32) = 1.5, by both equations. */
  const cutt_mwp_counts full = {.ld_req = 32, .st_req = 32, .ld_tran = 64, .st_tran = 32, .cl_full = 128};
  assert_near(1.5, cutt_mwp_tpr_original(&full));
  assert_near(1.5, cutt_mwp_tpr_mem(&full));
  /* A quarter of them in part: (64 + 32 * 1.25) / 64 = 104 / 64. */
  cutt_mwp_counts partial = full;
  partial.cl_full = 96;
  partial.cl_part = 32;
  assert_near(1.5, cutt_mwp_tpr_original(&partial));
  assert_near(1.625, cutt_mwp_tpr_mem(&partial));
  /* All of them: (64 + 32 * 2) / 64. */
  partial.cl_full = 0;
  assert_near(2, cutt_mwp_tpr_mem(&partial));
  /* No stores, no lines: 64 / 32. */
  const cutt_mwp_counts loads = {.ld_req = 32, .ld_tran = 64};
  assert_near(2, cutt_mwp_tpr_mem(&loads));
}

static void memory_latency(void **unused) {
  (void)unused;
  assert_near(366.75, cutt_mwp_mem_lat(known("k20x"), 1.625)); /* 358 + 0.625 * 14 */
  assert_near(390, cutt_mwp_mem_lat(known("m40"), 3));         /* 385 + 2 * 2.5 */
  assert_near(485, cutt_mwp_mem_lat(known("p100"), 1));        /* 485 + 0 * 2.8 */
}

static void parallelism_within_a_warp(void **unused) {
  (void)unused;
  const cutt_mwp_tiles whole = {.full = 12};
  for (int r = 1; r <= 32; r *= 2) { /* multiples of L: L / R, for both */
    assert_near(32.0 / r, cutt_mwp_mlp_tiled(&whole, r));
    assert_near(32.0 / r, cutt_mwp_mlp_tiled_copy(&whole, r));
  }
  const cutt_mwp_tiles cut = {.full = 6, .horz = 3, .vert = 2, .corn = 1, .h = 5, .v = 17};
  /* (32/8 (2 * 6 + 3) + ceil(17/8) (2 + 1) + ceil(5/8) (3 + 1)) / (2 * 12) = (60 + 9 + 4) / 24 */
  assert_near(73.0 / 24, cutt_mwp_mlp_tiled(&cut, 8));
  /* (32/8 (6 + 3) + ceil(17/8) (2 + 1)) / 12 = (36 + 9) / 12 */
  assert_near(3.75, cutt_mwp_mlp_tiled_copy(&cut, 8));
  /* The formula is not the same in both directions: (4 * 1 + 1) / 2 for a tile of half the width, 2 / 2 for one of half
   * the height, whose writes it leaves out. */
  const cutt_mwp_tiles narrow = {.horz = 1, .h = 8}, low = {.vert = 1, .v = 16};
  assert_near(2.5, cutt_mwp_mlp_tiled(&narrow, 8));
  assert_near(1, cutt_mwp_mlp_tiled(&low, 8));
  /* nReg = ceil(vol / nThread) */
  assert_near(4, cutt_mwp_mlp_packed(1000, 256));
  assert_near(4, cutt_mwp_mlp_packed(1024, 256));
  assert_near(5, cutt_mwp_mlp_packed(1025, 256));
  assert_near(1, cutt_mwp_mlp_packed(1, 256));
}

static void parallel_warps(void **unused) {
  (void)unused;
  assert_near(128, cutt_mwp_bytes_req(1));     /* (1 * 0.8 + 0.2) 128 */
  assert_near(192, cutt_mwp_bytes_req(1.625)); /* (1.3 + 0.2) 128 */
  assert_near(332.8, cutt_mwp_bytes_req(3));   /* (2.4 + 0.2) 128 */

  /* K20X: 732 MHz * 192 B / 366.75 = 383.21 MB/s; 250 GB/s over that of 14 SMs: 46.598 warps. */
  const cutt_device *k20x = known("k20x"), *m40 = known("m40"), *p100 = known("p100");
  assert_near(140544e6 / 366.75, cutt_mwp_bw_warp(k20x, 192, 366.75));
  assert_near(250e9 * 366.75 / (140544e6 * 14), cutt_mwp_peak(k20x, 140544e6 / 366.75));
  assert_near(366.75 / 14, cutt_mwp_mem(k20x, 366.75)); /* 26.196 */
  /* M40: 1112 MHz * 332.8 B / 390 = 948.91 MB/s; 288 GB/s over that of 24 SMs: 12.646 warps. */
  assert_near(370073.6e6 / 390, cutt_mwp_bw_warp(m40, 332.8, 390));
  assert_near(288e9 * 390 / (370073.6e6 * 24), cutt_mwp_peak(m40, 370073.6e6 / 390));
  assert_near(156, cutt_mwp_mem(m40, 390));
  /* P100: 1480 MHz * 128 B / 485 = 390.60 MB/s; 732 GB/s over that of 56 SMs: 33.465 warps. */
  assert_near(189440e6 / 485, cutt_mwp_bw_warp(p100, 128, 485));
  assert_near(732e9 * 485 / (189440e6 * 56), cutt_mwp_peak(p100, 189440e6 / 485));
  assert_near(485 / 2.8, cutt_mwp_mem(p100, 485)); /* 173.21 */

  /* Each of the three bounds. */
  assert_near(52, cutt_mwp(26, 2, 60, 64));
  assert_near(60, cutt_mwp(26, 4, 60, 64));
  assert_near(16, cutt_mwp(26, 4, 60, 16));
}

static void cycles_of_terms(void **unused) {
  (void)unused;
  assert_near(970, cutt_mwp_cycles_mem(485, 4, 8, 32));           /* 2 * 485 * 4 * 8 / 32 */
  assert_near(110, cutt_mwp_cycles_shmem(known("k20x"), 2.5, 2)); /* 2 * 2.5 * 11 * 2 */
  assert_near(10, cutt_mwp_cycles_shmem(known("m40"), 2.5, 2));   /* 2 * 2.5 * 1 * 2 */
  assert_near(0, cutt_mwp_cycles_shmem(known("p100"), 0, 4));
  assert_near(1700, cutt_mwp_cycles(known("k20x"), 100, 20, 10)); /* (100 + 20 + 50) 10 */
  assert_near(3400, cutt_mwp_cycles(known("m40"), 100, 20, 10));  /* (100 + 20 + 220) 10 */
  assert_near(3800, cutt_mwp_cycles(known("p100"), 100, 20, 10)); /* (100 + 20 + 260) 10 */
}

static void cycles_of_kernels(void **unused) {
  (void)unused;
  cutt_mwp_terms t;
  /* K20X, bound by its bandwidth: MWP = min(26.2 * 4, 46.598, 64). The latency cancels in 2 * 366.75 * 4 * 8 / 46.598:
   * 64 requests of 192 B, at 250 GB/s / 14 / 732 MHz for an SM in a cycle, are 12288 * 0.040992 = 503.709696 cycles. */
  const cutt_mwp_counts counts = {
      .ld_req = 32, .st_req = 32, .ld_tran = 64, .st_tran = 32, .cl_full = 96, .cl_part = 32};
  cutt_mwp_kernel kernel = {
      .counts = counts, .mlp = 4, .tpr_shmem = 1, .warps = 8, .warps_per_sm = 64, .iterations = 10};
  cutt_mwp_evaluate(known("k20x"), &kernel, &t);
  assert_near(1.625, t.tpr_mem);
  assert_near(366.75, t.mem_lat);
  assert_near(192, t.bytes_req);
  assert_near(t.mwp_peak, t.mwp);
  assert_near(503.709696, t.cycles_mem);
  assert_near(88, t.cycles_shmem);   /* 2 * 1 * 11 * 4 */
  assert_near(6417.09696, t.cycles); /* (503.709696 + 88 + 50) 10 */
  /* With one request of a warp at a time, by the departure delay: 2 * 366.75 * 1 * 8 / (366.75 / 14) = 224. */
  kernel.mlp = 1;
  cutt_mwp_evaluate(known("k20x"), &kernel, &t);
  assert_near(366.75 / 14, t.mwp);
  assert_near(224, t.cycles_mem);
  assert_near(2960, t.cycles); /* (224 + 22 + 50) 10 */
  /* With few warps, by those: 2 * 366.75 * 1 * 8 / 8. */
  kernel.warps_per_sm = 8;
  cutt_mwp_evaluate(known("k20x"), &kernel, &t);
  assert_near(8, t.mwp);
  assert_near(733.5, t.cycles_mem);

  /* M40, bound by its bandwidth: 2 * 2 * 16 requests of 332.8 B at 288 GB/s / 24 / 1112 MHz:
   * 21299.2 * 1112 / 12000 = 1973.72586666... */
  const cutt_mwp_counts scattered = {.ld_req = 10, .st_req = 10, .ld_tran = 30, .st_tran = 15, .cl_part = 40};
  kernel = (cutt_mwp_kernel){
      .counts = scattered, .mlp = 2, .tpr_shmem = 2.5, .warps = 16, .warps_per_sm = 48, .iterations = 3};
  cutt_mwp_evaluate(known("m40"), &kernel, &t);
  assert_near(3, t.tpr_mem); /* (30 + 15 * 2) / 20 */
  assert_near(t.mwp_peak, t.mwp);
  assert_near(21299.2 * 1112 / 12000, t.cycles_mem);
  assert_near((21299.2 * 1112 / 12000 + 10 + 220) * 3, t.cycles);

  /* P100, bound by the warps that it holds: 33.465 would be the peak. 2 * 485 * 4 * 8 / 32 = 970, and 8, and 260. */
  const cutt_mwp_counts ideal = {.ld_req = 32, .st_req = 32, .ld_tran = 32, .st_tran = 32, .cl_full = 128};
  kernel =
      (cutt_mwp_kernel){.counts = ideal, .mlp = 4, .tpr_shmem = 1, .warps = 8, .warps_per_sm = 32, .iterations = 100};
  cutt_mwp_evaluate(known("p100"), &kernel, &t);
  assert_near(32, t.mwp);
  assert_near(123800, t.cycles); /* (970 + 8 + 260) 100 */
}

/* ---------------------------------------------------------------------------------------------------------- devices */

static void devices_are_found(void **unused) {
  (void)unused;
  static const char *const keys[] = {"k20x", "k40", "m40", "p100", "v100", "a100", "h100", "h200", "b200"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    assert_string_equal(keys[i], cutt_known_devices[i].key);
    assert_ptr_equal(&cutt_known_devices[i].device, known(keys[i]));
  }
  assert_null(cutt_known_devices[sizeof keys / sizeof keys[0]].key);
  /* The list for people has them all. */
  char list[256] = "";
  for (const cutt_known_device *k = cutt_known_devices; k->key; k++) {
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", list[0] ? ", " : "", k->key);
  }
  assert_string_equal(CUTT_KNOWN_DEVICE_KEYS, list);
  assert_ptr_equal(known("k20x"), known("K20X"));
  assert_ptr_equal(known("h200"), known("H200"));
  static const char *const unknown[] = {"", "k", "k20", "k20xm", "h2000", "NVIDIA H200", "t4", " h200"};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) assert_null(cutt_device_find(unknown[i]));
}

static void devices_are_alike(void **unused) {
  (void)unused;
  static const struct {
    const char *name;
    int major;
    const char *key;
  } rows[] = {
      {"NVIDIA H200", 9, "h200"},
      {"NVIDIA H200 NVL", 9, "h200"},
      {"NVIDIA GH200 480GB", 9, "h200"},
      {"NVIDIA H100 PCIe", 9, "h100"},
      {"NVIDIA A100-PCIE-40GB", 8, "a100"},
      {"NVIDIA GeForce RTX 4090", 8, "a100"},
      {"Tesla T4", 7, "v100"},
      {"Tesla P100-PCIE-16GB", 6, "p100"},
      {"Tesla M40 24GB", 5, "m40"},
      {"Tesla K40c", 3, "k40"},
      {"Tesla K20m", 3, "k20x"},
      {"NVIDIA GB200", 10, "b200"},
      {"NVIDIA GeForce RTX 5090", 12, "b200"},
      {"H100 of another kind", 12, "b200"}, /* its generation counts for more than a word in its name */
      {"", 0, "k20x"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const cutt_device *like = cutt_device_like(rows[i].name, rows[i].major);
    if (like != known(rows[i].key)) fail_msg("%s is taken for %s", rows[i].name, like ? like->base.name : "nothing");
  }
  for (const cutt_known_device *k = cutt_known_devices; k->key; k++) {
    assert_ptr_equal(&k->device, cutt_device_like(k->device.base.name, k->device.major));
  }
}

static void facts_are_sane(void **unused) {
  (void)unused;
  for (const cutt_known_device *k = cutt_known_devices; k->key; k++) {
    const cutt_device *d = &k->device;
    assert_true(strlen(d->base.name) > 0);
    assert_null(d->base.value);
    assert_null(d->base.source);
    assert_in_range(d->major, 3, 10);
    assert_in_range(d->minor, 0, 9);
    assert_in_range(d->sms, 13, 200);
    assert_int_equal(d->sm_threads, 2048);
    assert_int_equal(d->sm_blocks, d->major < 5 ? 16 : 32);
    assert_int_equal(d->reserved_shared, d->major < 8 ? 0 : 1024);
    assert_true(d->block_shared >= 48 * 1024 && d->block_shared + d->reserved_shared <= d->sm_shared);
    assert_true(d->l2_bytes >= INT64_C(1) << 20 && d->memory_bytes >= INT64_C(6) << 30);
    assert_true(d->clock_hz > 0.7e9 && d->clock_hz < 2.1e9);
    assert_true(d->memory_bandwidth >= 250e9 && d->memory_bandwidth <= 8e12);
    assert_true(d->copy_bandwidth == 0 ||
                (d->copy_bandwidth < d->memory_bandwidth && d->copy_bandwidth > 0.6 * d->memory_bandwidth));
    assert_true(d->launch_seconds >= 0 && d->launch_seconds < 1e-5);
    assert_true(d->memory_latency > 300 && d->memory_latency < 800);
    assert_true(d->departure_delay > 0 && d->shared_latency > 0 && d->arithmetic > 0);
    if (k[1].key) assert_true(k[1].device.memory_bandwidth >= d->memory_bandwidth); /* in the order of their years */
  }
  /* Table I. */
  static const char *const keys[] = {"k20x", "k40", "m40", "p100"};
  static const double table[][4] = {{14, 358, 11, 50}, {14, 358, 11, 50}, {2.5, 385, 1, 220}, {2.8, 485, 1, 260}};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    const cutt_device *d = known(keys[i]);
    assert_near(table[i][0], d->departure_delay);
    assert_near(table[i][1], d->memory_latency);
    assert_near(table[i][2], d->shared_latency);
    assert_near(table[i][3], d->arithmetic);
  }
  /* As their drivers describe them, and as the emulator has them (simt/engine.c). */
  const cutt_device *h200 = known("h200"), *a100 = known("a100");
  assert_string_equal(h200->base.name, "NVIDIA H200");
  assert_string_equal(a100->base.name, "NVIDIA A100-SXM4-80GB");
  assert_true(h200->major == 9 && h200->minor == 0 && a100->major == 8 && a100->minor == 0);
  assert_true(h200->sms == 132 && a100->sms == 108);
  assert_true(h200->sm_shared == 233472 && a100->sm_shared == 167936);
  assert_true(h200->block_shared == 232448 && a100->block_shared == 166912);
  assert_true(h200->l2_bytes == 62914560 && a100->l2_bytes == 41943040);
  assert_true(h200->memory_bytes == INT64_C(150754820096) && a100->memory_bytes == INT64_C(85899345920));
  assert_near(1.98e9, h200->clock_hz);
  assert_near(1.41e9, a100->clock_hz);
  assert_near(4.8e12, h200->memory_bandwidth);
  assert_near(2.039e12, a100->memory_bandwidth);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(transactions_per_request),
      cmocka_unit_test(memory_latency),
      cmocka_unit_test(parallelism_within_a_warp),
      cmocka_unit_test(parallel_warps),
      cmocka_unit_test(cycles_of_terms),
      cmocka_unit_test(cycles_of_kernels),
      cmocka_unit_test(devices_are_found),
      cmocka_unit_test(devices_are_alike),
      cmocka_unit_test(facts_are_sane),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
