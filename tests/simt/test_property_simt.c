/* The property tests of the kernels, under the emulator. Usage: test_property_simt [DEVICE]: plans are made for h200 (the
 * default), a100 or t4, which has no copies that don't wait and less shared memory; or for an h200 whose L2 holds nothing, so that tensors
 * of any size get the kernels for large ones. */
#include <stdio.h>
#include <string.h>

#include "simt/engine.h"
#include "support/property.h"

int main(int argc, char **argv) {
  static cutt_device large;
  large = simt_h200;
  large.l2_bytes = 1;
  const struct {
    const char *name, *program;
    const cutt_device *device;
  } devices[] = {{"h200", "test_property_simt h200", &simt_h200},
                 {"large", "test_property_simt large", &large},
                 {"a100", "test_property_simt a100", &simt_a100},
                 {"t4", "test_property_simt t4", &simt_t4}};
  for (size_t i = 0; i < sizeof devices / sizeof *devices; ++i) {
    if (!strcmp(argc > 1 ? argv[1] : "h200", devices[i].name))
      return test_properties(simt_engine(devices[i].device, devices[i].program), simt_cleanup);
  }
  fprintf(stderr, "usage: test_property_simt [h200|large|a100|t4]\n");
  return 2;
}
