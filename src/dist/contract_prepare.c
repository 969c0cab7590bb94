/* The parts of a plan: redistributions to the mesh and from it, the ranks' own products, and the memory between them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "dist/contract.h"

enum { PATTERN_BYTES = 16 * CUTT_MOST_LABELS };

/* A layout with the arrays that it points to. */
typedef struct side {
  cuttDistLayout_t layout;
  int64_t extents[CUTT_MAX_RANK], blocks[CUTT_MAX_RANK], strides[CUTT_MAX_RANK];
  int parts[CUTT_MAX_RANK];
} side;

struct cutt_preparing {
  int at[CUTT_MOST_LABELS]; /* this rank's part of each label */
  bool in_mesh;
  int order[CUTT_TENSORS][CUTT_MAX_RANK];      /* of a buffer's modes: which of the tensor's each is */
  int64_t stride[CUTT_TENSORS][CUTT_MAX_RANK]; /* of this rank's parts as the caller has them */
  int *list[CUTT_TENSORS], copies[CUTT_TENSORS];
  cutt_part aligned[CUTT_MAX_RANK];
  int aligned_ranks;
  int64_t aligned_stride[CUTT_MAX_RANK];
  int64_t
      computed_stride[CUTT_MAX_RANK]; /* of what is computed of the result, where it is not the result's part itself */
  side from, to;
  int perm[CUTT_MAX_RANK];
  cuttDistOptions_t options;
  char pattern[PATTERN_BYTES];
  int64_t extents[CUTT_TENSORS][CUTT_MAX_RANK];
  cutt_making *started[CUTT_MOVES]; /* in the host's memory */
};

static int64_t rounded(const cutt_spread *s, int64_t bytes) {
  const int64_t alignment = cutt_spread_alignment(s);
  return (bytes + alignment - 1) / alignment * alignment;
}

void cutt_prepare_free(cutt_preparing *p) {
  for (int t = 0; p && t < CUTT_TENSORS; ++t) free(p->list[t]);
  for (int i = 0; p && i < CUTT_MOVES; ++i) cutt_part_drop(&p->started[i]);
  free(p);
}

/* ------------------------------------------------------------------------------------------------- what this rank has */

/* Strides and volume of this rank's part of a tensor, and the bytes that it spans. */
static void read_part(struct cuttDistContractionStruct *plan, cutt_preparing *p, int t) {
  const cutt_spread *s = &plan->s;
  const cutt_layout *layout = &s->layout[t];
  const int place = s->place[t][s->me];
  int64_t extent[CUTT_MAX_RANK], next = 1;
  if (place < 0 || (t == CUTT_RIGHT && s->one)) return;
  plan->volume[t] = cutt_layout_extents(layout, place % layout->positions, extent);
  for (int i = 0; i < layout->modes; ++i) {
    p->stride[t][i] = layout->strides ? layout->strides[i] : next;
    next *= extent[i];
  }
  if (plan->volume[t] == 0) return;
  plan->high[t] = s->type->bytes;
  for (int i = 0; i < layout->modes; ++i) {
    int64_t reach = 0;
    /* Where it is too much, the plan that uses the strides says so. */
    if (__builtin_mul_overflow((extent[i] - 1) * s->type->bytes, p->stride[t][i], &reach)) continue;
    int64_t *end = reach < 0 ? &plan->low[t] : &plan->high[t];
    if (__builtin_add_overflow(*end, reach, end)) *end = 0;
  }
}

/* Appends all modes of a tensor that have this label. */
static int append(const cutt_spread *s, cutt_preparing *p, int t, int count, int label) {
  for (int i = 0; i < s->modes[t]; ++i)
    if (s->label[t][i] == label) p->order[t][count++] = i;
  return count;
}

/* Which labels an index group has: those of the first two tensors, and not of the third. */
static bool in_group(const cutt_spread *s, int label, int one, int other, int not_in) {
  return s->times[one][label] && s->times[other][label] && !s->times[not_in][label];
}

/* The order of modes in buffers: one index group after the other, as a matrix product has them, and each group in the order of the
 * tensor that stays where it is; so that redistributions do what the product would have to permute. */
static void set_orders(const cutt_spread *s, const cutt_scheme *c, cutt_preparing *p) {
  const int m_from = c->stands[CUTT_RESULT] ? CUTT_RESULT : CUTT_LEFT;
  const int n_from = c->stands[CUTT_RESULT] ? CUTT_RESULT : CUTT_RIGHT;
  const int k_from = c->stands[CUTT_RIGHT] ? CUTT_RIGHT : CUTT_LEFT;
  /* Groups as {of the first, of the second, not of the third}, in the order of whose modes. */
  const int group[3][4] = {{CUTT_LEFT, CUTT_RESULT, CUTT_RIGHT, m_from},
                           {CUTT_LEFT, CUTT_RIGHT, CUTT_RESULT, k_from},
                           {CUTT_RIGHT, CUTT_RESULT, CUTT_LEFT, n_from}};
  static const int groups_of[CUTT_TENSORS][2] = {{0, 1}, {1, 2}, {0, 2}};
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    bool done[CUTT_MOST_LABELS] = {false};
    int count = 0;
    for (int g = 0; g < 2; ++g) {
      const int *of = group[groups_of[t][g]];
      for (int i = 0; i < s->modes[of[3]]; ++i) {
        const int label = s->label[of[3]][i];
        if (done[label] || !in_group(s, label, of[0], of[1], of[2])) continue;
        count = append(s, p, t, count, label);
        done[label] = true;
      }
    }
    /* Summed modes of this operand alone, and batch modes, in the result's order. */
    for (int i = 0; i < s->modes[t]; ++i) {
      const int label = s->label[t][i];
      if (done[label] || s->times[CUTT_RESULT][label]) continue;
      count = append(s, p, t, count, label);
      done[label] = true;
    }
    for (int i = 0; i < s->modes[CUTT_RESULT]; ++i) {
      const int label = s->label[CUTT_RESULT][i];
      if (!done[label]) count = append(s, p, t, count, label);
      done[label] = true;
    }
    if (!c->stands[t]) continue;
    for (int i = 0; i < s->modes[t]; ++i) p->order[t][i] = i;
  }
}

static cuttResult make_lists(const cutt_spread *s, const cutt_scheme *c, cutt_preparing *p) {
  int label[CUTT_MAX_RANK + 1];
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    int modes = s->modes[t];
    if (c->stands[t]) continue;
    p->list[t] = malloc((size_t)c->mesh.positions * sizeof *p->list[t]);
    if (!p->list[t]) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: a list of %d ranks", c->mesh.positions);
    for (int i = 0; i < modes; ++i) label[i] = s->label[t][p->order[t][i]];
    if (t == CUTT_RESULT && c->partial > 1) label[modes++] = -1;
    cutt_mesh_list(s, &c->mesh, label, modes, p->list[t], &p->copies[t]);
  }
  return CUTT_SUCCESS;
}

static void align(const cutt_spread *s, const cutt_scheme *c, cutt_preparing *p, int64_t *bytes) {
  int64_t next = 1, rest = s->me;
  p->aligned_ranks = cutt_align_parts(s, c, p->aligned);
  for (int i = 0; i < s->modes[c->align]; ++i) {
    p->aligned_stride[i] = next;
    next *= cutt_part_count(&p->aligned[i], (int)(rest % p->aligned[i].parts));
    rest /= p->aligned[i].parts;
  }
  if (s->me < p->aligned_ranks) *bytes = next * s->type->bytes;
}

cuttResult cutt_prepare_alone(struct cuttDistContractionStruct *plan, cutt_preparing **made) {
  const cutt_spread *s = &plan->s;
  const cutt_scheme *c = &plan->choice.best;
  cutt_preparing *p = calloc(1, sizeof *p);
  *made = p;
  if (!p) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to prepare a plan", sizeof *p);
  for (int position = 0; position < c->mesh.positions && !p->in_mesh; ++position) {
    p->in_mesh = cutt_mesh_rank(&c->mesh, position) == s->me;
    if (p->in_mesh) cutt_mesh_parts(s, &c->mesh, position, p->at);
  }
  for (int t = 0; t < CUTT_TENSORS; ++t) read_part(plan, p, t);
  plan->multiplies = p->in_mesh && cutt_mesh_volume(s, &c->mesh, CUTT_RESULT, p->at) > 0;
  set_orders(s, c, p);
  if (c->align >= 0) align(s, c, p, &plan->bytes[CUTT_STORE_ALIGNED]);
  if (c->moves && s->options.direct == CUTT_DIST_DIRECT_ALWAYS && !plan->comm->transport.shared && !s->runtime)
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "options->direct is CUTT_DIST_DIRECT_ALWAYS, which can't be: ranks do not reach each other's "
                      "workspace, since they are not threads of a process");
  p->options = (cuttDistOptions_t)CUTT_DIST_OPTIONS_INIT;
  p->options.threads = s->options.threads;
  p->options.direct = s->options.direct;
  p->options.piece_bytes = s->options.piece_bytes;
  p->options.backend = s->options.backend;
  p->options.trust_arguments = s->runtime != NULL; /* the contraction's have been looked at */
  if (s->options.workspace_limit && c->moves) {
    const size_t share = (s->options.workspace_limit - (size_t)c->buffers) / 2 / (size_t)c->moves;
    const size_t least = (size_t)cutt_least_of_a_move(s);
    p->options.workspace_limit = share > least ? share : least;
  }
  if (s->runtime) {
    const cuttResult result = cutt_contract_device_make(&plan->device, s->runtime, c->panels > 1);
    if (result) return result;
  }
  return make_lists(s, c, p);
}

/* ------------------------------------------------------------------------------------------------------ redistributions */

static void start_side(side *own, int modes) {
  own->layout = (cuttDistLayout_t)CUTT_DIST_LAYOUT_INIT;
  own->layout.modes = modes;
  own->layout.extents = own->extents;
  own->layout.parts = own->parts;
  own->layout.blocks = own->blocks;
}

static void set_mode(side *own, int mode, int64_t extent, const cutt_part *part) {
  own->extents[mode] = extent;
  own->parts[mode] = part->parts;
  own->blocks[mode] = part->block;
}

/* A tensor as the caller has it; or an operand as it was aligned. Of the panel's label so many indices, -1: all. */
static void set_callers(const struct cuttDistContractionStruct *plan, cutt_preparing *p, side *own, int t, bool aligned,
                        int64_t panel) {
  const cutt_spread *s = &plan->s;
  const cutt_layout *layout = &s->layout[t];
  start_side(own, layout->modes);
  for (int i = 0; i < layout->modes; ++i) {
    const cutt_part *part = aligned ? &p->aligned[i] : &layout->part[i];
    const bool cut = panel >= 0 && s->label[t][i] == plan->choice.best.panel_label;
    set_mode(own, i, cut ? panel : part->extent, part);
    own->strides[i] = aligned ? p->aligned_stride[i] : p->stride[t][i];
  }
  own->layout.copies = aligned ? 1 : layout->copies;
  own->layout.ranks = aligned ? NULL : layout->ranks;
  if (layout->strides || panel >= 0) own->layout.strides = own->strides;
}

/* A tensor as the mesh has it, packed; likewise. */
static void set_mesh(const struct cuttDistContractionStruct *plan, const cutt_preparing *p, side *own, int t,
                     int64_t panel) {
  const cutt_spread *s = &plan->s;
  const cutt_scheme *c = &plan->choice.best;
  start_side(own, s->modes[t]);
  for (int i = 0; i < s->modes[t]; ++i) {
    const int label = s->label[t][p->order[t][i]];
    const bool cut = panel >= 0 && label == c->panel_label;
    set_mode(own, i, cut ? panel : c->mesh.part[label].extent, &c->mesh.part[label]);
  }
  own->layout.copies = p->copies[t];
  own->layout.ranks = p->list[t];
}

cuttDistPlan_t *cutt_contract_move(struct cuttDistContractionStruct *plan, int number, int64_t *count) {
  const int of_operand = number - CUTT_MOVE_OPERANDS;
  *count = 1;
  if (number == CUTT_MOVE_ALIGN) return &plan->align;
  if (number == CUTT_MOVE_HOME) return &plan->home;
  if (of_operand % 2 == 0) *count = plan->choice.best.panels - 1;
  return &plan->move[of_operand / 2][of_operand % 2];
}

static cuttResult create(struct cuttDistContractionStruct *plan, cutt_preparing *p, const void *beta, const char *what,
                         int number) {
  int64_t count = 0;
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  problem.type = plan->s.type->type;
  problem.from = &p->from.layout;
  problem.to = &p->to.layout;
  problem.perm = p->perm;
  problem.beta = beta;
  const cuttResult result =
      plan->s.runtime ? cuttDistPlanCreate(cutt_contract_move(plan, number, &count), plan->comm, &problem, &p->options)
                      : cutt_part_start(&p->started[number], plan->comm, &problem, &p->options);
  return result ? cutt_error(result, "redistribution of %s: %s", what, cuttLastError()) : CUTT_SUCCESS;
}

static cuttResult create_align(struct cuttDistContractionStruct *plan, cutt_preparing *p) {
  const int t = plan->choice.best.align;
  set_callers(plan, p, &p->from, t, false, -1);
  set_callers(plan, p, &p->to, t, true, -1);
  p->to.layout.strides = NULL;
  for (int i = 0; i < plan->s.modes[t]; ++i) p->perm[i] = i;
  return create(plan, p, NULL, t == CUTT_LEFT ? "left" : "right", CUTT_MOVE_ALIGN);
}

/* An operand, or its panels: of one length but for the last. */
static cuttResult create_moves(struct cuttDistContractionStruct *plan, cutt_preparing *p, int t) {
  const cutt_scheme *c = &plan->choice.best;
  const bool aligned = c->align == t;
  for (int last = c->panels > 1 ? 0 : 1; last < 2; ++last) {
    const int64_t panel = c->panel_label < 0 ? -1 : cutt_panel_extent(c, last ? c->panels - 1 : 0);
    set_callers(plan, p, &p->from, t, aligned, panel);
    if (aligned) p->from.layout.strides = p->from.strides;
    set_mesh(plan, p, &p->to, t, panel);
    memcpy(p->perm, p->order[t], sizeof p->perm);
    const cuttResult result =
        create(plan, p, NULL, t == CUTT_LEFT ? "left" : "right", CUTT_MOVE_OPERANDS + 2 * t + last);
    if (result) return result;
  }
  return CUTT_SUCCESS;
}

/* From the mesh to the result's layout, or to this rank's summands. */
static cuttResult create_home(struct cuttDistContractionStruct *plan, cutt_preparing *p) {
  const cutt_spread *s = &plan->s;
  const cutt_scheme *c = &plan->choice.best;
  const int modes = s->modes[CUTT_RESULT];
  set_mesh(plan, p, &p->from, CUTT_RESULT, -1);
  set_callers(plan, p, &p->to, CUTT_RESULT, false, -1);
  for (int i = 0; i < modes; ++i) p->perm[p->order[CUTT_RESULT][i]] = i;
  if (c->partial > 1) {
    const cutt_part every = {c->partial, 0, c->partial}, whole = {c->partial, 0, 1};
    p->from.layout.modes = p->to.layout.modes = modes + 1;
    set_mode(&p->from, modes, c->partial, &every);
    set_mode(&p->to, modes, c->partial, &whole);
    p->to.layout.strides = NULL;
    p->perm[modes] = modes;
  } else if (p->options.direct == CUTT_DIST_DIRECT_ALWAYS) {
    p->options.direct = CUTT_DIST_DIRECT_BY_COST; /* some rank may have strides */
  }
  return create(plan, p, c->partial == 1 && s->has_beta ? s->beta : NULL, "result", CUTT_MOVE_HOME);
}

cuttResult cutt_prepare_moves(struct cuttDistContractionStruct *plan, cutt_preparing *p) {
  const cutt_scheme *c = &plan->choice.best;
  cuttResult result = CUTT_SUCCESS;
  if (c->align >= 0) result = create_align(plan, p);
  for (int t = 0; t < CUTT_RESULT && !result; ++t)
    if (!c->stands[t]) result = create_moves(plan, p, t);
  if (!result && !c->stands[CUTT_RESULT]) result = create_home(plan, p);
  return result;
}

/* ------------------------------------------------------------------------------------------------------------- products */

static void add_tensor(const struct cuttDistContractionStruct *plan, const cutt_preparing *p, int t, cutt_text *text) {
  cutt_text_add(text, "(");
  for (int i = 0; i < plan->s.modes[t]; ++i)
    cutt_text_add(text, "%sx%d", i ? "," : "", plan->s.label[t][p->order[t][i]]);
  cutt_text_add(text, ")");
}

static void write_pattern(const struct cuttDistContractionStruct *plan, cutt_preparing *p) {
  cutt_text text = cutt_text_start(p->pattern, sizeof p->pattern);
  cutt_text_add(&text, "D");
  add_tensor(plan, p, CUTT_RESULT, &text);
  cutt_text_add(&text, "=L");
  add_tensor(plan, p, CUTT_LEFT, &text);
  if (plan->s.one) return;
  cutt_text_add(&text, "*R");
  add_tensor(plan, p, CUTT_RIGHT, &text);
}

/* Workspace that products may have: what is left. */
static cuttContractionOptions_t product_options(const struct cuttDistContractionStruct *plan) {
  cuttContractionOptions_t options = cutt_local_options(&plan->s);
  const size_t limit = plan->s.options.workspace_limit;
  const size_t left = limit > plan->workspace_bytes ? limit - plan->workspace_bytes : 0;
  const size_t alignment = (size_t)cutt_spread_alignment(&plan->s);
  if (limit) options.workspace_limit = left / alignment * alignment;
  return options;
}

/* What the plan of a product needs and is predicted to take. */
static cuttResult note_product(struct cuttDistContractionStruct *plan, cuttContractionPlan_t product, double count) {
  cuttContractionInfo_t info = {.struct_size = sizeof info};
  const cuttResult result = cuttContractionGetInfo(product, &info);
  plan->bytes[CUTT_STORE_PRODUCT] = larger(plan->bytes[CUTT_STORE_PRODUCT], (int64_t)info.workspace_bytes);
  plan->predicted_seconds += count * info.predicted_seconds;
  return result;
}

static cuttResult create_product(struct cuttDistContractionStruct *plan, cutt_preparing *p, bool first, bool last) {
  const cutt_spread *s = &plan->s;
  const cutt_scheme *c = &plan->choice.best;
  const bool in_place = c->stands[CUTT_RESULT];
  _Alignas(16) unsigned char one[16] = {0};
  cuttContraction_t product = CUTT_CONTRACTION_INIT;
  const cuttContractionOptions_t options = product_options(plan);
  cutt_scalar_one(s->type->type, one);
  for (int t = 0; t < CUTT_TENSORS; ++t)
    for (int i = 0; i < s->modes[t]; ++i) {
      const int label = s->label[t][p->order[t][i]];
      p->extents[t][i] = label == c->panel_label ? cutt_panel_extent(c, last ? c->panels - 1 : 0)
                                                 : cutt_part_count(&c->mesh.part[label], p->at[label]);
    }
  product.pattern = p->pattern;
  product.type = s->type->type;
  product.left_rank = s->modes[CUTT_LEFT];
  product.right_rank = s->modes[CUTT_RIGHT];
  product.result_rank = s->modes[CUTT_RESULT];
  product.left_extents = p->extents[CUTT_LEFT];
  product.right_extents = p->extents[CUTT_RIGHT];
  product.result_extents = p->extents[CUTT_RESULT];
  if (c->stands[CUTT_LEFT]) product.left_strides = p->stride[CUTT_LEFT];
  if (c->stands[CUTT_RIGHT] && !s->one) product.right_strides = p->stride[CUTT_RIGHT];
  if (in_place) product.result_strides = p->stride[CUTT_RESULT];
  if (!in_place && c->panel_of_result) product.result_strides = p->computed_stride;
  product.alpha = s->has_alpha ? s->alpha : NULL;
  product.beta = !first ? one : in_place && s->has_beta ? s->beta : NULL;
  product.conjugate_left = s->conjugate[CUTT_LEFT];
  product.conjugate_right = s->conjugate[CUTT_RIGHT];
  cuttResult result = cuttContractionPlanCreate(&plan->product[first][last], &product, &options);
  if (result) return cutt_error(result, "the product of this rank's parts: %s", cuttLastError());
  const int64_t count = last ? 1 : c->panel_of_result ? c->panels - 1 : first ? 1 : c->panels - 2;
  return note_product(plan, plan->product[first][last], (double)count);
}

/* The sum of this rank's summands. */
static cuttResult create_sum(struct cuttDistContractionStruct *plan, cutt_preparing *p) {
  const cutt_spread *s = &plan->s;
  const cutt_layout *layout = &s->layout[CUTT_RESULT];
  const int modes = layout->modes;
  cuttContraction_t sum = CUTT_CONTRACTION_INIT;
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  cutt_text text = cutt_text_start(p->pattern, sizeof p->pattern);
  options.backend = CUTT_BACKEND_CPU;
  options.threads = s->options.threads;
  options.algorithm = "one-pass"; /* no workspace, and always the same order */
  cutt_text_add(&text, "D(");
  for (int i = 0; i < modes; ++i) cutt_text_add(&text, "%sx%d", i ? "," : "", i);
  cutt_text_add(&text, ")=L(");
  for (int i = 0; i < modes; ++i) cutt_text_add(&text, "x%d,", i);
  cutt_text_add(&text, "sum)");
  cutt_layout_extents(layout, s->place[CUTT_RESULT][s->me] % layout->positions, p->extents[CUTT_RESULT]);
  memcpy(p->extents[CUTT_LEFT], p->extents[CUTT_RESULT], sizeof p->extents[CUTT_LEFT]);
  p->extents[CUTT_LEFT][modes] = plan->choice.best.partial;
  sum.pattern = p->pattern;
  sum.type = s->type->type;
  sum.left_rank = modes + 1;
  sum.result_rank = modes;
  sum.left_extents = p->extents[CUTT_LEFT];
  sum.result_extents = p->extents[CUTT_RESULT];
  if (layout->strides) sum.result_strides = p->stride[CUTT_RESULT];
  sum.beta = s->has_beta ? s->beta : NULL;
  const cuttResult result = cuttContractionPlanCreate(&plan->sum, &sum, &options);
  if (result) return cutt_error(result, "the sum of partial results: %s", cuttLastError());
  return note_product(plan, plan->sum, 1);
}

/* The same on a device: a permutation that adds, one summand after the other. */
static cuttResult create_adds(struct cuttDistContractionStruct *plan, cutt_preparing *p) {
  const cutt_spread *s = &plan->s;
  const cutt_layout *layout = &s->layout[CUTT_RESULT];
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  _Alignas(16) unsigned char one[16] = {0};
  cuttResult result = CUTT_SUCCESS;
  cutt_scalar_one(s->type->type, one);
  cutt_layout_extents(layout, s->place[CUTT_RESULT][s->me] % layout->positions, p->extents[CUTT_RESULT]);
  for (int i = 0; i < layout->modes; ++i) p->perm[i] = i;
  problem.rank = layout->modes;
  problem.type = s->type->type;
  problem.extents = p->extents[CUTT_RESULT];
  problem.perm = p->perm;
  if (layout->strides) problem.out_strides = p->stride[CUTT_RESULT];
  options.backend = s->options.backend;
  for (int i = 0; i < 2 && !result; ++i) {
    cuttPlanInfo_t info = {.struct_size = sizeof info};
    problem.beta = i ? one : s->has_beta ? s->beta : NULL;
    result = cuttPlanCreate(&plan->add[i], &problem, &options);
    if (!result) result = cuttPlanGetInfo(plan->add[i], &info);
    plan->predicted_seconds += (i ? plan->choice.best.partial - 1 : 1) * info.predicted_seconds;
  }
  return result ? cutt_error(result, "the sum of partial results: %s", cuttLastError()) : CUTT_SUCCESS;
}

static cuttResult create_products(struct cuttDistContractionStruct *plan, cutt_preparing *p) {
  const cutt_scheme *c = &plan->choice.best;
  cuttResult result = CUTT_SUCCESS;
  if (plan->multiplies) {
    write_pattern(plan, p);
    result = create_product(plan, p, true, c->panels == 1);
    if (!result && c->panels > 1) result = create_product(plan, p, c->panel_of_result, true);
    if (!result && c->panels > 2 && !c->panel_of_result) result = create_product(plan, p, false, false);
  }
  if (!result && c->partial > 1 && plan->volume[CUTT_RESULT] > 0)
    result = plan->s.runtime ? create_adds(plan, p) : create_sum(plan, p);
  return result;
}

/* --------------------------------------------------------------------------------------------------------------- memory */

/* Bytes of this rank's buffers but for the product's. */
static void size_buffers(struct cuttDistContractionStruct *plan, const cutt_preparing *p) {
  const cutt_spread *s = &plan->s;
  const cutt_scheme *c = &plan->choice.best;
  const int64_t elem = s->type->bytes;
  for (int t = 0; t < CUTT_RESULT && p->in_mesh; ++t) {
    if (c->stands[t]) continue;
    int64_t volume = 1;
    for (int i = 0; i < s->modes[t]; ++i) {
      const int label = s->label[t][i];
      volume *= label == c->panel_label ? cutt_panel_extent(c, 0) : cutt_part_count(&c->mesh.part[label], p->at[label]);
    }
    plan->bytes[CUTT_STORE_LEFT + 2 * t] = volume * elem;
    if (c->panels > 1) plan->bytes[CUTT_STORE_LEFT_2 + 2 * t] = volume * elem;
  }
  if (!c->stands[CUTT_RESULT] && p->in_mesh)
    plan->bytes[CUTT_STORE_RESULT] = cutt_mesh_volume(s, &c->mesh, CUTT_RESULT, p->at) * elem;
  if (c->partial > 1) plan->bytes[CUTT_STORE_SUMMANDS] = plan->volume[CUTT_RESULT] * c->partial * elem;
}

static int64_t place_buffers(struct cuttDistContractionStruct *plan) {
  int64_t next = 0;
  for (int i = 0; i < CUTT_STORES; ++i) {
    plan->buffer[i] = next;
    next += rounded(&plan->s, plan->bytes[i]);
  }
  return next;
}

/* How far tensors go from one panel to the next. */
static void set_steps(struct cuttDistContractionStruct *plan, cutt_preparing *p) {
  const cutt_spread *s = &plan->s;
  const cutt_scheme *c = &plan->choice.best;
  if (c->panel_label < 0) return;
  int64_t next = 1;
  for (int i = 0; i < s->modes[CUTT_RESULT]; ++i) {
    const int label = s->label[CUTT_RESULT][p->order[CUTT_RESULT][i]];
    p->computed_stride[i] = next;
    if (label == c->panel_label) plan->panel_step[CUTT_RESULT] = c->panel * next * s->type->bytes;
    next *= cutt_part_count(&c->mesh.part[label], p->at[label]);
  }
  for (int t = 0; t < (c->stands[CUTT_RESULT] ? CUTT_TENSORS : CUTT_RESULT); ++t)
    for (int i = 0; i < s->modes[t]; ++i) {
      if (s->label[t][i] != c->panel_label) continue;
      const int64_t stride = c->align == t ? p->aligned_stride[i] : p->stride[t][i];
      plan->panel_step[t] = c->panel * stride * s->type->bytes;
    }
}

/* What redistributions add to this rank's numbers. */
static cuttResult note_moves(struct cuttDistContractionStruct *plan) {
  for (int i = 0; i < CUTT_MOVES; ++i) {
    int64_t count = 0;
    cuttDistPlan_t move = *cutt_contract_move(plan, i, &count);
    cuttDistPlanInfo_t info = {.struct_size = sizeof info};
    if (!move) continue;
    const cuttResult result = cuttDistPlanGetInfo(move, &info);
    if (result) return result;
    plan->workspace_bytes += info.workspace_bytes;
    plan->sent += count * info.bytes_sent;
    plan->received += count * info.bytes_received;
    plan->moving_seconds += (double)count * info.predicted_seconds;
  }
  return CUTT_SUCCESS;
}

void cutt_prepare_tell(struct cuttDistContractionStruct *plan, const cutt_preparing *p, cutt_prepared *said) {
  said->product_seconds = (float)plan->predicted_seconds;
  for (int i = 0; i < CUTT_MOVES; ++i) {
    int64_t count = 0, sent = 0;
    if (!p->started[i]) continue;
    cutt_contract_move(plan, i, &count);
    cutt_part_tell(p->started[i], said->seconds[i], &sent, &said->received[i]);
    said->sent += count * sent;
  }
}

cuttResult cutt_prepare_end(struct cuttDistContractionStruct *plan, cutt_preparing *p,
                            float slowest[CUTT_MOVES][CUTT_WAYS]) {
  int64_t count = 0;
  for (int i = 0; i < CUTT_MOVES; ++i)
    if (p->started[i]) *cutt_contract_move(plan, i, &count) = cutt_part_end(&p->started[i], slowest[i]);
  plan->workspace_bytes = plan->memory ? (size_t)place_buffers(plan) : 0;
  return note_moves(plan);
}

cuttResult cutt_prepare_products(struct cuttDistContractionStruct *plan, cutt_preparing *p) {
  cuttResult result = plan->s.runtime ? note_moves(plan) : CUTT_SUCCESS;
  if (result) return result;
  for (int i = 0; i < CUTT_MOVES; ++i)
    if (p->started[i]) plan->workspace_bytes += cutt_part_room(p->started[i]);
  size_buffers(plan, p);
  set_steps(plan, p);
  const size_t moved = plan->workspace_bytes;
  plan->workspace_bytes += (size_t)place_buffers(plan);
  result = create_products(plan, p);
  if (result) return result;
  const size_t bytes = (size_t)place_buffers(plan);
  plan->workspace_bytes = moved + bytes;
  if (!bytes) return CUTT_SUCCESS;
  void *memory = NULL;
  result = cuttMemoryAllocate(plan->s.options.backend, bytes, &memory);
  plan->memory = memory;
  return result;
}
