/* Ranks whose memory is that of devices (dist_setting.h). */
#include "cuda/dist_setting.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/engine.h"

struct CUctx_st *dist_context[DIST_MOST];
fake_nccl_control *dist_nccl;
char dist_fault[400];
atomic_long dist_gatherings;

/* ------------------------------------------------------------------------------------------------------------- kernels */

static pthread_mutex_t emulator = PTHREAD_MUTEX_INITIALIZER;

/* What all pairs of a launch touch, and the heap around it: their tensors may be far from one another. */
static simt_span span_of(const fake_launch *launch, uintptr_t in, uintptr_t out) {
  const uintptr_t room = (uintptr_t)256 << 20;
  const uintptr_t right = launch->right ? (uintptr_t)launch->right : in;
  uintptr_t low = in < out ? in : out, high = in < out ? out : in;
  if (right < low) low = right;
  if (right > high) high = right;
  if (launch->pairs) {
    const cutt_kernel_args *args = launch->args;
    const cutt_pairs *pairs = launch->pairs;
    uint32_t each = 1;
    for (uint32_t i = 0; i < args->grid_modes; i++) each *= args->grid[i].extent.by;
    for (uint32_t i = 0; i < args->tiles / each; i++) {
      const uintptr_t at[2] = {in + ((uintptr_t)pairs->at[i].in << pairs->in_log2),
                               out + ((uintptr_t)pairs->at[i].out << pairs->out_log2)};
      for (int side = 0; side < 2; side++) {
        if (at[side] < low) low = at[side];
        if (at[side] > high) high = at[side];
      }
    }
  }
  return (simt_span){(const unsigned char *)(low - room), high - low + 2 * room};
}

static void run_kernel(const fake_launch *launch) {
  simt_launch l = simt_launch_named(launch->kernel, launch->args, launch->pairs);
  int64_t written = 0;
  const uintptr_t in = (uintptr_t)launch->in, out = (uintptr_t)launch->out;
  const simt_span span = span_of(launch, in, out);
  l.in = (const unsigned char *)in;
  l.out = (unsigned char *)out;
  l.right = (const unsigned char *)(uintptr_t)launch->right;
  l.third = (const unsigned char *)(uintptr_t)launch->third;
  l.blocks = launch->blocks;
  l.threads = launch->threads;
  l.shared_bytes = launch->shared_bytes;
  l.async = true;
  l.read = l.write = span;
  l.reads_out = true;
  pthread_mutex_lock(&emulator);
  if (!l.kernel && !l.flat_kernel && !l.window_kernel && !l.pass_kernel && !l.multiply_kernel && !l.panel_kernel &&
      !l.core_kernel && !l.combine_kernel && !l.sum_kernel && !l.join_kernel && !l.small_kernel && !l.staged_kernel &&
      !l.stretch_kernel && !l.strip_kernel)
    snprintf(dist_fault, sizeof dist_fault, "no kernel %s", launch->kernel);
  else if (!dist_fault[0])
    simt_run(&l, &written, NULL, dist_fault, sizeof dist_fault);
  pthread_mutex_unlock(&emulator);
}

static void bytes_of(const fake_launch *launch, size_t *args, size_t *pairs) {
  const simt_launch l = simt_launch_named(launch->kernel, launch->args, launch->pairs);
  *args = l.pass       ? sizeof *l.pass
          : l.multiply ? sizeof *l.multiply
          : l.panel    ? sizeof *l.panel
          : l.core     ? sizeof *l.core
          : l.combine  ? sizeof *l.combine
          : l.sum      ? sizeof *l.sum
          : l.small    ? sizeof *l.small
          : l.staged   ? sizeof *l.staged
          : l.stretch  ? sizeof *l.stretch
          : l.strip    ? sizeof *l.strip
          : l.flat     ? sizeof *l.flat
          : l.windows  ? sizeof *l.windows
                       : sizeof *l.args;
  *pairs = launch->pairs ? sizeof(cutt_pairs) : 0;
}

/* ------------------------------------------------------------------------------------------------------------ settings */

static int (*gather)(void *data, const void *mine, int64_t count, void *all);

static int count_and_gather(void *data, const void *mine, int64_t count, void *all) {
  atomic_fetch_add(&dist_gatherings, 1);
  return gather(data, mine, count, all);
}

/* A communicator of threads whose gatherings are counted. */
static cuttDistComm_t counted(cuttDistComm_t threads, kind k) {
  cuttDistComm_t made = NULL;
  cuttDistTransport_t t;
  assert_success(cuttDistCommTransport(threads, &t));
  gather = t.allgather;
  t.allgather = count_and_gather;
  t.destroy = NULL;
  if (k == THROUGH_HOST || k == TAKES_DEVICES) {
    t.name = "through the host";
    t.takes_devices = k == TAKES_DEVICES;
    t.shared = 0;
  }
  assert_success(cuttDistCommCreate(&made, &t));
  return made;
}

static void make_comm(void *what, int rank) {
  setting *s = what;
  cuttDistNccl_t options = CUTT_DIST_NCCL_INIT;
  fake->context_set(dist_context[rank]);
  options.host = s->kind == NCCL_BY_THREADS ? s->host[rank] : NULL;
  options.seconds = 20;
  s->made[rank] = cuttDistCommNccl(&s->comms[rank], s->nccl[rank], &options);
  snprintf(s->text[rank], sizeof s->text[rank], "%s", cuttLastError());
  fake->context_set(NULL);
}

void open_setting(setting *s, kind k, int size) {
  memset(s, 0, sizeof *s);
  s->kind = k;
  s->size = size;
  assert_success(cuttDistCommThreads(size, s->threads));
  for (int i = 0; i < size; i++) s->host[i] = s->comms[i] = counted(s->threads[i], k);
  if (k == NCCL_BY_THREADS || k == NCCL_ALONE) {
    dist_nccl->open(size, s->nccl);
    ranks_run(size, make_comm, s);
    for (int i = 0; i < size; i++)
      if (s->made[i]) fail_msg("rank %d: %s", i, s->text[i]);
  }
}

void close_setting(setting *s) {
  for (int i = 0; i < s->size; i++) {
    fake->context_set(dist_context[i]);
    if (s->comms[i] != s->host[i]) assert_success(cuttDistCommDestroy(s->comms[i]));
    assert_success(cuttDistCommDestroy(s->host[i]));
    assert_success(cuttDistCommDestroy(s->threads[i]));
  }
  fake->context_set(NULL);
  if (s->nccl[0]) dist_nccl->close(s->nccl);
}

void dist_try(int size, void (*work)(void *job, int rank), void *job, char (*failure)[FAILURE_BYTES], uint64_t seed) {
  ranks_run(size, work, job);
  if (dist_fault[0]) fail_msg("seed %llu: %s", (unsigned long long)seed, dist_fault);
  for (int rank = 0; rank < size; rank++)
    if (failure[rank][0]) fail_msg("%s", failure[rank]);
}

long dist_heavy_calls(void) {
  return fixture_calls(FAKE_mem_alloc) + fixture_calls(FAKE_stream_create) + fixture_calls(FAKE_event_create) +
         fixture_calls(FAKE_mem_host_alloc) + fixture_calls(FAKE_ipc_open_mem_handle);
}

/* ------------------------------------------------------------------------------------------------- what executions share */

const int64_t dist_cube[3] = {DIST_SIDE, DIST_SIDE, DIST_SIDE};

/* The index in the whole of element i of a part. */
static void find(const cuttDistLayout_t *layout, int rank, int64_t i, int64_t global[3]) {
  int64_t own[3] = {1, 1, 1};
  cuttDistLocalExtents(layout, rank, own);
  const int64_t local[3] = {i % own[0], i / own[0] % own[1], i / own[0] / own[1]};
  cuttDistGlobal(layout, rank, local, global);
}

static double cube_value(int64_t a, int64_t b, int64_t c) { return (double)(a + 100 * b + 10000 * c); }

int64_t dist_cube_fill(const cuttDistLayout_t *layout, int rank, double *part) {
  int64_t global[3], count = 0;
  cuttDistLocalCount(layout, rank, &count);
  for (int64_t i = 0; i < count && part; i++) {
    find(layout, rank, i, global);
    part[i] = cube_value(global[0], global[1], global[2]);
  }
  return count;
}

bool dist_cube_is_reversed(const cuttDistLayout_t *layout, int rank, const double *part) {
  int64_t global[3], count = 0;
  cuttDistLocalCount(layout, rank, &count);
  for (int64_t i = 0; i < count; i++) {
    find(layout, rank, i, global);
    if (part[i] != cube_value(global[2], global[1], global[0])) return false;
  }
  return true;
}

void dist_fail(pthread_barrier_t *all, int rank, int function, long at) {
  pthread_barrier_wait(all);
  if (rank == 0 && function >= 0) {
    fake->forget();
    atomic_store(&fake->fail_at, at);
    atomic_store(&fake->fail, function);
  }
  pthread_barrier_wait(all);
}

struct CUctx_st *dist_other_context(void) {
  struct CUctx_st *other = fake->context_create(0);
  fake->context_set(other);
  return other;
}

void dist_own_context(int rank, struct CUctx_st *other) {
  fake->context_set(dist_context[rank]);
  if (other) fake->context_destroy(other);
}

/* -------------------------------------------------------------------------------------------------- set-up and tear-down */

int dist_start(void **state) {
  const int result = fixture_start(state);
  for (int i = 0; i < DIST_MOST; i++) dist_context[i] = fake->context_create(i % 2);
  dist_fault[0] = 0;
  fake->run = run_kernel;
  fake->bytes_of = bytes_of;
  fake->args_size = 0;
  atomic_store(&fake->peers, 1);
  atomic_store(&fake->opens, 1);
  atomic_store(&dist_nccl->fail_at, 0);
  return result;
}

int dist_end(void **state) {
  for (int i = 0; i < DIST_MOST; i++) fake->context_destroy(dist_context[i]);
  return fixture_end(state);
}

int dist_open(void **state) {
  void *library = dlopen("libnccl.so.2", RTLD_NOW);
  void *symbol = library ? dlsym(library, "fake_nccl") : NULL;
  fake_nccl_function *function = NULL;
  memcpy(&function, &symbol, sizeof function);
  if (!function) {
    print_error("the stand-in for NCCL is not the first libnccl.so.2 on LD_LIBRARY_PATH\n");
    return -1;
  }
  dist_nccl = function();
  /* One heap, so that all memory of devices is near the rest. */
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  return fixture_open(state);
}
