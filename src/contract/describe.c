/* A contraction's plan in words and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "contract/device_combine.h"
#include "contract/plan.h"
#include "plan/services.h"

static const char *const role_name[CUTT_ROLES] = {"m", "n", "k", "batch"};
static const char *const group_name[CUTT_GROUPS] = {"m", "n", "k", "batch", "sum of L", "sum of R"};
static const char tensor_letter[CUTT_TENSORS] = {'L', 'R', 'D'};

static bool is_one_pass(const struct cuttContractionStruct *plan) { return plan->pass || plan->device_pass; }
static bool has_blocks(const struct cuttContractionStruct *plan) { return plan->kind[0] != NULL; }

/* ------------------------------------------------------------------------------------------------------------------- text */

typedef struct cell {
  char at[64];
} cell;

static const char *duration(double seconds, cell *c) {
  const double unit = seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1;
  snprintf(c->at, sizeof c->at, "%.3f %s", seconds * unit, seconds < 1e-3 ? "us" : seconds < 1 ? "ms" : "s");
  return c->at;
}

static void add_bytes(cutt_text *text, double bytes) {
  if (bytes < 1e6)
    cutt_text_add(text, "%.1f kB", bytes * 1e-3);
  else
    cutt_text_add(text, "%.1f MB", bytes * 1e-6);
}

static void add_modes(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_contraction *c = &plan->asked;
  cutt_text_add(text, "modes         fused where they are neighbours in every tensor; strides in elements\n");
  cutt_text_add(text, "  %-9s %-12s %12s %14s %14s %14s\n", "is", "mode", "extent", "in L", "in R", "in D");
  for (int i = 0; i < c->modes; ++i) {
    const cutt_contract_mode *mode = &c->mode[i];
    cutt_text_add(text, "  %-9s %-12s %12" PRId64, group_name[mode->group], mode->name, mode->extent);
    for (int t = 0; t < CUTT_TENSORS; ++t) {
      if (mode->stride[t])
        cutt_text_add(text, " %14" PRId64, mode->stride[t]);
      else
        cutt_text_add(text, " %14s", "-");
    }
    cutt_text_add(text, "\n");
  }
}

static void add_index_group(const struct cuttContractionStruct *plan, cutt_role role, cutt_text *text) {
  const cutt_algorithm *algorithm = &plan->algorithm;
  cutt_text_add(text, "[%s:", role_name[role]);
  for (int i = 0; i < algorithm->kept[role]; ++i)
    cutt_text_add(text, " %s", plan->contraction.mode[algorithm->index_group[role][i]].name);
  cutt_text_add(text, "]");
}

/* "[m: a b][k: c][loops: d]" */
static void add_layout(const struct cuttContractionStruct *plan, cutt_tensor t, cutt_text *text) {
  const cutt_role *roles = cutt_tensor_roles[t];
  const cutt_role first = plan->algorithm.inner[t];
  add_index_group(plan, first, text);
  add_index_group(plan, roles[0] == first ? roles[1] : roles[0], text);
  bool any = false;
  for (int i = 0; i < plan->contraction.modes; ++i) {
    if (cutt_algorithm_keeps(&plan->algorithm, &plan->contraction, i) || !plan->contraction.mode[i].stride[t]) continue;
    cutt_text_add(text, any ? " %s" : "[loops: %s", plan->contraction.mode[i].name);
    any = true;
  }
  if (any) cutt_text_add(text, "]");
}

static void add_tensors(const struct cuttContractionStruct *plan, cutt_text *text) {
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    cutt_text_add(text, "%-13s %c ", t ? "" : "tensors", tensor_letter[t]);
    if (t != CUTT_RESULT && plan->reduce[t]) cutt_text_add(text, "is summed over what only it has, and then ");
    if (plan->algorithm.packed[t]) {
      cutt_text_add(text, "is permuted %s ", t == CUTT_RESULT ? "from" : "to");
      add_layout(plan, (cutt_tensor)t, text);
      if (plan->stays[t] && plan->cuts) cutt_text_add(text, ", once");
    } else {
      cutt_text_add(text, "is used in place");
    }
    cutt_text_add(text, "\n");
  }
}

static void add_products(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_gemm *g = &plan->kind[0]->gemm;
  cutt_text_add(text, "products      %" PRId64 " of %" PRId64 " x %" PRId64 " x %" PRId64 " (m, n, k)",
                cutt_plan_products(plan), g->m, g->n, g->k);
  if (g->batch > 1) cutt_text_add(text, ", %" PRId64 " at a time", g->batch);
  if (plan->kind[0]->swapped) cutt_text_add(text, ", as the transpose: R times L");
  cutt_text_add(text, "\n");
  if (plan->product) cutt_text_add(text, "              by %s\n", plan->product->name);
  const int64_t blocks = plan->cost.result_blocks * plan->cost.k_blocks;
  if (blocks == 1) return;
  cutt_text_add(text, "blocks        %" PRId64 ":", blocks);
  for (int i = 0; i < plan->cuts; ++i)
    cutt_text_add(text, "%s %s in chunks of %" PRId64, i ? "," : "", plan->contraction.mode[plan->cut[i].mode].name,
                  plan->cut[i].chunk);
  if (plan->cost.spread) cutt_text_add(text, "; each thread has blocks of its own");
  if (plan->slots == 2 && cutt_contraction_on_gpu(plan))
    cutt_text_add(text, "; one is permuted while another is multiplied");
  cutt_text_add(text, "\n");
}

static void add_sums_beforehand(const struct cuttContractionStruct *plan, cutt_text *text) {
  for (int t = 0; t < CUTT_RESULT; ++t)
    if (plan->reduce[t])
      cutt_text_add(text, "%-13s %c is summed over what only it has beforehand\n", "tensors", tensor_letter[t]);
}

static void add_combination(const struct cuttElementwiseStruct *p, cutt_text *text) {
  cutt_text_add(text, "one pass      elementwise, %" PRId64 " blocks", p->blocks);
  for (int t = 0; t < CUTT_RESULT; ++t)
    cutt_text_add(text, "; %c is %s", tensor_letter[t], cutt_elementwise_use_words(p, t));
  cutt_text_add(text, p->streams ? "; D is written past the caches\n" : "\n");
}

/* "along j, in tiles of i 24, j 128" */
static void add_pass(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_pass_shape *s = &plan->pass->shape;
  const cutt_contraction *c = &plan->contraction;
  add_sums_beforehand(plan, text);
  if (plan->pass->combination) {
    add_combination(plan->pass->combination, text);
    return;
  }
  cutt_text_add(text, "one pass      %s",
                s->along < 0 ? "of a single product"
                : s->summed  ? "summed along "
                             : "along ");
  if (s->along >= 0) cutt_text_add(text, "%s, in tiles of", c->mode[s->along].name);
  for (int i = 0; i < c->modes; ++i)
    if (s->chunk[i] > 1) cutt_text_add(text, " %s %" PRId64, c->mode[i].name, s->chunk[i]);
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (s->packed[t])
      cutt_text_add(text, "; %c is %s in a cache", tensor_letter[t], t == CUTT_RESULT ? "transposed" : "packed");
  if (s->blocked) cutt_text_add(text, "; rows in blocks");
  cutt_text_add(text, s->streams ? "; D is written past the caches\n" : "\n");
}

/* What a pass on a GPU is of. */
static const cutt_contraction *pass_of(const struct cuttContractionStruct *plan) {
  return plan->moved ? plan->moved : &plan->contraction;
}

static void add_chunks(const struct cuttContractionStruct *plan, const char *what, const int8_t *mode, int count,
                       const int16_t *chunk, cutt_text *text) {
  cutt_text_add(text, "%s", what);
  for (int i = 0; i < count; ++i) cutt_text_add(text, " %s %d", pass_of(plan)->mode[mode[i]].name, chunk[mode[i]]);
}

/* "tiles of L's i 24 k 5 times R's j 24, 12 terms at once" */
static void add_device_products(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_multiply_shape *s = &plan->device_pass->shape.products;
  cutt_text_add(text, "tiles of %c's", tensor_letter[s->by_rows]);
  add_chunks(plan, "", s->row_mode, s->row_modes, s->part, text);
  cutt_text_add(text, " times %c's", tensor_letter[cutt_other_operand(s->by_rows)]);
  add_chunks(plan, "", s->column_mode, s->column_modes, s->part, text);
  cutt_text_add(text, ", %" PRId64 " terms at once%s\n", s->depth, s->apart > 1 ? "; turned in shared memory" : "");
}

/* "panels of 128 of L's rows, in 7 strips of 1216 of R's columns, 12 terms at once" */
static void add_panels(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_panel_shape *s = &plan->device_pass->shape.panel;
  cutt_text_add(text,
                "panels of %d of %c's rows, in %" PRId64 " strips of %" PRId64 " of %c's columns, %" PRId64
                " terms at once\n",
                (int)CUTT_PANEL_ROWS(plan->contraction.type->bytes), tensor_letter[s->by_rows], s->strips,
                s->strip_tiles * (int64_t)CUTT_PANEL_COLUMNS(plan->contraction.type->bytes),
                tensor_letter[cutt_other_operand(s->by_rows)], s->depth);
}

/* "on tensor cores: 64 of L's rows at a time, times 24 of R's columns, in 528 strips" */
static void add_cores(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_core_shape *s = &plan->device_pass->shape.core;
  const cutt_tensor streamed = s->streams_rows ? s->by_rows : cutt_other_operand(s->by_rows);
  cutt_text_add(text,
                "on tensor cores: %d of %c's %s at a time%s, times %" PRId64 " of %c's %s, in %" PRId64 " strips\n",
                CUTT_CORE_TILE, tensor_letter[streamed], s->streams_rows ? "rows" : "columns",
                s->turned ? ", turned in shared memory" : "", s->panel, tensor_letter[cutt_other_operand(streamed)],
                s->streams_rows ? "columns" : "rows", s->strips);
}

/* "in strips: 256 of L's rows at a time, times 24 of R's columns, 12 terms at once, in 528 strips" */
static void add_strips(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_strip_shape *s = &plan->device_pass->shape.strip;
  const cutt_tensor streamed = s->streams_rows ? s->by_rows : cutt_other_operand(s->by_rows);
  cutt_text_add(text,
                "in strips: %" PRId64 " of %c's %s at a time%s, times %" PRId64 " of %c's %s, %" PRId64
                " terms at once, in %" PRId64 " strips\n",
                cutt_strip_tile(s), tensor_letter[streamed], s->streams_rows ? "rows" : "columns",
                s->turned ? ", turned in shared memory" : "", s->panel, tensor_letter[cutt_other_operand(streamed)],
                s->streams_rows ? "columns" : "rows", s->depth, s->strips);
}

/* "sums by tiles of k 100 times i 40, in 3 parts" */
static void add_device_tiles(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_sum_shape *s = &plan->device_pass->shape.sum;
  const cutt_contract_mode *mode = pass_of(plan)->mode;
  cutt_text_add(text, "sums by tiles of %s %" PRId64, mode[s->column_mode].name, s->columns);
  if (s->row_mode >= 0) cutt_text_add(text, " times %s %" PRId64, mode[s->row_mode].name, s->rows);
  if (s->blocks.parts > 1) cutt_text_add(text, ", in %" PRId64 " parts", s->blocks.parts);
  cutt_text_add(text, "\n");
}

/* "sums by staged tiles of i 992 times k 8, in 3 parts" */
static void add_device_staged(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_staged_shape *s = &plan->device_pass->shape.staged;
  const cutt_contract_mode *mode = pass_of(plan)->mode;
  cutt_text_add(text, "sums by staged tiles of %s %" PRId64 " times %s %" PRId64, mode[s->column_mode].name, s->columns,
                mode[s->row_mode].name, s->rows);
  if (s->blocks.parts > 1) cutt_text_add(text, ", in %" PRId64 " parts", s->blocks.parts);
  cutt_text_add(text, "\n");
}

/* "sums by stretches of k 100, i 40, in 3 parts" */
static void add_device_stretches(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_stretch_shape *s = &plan->device_pass->shape.stretch;
  cutt_text_add(text, "sums by stretches of");
  for (int i = 0, count = 0; i < pass_of(plan)->modes; ++i)
    if (s->part[i] > 1) cutt_text_add(text, "%s %s %d", count++ ? "," : "", pass_of(plan)->mode[i].name, s->part[i]);
  if (s->blocks.parts > 1) cutt_text_add(text, ", in %" PRId64 " parts", s->blocks.parts);
  cutt_text_add(text, "\n");
}

/* "small products, tiles of 8 matrices of 16 x 16 with 16 terms, in 528 blocks" */
static void add_device_small(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_small_shape *s = &plan->device_pass->shape.small;
  cutt_text_add(text,
                "small products, tiles of %" PRId64 " matri%s of %" PRId64 " x %" PRId64 " with %" PRId64
                " term%s, in %" PRId64 " blocks\n",
                s->matrices, s->matrices == 1 ? "x" : "ces", s->rows, s->columns, s->terms, s->terms == 1 ? "" : "s",
                s->blocks);
}

/* "threads along j 128, rows of i 8; R is turned in shared memory" */
static void add_device_sums(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_device_shape *s = &plan->device_pass->shape;
  static const char *const way[] = {"", "; summed across threads", "; summed across rows", "; summed across both"};
  add_chunks(plan, s->x_modes ? "threads along" : "of one position", s->x_mode, s->x_modes, s->x, text);
  if (s->y_modes) add_chunks(plan, ", rows of", s->y_mode, s->y_modes, s->y, text);
  cutt_text_add(text, "%s", way[s->way]);
  for (int t = 0; t < CUTT_RESULT; ++t)
    if (s->turned[t] >= 0) cutt_text_add(text, "; %c is turned in shared memory", tensor_letter[t]);
  if (s->parts > 1) cutt_text_add(text, "; sums in %" PRId64 " parts", s->parts);
  cutt_text_add(text, "\n");
}

static void add_device_pass(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_device_shape *s = &plan->device_pass->shape;
  add_sums_beforehand(plan, text);
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (plan->move[t])
      cutt_text_add(text, "%-13s %c is permuted %s\n", "tensors", tensor_letter[t],
                    t == CUTT_RESULT ? "afterwards" : "beforehand");
  cutt_text_add(text, "one pass      ");
  if (s->kind == CUTT_DEVICE_PRODUCTS)
    add_device_products(plan, text);
  else if (s->kind == CUTT_DEVICE_PANELS)
    add_panels(plan, text);
  else if (s->kind == CUTT_DEVICE_CORES)
    add_cores(plan, text);
  else if (s->kind == CUTT_DEVICE_STRIPS)
    add_strips(plan, text);
  else if (s->kind == CUTT_DEVICE_COMBINATION)
    cutt_text_add(text, "%s\n", cutt_device_combine_words(plan->device_pass->combination));
  else if (s->kind == CUTT_DEVICE_TILES)
    add_device_tiles(plan, text);
  else if (s->kind == CUTT_DEVICE_STAGED)
    add_device_staged(plan, text);
  else if (s->kind == CUTT_DEVICE_SMALL)
    add_device_small(plan, text);
  else if (s->kind == CUTT_DEVICE_STRETCHES)
    add_device_stretches(plan, text);
  else
    add_device_sums(plan, text);
}

static void add_prediction(const struct cuttContractionStruct *plan, cutt_text *text) {
  cell c;
  const double seconds = cutt_plan_seconds(plan), permute = cutt_plan_permute_seconds(plan);
  cutt_text_add(text, "predicted     %s", duration(seconds, &c));
  if (seconds > 0)
    cutt_text_add(text, ", %.1f GFLOP/s, %.0f%% of it permuting", 1e-9 * cutt_plan_flops(plan) / seconds,
                  100 * permute / seconds);
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (plan->cost.permute[t] > 0)
      cutt_text_add(text, "; %c %s", tensor_letter[t], duration(plan->cost.permute[t], &c));
  cutt_text_add(text, "; products %s\n", duration(plan->cost.multiply, &c));
}

static void add_measured(const struct cuttContractionStruct *plan, cutt_text *text) {
  cell c, predicted;
  if (plan->by == CUTT_BY_MODEL) return;
  cutt_text_add(text, "measured      %s, %s\n", duration(plan->measured_seconds, &c),
                plan->by == CUTT_BY_WISDOM ? "by wisdom" : "the fastest of those that were timed by turns");
  for (int i = 0; i < plan->timed_count; ++i) {
    const cutt_timed_way *timed = &plan->timed[i];
    cutt_text_add(text, "  %12s   predicted %12s   %s\n",
                  timed->seconds < 0 ? "not timed" : duration(timed->seconds, &c),
                  duration(timed->predicted, &predicted), timed->name);
  }
}

static void describe_text(const struct cuttContractionStruct *plan, cutt_text *text) {
  cell c;
  const cutt_blas *blas = is_one_pass(plan) ? NULL : plan->blas;
  cutt_text_add(text, "contraction   of %s on %s", plan->asked.type->name, plan->backend->name);
  if (!cutt_contraction_on_gpu(plan))
    cutt_text_add(text, ", %d thread%s", plan->threads, plan->threads == 1 ? "" : "s");
  if (blas)
    cutt_text_add(text, ", products by %s%s%s%s", blas->name, blas->kernels[0] ? " (" : "", blas->kernels,
                  blas->kernels[0] ? ")" : "");
  cutt_text_add(text, "\n");
  if (plan->asked.conjugate[CUTT_LEFT]) cutt_text_add(text, "              L is conjugated\n");
  if (plan->asked.conjugate[CUTT_RIGHT]) cutt_text_add(text, "              R is conjugated\n");
  if (plan->asked.reduce)
    cutt_text_add(text, "              %s in place of sums\n", cutt_operator_names[plan->asked.reduce]);
  add_modes(plan, text);
  if (!has_blocks(plan) && !is_one_pass(plan)) {
    cutt_text_add(text, plan->asked.empty ? "              the result has no elements: there is nothing to do\n"
                                          : "              a sum over nothing: the result is scaled by beta\n");
  } else {
    if (plan->pass) {
      add_pass(plan, text);
    } else if (plan->device_pass) {
      add_device_pass(plan, text);
    } else {
      add_tensors(plan, text);
      add_products(plan, text);
    }
    if (plan->parts)
      cutt_text_add(text, "sums          in %" PRId64 " parts of %s, which are added up afterwards\n",
                    plan->parts->split.parts, plan->parts->whole.mode[plan->parts->split.mode].name);
    cutt_text_add(text, "workspace     ");
    add_bytes(text, (double)plan->workspace_bytes);
    cutt_text_add(text, "\n");
    add_prediction(plan, text);
    add_measured(plan, text);
  }
  cutt_text_add(text, "made in       %s\n", duration(plan->create_seconds, &c));
}

/* ------------------------------------------------------------------------------------------------------------------- JSON */

static void add_names(const struct cuttContractionStruct *plan, const char *name, const int *mode, int count,
                      cutt_text *text) {
  cutt_text_add(text, "\"%s\":[", name);
  for (int i = 0; i < count; ++i) {
    if (i) cutt_text_add(text, ",");
    cutt_text_add_json(text, plan->contraction.mode[mode[i]].name);
  }
  cutt_text_add(text, "]");
}

static void add_json_modes(const struct cuttContractionStruct *plan, cutt_text *text) {
  cutt_text_add(text, ",\"modes\":[");
  for (int i = 0; i < plan->asked.modes; ++i) {
    const cutt_contract_mode *mode = &plan->asked.mode[i];
    cutt_text_add(text, "%s{\"name\":", i ? "," : "");
    cutt_text_add_json(text, mode->name);
    cutt_text_add(text, ",\"is\":\"%s\",\"extent\":%" PRId64, group_name[mode->group], mode->extent);
    cutt_text_add(text, ",\"strides\":{\"L\":%" PRId64 ",\"R\":%" PRId64 ",\"D\":%" PRId64 "}}",
                  mode->stride[CUTT_LEFT], mode->stride[CUTT_RIGHT], mode->stride[CUTT_RESULT]);
  }
  cutt_text_add(text, "]");
}

static void add_json_algorithm(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_algorithm *algorithm = &plan->algorithm;
  const cutt_gemm *g = &plan->kind[0]->gemm;
  cutt_text_add(text, ",\"tensors\":{");
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    cutt_text_add(text, "%s\"%c\":{\"permuted\":%s,\"summed\":%s", t ? "," : "", tensor_letter[t],
                  algorithm->packed[t] ? "true" : "false", t != CUTT_RESULT && plan->reduce[t] ? "true" : "false");
    if (algorithm->packed[t]) cutt_text_add(text, ",\"inner\":\"%s\"", role_name[algorithm->inner[t]]);
    cutt_text_add(text, ",\"permute_seconds\":%.9g}", plan->cost.permute[t]);
  }
  cutt_text_add(text, "},\"index_groups\":{");
  for (int role = 0; role < CUTT_INDEX_GROUPS; ++role) {
    if (role) cutt_text_add(text, ",");
    add_names(plan, role_name[role], algorithm->index_group[role], algorithm->kept[role], text);
  }
  cutt_text_add(text, "},\"product\":{\"m\":%" PRId64 ",\"n\":%" PRId64 ",\"k\":%" PRId64 ",\"batch\":%" PRId64, g->m,
                g->n, g->k, g->batch);
  cutt_text_add(text, ",\"swapped\":%s,\"count\":%" PRId64 ",\"algorithm\":", plan->kind[0]->swapped ? "true" : "false",
                cutt_plan_products(plan));
  cutt_text_add_json(text, plan->product ? plan->product->name : "");
  cutt_text_add(text, "}");
  cutt_text_add(text, ",\"pieces\":%" PRId64 ",\"spread\":%s,\"cuts\":[",
                plan->cost.result_blocks * plan->cost.k_blocks, plan->cost.spread ? "true" : "false");
  for (int i = 0; i < plan->cuts; ++i) {
    cutt_text_add(text, "%s{\"mode\":", i ? "," : "");
    cutt_text_add_json(text, plan->contraction.mode[plan->cut[i].mode].name);
    cutt_text_add(text, ",\"chunk\":%" PRId64 "}", plan->cut[i].chunk);
  }
  cutt_text_add(text, "]");
}

/* Is its part of a tile put in another order before it is computed with? */
static bool is_packed(const cutt_pass *pass, int t) {
  const struct cuttElementwiseStruct *own = pass->combination;
  if (!own) return pass->shape.packed[t];
  return t == CUTT_RESULT ? own->result_packed : own->moved == t + 1 || own->use[t] == CUTT_USE_PACKED;
}

static void add_json_pass(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_pass_shape *s = &plan->pass->shape;
  const cutt_contraction *c = &plan->contraction;
  cutt_text_add(text, ",\"tensors\":{");
  for (int t = 0; t < CUTT_TENSORS; ++t)
    cutt_text_add(text, "%s\"%c\":{\"permuted\":false,\"summed\":%s,\"packed\":%s}", t ? "," : "", tensor_letter[t],
                  t != CUTT_RESULT && plan->reduce[t] ? "true" : "false", is_packed(plan->pass, t) ? "true" : "false");
  cutt_text_add(text, "},\"along\":");
  cutt_text_add_json(text, s->along < 0 ? "" : c->mode[s->along].name);
  cutt_text_add(text, ",\"tile\":{");
  for (int i = 0, any = 0; i < c->modes; ++i) {
    if (s->chunk[i] <= 1) continue; /* 0: of an elementwise operation */
    if (any++) cutt_text_add(text, ",");
    cutt_text_add_json(text, c->mode[i].name);
    cutt_text_add(text, ":%" PRId64, s->chunk[i]);
  }
  cutt_text_add(text, "},\"blocked\":%s,\"elementwise\":%s,\"pieces\":%" PRId64, s->blocked ? "true" : "false",
                s->combined ? "true" : "false", plan->pass->items);
}

static void add_json_measured(const struct cuttContractionStruct *plan, cutt_text *text) {
  static const char *const by[] = {"model", "measured", "wisdom", "caller"};
  cutt_text_add(text, ",\"by\":\"%s\",\"measured_seconds\":%.9g,\"timed\":[", by[plan->by], plan->measured_seconds);
  for (int i = 0; i < plan->timed_count; ++i) {
    const cutt_timed_way *timed = &plan->timed[i];
    cutt_text_add(text, "%s{\"way\":", i ? "," : "");
    cutt_text_add_json(text, timed->name);
    cutt_text_add(text, ",\"predicted_seconds\":%.9g,\"seconds\":", timed->predicted);
    if (timed->seconds < 0)
      cutt_text_add(text, "null}");
    else
      cutt_text_add(text, "%.9g}", timed->seconds);
  }
  cutt_text_add(text, "]");
}

static void add_json_chunks(const struct cuttContractionStruct *plan, const char *name, const int8_t *mode, int count,
                            const int16_t *chunk, cutt_text *text) {
  cutt_text_add(text, ",\"%s\":{", name);
  for (int i = 0; i < count; ++i) {
    if (i) cutt_text_add(text, ",");
    cutt_text_add_json(text, pass_of(plan)->mode[mode[i]].name);
    cutt_text_add(text, ":%d", chunk[mode[i]]);
  }
  cutt_text_add(text, "}");
}

static void add_json_device_products(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_multiply_shape *s = &plan->device_pass->shape.products;
  cutt_text_add(text, ",\"rows_of\":\"%c\"", tensor_letter[s->by_rows]);
  add_json_chunks(plan, "rows", s->row_mode, s->row_modes, s->part, text);
  add_json_chunks(plan, "columns", s->column_mode, s->column_modes, s->part, text);
  cutt_text_add(text, ",\"terms_at_once\":%" PRId64 ",\"pieces\":%" PRId64, s->depth, s->tiles);
}

static void add_json_panels(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_panel_shape *s = &plan->device_pass->shape.panel;
  cutt_text_add(text, ",\"rows_of\":\"%c\",\"panel_rows\":%d,\"strip_columns\":%" PRId64, tensor_letter[s->by_rows],
                (int)CUTT_PANEL_ROWS(plan->contraction.type->bytes),
                s->strip_tiles * (int64_t)CUTT_PANEL_COLUMNS(plan->contraction.type->bytes));
  cutt_text_add(text, ",\"terms_at_once\":%" PRId64 ",\"pieces\":%" PRId64, s->depth, plan->device_pass->tiles);
}

static void add_json_cores(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_core_shape *s = &plan->device_pass->shape.core;
  cutt_text_add(text, ",\"on_tensor_cores\":true,\"rows_of\":\"%c\",\"tiles_of\":\"%s\",\"tile\":%d,\"kept\":%" PRId64,
                tensor_letter[s->by_rows], s->streams_rows ? "rows" : "columns", CUTT_CORE_TILE, s->panel);
  cutt_text_add(text, ",\"strips\":%" PRId64 ",\"pieces\":%" PRId64, s->strips, plan->device_pass->tiles);
}

static void add_json_strips(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_strip_shape *s = &plan->device_pass->shape.strip;
  cutt_text_add(text,
                ",\"in_strips\":true,\"rows_of\":\"%c\",\"tiles_of\":\"%s\",\"tile\":%" PRId64 ",\"kept\":%" PRId64,
                tensor_letter[s->by_rows], s->streams_rows ? "rows" : "columns", cutt_strip_tile(s), s->panel);
  cutt_text_add(text, ",\"terms_at_once\":%" PRId64 ",\"strips\":%" PRId64 ",\"pieces\":%" PRId64, s->depth, s->strips,
                plan->device_pass->tiles);
}

static void add_json_device_tiles(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_sum_shape *s = &plan->device_pass->shape.sum;
  const cutt_contract_mode *mode = pass_of(plan)->mode;
  cutt_text_add(text, ",\"sums_by_tiles\":{");
  cutt_text_add_json(text, mode[s->column_mode].name);
  cutt_text_add(text, ":%" PRId64, s->columns);
  if (s->row_mode >= 0) {
    cutt_text_add(text, ",");
    cutt_text_add_json(text, mode[s->row_mode].name);
    cutt_text_add(text, ":%" PRId64, s->rows);
  }
  cutt_text_add(text, "},\"parts\":%" PRId64 ",\"pieces\":%" PRId64, s->blocks.parts, plan->device_pass->tiles);
}

static void add_json_device_staged(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_staged_shape *s = &plan->device_pass->shape.staged;
  const cutt_contract_mode *mode = pass_of(plan)->mode;
  cutt_text_add(text, ",\"sums_by_staged_tiles\":{");
  cutt_text_add_json(text, mode[s->column_mode].name);
  cutt_text_add(text, ":%" PRId64 ",", s->columns);
  cutt_text_add_json(text, mode[s->row_mode].name);
  cutt_text_add(text, ":%" PRId64 "},\"parts\":%" PRId64 ",\"pieces\":%" PRId64, s->rows, s->blocks.parts,
                plan->device_pass->tiles);
}

static void add_json_device_stretches(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_stretch_shape *s = &plan->device_pass->shape.stretch;
  cutt_text_add(text, ",\"sums_by_stretches\":{");
  for (int i = 0, count = 0; i < pass_of(plan)->modes; ++i) {
    if (s->part[i] == 1) continue;
    if (count++) cutt_text_add(text, ",");
    cutt_text_add_json(text, pass_of(plan)->mode[i].name);
    cutt_text_add(text, ":%d", s->part[i]);
  }
  cutt_text_add(text, "},\"lanes\":%d,\"parts\":%" PRId64 ",\"pieces\":%" PRId64, 1 << s->lane_bits, s->blocks.parts,
                plan->device_pass->tiles);
}

static void add_json_device_small(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_small_shape *s = &plan->device_pass->shape.small;
  cutt_text_add(text,
                ",\"small_products\":{\"matrices\":%" PRId64 ",\"rows\":%" PRId64 ",\"columns\":%" PRId64
                ",\"terms\":%" PRId64 "},\"blocks\":%" PRId64 ",\"pieces\":%" PRId64,
                s->matrices, s->rows, s->columns, s->terms, s->blocks, plan->device_pass->tiles);
}

static void add_json_device_sums(const struct cuttContractionStruct *plan, cutt_text *text) {
  static const char *const way[] = {"", "threads", "rows", "both"};
  const cutt_device_shape *s = &plan->device_pass->shape;
  add_json_chunks(plan, "threads_along", s->x_mode, s->x_modes, s->x, text);
  add_json_chunks(plan, "rows", s->y_mode, s->y_modes, s->y, text);
  cutt_text_add(text, ",\"summed_across\":\"%s\",\"parts\":%" PRId64 ",\"pieces\":%" PRId64, way[s->way], s->parts,
                plan->device_pass->tiles);
}

static bool is_turned(const cutt_device_shape *s, int t) {
  if (t == CUTT_RESULT) return false;
  if (s->kind == CUTT_DEVICE_PRODUCTS) return t == (int)s->products.by_rows && s->products.apart > 1;
  if (s->kind == CUTT_DEVICE_CORES) return t == (int)s->core.by_rows && s->core.turned;
  if (s->kind == CUTT_DEVICE_STRIPS) return t == (int)s->strip.by_rows && s->strip.turned;
  return s->kind != CUTT_DEVICE_PANELS && s->turned[t] >= 0;
}

static void add_json_device_pass(const struct cuttContractionStruct *plan, cutt_text *text) {
  const cutt_device_shape *s = &plan->device_pass->shape;
  cutt_text_add(text, ",\"tensors\":{");
  for (int t = 0; t < CUTT_TENSORS; ++t)
    cutt_text_add(text, "%s\"%c\":{\"permuted\":%s,\"summed\":%s,\"turned\":%s}", t ? "," : "", tensor_letter[t],
                  plan->move[t] ? "true" : "false", t != CUTT_RESULT && plan->reduce[t] ? "true" : "false",
                  is_turned(s, t) ? "true" : "false");
  cutt_text_add(text, "}");
  if (s->kind == CUTT_DEVICE_PRODUCTS)
    add_json_device_products(plan, text);
  else if (s->kind == CUTT_DEVICE_PANELS)
    add_json_panels(plan, text);
  else if (s->kind == CUTT_DEVICE_CORES)
    add_json_cores(plan, text);
  else if (s->kind == CUTT_DEVICE_STRIPS)
    add_json_strips(plan, text);
  else if (s->kind == CUTT_DEVICE_TILES)
    add_json_device_tiles(plan, text);
  else if (s->kind == CUTT_DEVICE_STAGED)
    add_json_device_staged(plan, text);
  else if (s->kind == CUTT_DEVICE_SMALL)
    add_json_device_small(plan, text);
  else if (s->kind == CUTT_DEVICE_STRETCHES)
    add_json_device_stretches(plan, text);
  else
    add_json_device_sums(plan, text);
}

static void describe_json(const struct cuttContractionStruct *plan, cutt_text *text) {
  int64_t size[CUTT_ROLES];
  cutt_contraction_sizes(cutt_plan_whole(plan), size);
  cutt_text_add(text, "{\"type\":\"%s\",\"backend\":\"%s\",\"threads\":%d", plan->asked.type->name, plan->backend->name,
                plan->threads);
  const cutt_blas *blas = is_one_pass(plan) ? NULL : plan->blas;
  cutt_text_add(text, ",\"algorithm\":\"%s\"", cutt_plan_algorithm(plan));
  cutt_text_add(text, ",\"provider\":{\"name\":\"%s\",\"kernels\":", cutt_plan_provider(plan));
  cutt_text_add_json(text, blas ? blas->kernels : "");
  cutt_text_add(text, ",\"path\":");
  cutt_text_add_json(text, blas ? blas->path : "");
  cutt_text_add(text, "},\"conjugate\":{\"L\":%s,\"R\":%s}", plan->asked.conjugate[CUTT_LEFT] ? "true" : "false",
                plan->asked.conjugate[CUTT_RIGHT] ? "true" : "false");
  cutt_text_add(text, ",\"reduce\":\"%s\"", cutt_operator_names[plan->asked.reduce]);
  cutt_text_add(text, ",\"m\":%" PRId64 ",\"n\":%" PRId64 ",\"k\":%" PRId64 ",\"batch\":%" PRId64, size[CUTT_ROLE_M],
                size[CUTT_ROLE_N], size[CUTT_ROLE_K], size[CUTT_ROLE_BATCH]);
  add_json_modes(plan, text);
  if (plan->pass)
    add_json_pass(plan, text);
  else if (plan->device_pass)
    add_json_device_pass(plan, text);
  else if (has_blocks(plan))
    add_json_algorithm(plan, text);
  if (plan->parts) {
    cutt_text_add(text, ",\"sums_in_parts\":{\"mode\":");
    cutt_text_add_json(text, plan->parts->whole.mode[plan->parts->split.mode].name);
    cutt_text_add(text, ",\"parts\":%" PRId64 ",\"seconds\":%.9g}", plan->parts->split.parts, plan->parts->seconds);
  }
  cutt_text_add(text, ",\"workspace_bytes\":%zu,\"predicted_seconds\":%.9g,\"predicted_permute_seconds\":%.9g",
                plan->workspace_bytes, cutt_plan_seconds(plan), cutt_plan_permute_seconds(plan));
  add_json_measured(plan, text);
  cutt_text_add(text, ",\"create_seconds\":%.9g}", plan->create_seconds);
}

cuttResult cuttContractionDescribe(cuttContractionPlan_t plan, cuttFormat_t format, char *buffer, size_t size,
                                   size_t *needed) {
  if (!cutt_contraction_alive(plan)) return CUTT_INVALID_PLAN;
  const cuttResult result = cutt_description_check(format, buffer, size);
  if (result) return result;
  cutt_text text = cutt_text_start(buffer, size);
  if (format == CUTT_TEXT)
    describe_text(plan, &text);
  else
    describe_json(plan, &text);
  if (needed) *needed = text.length + 1;
  return CUTT_SUCCESS;
}
