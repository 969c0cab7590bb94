/* What a contraction is given: read, checked, and told by one number for each thing on which the ranks must agree. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "dist/contract.h"
#include "dist/shapes.h"
#include "plan/services.h"

static const size_t first_contraction_size = sizeof(cuttDistContraction_t);
static const size_t first_options_size = offsetof(cuttDistContractionOptions_t, backend);

const char *const cutt_contract_given_name[CUTT_GIVENS] = {
    "contraction->left", "contraction->right", "contraction->result",
    "contraction->pattern, type, alpha, beta or conjugation", "options"};

static const char *const layout_name[CUTT_TENSORS] = {"contraction->left", "contraction->right", "contraction->result"};

/* ---------------------------------------------------------------------------------------------------------------- options */

static cuttResult read_options(const cuttDistContractionOptions_t *callers, cuttDistContractionOptions_t *options) {
  *options = (cuttDistContractionOptions_t)CUTT_DIST_CONTRACTION_OPTIONS_INIT;
  if (!callers) return CUTT_SUCCESS;
  const cuttResult result = cutt_struct_read(options, sizeof *options, first_options_size, callers, "options");
  if (result) return result;
  const long algorithm = (long)options->algorithm, direct = (long)options->direct;
  if (algorithm < CUTT_DIST_FASTEST || algorithm > CUTT_DIST_REDUCE)
    return cutt_error(CUTT_INVALID_PARAMETER, "options->algorithm is %ld; it must be a cuttDistAlgorithm_t", algorithm);
  if (direct < CUTT_DIST_DIRECT_BY_COST || direct > CUTT_DIST_DIRECT_ALWAYS)
    return cutt_error(CUTT_INVALID_PARAMETER, "options->direct is %ld; it must be a cuttDistDirect_t", direct);
  if (options->panel < 0)
    return cutt_error(CUTT_INVALID_PARAMETER, "options->panel is %" PRId64 "; it must be 1 or more, or 0",
                      options->panel);
  if (options->piece_bytes && options->piece_bytes < 16)
    return cutt_error(CUTT_INVALID_PARAMETER, "options->piece_bytes is %zu; it must be 16 or more, or 0",
                      options->piece_bytes);
  return CUTT_SUCCESS;
}

static uint64_t hash_text(uint64_t hash, const char *text) {
  return text ? cutt_hash(hash, text, strlen(text) + 1) : cutt_hash(hash, "", 1);
}

static uint64_t hash_options(const cuttDistContractionOptions_t *o) {
  const uint64_t what[] = {(uint64_t)o->algorithm, o->deterministic != 0,  o->workspace_limit,
                           (uint64_t)o->panel,     (uint64_t)o->direct,    o->piece_bytes,
                           (uint64_t)o->backend,   o->trust_arguments != 0};
  return hash_text(cutt_hash(CUTT_HASH_START, what, sizeof what), o->local_algorithm);
}

/* ---------------------------------------------------------------------------------------------------------------- tensors */

static cuttResult make_places(const cutt_layout *layout, int size, int **places) {
  *places = malloc((size_t)size * sizeof **places);
  if (!*places) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: places of %d ranks", size);
  for (int i = 0; i < size; ++i) (*places)[i] = -1;
  for (int i = 0; i < layout->positions * layout->copies; ++i) (*places)[cutt_layout_rank(layout, i)] = i;
  return CUTT_SUCCESS;
}

/* An operand that is not there is one with no modes, which all ranks have. */
static cuttResult read_layout(cutt_spread *s, const cutt_contract_given *given, int t,
                              const cuttDistLayout_t *callers) {
  static const char *const tensor[CUTT_TENSORS] = {"the left operand", "the right operand", "the result"};
  cutt_layout *layout = &s->layout[t];
  if (t == CUTT_RIGHT && s->one) {
    *layout = (cutt_layout){.positions = 1, .copies = s->size, .volume = 1};
    if (callers)
      return cutt_error(CUTT_INVALID_PARAMETER,
                        "contraction->right is %p; it must be NULL, as the pattern has one "
                        "operand",
                        (const void *)callers);
    return make_places(layout, s->size, &s->place[t]);
  }
  cuttResult result = cutt_layout_read(callers, layout_name[t], layout);
  if (!result) result = cutt_layout_check_ranks(layout, layout_name[t], s->size);
  if (!result && layout->modes != given->pattern.rank[t])
    result = cutt_error(CUTT_INVALID_PARAMETER, "%s->modes is %d, and the pattern gives %s %d; they must be the same",
                        layout_name[t], layout->modes, tensor[t], given->pattern.rank[t]);
  return result ? result : make_places(layout, s->size, &s->place[t]);
}

static cuttResult read_labels(cutt_spread *s, const cutt_pattern *pattern) {
  int first[CUTT_MOST_LABELS][2]; /* tensor and mode that have a label first */
  s->labels = pattern->labels;
  for (int i = 0; i < pattern->labels; ++i) {
    s->name[i] = pattern->name[i];
    first[i][0] = -1;
  }
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    s->modes[t] = s->layout[t].modes;
    for (int i = 0; i < s->modes[t]; ++i) {
      const int label = pattern->label[t][i];
      const int64_t extent = s->layout[t].part[i].extent;
      s->label[t][i] = label;
      s->times[t][label]++;
      if (first[label][0] < 0) {
        first[label][0] = t;
        first[label][1] = i;
        s->extent[label] = extent;
      } else if (extent != s->extent[label]) {
        return cutt_error(CUTT_INVALID_PARAMETER,
                          "%s->extents[%d] is %" PRId64 " and %s->extents[%d] is %" PRId64
                          ", and both are extents of '%s'; they must be the same",
                          layout_name[first[label][0]], first[label][1], s->extent[label], layout_name[t], i, extent,
                          pattern->name[label].name);
      }
    }
  }
  return CUTT_SUCCESS;
}

/* --------------------------------------------------------------------------------------------------------- type and scalars */

void cutt_scalar_one(cuttType_t type, unsigned char *scalar) {
  const double d = 1;
  const float f = 1;
  const int32_t i = 1;
  const int64_t l = 1;
  if (type == CUTT_F64 || type == CUTT_C64)
    memcpy(scalar, &d, sizeof d);
  else if (type == CUTT_I32)
    memcpy(scalar, &i, sizeof i);
  else if (type == CUTT_I64)
    memcpy(scalar, &l, sizeof l);
  else
    memcpy(scalar, &f, sizeof f);
}

/* -0.0 is zero too. */
static bool scalar_is_zero(cuttType_t type, const unsigned char *scalar, size_t bytes) {
  unsigned char copy[16] = {0};
  memcpy(copy, scalar, bytes);
  if (type == CUTT_F64 || type == CUTT_C64) {
    double d[2];
    memcpy(d, copy, sizeof d);
    return d[0] == 0 && d[1] == 0;
  }
  if (type == CUTT_I32 || type == CUTT_I64) {
    static const unsigned char zero[16];
    return memcmp(copy, zero, bytes) == 0;
  }
  float f[2];
  memcpy(f, copy, sizeof f);
  return f[0] == 0 && f[1] == 0;
}

cuttContractionOptions_t cutt_local_options(const cutt_spread *s) {
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  options.backend = s->options.backend;
  options.threads = s->options.threads;
  options.provider = s->options.provider;
  options.algorithm = s->options.local_algorithm;
  return options;
}

/* libcutt_contract checks type, threads and the local algorithm in a contraction of one element. */
static cuttResult try_one_element(const cutt_spread *s, const cutt_contract_given *given) {
  int64_t ones[CUTT_MAX_RANK];
  cuttContraction_t c = CUTT_CONTRACTION_INIT;
  const cuttContractionOptions_t options = cutt_local_options(s);
  cuttContractionPlan_t trial = NULL;
  for (int i = 0; i < CUTT_MAX_RANK; ++i) ones[i] = 1;
  c.pattern = given->problem.pattern;
  c.type = given->problem.type;
  c.left_rank = s->modes[CUTT_LEFT];
  c.right_rank = s->modes[CUTT_RIGHT];
  c.result_rank = s->modes[CUTT_RESULT];
  c.left_extents = c.right_extents = c.result_extents = ones;
  c.alpha = given->problem.alpha;
  c.beta = given->problem.beta;
  const cuttResult result = cuttContractionPlanCreate(&trial, &c, &options);
  cuttContractionPlanDestroy(trial);
  return result ? cutt_error(result, "the product of a rank's parts: %s", cuttLastError()) : CUTT_SUCCESS;
}

static cuttResult read_scalars(cutt_spread *s, const cutt_contract_given *given, uint64_t *hash) {
  const cuttDistContraction_t *c = &given->problem;
  const cuttResult result = try_one_element(s, given);
  if (result) return result;
  s->type = cutt_type_lookup(c->type);
  const size_t bytes = (size_t)s->type->scalar_bytes;
  if (c->alpha) memcpy(s->alpha, c->alpha, bytes);
  if (c->beta)
    memcpy(s->beta, c->beta, bytes);
  else if (given->pattern.adds)
    cutt_scalar_one(c->type, s->beta);
  s->has_alpha = c->alpha != NULL;
  s->has_beta = !scalar_is_zero(c->type, s->beta, bytes);
  s->conjugate[CUTT_LEFT] = (c->conjugate_left != 0) != given->pattern.conjugate[CUTT_LEFT];
  s->conjugate[CUTT_RIGHT] = (c->conjugate_right != 0) != given->pattern.conjugate[CUTT_RIGHT];
  *hash = hash_text(CUTT_HASH_START, c->pattern);
  *hash = cutt_hash(*hash, &c->type, sizeof c->type);
  *hash = cutt_hash(*hash, s->alpha, sizeof s->alpha);
  *hash = cutt_hash(*hash, s->beta, sizeof s->beta);
  const unsigned char flags[3] = {s->has_alpha, s->conjugate[0] != 0, s->conjugate[1] != 0};
  *hash = cutt_hash(*hash, flags, sizeof flags);
  return CUTT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------------ all */

cuttResult cutt_spread_read(cutt_spread *s, cutt_contract_given *given, const struct cuttDistCommStruct *comm,
                            const cuttDistContraction_t *contraction, const cuttDistContractionOptions_t *options,
                            uint64_t hash[CUTT_GIVENS]) {
  if (!contraction)
    return cutt_error(CUTT_INVALID_PARAMETER, "contraction is NULL; it must point to a cuttDistContraction_t");
  cuttResult result =
      cutt_struct_read(&given->problem, sizeof given->problem, first_contraction_size, contraction, "contraction");
  if (!result) result = read_options(options, &s->options);
  if (!result) result = cutt_spread_select(s, comm);
  if (result) return result;
  if (!given->problem.pattern)
    return cutt_error(CUTT_INVALID_PARAMETER, "contraction->pattern is NULL; it must be a pattern like \"ab,bc->ac\"");
  result = cutt_pattern_parse(given->problem.pattern, &given->pattern);
  if (result) return result;
  s->one = given->pattern.one;
  const cuttDistLayout_t *const layouts[CUTT_TENSORS] = {given->problem.left, given->problem.right,
                                                         given->problem.result};
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    result = read_layout(s, given, t, layouts[t]);
    if (result) return result;
    hash[t] = cutt_layout_hash(&s->layout[t]);
  }
  result = read_labels(s, &given->pattern);
  if (!result) result = read_scalars(s, given, &hash[CUTT_GIVEN_PRODUCT]);
  hash[CUTT_GIVEN_OPTIONS] = hash_options(&s->options);
  return result;
}

void cutt_spread_free(cutt_spread *s) {
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    free(s->place[t]);
    s->place[t] = NULL;
    s->layout[t].ranks = NULL;
    s->layout[t].strides = NULL;
  }
}

/* --------------------------------------------------------------------------------------------------------------- speeds */

bool cutt_spread_overlaps(const cutt_spread *s) {
  return s->runtime || (s->options.threads ? s->options.threads : cutt_team_default()) > 1;
}

/* Of messages, where nothing is computed. Between devices of a host nobody says what the link is: it is taken for NVLink 4. */
static cutt_speeds message_speeds(const cutt_spread *s, const cuttDistTransport_t *t) {
  const bool known = t->message_seconds > 0 && t->byte_seconds > 0;
  cutt_speeds rates = {3e-11f, 2e-10f, known ? (float)t->message_seconds : 5e-6f,
                       known ? (float)t->byte_seconds : 2e-10f, cutt_spread_overlaps(s) ? 0.5f : 1};
  /* Ranks that reach each other's memory send no bytes: they copy. */
  if (t->shared && s->options.direct != CUTT_DIST_DIRECT_NEVER) rates.byte = 0;
  if (!s->runtime) return rates;
  rates.multiply = 4e-14f;
  rates.copy = 5e-13f;
  rates.not_hidden = s->way == CUTT_BY_COPIES && s->options.direct == CUTT_DIST_DIRECT_NEVER ? 0.2f : 0.9f;
  if (s->way == CUTT_BY_HOST) {
    rates.message += 20e-6f;
    rates.byte += 4e-11f; /* to pinned memory and from there */
  } else if (!known || !t->exchange) {
    rates.message = 20e-6f;
    rates.byte = 1 / 360e9f;
  }
  return rates;
}

static cuttResult predict_product(const cutt_spread *s, int64_t side, float *seconds) {
  const int64_t square[2] = {side, side};
  cuttContraction_t c = CUTT_CONTRACTION_INIT;
  const cuttContractionOptions_t options = cutt_local_options(s);
  cuttContractionPlan_t product = NULL;
  cuttContractionInfo_t info = {.struct_size = sizeof info};
  c.pattern = "ab,bc->ac";
  c.type = s->type->type;
  c.left_rank = c.right_rank = c.result_rank = 2;
  c.left_extents = c.right_extents = square;
  cuttResult result = cuttContractionPlanCreate(&product, &c, &options);
  if (!result) result = cuttContractionGetInfo(product, &info);
  cuttContractionPlanDestroy(product);
  *seconds = (float)(info.predicted_seconds / ((double)side * (double)side * (double)side));
  return result;
}

static cuttResult predict_copy(const cutt_spread *s, int64_t count, float *seconds) {
  static const int same[1] = {0};
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttOptions_t plain = CUTT_OPTIONS_INIT;
  cuttPlan_t copy = NULL;
  cuttPlanInfo_t copied = {.struct_size = sizeof copied};
  problem.rank = 1;
  problem.type = s->type->type;
  problem.extents = &count;
  problem.perm = same;
  plain.backend = s->options.backend;
  plain.threads = s->options.threads;
  cuttResult result = cuttPlanCreate(&copy, &problem, &plain);
  if (!result) result = cuttPlanGetInfo(copy, &copied);
  cuttPlanDestroy(copy);
  *seconds = (float)(copied.predicted_seconds / ((double)count * s->type->bytes));
  return result;
}

/* A product of two matrices, and a copy, as they are predicted on this rank: large enough that what a call takes is little of it. */
cuttResult cutt_spread_rates(const cutt_spread *s, const cuttDistTransport_t *transport, cutt_speeds *rates) {
  *rates = message_speeds(s, transport);
  if (s->options.deterministic) return CUTT_SUCCESS;
  const cuttResult result = predict_product(s, s->runtime ? 4096 : 256, &rates->multiply);
  return result ? result : predict_copy(s, s->runtime ? (int64_t)1 << 26 : (int64_t)1 << 20, &rates->copy);
}
