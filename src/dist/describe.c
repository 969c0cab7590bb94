/* What a plan is: as numbers, in words and as JSON. */
#include <inttypes.h>

#include "base/error.h"
#include "base/number.h"
#include "dist/amounts.h"
#include "dist/plan.h"
#include "plan/services.h"

static const size_t first_info_size = sizeof(cuttDistPlanInfo_t);

enum { RANKS_IN_TEXT = 16 };

static const char *const side_name[CUTT_SIDES] = {"from", "to"};

static bool is_direct(const struct cuttDistPlanStruct *plan) { return plan->exchange.way == CUTT_WAY_DIRECT; }

static int64_t most_sent(const struct cuttDistPlanStruct *plan) {
  int64_t most = 0;
  for (int i = 0; i < plan->task.size; ++i) most = larger(most, plan->sent[i]);
  return most;
}

cuttResult cuttDistPlanGetInfo(cuttDistPlan_t plan, cuttDistPlanInfo_t *info) {
  if (!cutt_dist_plan_alive(plan)) return CUTT_INVALID_PLAN;
  const cuttResult code = cutt_info_check(info, first_info_size, sizeof *info, "cuttDistPlanInfo_t");
  if (code) return code;
  const cutt_exchange *x = &plan->exchange;
  const cutt_flow *sent = &x->flow[CUTT_FROM], *received = &x->flow[CUTT_TO];
  const cuttDistPlanInfo_t own = {
      .permute = x->way == CUTT_WAY_PACK     ? CUTT_DIST_PACK
                 : x->way == CUTT_WAY_UNPACK ? CUTT_DIST_UNPACK
                                             : CUTT_DIST_BY_COST,
      .direct = is_direct(plan),
      .bytes_kept = x->kept_bytes,
      .bytes_sent = sent->bytes,
      .bytes_received = received->bytes,
      .bytes_packed = sent->through_bytes,
      .bytes_unpacked = received->through_bytes,
      .most_bytes_sent = most_sent(plan),
      .pieces_sent = sent->pieces,
      .pieces_received = received->pieces,
      .workspace_bytes = plan->workspace_bytes,
      .predicted_seconds = plan->predicted_seconds,
      .create_seconds = plan->create_seconds,
  };
  cutt_info_write(info, &own, sizeof own);
  return CUTT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------------- text */

static void add_layout(const struct cuttDistPlanStruct *plan, int side, cutt_text *text) {
  const cutt_layout *layout = &plan->task.layout[side];
  cutt_text_add(text, "%-13s ", side_name[side]);
  for (int i = 0; i < layout->modes; ++i) {
    const cutt_part *part = &layout->part[i];
    cutt_text_add(text, "%s%" PRId64, i ? " x " : "", part->extent);
    cutt_add_cut(text, part);
  }
  if (!layout->modes) cutt_text_add(text, "one element");
  cutt_text_add(text, "; %d rank%s", layout->positions, layout->positions == 1 ? "" : "s");
  if (layout->copies > 1) cutt_text_add(text, ", and %d copies", layout->copies);
  cutt_text_add(text, "\n");
}

static void add_sent(const struct cuttDistPlanStruct *plan, cutt_text *text) {
  const int size = plan->task.size;
  double sum = 0;
  for (int i = 0; i < size; ++i) sum += (double)plan->sent[i];
  cutt_text_add(text, "sent          ");
  cutt_add_bytes(text, (int64_t)(sum / size));
  cutt_text_add(text, " by a rank, ");
  cutt_add_bytes(text, most_sent(plan));
  cutt_text_add(text, " at most:");
  for (int i = 0; i < size && i < RANKS_IN_TEXT; ++i) {
    cutt_text_add(text, "%s ", i ? "," : "");
    cutt_add_bytes(text, plan->sent[i]);
  }
  cutt_text_add(text, "%s\n", size > RANKS_IN_TEXT ? ", ..." : "");
}

/* How messages of a device's memory go; NULL: tensors are in the host's. */
static const char *device_way(const struct cuttDistPlanStruct *plan) {
  static const char *const name[] = {
      [CUTT_BY_HOST] = "pinned memory", [CUTT_IN_STREAM] = "the transport's stream", [CUTT_BY_COPIES] = "copies"};
  if (!plan->device.runtime) return NULL;
  return plan->device.way == CUTT_BY_HOST && !plan->device.pinned_messages ? "the transport" : name[plan->device.way];
}

static void describe_text(const struct cuttDistPlanStruct *plan, cutt_text *text) {
  const cutt_exchange *x = &plan->exchange;
  const cutt_flow *sent = &x->flow[CUTT_FROM], *received = &x->flow[CUTT_TO];
  cutt_text_add(text, "redistribution of %s, as rank %d of %d sees it; by %s\n", plan->type->name, plan->task.me,
                plan->task.size, plan->comm->transport.name);
  add_layout(plan, CUTT_FROM, text);
  add_layout(plan, CUTT_TO, text);
  cutt_text_add(text, "permutation  ");
  for (int i = 0; i < plan->task.layout[CUTT_TO].modes; ++i) cutt_text_add(text, " %d", plan->perm[i]);
  cutt_text_add(text, "\npermuted      %s%s\n",
                is_direct(plan)           ? "into the receivers' outputs, directly"
                : x->way == CUTT_WAY_PACK ? "by the sender, while packing"
                                          : "by the receiver, while unpacking",
                plan->either ? "; directly, if all outputs are in memory that ranks share" : "");
  if (device_way(plan)) {
    cutt_text_add(text, "memory        of %s", cutt_backend_of(plan->device.backend)->name);
    if (!is_direct(plan)) cutt_text_add(text, "; messages by %s", device_way(plan));
    if (!is_direct(plan) && plan->device.way != CUTT_BY_HOST)
      cutt_text_add(text, " in %" PRId64 " rounds", plan->device.all_rounds);
    cutt_text_add(text, "\n");
  }
  add_sent(plan, text);
  cutt_text_add(text, "this rank     keeps ");
  cutt_add_bytes(text, x->kept_bytes);
  cutt_text_add(text, ", sends ");
  cutt_add_bytes(text, sent->bytes);
  cutt_text_add(text, " in %" PRId64 " piece%s", sent->pieces, sent->pieces == 1 ? "" : "s");
  if (!is_direct(plan)) {
    cutt_text_add(text, " (");
    cutt_add_bytes(text, sent->through_bytes);
    cutt_text_add(text, " packed), receives ");
    cutt_add_bytes(text, received->bytes);
    cutt_text_add(text, " in %" PRId64 " (", received->pieces);
    cutt_add_bytes(text, received->through_bytes);
    cutt_text_add(text, " unpacked%s)", x->join.rounds ? ", with what this rank keeps" : "");
  }
  cutt_text_add(text, "\nboxes         %" PRId64 " of %d shapes\nworkspace     ", x->moves, plan->shapes.count);
  cutt_add_bytes(text, (int64_t)plan->workspace_bytes);
  cutt_text_add(text, "\npredicted     ");
  cutt_add_seconds(text, plan->predicted_seconds);
  cutt_text_add(text, "\nmade in       ");
  cutt_add_seconds(text, plan->create_seconds);
  cutt_text_add(text, "\n");
}

/* ------------------------------------------------------------------------------------------------------------------- JSON */

static void add_json_layout(const struct cuttDistPlanStruct *plan, int side, cutt_text *text) {
  const cutt_layout *layout = &plan->task.layout[side];
  cutt_text_add(text, ",\"%s\":{\"modes\":[", side_name[side]);
  for (int i = 0; i < layout->modes; ++i) {
    const cutt_part *part = &layout->part[i];
    cutt_text_add(text, "%s{\"extent\":%" PRId64 ",\"parts\":%d,\"block\":%" PRId64 "}", i ? "," : "", part->extent,
                  part->parts, part->block);
  }
  cutt_text_add(text, "],\"copies\":%d}", layout->copies);
}

static void describe_json(const struct cuttDistPlanStruct *plan, cutt_text *text) {
  const cutt_exchange *x = &plan->exchange;
  const cutt_flow *sent = &x->flow[CUTT_FROM], *received = &x->flow[CUTT_TO];
  cutt_text_add(text, "{\"type\":\"%s\",\"rank\":%d,\"size\":%d,\"transport\":", plan->type->name, plan->task.me,
                plan->task.size);
  cutt_text_add_json(text, plan->comm->transport.name);
  add_json_layout(plan, CUTT_FROM, text);
  add_json_layout(plan, CUTT_TO, text);
  cutt_text_add(text, ",\"perm\":[");
  for (int i = 0; i < plan->task.layout[CUTT_TO].modes; ++i) cutt_text_add(text, "%s%d", i ? "," : "", plan->perm[i]);
  cutt_text_add(text, "],\"direct\":%s,\"direct_if_shared\":%s,\"permuted\":\"%s\",\"sent_by_rank\":[",
                is_direct(plan) ? "true" : "false", plan->either ? "true" : "false",
                is_direct(plan)           ? "direct"
                : x->way == CUTT_WAY_PACK ? "pack"
                                          : "unpack");
  for (int i = 0; i < plan->task.size; ++i) cutt_text_add(text, "%s%" PRId64, i ? "," : "", plan->sent[i]);
  cutt_text_add(text, "],\"backend\":\"%s\",\"messages\":\"%s\"",
                device_way(plan) ? cutt_backend_of(plan->device.backend)->name : "cpu",
                is_direct(plan)    ? "none"
                : device_way(plan) ? device_way(plan)
                                   : plan->comm->transport.name);
  cutt_text_add(text, ",\"bytes_kept\":%" PRId64 ",\"bytes_sent\":%" PRId64 ",\"bytes_received\":%" PRId64,
                x->kept_bytes, sent->bytes, received->bytes);
  cutt_text_add(text, ",\"bytes_packed\":%" PRId64 ",\"bytes_unpacked\":%" PRId64, sent->through_bytes,
                received->through_bytes);
  cutt_text_add(text,
                ",\"pieces_sent\":%" PRId64 ",\"pieces_received\":%" PRId64 ",\"boxes\":%" PRId64
                ",\"shapes\":%d,\"joined\":%s",
                sent->pieces, received->pieces, x->moves, plan->shapes.count, x->join.rounds ? "true" : "false");
  cutt_text_add(text, ",\"workspace_bytes\":%zu,\"predicted_seconds\":%.9g,\"create_seconds\":%.9g}",
                plan->workspace_bytes, plan->predicted_seconds, plan->create_seconds);
}

cuttResult cuttDistPlanDescribe(cuttDistPlan_t plan, cuttFormat_t format, char *buffer, size_t size, size_t *needed) {
  if (!cutt_dist_plan_alive(plan)) return CUTT_INVALID_PLAN;
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
