/* Faults for tests: a transport over that of threads that fails at a chosen call, holds messages back or starts them in another order;
 * and the allocator, as programs that are linked with --wrap lend it to the libraries. */
#ifndef CUTT_TESTS_DIST_FAULTY_H
#define CUTT_TESTS_DIST_FAULTY_H

#include "ranks.h"

/* Of the calling thread: how many allocations have been made, and which fails; 0: none. */
extern _Thread_local long faulty_allocations, faulty_at;

enum { MOST_HELD = 16 };

typedef enum call { NO_CALL, SEND, RECEIVE, WAIT, ALLGATHER, OFFER, REACH } call;

typedef struct held_send {
  int peer;
  const void *bytes;
  int64_t count;
  cuttDistRequest_t *request;
} held_send;

/* One rank's end. */
typedef struct faulty {
  cuttDistTransport_t real;
  call fails_at;
  int countdown; /* calls of that kind until it fails */
  bool delays;   /* each send by a moment */
  bool reorders; /* sends wait until something is waited for, and then start with the last peer's */
  held_send held[MOST_HELD];
  int holds;
  int64_t offered; /* bytes */
  int gatherings;  /* so far */
  int64_t sent;    /* messages */
  int64_t most;    /* bytes of a message, more fail; 0: any number */
} faulty;

typedef struct setting {
  cuttDistComm_t threads[MOST_RANKS], comms[MOST_RANKS];
  faulty ends[MOST_RANKS];
  int size;
} setting;

/* So many ranks, each with a transport that fails where its end is told to. */
void open_setting(setting *s, int size);
/* The same with transports that take so many bytes at most. */
void open_limited_setting(setting *s, int size, int64_t most_bytes);
void close_setting(setting *s);

/* The transport's reach. */
void *faulty_reach(void *data, int peer, const unsigned char token[CUTT_DIST_TOKEN_BYTES]);

#endif
