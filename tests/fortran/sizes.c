/* The sizes of the structures of both headers, for test_fortran.f90. */
#include "cutt_contract.h"

void test_sizes(size_t *sizes);

void test_sizes(size_t *sizes) {
  sizes[0] = sizeof(cuttProblem_t);
  sizes[1] = sizeof(cuttOptions_t);
  sizes[2] = sizeof(cuttPlanInfo_t);
  sizes[3] = sizeof(cuttCalibration_t);
  sizes[4] = sizeof(cuttContraction_t);
  sizes[5] = sizeof(cuttContractionOptions_t);
  sizes[6] = sizeof(cuttContractionInfo_t);
  sizes[7] = sizeof(cuttContractionTimes_t);
  sizes[8] = sizeof(cuttElementwise_t);
  sizes[9] = sizeof(cuttElementwiseOptions_t);
}
