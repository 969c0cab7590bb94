/* A plan as JSON. */
#include <inttypes.h>
#include <math.h>

#include "describe/describe.h"

static const char *const chosen_by_name[] = {"model", "measured", "wisdom", "caller"};

static void add_number(cutt_text *text, double value) {
  /* JSON has no infinity and no NaN. */
  if (isfinite(value)) {
    cutt_text_add(text, "%.9g", value);
  } else {
    cutt_text_add(text, "null");
  }
}

static void add_named(cutt_text *text, const char *name, double value) {
  cutt_text_add(text, ",\"%s\":", name);
  add_number(text, value);
}

static void add_list(cutt_text *text, const char *name, int count, const int64_t *values) {
  cutt_text_add(text, ",\"%s\":[", name);
  for (int i = 0; i < count; ++i) cutt_text_add(text, "%s%" PRId64, i ? "," : "", values[i]);
  cutt_text_add(text, "]");
}

static void add_scalar(cutt_text *text, const char *name, const cutt_type_info *type, const cutt_scalar *scalar) {
  cutt_text_add(text, ",\"%s\":", name);
  if (type->type == CUTT_I32 || type->type == CUTT_I64) {
    cutt_text_add(text, "%" PRId64, scalar->i);
    return;
  }
  if (type->complex) cutt_text_add(text, "[");
  add_number(text, scalar->re);
  if (!type->complex) return;
  cutt_text_add(text, ",");
  add_number(text, scalar->im);
  cutt_text_add(text, "]");
}

static void add_problem(const struct cuttPlanStruct *plan, cutt_text *text) {
  const cutt_user_problem *problem = &plan->problem;
  const cutt_canonical *canonical = &plan->canonical;
  const cutt_type_info *type = cutt_type_lookup(problem->type);
  cutt_text_add(text, "\"problem\":{\"rank\":%d,\"type\":\"%s\",\"elem_bytes\":%d", problem->rank, type->name,
                type->bytes);
  add_list(text, "extents", problem->rank, problem->extents);
  cutt_text_add(text, ",\"perm\":[");
  for (int i = 0; i < problem->rank; ++i) cutt_text_add(text, "%s%d", i ? "," : "", problem->perm[i]);
  cutt_text_add(text, "]");
  if (problem->in_strided) add_list(text, "in_strides", problem->rank, problem->in_strides);
  if (problem->out_strided) add_list(text, "out_strides", problem->rank, problem->out_strides);
  if (canonical->scale.active) {
    add_scalar(text, "alpha", type, &canonical->scale.alpha);
    add_scalar(text, "beta", type, &canonical->scale.beta);
    cutt_text_add(text, ",\"conjugate\":%s", canonical->scale.conjugate ? "true" : "false");
  }
  cutt_text_add(text, ",\"bytes_moved\":%" PRId64 "}", cutt_bytes_moved(canonical));
}

static void add_canonical(const cutt_canonical *canonical, cutt_text *text) {
  cutt_text_add(text, ",\"canonical\":{\"rank\":%d,\"elem_bytes\":%d,\"volume\":%" PRId64 ",\"modes\":[",
                canonical->rank, canonical->elem_bytes, canonical->volume);
  for (int i = 0; i < canonical->rank; ++i) {
    const cutt_mode *mode = &canonical->mode[i];
    cutt_text_add(text, "%s{\"extent\":%" PRId64 ",\"in_stride\":%" PRId64 ",\"out_stride\":%" PRId64 "}", i ? "," : "",
                  mode->extent, mode->in_stride, mode->out_stride);
  }
  cutt_text_add(text, "],\"out_order\":[");
  for (int i = 0; i < canonical->rank; ++i) cutt_text_add(text, "%s%d", i ? "," : "", canonical->out_order[i]);
  cutt_text_add(text, "],\"identity\":%s}", canonical->identity ? "true" : "false");
}

static void add_device(const struct cuttPlanStruct *plan, cutt_text *text) {
  cutt_text_add(text, ",\"device\":");
  cutt_text_add_json(text, plan->target->name);
  cutt_text_add(text, ",\"source\":");
  if (plan->target->source) {
    cutt_text_add_json(text, plan->target->source);
  } else {
    cutt_text_add(text, "null");
  }
  cutt_text_add(text, ",\"model\":\"%s\",\"executable\":%s", plan->model == CUTT_MODEL_IS_PAPER ? "paper" : "own",
                plan->described_only ? "false" : "true");
}

/* What the backend says of a candidate. The terms are those of its own model, whichever one predicts. */
static void add_explanation(const struct cuttPlanStruct *plan, const cutt_candidate *candidate, cutt_text *text) {
  cutt_explanation e;
  cutt_term terms[CUTT_TERMS];
  double own;
  cutt_describe_explain(plan, candidate, &e);
  const int count = cutt_describe_terms(plan, &e, terms, &own);
  add_named(text, "own_seconds", own);
  if (plan->backend->methods->paper_seconds) {
    add_named(text, "paper_seconds",
              plan->canonical.volume == 0
                  ? 0
                  : plan->backend->methods->paper_seconds(plan->target, &plan->canonical, candidate));
  }
  add_named(text, "copy_seconds", e.copy_seconds);
  add_named(text, "percent_of_copy", candidate->seconds > 0 ? 100 * e.copy_seconds / candidate->seconds : 0);
  add_list(text, "tile", plan->canonical.rank, e.tile);
  cutt_text_add(text,
                ",\"row_length\":%" PRId64 ",\"rows\":%" PRId64 ",\"column_length\":%" PRId64 ",\"columns\":%" PRId64
                ",\"tiles\":%" PRId64 ",\"shared_bytes\":%" PRId64 ",\"blocks_per_sm\":%d",
                e.row_length, e.rows, e.column_length, e.columns, e.tiles, e.shared_bytes, e.blocks_per_sm);
  add_named(text, "occupancy", e.occupancy);
  cutt_text_add(text, ",\"unit\":\"%s\",\"unit_bytes\":%d", e.sector_name, e.sector_bytes);
  add_named(text, "read_units", e.read_sectors);
  add_named(text, "written_units", e.written_sectors);
  add_named(text, "least_units", e.least_sectors);
  add_named(text, "partial_units", e.partial_sectors);
  add_named(text, "requests", e.requests);
  add_named(text, "wavefronts", e.wavefronts);
  cutt_text_add(text, ",\"terms\":[");
  for (int i = 0; i < count; ++i) {
    cutt_text_add(text, "%s{\"name\":\"%s\",\"seconds\":", i ? "," : "", terms[i].parameter->name);
    add_number(text, terms[i].seconds);
    cutt_text_add(text, ",\"what\":");
    cutt_text_add_json(text, terms[i].parameter->what);
    cutt_text_add(text, "}");
  }
  cutt_text_add(text, "]");
}

/* A candidate's members, without braces. */
static void add_candidate(const struct cuttPlanStruct *plan, const cutt_candidate *candidate, cutt_text *text) {
  cutt_text_add(text, "\"method\":\"%s\",\"m\":%d,\"k\":%d,\"modes_m\":[", cutt_method_name[candidate->method],
                candidate->m, candidate->k);
  for (int i = 0; i < candidate->m; ++i) cutt_text_add(text, "%s%d", i ? "," : "", i);
  cutt_text_add(text, "],\"modes_k\":[");
  for (int i = 0; i < candidate->k; ++i) cutt_text_add(text, "%s%d", i ? "," : "", plan->canonical.out_order[i]);
  cutt_text_add(text, "],\"split_m\":%" PRId64 ",\"split_k\":%" PRId64 ",\"threads\":%d,\"params\":{",
                candidate->split_m, candidate->split_k, candidate->threads);
  const char *between = "";
  for (int i = 0; i < CUTT_PARAMS; ++i) {
    if (!plan->backend->methods->param_name[i]) continue;
    cutt_text_add(text, "%s\"%s\":%" PRId64, between, plan->backend->methods->param_name[i], candidate->param[i]);
    between = ",";
  }
  cutt_text_add(text, "}");
  add_named(text, "predicted_seconds", candidate->seconds);
  add_named(text, "predicted_gbs", cutt_describe_rate(plan, candidate->seconds));
  add_explanation(plan, candidate, text);
}

void cutt_describe_json(const struct cuttPlanStruct *plan, const cutt_listing *l, cutt_text *text) {
  cutt_text_add(text, "{");
  add_problem(plan, text);
  add_canonical(&plan->canonical, text);
  add_device(plan, text);
  cutt_text_add(text, ",\"candidates\":[");
  for (int i = 0; i < l->count; ++i) {
    cutt_text_add(text, "%s{", i ? "," : "");
    add_candidate(plan, &l->list[i], text);
    cutt_text_add(text, ",\"chosen\":%s}", i == l->chosen ? "true" : "false");
  }
  cutt_text_add(text, "],\"choice\":{");
  add_candidate(plan, &plan->choice.candidate, text);
  cutt_text_add(text, ",\"by\":\"%s\"},\"threads\":%d,\"backend\":\"%s\",\"isa\":", chosen_by_name[plan->choice.by],
                plan->choice.candidate.threads, plan->backend->name);
  cutt_text_add_json(text, plan->isa);
  add_named(text, "predicted_seconds", plan->choice.candidate.seconds);
  add_named(text, "measured_seconds", plan->choice.measured_seconds);
  add_named(text, "create_seconds", plan->create_seconds);
  cutt_text_add(text, "}\n");
}
