/* Tensors of less than 4 KB: what a call costs when there is next to nothing to move.
 *
 * From a scripting language such calls drown in the cost of calling, so this is C, and every contestant runs in a tight
 * loop on the same buffers, in turns: an execution of a prepared plan, the naive loop nest that a user would write
 * instead, and, with --shim, another library behind a small adapter. The adapter is a shared library with
 *     const char *peer_name(void);
 *     void *peer_plan(int elem_bytes, int rank, const int *extents, const int *perm, const void *in, void *out,
 *                     double beta, int threads);          (NULL: it does not do this case)
 *     void peer_execute(void *plan, const void *in, void *out);
 *     void peer_destroy(void *plan);
 * with extents and perm as in cutt.h. Results are compared with the naive loop's.
 *
 * Prints JSON: seconds per call for each case. bench/peers.py --tiny adds NumPy and sums up. */
#include <dlfcn.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cutt.h"

enum { BYTES = 4096, MOST_RANK = 6, ROUNDS = 9 };
static const double sample_seconds = 30e-6;

typedef struct tiny_case {
  int elem_bytes, rank;
  int64_t extent[MOST_RANK];
  int perm[MOST_RANK];
} tiny_case;

typedef struct peer {
  const char *(*name)(void);
  void *(*plan)(int elem_bytes, int rank, const int *extents, const int *perm, const void *in, void *out, double beta,
                int threads);
  void (*execute)(void *plan, const void *in, void *out);
  void (*destroy)(void *plan);
} peer;

static _Alignas(64) unsigned char in[BYTES], out[BYTES + 64], expected[BYTES];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---------------------------------------------------------------------------------------------------------- drawing */

static uint64_t next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int draw(uint64_t *state, int below) { return (int)((next(state) >> 32) * (uint64_t)below >> 32); }

/* A tensor of this rank and width with less than BYTES bytes: extents are drawn one by one from what is left, in a
 * random order, so that any mode may be the large one. */
static tiny_case draw_case(uint64_t *state, int rank, int elem_bytes) {
  tiny_case c = {.elem_bytes = elem_bytes, .rank = rank};
  int order[MOST_RANK], left = (BYTES - 1) / elem_bytes;
  for (int pass = 0; pass < 2; ++pass) {
    int *list = pass ? c.perm : order;
    for (int i = 0; i < rank; ++i) list[i] = i;
    for (int i = rank - 1; i > 0; --i) {
      int j = draw(state, i + 1), swap = list[i];
      list[i] = list[j];
      list[j] = swap;
    }
  }
  for (int i = 0; i < rank; ++i) {
    /* Near the root of what is left, so that the last modes are not always 1. */
    int root = (int)pow((double)left, 1.0 / (rank - i)), most = 2 * root < left ? 2 * root : left;
    int64_t extent = 1 + draw(state, most > 0 ? most : 1);
    c.extent[order[i]] = extent;
    left = (int)(left / extent);
  }
  return c;
}

static int64_t volume_of(const tiny_case *c) {
  int64_t volume = 1;
  for (int i = 0; i < c->rank; ++i) volume *= c->extent[i];
  return volume;
}

/* ------------------------------------------------------------------------------------------------------- contestants */

/* The loop nest over the output, with the input's strides worked out beforehand: modes that are not there have extent
 * 1. */
typedef struct nest {
  int64_t extent[MOST_RANK], stride[MOST_RANK];
} nest;

static nest nest_of(const tiny_case *c) {
  nest n;
  int64_t stride[MOST_RANK], step = 1;
  for (int i = 0; i < c->rank; ++i) {
    stride[i] = step;
    step *= c->extent[i];
  }
  for (int i = 0; i < MOST_RANK; ++i) {
    n.extent[i] = i < c->rank ? c->extent[c->perm[i]] : 1;
    n.stride[i] = i < c->rank ? stride[c->perm[i]] : 0;
  }
  return n;
}

#define NAIVE(name, type)                                                                                              \
  static void name(const nest *n, const void *from, void *to) {                                                        \
    const type *a = from;                                                                                              \
    type *b = to;                                                                                                      \
    for (int64_t i5 = 0; i5 < n->extent[5]; ++i5)                                                                      \
      for (int64_t i4 = 0; i4 < n->extent[4]; ++i4)                                                                    \
        for (int64_t i3 = 0; i3 < n->extent[3]; ++i3)                                                                  \
          for (int64_t i2 = 0; i2 < n->extent[2]; ++i2)                                                                \
            for (int64_t i1 = 0; i1 < n->extent[1]; ++i1) {                                                            \
              const type *row = a + i1 * n->stride[1] + i2 * n->stride[2] + i3 * n->stride[3] + i4 * n->stride[4] +    \
                                i5 * n->stride[5];                                                                     \
              for (int64_t i0 = 0; i0 < n->extent[0]; ++i0) *b++ = row[i0 * n->stride[0]];                             \
            }                                                                                                          \
  }

typedef struct wide {
  uint64_t low, high;
} wide;

NAIVE(naive_1, uint8_t)
NAIVE(naive_2, uint16_t)
NAIVE(naive_4, uint32_t)
NAIVE(naive_8, uint64_t)
NAIVE(naive_16, wide)

typedef void naive_function(const nest *n, const void *from, void *to);

static naive_function *naive_of(int elem_bytes) {
  switch (elem_bytes) {
    case 1:
      return naive_1;
    case 2:
      return naive_2;
    case 4:
      return naive_4;
    case 8:
      return naive_8;
    default:
      return naive_16;
  }
}

/* What is timed: one of these is not NULL. */
typedef struct contestant {
  cuttPlan_t plan;
  naive_function *naive;
  const nest *n;
  const peer *other;
  void *other_plan;
} contestant;

static double time_calls(const contestant *c, long calls) {
  double began = now();
  if (c->plan) {
    for (long i = 0; i < calls; ++i) cuttPlanExecute(c->plan, in, out, NULL);
  } else if (c->naive) {
    /* Through a volatile pointer, as a call into a library is: the compiler may not fold calls. */
    naive_function *volatile call = c->naive;
    for (long i = 0; i < calls; ++i) call(c->n, in, out);
  } else {
    for (long i = 0; i < calls; ++i) c->other->execute(c->other_plan, in, out);
  }
  return (now() - began) / (double)calls;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Times count contestants in turns; medians go to seconds. */
static void time_all(const contestant *list, int count, double *seconds) {
  double took[3][ROUNDS];
  long calls[3];
  for (int i = 0; i < count; ++i) {
    calls[i] = 1;
    while (time_calls(&list[i], calls[i]) * (double)calls[i] < sample_seconds && calls[i] < 1L << 24) calls[i] *= 2;
  }
  for (int round = 0; round < ROUNDS; ++round)
    for (int i = 0; i < count; ++i) took[i][round] = time_calls(&list[i], calls[i]);
  for (int i = 0; i < count; ++i) {
    qsort(took[i], ROUNDS, sizeof took[i][0], compare);
    seconds[i] = took[i][ROUNDS / 2];
  }
}

/* ------------------------------------------------------------------------------------------------------------- cases */

/* What the command line asks for. */
typedef struct request {
  int samples, threads;
  uint64_t seed;
  peer other;
  bool has_other;
} request;

static void print_list(const char *name, const int64_t *list, int count) {
  printf(", \"%s\": [", name);
  for (int i = 0; i < count; ++i) printf("%s%lld", i ? ", " : "", (long long)list[i]);
  printf("]");
}

/* The adapter's plan, time and result; prints them. */
static void *plan_other(const request *ask, const tiny_case *c, double *plan_seconds) {
  int extents[MOST_RANK];
  for (int i = 0; i < c->rank; ++i) extents[i] = (int)c->extent[i];
  double began = now();
  void *plan = ask->other.plan(c->elem_bytes, c->rank, extents, c->perm, in, out, 0, 1);
  *plan_seconds = now() - began;
  return plan;
}

/* Runs one case and prints its JSON object. False when the library failed. */
static bool run_case(const request *ask, const tiny_case *c, const char *id) {
  size_t bytes = (size_t)volume_of(c) * (size_t)c->elem_bytes;
  nest n = nest_of(c);
  naive_function *naive = naive_of(c->elem_bytes);
  naive(&n, in, expected);

  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = c->rank;
  problem.type = (cuttType_t)c->elem_bytes; /* CUTT_BYTES_n is n */
  problem.extents = c->extent;
  problem.perm = c->perm;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  options.threads = ask->threads;
  cuttPlan_t plan = NULL;
  double plan_seconds = 0, other_plan_seconds = 0, seconds[3] = {0};
  for (int i = 0; i < 2; ++i) { /* the second time is the warm one */
    cuttPlanDestroy(plan);
    double began = now();
    if (cuttPlanCreate(&plan, &problem, &options) != CUTT_SUCCESS) {
      fprintf(stderr, "tiny: case %s: no plan: %s\n", id, cuttLastError());
      return false;
    }
    plan_seconds = now() - began;
  }
  memset(out, 0xa5, sizeof out);
  bool right = cuttPlanExecute(plan, in, out, NULL) == CUTT_SUCCESS && memcmp(out, expected, bytes) == 0;
  for (size_t i = bytes; i < sizeof out; ++i) right = right && out[i] == 0xa5;
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  if (cuttPlanGetInfo(plan, &info) != CUTT_SUCCESS) info.method = "";

  contestant list[3] = {{.plan = plan}, {.naive = naive, .n = &n}, {.other = &ask->other}};
  int count = 2;
  bool other_right = false;
  if (ask->has_other) {
    void *cold = plan_other(ask, c, &other_plan_seconds);
    if (cold) ask->other.destroy(cold);
    list[2].other_plan = plan_other(ask, c, &other_plan_seconds);
  }
  if (list[2].other_plan) {
    memset(out, 0xa5, sizeof out);
    ask->other.execute(list[2].other_plan, in, out);
    other_right = memcmp(out, expected, bytes) == 0;
    count = 3;
  }
  time_all(list, count, seconds);
  cuttPlanDestroy(plan);

  int64_t perm[MOST_RANK] = {0};
  for (int i = 0; i < c->rank; ++i) perm[i] = c->perm[i];
  printf("{\"id\": \"%s\", \"elem_bytes\": %d", id, c->elem_bytes);
  print_list("dims", c->extent, c->rank);
  print_list("perm", perm, c->rank);
  printf(", \"method\": \"%s\", \"right\": %s, \"seconds\": %.4g, \"plan_us\": %.3f, \"naive_seconds\": %.4g",
         info.method, right ? "true" : "false", seconds[0], 1e6 * plan_seconds, seconds[1]);
  if (count == 3) {
    ask->other.destroy(list[2].other_plan);
    printf(", \"peer_seconds\": %.4g, \"peer_plan_us\": %.3f, \"peer_right\": %s", seconds[2], 1e6 * other_plan_seconds,
           other_right ? "true" : "false");
  }
  printf("}");
  if (!right) fprintf(stderr, "tiny: case %s: the result is wrong\n", id);
  return right;
}

/* -------------------------------------------------------------------------------------------------------------- main */

static bool open_other(const char *path, peer *other) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "tiny: --shim: %s\n", dlerror());
    return false;
  }
  /* POSIX has dlsym return what ISO C can't convert to a function; copying the bits is its own advice. */
  void *found[4] = {dlsym(library, "peer_name"), dlsym(library, "peer_plan"), dlsym(library, "peer_execute"),
                    dlsym(library, "peer_destroy")};
  for (int i = 0; i < 4; ++i) {
    if (found[i]) continue;
    fprintf(stderr, "tiny: --shim: %s lacks one of peer_name, peer_plan, peer_execute, peer_destroy\n", path);
    return false;
  }
  memcpy(&other->name, &found[0], sizeof found[0]);
  memcpy(&other->plan, &found[1], sizeof found[1]);
  memcpy(&other->execute, &found[2], sizeof found[2]);
  memcpy(&other->destroy, &found[3], sizeof found[3]);
  return true;
}

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"samples", required_argument, NULL, 's'}, {"seed", required_argument, NULL, 'r'},
      {"threads", required_argument, NULL, 't'}, {"shim", required_argument, NULL, 'p'},
      {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
  request ask = {.samples = 4, .seed = 2017};
  for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
    switch (option) {
      case 's':
        ask.samples = atoi(optarg);
        break;
      case 'r':
        ask.seed = (uint64_t)strtoull(optarg, NULL, 10);
        break;
      case 't':
        ask.threads = atoi(optarg);
        break;
      case 'p':
        if (!open_other(optarg, &ask.other)) return 1;
        ask.has_other = true;
        break;
      default:
        fprintf(option == 'h' ? stdout : stderr,
                "Usage: tiny [--samples N] [--seed S] [--threads N] [--shim LIBRARY.so]\n"
                "Times tensors of less than 4 KB, N of each rank from 1 to 6 and each width, and prints JSON.\n");
        return option == 'h' ? 0 : 2;
    }
  }
  if (optind < argc || ask.samples < 1 || ask.threads < 0) {
    fprintf(stderr, "tiny: --samples must be 1 or more, --threads 0 or more, and there are no other arguments\n");
    return 2;
  }
  uint64_t state = ask.seed;
  for (int i = 0; i < BYTES; i += 8) {
    /* Numbers in [1, 2), so that a library that multiplies by 1 keeps them as they are, in 4 bytes as in 8. */
    uint64_t value = (next(&state) & 0x007fffff007fffffu) | 0x3f8000003f800000u;
    memcpy(in + i, &value, sizeof value);
  }
  bool good = true, first = true;
  printf("{\"peer\": \"%s\",\n\"results\": [\n", ask.has_other ? ask.other.name() : "");
  for (int elem_bytes = 1; elem_bytes <= 16; elem_bytes *= 2) {
    for (int rank = 1; rank <= MOST_RANK; ++rank) {
      for (int sample = 0; sample < ask.samples; ++sample) {
        char id[64];
        snprintf(id, sizeof id, "b%d_r%d_%03d", elem_bytes, rank, sample + 1);
        tiny_case c = draw_case(&state, rank, elem_bytes);
        if (!first) printf(",\n");
        first = false;
        if (!run_case(&ask, &c, id)) good = false;
      }
    }
  }
  printf("\n]}\n");
  return good && fflush(stdout) == 0 ? 0 : 1;
}
