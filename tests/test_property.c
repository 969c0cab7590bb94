/* The property tests of the CPU backend. One run uses one instruction set: the build registers the program once for each,
 * with CUTT_CPU_ISA set. */
#include "support/check.h"
#include "support/property.h"

int main(void) { return test_isa_missing() ? 77 : test_properties(&test_engine_cpu, NULL); }
