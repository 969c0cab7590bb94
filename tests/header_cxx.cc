// cutt.h as C++, included first so that it has to bring what it needs.
#include "cutt_contract.h"
#include "cutt_dist.h"

extern "C" int TEST_HEADER(void);

#include "header_body.h"
