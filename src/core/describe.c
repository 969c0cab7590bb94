/* What a plan and this machine look like, as text for a person and as JSON for a program.
 *
 * A plan does not keep the candidates that it was not made from: enumeration is a pure function, so they are listed
 * anew when someone asks. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/plan.h"

enum { ROWS = CUTT_MAX_CANDIDATES + 1 };

static const char *const chosen_by_name[] = {"model", "measured", "wisdom", "caller"};

typedef struct rows {
  cutt_candidate list[ROWS];
  int count, chosen;
} rows;

static void list_candidates(const struct cuttPlanStruct *plan, rows *r) {
  const cutt_backend *backend = plan->backend;
  r->count = 0;
  if (plan->canonical.volume > 0) {
    r->count = backend->enumerate_for
                   ? backend->enumerate_for(plan->choice.prepared, &plan->canonical, r->list, CUTT_MAX_CANDIDATES)
                   : backend->enumerate(&plan->canonical, plan->threads, r->list, CUTT_MAX_CANDIDATES);
  }
  for (r->chosen = 0; r->chosen < r->count; ++r->chosen) {
    if (cutt_candidate_equal(&r->list[r->chosen], &plan->choice.candidate)) return;
  }
  /* One from wisdom that the model does not list, or the only one of a problem without elements. */
  r->list[r->count++] = plan->choice.candidate;
}

/* GB/s that a number of seconds makes; 0 when the time is not known. */
static double rate(const struct cuttPlanStruct *plan, double seconds) {
  return seconds > 0 ? (double)cutt_bytes_moved(&plan->canonical) / seconds * 1e-9 : 0;
}

static cuttResult finish(const cutt_text *text, size_t *needed) {
  if (needed) *needed = text->length + 1;
  return CUTT_SUCCESS;
}

static cuttResult check_output(cuttFormat_t format, const char *buffer, size_t size) {
  if (format != CUTT_TEXT && format != CUTT_JSON) {
    return cutt_error(CUTT_INVALID_PARAMETER, "format is %ld; it must be CUTT_TEXT or CUTT_JSON", (long)format);
  }
  if (!buffer && size > 0) {
    return cutt_error(CUTT_INVALID_PARAMETER, "buffer is NULL and size is %zu; it may be NULL when size is 0", size);
  }
  return CUTT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static void json_number(cutt_text *text, double value) {
  /* JSON has no infinity and no NaN. */
  if (isfinite(value)) {
    cutt_text_add(text, "%.9g", value);
  } else {
    cutt_text_add(text, "null");
  }
}

static void json_list(cutt_text *text, const char *name, int count, const int64_t *values) {
  cutt_text_add(text, ",\"%s\":[", name);
  for (int i = 0; i < count; ++i) cutt_text_add(text, "%s%" PRId64, i ? "," : "", values[i]);
  cutt_text_add(text, "]");
}

static void json_scalar(cutt_text *text, const char *name, const cutt_type_info *type, const cutt_scalar *scalar) {
  cutt_text_add(text, ",\"%s\":", name);
  if (type->type == CUTT_I32 || type->type == CUTT_I64) {
    cutt_text_add(text, "%" PRId64, scalar->i);
    return;
  }
  if (type->complex) cutt_text_add(text, "[");
  json_number(text, scalar->re);
  if (!type->complex) return;
  cutt_text_add(text, ",");
  json_number(text, scalar->im);
  cutt_text_add(text, "]");
}

static void json_problem(const struct cuttPlanStruct *plan, cutt_text *text) {
  const cutt_facts *facts = &plan->facts;
  const cutt_canonical *canonical = &plan->canonical;
  const cutt_type_info *type = cutt_type_lookup(facts->type);
  cutt_text_add(text, "\"problem\":{\"rank\":%d,\"type\":\"%s\",\"elem_bytes\":%d", facts->rank, type->name,
                type->bytes);
  json_list(text, "extents", facts->rank, facts->extents);
  cutt_text_add(text, ",\"perm\":[");
  for (int i = 0; i < facts->rank; ++i) cutt_text_add(text, "%s%d", i ? "," : "", facts->perm[i]);
  cutt_text_add(text, "]");
  if (facts->in_strided) json_list(text, "in_strides", facts->rank, facts->in_strides);
  if (facts->out_strided) json_list(text, "out_strides", facts->rank, facts->out_strides);
  if (canonical->scale.active) {
    json_scalar(text, "alpha", type, &canonical->scale.alpha);
    json_scalar(text, "beta", type, &canonical->scale.beta);
    cutt_text_add(text, ",\"conjugate\":%s", canonical->scale.conjugate ? "true" : "false");
  }
  cutt_text_add(text, ",\"bytes_moved\":%" PRId64 "}", cutt_bytes_moved(canonical));
}

static void json_canonical(const cutt_canonical *canonical, cutt_text *text) {
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

/* A candidate's members, without braces. */
static void json_candidate(const struct cuttPlanStruct *plan, const cutt_candidate *candidate, cutt_text *text) {
  cutt_text_add(text, "\"method\":\"%s\",\"m\":%d,\"k\":%d,\"modes_m\":[", cutt_method_name[candidate->method],
                candidate->m, candidate->k);
  for (int i = 0; i < candidate->m; ++i) cutt_text_add(text, "%s%d", i ? "," : "", i);
  cutt_text_add(text, "],\"modes_k\":[");
  for (int i = 0; i < candidate->k; ++i) cutt_text_add(text, "%s%d", i ? "," : "", plan->canonical.out_order[i]);
  cutt_text_add(text, "],\"split_m\":%" PRId64 ",\"split_k\":%" PRId64 ",\"threads\":%d,\"params\":{",
                candidate->split_m, candidate->split_k, candidate->threads);
  const char *between = "";
  for (int i = 0; i < CUTT_PARAMS; ++i) {
    if (!plan->backend->param_name[i]) continue;
    cutt_text_add(text, "%s\"%s\":%" PRId64, between, plan->backend->param_name[i], candidate->param[i]);
    between = ",";
  }
  cutt_text_add(text, "},\"predicted_seconds\":");
  json_number(text, candidate->seconds);
  cutt_text_add(text, ",\"predicted_gbs\":");
  json_number(text, rate(plan, candidate->seconds));
}

static void plan_json(const struct cuttPlanStruct *plan, const rows *r, cutt_text *text) {
  cutt_text_add(text, "{");
  json_problem(plan, text);
  json_canonical(&plan->canonical, text);
  cutt_text_add(text, ",\"candidates\":[");
  for (int i = 0; i < r->count; ++i) {
    cutt_text_add(text, "%s{", i ? "," : "");
    json_candidate(plan, &r->list[i], text);
    cutt_text_add(text, ",\"chosen\":%s}", i == r->chosen ? "true" : "false");
  }
  cutt_text_add(text, "],\"choice\":{");
  json_candidate(plan, &plan->choice.candidate, text);
  cutt_text_add(text, ",\"by\":\"%s\"},\"threads\":%d,\"backend\":\"%s\",\"isa\":", chosen_by_name[plan->choice.by],
                plan->choice.candidate.threads, plan->backend->name);
  cutt_text_add_json(text, plan->isa);
  cutt_text_add(text, ",\"predicted_seconds\":");
  json_number(text, plan->choice.candidate.seconds);
  cutt_text_add(text, ",\"measured_seconds\":");
  json_number(text, plan->choice.measured_seconds);
  cutt_text_add(text, ",\"create_seconds\":");
  json_number(text, plan->create_seconds);
  cutt_text_add(text, "}\n");
}

/* ------------------------------------------------------------------------------------------------------------- text */

/* Every piece that is lined up in a column is built here first. */
typedef struct cell {
  char at[512];
} cell;

static void text_list(cutt_text *text, const char *between, int count, const int64_t *values) {
  for (int i = 0; i < count; ++i) cutt_text_add(text, "%s%" PRId64, i ? between : "", values[i]);
}

static void text_scalar(cutt_text *text, const char *name, const cutt_type_info *type, const cutt_scalar *scalar) {
  if (type->type == CUTT_I32 || type->type == CUTT_I64) {
    cutt_text_add(text, ", %s %" PRId64, name, scalar->i);
  } else if (type->complex) {
    cutt_text_add(text, ", %s %.9g%+.9gi", name, scalar->re, scalar->im);
  } else {
    cutt_text_add(text, ", %s %.9g", name, scalar->re);
  }
}

static const char *duration(double seconds, cell *c) {
  cutt_text text = cutt_text_start(c->at, sizeof c->at);
  if (seconds <= 0) {
    cutt_text_add(&text, "-");
  } else if (seconds < 1e-3) {
    cutt_text_add(&text, "%.3f us", seconds * 1e6);
  } else if (seconds < 1) {
    cutt_text_add(&text, "%.3f ms", seconds * 1e3);
  } else {
    cutt_text_add(&text, "%.3f s", seconds);
  }
  return c->at;
}

static void text_problem(const struct cuttPlanStruct *plan, cutt_text *text) {
  const cutt_facts *facts = &plan->facts;
  const cutt_canonical *canonical = &plan->canonical;
  const cutt_type_info *type = cutt_type_lookup(facts->type);
  cutt_text_add(text, "problem     rank %d, %s elements of %d byte%s, %" PRId64 " bytes moved\n", facts->rank,
                type->name, type->bytes, type->bytes == 1 ? "" : "s", cutt_bytes_moved(canonical));
  if (facts->rank > 0) {
    cutt_text_add(text, "  extents     ");
    text_list(text, " x ", facts->rank, facts->extents);
    cutt_text_add(text, "   (stride-1 mode first)\n  permutation ");
    for (int i = 0; i < facts->rank; ++i) cutt_text_add(text, "%s%d", i ? " " : "", facts->perm[i]);
    cutt_text_add(text, "   (input modes in the order of the output)\n");
  }
  if (facts->in_strided) {
    cutt_text_add(text, "  in strides  ");
    text_list(text, " ", facts->rank, facts->in_strides);
    cutt_text_add(text, "\n");
  }
  if (facts->out_strided) {
    cutt_text_add(text, "  out strides ");
    text_list(text, " ", facts->rank, facts->out_strides);
    cutt_text_add(text, "\n");
  }
  if (canonical->scale.active) {
    cutt_text_add(text, "  out = alpha * %s%s", canonical->scale.conjugate ? "conj(in)" : "in",
                  canonical->scale.reads_out ? " + beta * out" : "");
    text_scalar(text, "alpha", type, &canonical->scale.alpha);
    if (canonical->scale.reads_out) text_scalar(text, "beta", type, &canonical->scale.beta);
    cutt_text_add(text, "\n");
  }
}

static void text_canonical(const cutt_canonical *canonical, cutt_text *text) {
  cutt_text_add(text, "\ncanonical   rank %d, elements of %d byte%s, %" PRId64 " of them%s\n", canonical->rank,
                canonical->elem_bytes, canonical->elem_bytes == 1 ? "" : "s", canonical->volume,
                canonical->volume == 0 ? ": nothing to do"
                : canonical->identity  ? ": the identity"
                                       : "");
  if (canonical->rank == 0) return;
  cutt_text_add(text, "  mode %20s %20s %20s   place in output\n", "extent", "in stride", "out stride");
  for (int i = 0; i < canonical->rank; ++i) {
    const cutt_mode *mode = &canonical->mode[i];
    int place = 0;
    while (canonical->out_order[place] != i) ++place;
    cutt_text_add(text, "  %4d %20" PRId64 " %20" PRId64 " %20" PRId64 "   %d\n", i, mode->extent, mode->in_stride,
                  mode->out_stride, place);
  }
}

/* The modes packed on one side, such as "0 1 2/8" when the last one is cut to chunks of 8. */
static const char *packed_modes(const int *order, int count, int64_t split, cell *c) {
  cutt_text text = cutt_text_start(c->at, sizeof c->at);
  for (int i = 0; i < count; ++i) cutt_text_add(&text, "%s%d", i ? " " : "", order ? order[i] : i);
  if (count == 0) cutt_text_add(&text, "-");
  if (split > 0) cutt_text_add(&text, "/%" PRId64, split);
  return c->at;
}

static const char *parameters(const cutt_backend *backend, const cutt_candidate *candidate, cell *c) {
  cutt_text text = cutt_text_start(c->at, sizeof c->at);
  for (int i = 0; i < CUTT_PARAMS; ++i) {
    if (!backend->param_name[i]) continue;
    cutt_text_add(&text, "%s%s=%" PRId64, text.length ? " " : "", backend->param_name[i], candidate->param[i]);
  }
  return c->at;
}

static void text_candidates(const struct cuttPlanStruct *plan, const rows *r, cutt_text *text) {
  cell m, k, p, time;
  /* The width of a column is that of its widest piece. */
  int m_width = 3, k_width = 3, p_width = 10;
  for (int i = 0; i < r->count; ++i) {
    const cutt_candidate *candidate = &r->list[i];
    const int m_is = (int)strlen(packed_modes(NULL, candidate->m, candidate->split_m, &m));
    const int k_is = (int)strlen(packed_modes(plan->canonical.out_order, candidate->k, candidate->split_k, &k));
    const int p_is = (int)strlen(parameters(plan->backend, candidate, &p));
    if (m_is > m_width) m_width = m_is;
    if (k_is > k_width) k_width = k_is;
    if (p_is > p_width) p_width = p_is;
  }
  cutt_text_add(text, "\ncandidates  by predicted time; n/c: mode n in chunks of c; * is the choice\n");
  cutt_text_add(text, "    %-11s  %-*s  %-*s  threads  %-*s  %14s  %8s\n", "method", m_width, "M_m", k_width, "M_k",
                p_width, "parameters", "predicted", "GB/s");
  for (int i = 0; i < r->count; ++i) {
    const cutt_candidate *candidate = &r->list[i];
    cutt_text_add(
        text, "  %c %-11s  %-*s  %-*s  %7d  %-*s  %14s  %8.2f\n", i == r->chosen ? '*' : ' ',
        cutt_method_name[candidate->method], m_width, packed_modes(NULL, candidate->m, candidate->split_m, &m), k_width,
        packed_modes(plan->canonical.out_order, candidate->k, candidate->split_k, &k), candidate->threads, p_width,
        parameters(plan->backend, candidate, &p), duration(candidate->seconds, &time), rate(plan, candidate->seconds));
  }
}

static void plan_text(const struct cuttPlanStruct *plan, const rows *r, cutt_text *text) {
  text_problem(plan, text);
  text_canonical(&plan->canonical, text);
  text_candidates(plan, r, text);
  static const char *const how[] = {"by the model", "by measuring", "from wisdom", "as asked for"};
  const cutt_choice *choice = &plan->choice;
  cell time;
  cutt_text_add(text, "\nchoice      %s %s, on %s (%s), %d thread%s\n", cutt_method_name[choice->candidate.method],
                how[choice->by], plan->backend->name, plan->isa, choice->candidate.threads,
                choice->candidate.threads == 1 ? "" : "s");
  if (choice->candidate.seconds > 0) {
    cutt_text_add(text, "  predicted   %s, %.2f GB/s\n", duration(choice->candidate.seconds, &time),
                  rate(plan, choice->candidate.seconds));
  }
  if (choice->measured_seconds > 0) {
    cutt_text_add(text, "  measured    %s, %.2f GB/s\n", duration(choice->measured_seconds, &time),
                  rate(plan, choice->measured_seconds));
  }
  cutt_text_add(text, "  plan made in %s\n", duration(plan->create_seconds, &time));
}

cuttResult cuttPlanDescribe(cuttPlan_t plan, cuttFormat_t format, char *buffer, size_t size, size_t *needed) {
  if (!cutt_plan_alive(plan)) return CUTT_INVALID_PLAN;
  const cuttResult result = check_output(format, buffer, size);
  if (result) return result;
  rows r;
  list_candidates(plan, &r);
  cutt_text text = cutt_text_start(buffer, size);
  if (format == CUTT_JSON) {
    plan_json(plan, &r, &text);
  } else {
    plan_text(plan, &r, &text);
  }
  return finish(&text, needed);
}

/* ---------------------------------------------------------------------------------------------------------- devices */

cuttResult cuttDevicesDescribe(cuttFormat_t format, char *buffer, size_t size, size_t *needed) {
  const cuttResult result = check_output(format, buffer, size);
  if (result) return result;
  const bool json = format == CUTT_JSON;
  cutt_text text = cutt_text_start(buffer, size);
  const int version = cuttVersion();
  cutt_text_add(&text, json ? "{\"version\":\"%d.%d.%d\",\"backends\":[" : "cuTT %d.%d.%d\n", version / 10000,
                version / 100 % 100, version % 100);
  for (const cutt_backend *const *b = cutt_backends; *b; ++b) {
    const char *why = NULL;
    const bool usable = (*b)->probe(&why);
    if (json) {
      cutt_text_add(&text, "%s{\"name\":\"%s\",\"usable\":%s", b == cutt_backends ? "" : ",", (*b)->name,
                    usable ? "true" : "false");
      cutt_text_add(&text, usable ? ",\"isa\":" : ",\"why\":");
      cutt_text_add_json(&text, usable ? (*b)->isa() : why ? why : "it does not say why");
      if (usable) {
        cutt_text_add(&text, ",\"device\":{");
        (*b)->describe_device(format, &text);
        cutt_text_add(&text, "}");
      }
      cutt_text_add(&text, "}");
    } else if (usable) {
      cutt_text_add(&text, "\n%s: usable, %s\n", (*b)->name, (*b)->isa());
      (*b)->describe_device(format, &text);
    } else {
      cutt_text_add(&text, "\n%s: not usable here: %s\n", (*b)->name, why ? why : "it does not say why");
    }
  }
  if (json) cutt_text_add(&text, "]}\n");
  return finish(&text, needed);
}
