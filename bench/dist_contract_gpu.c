/* Contractions of tensors over GPUs, taking turns with what one GPU of the same machine does:
 *   products   matrix products of intensity 1000 and more, f64 and f32, beside cuBLAS's product of the whole on one GPU, by the
 *              chosen algorithm and by each: of n GPUs' products this is the share that is reached
 *   ccsd       CCSD's terms of the TCCG benchmark, extents scaled alike until the three tensors have so many GB, beside
 *              libcutt_contract on one GPU, if its memory holds them
 * Each tensor is spread by its last mode. Ranks are threads of this process; messages go by NCCL, or by copies and direct writes
 * between the GPUs ("threads"). Seconds are those of the slowest rank, from before all begin until all are done; medians are
 * printed beside the predicted time. 128 elements of each rank's result are compared with sums of doubles. DIST_TIME_LINE prints when
 * each panel moves and is multiplied, DIST_DESCRIBE what each plan is.
 *
 * Build, in the folder of the sources, and run:
 *   gcc -O2 -fopenmp -Iinclude -I/usr/local/cuda/include bench/dist_contract_gpu.c -Wl,--wrap=cuttDistPlanExecute
 *       -Wl,--wrap=cuttContractionExecute build/lib/libcutt_dist.a build/lib/libcutt_contract.a build/lib/libcutt.a
 *       -L/usr/local/cuda/lib64 -lcudart -lnccl -lpthread -ldl -lm -o build/bench/dist_contract_gpu
 *   build/bench/dist_contract_gpu products|ccsd [RANKS [GB [CASE...]]]    (by their numbers, in that order) */
#include <cuda_runtime_api.h>
#include <cutt_contract.h>
#include <cutt_dist.h>
#include <math.h>
#include <nccl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  MOST_RANKS = 8,
  MOST_MODES = 6,
  ROUNDS = 5,
  TABLE = 1 << 16,
  SAMPLES = 128,
  CHUNK = 32 << 20, /* elements */
  MOST_STEPS = 256,
  LONG = 2 /* seconds: an execution that takes longer is its own warm-up, and is not repeated */
};

typedef struct bench_case {
  int id;
  const char *pattern; /* of one letter a mode */
  cuttType_t type;
  int64_t extent[7]; /* of a, b, ... */
  int last[3];       /* the mode that each tensor is spread by; -1: the last */
} bench_case;

/* Matrices that are spread by columns, and a long sum over what both operands are spread by. */
static const bench_case products[] = {
    {1, "ab,bc->ac", CUTT_F64, {16384, 16384, 16384}, {-1, -1, -1}},
    {2, "ab,bc->ac", CUTT_F64, {8192, 8192, 8192}, {-1, -1, -1}},
    {3, "ab,bc->ac", CUTT_F64, {4096, 4096, 4096}, {-1, -1, -1}},
    {4, "ab,bc->ac", CUTT_F64, {8192, 131072, 8192}, {1, 0, 1}},
    {5, "ab,bc->ac", CUTT_F32, {16384, 16384, 16384}, {-1, -1, -1}},
    {6, "ab,bc->ac", CUTT_F32, {8192, 8192, 8192}, {-1, -1, -1}},
    {7, "ab,bc->ac", CUTT_F32, {8192, 131072, 8192}, {1, 0, 1}},
};
enum { PRODUCTS = sizeof products / sizeof *products };

/* By their numbers in the benchmark. */
static const bench_case terms[] = {
    {12, "ac,cb->ab", CUTT_F64, {5136, 5120, 5136}, {-1, -1, -1}},
    {13, "acd,dbc->ab", CUTT_F64, {312, 296, 296, 312}, {-1, -1, -1}},
    {15, "acd,db->abc", CUTT_F64, {312, 296, 296, 312}, {-1, -1, -1}},
    {17, "adc,bd->abc", CUTT_F64, {312, 312, 296, 296}, {-1, -1, -1}},
    {19, "adec,ebd->abc", CUTT_F64, {72, 72, 72, 72, 72}, {-1, -1, -1}},
    {20, "aebf,dfce->abcd", CUTT_F64, {72, 72, 72, 72, 72, 72}, {-1, -1, -1}},
    {21, "aebf,fdec->abcd", CUTT_F64, {72, 72, 72, 72, 72, 72}, {-1, -1, -1}},
    {30, "eafd,fbec->abcd", CUTT_F64, {72, 72, 72, 72, 72, 72}, {-1, -1, -1}},
};
enum { TERMS = sizeof terms / sizeof *terms };

typedef struct rank_state {
  int rank, size;
  ncclComm_t nccl;
  cuttDistComm_t near, far; /* of threads; of NCCL */
  cudaStream_t stream;
  void *chunk; /* pinned */
  double *values;
  int wrong;
} rank_state;

static rank_state states[MOST_RANKS];
static ncclComm_t ncclComms[MOST_RANKS];
static pthread_barrier_t all;
static double seconds_of[MOST_RANKS];
static const char *what_to_do = "products";
static double gigabytes = 24;
static int only[16], onlys;

static void must(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "dist_contract_gpu: %s: %s; CUDA says %s\n", what, cuttLastError(),
          cudaGetErrorString(cudaGetLastError()));
  _exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* ------------------------------------------------------------------------------------------------------------ time line */

/* What the library calls for each panel, between two events of its stream; of the thread that executes. */
typedef struct step {
  cudaEvent_t from, to;
  int moves;
} step;
typedef struct time_line {
  step steps[MOST_STEPS];
  int count;
  int on;
  cudaEvent_t begun;
} time_line;
static _Thread_local time_line line;

static step *next_step(int moves, cudaStream_t stream) {
  if (!line.on || line.count == MOST_STEPS) return NULL;
  step *s = &line.steps[line.count++];
  s->moves = moves;
  if (!s->from) must(!cudaEventCreate(&s->from) && !cudaEventCreate(&s->to), "events");
  cudaEventRecord(s->from, stream);
  return s;
}

cuttResult_t __real_cuttDistPlanExecute(cuttDistPlan_t plan, const void *in, void *out, cudaStream_t stream);
cuttResult_t __wrap_cuttDistPlanExecute(cuttDistPlan_t plan, const void *in, void *out, cudaStream_t stream);
cuttResult_t __real_cuttContractionExecute(cuttContractionPlan_t plan, const void *left, const void *right,
                                           void *result, void *workspace, size_t bytes, cudaStream_t stream);
cuttResult_t __wrap_cuttContractionExecute(cuttContractionPlan_t plan, const void *left, const void *right,
                                           void *result, void *workspace, size_t bytes, cudaStream_t stream);

cuttResult_t __wrap_cuttDistPlanExecute(cuttDistPlan_t plan, const void *in, void *out, cudaStream_t stream) {
  const step *s = next_step(1, stream);
  const cuttResult_t result = __real_cuttDistPlanExecute(plan, in, out, stream);
  if (s) cudaEventRecord(s->to, stream);
  return result;
}

cuttResult_t __wrap_cuttContractionExecute(cuttContractionPlan_t plan, const void *left, const void *right,
                                           void *result, void *workspace, size_t bytes, cudaStream_t stream) {
  const step *s = next_step(0, stream);
  const cuttResult_t code = __real_cuttContractionExecute(plan, left, right, result, workspace, bytes, stream);
  if (s) cudaEventRecord(s->to, stream);
  return code;
}

static void print_line(const char *name) {
  float from = 0, to = 0;
  printf("  time line of %s, ms from the beginning (rank 0):\n", name);
  for (int i = 0; i < line.count; i++) {
    const step *s = &line.steps[i];
    cudaEventElapsedTime(&from, line.begun, s->from);
    cudaEventElapsedTime(&to, line.begun, s->to);
    printf("    %s %9.3f to %9.3f\n", s->moves ? "moves                          " : "multiplies", (double)from,
           (double)to);
  }
}

/* --------------------------------------------------------------------------------------------------------------- tensors */

typedef struct tensor {
  int modes, label[MOST_MODES], parts[MOST_MODES];
  int64_t extents[MOST_MODES], own[MOST_MODES], first[MOST_MODES], count, whole;
  cuttDistLayout_t layout;
  void *memory;
} tensor;

typedef struct setting {
  const bench_case *c;
  int64_t extent[7];
  tensor t[3];
  size_t elem;
} setting;

static void read_case(setting *s, const rank_state *r) {
  const char *at = s->c->pattern;
  s->elem = s->c->type == CUTT_F64 ? 8 : 4;
  for (int k = 0; k < 3; k++) {
    tensor *t = &s->t[k];
    memset(t, 0, sizeof *t);
    t->whole = 1;
    for (; *at >= 'a' && *at <= 'z'; at++) {
      t->label[t->modes] = *at - 'a';
      t->extents[t->modes] = s->extent[*at - 'a'];
      t->parts[t->modes] = 1;
      t->whole *= t->extents[t->modes++];
    }
    while (*at == ',' || *at == '-' || *at == '>') at++;
    const int last = s->c->last[k] < 0 ? t->modes - 1 : s->c->last[k];
    t->parts[last] = r->size;
    t->layout = (cuttDistLayout_t)CUTT_DIST_LAYOUT_INIT;
    t->layout.modes = t->modes;
    t->layout.extents = t->extents;
    t->layout.parts = t->parts;
    int64_t zeros[MOST_MODES] = {0};
    must(!cuttDistLocalExtents(&t->layout, r->rank, t->own), "extents");
    must(!cuttDistLocalCount(&t->layout, r->rank, &t->count), "count");
    must(!cuttDistGlobal(&t->layout, r->rank, zeros, t->first), "index");
  }
}

/* An element by its index in the whole tensor. */
static uint64_t place(const int64_t *index, int modes) {
  static const uint64_t odd[MOST_MODES] = {1, 40503, 30011, 52361, 21841, 60013};
  uint64_t at = 0;
  for (int i = 0; i < modes; i++) at += (uint64_t)index[i] * odd[i];
  return at;
}

static double value(const rank_state *r, int k, const int64_t *index, int modes) {
  return r->values[(place(index, modes) + (uint64_t)k * 7919) % TABLE];
}

static void fill(const setting *s, int k, rank_state *r) {
  const tensor *t = &s->t[k];
  for (int64_t at = 0; at < t->count; at += CHUNK) {
    const int64_t count = t->count - at < CHUNK ? t->count - at : CHUNK;
    const int64_t row = t->own[0], first_row = at / row, last_row = (at + count - 1) / row;
#pragma omp parallel for
    for (int64_t j = first_row; j <= last_row; j++) {
      int64_t index[MOST_MODES], rest = j;
      index[0] = t->first[0];
      for (int m = 1; m < t->modes; m++) {
        index[m] = t->first[m] + rest % t->own[m];
        rest /= t->own[m];
      }
      const uint64_t base = place(index, t->modes) + (uint64_t)k * 7919;
      const int64_t low = j * row < at ? at - j * row : 0,
                    high = (j + 1) * row > at + count ? at + count - j * row : row;
      for (int64_t i = low; i < high; i++) {
        const double v = r->values[(base + (uint64_t)i) % TABLE];
        if (s->elem == 8)
          ((double *)r->chunk)[j * row + i - at] = v;
        else
          ((float *)r->chunk)[j * row + i - at] = (float)v;
      }
    }
    must(cudaMemcpy((char *)t->memory + (size_t)at * s->elem, r->chunk, (size_t)count * s->elem,
                    cudaMemcpyHostToDevice) == cudaSuccess,
         "fill");
  }
}

/* Adds up over the labels that the result has not. */
static double wanted(const setting *s, const rank_state *r, int64_t *at) {
  int summed[7], sums = 0;
  double sum = 0;
  for (int label = 0; label < 7; label++) {
    int in = 0, out = 0;
    for (int m = 0; m < s->t[0].modes; m++) in |= s->t[0].label[m] == label;
    for (int m = 0; m < s->t[2].modes; m++) out |= s->t[2].label[m] == label;
    if (in && !out) summed[sums++] = label;
  }
  for (int i = 0; i < sums; i++) at[summed[i]] = 0;
  for (;;) {
    double product = 1;
    for (int k = 0; k < 2; k++) {
      int64_t index[MOST_MODES];
      for (int m = 0; m < s->t[k].modes; m++) index[m] = at[s->t[k].label[m]];
      const double v = value(r, k, index, s->t[k].modes);
      product *= s->elem == 8 ? v : (double)(float)v;
    }
    sum += product;
    int i = 0;
    while (i < sums && ++at[summed[i]] == s->extent[summed[i]]) at[summed[i++]] = 0;
    if (i == sums) return sum;
  }
}

static void check(const setting *s, rank_state *r, const char *name) {
  const tensor *t = &s->t[2];
  double terms_summed = 1;
  for (int label = 0; label < 7; label++) {
    int out = s->extent[label] == 0;
    for (int m = 0; m < t->modes; m++) out |= t->label[m] == label;
    if (!out) terms_summed *= (double)s->extent[label];
  }
  const double most = (s->elem == 8 ? 1.2e-16 : 6e-8) * terms_summed + (s->elem == 8 ? 1e-14 : 1e-5);
  uint64_t seed = UINT64_C(88172645463325252) + (uint64_t)r->rank;
  for (int i = 0; i < SAMPLES && t->count; i++) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    const int64_t number = i == 0 ? 0 : i == 1 ? t->count - 1 : (int64_t)(seed % (uint64_t)t->count);
    int64_t rest = number, at[7] = {0};
    for (int m = 0; m < t->modes; m++) {
      at[t->label[m]] = t->first[m] + rest % t->own[m];
      rest /= t->own[m];
    }
    double d = 0;
    float f = 0;
    void *element = s->elem == 8 ? (void *)&d : (void *)&f;
    must(cudaMemcpy(element, (char *)t->memory + (size_t)number * s->elem, s->elem, cudaMemcpyDeviceToHost) ==
             cudaSuccess,
         "check");
    if (s->elem == 4) d = (double)f;
    const double right = wanted(s, r, at);
    if (fabs(d - right) <= most) continue;
    if (!r->wrong++)
      fprintf(stderr, "WRONG: case %d, %s, rank %d: element %lld is %.17g, and should be %.17g\n", s->c->id, name,
              r->rank, (long long)number, d, right);
  }
}

/* ------------------------------------------------------------------------------------------------------------- measuring */

static double slowest(const rank_state *r, double seconds) {
  double most = 0;
  seconds_of[r->rank] = seconds;
  pthread_barrier_wait(&all);
  for (int i = 0; i < r->size; i++) most = seconds_of[i] > most ? seconds_of[i] : most;
  pthread_barrier_wait(&all);
  return most;
}

static void fill_contraction(const setting *s, cuttContraction_t *c) {
  *c = (cuttContraction_t)CUTT_CONTRACTION_INIT;
  c->pattern = s->c->pattern;
  c->type = s->c->type;
  c->left_rank = s->t[0].modes;
  c->right_rank = s->t[1].modes;
  c->result_rank = s->t[2].modes;
  c->left_extents = s->t[0].extents;
  c->right_extents = s->t[1].extents;
  c->result_extents = s->t[2].extents;
}

/* Of the product of the whole by cuBLAS alone. */
static double time_one_product(const setting *s, const rank_state *r) {
  cuttContraction_t c;
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  cuttContractionPlan_t plan = NULL;
  double taken[ROUNDS];
  fill_contraction(s, &c);
  options.backend = CUTT_BACKEND_CUDA;
  must(!cuttContractionPlanCreate(&plan, &c, &options), "a plan of one GPU");
  must(!cuttContractionTimeGemm(plan, r->stream, ROUNDS, taken), "the product of one GPU");
  cuttContractionPlanDestroy(plan);
  qsort(taken, ROUNDS, sizeof *taken, by_value);
  return taken[ROUNDS / 2];
}

/* The same random numbers, over and over. */
static int take_whole(const setting *s, const rank_state *r, void **memory) {
  for (int k = 0; k < 3; k++) {
    const size_t bytes = (size_t)s->t[k].whole * s->elem;
    if (cudaMalloc(&memory[k], bytes) != cudaSuccess) return 0;
    for (size_t at = 0; at < bytes; at += (size_t)CHUNK * s->elem) {
      const size_t left = bytes - at, part = (size_t)CHUNK * s->elem;
      cudaMemcpyAsync((char *)memory[k] + at, at ? memory[k] : r->chunk, left < part ? left : part, cudaMemcpyDefault,
                      r->stream);
    }
  }
  return 1;
}

/* Of libcutt_contract on one GPU; 0: it does not fit. */
static double time_one_contraction(const setting *s, const rank_state *r, double *predicted) {
  cuttContraction_t c;
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  cuttContractionInfo_t info = {.struct_size = sizeof info};
  cuttContractionPlan_t plan = NULL;
  void *memory[3] = {NULL, NULL, NULL}, *workspace = NULL;
  size_t available = 0, total = 0;
  double taken = 0;
  const int fits = take_whole(s, r, memory);
  cudaGetLastError();
  cudaMemGetInfo(&available, &total);
  fill_contraction(s, &c);
  options.backend = CUTT_BACKEND_CUDA;
  options.workspace_limit = available > (size_t)1 << 30 ? available - ((size_t)1 << 30) : 0;
  if (fits && !cuttContractionPlanCreate(&plan, &c, &options) && !cuttContractionGetInfo(plan, &info) &&
      (!info.workspace_bytes || cudaMalloc(&workspace, info.workspace_bytes) == cudaSuccess)) {
    *predicted = info.predicted_seconds;
    for (int i = 0; i < 2 && taken < LONG; i++) {
      cudaStreamSynchronize(r->stream);
      const double began = now();
      must(!cuttContractionExecute(plan, memory[0], memory[1], memory[2], workspace, info.workspace_bytes, r->stream),
           "the contraction of one GPU");
      must(cudaStreamSynchronize(r->stream) == cudaSuccess, "stream");
      taken = now() - began;
    }
  }
  cuttContractionPlanDestroy(plan);
  for (int k = 0; k < 3; k++) cudaFree(memory[k]);
  cudaFree(workspace);
  cudaGetLastError();
  return taken;
}

typedef struct way {
  const char *name;
  int by_nccl;
  cuttDistAlgorithm_t algorithm;
  cuttDistDirect_t direct;
} way;

/* One way: false if it can't be. */
static int measure(setting *s, rank_state *r, const way *w, int rounds, double one) {
  static const char *const algorithm[] = {"", "local", "redistribute", "summa", "reduce"};
  cuttDistContraction_t c = CUTT_DIST_CONTRACTION_INIT;
  cuttDistContractionOptions_t options = CUTT_DIST_CONTRACTION_OPTIONS_INIT;
  cuttDistContractionInfo_t info = {.struct_size = sizeof info};
  cuttDistContractionPlan_t plan = NULL;
  double taken[ROUNDS];
  c.pattern = s->c->pattern;
  c.type = s->c->type;
  c.left = &s->t[0].layout;
  c.right = &s->t[1].layout;
  c.result = &s->t[2].layout;
  options.backend = CUTT_BACKEND_CUDA;
  options.algorithm = w->algorithm;
  options.direct = w->direct;
  options.trust_arguments = 1;
  options.workspace_limit = (size_t)70 << 30;
  if (getenv("DIST_PANEL")) options.panel = atoll(getenv("DIST_PANEL"));
  if (cuttDistContractionPlanCreate(&plan, w->by_nccl ? r->far : r->near, &c, &options)) {
    if (r->rank == 0) printf("  %-22s %s\n", w->name, cuttLastError());
    return 0;
  }
  must(!cuttDistContractionGetInfo(plan, &info), "info");
  cudaMemset(s->t[2].memory, 0xff, (size_t)s->t[2].count * s->elem);
  cudaDeviceSynchronize();
  for (int i = -1; i < rounds; i++) {
    pthread_barrier_wait(&all);
    const double began = now();
    must(!cuttDistContractionExecute(plan, s->t[0].memory, s->t[1].memory, s->t[2].memory, r->stream), "execute");
    must(cudaStreamSynchronize(r->stream) == cudaSuccess, "stream");
    const double all_taken = slowest(r, now() - began);
    taken[i < 0 ? 0 : i] = all_taken;
    if (i < 0) check(s, r, w->name);
    if (all_taken <= LONG) continue;
    rounds = i < 0 ? 1 : i + 1;
    break;
  }
  qsort(taken, (size_t)rounds, sizeof *taken, by_value);
  const double median = taken[rounds / 2];
  if (r->rank == 0) {
    printf("  %-22s %-12s %4lld panels, sends %8.1f MB: %10.3f ms, predicted %10.3f", w->name,
           algorithm[info.algorithm], (long long)info.panels, 1e-6 * (double)info.most_bytes_sent, 1e3 * median,
           1e3 * info.predicted_seconds);
    if (one > 0) printf("; of %d GPUs' speed %.3f", r->size, one / median / r->size);
    printf("; %.1f Tflop/s\n", 1e-12 * info.flops * r->size / median);
  }
  if (getenv("DIST_TIME_LINE") && info.panels > 0) {
    line.on = 1;
    line.count = 0;
    if (!line.begun) cudaEventCreate(&line.begun);
    pthread_barrier_wait(&all);
    cudaEventRecord(line.begun, r->stream);
    must(!cuttDistContractionExecute(plan, s->t[0].memory, s->t[1].memory, s->t[2].memory, r->stream), "execute");
    must(cudaStreamSynchronize(r->stream) == cudaSuccess, "stream");
    cudaDeviceSynchronize();
    line.on = 0;
    if (r->rank == 0) print_line(w->name);
  }
  if (r->rank == 0 && getenv("DIST_DESCRIBE")) {
    static char text[8192];
    if (!cuttDistContractionDescribe(plan, CUTT_TEXT, text, sizeof text, NULL)) fputs(text, stdout);
  }
  fflush(stdout);
  pthread_barrier_wait(&all);
  must(!cuttDistContractionPlanDestroy(plan), "destroy");
  pthread_barrier_wait(&all);
  return 1;
}

/* All extents times one factor, so that the tensors have so many bytes. */
static void scale(setting *s) {
  double low = 0, high = 1e4;
  for (int i = 0; i < 60; i++) {
    const double factor = (low + high) / 2;
    double bytes = 0;
    const char *at = s->c->pattern;
    for (int k = 0; k < 3; k++) {
      double volume = 8;
      for (; *at >= 'a' && *at <= 'z'; at++) volume *= floor((double)s->c->extent[*at - 'a'] * factor);
      while (*at == ',' || *at == '-' || *at == '>') at++;
      bytes += volume;
    }
    *(bytes > gigabytes * 1e9 ? &high : &low) = factor;
  }
  for (int i = 0; i < 7; i++) s->extent[i] = (int64_t)floor((double)s->c->extent[i] * low);
}

static void be_case(const bench_case *c, rank_state *r, int is_term) {
  static const way product_ways[] = {{"NCCL, chosen", 1, CUTT_DIST_FASTEST, CUTT_DIST_DIRECT_BY_COST},
                                     {"NCCL, redistribute", 1, CUTT_DIST_REDISTRIBUTE, CUTT_DIST_DIRECT_BY_COST},
                                     {"NCCL, summa", 1, CUTT_DIST_SUMMA, CUTT_DIST_DIRECT_BY_COST},
                                     {"NCCL, summa, messages", 1, CUTT_DIST_SUMMA, CUTT_DIST_DIRECT_NEVER},
                                     {"NCCL, reduce", 1, CUTT_DIST_REDUCE, CUTT_DIST_DIRECT_BY_COST},
                                     {"threads, chosen", 0, CUTT_DIST_FASTEST, CUTT_DIST_DIRECT_BY_COST},
                                     {"threads, summa", 0, CUTT_DIST_SUMMA, CUTT_DIST_DIRECT_BY_COST},
                                     {"threads, summa, copies", 0, CUTT_DIST_SUMMA, CUTT_DIST_DIRECT_NEVER}};
  static const way term_ways[] = {{"NCCL, chosen", 1, CUTT_DIST_FASTEST, CUTT_DIST_DIRECT_BY_COST},
                                  {"threads, chosen", 0, CUTT_DIST_FASTEST, CUTT_DIST_DIRECT_BY_COST}};
  const way *ways = is_term ? term_ways : product_ways;
  const int count = !is_term ? 8 : gigabytes > 50 ? 1 : 2;
  setting s = {.c = c};
  double one = 0, predicted = 0;
  memcpy(s.extent, c->extent, sizeof s.extent);
  if (is_term) scale(&s);
  read_case(&s, r);
  if (r->rank == 0) {
    one = is_term ? time_one_contraction(&s, r, &predicted) : time_one_product(&s, r);
    double flops = 2, volume[3] = {1, 1, 1};
    for (int i = 0; i < 7; i++) flops *= s.extent[i] ? (double)s.extent[i] : 1;
    for (int k = 0; k < 3; k++) volume[k] = (double)s.t[k].whole;
    printf("%s %d: %s, %s, extents", is_term ? "term" : "product", c->id, c->pattern, s.elem == 8 ? "f64" : "f32");
    for (int i = 0; i < 7 && s.extent[i]; i++) printf(" %lld", (long long)s.extent[i]);
    printf("; %.1f GB, intensity %.0f; one GPU%s: %.3f ms", 1e-9 * (double)s.elem * (volume[0] + volume[1] + volume[2]),
           flops / (volume[0] + volume[1] + volume[2]), is_term ? "" : "'s cuBLAS", 1e3 * one);
    if (is_term) printf(", predicted %.3f", 1e3 * predicted);
    printf(", %.1f Tflop/s\n", one > 0 ? 1e-12 * flops / one : 0);
    fflush(stdout);
  }
  one = slowest(r, one);
  for (int k = 0; k < 3; k++) {
    must(cudaMalloc(&s.t[k].memory, (size_t)s.t[k].count * s.elem + 1) == cudaSuccess, "memory");
    if (k < 2) fill(&s, k, r);
  }
  const int rounds = is_term ? 3 : ROUNDS;
  for (int i = 0; i < count; i++) measure(&s, r, &ways[i], rounds, one);
  for (int k = 0; k < 3; k++) cudaFree(s.t[k].memory);
}

static void *be_rank(void *what) {
  rank_state *r = what;
  cuttDistNccl_t options = CUTT_DIST_NCCL_INIT;
  must(cudaSetDevice(r->rank) == cudaSuccess && cudaFree(NULL) == cudaSuccess, "cudaSetDevice");
  must(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking) == cudaSuccess, "stream");
  must(cudaMallocHost(&r->chunk, (size_t)CHUNK * 8) == cudaSuccess, "pinned memory");
  r->values = malloc(TABLE * sizeof *r->values);
  must(r->values != NULL, "memory");
  uint64_t x = 1234567;
  for (int i = 0; i < TABLE; i++) {
    x = x * 6364136223846793005ull + 1442695040888963407ull;
    r->values[i] = (double)(int64_t)(x >> 11) / (double)(1ll << 52) - 1;
  }
  for (int64_t i = 0; i < CHUNK; i++) ((double *)r->chunk)[i] = r->values[i % TABLE];
  options.host = r->near;
  must(!cuttDistCommNccl(&r->far, r->nccl, &options), "a communicator of NCCL");
  const int is_term = strcmp(what_to_do, "ccsd") == 0;
  const bench_case *list = is_term ? terms : products;
  const int cases = is_term ? TERMS : PRODUCTS;
  for (int i = 0; i < cases && !onlys; i++) be_case(&list[i], r, is_term);
  for (int k = 0; k < onlys; k++)
    for (int i = 0; i < cases; i++)
      if (list[i].id == only[k]) be_case(&list[i], r, is_term);
  cuttDistCommDestroy(r->far);
  return NULL;
}

int main(int count, char **arguments) {
  pthread_t thread[MOST_RANKS];
  cuttDistComm_t near[MOST_RANKS];
  int list[MOST_RANKS], wrong = 0;
  const int size = count > 2 ? atoi(arguments[2]) : 2;
  if (count > 1) what_to_do = arguments[1];
  if (count > 3) gigabytes = atof(arguments[3]);
  for (int i = 4; i < count && onlys < 16; i++) only[onlys++] = atoi(arguments[i]);
  must(!strcmp(what_to_do, "products") || !strcmp(what_to_do, "ccsd"), "the first argument is products or ccsd");
  must(size >= 1 && size <= MOST_RANKS && gigabytes > 0, "1 to 8 ranks, and GB above 0");
  for (int i = 0; i < size; i++) list[i] = i;
  must(ncclCommInitAll(ncclComms, size, list) == ncclSuccess, "ncclCommInitAll");
  must(!cuttDistCommThreads(size, near), "communicators of threads");
  pthread_barrier_init(&all, NULL, (unsigned)size);
  for (int i = 0; i < size; i++) {
    states[i] = (rank_state){.rank = i, .size = size, .nccl = ncclComms[i], .near = near[i]};
    pthread_create(&thread[i], NULL, be_rank, &states[i]);
  }
  for (int i = 0; i < size; i++) {
    pthread_join(thread[i], NULL);
    wrong += states[i].wrong;
  }
  for (int i = 0; i < size; i++) {
    cuttDistCommDestroy(near[i]);
    ncclCommDestroy(ncclComms[i]);
  }
  printf(wrong ? "%d elements are WRONG\n" : "all that was looked at is right\n", wrong);
  return wrong != 0;
}
