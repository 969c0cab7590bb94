/* The clock that everything is timed by. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#endif
#include "base/clock.h"

#include <time.h>

double cutt_clock(void) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &now); /* can't fail with this clock on the systems that have it */
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
