/* Contractions of tensors over ranks, beside what a program without them does: gather the operands on one rank, contract there with
 * as many threads as there are ranks, and scatter the result. Ways take turns in one run; seconds are those of the slowest rank, and
 * medians are printed, with the megabytes that the rank that receives most gets. Each tensor is cut along its last mode.
 *
 * Ranks are processes of MPI, of one thread each unless said otherwise:
 *   mpicc -O2 -Iinclude -Ibindings/mpi bench/dist_contract.c bindings/mpi/cutt_dist_mpi.c -Lbuild/lib -lcutt_dist -lcutt_contract
 *     -lcutt -o build/dist_contract
 *   LD_LIBRARY_PATH=build/lib mpirun -n 4 build/dist_contract [SCALE [ROUNDS [THREADS-OF-A-RANK]]]
 * or, with THREADS in the environment, so many threads of one process. SCALE multiplies all extents: 1 takes some 100 MB. */
#include <cutt_contract.h>
#include <cutt_dist_mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RANKS = 64, MOST_ROUNDS = 101, MOST_MODES = 6, WAYS = 6 };
static const char *const way_name[WAYS] = {"chosen", "local", "redistribute", "summa", "reduce", "gather"};

typedef struct bench_case {
  const char *name, *pattern;
  int64_t extent[8]; /* of a, b, ... */
} bench_case;

/* The first is a matrix product; then a batch of them; the others are of the TCCG benchmark. */
static const bench_case all[] = {
    {"matrices", "ab,bc->ac", {1000, 1000, 1000}},          {"long sum", "ab,bc->ac", {64, 200000, 64}},
    {"few columns", "ab,bc->ac", {100000, 64, 64}},         {"batch", "abd,bcd->acd", {200, 200, 200, 64}},
    {"tccg 1", "abcd,ea->ebcd", {72, 48, 48, 24, 72}},      {"tccg 2", "adec,ebd->abc", {200, 40, 200, 40, 40}},
    {"tccg 3", "abcd,cfda->bf", {40, 200, 40, 40, 0, 200}},
};

typedef struct rank_of {
  cuttDistComm_t comm;
  cuttDistTransport_t transport;
  int rank, size, rounds, threads;
  double scale;
} rank_of;

static void must(const rank_of *me, int right, const char *what) {
  if (right) return;
  fprintf(stderr, "dist_contract: rank %d: %s: %s\n", me->rank, what, cuttLastError());
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The largest number of all ranks. */
static double slowest(const rank_of *me, double seconds) {
  double every[MOST_RANKS], most = 0;
  must(me, me->transport.allgather(me->transport.data, &seconds, sizeof seconds, every) == 0, "allgather");
  for (int i = 0; i < me->size; i++) most = every[i] > most ? every[i] : most;
  return most;
}

static double *memory(const rank_of *me, int64_t count) {
  void *made = NULL;
  must(me, cuttMemoryAllocate(CUTT_BACKEND_CPU, (size_t)count * 8 + 64, &made) == CUTT_SUCCESS, "memory");
  for (int64_t i = 0; i < count; i++) ((double *)made)[i] = (double)(i % 17) * 0.25;
  return made;
}

typedef struct setting {
  cuttDistLayout_t spread[3], whole[3];
  int64_t extents[3][MOST_MODES];
  int parts[3][MOST_MODES];
  double *own[3], *all[3]; /* all: on rank 0, for gather */
  cuttDistContractionPlan_t plan[WAYS];
  cuttDistPlan_t move[3];
  cuttContractionPlan_t product;
  void *workspace;
  size_t workspace_bytes;
} setting;

static void set_layouts(const rank_of *me, const bench_case *c, setting *s) {
  const char *at = c->pattern;
  for (int t = 0; t < 3; t++) {
    int modes = 0;
    for (; *at >= 'a' && *at <= 'z'; at++, modes++) {
      const int64_t extent = (int64_t)((double)c->extent[*at - 'a'] * me->scale);
      s->extents[t][modes] = extent > 1 ? extent : 2;
      s->parts[t][modes] = 1;
    }
    while (*at == ',' || *at == '-' || *at == '>') at++;
    s->spread[t] = s->whole[t] = (cuttDistLayout_t)CUTT_DIST_LAYOUT_INIT;
    s->spread[t].modes = s->whole[t].modes = modes;
    s->spread[t].extents = s->whole[t].extents = s->extents[t];
    s->spread[t].parts = s->parts[t];
    s->parts[t][modes - 1] = me->size;
    int64_t count = 0;
    cuttDistLocalCount(&s->spread[t], me->rank, &count);
    s->own[t] = memory(me, count);
    cuttDistLocalCount(&s->whole[t], me->rank, &count);
    s->all[t] = memory(me, count);
  }
}

static void plan_gather(const rank_of *me, const bench_case *c, setting *s) {
  cuttContraction_t product = CUTT_CONTRACTION_INIT;
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  cuttDistOptions_t moves = CUTT_DIST_OPTIONS_INIT;
  moves.threads = 1;
  for (int t = 0; t < 3; t++) {
    cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
    problem.type = CUTT_F64;
    problem.from = t < 2 ? &s->spread[t] : &s->whole[t];
    problem.to = t < 2 ? &s->whole[t] : &s->spread[t];
    must(me, cuttDistPlanCreate(&s->move[t], me->comm, &problem, &moves) == CUTT_SUCCESS, "gather");
  }
  if (me->rank) return;
  product.pattern = c->pattern;
  product.type = CUTT_F64;
  product.left_rank = s->whole[0].modes;
  product.right_rank = s->whole[1].modes;
  product.result_rank = s->whole[2].modes;
  product.left_extents = s->extents[0];
  product.right_extents = s->extents[1];
  options.backend = CUTT_BACKEND_CPU;
  options.threads = me->size * (me->threads ? me->threads : 1);
  must(me, cuttContractionPlanCreate(&s->product, &product, &options) == CUTT_SUCCESS, "product");
  cuttContractionWorkspace(s->product, &s->workspace_bytes);
  if (s->workspace_bytes)
    must(me, cuttMemoryAllocate(CUTT_BACKEND_CPU, s->workspace_bytes, &s->workspace) == CUTT_SUCCESS, "workspace");
}

/* An algorithm that can't be is left out. */
static void plan_all(const rank_of *me, const bench_case *c, setting *s) {
  cuttDistContraction_t contraction = CUTT_DIST_CONTRACTION_INIT;
  cuttDistContractionOptions_t options = CUTT_DIST_CONTRACTION_OPTIONS_INIT;
  contraction.pattern = c->pattern;
  contraction.type = CUTT_F64;
  contraction.left = &s->spread[0];
  contraction.right = &s->spread[1];
  contraction.result = &s->spread[2];
  options.threads = me->threads;
  for (int way = 0; way < WAYS - 1; way++) {
    options.algorithm = (cuttDistAlgorithm_t)way;
    const cuttResult_t result = cuttDistContractionPlanCreate(&s->plan[way], me->comm, &contraction, &options);
    must(me, result == CUTT_SUCCESS || (way > 0 && result == CUTT_INVALID_PARAMETER), "plan");
  }
  plan_gather(me, c, s);
}

static void run(const rank_of *me, const setting *s, int way) {
  if (way < WAYS - 1) {
    must(me, cuttDistContractionExecute(s->plan[way], s->own[0], s->own[1], s->own[2], NULL) == CUTT_SUCCESS, "run");
    return;
  }
  for (int t = 0; t < 2; t++)
    must(me, cuttDistPlanExecute(s->move[t], s->own[t], s->all[t], NULL) == CUTT_SUCCESS, "gather");
  if (s->product)
    must(me,
         cuttContractionExecute(s->product, s->all[0], s->all[1], s->all[2], s->workspace, s->workspace_bytes, NULL) ==
             CUTT_SUCCESS,
         "product");
  must(me, cuttDistPlanExecute(s->move[2], s->all[2], s->own[2], NULL) == CUTT_SUCCESS, "scatter");
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(const rank_of *me, const bench_case *c, const setting *s) {
  double seconds[WAYS][MOST_ROUNDS], median[WAYS] = {0};
  for (int i = -1; i < me->rounds; i++)
    for (int way = 0; way < WAYS; way++) {
      if (way < WAYS - 1 && !s->plan[way]) continue;
      slowest(me, 0); /* all begin together */
      const double start = now();
      run(me, s, way);
      const double taken = slowest(me, now() - start);
      if (i >= 0) seconds[way][i] = taken;
    }
  if (me->rank) return;
  cuttDistContractionInfo_t info = {.struct_size = sizeof info};
  cuttDistContractionGetInfo(s->plan[0], &info);
  printf("%-12s %-14s %d ranks, %s", c->name, c->pattern, me->size, way_name[info.algorithm]);
  if (info.panels > 1) printf(" of %lld panels", (long long)info.panels);
  printf(":");
  for (int way = 0; way < WAYS; way++) {
    if (way < WAYS - 1 && !s->plan[way]) continue;
    qsort(seconds[way], (size_t)me->rounds, sizeof(double), by_value);
    median[way] = seconds[way][me->rounds / 2];
    printf(" %s %.2f ms", way_name[way], 1e3 * median[way]);
    if (way == WAYS - 1) continue;
    cuttDistContractionGetInfo(s->plan[way], &info);
    if (way > 0) printf(" (%.1f MB)", 1e-6 * (double)info.most_bytes_received);
    if (way == 0) printf(" (predicted %.2f)", 1e3 * info.predicted_seconds);
  }
  printf("; gather / chosen %.2f\n", median[WAYS - 1] / median[0]);
  if (getenv("DIST_DESCRIBE")) {
    char text[4096];
    cuttDistContractionDescribe(s->plan[0], CUTT_TEXT, text, sizeof text, NULL);
    fputs(text, stdout);
  }
  fflush(stdout);
}

static void bench(rank_of *me) {
  must(me, cuttDistCommTransport(me->comm, &me->transport) == CUTT_SUCCESS, "transport");
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    setting s = {.workspace = NULL};
    set_layouts(me, &all[i], &s);
    plan_all(me, &all[i], &s);
    measure(me, &all[i], &s);
    for (int way = 0; way < WAYS - 1; way++) cuttDistContractionPlanDestroy(s.plan[way]);
    for (int t = 0; t < 3; t++) {
      cuttDistPlanDestroy(s.move[t]);
      cuttMemoryFree(CUTT_BACKEND_CPU, s.own[t]);
      cuttMemoryFree(CUTT_BACKEND_CPU, s.all[t]);
    }
    cuttContractionPlanDestroy(s.product);
    cuttMemoryFree(CUTT_BACKEND_CPU, s.workspace);
  }
}

static void *run_thread(void *argument) {
  bench(argument);
  return NULL;
}

int main(int count, char **arguments) {
  const char *threads = getenv("THREADS");
  rank_of me = {.size = threads ? atoi(threads) : 0};
  me.scale = count > 1 ? atof(arguments[1]) : 1;
  me.rounds = count > 2 ? atoi(arguments[2]) : 7;
  me.threads = count > 3 ? atoi(arguments[3]) : 1;
  if (me.scale <= 0 || me.rounds < 1 || me.rounds > MOST_ROUNDS || me.threads < 0 ||
      (threads && (me.size < 1 || me.size > MOST_RANKS))) {
    fprintf(stderr, "dist_contract: a scale above 0, 1 to %d rounds, 1 to %d threads\n", MOST_ROUNDS, MOST_RANKS);
    return 2;
  }
  if (threads) {
    cuttDistComm_t comms[MOST_RANKS];
    pthread_t thread[MOST_RANKS];
    rank_of ranks[MOST_RANKS];
    must(&me, cuttDistCommThreads(me.size, comms) == CUTT_SUCCESS, "communicators");
    for (int i = 0; i < me.size; i++) {
      ranks[i] = me;
      ranks[i].comm = comms[i];
      ranks[i].rank = i;
      if (pthread_create(&thread[i], NULL, run_thread, &ranks[i])) return 1;
    }
    for (int i = 0; i < me.size; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < me.size; i++) cuttDistCommDestroy(comms[i]);
    return 0;
  }
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &me.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &me.size);
  must(&me, me.size <= MOST_RANKS && cuttDistCommMpi(&me.comm, MPI_COMM_WORLD) == CUTT_SUCCESS, "communicator");
  bench(&me);
  cuttDistCommDestroy(me.comm);
  MPI_Finalize();
  return 0;
}
