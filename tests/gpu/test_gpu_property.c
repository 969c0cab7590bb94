/* The property tests in a GPU's memory: every candidate of very many problems, and their chosen plans. */

#include "gpu/driver.h"
#include "gpu/engine_gpu.h"
#include "support/property.h"

int main(void) {
  if (!gpu_open()) return 77;
  return test_properties(&test_engine_gpu, test_engine_gpu_cleanup);
}
