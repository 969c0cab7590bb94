/* Redistributions over the processes of MPI, beside what bounds them and what else does them, taking turns in one run:
 *   cutt        cuttDistPlanExecute, by messages
 *   direct      the same with outputs in memory of cuttDistMpiAllocate, where ranks write directly unless they are told not to
 *   exchange    the same bytes between the same ranks from and to plain buffers, by MPI_Isend and MPI_Irecv of whole messages
 *   permute     packing and unpacking of the same blocks, by cuttPlansExecute, without messages
 *   alltoallw   MPI_Alltoallw of subarray types, as mpi4py-fft does it (where nothing is permuted)
 * Seconds are from when the first rank begins until the last one is done, by the clock that ranks of one host share: where they share
 * processors, too, they take turns, and none's own time is that of the work. (On several hosts: those of the slowest rank.) Medians
 * are printed. What a rank keeps is packed and unpacked by `permute`, and goes straight by `cutt`.
 *
 * Build and run, in the folder of the sources:
 *   mpicc -O2 -Iinclude -Ibindings/mpi bench/dist_mpi.c bindings/mpi/cutt_dist_mpi.c -Lbuild/lib -lcutt_dist -lcutt_contract -lcutt
 *     -o build/dist_mpi
 *   LD_LIBRARY_PATH=build/lib mpirun -n 4 build/dist_mpi [MEGABYTES-OF-A-RANK [PIECE-BYTES [ROUNDS]]] */
#include <cutt_dist_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RANKS = 64, MOST_ROUNDS = 101 };
enum { CUTT, DIRECT, EXCHANGE, PERMUTE, ALLTOALLW, WAYS };
static const char *const way_name[WAYS] = {"cutt", "direct", "exchange", "permute", "alltoallw"};

static int rank, size;
static int one_host; /* whose clock all ranks read */

static void must(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "dist_mpi: rank %d: %s: %s\n", rank, what, cuttLastError());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *memory(int64_t bytes) {
  void *made = NULL;
  must(cuttMemoryAllocate(CUTT_BACKEND_CPU, (size_t)bytes, &made) == CUTT_SUCCESS, "memory");
  memset(made, 1, (size_t)bytes);
  return made;
}

/* in(a, b, c), spread by c, becomes its permutation, spread by its last mode. Extents are multiples of the number of ranks. */
typedef struct setting {
  int64_t extent[3]; /* of in */
  int perm[3];
  double *in, *out, *sent, *received;
  double *shared; /* the output of direct */
  int64_t count;  /* elements of a rank */
  cuttDistPlan_t plan, direct;
  cuttPlan_t pack, unpack; /* of the block for one peer */
  const void *pack_in[MOST_RANKS], *unpack_in[MOST_RANKS];
  void *pack_out[MOST_RANKS], *unpack_out[MOST_RANKS];
  int counts[MOST_RANKS], zeros[MOST_RANKS];
  MPI_Datatype send_type[MOST_RANKS], receive_type[MOST_RANKS];
  int permutes;
} setting;

static void plan_cutt(const setting *s, cuttDistComm_t comm, size_t piece, cuttDistDirect_t direct,
                      cuttDistPlan_t *plan) {
  const int parts[3] = {1, 1, size};
  int64_t out_extents[3];
  cuttDistLayout_t from = CUTT_DIST_LAYOUT_INIT, to = CUTT_DIST_LAYOUT_INIT;
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistOptions_t options = CUTT_DIST_OPTIONS_INIT;
  /* Where nothing is permuted the first mode is cut in the output, so that something moves. */
  const int cut_first[3] = {size, 1, 1};
  for (int i = 0; i < 3; i++) out_extents[i] = s->extent[s->perm[i]];
  from.modes = to.modes = 3;
  from.extents = s->extent;
  to.extents = out_extents;
  from.parts = parts;
  to.parts = s->permutes ? parts : cut_first;
  problem.type = CUTT_F64;
  problem.from = &from;
  problem.to = &to;
  problem.perm = s->perm;
  options.threads = 1;
  options.piece_bytes = piece;
  options.direct = direct;
  must(cuttDistPlanCreate(plan, comm, &problem, &options) == CUTT_SUCCESS, "plan");
}

/* The block for a peer: permuted into a message, and copied out of one. */
static void plan_blocks(setting *s) {
  const int64_t a = s->extent[0], b = s->extent[1], own = s->extent[2] / size, share = a / size;
  const int64_t block[3] = {share, b, own}, in_strides[3] = {1, a, a * b};
  int same[3] = {0, 1, 2};
  int64_t packed[3], out_strides[3];
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  problem.rank = 3;
  problem.type = CUTT_F64;
  problem.extents = block;
  problem.perm = s->perm;
  problem.in_strides = in_strides;
  options.backend = CUTT_BACKEND_CPU;
  options.threads = 1;
  must(cuttPlanCreate(&s->pack, &problem, &options) == CUTT_SUCCESS, "pack");
  for (int i = 0; i < 3; i++) packed[i] = block[s->perm[i]];
  /* In the output the peer's share is one stretch of in's last mode, wherever that is. */
  int64_t next = 1;
  for (int i = 0; i < 3; i++) {
    out_strides[i] = next;
    next *= s->perm[i] == 2 ? s->extent[2] : block[s->perm[i]];
  }
  problem.extents = packed;
  problem.perm = same;
  problem.in_strides = NULL;
  problem.out_strides = out_strides;
  must(cuttPlanCreate(&s->unpack, &problem, &options) == CUTT_SUCCESS, "unpack");
  const int64_t message = share * b * own;
  for (int peer = 0; peer < size; peer++) {
    int64_t at = 0;
    for (int i = 0; i < 3; i++)
      if (s->perm[i] == 2) at = out_strides[i] * own * peer;
    s->pack_in[peer] = s->in + share * peer;
    s->pack_out[peer] = s->sent + message * peer;
    s->unpack_in[peer] = s->received + message * peer;
    s->unpack_out[peer] = s->out + at;
  }
}

static void plan_types(setting *s) {
  const int in_sizes[3] = {(int)s->extent[0], (int)s->extent[1], (int)s->extent[2] / size};
  const int out_sizes[3] = {(int)s->extent[0] / size, (int)s->extent[1], (int)s->extent[2]};
  const int block[3] = {out_sizes[0], in_sizes[1], in_sizes[2]};
  for (int peer = 0; peer < size; peer++) {
    const int in_start[3] = {block[0] * peer, 0, 0}, out_start[3] = {0, 0, block[2] * peer};
    s->counts[peer] = 1;
    MPI_Type_create_subarray(3, in_sizes, block, in_start, MPI_ORDER_FORTRAN, MPI_DOUBLE, &s->send_type[peer]);
    MPI_Type_create_subarray(3, out_sizes, block, out_start, MPI_ORDER_FORTRAN, MPI_DOUBLE, &s->receive_type[peer]);
    MPI_Type_commit(&s->send_type[peer]);
    MPI_Type_commit(&s->receive_type[peer]);
  }
}

static void exchange(const setting *s) {
  MPI_Request request[2 * MOST_RANKS];
  const int message = (int)(s->count / size * 8);
  int n = 0;
  for (int step = 1; step < size; step++) {
    const int peer = (rank - step + size) % size;
    MPI_Irecv((char *)s->received + (int64_t)message * peer, message, MPI_BYTE, peer, 7, MPI_COMM_WORLD, &request[n++]);
  }
  for (int step = 1; step < size; step++) {
    const int peer = (rank + step) % size;
    MPI_Isend((const char *)s->sent + (int64_t)message * peer, message, MPI_BYTE, peer, 7, MPI_COMM_WORLD,
              &request[n++]);
  }
  while (n > 0) MPI_Wait(&request[--n], MPI_STATUS_IGNORE);
}

static void run(const setting *s, int way) {
  if (way == CUTT) must(cuttDistPlanExecute(s->plan, s->in, s->out, NULL) == CUTT_SUCCESS, "execute");
  if (way == DIRECT) must(cuttDistPlanExecute(s->direct, s->in, s->shared, NULL) == CUTT_SUCCESS, "execute directly");
  if (way == EXCHANGE) exchange(s);
  if (way == PERMUTE) {
    must(cuttPlanExecuteBatch(s->pack, size, s->pack_in, s->pack_out, NULL) == CUTT_SUCCESS, "pack");
    must(cuttPlanExecuteBatch(s->unpack, size, s->unpack_in, s->unpack_out, NULL) == CUTT_SUCCESS, "unpack");
  }
  if (way == ALLTOALLW)
    MPI_Alltoallw(s->in, s->counts, s->zeros, s->send_type, s->out, s->counts, s->zeros, s->receive_type,
                  MPI_COMM_WORLD);
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* MPI_Wtime may count from when each rank began. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What a way takes all ranks, on every rank. */
static double seconds_of(const setting *s, int way) {
  double own[2] = {0, 0}, all[2] = {0, 0}; /* what is before it, negative, and until it is done; the most of both */
  MPI_Barrier(MPI_COMM_WORLD);
  own[0] = -now();
  run(s, way);
  own[1] = now();
  if (!one_host) own[1] += own[0], own[0] = 0;
  MPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all[0] + all[1];
}

static void measure(const setting *s, const char *name, int rounds) {
  static double seconds[WAYS][MOST_ROUNDS];
  const int ways = s->permutes ? WAYS - 1 : WAYS;
  for (int i = -2; i < rounds; i++)
    for (int way = 0; way < ways; way++) {
      const double taken = seconds_of(s, way);
      if (i >= 0) seconds[way][i] = taken;
    }
  if (rank) return;
  double median[WAYS] = {0};
  printf("%-10s %d ranks, %.1f MB each:", name, size, 8e-6 * (double)s->count);
  for (int way = 0; way < ways; way++) {
    qsort(seconds[way], (size_t)rounds, sizeof(double), by_value);
    median[way] = seconds[way][rounds / 2];
    printf(" %s %.2f ms", way_name[way], 1e3 * median[way]);
  }
  const double bound = median[EXCHANGE] > median[PERMUTE] ? median[EXCHANGE] : median[PERMUTE];
  for (int way = CUTT; way <= DIRECT; way++) {
    printf("; %s / max(exchange, permute) %.2f", way_name[way], median[way] / bound);
    if (ways == WAYS) printf(", alltoallw / %s %.2f", way_name[way], median[ALLTOALLW] / median[way]);
  }
  printf("\n");
}

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm host;
  int beside = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &beside);
  MPI_Comm_free(&host);
  one_host = beside == size;
  MPI_Allreduce(MPI_IN_PLACE, &one_host, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  const double megabytes = count > 1 ? atof(arguments[1]) : 64;
  const size_t piece = count > 2 ? strtoull(arguments[2], NULL, 10) : 0;
  const int rounds = count > 3 ? atoi(arguments[3]) : 11;
  must(size <= MOST_RANKS && megabytes > 0 && rounds > 0 && rounds <= MOST_ROUNDS, "1 to 64 ranks, 1 to 101 rounds");
  static const int perms[3][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
  static const char *const names[3] = {"none", "reversed", "rotated"};
  cuttDistComm_t comm = NULL;
  must(cuttDistCommMpi(&comm, MPI_COMM_WORLD) == CUTT_SUCCESS, "communicator");
  for (int i = 0; i < 3; i++) {
    setting s = {.permutes = i > 0};
    int64_t side = 1;
    /* About as long in all modes, and not a power of two. */
    while (8 * (double)side * (double)side * (double)side < megabytes * 1e6 * size) side++;
    s.extent[0] = s.extent[2] = (side / size + 1) * size;
    s.extent[1] = side | 1;
    memcpy(s.perm, perms[i], sizeof s.perm);
    if (i == 2) s.extent[1] = s.extent[0];
    s.count = s.extent[0] * s.extent[1] * s.extent[2] / size;
    s.in = memory(8 * s.count);
    for (int64_t n = 0; n < s.count; n++) s.in[n] = (double)(n + 1000003 * rank);
    s.out = memory(8 * s.count);
    s.sent = memory(8 * s.count);
    s.received = memory(8 * s.count);
    void *window = NULL;
    must(cuttDistMpiAllocate(comm, 8 * s.count, &window) == CUTT_SUCCESS, "shared memory");
    s.shared = window;
    memset(s.shared, 1, 8 * (size_t)s.count);
    plan_cutt(&s, comm, piece, CUTT_DIST_DIRECT_NEVER, &s.plan);
    plan_cutt(&s, comm, piece, CUTT_DIST_DIRECT_BY_COST, &s.direct);
    plan_blocks(&s);
    if (!s.permutes) plan_types(&s);
    run(&s, CUTT);
    run(&s, DIRECT);
    must(memcmp(s.out, s.shared, 8 * (size_t)s.count) == 0, "both ways the same");
    measure(&s, names[i], rounds);
    if (rank == 0 && getenv("DIST_DESCRIBE")) {
      char text[4096];
      cuttDistPlanDescribe(s.plan, CUTT_TEXT, text, sizeof text, NULL);
      fputs(text, stdout);
    }
    for (int peer = 0; peer < size && !s.permutes; peer++) {
      MPI_Type_free(&s.send_type[peer]);
      MPI_Type_free(&s.receive_type[peer]);
    }
    cuttPlanDestroy(s.pack);
    cuttPlanDestroy(s.unpack);
    cuttDistPlanDestroy(s.plan);
    cuttDistPlanDestroy(s.direct);
    must(cuttDistMpiFree(comm, s.shared) == CUTT_SUCCESS, "shared memory's end");
    cuttMemoryFree(CUTT_BACKEND_CPU, s.in);
    cuttMemoryFree(CUTT_BACKEND_CPU, s.out);
    cuttMemoryFree(CUTT_BACKEND_CPU, s.sent);
    cuttMemoryFree(CUTT_BACKEND_CPU, s.received);
  }
  cuttDistCommDestroy(comm);
  MPI_Finalize();
  return 0;
}
