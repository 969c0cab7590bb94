/* Tensors in a backend's memory (device.h). */
#include "device.h"

#include <stdio.h>

#include "support/check.h"

enum { PLACE = 256, SLOTS = 4 };

static cuttBackend_t backend = CUTT_BACKEND_CPU;
static void *memory[SLOTS];
static unsigned char *there[SLOTS]; /* the zone */

cuttBackend_t test_device(void) { return backend; }
void test_device_use(cuttBackend_t which) { backend = which; }

int test_device_only_gpu(int opened) {
  if (opened >= 0 || backend != CUTT_BACKEND_CPU) return opened;
  printf("not run: it is of a GPU\n");
  return 77;
}

void *test_device_take(int slot, const test_buffer *buffer, const unsigned char *zero, size_t element) {
  const size_t offset = (size_t)(zero - buffer->zone);
  if (backend == CUTT_BACKEND_CPU) return buffer->zone + offset;
  assert_success(cuttMemoryAllocate(backend, buffer->zone_bytes + 2 * PLACE, &memory[slot]));
  unsigned char *zone = (unsigned char *)memory[slot] + (uintptr_t)buffer->zone % PLACE;
  zone -= (uintptr_t)zone % element;
  zone += (element - offset % element) % element;
  there[slot] = zone;
  assert_success(cuttMemoryCopy(backend, zone, buffer->zone, buffer->zone_bytes));
  return zone + offset;
}

void test_device_give_back(int slot, const test_buffer *buffer) {
  if (backend == CUTT_BACKEND_CPU) return;
  assert_success(cuttMemoryCopy(backend, buffer->zone, there[slot], buffer->zone_bytes));
  assert_success(cuttMemoryFree(backend, memory[slot]));
  memory[slot] = NULL;
}
