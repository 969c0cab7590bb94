/* For programs that include <hptt/hptt.h>. */
#include "../hptt.h"
