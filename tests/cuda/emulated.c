/* Launches that the emulator runs (emulated.h), also as the device of a test (contract/device.h). */
#include "cuda/emulated.h"

#include <stdint.h>

#include "contract/device.h"
#include "cuda/fixture.h"
#include "simt/engine.h"

static char fault[768];

/* What lies around the tensors belongs to the process's own memory, which is not looked at here. */
static simt_span around(const uintptr_t *address, int count) {
  const uintptr_t room = (uintptr_t)256 << 20; /* more than the largest of the tests' tensors */
  uintptr_t low = UINTPTR_MAX, high = 0;
  for (int i = 0; i < count; ++i) {
    if (address[i] && address[i] < low) low = address[i];
    if (address[i] > high) high = address[i];
  }
  return (simt_span){(const unsigned char *)(low - room), high - low + 2 * room};
}

static void run_kernel(const fake_launch *launch) {
  simt_launch l = simt_launch_named(launch->kernel, launch->args, launch->pairs);
  const int64_t second = l.flat ? l.flat->second : l.args ? l.args->second : 0; /* from the output */
  const uintptr_t address[] = {(uintptr_t)launch->in, (uintptr_t)launch->out, (uintptr_t)launch->right,
                               (uintptr_t)launch->third, (uintptr_t)launch->out + (uintptr_t)second};
  int64_t written = 0;
  l.in = (const unsigned char *)address[0];
  l.out = (unsigned char *)address[1];
  l.right = (const unsigned char *)address[2];
  l.third = (const unsigned char *)address[3];
  l.blocks = launch->blocks;
  l.threads = launch->threads;
  l.shared_bytes = launch->shared_bytes;
  l.async = true;
  l.read = l.write = around(address, 5);
  l.reads_out = true;
  if (!fault[0]) simt_run(&l, &written, NULL, fault, sizeof fault);
}

void emulated_start(void) {
  fault[0] = 0;
  fake->run = run_kernel;
}

const char *emulated_fault(void) { return fault; }

/* ------------------------------------------------------------------------------------------------ as a test's device */

int test_device_open(int argc, char **argv) {
  (void)argc, (void)argv;
  if (fixture_open(NULL)) return 1;
  fixture_start(NULL);
  emulated_start();
  test_device_use(CUTT_BACKEND_CUDA);
  return -1;
}

bool test_device_is_slow(void) { return true; }
const char *test_device_fault(void) { return fault; }
