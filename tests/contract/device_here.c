/* The machine's own devices (device.h). */
#include <stdio.h>
#include <string.h>

#include "device.h"

int test_device_open(int argc, char **argv) {
  if (argc < 2) return -1;
  if (strcmp(argv[1], "cuda") != 0) {
    fprintf(stderr, "usage: %s [cuda]\n", argv[0]);
    return 2;
  }
  void *memory = NULL;
  if (cuttMemoryAllocate(CUTT_BACKEND_CUDA, 256, &memory)) {
    printf("not run: %s\n", cuttLastError());
    return 77;
  }
  cuttMemoryFree(CUTT_BACKEND_CUDA, memory);
  test_device_use(CUTT_BACKEND_CUDA);
  return -1;
}

bool test_device_is_slow(void) { return false; }
const char *test_device_fault(void) { return ""; }
