/* Whether ranks reach each other's memory, and how: plainly, as threads of a process; as the transport says; or, on devices, by
 * opening what another process has. */
#ifndef CUTT_DIST_REACH_H
#define CUTT_DIST_REACH_H

#include "dist/comm.h"
#include "runtime/runtime.h"

/* Do ranks reach each other's memory, as far as this one knows? Of any kind, so that nobody has to ask for it: *any.
 * runtime: of the device that the memory is of; NULL: the host's. */
bool cutt_reach_can(const struct cuttDistCommStruct *comm, const cutt_runtime *runtime, bool *any);

/* Tries it, on devices; collective. *reached: all ranks do; else comm->far_why says which does not, and why. plan: its number.
 * By opening a little memory of other processes, or between comm->contexts, those of the ranks' threads. Errors: of agreements. */
cuttResult cutt_reach_try_memory(struct cuttDistCommStruct *comm, const cutt_runtime *runtime, uint64_t plan,
                                 bool *reached);
cuttResult cutt_reach_try_contexts(struct cuttDistCommStruct *comm, const cutt_runtime *runtime, uint64_t plan,
                                   bool *reached);

/* Describes memory of this rank's output for others. Errors: CUTT_INVALID_PARAMETER: they can't reach it. */
cuttResult cutt_reach_offer(const struct cuttDistCommStruct *comm, const cutt_runtime *runtime, void *begin,
                            int64_t count, unsigned char token[CUTT_DIST_TOKEN_BYTES]);

/* Does a transport that takes some memory take this? No error if it does not. */
bool cutt_reach_offers(const struct cuttDistCommStruct *comm, void *begin, int64_t count,
                       unsigned char token[CUTT_DIST_TOKEN_BYTES]);

/* Where this rank finds what a peer describes: *at. Errors: CUTT_INTERNAL_ERROR. */
cuttResult cutt_reach_peer(const struct cuttDistCommStruct *comm, const cutt_runtime *runtime, int peer,
                           const unsigned char token[CUTT_DIST_TOKEN_BYTES], unsigned char **at);

#endif
