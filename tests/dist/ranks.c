/* Ranks as threads, and random redistributions (ranks.h). */
#include "ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/buffers.h"

enum { GUARD = 64, POISON = 0xa5, MOST_VOLUME = 6000 };

typedef struct thread_work {
  void (*work)(void *what, int rank);
  void *what;
  int rank;
} thread_work;

static void *run_thread(void *argument) {
  const thread_work *t = argument;
  t->work(t->what, t->rank);
  return NULL;
}

void ranks_run(int size, void (*work)(void *what, int rank), void *what) {
  pthread_t thread[MOST_RANKS];
  thread_work works[MOST_RANKS];
  assert_true(size <= MOST_RANKS);
  for (int i = 0; i < size; i++) {
    works[i] = (thread_work){work, what, i};
    assert_int_equal(pthread_create(&thread[i], NULL, run_thread, &works[i]), 0);
  }
  for (int i = 0; i < size; i++) pthread_join(thread[i], NULL);
}

/* ------------------------------------------------------------------------------------------------------------ random cases */

void dist_side_make(test_rng *rng, int modes, int size, dist_side *s) {
  int positions = 1;
  for (int i = 0; i < modes; i++) {
    s->parts[i] = 1;
    s->blocks[i] = test_chance(rng, 50) ? 0 : test_random_in(rng, 1, 1 + s->extents[i] / 2);
  }
  for (int tries = 0; tries < 4 && modes; tries++) {
    const int mode = (int)test_random_in(rng, 0, modes - 1);
    const int more = (int)test_random_in(rng, 1, size / positions);
    s->parts[mode] *= more;
    positions *= more;
    if (test_chance(rng, 40)) break;
  }
  s->copies = test_chance(rng, 30) ? (int)test_random_in(rng, 1, size / positions) : 1;
  for (int i = 0; i < size; i++) s->ranks[i] = i;
  if (test_chance(rng, 70)) test_shuffle(rng, s->ranks, size);
  s->strided = test_chance(rng, 30);
}

static void make_options(test_rng *rng, dist_case *c) {
  static const size_t limits[] = {0, 256, 320, 1000, 5000}, pieces[] = {0, 16, 100, 1000, 4096};
  c->options = (cuttDistOptions_t)CUTT_DIST_OPTIONS_INIT;
  c->options.threads = 1;
  c->options.permute = (cuttDistPermute_t)test_random_in(rng, 0, 2);
  c->options.direct = test_chance(rng, 30) ? CUTT_DIST_DIRECT_BY_COST : CUTT_DIST_DIRECT_NEVER;
  if (!c->side[1].strided && test_chance(rng, 25)) c->options.direct = CUTT_DIST_DIRECT_ALWAYS;
  c->options.workspace_limit = limits[test_random_in(rng, 0, 4)];
  c->options.piece_bytes = pieces[test_random_in(rng, 0, 4)];
}

void dist_case_make(dist_case *c, uint64_t seed, int size) {
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_8, CUTT_BYTES_16, CUTT_F16, CUTT_BF16, CUTT_F32,
                                     CUTT_F64,     CUTT_C32,     CUTT_C64,      CUTT_I32, CUTT_I64};
  test_rng rng = {test_mix(seed)};
  memset(c, 0, sizeof *c);
  c->seed = seed;
  c->size = size;
  c->modes = (int)test_random_in(&rng, 0, MOST_MODES - 1);
  c->type = types[test_random_in(&rng, 0, (int64_t)(sizeof types / sizeof *types) - 1)];
  int64_t room = test_random_in(&rng, 1, MOST_VOLUME);
  for (int i = 0; i < c->modes; i++) {
    const int64_t extent = test_chance(&rng, 3) ? 0 : test_random_in(&rng, 1, room < 40 ? room : 40);
    c->side[0].extents[i] = extent;
    if (extent) room /= extent;
    c->perm[i] = i;
  }
  test_shuffle(&rng, c->perm, c->modes);
  for (int i = 0; i < c->modes; i++) c->side[1].extents[i] = c->side[0].extents[c->perm[i]];
  dist_side_make(&rng, c->modes, size, &c->side[0]);
  dist_side_make(&rng, c->modes, size, &c->side[1]);
  if (test_type_computes(c->type)) {
    c->has_alpha = test_chance(&rng, 50);
    c->has_beta = test_chance(&rng, 50);
    c->alpha = test_random_scalar(&rng, c->type);
    c->beta = test_random_scalar(&rng, c->type);
    c->conjugate = test_type_complex(c->type) && test_chance(&rng, 50);
  }
  make_options(&rng, c);
}

cuttDistLayout_t dist_side_layout(const dist_side *s, int modes) {
  cuttDistLayout_t layout = CUTT_DIST_LAYOUT_INIT;
  layout.modes = modes;
  layout.copies = s->copies;
  layout.extents = s->extents;
  layout.parts = s->parts;
  layout.blocks = s->blocks;
  layout.ranks = s->ranks;
  return layout;
}

cuttDistLayout_t dist_case_layout(const dist_case *c, int side) { return dist_side_layout(&c->side[side], c->modes); }

cuttDistProblem_t dist_case_problem(const dist_case *c, const cuttDistLayout_t *from, const cuttDistLayout_t *to) {
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  problem.type = c->type;
  problem.from = from;
  problem.to = to;
  problem.perm = c->perm;
  problem.alpha = c->has_alpha ? &c->alpha : NULL;
  problem.beta = c->has_beta ? &c->beta : NULL;
  problem.conjugate = c->conjugate;
  return problem;
}

/* ----------------------------------------------------------------------------------------------------------------- one case */

/* A rank's part of a tensor: memory with guards around it. */
typedef struct part {
  unsigned char *memory, *origin; /* element (0, ..., 0) */
  size_t bytes;
  int64_t extents[MOST_MODES], strides[MOST_MODES];
  int64_t count;
} part;

typedef struct trial {
  const dist_case *c;
  const cuttDistComm_t *comms;
  unsigned char *in, *out, *expected; /* of the whole tensors, packed */
  char failure[MOST_RANKS][FAILURE_BYTES];
  int64_t sent[MOST_RANKS], received[MOST_RANKS];
  bool direct[MOST_RANKS];
} trial;

/* Where a local element lies in the whole packed tensor; false: after the last one. */
static bool next_index(const part *p, int modes, int64_t *index) {
  for (int i = 0; i < modes; i++) {
    if (++index[i] < p->extents[i]) return true;
    index[i] = 0;
  }
  return false;
}

dist_memory dist_output_memory;

static void *take_memory(size_t bytes, int side) {
  if (side == 1 && dist_output_memory.take) return dist_output_memory.take(bytes);
  return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void make_part(const trial *t, int side, int rank, part *p) {
  const dist_case *c = t->c;
  const cuttDistLayout_t layout = dist_case_layout(c, side);
  test_rng rng = {test_mix(c->seed + 1000003 * (uint64_t)(rank + 1) + (uint64_t)side)};
  int order[MOST_MODES];
  int64_t next = 1, low = 0, high = 0;
  cuttDistLocalExtents(&layout, rank, p->extents);
  cuttDistLocalCount(&layout, rank, &p->count);
  for (int i = 0; i < c->modes; i++) order[i] = i;
  if (c->side[side].strided) test_shuffle(&rng, order, c->modes);
  for (int i = 0; i < c->modes; i++) {
    const int m = order[i];
    if (c->side[side].strided && test_chance(&rng, 30)) next += test_random_in(&rng, 1, 3);
    p->strides[m] = c->side[side].strided && test_chance(&rng, 20) ? -next : next;
    next *= p->extents[m] > 0 ? p->extents[m] : 1;
    const int64_t reach = p->extents[m] > 0 ? (p->extents[m] - 1) * p->strides[m] : 0;
    *(reach < 0 ? &low : &high) += reach;
  }
  const size_t elem = test_type_bytes(c->type);
  p->bytes = (size_t)(high - low + 1) * elem + 2 * GUARD;
  p->memory = take_memory(p->bytes, side);
  memset(p->memory, POISON, p->bytes);
  p->origin = p->memory + GUARD + (size_t)-low * elem;
}

/* Copies a part's elements out of the whole tensor, or compares them with it. */
static bool visit(const trial *t, int side, int rank, part *p, unsigned char *memory, const unsigned char *whole,
                  bool store) {
  const dist_case *c = t->c;
  const cuttDistLayout_t layout = dist_case_layout(c, side);
  const size_t elem = test_type_bytes(c->type);
  int64_t local[MOST_MODES] = {0}, global[MOST_MODES];
  if (p->count == 0) return true;
  do {
    int64_t from = 0, step = 1, to = 0;
    if (cuttDistGlobal(&layout, rank, local, global) != CUTT_SUCCESS) return false;
    for (int i = 0; i < c->modes; i++) {
      from += global[i] * step;
      step *= layout.extents[i];
      to += local[i] * p->strides[i];
    }
    unsigned char *at = memory + (p->origin - p->memory) + to * (int64_t)elem;
    if (store)
      memcpy(at, whole + (size_t)from * elem, elem);
    else if (memcmp(at, whole + (size_t)from * elem, elem) != 0)
      return false;
  } while (next_index(p, c->modes, local));
  return true;
}

static void fail_here(trial *t, int rank, const char *what) {
  snprintf(t->failure[rank], FAILURE_BYTES, "seed %llu, rank %d of %d: %s: %.250s", (unsigned long long)t->c->seed,
           rank, t->c->size, what, cuttLastError());
}

static cuttResult make_plan(const trial *t, int rank, const part *in, const part *out, cuttDistPlan_t *plan) {
  const dist_case *c = t->c;
  cuttDistLayout_t from = dist_case_layout(c, 0), to = dist_case_layout(c, 1);
  if (c->side[0].strided) from.strides = in->strides;
  if (c->side[1].strided) to.strides = out->strides;
  const cuttDistProblem_t problem = dist_case_problem(c, &from, &to);
  return cuttDistPlanCreate(plan, t->comms[rank], &problem, &c->options);
}

/* What the plan says about itself, against what is known of the case. */
static void check_info(trial *t, int rank, cuttDistPlan_t plan, const part *in, const part *out) {
  const dist_case *c = t->c;
  const int64_t elem = (int64_t)test_type_bytes(c->type);
  cuttDistPlanInfo_t info = {.struct_size = sizeof info};
  if (cuttDistPlanGetInfo(plan, &info) != CUTT_SUCCESS) {
    fail_here(t, rank, "info");
    return;
  }
  t->sent[rank] = info.bytes_sent;
  t->received[rank] = info.direct ? 0 : info.bytes_received;
  t->direct[rank] = info.direct;
  const size_t limit = c->options.workspace_limit;
  if (limit && info.workspace_bytes > limit) fail_here(t, rank, "more workspace than the limit");
  if (!info.direct && info.bytes_kept + info.bytes_received != out->count * elem)
    fail_here(t, rank, "what is kept and received is not what the part has");
  if (c->side[0].copies == 1 && c->side[1].copies == 1 && info.bytes_kept + info.bytes_sent != in->count * elem)
    fail_here(t, rank, "what is kept and sent is not what the part has");
  if (c->options.permute && !info.direct && info.permute != c->options.permute) fail_here(t, rank, "another way");
  if (c->options.direct == CUTT_DIST_DIRECT_ALWAYS && !info.direct) fail_here(t, rank, "not direct");
  if (c->options.direct == CUTT_DIST_DIRECT_NEVER && info.direct) fail_here(t, rank, "direct");
}

/* A part's memory where the plan wants it: itself, or a copy on the device. */
static unsigned char *place(const trial *t, const part *p) {
  void *memory = NULL;
  if (!t->c->on_device) return p->memory;
  return cuttMemoryAllocate(CUTT_BACKEND_CUDA, p->bytes, &memory) == CUTT_SUCCESS ? memory : NULL;
}

static cuttResult execute(const trial *t, cuttDistPlan_t plan, const part *in, const part *out, unsigned char *from,
                          unsigned char *to) {
  cuttResult result = CUTT_SUCCESS;
  if (t->c->on_device) result = cuttMemoryCopy(CUTT_BACKEND_CUDA, from, in->memory, in->bytes);
  if (t->c->on_device && !result) result = cuttMemoryCopy(CUTT_BACKEND_CUDA, to, out->memory, out->bytes);
  if (!result)
    result = cuttDistPlanExecute(plan, in->count ? from + (in->origin - in->memory) : NULL,
                                 out->count ? to + (out->origin - out->memory) : NULL, NULL);
  if (t->c->on_device && !result) result = cuttMemoryCopy(CUTT_BACKEND_CUDA, out->memory, to, out->bytes);
  return result;
}

static void try_rank(void *what, int rank) {
  trial *t = what;
  part in, out;
  cuttDistPlan_t plan = NULL;
  make_part(t, 0, rank, &in);
  make_part(t, 1, rank, &out);
  visit(t, 0, rank, &in, in.memory, t->in, true);
  if (make_plan(t, rank, &in, &out, &plan) != CUTT_SUCCESS) fail_here(t, rank, "create");
  unsigned char *wanted = malloc(out.bytes);
  memset(wanted, POISON, out.bytes);
  visit(t, 1, rank, &out, wanted, t->expected, true);
  if (plan) check_info(t, rank, plan, &in, &out);
  unsigned char *from = place(t, &in), *to = place(t, &out);
  for (int i = 0; plan && i < 2; i++) {
    memset(out.memory, POISON, out.bytes);
    if (t->c->has_beta) visit(t, 1, rank, &out, out.memory, t->out, true);
    if (execute(t, plan, &in, &out, from, to) != CUTT_SUCCESS)
      fail_here(t, rank, "execute");
    else if (!visit(t, 1, rank, &out, out.memory, t->expected, false))
      fail_here(t, rank, "a wrong element");
    else if (memcmp(out.memory, wanted, out.bytes) != 0)
      fail_here(t, rank, "something beside the elements was written");
  }
  cuttDistPlanDestroy(plan);
  if (t->c->on_device) {
    cuttMemoryFree(CUTT_BACKEND_CUDA, from);
    cuttMemoryFree(CUTT_BACKEND_CUDA, to);
  }
  free(wanted);
  free(in.memory);
  if (dist_output_memory.give)
    dist_output_memory.give(out.memory);
  else
    free(out.memory);
}

/* The whole tensors: the permutation that is known to be right makes what is expected. */
static void make_whole(trial *t) {
  const dist_case *c = t->c;
  int64_t volume = 1;
  for (int i = 0; i < c->modes; i++) volume *= c->side[0].extents[i];
  const size_t bytes = (size_t)volume * test_type_bytes(c->type);
  t->in = malloc(bytes + 1);
  t->out = malloc(bytes + 1);
  t->expected = malloc(bytes + 1);
  assert_non_null(t->in);
  assert_non_null(t->out);
  assert_non_null(t->expected);
  if (test_type_computes(c->type)) {
    test_fill_numbers(t->in, bytes, c->type, c->seed);
    test_fill_numbers(t->out, bytes, c->type, c->seed + 1);
  } else {
    test_fill_bits(t->in, bytes, test_type_bytes(c->type), c->seed);
    test_fill_bits(t->out, bytes, test_type_bytes(c->type), c->seed + 1);
  }
  memcpy(t->expected, t->out, bytes);
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  problem.rank = c->modes;
  problem.type = c->type;
  problem.extents = c->side[0].extents;
  problem.perm = c->perm;
  problem.alpha = c->has_alpha ? &c->alpha : NULL;
  problem.beta = c->has_beta ? &c->beta : NULL;
  problem.conjugate = c->conjugate;
  options.backend = CUTT_BACKEND_CPU;
  assert_success(cuttPermute(&problem, &options, t->in, t->expected, NULL));
}

static trial *open_trial(const dist_case *c, const cuttDistComm_t *comms) {
  trial *t = calloc(1, sizeof *t);
  assert_non_null(t);
  t->c = c;
  t->comms = comms;
  make_whole(t);
  return t;
}

static void close_trial(trial *t) {
  free(t->in);
  free(t->out);
  free(t->expected);
  free(t);
}

void dist_case_try(const dist_case *c, const cuttDistComm_t *comms, char failure[FAILURE_BYTES], int64_t *sent) {
  trial *t = open_trial(c, comms);
  ranks_run(c->size, try_rank, t);
  int64_t all_sent = 0, all_received = 0;
  failure[0] = 0;
  for (int i = 0; i < c->size; i++) {
    all_sent += t->sent[i];
    all_received += t->received[i];
    if (t->failure[i][0] && !failure[0]) memcpy(failure, t->failure[i], FAILURE_BYTES);
  }
  if (!failure[0] && !t->direct[0] && all_sent != all_received)
    snprintf(failure, FAILURE_BYTES, "not all that is sent is received");
  if (sent) *sent = all_sent;
  close_trial(t);
}

void dist_case_try_rank(const dist_case *c, cuttDistComm_t comm, int rank, char failure[FAILURE_BYTES]) {
  cuttDistComm_t comms[MOST_RANKS] = {NULL};
  comms[rank] = comm;
  trial *t = open_trial(c, comms);
  try_rank(t, rank);
  memcpy(failure, t->failure[rank], FAILURE_BYTES);
  close_trial(t);
}
