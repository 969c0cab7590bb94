/* cutt_contract.h, and cutt.h with it, as strict C99, included first so that it has to bring what it needs. */
#include "cutt_contract.h"

int test_header_c99(void);

#define TEST_HEADER test_header_c99
#include "header_body.h"
