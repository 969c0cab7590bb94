/* A real-size case for the demo: batch IMAGE.npy COUNT OUT.npy
 *
 * Makes a batch of COUNT images in float32 from one image of bytes, each a bit darker than the one before, in the order
 * batch, height, width, channel (NHWC), writes it to OUT.npy for the program to permute, and times the way to NCHW in
 * memory: by four plain loops, by cuTT, and, as the ceiling, a plain copy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array.h"
#include "cutt.h"

enum { ROUNDS = 5 };

typedef struct batch {
  int64_t count, height, width; /* and 3 channels */
  size_t bytes;
  float *in, *out;
  cuttPlan_t plan;
} batch;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool by_loops(const batch *b) {
  const int64_t plane = b->height * b->width;
  for (int64_t n = 0; n < b->count; ++n)
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t y = 0; y < b->height; ++y)
        for (int64_t x = 0; x < b->width; ++x)
          b->out[(n * 3 + c) * plane + y * b->width + x] = b->in[(n * plane + y * b->width + x) * 3 + c];
  return true;
}

static bool by_cutt(const batch *b) { return cuttPlanExecute(b->plan, b->in, b->out, NULL) == CUTT_SUCCESS; }

static bool by_copy(const batch *b) {
  memcpy(b->out, b->in, b->bytes);
  return true;
}

/* The fastest of some rounds, in seconds; below 0 when it fails. */
static double best_time(const batch *b, bool (*way)(const batch *)) {
  double best = -1.0;
  for (int i = 0; i < ROUNDS; ++i) {
    const double start = now();
    if (!way(b)) return -1.0;
    const double seconds = now() - start;
    if (best < 0.0 || seconds < best) best = seconds;
  }
  return best;
}

static void print_bar(const char *what, double gbs, double most) {
  enum { WIDTH = 44 };
  char bar[WIDTH + 1];
  int full = (int)(gbs / most * WIDTH + 0.5);
  full = full < 1 ? 1 : full > WIDTH ? WIDTH : full;
  memset(bar, '#', (size_t)full);
  memset(bar + full, ' ', (size_t)(WIDTH - full));
  bar[WIDTH] = 0;
  printf("    %-18s |%s| %5.1f GB/s\n", what, bar, gbs);
}

/* The library counts modes from the stride-1 one: in is (channel, x, y, n), out is (x, y, channel, n). */
static bool make_plan(batch *b, int threads) {
  const int64_t extents[4] = {3, b->width, b->height, b->count};
  const int perm[4] = {1, 2, 0, 3};
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 4;
  problem.type = CUTT_F32;
  problem.extents = extents;
  problem.perm = perm;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU; /* against loops in the host's memory */
  options.threads = threads;
  cuttPlanDestroy(b->plan);
  if (cuttPlanCreate(&b->plan, &problem, &options) == CUTT_SUCCESS) return true;
  fprintf(stderr, "no plan: %s\n", cuttLastError());
  return false;
}

static bool compare(batch *b) {
  const double moved = 2e-9 * (double)b->bytes;
  const double copy = best_time(b, by_copy), loops = best_time(b, by_loops);
  memset(b->out, 0xff, b->bytes);
  if (!make_plan(b, 1)) return false;
  const double one = best_time(b, by_cutt);
  if (!make_plan(b, 0)) return false;
  const double all = best_time(b, by_cutt);
  if (!(one > 0.0 && all > 0.0 && copy > 0.0 && loops > 0.0)) {
    fprintf(stderr, "not executed: %s\n", cuttLastError());
    return false;
  }
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  if (cuttPlanGetInfo(b->plan, &info) != CUTT_SUCCESS) return false;
  double most = moved / copy;
  if (moved / one > most) most = moved / one;
  if (moved / all > most) most = moved / all;
  char label[32];
  printf("    in memory, best of %d:\n", ROUNDS);
  print_bar("four plain loops", moved / loops, most);
  print_bar("cuTT, 1 thread", moved / one, most);
  if (info.threads > 1) {
    snprintf(label, sizeof label, "cuTT, %d threads", info.threads);
    print_bar(label, moved / all, most);
  }
  print_bar("memcpy, 1 thread", moved / copy, most);
  printf("    cuTT is %.1f times as fast as the loops on one thread.\n", loops / one);
  return true;
}

int main(int argc, char **argv) {
  const long count = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
  if (count < 1 || count > 100000) {
    fprintf(stderr, "usage: batch IMAGE.npy COUNT OUT.npy\n");
    return 2;
  }
  array image;
  if (!array_read(argv[1], &image)) return 1;
  const int64_t volume = image.npy.volume;
  bool good = image.npy.rank == 3 && image.npy.shape[2] == 3 && image.npy.elem_bytes == 1 && volume < 1 << 30;
  if (!good) fprintf(stderr, "%s: is not a colour image of bytes\n", argv[1]);
  batch b = {.count = count, .height = image.npy.shape[0], .width = image.npy.shape[1]};
  b.bytes = (size_t)count * (size_t)volume * sizeof(float);
  if (good) {
    b.in = malloc(b.bytes);
    b.out = malloc(b.bytes);
    good = b.in && b.out;
    if (!good) fprintf(stderr, "out of memory: 2 x %zu bytes\n", b.bytes);
  }
  for (int64_t n = 0; good && n < count; ++n)
    for (int64_t i = 0; i < volume; ++i)
      b.in[n * volume + i] = (float)image.data[i] / 255.0f * (1.0f - (float)n / (float)(2 * count));
  if (good) {
    cutt_npy npy = {.descr = "<f4", .elem_bytes = 4, .rank = 4, .shape = {count, b.height, b.width, 3}};
    good = compare(&b) && array_write(argv[3], &npy, b.in);
  }
  cuttPlanDestroy(b.plan);
  free(b.in);
  free(b.out);
  free(image.file);
  return good ? 0 : 1;
}
