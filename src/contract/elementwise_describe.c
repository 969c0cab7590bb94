/* An elementwise operation's plan in words and as JSON. */
#include <inttypes.h>

#include "base/error.h"
#include "base/number.h"
#include "contract/device_elementwise.h"
#include "contract/problem.h"
#include "plan/services.h"

typedef struct cuttElementwiseStruct plan_t;

/* In the order of the text. */
static const int order[CUTT_MOST_TENSORS] = {CUTT_LEFT, CUTT_RIGHT, CUTT_THIRD, CUTT_RESULT};
static const char letter[CUTT_MOST_TENSORS] = {'A', 'B', 'C', 'D'};
static const char *const scalar_name[CUTT_ELEMENTWISE_OPERANDS] = {"alpha", "beta", "gamma"};

static int tensors_of(const plan_t *p) { return p->operands + 1; }

/* The cutt_tensor of the i-th that is there. */
static int tensor_at(const plan_t *p, int i) { return i == p->operands ? CUTT_RESULT : order[i]; }

static char letter_at(const plan_t *p, int i) { return i == p->operands ? 'D' : letter[i]; }

/* ---------------------------------------------------------------------------------------------------------- the facts */

static const cutt_combine_launch *launch_of(const plan_t *p) {
  return p->device->has_wide ? &p->device->wide : &p->device->narrow;
}

/* Is it done by a plan of libcutt? */
static bool is_permutation(const plan_t *p) { return p->device && p->device->pass[0].plan; }

static bool is_moved(const plan_t *p, int operand) {
  const cutt_device_permuted *pass = p->device->pass;
  return operand == pass[0].moved || (pass[1].plan && operand == pass[1].moved);
}

/* Elements of a mode that a block, or on a GPU a tile, has of D; all of it for a plan of libcutt, which cuts it itself. No two modes have
 * the same step in D. */
static int64_t chunk_of(const plan_t *p, int mode) {
  if (!p->device) return p->mode[mode].chunk;
  if (is_permutation(p)) return p->mode[mode].extent;
  const cutt_combine_args *args = &launch_of(p)->args;
  int64_t chunk = 1, left = launch_of(p)->numbered;
  if (left) {
    for (int i = 0; i < mode; ++i) left = (left + p->mode[i].extent - 1) / p->mode[i].extent;
    return smaller(left, p->mode[mode].extent);
  }
  for (uint32_t i = 0; i < args->tile_modes; ++i)
    if (args->mode[i].step[0] == p->mode[mode].stride[CUTT_RESULT] * args->chunk[i]) chunk = args->chunk[i];
  return chunk;
}

static int64_t blocks_of(const plan_t *p) { return p->device ? (int64_t)launch_of(p)->args.tiles : p->blocks; }

static int64_t row_of(const plan_t *p) { return p->turn ? p->turn->places : p->kind[0]->row; }

static int64_t stride_of(const plan_t *p, int mode, int i) {
  return p->moved == i + 1 ? p->moved_stride[mode] : p->mode[mode].stride[tensor_at(p, i)];
}

const char *cutt_elementwise_use_words(const plan_t *p, int operand) {
  static const char *const words[] = {"in place", "repeated", "permuted", "not read", "turned"};
  return p->moved == operand + 1 ? "permuted" : words[p->use[operand]];
}

/* How a tensor is used, for JSON. */
static const char *use_of(const plan_t *p, int i) {
  static const char *const device[] = {"not read", "in place", "turned", "in place", "in place"};
  if (i == p->operands) return !p->device && p->result_packed ? "permuted" : "in place";
  if (is_permutation(p)) return is_moved(p, i) ? "permuted" : "in place";
  return p->device ? device[launch_of(p)->args.use[i]] : cutt_elementwise_use_words(p, i);
}

int64_t cutt_elementwise_moved(const plan_t *p) {
  int64_t bytes = 0;
  for (int i = 0; i < tensors_of(p); ++i) {
    const int t = tensor_at(p, i);
    int64_t own = p->empty || (i < p->operands && p->use[i] == CUTT_USE_ZERO) ? 0 : p->type->bytes;
    for (int m = 0; m < p->modes; ++m)
      if (p->mode[m].stride[t]) own *= p->mode[m].extent;
    bytes += own;
  }
  return bytes;
}

/* A mode's letters, with those that were fused to it. */
static const char *name_of(const plan_t *p, int mode, char name[CUTT_MOST_LABELS + 1]) {
  int first = 0, count = 0;
  for (int i = 0; i < mode; ++i) first += p->mode[i].letters;
  for (; count < p->mode[mode].letters; ++count) name[count] = p->letter[first + count];
  name[count] = 0;
  return name;
}

/* --------------------------------------------------------------------------------------------------------------- text */

static void add_operand(const plan_t *p, int operand, cutt_text *text) {
  if (p->use[operand] == CUTT_USE_ZERO) {
    cutt_text_add(text, "0");
    return;
  }
  if (p->scaled[operand]) cutt_text_add(text, "%s ", scalar_name[operand]);
  cutt_text_add(text, p->conjugate[operand] ? "conj(%c)" : "%c", letter[operand]);
}

/* "D = (alpha A CUTT_OP_ADD B) CUTT_OP_MAX conj(C)" */
static void add_formula(const plan_t *p, cutt_text *text) {
  cutt_text_add(text, "              D = %s", p->operands == 3 ? "(" : "");
  add_operand(p, 0, text);
  cutt_text_add(text, " %s ", cutt_operator_names[p->op[0]]);
  add_operand(p, 1, text);
  if (p->operands == 3) {
    cutt_text_add(text, ") %s ", cutt_operator_names[p->op[1]]);
    add_operand(p, 2, text);
  }
  cutt_text_add(text, "\n");
}

static void add_modes(const plan_t *p, cutt_text *text) {
  char name[CUTT_MOST_LABELS + 1];
  cutt_text_add(text, "modes         fused where they are neighbours in every tensor; strides in elements\n");
  cutt_text_add(text, "  %-12s %12s %12s", "mode", "extent", p->device ? "of a tile" : "of a block");
  for (int i = 0; i < tensors_of(p); ++i) cutt_text_add(text, "           in %c", letter_at(p, i));
  cutt_text_add(text, "\n");
  for (int m = 0; m < p->modes; ++m) {
    cutt_text_add(text, "  %-12s %12" PRId64 " %12" PRId64, name_of(p, m, name), p->mode[m].extent, chunk_of(p, m));
    for (int i = 0; i < tensors_of(p); ++i) {
      if (stride_of(p, m, i))
        cutt_text_add(text, " %14" PRId64, stride_of(p, m, i));
      else
        cutt_text_add(text, " %14s", "-");
    }
    cutt_text_add(text, "\n");
  }
}

static void add_use(const plan_t *p, int i, cutt_text *text) {
  if (i < p->operands && p->use[i] == CUTT_USE_ZERO)
    cutt_text_add(text, "is not read, since %s is 0", scalar_name[i]);
  else if (is_permutation(p) && is_moved(p, i))
    cutt_text_add(text,
                  p->device->pass[1].plan && i == 0 ? "is permuted to D" : "is permuted, and combined on the way");
  else if (p->device && !is_permutation(p) && i < p->operands && launch_of(p)->args.use[i] == CUTT_COMBINE_TURNED)
    cutt_text_add(text, "is turned in shared memory");
  else if (p->moved == i + 1)
    cutt_text_add(text, "is permuted to D first");
  else if (!p->device && i < p->operands && p->use[i] == CUTT_USE_SINGLE)
    cutt_text_add(text, "is read in place, one element for a whole row");
  else if (!p->device && i < p->operands && p->use[i] == CUTT_USE_PACKED)
    cutt_text_add(text, "is permuted block by block, into a cache");
  else if (!p->device && i < p->operands && p->use[i] == CUTT_USE_TURNED)
    cutt_text_add(text, "is turned in registers");
  else if (!p->device && i == p->operands && p->result_packed)
    cutt_text_add(text, "is permuted block by block, from a cache");
  else if (i == p->operands)
    cutt_text_add(text, p->streams ? "is written in place, past the caches" : "is written in place");
  else
    cutt_text_add(text, "is read in place");
}

/* A plan of libcutt. */
static cuttPlanInfo_t permutation_of(const plan_t *p, int pass) {
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  cuttPlanGetInfo(p->device->pass[pass].plan, &info);
  return info;
}

static void add_permutations(const plan_t *p, cutt_text *text) {
  for (int i = 0; i < 2 && p->device->pass[i].plan; ++i) {
    const cuttPlanInfo_t info = permutation_of(p, i);
    cutt_text_add(text, "%-13s %s of rank %d, by %d threads a block, predicted %.3f us\n", i ? "" : "permutation",
                  info.method, info.fused_rank, info.threads, 1e6 * info.predicted_seconds);
  }
}

static void describe_text(const plan_t *p, cutt_text *text) {
  cutt_text_add(text, "elementwise   of %s on %s", p->type->name, p->backend->name);
  const int threads = p->device ? 0 : cutt_elementwise_threads(p);
  if (threads) cutt_text_add(text, ", %d thread%s", threads, threads == 1 ? "" : "s");
  cutt_text_add(text, "\n");
  add_formula(p, text);
  if (p->empty) {
    cutt_text_add(text, "              the result has no elements: there is nothing to do\n");
  } else {
    add_modes(p, text);
    for (int i = 0; i < tensors_of(p); ++i) {
      cutt_text_add(text, "%-13s %c ", i ? "" : "tensors", letter_at(p, i));
      add_use(p, i, text);
      cutt_text_add(text, "\n");
    }
    if (!is_permutation(p))
      cutt_text_add(text, "%s%" PRId64, p->device ? "tiles         " : "blocks        ", blocks_of(p));
    if (is_permutation(p))
      add_permutations(p, text);
    else if (p->device)
      cutt_text_add(text, ", each by %u threads%s\n", launch_of(p)->grid.threads,
                    p->device->has_wide ? ", by 16 bytes where addresses allow it" : "");
    else
      cutt_text_add(text, ", in rows of %" PRId64 "\n", row_of(p));
    cutt_text_add(text, "moves         %.3f MB\n", 1e-6 * (double)cutt_elementwise_moved(p));
  }
  cutt_text_add(text, "made in       %.3f us\n", 1e6 * p->create_seconds);
}

/* --------------------------------------------------------------------------------------------------------------- JSON */

static void add_json_modes(const plan_t *p, cutt_text *text) {
  char name[CUTT_MOST_LABELS + 1];
  cutt_text_add(text, ",\"modes\":[");
  for (int m = 0; m < p->modes && !p->empty; ++m) {
    cutt_text_add(text, "%s{\"name\":", m ? "," : "");
    cutt_text_add_json(text, name_of(p, m, name));
    cutt_text_add(text, ",\"extent\":%" PRId64 ",\"chunk\":%" PRId64 ",\"strides\":{", p->mode[m].extent,
                  chunk_of(p, m));
    for (int i = 0; i < tensors_of(p); ++i)
      cutt_text_add(text, "%s\"%c\":%" PRId64, i ? "," : "", letter_at(p, i), stride_of(p, m, i));
    cutt_text_add(text, "}}");
  }
  cutt_text_add(text, "]");
}

static void add_json_tensors(const plan_t *p, cutt_text *text) {
  cutt_text_add(text, ",\"tensors\":{");
  for (int i = 0; i < tensors_of(p) && !p->empty; ++i) {
    cutt_text_add(text, "%s\"%c\":{\"is\":\"%s\"", i ? "," : "", letter_at(p, i), use_of(p, i));
    if (i < p->operands)
      cutt_text_add(text, ",\"scaled\":%s,\"conjugated\":%s}", p->scaled[i] ? "true" : "false",
                    p->conjugate[i] ? "true" : "false");
    else
      cutt_text_add(text, ",\"past_the_caches\":%s}", p->streams ? "true" : "false");
  }
  cutt_text_add(text, "}");
}

/* In what pieces it is done. */
static void add_json_work(const plan_t *p, cutt_text *text) {
  if (is_permutation(p)) {
    for (int i = 0; i < 2 && p->device->pass[i].plan; ++i) {
      const cuttPlanInfo_t info = permutation_of(p, i);
      cutt_text_add(text, "%s{\"method\":\"%s\",\"rank\":%d,\"threads\":%d,\"predicted_seconds\":%.9g}",
                    i ? "," : ",\"permutations\":[", info.method, info.fused_rank, info.threads,
                    info.predicted_seconds);
    }
    cutt_text_add(text, "]");
    return;
  }
  cutt_text_add(text, ",\"blocks\":%" PRId64, p->empty ? 0 : blocks_of(p));
  if (p->device)
    cutt_text_add(text, ",\"threads_of_a_block\":%u,\"by_16_bytes\":%s", launch_of(p)->grid.threads,
                  p->device->has_wide ? "true" : "false");
  else
    cutt_text_add(text, ",\"row\":%" PRId64, p->empty ? 0 : row_of(p));
}

static void describe_json(const plan_t *p, cutt_text *text) {
  cutt_text_add(text, "{\"type\":\"%s\",\"backend\":\"%s\",\"threads\":%d,\"operators\":[\"%s\"", p->type->name,
                p->backend->name, p->device || p->empty ? 1 : cutt_elementwise_threads(p),
                cutt_operator_names[p->op[0]]);
  if (p->operands == 3) cutt_text_add(text, ",\"%s\"", cutt_operator_names[p->op[1]]);
  cutt_text_add(text, "]");
  add_json_modes(p, text);
  add_json_tensors(p, text);
  add_json_work(p, text);
  cutt_text_add(text, ",\"bytes_moved\":%" PRId64 ",\"create_seconds\":%.9g}", cutt_elementwise_moved(p),
                p->create_seconds);
}

cuttResult cuttElementwiseDescribe(cuttElementwisePlan_t plan, cuttFormat_t format, char *buffer, size_t size,
                                   size_t *needed) {
  if (!cutt_elementwise_alive(plan)) return CUTT_INVALID_PLAN;
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
