/* cutt_contract.h, and cutt.h with it, as strict C99, included first so that it has to bring what it needs. */
#include "cutt_contract.h"

int TEST_HEADER(void);

#include "header_body.h"
