/* Plans that cuttPermute keeps, for the next call with the same problem. */
#ifndef CUTT_PLAN_KEPT_H
#define CUTT_PLAN_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cutt.h"

enum { CUTT_KEPT_RANK = 12, CUTT_KEPT_WORDS = 16 + 4 * CUTT_KEPT_RANK };

/* All that a plan depends on: the problem and the options as they are given, and the device. */
typedef struct cutt_kept_key {
  int words;
  uint64_t word[CUTT_KEPT_WORDS];
} cutt_kept_key;

/* What a plan of this backend depends on beside the problem: the context on a GPU, and on the CPU the number of threads and the
 * instruction set. Writes CUTT_KEPT_DEVICE_WORDS words; false: they can't tell two such things apart. Words no error. */
enum { CUTT_KEPT_DEVICE_WORDS = 3 };
struct cutt_backend;
bool cutt_kept_device(const struct cutt_backend *backend, uint64_t words[CUTT_KEPT_DEVICE_WORDS]);

/* false: a call whose plan is not kept, because something in it is wrong, rare, or not told by these numbers. Words no error. */
bool cutt_kept_key_of(const cuttProblem_t *problem, const cuttOptions_t *options, cutt_kept_key *key);

/* The plan of a key, which stays alive until it is given back; NULL: none is kept. Allocates nothing and waits for nobody. */
cuttPlan_t cutt_kept_take(const cutt_kept_key *key);
void cutt_kept_give(cuttPlan_t plan);

/* Keeps a plan, which is the caller's no more, or destroys it. */
void cutt_kept_put(const cutt_kept_key *key, cuttPlan_t plan);

/* Gives all up. */
void cutt_kept_clear(void);

#endif
