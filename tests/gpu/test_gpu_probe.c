/* What is measured of the GPU at hand is what GPUs are like, and agrees with what the library's copies take. */
#include <stdio.h>

#include "gpu/driver.h"
#include "runtime/cuda/probe.h"

static void between(const char *what, double value, double low, double high) {
  printf("%-18s %.4g\n", what, value);
  if (!(value >= low && value <= high)) fail_msg("%s is %g; %g to %g would be sane", what, value, low, high);
}

static bool watch(void *data, double done) {
  double *last = data;
  assert_true(done >= *last && done <= 1);
  *last = done;
  return true;
}

/* Bytes per second, read and written, by cuttCopyTime: the fastest of some copies of 256 MiB. */
static double copy_bandwidth(void) {
  enum { COPIES = 9 };
  const size_t bytes = (size_t)256 << 20;
  const gpu_address from = gpu_allocate(bytes), to = gpu_allocate(bytes);
  double seconds[COPIES], least = 1e30;
  for (int round = 0; round < 2; ++round) { /* the first warms up */
    assert_success(cuttCopyTime(CUTT_BACKEND_CUDA, gpu_pointer(to), gpu_pointer(from), bytes, NULL, COPIES, seconds));
  }
  for (int i = 0; i < COPIES; ++i) least = seconds[i] < least ? seconds[i] : least;
  gpu_release(from);
  gpu_release(to);
  return 2 * (double)bytes / least;
}

static void numbers_are_sane(void **unused) {
  (void)unused;
  const double gb = 1e9;
  cutt_cuda_probe probe;
  double last = 0;
  assert_success(cutt_cuda_probe_measure(&probe, watch, &last));
  assert_true(last == 1);
  for (int i = 0; i < CUTT_CUDA_PROBE_LANES; ++i) printf("chase, %2d lanes    %.1f\n", i + 1, probe.chase[i]);
  between("memory_latency", probe.memory_latency, 100, 3000);
  between("departure_delay", probe.departure_delay, 0, 200);
  between("fit_error", probe.fit_error, 0, 0.25);
  between("shared_latency", probe.shared_latency, 5, 200);
  between("launch_seconds", probe.launch_seconds, 1e-7, 1e-3);
  between("copy_bandwidth", probe.copy_bandwidth, 10 * gb, 1e5 * gb);
  between("read_bandwidth", probe.read_bandwidth, 10 * gb, 1e5 * gb);
  between("write_bandwidth", probe.write_bandwidth, 10 * gb, 1e5 * gb);
  const double copy = copy_bandwidth();
  between("by cuttCopyTime", copy, probe.copy_bandwidth / 2, probe.copy_bandwidth * 2);
  for (int i = 0; i < CUTT_CUDA_PROBE_LANES; ++i) assert_true(probe.chase[i] > probe.shared_latency);
}

static size_t free_bytes(void) {
  size_t unused_bytes = 0, all = 0;
  gpu_check(gpu.synchronize());
  gpu_check(gpu.memory_info(&unused_bytes, &all));
  return unused_bytes;
}

/* The second time is like the first, and leaves the device as it was. */
static void again(void **unused) {
  (void)unused;
  cutt_cuda_probe first, second;
  assert_success(cutt_cuda_probe_measure(&first, NULL, NULL));
  const size_t before = free_bytes();
  assert_success(cutt_cuda_probe_measure(&second, NULL, NULL));
  const size_t after = free_bytes(), slack = (size_t)64 << 20; /* other processes may take some, but not a buffer */
  assert_true(after + slack >= before);
  between("latency, again", second.memory_latency, first.memory_latency * 0.8, first.memory_latency * 1.25);
  between("shared, again", second.shared_latency, first.shared_latency * 0.9, first.shared_latency * 1.1);
  between("copy, again", second.copy_bandwidth, first.copy_bandwidth * 0.8, first.copy_bandwidth * 1.25);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_sane), cmocka_unit_test(again)};
  if (!gpu_open()) return 77;
  return cmocka_run_group_tests_name("gpu probe", tests, NULL, NULL);
}
