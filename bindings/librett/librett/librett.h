/* For programs that include <librett/librett.h>. */
#include "../librett.h"
