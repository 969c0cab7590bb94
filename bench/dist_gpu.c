/* Redistributions over GPUs, beside a plain all-to-all of NCCL of the same bytes, taking turns in one run:
 *   all-to-all  ncclSend and ncclRecv of what leaves a rank, from and to plain buffers, in one group
 *   nccl        cuttDistPlanExecute, messages by NCCL
 *   copies      cuttDistPlanExecute, messages by copies between GPUs
 *   direct      cuttDistPlanExecute, the kernel writes into the peers' outputs: by peer access between threads, or by CUDA's IPC
 *               between processes
 *   default     cuttDistPlanExecute with NCCL's communicator and no options: whichever way is predicted to be the fastest, which is said
 * A tensor of doubles that is spread by its last mode becomes its permutation, spread by its last mode again: of two ranks, half
 * of what each has leaves it. Seconds are those of the slowest rank, from before all begin until all are done; medians are
 * printed, as bytes that leave a rank in a second, beside the all-to-all's. Then a time line of one execution.
 *
 * Build and run, in the folder of the sources:
 *   gcc -O2 -Iinclude -I/usr/local/cuda/include bench/dist_gpu.c -Lbuild/lib -lcutt_dist -lcutt -L/usr/local/cuda/lib64 -lcudart
 *       -lnccl -lpthread -o build/dist_gpu
 *   LD_LIBRARY_PATH=build/lib build/dist_gpu threads|processes [RANKS [MIB-OF-A-RANK [ROUNDS [MIB-OF-A-PIECE [CASE...]]]]]
 * Cases are numbered from 1; the time line is there if none is named. */
#include <cuda_runtime_api.h>
#include <cutt_dist.h>
#include <nccl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  MOST_RANKS = 8,
  MOST_ROUNDS = 51,
  WAYS = 5,
  BY_NCCL = 1,
  BY_COPIES = 2,
  DIRECTLY = 3,
  BY_DEFAULT = 4,
  MOST_RECORD = 1024,
  MOST_STEPS = 64,
  MOST_CHOSEN = 16
};
static const char *const way_name[WAYS] = {"all-to-all", "nccl", "copies", "direct", "default"};

/* What ranks share, threads or processes. */
typedef struct meeting {
  ncclUniqueId id;
  atomic_int known, arrived, round;
  double seconds[MOST_RANKS];
  unsigned char records[MOST_RANKS][MOST_RECORD];
} meeting;

typedef struct rank_state {
  meeting *all;
  int rank, size, rounds, chosen[MOST_CHOSEN], cases; /* cases: how many are chosen; 0: all */
  double megabytes, piece;
  ncclComm_t nccl;
  cuttDistComm_t near, comm; /* of threads, or of processes by the memory that they share; of NCCL */
  cudaStream_t stream;
} rank_state;

static void must(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "dist_gpu: %s: %s\n", what, cuttLastError());
  _exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void barrier(rank_state *s) {
  const int round = atomic_load(&s->all->round);
  if (atomic_fetch_add(&s->all->arrived, 1) + 1 == s->size) {
    atomic_store(&s->all->arrived, 0);
    atomic_fetch_add(&s->all->round, 1);
  }
  while (atomic_load(&s->all->round) == round) continue;
}

/* ----------------------------------------------------------------------------------------------------------------- cases */

typedef struct bench_case {
  const char *name;
  int modes;
  int perm[6];
} bench_case;

static const bench_case cases[] = {
    {"3 modes, not permuted", 3, {0, 1, 2}},      {"3 modes, reversed", 3, {2, 1, 0}},
    {"3 modes, rotated", 3, {1, 2, 0}},           {"4 modes, reversed", 4, {3, 2, 1, 0}},
    {"4 modes, halves swapped", 4, {2, 3, 0, 1}}, {"5 modes, reversed", 5, {4, 3, 2, 1, 0}},
    {"5 modes, first stays", 5, {0, 3, 4, 2, 1}}, {"6 modes, reversed", 6, {5, 4, 3, 2, 1, 0}},
    {"6 modes, mixed", 6, {3, 5, 1, 4, 0, 2}},
};

enum { MOST_CASES = sizeof cases / sizeof *cases };

typedef struct setting {
  int64_t extent[6], count; /* elements of a rank */
  double *in, *out, *sent, *received;
  int64_t message; /* bytes between two ranks */
  cuttDistPlan_t plan[WAYS];
} setting;

static void shape(setting *t, const bench_case *c, const rank_state *s) {
  const double elements = s->megabytes * 1048576 / 8 * s->size;
  int64_t side = 2;
  for (;;) {
    double volume = 1;
    for (int i = 0; i < c->modes; i++) volume *= (double)(side + s->size);
    if (volume > elements) break;
    side += s->size;
  }
  side = side / s->size * s->size;
  t->count = 1;
  for (int i = 0; i < c->modes; i++) {
    t->extent[i] = side;
    t->count *= side;
  }
  /* The first mode makes up for what the others were rounded down by. */
  t->extent[0] = (int64_t)(elements / ((double)t->count / (double)side)) / (2 * s->size) * 2 * s->size;
  t->count = t->count / side * t->extent[0] / s->size;
}

static void plan_case(setting *t, const bench_case *c, rank_state *s, int way) {
  int parts[6] = {1, 1, 1, 1, 1, 1}, to_parts[6] = {1, 1, 1, 1, 1, 1};
  int64_t out_extent[6];
  cuttDistLayout_t from = CUTT_DIST_LAYOUT_INIT, to = CUTT_DIST_LAYOUT_INIT;
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistOptions_t options = CUTT_DIST_OPTIONS_INIT;
  cuttDistPlanInfo_t info = {.struct_size = sizeof info};
  parts[c->modes - 1] = s->size;
  /* By the last mode that is not the input's last, so that something moves. */
  to_parts[c->perm[c->modes - 1] == c->modes - 1 ? c->modes - 2 : c->modes - 1] = s->size;
  for (int i = 0; i < c->modes; i++) out_extent[i] = t->extent[c->perm[i]];
  from.modes = to.modes = c->modes;
  from.extents = t->extent;
  to.extents = out_extent;
  from.parts = parts;
  to.parts = to_parts;
  problem.type = CUTT_F64;
  problem.from = &from;
  problem.to = &to;
  problem.perm = c->perm;
  options.backend = CUTT_BACKEND_CUDA;
  options.piece_bytes = way == BY_NCCL || way == BY_COPIES ? (size_t)(s->piece * 1048576) : 0;
  options.direct = way == DIRECTLY     ? CUTT_DIST_DIRECT_ALWAYS
                   : way == BY_DEFAULT ? CUTT_DIST_DIRECT_BY_COST
                                       : CUTT_DIST_DIRECT_NEVER;
  const cuttDistComm_t comm = way == BY_NCCL || way == BY_DEFAULT ? s->comm : s->near;
  must(!cuttDistPlanCreate(&t->plan[way], comm, &problem, &options), "plan");
  must(!cuttDistPlanGetInfo(t->plan[way], &info), "info");
  t->message = info.bytes_sent / (s->size > 1 ? s->size - 1 : 1);
}

static void all_to_all(const setting *t, const rank_state *s) {
  ncclGroupStart();
  for (int step = 1; step < s->size; step++) {
    const int to = (s->rank + step) % s->size, from = (s->rank + s->size - step) % s->size;
    ncclSend((char *)t->sent + (step - 1) * t->message, (size_t)t->message, ncclUint8, to, s->nccl, s->stream);
    ncclRecv((char *)t->received + (step - 1) * t->message, (size_t)t->message, ncclUint8, from, s->nccl, s->stream);
  }
  must(ncclGroupEnd() == ncclSuccess, "an all-to-all of NCCL");
}

static double run(setting *t, rank_state *s, int way, int count) {
  cudaDeviceSynchronize();
  barrier(s);
  const double began = now();
  for (int i = 0; i < count; i++) {
    if (way == 0)
      all_to_all(t, s);
    else
      must(!cuttDistPlanExecute(t->plan[way], t->in, t->out, s->stream), "execute");
  }
  must(cudaStreamSynchronize(s->stream) == cudaSuccess, "stream");
  s->all->seconds[s->rank] = (now() - began) / count;
  barrier(s);
  double slowest = 0;
  for (int i = 0; i < s->size; i++)
    if (s->all->seconds[i] > slowest) slowest = s->all->seconds[i];
  barrier(s);
  return slowest;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* -------------------------------------------------------------------------------------------------------------- time line */

/* A transport over NCCL's that records when messages begin and end, and what the caller's stream has done by then. */
typedef struct watched {
  cuttDistTransport_t real;
  cudaStream_t callers;
  cudaEvent_t begun, packed[MOST_STEPS], from[MOST_STEPS], to[MOST_STEPS], ended;
  int steps;
} watched;

static int watched_exchange(void *data, const cuttDistMessage_t *messages, int count, cudaStream_t stream) {
  watched *w = data;
  const int k = w->steps < MOST_STEPS ? w->steps++ : MOST_STEPS - 1;
  cudaEventRecord(w->packed[k], w->callers);
  cudaEventRecord(w->from[k], stream);
  const int lost = w->real.exchange(w->real.data, messages, count, stream);
  cudaEventRecord(w->to[k], stream);
  return lost;
}

static int watched_allgather(void *data, const void *mine, int64_t count, void *all) {
  const watched *w = data;
  return w->real.allgather(w->real.data, mine, count, all);
}

static void watched_fail(void *data, const char *text) {
  const watched *w = data;
  w->real.fail(w->real.data, text);
}

static const char *watched_failure(void *data, int *rank) {
  const watched *w = data;
  return w->real.failure(w->real.data, rank);
}

static double at(const watched *w, cudaEvent_t event) {
  float milliseconds = -1;
  cudaEventElapsedTime(&milliseconds, w->begun, event);
  return (double)milliseconds;
}

static void time_line(const bench_case *c, rank_state *s) {
  static _Thread_local watched w;
  rank_state own = *s;
  cuttDistTransport_t t;
  setting x = {0};
  must(!cuttDistCommTransport(s->comm, &t), "transport");
  memset(&w, 0, sizeof w);
  w.real = t;
  w.callers = s->stream;
  cudaEventCreate(&w.begun);
  cudaEventCreate(&w.ended);
  for (int i = 0; i < MOST_STEPS; i++) {
    cudaEventCreate(&w.packed[i]);
    cudaEventCreate(&w.from[i]);
    cudaEventCreate(&w.to[i]);
  }
  t.data = &w;
  t.exchange = watched_exchange;
  t.allgather = watched_allgather;
  t.fail = watched_fail;
  t.failure = watched_failure;
  t.destroy = NULL;
  must(!cuttDistCommCreate(&own.comm, &t), "a watched communicator");
  shape(&x, c, &own);
  must(cudaMalloc((void **)&x.in, (size_t)x.count * 8) == cudaSuccess, "memory");
  must(cudaMalloc((void **)&x.out, (size_t)x.count * 8) == cudaSuccess, "memory");
  plan_case(&x, c, &own, BY_NCCL);
  for (int i = 0; i < 3; i++) {
    w.steps = 0;
    cudaDeviceSynchronize();
    barrier(&own);
    cudaEventRecord(w.begun, s->stream);
    must(!cuttDistPlanExecute(x.plan[BY_NCCL], x.in, x.out, s->stream), "execute");
    cudaEventRecord(w.ended, s->stream);
    must(cudaStreamSynchronize(s->stream) == cudaSuccess, "stream");
    cudaDeviceSynchronize();
  }
  if (s->rank == 0) {
    printf("time line, %s, %.0f MiB a rank, ms from the beginning (rank 0, third execution)\n", c->name, s->megabytes);
    for (int i = 0; i < w.steps; i++)
      printf("  round %2d: packed by %8.3f, travels %8.3f to %8.3f\n", i, at(&w, w.packed[i]), at(&w, w.from[i]),
             at(&w, w.to[i]));
    printf("  all unpacked by %8.3f\n", at(&w, w.ended));
  }
  cuttDistPlanDestroy(x.plan[BY_NCCL]);
  cuttDistCommDestroy(own.comm);
  cudaFree(x.in);
  cudaFree(x.out);
}

/* -------------------------------------------------------------------------------------------------------------- measuring */

/* The way that the default has taken. */
static int way_of(cuttDistPlan_t plan) {
  static _Thread_local char text[8192];
  must(!cuttDistPlanDescribe(plan, CUTT_JSON, text, sizeof text, NULL), "describe");
  if (strstr(text, "\"direct\":true")) return DIRECTLY;
  return strstr(text, "\"messages\":\"copies\"") ? BY_COPIES : BY_NCCL;
}

static void print_choice(const setting *t, const double *median) {
  int fastest = BY_NCCL;
  for (int way = BY_NCCL; way < BY_DEFAULT; way++)
    if (median[way] < median[fastest]) fastest = way;
  printf(" the default goes by %s, the fastest by %s (%.3f of its speed)", way_name[way_of(t->plan[BY_DEFAULT])],
         way_name[fastest], median[fastest] / median[BY_DEFAULT]);
}

static void measure(const bench_case *c, rank_state *s) {
  setting t = {0};
  double seconds[WAYS][MOST_ROUNDS], median[WAYS];
  shape(&t, c, s);
  const int count = s->megabytes >= 2048 ? 1 : 5;
  must(cudaMalloc((void **)&t.in, (size_t)t.count * 8) == cudaSuccess, "memory");
  must(cudaMalloc((void **)&t.out, (size_t)t.count * 8) == cudaSuccess, "memory");
  cudaMemset(t.in, 1, (size_t)t.count * 8);
  for (int way = BY_NCCL; way < WAYS; way++) plan_case(&t, c, s, way);
  const size_t bytes = (size_t)t.message * (size_t)(s->size > 1 ? s->size - 1 : 1);
  must(cudaMalloc((void **)&t.sent, bytes) == cudaSuccess, "memory");
  must(cudaMalloc((void **)&t.received, bytes) == cudaSuccess, "memory");
  for (int i = -1; i < s->rounds; i++)
    for (int way = 0; way < WAYS; way++) {
      const double taken = run(&t, s, way, count);
      if (i >= 0) seconds[way][i] = taken;
    }
  for (int way = 0; way < WAYS; way++) {
    qsort(seconds[way], (size_t)s->rounds, sizeof(double), by_value);
    median[way] = seconds[way][s->rounds / 2];
  }
  if (s->rank == 0) {
    printf("%-26s %6.0f MiB a rank, %6.0f leave:", c->name, (double)t.count * 8 / 1048576, (double)bytes / 1048576);
    for (int way = 0; way < WAYS; way++) {
      printf(" %s %.3f ms, %.0f GB/s", way_name[way], 1e3 * median[way], 1e-9 * (double)bytes / median[way]);
      printf(way ? " (%.3f);" : ";", median[0] / median[way]);
    }
    print_choice(&t, median);
    printf("\n");
    if (getenv("DIST_DESCRIBE")) {
      static char text[8192];
      for (int way = BY_NCCL; way < WAYS; way++)
        if (!cuttDistPlanDescribe(t.plan[way], CUTT_TEXT, text, sizeof text, NULL)) fputs(text, stdout);
    }
    fflush(stdout);
  }
  for (int way = BY_NCCL; way < WAYS; way++) cuttDistPlanDestroy(t.plan[way]);
  cudaFree(t.in);
  cudaFree(t.out);
  cudaFree(t.sent);
  cudaFree(t.received);
}

/* ------------------------------------------------------------------------------------- a transport between processes */

/* By memory that the processes share: small records. Tensors are on GPUs that reach each other, so that there are no messages. */
static int gather(void *data, const void *mine, int64_t count, void *all) {
  rank_state *s = data;
  for (int64_t at = 0; at < count; at += MOST_RECORD) {
    const int64_t part = count - at < MOST_RECORD ? count - at : MOST_RECORD;
    memcpy(s->all->records[s->rank], (const char *)mine + at, (size_t)part);
    barrier(s);
    for (int i = 0; i < s->size; i++) memcpy((char *)all + i * count + at, s->all->records[i], (size_t)part);
    barrier(s);
  }
  return 0;
}

static int no_send(void *data, int peer, const void *bytes, int64_t count, cuttDistRequest_t *request) {
  (void)data, (void)peer, (void)bytes, (void)count, (void)request;
  return 1;
}

static int no_receive(void *data, int peer, void *bytes, int64_t count, cuttDistRequest_t *request) {
  (void)bytes;
  return no_send(data, peer, NULL, count, request);
}

static int no_wait(void *data, cuttDistRequest_t *request) { return no_send(data, 0, NULL, 0, request); }

static void end_all(void *data, const char *text) {
  (void)data;
  fprintf(stderr, "dist_gpu: %s\n", text);
  _exit(1);
}

static const char *no_failure(void *data, int *rank) {
  (void)data, (void)rank;
  return NULL;
}

static void make_near(rank_state *s) {
  cuttDistTransport_t t = {.struct_size = sizeof t,
                           .name = "shared memory",
                           .data = s,
                           .rank = s->rank,
                           .size = s->size,
                           .send = no_send,
                           .receive = no_receive,
                           .wait = no_wait,
                           .allgather = gather,
                           .fail = end_all,
                           .failure = no_failure};
  must(!cuttDistCommCreate(&s->near, &t), "a communicator of processes");
}

static void *be_rank(void *what) {
  rank_state *s = what;
  cuttDistNccl_t options = CUTT_DIST_NCCL_INIT;
  must(cudaSetDevice(s->rank) == cudaSuccess && cudaFree(NULL) == cudaSuccess, "cudaSetDevice");
  must(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking) == cudaSuccess, "stream");
  if (s->rank == 0) {
    must(ncclGetUniqueId(&s->all->id) == ncclSuccess, "ncclGetUniqueId");
    atomic_store(&s->all->known, 1);
  }
  while (!atomic_load(&s->all->known)) usleep(1000);
  must(ncclCommInitRank(&s->nccl, s->size, s->all->id, s->rank) == ncclSuccess, "ncclCommInitRank");
  const int processes = !s->near;
  if (processes) make_near(s);
  options.host = s->near;
  must(!cuttDistCommNccl(&s->comm, s->nccl, &options), "a communicator of NCCL");
  for (int i = 0; i < s->cases; i++) measure(&cases[s->chosen[i] - 1], s);
  for (int i = 0; i < MOST_CASES && !s->cases; i++) measure(&cases[i], s);
  if (!s->cases) time_line(&cases[1], s);
  cuttDistCommDestroy(s->comm);
  if (processes) cuttDistCommDestroy(s->near);
  ncclCommDestroy(s->nccl);
  return NULL;
}

int main(int count, char **arguments) {
  const char *mode = count > 1 ? arguments[1] : "threads";
  const int size = count > 2 ? atoi(arguments[2]) : 2;
  rank_state states[MOST_RANKS] = {0};
  cuttDistComm_t threads[MOST_RANKS] = {NULL};
  pthread_t thread[MOST_RANKS];
  int bad = 0;
  meeting *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  must(all != MAP_FAILED && size >= 1 && size <= MOST_RANKS, "1 to 8 ranks");
  memset(all, 0, sizeof *all);
  for (int i = 0; i < size; i++) {
    states[i] = (rank_state){.all = all, .rank = i, .size = size};
    states[i].megabytes = count > 3 ? atof(arguments[3]) : 256;
    states[i].rounds = count > 4 ? atoi(arguments[4]) : 5;
    states[i].piece = count > 5 ? atof(arguments[5]) : 0;
    for (int k = 6; k < count && k < 6 + MOST_CHOSEN; k++) {
      const int number = atoi(arguments[k]);
      must(number >= 1 && number <= MOST_CASES, "a case is 1 to 9");
      states[i].chosen[states[i].cases++] = number;
    }
    must(states[i].piece >= 0, "a piece has 0 MiB or more");
    must(states[i].rounds > 0 && states[i].rounds <= MOST_ROUNDS && states[i].megabytes > 0, "1 to 51 rounds");
  }
  printf("%s\n", mode);
  fflush(stdout);
  if (strcmp(mode, "threads") == 0) {
    must(!cuttDistCommThreads(size, threads), "communicators of threads");
    for (int i = 0; i < size; i++) {
      states[i].near = threads[i];
      pthread_create(&thread[i], NULL, be_rank, &states[i]);
    }
    for (int i = 0; i < size; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < size; i++) cuttDistCommDestroy(threads[i]);
    return 0;
  }
  pid_t child[MOST_RANKS];
  for (int i = 0; i < size; i++) {
    child[i] = fork();
    if (child[i] == 0) {
      be_rank(&states[i]);
      _exit(0);
    }
  }
  for (int i = 0; i < size; i++) {
    int status = 0;
    waitpid(child[i], &status, 0);
    bad |= status;
  }
  return bad != 0;
}
