/* Whether ranks reach each other's memory, and how: plainly, as threads of a process, or as the transport says. */
#ifndef CUTT_DIST_REACH_H
#define CUTT_DIST_REACH_H

#include "dist/comm.h"

/* Do ranks reach each other's memory? Of any kind, so that nobody has to ask for it: *any. */
bool cutt_reach_can(const struct cuttDistCommStruct *comm, bool *any);

/* Describes memory of this rank's output for others. Errors: CUTT_INVALID_PARAMETER: they can't reach it. */
cuttResult cutt_reach_offer(const struct cuttDistCommStruct *comm, void *begin, int64_t count,
                            unsigned char token[CUTT_DIST_TOKEN_BYTES]);

/* Where this rank finds what a peer describes: *at. Errors: CUTT_INTERNAL_ERROR. */
cuttResult cutt_reach_peer(const struct cuttDistCommStruct *comm, int peer,
                           const unsigned char token[CUTT_DIST_TOKEN_BYTES], unsigned char **at);

#endif
