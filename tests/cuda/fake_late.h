/* Streams of the stand-in for the driver that do their work later, as those of devices: each has a thread, which does in order what
 * the stream has been given, with pauses between. So work that is not ordered by a stream or by an event is done in any order, which
 * the values that come out show. */
#ifndef CUTT_TESTS_CUDA_FAKE_LATE_H
#define CUTT_TESTS_CUDA_FAKE_LATE_H

#include <stdbool.h>
#include <stddef.h>

struct CUstream_st;
struct fake_mark; /* a place in a stream's work, as an event has recorded it */

/* Off: streams have done their work when a call returns. It is switched when nothing is under way; off ends the threads. */
void fake_late_switch(bool on);
bool fake_late_is_on(void);

/* Gives a stream something to do: work, with a copy of `bytes` bytes of data. Now, if streams are not late or there is no stream. */
void fake_late_do(struct CUstream_st *stream, void (*work)(void *data), const void *data, size_t bytes);

/* Waits until a stream has done all that it was given; or all streams of a context, by its pointer in them. */
void fake_late_finish(struct CUstream_st *stream);
void fake_late_finish_all(const void *context);

/* The place where a stream is. */
struct fake_mark *fake_late_mark(struct CUstream_st *stream);
bool fake_late_reached(const struct fake_mark *mark);
/* Has a stream wait until the mark is reached; or the caller, where there is no stream. */
void fake_late_wait(struct CUstream_st *stream, struct fake_mark *mark);

#endif
