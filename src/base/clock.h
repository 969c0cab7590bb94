#ifndef CUTT_BASE_CLOCK_H
#define CUTT_BASE_CLOCK_H

/* Seconds of a clock that only goes forward. */
double cutt_clock(void);

#endif
