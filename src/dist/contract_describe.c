/* What a plan of a contraction is: as numbers, in words and as JSON. */
#include <inttypes.h>

#include "base/error.h"
#include "base/text.h"
#include "dist/amounts.h"
#include "dist/contract.h"
#include "plan/services.h"

static const size_t first_info_size = sizeof(cuttDistContractionInfo_t);

static const char *const tensor_name[CUTT_TENSORS] = {"left", "right", "result"};
static const char *const algorithm_name[CUTT_DIST_ALGORITHMS] = {"", "local", "redistribute", "summa", "reduce"};

cuttResult cuttDistContractionGetInfo(cuttDistContractionPlan_t plan, cuttDistContractionInfo_t *info) {
  if (!cutt_dist_contraction_alive(plan)) return CUTT_INVALID_PLAN;
  const cuttResult code = cutt_info_check(info, first_info_size, sizeof *info, "cuttDistContractionInfo_t");
  if (code) return code;
  const cutt_scheme *c = &plan->choice.best;
  const cuttDistContractionInfo_t own = {
      .algorithm = c->algorithm,
      .ranks = c->mesh.positions,
      .moves_left = !c->stands[CUTT_LEFT],
      .moves_right = !c->stands[CUTT_RIGHT],
      .moves_result = !c->stands[CUTT_RESULT],
      .partial_results = c->partial,
      .panels = c->panels,
      .bytes_sent = plan->sent,
      .bytes_received = plan->received,
      .most_bytes_sent = plan->most_sent,
      .most_bytes_received = plan->most_received,
      .workspace_bytes = plan->workspace_bytes,
      .flops = plan->flops,
      .predicted_seconds = plan->predicted_seconds,
      .create_seconds = plan->create_seconds,
  };
  cutt_info_write(info, &own, sizeof own);
  return CUTT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------------- text */

static void add_tensor(const struct cuttDistContractionStruct *plan, int t, cutt_text *text) {
  const cutt_spread *s = &plan->s;
  const cutt_layout *layout = &s->layout[t];
  const cutt_scheme *c = &plan->choice.best;
  cutt_text_add(text, "%-13s ", tensor_name[t]);
  for (int i = 0; i < layout->modes; ++i) {
    cutt_text_add(text, "%s%s %" PRId64, i ? ", " : "", s->name[s->label[t][i]].name, layout->part[i].extent);
    cutt_add_cut(text, &layout->part[i]);
  }
  if (!layout->modes) cutt_text_add(text, "one element");
  if (layout->copies > 1) cutt_text_add(text, "; %d copies", layout->copies);
  if (c->stands[t])
    cutt_text_add(text, "; used where it is");
  else if (t == CUTT_RESULT && c->partial > 1)
    cutt_text_add(text, "; %d partial results are added up", c->partial);
  else
    cutt_text_add(text, t < CUTT_RESULT ? "; moved" : "; moved when it is computed");
  if (c->align == t) cutt_text_add(text, ", and before cut as the other operand is");
  cutt_text_add(text, "\n");
}

/* The chosen algorithm, and how the others fared. */
static void add_algorithm(const struct cuttDistContractionStruct *plan, cutt_text *text) {
  const cutt_scheme *c = &plan->choice.best;
  cutt_text_add(text, "algorithm     %s", algorithm_name[c->algorithm]);
  if (c->panels > 1) {
    cutt_text_add(text, ", %" PRId64 " panels of %s, %" PRId64 " of its indices each", c->panels,
                  plan->s.name[c->panel_label].name, cutt_panel_extent(c, 0));
  }
  cutt_text_add(text, "\nchosen        %s:",
                plan->s.options.algorithm       ? "by options->algorithm"
                : plan->s.options.deterministic ? "by predicted time with speeds that are not measured"
                                                : "by predicted time");
  for (int i = 1; i < CUTT_DIST_ALGORITHMS; ++i) {
    const cutt_verdict *v = &plan->choice.verdict[i];
    cutt_text_add(text, "%s %s ", i > 1 ? "," : "", algorithm_name[i]);
    if (v->seconds >= 0)
      cutt_add_seconds(text, v->seconds);
    else
      cutt_text_add(text, "can't be (%s)", v->why);
  }
  cutt_text_add(text, "\n");
}

static void add_mesh(const struct cuttDistContractionStruct *plan, cutt_text *text) {
  const cutt_mesh *mesh = &plan->choice.best.mesh;
  cutt_text_add(text, "ranks         %d multiply%s%s", mesh->positions, mesh->stays ? ", where they lie as in " : "",
                mesh->stays ? mesh->stays : "");
  for (int i = 0; i < mesh->axes; ++i) {
    if (mesh->axis[i] < 0) {
      cutt_text_add(text, ", %d times all", mesh->copies);
      continue;
    }
    cutt_text_add(text, ", %s", plan->s.name[mesh->axis[i]].name);
    cutt_add_cut(text, &mesh->part[mesh->axis[i]]);
  }
  cutt_text_add(text, "\n");
}

static void describe_text(const struct cuttDistContractionStruct *plan, cutt_text *text) {
  cutt_text_add(text, "contraction of %s, as rank %d of %d sees it; by %s\n", plan->s.type->name, plan->s.me,
                plan->s.size, plan->comm->transport.name);
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (t != CUTT_RIGHT || !plan->s.one) add_tensor(plan, t, text);
  add_algorithm(plan, text);
  add_mesh(plan, text);
  cutt_text_add(text, "this rank     sends ");
  cutt_add_bytes(text, plan->sent);
  cutt_text_add(text, ", receives ");
  cutt_add_bytes(text, plan->received);
  cutt_text_add(text, ", %.3f Gflop\nany rank      sends at most ", plan->flops * 1e-9);
  cutt_add_bytes(text, plan->most_sent);
  cutt_text_add(text, ", receives ");
  cutt_add_bytes(text, plan->most_received);
  cutt_text_add(text, "\nworkspace     ");
  cutt_add_bytes(text, (int64_t)plan->workspace_bytes);
  cutt_text_add(text, "\npredicted     ");
  cutt_add_seconds(text, plan->predicted_seconds);
  cutt_text_add(text, "\nmade in       ");
  cutt_add_seconds(text, plan->create_seconds);
  cutt_text_add(text, "\n");
}

/* ------------------------------------------------------------------------------------------------------------------- JSON */

static void add_json_cut(cutt_text *text, const char *name, const cutt_part *part) {
  cutt_text_add(text, "{\"name\":");
  cutt_text_add_json(text, name);
  cutt_text_add(text, ",\"extent\":%" PRId64 ",\"parts\":%d,\"block\":%" PRId64 "}", part->extent, part->parts,
                part->block);
}

static void add_json_tensor(const struct cuttDistContractionStruct *plan, int t, cutt_text *text) {
  const cutt_spread *s = &plan->s;
  const cutt_layout *layout = &s->layout[t];
  cutt_text_add(text, ",\"%s\":{\"modes\":[", tensor_name[t]);
  for (int i = 0; i < layout->modes; ++i) {
    if (i) cutt_text_add(text, ",");
    add_json_cut(text, s->name[s->label[t][i]].name, &layout->part[i]);
  }
  cutt_text_add(text, "],\"copies\":%d,\"moved\":%s,\"aligned_first\":%s}", layout->copies,
                plan->choice.best.stands[t] ? "false" : "true", plan->choice.best.align == t ? "true" : "false");
}

static void add_json_algorithms(const struct cuttDistContractionStruct *plan, cutt_text *text) {
  cutt_text_add(text, ",\"algorithm\":\"%s\",\"forced\":%s,\"deterministic\":%s,\"algorithms\":{",
                algorithm_name[plan->choice.best.algorithm], plan->s.options.algorithm ? "true" : "false",
                plan->s.options.deterministic ? "true" : "false");
  for (int i = 1; i < CUTT_DIST_ALGORITHMS; ++i) {
    const cutt_verdict *v = &plan->choice.verdict[i];
    cutt_text_add(text, "%s\"%s\":", i > 1 ? "," : "", algorithm_name[i]);
    if (v->seconds >= 0) {
      cutt_text_add(text, "{\"predicted_seconds\":%.9g}", v->seconds);
    } else {
      cutt_text_add(text, "{\"impossible\":");
      cutt_text_add_json(text, v->why);
      cutt_text_add(text, "}");
    }
  }
  cutt_text_add(text, "}");
}

static void describe_json(const struct cuttDistContractionStruct *plan, cutt_text *text) {
  const cutt_scheme *c = &plan->choice.best;
  const cutt_mesh *mesh = &c->mesh;
  cutt_text_add(text, "{\"type\":\"%s\",\"rank\":%d,\"size\":%d,\"transport\":", plan->s.type->name, plan->s.me,
                plan->s.size);
  cutt_text_add_json(text, plan->comm->transport.name);
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (t != CUTT_RIGHT || !plan->s.one) add_json_tensor(plan, t, text);
  add_json_algorithms(plan, text);
  cutt_text_add(text, ",\"ranks\":%d,\"stays\":", mesh->positions);
  if (mesh->stays)
    cutt_text_add_json(text, mesh->stays);
  else
    cutt_text_add(text, "null");
  cutt_text_add(text, ",\"cut\":[");
  for (int i = 0, first = 1; i < mesh->axes; ++i) {
    if (mesh->axis[i] < 0) continue;
    if (!first) cutt_text_add(text, ",");
    first = 0;
    add_json_cut(text, plan->s.name[mesh->axis[i]].name, &mesh->part[mesh->axis[i]]);
  }
  cutt_text_add(text, "],\"partial_results\":%d,\"panels\":%" PRId64 ",\"panel_mode\":", c->partial, c->panels);
  if (c->panel_label < 0)
    cutt_text_add(text, "null");
  else
    cutt_text_add_json(text, plan->s.name[c->panel_label].name);
  cutt_text_add(text, ",\"bytes_sent\":%" PRId64 ",\"bytes_received\":%" PRId64 ",\"most_bytes_sent\":%" PRId64,
                plan->sent, plan->received, plan->most_sent);
  cutt_text_add(text, ",\"most_bytes_received\":%" PRId64 ",\"workspace_bytes\":%zu,\"flops\":%.9g",
                plan->most_received, plan->workspace_bytes, plan->flops);
  cutt_text_add(text, ",\"predicted_seconds\":%.9g,\"create_seconds\":%.9g}", plan->predicted_seconds,
                plan->create_seconds);
}

cuttResult cuttDistContractionDescribe(cuttDistContractionPlan_t plan, cuttFormat_t format, char *buffer, size_t size,
                                       size_t *needed) {
  if (!cutt_dist_contraction_alive(plan)) return CUTT_INVALID_PLAN;
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
