/* The handles of the paper's calls: from a number to a plan, and from a problem to the number that it has. */
#ifndef CUTT_PLAN_HANDLES_H
#define CUTT_PLAN_HANDLES_H

#include <stdatomic.h>

#include "plan/kept.h"
#include "plan/plan.h"

/* What the four calls are given to plan. */
typedef struct cutt_packed {
  int rank;
  const int *dim, *permutation;
  size_t bytes;
  cudaStream_t stream;
  bool measured;
} cutt_packed;

/* All that a plan here depends on: the device, the stream, the element's bytes and whether it was measured, and each mode's
 * extent and place in the permutation. */
enum { CUTT_HANDLE_KEY_WORDS = CUTT_KEPT_DEVICE_WORDS + 2 + CUTT_MAX_RANK };
typedef struct cutt_handle_key {
  int words; /* 0: the device can't be told from others, and the plan is its handle's alone */
  uint64_t hash, word[CUTT_HANDLE_KEY_WORDS];
} cutt_handle_key;

void cutt_handle_key_of(const cutt_packed *packed, const cutt_backend *backend, cutt_handle_key *key);

/* Gives the handle that a problem has already, once more; false: it has none. */
bool cutt_handle_again(const cutt_handle_key *key, cuttHandle *handle);

/* Gives a plan a handle, or destroys it. Where another thread has made a plan of the problem meanwhile, that one's handle is
 * given. Errors: CUTT_INTERNAL_ERROR. */
cuttResult cutt_handle_enter(const cutt_handle_key *key, cuttPlan_t plan, cudaStream_t stream, cuttHandle *handle);

/* Takes back what was given once; the last time the plan is destroyed. Errors: CUTT_INVALID_PLAN. */
cuttResult cutt_handle_drop(cuttHandle handle);

/* A handle's plan, which is neither destroyed nor set aside while it is held. Allocates nothing and takes no lock. */
typedef struct cutt_held {
  struct cutt_handle_slot *slot;
  cuttPlan_t plan; /* NULL: it was set aside, and what is left of it is there instead */
  cudaStream_t stream;
  _Atomic(uint32_t) *under_way;
} cutt_held;
/* Errors: CUTT_INVALID_PLAN; there is nothing to release then. */
cuttResult cutt_handle_hold(cuttHandle handle, cutt_held *held);
void cutt_handle_release(const cutt_held *held);

/* Of a plan that was set aside: what it was, and its problem; dim and permutation have CUTT_MAX_RANK entries. */
const cutt_plan_remains *cutt_held_remains(const cutt_held *held, int *dim, int *permutation, cutt_packed *packed);
/* Is a key's beginning, its device, that of the plan? */
bool cutt_held_is_of(const cutt_held *held, const uint64_t device[CUTT_KEPT_DEVICE_WORDS]);
/* Puts a plan in its place, unless another thread has; held->plan is then the one that is there. */
void cutt_held_restore(cutt_held *held, cuttPlan_t plan);

/* The plans that are kept ready, and how many there may be before those that were not executed for long are set aside. Read and
 * set by tests. */
extern _Atomic(uint32_t) cutt_handles_ready, cutt_handles_most_ready;

#endif
