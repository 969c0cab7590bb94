/* Preparing and executing, by the target's runtime.
 *
 * An execution asks the runtime a few questions, none of which waits: which context is current, is it still the plan's,
 * what memory the two pointers are to. Then it launches one kernel, or, where the permutation is a plain copy, starts the
 * driver's. Of a caller who vouches for its pointers nothing is asked, and only where the launch fails is the context looked at.
 *
 * Many executions of one plan are one launch, or few: of the batched kernel, which gets the addresses of all as a parameter.
 * Executions of many plans are sorted by plan first, some thousand at a time. The room that this takes is not on the stack and
 * not allocated: it is one of a few desks that belong to the process, and that calls take and give back. Where none is free, the
 * executions are launches one by one.
 *
 * A launch copies its arguments, so neither the plan nor anything else of the library's has to outlive the call, and a graph that
 * captures it holds all that it needs. */
#include "gpu/execute.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "gpu/launch.h"
#include "gpu/pairs.h"
#include "runtime/runtime.h"

/* Immutable once made, and in host memory only: the device gets what it needs as the arguments of a launch. */
typedef struct gpu_plan {
  const cutt_runtime *runtime;
  const cutt_kernels *kernels; /* in the context that it is for */
  cutt_canonical canonical;
  cutt_candidate candidate;
  cutt_gpu_launch ready; /* for buffers at multiples of 16 bytes, as nearly all are */
  size_t copy_bytes;     /* what a plain copy moves; 0: it is none */
  int64_t most_pairs;    /* that a launch of the batched kernels can have */
  /* The batched kernels of the same context, once they have been asked for. */
  _Atomic(const cutt_kernels *) batched;
  /* What a launch of them is for, worked out by the first execution that wants it: a single one may be too small for the device,
   * and many of it not. */
  cutt_candidate many;
  atomic_int many_state; /* MANY_UNKNOWN, ... */
} gpu_plan;
enum { MANY_UNKNOWN, MANY_UNDER_WAY, MANY_KNOWN };

static const cutt_kernel_list all_kernels = {CUTT_KERNEL_COUNT, cutt_gpu_kernel_source, cutt_gpu_kernel_name};
static const cutt_kernel_list batched_kernels = {CUTT_TABLE_KERNEL_COUNT, cutt_gpu_batched_source,
                                                 cutt_gpu_batched_name};

static const cutt_device *device_of(const cutt_kernels *kernels) { return (const cutt_device *)kernels->target; }

/* Bytes that the driver copies; 0: a kernel is needed. */
static size_t plain_copy(const cutt_canonical *c) {
  return cutt_canonical_is_run(c) && !c->scale.active ? (size_t)c->volume * (size_t)c->elem_bytes : 0;
}

cuttResult cutt_gpu_prepare(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                            void **prepared) {
  const cutt_runtime *runtime = target->runtime;
  const cutt_kernels *kernels = NULL;
  *prepared = NULL;
  if (!runtime) return cutt_error(CUTT_INTERNAL_ERROR, "%s is only described; nothing runs there", target->name);
  const cuttResult result = runtime->kernels_find(&all_kernels, &kernels);
  if (result) return result;

  gpu_plan *plan = malloc(sizeof *plan);
  if (!plan) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan on the GPU", sizeof *plan);
  plan->runtime = runtime;
  plan->kernels = kernels;
  plan->canonical = *canonical;
  plan->candidate = *candidate;
  plan->copy_bytes = plain_copy(canonical);
  atomic_init(&plan->batched, NULL);
  atomic_init(&plan->many_state, MANY_UNKNOWN);
  const char *why = NULL;
  if (!cutt_gpu_lay_out(device_of(kernels), canonical, candidate, CUTT_GPU_ALIGNED, CUTT_GPU_ALIGNED, &plan->ready,
                        &why)) {
    free(plan);
    return cutt_error(CUTT_INTERNAL_ERROR, "a candidate can't be laid out: %s", why ? why : "no reason given");
  }
  plan->most_pairs = cutt_gpu_most_problems(plan->ready.tiles, runtime->parameter_bytes());
  *prepared = plan;
  return CUTT_SUCCESS;
}

void cutt_gpu_release(void *prepared) { free(prepared); }

/* ------------------------------------------------------------------------------------------------- one launch or copy */

/* Executions of one call. Unless they are trusted, the context of `entered` is. */
typedef struct call {
  const cutt_executions *e;
  cudaStream_t stream;
  const gpu_plan *entered;
  cutt_scope scope;
} call;

static bool is_entered(const call *c, const gpu_plan *plan) {
  return c->entered && c->entered->kernels == plan->kernels;
}

/* The plan's context, unless it is entered already. */
static cuttResult enter(call *c, const gpu_plan *plan) {
  if (is_entered(c, plan)) return CUTT_SUCCESS;
  if (c->entered) c->entered->runtime->leave(&c->scope);
  c->entered = NULL;
  const cuttResult result = plan->runtime->kernels_enter(plan->kernels, &c->scope);
  if (!result) c->entered = plan;
  return result;
}

static void leave(call *c) {
  if (c->entered) c->entered->runtime->leave(&c->scope);
  c->entered = NULL;
}

/* What is asked of the runtime in the end. */
typedef struct request {
  const gpu_plan *plan;
  const cutt_kernels *kernels;
  const cutt_gpu_launch *launch; /* NULL: a copy of so many bytes */
  size_t bytes;
  const cutt_pairs *pairs; /* NULL: one execution */
  uintptr_t in, out;       /* as the device has them */
} request;

static cuttResult ask(const request *r, cudaStream_t stream) {
  const cutt_runtime *runtime = r->plan->runtime;
  if (!r->launch) return runtime->copy_reached(r->kernels, (void *)r->out, (const void *)r->in, r->bytes, stream);
  const cutt_gpu_launch *launch = r->launch;
  uint64_t from = r->in + (uint64_t)launch->in_start, to = r->out + (uint64_t)launch->out_start;
  const void *args = launch->without_tables ? (const void *)&launch->flat : (const void *)&launch->args;
  void *parameters[] = {&from, &to, (void *)(uintptr_t)args, (void *)(uintptr_t)r->pairs}; /* read, and copied */
  const cutt_grid grid = {launch->blocks, launch->threads, launch->shared_bytes, true};
  return runtime->launch(r->kernels, (int)launch->kernel, &grid, parameters, stream);
}

/* Of trusted executions the context is only entered where they can't do without: a thread may have none. */
static cuttResult start(call *c, const request *r) {
  cuttResult result = ask(r, c->stream);
  if (is_entered(c, r->plan) || (result != CUTT_INVALID_DEVICE && result != CUTT_INVALID_PARAMETER)) return result;
  result = enter(c, r->plan);
  return result ? result : ask(r, c->stream);
}

/* With addresses that the device has. second: the second operand; NULL where it is the output. */
static cuttResult start_one(call *c, const gpu_plan *plan, const void *in, const void *second, void *out) {
  request r = {.plan = plan, .kernels = plan->kernels, .in = (uintptr_t)in, .out = (uintptr_t)out};
  if (plan->copy_bytes) {
    r.bytes = plan->copy_bytes;
    r.in += (uintptr_t)plan->canonical.in_start;
    r.out += (uintptr_t)plan->canonical.out_start;
    return start(c, &r);
  }
  /* Of the output and the second operand the smaller one. */
  const uintptr_t in_low = (uintptr_t)plan->canonical.in_low, out_low = (uintptr_t)plan->canonical.out_low;
  const uintptr_t outputs = ((uintptr_t)out + out_low) | (second ? (uintptr_t)second + out_low : 0);
  const uint32_t in_align = cutt_gpu_alignment((const void *)((uintptr_t)in + in_low)),
                 out_align = cutt_gpu_alignment((const void *)outputs);
  const bool aligned = in_align >= CUTT_GPU_ALIGNED && out_align >= CUTT_GPU_ALIGNED;
  r.launch = &plan->ready;
  if (aligned && !second) return start(c, &r);
  cutt_gpu_launch launch;
  const char *why = NULL;
  r.launch = &launch;
  if (aligned)
    launch = plan->ready;
  else if (!cutt_gpu_lay_out(device_of(plan->kernels), &plan->canonical, &plan->candidate, in_align, out_align, &launch,
                             &why))
    return cutt_error(CUTT_INVALID_PARAMETER, "in is %p and out is %p, multiples of %u and %u bytes: %s", in, out,
                      in_align, out_align, why ? why : "no reason given");
  launch.args.second = launch.flat.second = second ? (int64_t)((uintptr_t)second - (uintptr_t)out) : 0;
  launch.args.scale.op = launch.flat.scale.op = (uint32_t)c->e->op; /* a cutt_combine has the same numbers */
  return start(c, &r);
}

/* The addresses of execution i, as the device has them. */
static cuttResult reach(call *c, const gpu_plan *plan, int64_t i, const void **in, void **out) {
  *in = c->e->in[0][i];
  *out = c->e->out[i];
  if (c->e->trusted) return CUTT_SUCCESS;
  void *from = NULL;
  cuttResult result = enter(c, plan);
  if (!result) result = plan->runtime->reach(plan->kernels->target, *in, "in", &from);
  if (!result) result = plan->runtime->reach(plan->kernels->target, *out, "out", out);
  *in = from;
  return result;
}

/* NULL: it is the output. */
static cuttResult reach_second(call *c, const gpu_plan *plan, int64_t i, const void **second) {
  *second = c->e->in[1] ? c->e->in[1][i] : NULL;
  if (c->e->trusted || !*second) return CUTT_SUCCESS;
  void *at = NULL;
  cuttResult result = enter(c, plan);
  if (!result) result = plan->runtime->reach(plan->kernels->target, *second, "the second operand", &at);
  *second = at;
  return result;
}

static cuttResult failed(cuttResult result, int64_t i) {
  return cutt_error(result, "execution %" PRId64 ", when some others may have been started: %s", i, cuttLastError());
}

/* One after the other. */
static cuttResult start_each(call *c) {
  const cutt_executions *e = c->e;
  for (int64_t i = 0; i < e->count; ++i) {
    const gpu_plan *plan = e->prepared(e->of, i);
    const void *in, *second = NULL;
    void *out;
    if (!plan) continue;
    cuttResult result = reach(c, plan, i, &in, &out);
    if (!result) result = reach_second(c, plan, i, &second);
    if (!result) result = start_one(c, plan, in, second, out);
    if (result) return e->count > 1 ? failed(result, i) : result;
  }
  return CUTT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------- many at a time */

enum {
  DESKS = 8,
  ROUND = CUTT_PAIRS, /* executions that are looked at together */
  PLACES = 8192,      /* to find a plan by its address: more than twice as many as there can be */
  FEW = 2             /* so many are launched one by one: a list costs as much as a launch or two */
};
_Static_assert(2 * (int)ROUND < (int)PLACES, "the places of plans");

/* Executions of a round that have a plan in common, in a list by their numbers in the round. */
typedef struct group {
  const gpu_plan *plan; /* NULL: an unused place */
  uint16_t first, last;
} group;

typedef struct desk {
  atomic_bool taken;
  const void *in[ROUND];
  void *out[ROUND];
  int64_t number[ROUND]; /* of each execution, in the call */
  uint16_t next[ROUND];
  uint16_t used[ROUND]; /* places, in the order of their first executions */
  group place[PLACES];
  cutt_pairs pairs;
} desk;

static desk desks[DESKS]; /* zeros, which are no memory until they are used */

static desk *take_desk(void) {
  for (int i = 0; i < DESKS; ++i) {
    if (!atomic_exchange_explicit(&desks[i].taken, true, memory_order_acquire)) return &desks[i];
  }
  return NULL;
}

static void give_desk(desk *d) { atomic_store_explicit(&d->taken, false, memory_order_release); }

/* The first time in a context they are loaded, and a lock is taken. */
static cuttResult find_batched(call *c, const gpu_plan *plan, const cutt_kernels **kernels) {
  gpu_plan *own = (gpu_plan *)(uintptr_t)plan;
  *kernels = atomic_load_explicit(&own->batched, memory_order_acquire);
  if (*kernels) return CUTT_SUCCESS;
  cuttResult result = enter(c, plan);
  if (!result) result = plan->runtime->kernels_find(&batched_kernels, kernels);
  if (!result) atomic_store_explicit(&own->batched, *kernels, memory_order_release);
  return result;
}

/* Where one execution has work for the whole device, as the plan has it. While another thread works it out, too. */
static const cutt_candidate *candidate_for_many(const gpu_plan *plan) {
  gpu_plan *own = (gpu_plan *)(uintptr_t)plan;
  if (atomic_load_explicit(&own->many_state, memory_order_acquire) == MANY_KNOWN) return &plan->many;
  const cutt_device *device = device_of(plan->kernels);
  if (plan->ready.blocks >= 4 * (uint32_t)device->sms) return &plan->candidate;
  int expected = MANY_UNKNOWN;
  if (!atomic_compare_exchange_strong(&own->many_state, &expected, MANY_UNDER_WAY)) return &plan->candidate;
  cutt_gpu_choose_many(device, &plan->canonical, &plan->candidate, &own->many);
  atomic_store_explicit(&own->many_state, MANY_KNOWN, memory_order_release);
  return &plan->many;
}

/* The pairs of a list by one launch, if the candidate is one for that. */
static cuttResult start_list(call *c, desk *d, const gpu_plan *plan, const cutt_candidate *candidate,
                             const cutt_gpu_batch *batch, bool *fits) {
  const cutt_kernels *kernels = NULL;
  cutt_gpu_launch launch;
  const char *why = NULL;
  *fits = cutt_gpu_lay_out_many(device_of(plan->kernels), &plan->canonical, candidate, batch->in_align,
                                batch->out_align, batch->count, &launch, &why);
  if (!*fits) return CUTT_SUCCESS;
  const cuttResult result = find_batched(c, plan, &kernels);
  const request r = {plan, kernels, &launch, 0, &d->pairs, batch->in, batch->out};
  return result ? result : start(c, &r);
}

/* So many pairs of one plan, with addresses that the device has. */
static cuttResult start_pairs(call *c, desk *d, const gpu_plan *plan, int64_t count, const void *const *in,
                              void *const *out, int64_t *done) {
  const int64_t most = plan->most_pairs;
  const cutt_candidate *candidate = count > FEW ? candidate_for_many(plan) : &plan->candidate;
  *done = 0;
  while (*done < count) {
    cutt_gpu_batch batch = {.count = 1};
    cuttResult result = CUTT_SUCCESS;
    bool fits = false;
    if (count - *done > FEW && most > FEW) {
      cutt_gpu_list_pairs(count - *done, most, in + *done, out + *done, plan->canonical.in_low, plan->canonical.out_low,
                          &batch, &d->pairs);
      if (batch.count > FEW) result = start_list(c, d, plan, candidate, &batch, &fits);
    }
    if (fits && !result) *done += batch.count;
    /* Else one by one, and of which the alignment is too small will show. */
    for (uint32_t i = 0; !fits && !result && i < batch.count; ++i) {
      result = start_one(c, plan, in[*done], NULL, out[*done]);
      if (!result) ++*done;
    }
    if (result) return result;
  }
  return CUTT_SUCCESS;
}

/* All executions are of one plan. */
static cuttResult start_same(call *c, desk *d, const gpu_plan *plan) {
  const cutt_executions *e = c->e;
  int64_t done = 0;
  cuttResult result = CUTT_SUCCESS;
  for (int64_t first = 0; first < e->count; first += ROUND) {
    const int64_t count = e->count - first < ROUND ? e->count - first : ROUND;
    if (e->trusted) {
      result = start_pairs(c, d, plan, count, e->in[0] + first, e->out + first, &done);
    } else {
      for (done = 0; !result && done < count; done += !result) {
        result = reach(c, plan, first + done, &d->in[done], &d->out[done]);
      }
      if (!result) result = start_pairs(c, d, plan, count, d->in, d->out, &done);
    }
    if (result) return failed(result, first + done);
  }
  return CUTT_SUCCESS;
}

/* The place of a plan among those of the round. */
static group *place_of(desk *d, const gpu_plan *plan, int *plans) {
  const uint64_t hash = (uint64_t)(uintptr_t)plan * UINT64_C(0x9E3779B97F4A7C15) >> 40;
  uint32_t at = (uint32_t)hash % PLACES;
  while (d->place[at].plan && d->place[at].plan != plan) at = (at + 1) % PLACES;
  if (!d->place[at].plan) d->used[(*plans)++] = (uint16_t)at;
  return &d->place[at];
}

/* Sorts the executions from `first` on by plan; returns how many plans there are. */
static int sort_round(const cutt_executions *e, int64_t first, int64_t count, desk *d) {
  int plans = 0;
  for (int64_t i = 0; i < count; ++i) {
    const gpu_plan *plan = e->prepared(e->of, first + i);
    if (!plan) continue;
    group *g = place_of(d, plan, &plans);
    if (g->plan) {
      d->next[g->last] = (uint16_t)i;
    } else {
      g->plan = plan;
      g->first = (uint16_t)i;
    }
    g->last = (uint16_t)i;
  }
  return plans;
}

static cuttResult start_group(call *c, desk *d, const group *g, int64_t first) {
  int64_t count = 0, done = 0;
  cuttResult result = CUTT_SUCCESS;
  for (uint16_t i = g->first;; i = d->next[i]) {
    d->number[count] = first + i;
    result = reach(c, g->plan, first + i, &d->in[count], &d->out[count]);
    if (result) return failed(result, first + i);
    ++count;
    if (i == g->last) break;
  }
  result = start_pairs(c, d, g->plan, count, d->in, d->out, &done);
  return result ? failed(result, d->number[done]) : CUTT_SUCCESS;
}

static cuttResult start_groups(call *c, desk *d) {
  const cutt_executions *e = c->e;
  cuttResult result = CUTT_SUCCESS;
  for (int64_t first = 0; !result && first < e->count; first += ROUND) {
    const int plans = sort_round(e, first, e->count - first < ROUND ? e->count - first : ROUND, d);
    for (int i = 0; i < plans; ++i) {
      group *g = &d->place[d->used[i]];
      if (!result) result = start_group(c, d, g, first);
      g->plan = NULL;
    }
  }
  return result;
}

cuttResult cutt_gpu_execute(const cutt_executions *e, cudaStream_t stream) {
  call c = {.e = e, .stream = stream, .scope = {NULL, false, -1}};
  cuttResult result;
  desk *d = e->count > FEW && !e->in[1] ? take_desk() : NULL; /* a list of pairs has no second operands */
  if (!d) {
    result = start_each(&c);
  } else {
    result = e->same ? start_same(&c, d, e->same) : start_groups(&c, d);
    give_desk(d);
  }
  leave(&c);
  return result;
}
