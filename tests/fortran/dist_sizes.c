/* The sizes of the structures of cutt_dist.h, for test_dist.f90. */
#include "cutt_dist.h"

void test_dist_sizes(size_t *sizes);

void test_dist_sizes(size_t *sizes) {
  sizes[0] = sizeof(cuttDistLayout_t);
  sizes[1] = sizeof(cuttDistRequest_t);
  sizes[2] = sizeof(cuttDistTransport_t);
  sizes[3] = sizeof(cuttDistProblem_t);
  sizes[4] = sizeof(cuttDistOptions_t);
  sizes[5] = sizeof(cuttDistPlanInfo_t);
  sizes[6] = sizeof(cuttDistContraction_t);
  sizes[7] = sizeof(cuttDistContractionOptions_t);
  sizes[8] = sizeof(cuttDistContractionInfo_t);
}
