/* What launches on the fake driver were given, and small problems whose launches are looked at. */
#ifndef CUTT_TESTS_CUDA_LAUNCHES_H
#define CUTT_TESTS_CUDA_LAUNCHES_H

#include "cuda/fixture.h"

/* The pairs of addresses that launches were given, by what kernels make of their parameters. The problems have in_start 0. */
enum { LAUNCHES_MOST = 20000 };
extern struct launches {
  int launches, batched, pairs;
  unsigned long long in[LAUNCHES_MOST], out[LAUNCHES_MOST];
} launches_seen;

void launches_watch(void); /* from here on, with nothing seen and no call counted */

/* Has each pair been given once? Outputs are all different, and tell the inputs. */
void assert_launched(int count, const void *const *in, void *const *out);

/* A plan for 8 x 6 x 4 elements of 8 bytes by one of two permutations; CUTT_F64 has an alpha. */
enum { LAUNCH_BYTES = 8 * 6 * 4 * 8 };
cuttPlan_t launches_plan(int trust, int permutation, cuttType_t type);

/* The addresses of count of its inputs and outputs in a row each, inputs the other way around. */
enum { LAUNCH_PAIRS = 8 };
void launches_place(char *in, char *out, int count, const void **from, void **to);

#endif
