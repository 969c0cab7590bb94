/* Variables of the environment whose values are words. */
#ifndef CUTT_BASE_ENVIRONMENT_H
#define CUTT_BASE_ENVIRONMENT_H

#include "cutt.h"

/* Is each that is set one of its words? Else CUTT_INVALID_PARAMETER: a word that is passed over would do the opposite of what was
 * meant, and tell nobody. */
cuttResult cutt_environment_check(void);

#endif
