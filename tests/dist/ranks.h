/* Ranks as threads of the test, and random redistributions held to a permutation of the whole tensor. */
#ifndef CUTT_TESTS_DIST_RANKS_H
#define CUTT_TESTS_DIST_RANKS_H

#include "cutt_dist.h"
#include "support/check.h"

enum { MOST_RANKS = 64, MOST_MODES = 6, FAILURE_BYTES = 400 };

/* Runs work(what, rank) on a thread for each rank, and waits for all. */
void ranks_run(int size, void (*work)(void *what, int rank), void *what);

typedef struct dist_side {
  int64_t extents[MOST_MODES], blocks[MOST_MODES];
  int parts[MOST_MODES];
  int ranks[MOST_RANKS];
  int copies;
  bool strided;
} dist_side;

/* The layout of a tensor of so many modes, which points into *s; its strides are NULL. */
cuttDistLayout_t dist_side_layout(const dist_side *s, int modes);

/* A random layout for tensors of these extents; all else is set. */
void dist_side_make(test_rng *rng, int modes, int size, dist_side *s);

typedef struct dist_case {
  uint64_t seed;
  int size, modes;
  cuttType_t type;
  dist_side side[2];
  int perm[MOST_MODES];
  bool has_alpha, has_beta;
  test_scalar alpha, beta;
  int conjugate;
  cuttDistOptions_t options;
  bool on_device; /* tensors are in the memory of the calling thread's GPU */
} dist_case;

/* A random case for so many ranks; the same for the same seed. */
void dist_case_make(dist_case *c, uint64_t seed, int size);

/* The layout of a side, which points into the case; its strides are NULL. */
cuttDistLayout_t dist_case_layout(const dist_case *c, int side);

/* What the case asks for, between these layouts of its sides; points into all three. */
cuttDistProblem_t dist_case_problem(const dist_case *c, const cuttDistLayout_t *from, const cuttDistLayout_t *to);

/* Plans and executes the case by these communicators, twice, and compares all that every rank has afterwards. "": all is right,
 * else what is wrong. sent: the bytes that all ranks together have sent by one execution; may be NULL. */
void dist_case_try(const dist_case *c, const cuttDistComm_t *comms, char failure[FAILURE_BYTES], int64_t *sent);

/* Where outputs are: memory of so many bytes at a multiple of 64, and its return. Collective where a transport's is; NULL: malloc's. */
typedef struct dist_memory {
  void *(*take)(size_t bytes);
  void (*give)(void *memory);
} dist_memory;
extern dist_memory dist_output_memory;

/* The same for one rank, whose others are other processes that make this call too. */
void dist_case_try_rank(const dist_case *c, cuttDistComm_t comm, int rank, char failure[FAILURE_BYTES]);

#endif
