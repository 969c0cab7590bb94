/* Plans: made by all ranks together.
 *
 * Every rank derives what it would have to do in each way that is allowed (pack, unpack, direct) and predicts its time. Then, in
 * one agreement, ranks compare what they were given, and take the way that is fastest for its slowest rank. All that can fail
 * comes before it, memory included, so that a plan exists on all ranks or on none. */
#include "dist/making.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "dist/join.h"
#include "dist/predict.h"
#include "dist/reach.h"
#include "plan/services.h"

#define PLAN_MAGIC 0x63757474706c616eull
#define DEFAULT_PIECE ((size_t)256 << 20)

static const size_t first_problem_size = sizeof(cuttDistProblem_t);
static const size_t first_options_size = offsetof(cuttDistOptions_t, backend);

static const char *const given_name[CUTT_GIVEN_OF_MOVES] = {"problem->from", "problem->to", "problem->perm",
                                                            "problem->type, alpha, beta or conjugate", "options"};

bool cutt_dist_plan_alive(const struct cuttDistPlanStruct *plan) {
  if (plan && plan->magic == PLAN_MAGIC) return true;
  cutt_error(CUTT_INVALID_PLAN, "plan is %p, which is no plan that is alive", (const void *)plan);
  return false;
}

/* ---------------------------------------------------------------------------------------------------- what is given */

static cuttResult read_options(const cuttDistOptions_t *callers, cuttDistOptions_t *options) {
  *options = (cuttDistOptions_t)CUTT_DIST_OPTIONS_INIT;
  if (!callers) return CUTT_SUCCESS;
  const cuttResult result = cutt_struct_read(options, sizeof *options, first_options_size, callers, "options");
  if (result) return result;
  const long permute = (long)options->permute, direct = (long)options->direct;
  if (permute < CUTT_DIST_BY_COST || permute > CUTT_DIST_UNPACK)
    return cutt_error(CUTT_INVALID_PARAMETER, "options->permute is %ld; it must be a cuttDistPermute_t", permute);
  if (direct < CUTT_DIST_DIRECT_BY_COST || direct > CUTT_DIST_DIRECT_ALWAYS)
    return cutt_error(CUTT_INVALID_PARAMETER, "options->direct is %ld; it must be a cuttDistDirect_t", direct);
  if (options->workspace_limit && options->workspace_limit < 4 * CUTT_PIECE_ALIGNMENT)
    return cutt_error(CUTT_INVALID_PARAMETER, "options->workspace_limit is %zu; it must be %d or more, or 0",
                      options->workspace_limit, 4 * CUTT_PIECE_ALIGNMENT);
  if (options->piece_bytes && options->piece_bytes < 16)
    return cutt_error(CUTT_INVALID_PARAMETER, "options->piece_bytes is %zu; it must be 16 or more, or 0",
                      options->piece_bytes);
  return CUTT_SUCCESS;
}

/* Is a scalar the number `wanted`? */
static bool scalar_is(const cutt_type_info *type, const unsigned char *scalar, int wanted) {
  if (type->type == CUTT_I32 || type->type == CUTT_I64) {
    int32_t narrow = 0;
    int64_t wide = 0;
    memcpy(type->type == CUTT_I32 ? (void *)&narrow : (void *)&wide, scalar, (size_t)type->scalar_bytes);
    return (type->type == CUTT_I32 ? narrow : wide) == wanted;
  }
  if (type->type == CUTT_F64 || type->type == CUTT_C64) {
    double d[2] = {0, 0};
    memcpy(d, scalar, (size_t)type->scalar_bytes);
    return d[0] == wanted && d[1] == 0;
  }
  float f[2] = {0, 0};
  memcpy(f, scalar, (size_t)type->scalar_bytes);
  return f[0] == (float)wanted && f[1] == 0;
}

/* Type and scalars: libcutt checks them in a problem of one element. */
static cuttResult read_scalars(cutt_making *m) {
  struct cuttDistPlanStruct *plan = m->plan;
  cuttProblem_t one = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  cuttPlan_t trial = NULL;
  one.type = m->problem.type;
  one.alpha = m->problem.alpha;
  one.beta = m->problem.beta;
  one.conjugate = m->problem.conjugate;
  options.backend = CUTT_BACKEND_CPU;
  options.threads = m->options.threads;
  const cuttResult result = cuttPlanCreate(&trial, &one, &options);
  cuttPlanDestroy(trial);
  if (result) return result;
  plan->type = cutt_type_lookup(m->problem.type);
  const size_t bytes = (size_t)plan->type->scalar_bytes;
  if (m->problem.alpha) memcpy(plan->alpha, m->problem.alpha, bytes);
  if (m->problem.beta) memcpy(plan->beta, m->problem.beta, bytes);
  cutt_task *task = &plan->task;
  task->elem_bytes = plan->type->bytes;
  task->reads_back = m->problem.beta && !scalar_is(plan->type, plan->beta, 0);
  task->computes =
      task->reads_back || m->problem.conjugate || (m->problem.alpha && !scalar_is(plan->type, plan->alpha, 1));
  plan->shapes = (cutt_shapes){.backend = plan->device.runtime ? plan->device.backend : CUTT_BACKEND_CPU,
                               .type = m->problem.type,
                               .alpha = m->problem.alpha ? plan->alpha : NULL,
                               .beta = task->reads_back ? plan->beta : NULL,
                               .conjugate = m->problem.conjugate,
                               .threads = m->options.threads};
  uint64_t hash = cutt_hash(CUTT_HASH_START, &m->problem.type, sizeof m->problem.type);
  hash = cutt_hash(hash, plan->alpha, sizeof plan->alpha);
  hash = cutt_hash(hash, plan->beta, sizeof plan->beta);
  const unsigned char flags[2] = {m->problem.alpha != NULL, m->problem.conjugate != 0};
  m->record.given[GIVEN_SCALARS] = cutt_hash(hash, flags, sizeof flags);
  return CUTT_SUCCESS;
}

static cuttResult make_places(const cutt_layout *layout, int size, int **places) {
  *places = malloc((size_t)size * sizeof **places);
  if (!*places) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: places of %d ranks", size);
  for (int i = 0; i < size; ++i) (*places)[i] = -1;
  for (int i = 0; i < layout->positions * layout->copies; ++i) (*places)[cutt_layout_rank(layout, i)] = i;
  return CUTT_SUCCESS;
}

/* Strides that a caller gives are checked by libcutt: those of the input as an input's, those of the output as an output's. */
static cuttResult check_strides(const cutt_making *m, int side) {
  static const char *const name[CUTT_SIDES] = {"from", "to"};
  const cutt_task *task = &m->plan->task;
  int same[CUTT_MAX_RANK];
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  cuttPlan_t trial = NULL;
  for (int i = 0; i < task->layout[side].modes; ++i) same[i] = i;
  problem.rank = task->layout[side].modes;
  problem.type = m->problem.type;
  problem.extents = task->extent[side];
  problem.perm = same;
  if (side == CUTT_FROM) problem.in_strides = task->stride[side];
  if (side == CUTT_TO) problem.out_strides = task->stride[side];
  options.backend = CUTT_BACKEND_CPU;
  options.threads = m->options.threads;
  const cuttResult result = cuttPlanCreate(&trial, &problem, &options);
  cuttPlanDestroy(trial);
  return result ? cutt_error(result, "problem->%s->strides, for this rank's part: %s", name[side], cuttLastError())
                : CUTT_SUCCESS;
}

/* This rank's part on a side. */
static cuttResult read_part(cutt_making *m, int side) {
  struct cuttDistPlanStruct *plan = m->plan;
  cutt_task *task = &plan->task;
  const cutt_layout *layout = &task->layout[side];
  const int place = task->place[side][task->me];
  if (place < 0) return CUTT_SUCCESS;
  int64_t next = 1;
  task->volume[side] = cutt_layout_extents(layout, place % layout->positions, task->extent[side]);
  for (int i = 0; i < layout->modes; ++i) {
    task->stride[side][i] = layout->strides ? layout->strides[i] : next;
    next *= task->extent[side][i];
  }
  if (task->volume[side] == 0) return CUTT_SUCCESS;
  const cuttResult result = layout->strides ? check_strides(m, side) : CUTT_SUCCESS;
  if (result) return result;
  plan->high[side] = task->elem_bytes;
  for (int i = 0; i < layout->modes; ++i) {
    const int64_t reach = (task->extent[side][i] - 1) * task->stride[side][i] * task->elem_bytes;
    *(reach < 0 ? &plan->low[side] : &plan->high[side]) += reach;
  }
  return CUTT_SUCCESS;
}

static cuttResult read_layouts(cutt_making *m) {
  struct cuttDistPlanStruct *plan = m->plan;
  cutt_task *task = &plan->task;
  task->me = plan->comm->transport.rank;
  task->size = plan->comm->transport.size;
  cutt_layout *from = &task->layout[CUTT_FROM], *to = &task->layout[CUTT_TO];
  cuttResult result = cutt_layout_read(m->problem.from, "problem->from", from);
  if (!result) result = cutt_layout_check_ranks(from, "problem->from", task->size);
  if (!result) result = cutt_layout_read(m->problem.to, "problem->to", to);
  if (!result) result = cutt_layout_check_ranks(to, "problem->to", task->size);
  if (!result) result = cutt_layouts_match(from, to, m->problem.perm, task->mode[CUTT_TO]);
  if (!result) result = make_places(from, task->size, &task->place[CUTT_FROM]);
  if (!result) result = make_places(to, task->size, &task->place[CUTT_TO]);
  if (result) return result;
  for (int i = 0; i < from->modes; ++i) {
    task->mode[CUTT_FROM][i] = i;
    task->output[task->mode[CUTT_TO][i]] = i;
  }
  memcpy(plan->perm, task->output, sizeof plan->perm);
  m->record.given[GIVEN_FROM] = cutt_layout_hash(from);
  m->record.given[GIVEN_TO] = cutt_layout_hash(to);
  m->record.given[GIVEN_PERM] = cutt_hash(CUTT_HASH_START, plan->perm, (size_t)from->modes * sizeof *plan->perm);
  result = read_part(m, CUTT_FROM);
  return result ? result : read_part(m, CUTT_TO);
}

static bool in_rounds(const struct cuttDistPlanStruct *plan) {
  return plan->device.runtime && plan->device.way != CUTT_BY_HOST;
}

static size_t default_piece(const struct cuttDistPlanStruct *plan) {
  const int64_t bytes = plan->task.layout[CUTT_FROM].volume * plan->task.elem_bytes;
  return in_rounds(plan) ? (size_t)cutt_predict_piece(&plan->device, bytes, plan->task.size) : DEFAULT_PIECE;
}

/* Boxes that kernels on a device write directly are worked on by turns: shorter stretches than there are tiles under way at once do
 * both at the same time, but take longer alone. What stays beside messages is worked on in parts, some in each round. Measured on
 * two H200. */
static int64_t stretch_on_device(const struct cuttDistPlanStruct *plan, size_t asked, bool direct) {
  enum { LEAST_BYTES = 1 << 20, MOST_DIRECT = 2048, MOST_KEPT = 64 };
  if (asked) return larger((int64_t)asked / plan->task.elem_bytes, (int64_t)1);
  const int64_t own = plan->task.layout[CUTT_FROM].volume / plan->task.size;
  return larger((int64_t)LEAST_BYTES / plan->task.elem_bytes, own / (direct ? MOST_DIRECT : MOST_KEPT));
}

/* In the host's memory: what is next to a box in a row of the input is mostly another rank's, and processors fetch some lines of it,
 * too. Where a stretch of each box follows those of the others, such lines are still in the processor's own cache when their turn
 * comes: in that of any, going by this many bytes for a turn. */
static int64_t stretch_on_host(const struct cuttDistPlanStruct *plan, size_t asked) {
  enum { TURN_BYTES = 512 << 10, LEAST_BYTES = 32 << 10, MOST = 4096 };
  const int64_t own = plan->task.volume[CUTT_FROM] * plan->task.elem_bytes;
  const int64_t least = larger((int64_t)LEAST_BYTES, own / MOST);
  const int64_t bytes = larger(least, TURN_BYTES / (int64_t)plan->task.size);
  return larger((asked ? smaller((int64_t)asked, bytes) : bytes) / plan->task.elem_bytes, (int64_t)1);
}

/* A round has a piece of each peer's. */
static cuttResult limit_piece(const cutt_making *m, size_t *piece) {
  const cuttDistOptions_t *o = &m->options;
  const int size = m->plan->task.size;
  const size_t pieces = 4 * (size_t)(in_rounds(m->plan) && size > 1 ? size - 1 : 1);
  if (o->workspace_limit < pieces * CUTT_PIECE_ALIGNMENT)
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "options->workspace_limit is %zu; it must be %zu or more for %d ranks, or 0", o->workspace_limit,
                      pieces * CUTT_PIECE_ALIGNMENT, size);
  if (*piece > o->workspace_limit / pieces) *piece = o->workspace_limit / pieces;
  return CUTT_SUCCESS;
}

static cuttResult read_all(cutt_making *m, const cuttDistProblem_t *problem, const cuttDistOptions_t *options) {
  if (!problem) return cutt_error(CUTT_INVALID_PARAMETER, "problem is NULL; it must point to a cuttDistProblem_t");
  cuttResult result = cutt_struct_read(&m->problem, sizeof m->problem, first_problem_size, problem, "problem");
  if (!result) result = read_options(options, &m->options);
  if (!result) result = cutt_device_select(&m->plan->device, m->plan->comm, &m->options);
  if (!result && m->plan->device.runtime) {
    result = m->plan->device.runtime->enter(&m->scope);
    m->entered = !result;
  }
  if (!result) result = read_scalars(m);
  if (!result) result = read_layouts(m);
  if (result) return result;
  const cuttDistTransport_t *t = &m->plan->comm->transport;
  const cuttDistOptions_t *o = &m->options;
  size_t piece = o->piece_bytes ? o->piece_bytes : default_piece(m->plan);
  const cuttResult cut = o->workspace_limit ? limit_piece(m, &piece) : CUTT_SUCCESS;
  if (cut) return cut;
  m->plan->trusts = o->trust_arguments != 0;
  if (t->most_bytes && piece > (size_t)t->most_bytes) piece = (size_t)t->most_bytes;
  /* Rounded down, so that a piece of this length takes no more when it is rounded up; below it is one element or some. */
  if (piece > CUTT_PIECE_ALIGNMENT) piece -= piece % CUTT_PIECE_ALIGNMENT;
  m->plan->task.piece_elements = (int64_t)piece / m->plan->task.elem_bytes;
  m->plan->task.cuts_inside = m->plan->device.runtime != NULL;
  m->plan->task.far = m->plan->device.runtime && t->size > 1;
  m->plan->task.joins = in_rounds(m->plan) && t->size > 1 && !o->workspace_limit; /* it takes a piece more each way */
  const uint64_t what[6] = {piece,
                            (uint64_t)o->permute,
                            (uint64_t)o->direct,
                            (uint64_t)m->plan->device.backend,
                            (uint64_t)m->plan->trusts,
                            (uint64_t)m->plan->device.slots};
  m->record.given[GIVEN_OPTIONS] = cutt_hash(CUTT_HASH_START, what, sizeof what);
  return CUTT_SUCCESS;
}

/* --------------------------------------------------------------------------------------------------------- the ways */

/* The two ways by messages differ only where the permutation does something. */
static bool allows(const cutt_making *m, cutt_way way) {
  const cutt_layout *from = &m->plan->task.layout[CUTT_FROM];
  bool moves = false, any = false;
  for (int i = 0; i < from->modes; ++i) moves = moves || m->plan->perm[i] != i;
  if (way == CUTT_WAY_DIRECT)
    return cutt_reach_can(m->plan->comm, m->plan->device.runtime, &any) && m->options.direct != CUTT_DIST_DIRECT_NEVER;
  if (m->options.direct == CUTT_DIST_DIRECT_ALWAYS) return false;
  if (way == CUTT_WAY_PACK) return m->options.permute != CUTT_DIST_UNPACK && (moves || m->options.permute);
  return m->options.permute != CUTT_DIST_PACK;
}

static int32_t goes_by_slots(const cutt_exchange *x) {
  if (x->way == CUTT_WAY_DIRECT) return 0;
  for (int side = 0; side < CUTT_SIDES; ++side)
    if (x->flow[side].through_bytes < x->flow[side].bytes) return 0;
  return 1;
}

static cuttResult make_ways(cutt_making *m) {
  const bool packed = !m->plan->task.layout[CUTT_TO].strides;
  bool any = false;
  const bool reaches = cutt_reach_can(m->plan->comm, m->plan->device.runtime, &any);
  if (m->options.direct == CUTT_DIST_DIRECT_ALWAYS && (!reaches || !packed))
    return cutt_error(CUTT_INVALID_PARAMETER, "options->direct is CUTT_DIST_DIRECT_ALWAYS, which can't be: %s",
                      reaches ? "problem->to->strides are given" : "ranks do not reach each other's memory");
  for (int way = 0; way < CUTT_WAYS; ++way) {
    m->record.seconds[way] = -1;
    if (!allows(m, (cutt_way)way) || (way == CUTT_WAY_DIRECT && !packed)) continue;
    cutt_exchange *x = &m->exchange[way];
    const bool direct = way == CUTT_WAY_DIRECT;
    const size_t asked = m->options.piece_bytes;
    if (m->plan->device.runtime)
      m->plan->task.stretch_elements = stretch_on_device(m->plan, asked, direct);
    else
      m->plan->task.stretch_elements = direct ? stretch_on_host(m->plan, asked) : 0;
    cuttResult result = cutt_exchange_make(x, &m->plan->task, &m->plan->shapes, (cutt_way)way);
    if (!result) result = cutt_join_make(x, &m->plan->task, &m->plan->shapes);
    if (result) return result;
    m->record.rounds[way] = cutt_exchange_rounds(x);
    for (int64_t i = 0; i < x->flow[CUTT_FROM].pieces; ++i)
      m->record.longest[way] = larger(m->record.longest[way], x->flow[CUTT_FROM].piece[i].bytes);
    m->record.slots |= goes_by_slots(x) << way;
    m->record.seconds[way] = (float)cutt_predict(&m->plan->comm->transport, &m->plan->device, x);
    m->record.bytes_sent = x->flow[CUTT_FROM].bytes;
  }
  return CUTT_SUCCESS;
}

/* ----------------------------------------------------------------------------------------------------------- memory */

/* A ring has room for two pieces, or for all there are. On a device all of them go through the host's. */
static int64_t ring_bytes(const struct cuttDistPlanStruct *plan, const cutt_flow *flow) {
  if (!plan->device.pinned_messages) return smaller(flow->staged_bytes, 2 * flow->most_bytes);
  int64_t all = 0, most = 0;
  for (int64_t i = 0; i < flow->pieces; ++i) {
    const int64_t bytes = cutt_piece_room(flow->piece[i].bytes);
    all += bytes;
    most = larger(most, bytes);
  }
  return smaller(all, 2 * most);
}

static cuttResult no_memory(size_t bytes) {
  return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", bytes);
}

static cuttResult make_channel(cutt_channel *channel, int64_t messages) {
  const size_t requests = (size_t)smaller(messages, (int64_t)CUTT_MOST_UNDER_WAY);
  const size_t bytes = (requests + 1) * (sizeof *channel->request + sizeof *channel->begin);
  channel->requests = (int64_t)requests;
  channel->request = malloc((requests + 1) * sizeof *channel->request);
  channel->begin = malloc((requests + 1) * sizeof *channel->begin);
  return channel->request && channel->begin ? CUTT_SUCCESS : no_memory(bytes);
}

/* For messages of the host's. */
static cuttResult make_rings(struct cuttDistPlanStruct *plan, const int64_t ring[CUTT_SIDES]) {
  cutt_device_part *d = &plan->device;
  void *host = NULL;
  cuttResult result = CUTT_SUCCESS;
  plan->workspace_bytes = (size_t)(ring[CUTT_FROM] + ring[CUTT_TO]);
  if (!plan->workspace_bytes) return CUTT_SUCCESS;
  result = cuttMemoryAllocate(plan->shapes.backend, plan->workspace_bytes, &plan->workspace);
  if (!result && d->pinned_messages) result = d->runtime->pinned_allocate(plan->workspace_bytes, &host);
  d->pinned = host;
  for (int side = 0; side < CUTT_SIDES && !result; ++side) {
    const int64_t at = side == CUTT_FROM ? 0 : ring[CUTT_FROM];
    plan->channel[side].ring = (unsigned char *)plan->workspace + at;
    plan->channel[side].host = host ? d->pinned + at : NULL;
    plan->channel[side].ring_bytes = ring[side];
  }
  return result;
}

/* For all ways that are still open. */
static cuttResult make_memory(cutt_making *m) {
  struct cuttDistPlanStruct *plan = m->plan;
  int64_t ring[CUTT_SIDES] = {0, 0}, most_moves = 0, all_moves = 0, messages[CUTT_SIDES] = {0, 0};
  for (int way = 0; way < CUTT_WAYS; ++way) {
    const cutt_exchange *x = &m->exchange[way];
    /* Those of a round, or all that is written directly, are one launch. */
    most_moves = larger(most_moves, way == CUTT_WAY_DIRECT ? x->moves : x->most_moves);
    all_moves = larger(all_moves, x->moves);
    for (int side = 0; side < CUTT_SIDES; ++side) {
      if (way != CUTT_WAY_DIRECT) ring[side] = larger(ring[side], ring_bytes(plan, &x->flow[side]));
      if (way != CUTT_WAY_DIRECT) messages[side] = larger(messages[side], x->flow[side].messages);
    }
  }
  const size_t moves = (size_t)(plan->device.runtime ? all_moves : most_moves) + 1;
  plan->plans = malloc(moves * sizeof(cuttPlan_t));
  plan->in = malloc(moves * sizeof *plan->in);
  plan->out = malloc(moves * sizeof *plan->out);
  plan->sent = malloc((size_t)plan->task.size * sizeof *plan->sent);
  plan->reached = malloc((size_t)plan->task.size * sizeof *plan->reached);
  if (!plan->plans || !plan->in || !plan->out || !plan->sent || !plan->reached)
    return no_memory(3 * moves * sizeof *plan->in +
                     (size_t)plan->task.size * (sizeof *plan->sent + sizeof *plan->reached));
  cuttResult result = make_channel(&plan->channel[CUTT_FROM], messages[CUTT_FROM]);
  if (!result) result = make_channel(&plan->channel[CUTT_TO], messages[CUTT_TO]);
  return result || in_rounds(plan) ? result : make_rings(plan, ring);
}

void cutt_making_release(struct cuttDistPlanStruct *plan) {
  const cutt_runtime *runtime = plan->device.context.handle ? plan->device.runtime : NULL;
  cutt_scope scope;
  const bool entered = runtime && !runtime->enter_context(&plan->device.context, &scope);
  if (plan->device.runtime) cutt_device_free(&plan->device);
  cutt_shapes_free(&plan->shapes);
  cutt_exchange_free(&plan->exchange);
  cutt_exchange_free(&plan->direct);
  for (int side = 0; side < CUTT_SIDES; ++side) {
    free(plan->task.place[side]);
    free(plan->channel[side].request);
    free(plan->channel[side].begin);
  }
  if (plan->workspace) cuttMemoryFree(plan->shapes.backend, plan->workspace);
  free(plan->plans);
  free(plan->in);
  free(plan->out);
  free(plan->sent);
  free(plan->reached);
  if (entered) runtime->leave(&scope);
  free(plan);
}

/* -------------------------------------------------------------------------------------------------------- agreement */

/* Do all ranks mean the same? */
static cuttResult compare(const struct cuttDistCommStruct *comm) {
  cutt_creation first, other;
  memcpy(&first, comm->records[0].what, sizeof first);
  for (int rank = 1; rank < comm->transport.size; ++rank) {
    memcpy(&other, comm->records[rank].what, sizeof other);
    for (int i = 0; i < CUTT_GIVEN_OF_MOVES; ++i)
      if (other.given[i] != first.given[i])
        return cutt_error(CUTT_INVALID_PARAMETER, "rank %d has other %s than rank 0; they must be the same", rank,
                          given_name[i]);
  }
  return CUTT_SUCCESS;
}

static void compare_ways(cutt_making *m) {
  struct cuttDistPlanStruct *plan = m->plan;
  cutt_creation record;
  for (int rank = 0; rank < plan->task.size; ++rank) {
    memcpy(&record, plan->comm->records[rank].what, sizeof record);
    plan->sent[rank] = record.bytes_sent;
    for (int way = 0; way < CUTT_WAYS; ++way) {
      const double seconds = record.seconds[way] < 0 ? (double)INFINITY : (double)record.seconds[way];
      m->slowest[way] = larger(m->slowest[way], seconds);
      m->rounds[way] = larger(m->rounds[way], record.rounds[way]);
    }
    if (plan->device.runtime) cutt_ready_note(m, rank, &record);
  }
}

cutt_way cutt_making_choose(const double seconds[CUTT_WAYS], bool direct) {
  int best = direct ? CUTT_WAY_DIRECT : CUTT_WAY_PACK;
  for (int way = 0; way < CUTT_WAY_DIRECT; ++way)
    if (seconds[way] < seconds[best]) best = way;
  return (cutt_way)best;
}

/* Where ranks reach some memory only, executions see what outputs are in: messages remain for those that are elsewhere. */
static void keep_both(cutt_making *m, cutt_way *way) {
  struct cuttDistPlanStruct *plan = m->plan;
  bool any = false;
  if (*way != CUTT_WAY_DIRECT || m->options.direct == CUTT_DIST_DIRECT_ALWAYS) return;
  if (cutt_reach_can(plan->comm, plan->device.runtime, &any) && any) return;
  plan->either = true;
  plan->direct = m->exchange[CUTT_WAY_DIRECT];
  memset(&m->exchange[CUTT_WAY_DIRECT], 0, sizeof m->exchange[0]);
  *way = cutt_making_choose(m->slowest, false);
}

/* Keeps what the chosen way needs. */
cuttResult cutt_making_settle(cutt_making *m) {
  struct cuttDistPlanStruct *plan = m->plan;
  const bool on_device = plan->device.runtime != NULL;
  cutt_way way = cutt_making_choose(m->slowest, true);
  keep_both(m, &way);
  cuttResult result = on_device ? cutt_ready_direct(m, &way) : CUTT_SUCCESS;
  if (result) return result;
  plan->predicted_seconds = m->slowest[way];
  if (on_device) {
    result = cutt_ready_end(m, way);
  } else {
    plan->exchange = m->exchange[way];
    memset(&m->exchange[way], 0, sizeof m->exchange[way]);
  }
  if (way == CUTT_WAY_DIRECT && plan->workspace) {
    cuttMemoryFree(plan->shapes.backend, plan->workspace);
    plan->workspace = NULL;
    plan->workspace_bytes = 0;
  }
  for (int side = 0; side < CUTT_SIDES; ++side) {
    free(plan->task.place[side]);
    plan->task.place[side] = NULL;
    plan->task.layout[side].ranks = NULL;
    plan->task.layout[side].strides = NULL;
  }
  return result;
}

cuttResult cutt_making_start(cutt_making *m, const cuttDistProblem_t *problem, const cuttDistOptions_t *options) {
  cuttResult result = read_all(m, problem, options);
  if (!result) result = make_ways(m);
  if (!result) result = make_memory(m);
  return !result && m->plan->device.runtime ? cutt_ready_start(m) : result;
}

void cutt_making_free(cutt_making *m) {
  for (int way = 0; m && way < CUTT_WAYS; ++way) cutt_exchange_free(&m->exchange[way]);
  if (m) free(m->seen);
  if (m) free(m->neighbours);
  if (m) free(m->own);
  free(m);
}

void cutt_making_end(struct cuttDistPlanStruct *plan, double start) {
  plan->magic = PLAN_MAGIC;
  plan->create_seconds = cutt_clock() - start;
}

static cuttResult create(cuttDistPlan_t *plan, struct cuttDistCommStruct *comm, const cuttDistProblem_t *problem,
                         const cuttDistOptions_t *options, bool *again) {
  const double start = cutt_clock();
  cutt_making *m = calloc(1, sizeof *m);
  struct cuttDistPlanStruct *made = calloc(1, sizeof *made);
  cutt_record record = {.plan = ++comm->plans, .step = CUTT_STEP_CREATE};
  cuttResult result = CUTT_SUCCESS;
  if (!plan) result = cutt_error(CUTT_INVALID_PARAMETER, "plan is NULL; it must point to a cuttDistPlan_t");
  if (!m || !made) result = no_memory(sizeof *m + sizeof *made);
  if (m && made) {
    m->plan = made;
    made->comm = comm;
    made->number = comm->plans;
  }
  if (!result) result = cutt_making_start(m, problem, options);
  if (!result) memcpy(record.what, &m->record, sizeof m->record);
  record.code = (int32_t)result;
  result = cutt_comm_agree(comm, &record);
  if (!result) result = compare(comm);
  if (!result && made && m && plan) {
    compare_ways(m);
    result = made->device.runtime ? cutt_ready_near(m, again) : CUTT_SUCCESS;
    if (!result && !*again) result = cutt_making_settle(m);
  }
  const cutt_runtime *runtime = m && m->entered ? m->plan->device.runtime : NULL;
  if (!result && !*again && made && plan) {
    cutt_making_end(made, start);
    *plan = made;
    made = NULL;
  }
  if (made) cutt_making_release(made);
  if (runtime) runtime->leave(&m->scope);
  cutt_making_free(m);
  return result;
}

cuttResult cuttDistPlanCreate(cuttDistPlan_t *plan, cuttDistComm_t comm, const cuttDistProblem_t *problem,
                              const cuttDistOptions_t *options) {
  bool again = false;
  if (plan) *plan = NULL;
  if (!cutt_comm_alive(comm)) return CUTT_INVALID_PLAN;
  const cuttResult result = create(plan, comm, problem, options, &again);
  if (result || !again) return result;
  again = false;
  return create(plan, comm, problem, options, &again);
}

cuttResult cuttDistPlanDestroy(cuttDistPlan_t plan) {
  if (!plan) return CUTT_SUCCESS;
  if (!cutt_dist_plan_alive(plan)) return CUTT_INVALID_PLAN;
  plan->magic = 0;
  cutt_making_release(plan);
  return CUTT_SUCCESS;
}
