/* Fibers: functions with a stack of their own, between which a program goes back and forth as it likes. */
#ifndef CUTT_TESTS_SIMT_FIBER_H
#define CUTT_TESTS_SIMT_FIBER_H

#include <stdbool.h>

typedef struct simt_fiber simt_fiber;

/* A fiber that will run function(argument), which must never return. NULL when memory has run out. */
simt_fiber *simt_fiber_create(void (*function)(void *argument), void *argument);
void simt_fiber_free(simt_fiber *fiber);

/* Goes on with a fiber until it leaves. */
void simt_fiber_enter(simt_fiber *fiber);
/* Called on a fiber: goes back to where it was entered. */
void simt_fiber_leave(simt_fiber *fiber);

#endif
