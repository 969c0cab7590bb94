/* The callers of callers.h as C, with CUDA's headers or without (CALLER_CUDA). */
#include "headers.h"

/* The callers come after the headers. */
#include "callers.h"
