/* cutt_contract.h and cutt_dist.h, and cutt.h with them, as strict C99, included first so that they have to bring what they
 * need. */
#include "cutt_contract.h"
#include "cutt_dist.h"

int TEST_HEADER(void);

#include "header_body.h"
