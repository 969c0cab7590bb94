// cutt.h as C++, included first so that it has to bring what it needs.
#include "cutt_contract.h"

extern "C" int test_header_cxx(void);

#define TEST_HEADER test_header_cxx
#include "header_body.h"
