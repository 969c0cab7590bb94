// cutt.h as C++, included first so that it has to bring what it needs.
#include "cutt_contract.h"

extern "C" int TEST_HEADER(void);

#include "header_body.h"
