/* Contractions as the program has them; see contraction.h.
 *
 * The reader of patterns is lenient: it finds out which mode is which, so that the shape of the result is known before
 * a plan is made. What is wrong with a pattern is said by the library, which gets the same text. */
#include "contraction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ types */

const cutt_cli_number *cutt_cli_number_find(const char *name) {
  static const cutt_cli_number numbers[] = {{"f2", CUTT_F16, 2, 2, false},
                                            {"f4", CUTT_F32, 4, 4, false},
                                            {"f8", CUTT_F64, 8, 8, false},
                                            {"c8", CUTT_C32, 8, 4, true},
                                            {"c16", CUTT_C64, 16, 8, true}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
    if (!strcmp(name, numbers[i].name)) return &numbers[i];
  return NULL;
}

/* ---------------------------------------------------------------------------------------------------------- pattern */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }
static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* A label where it stands in the text. */
typedef struct word {
  const char *at;
  size_t length;
} word;

typedef struct reader {
  const char *at;
  cutt_cli_pattern *pattern;
  word first[CUTT_CLI_LABELS]; /* of each label, where it is first */
} reader;

static bool add_mode(reader *r, int tensor, size_t length) {
  cutt_cli_pattern *p = r->pattern;
  if (length == 0 || p->rank[tensor] == CUTT_MAX_RANK) return false;
  int label = 0;
  while (label < p->labels && !(r->first[label].length == length && !memcmp(r->first[label].at, r->at, length)))
    ++label;
  if (label == p->labels) r->first[p->labels++] = (word){r->at, length};
  p->label[tensor][p->rank[tensor]++] = label;
  r->at += length;
  return true;
}

static void skip_space(reader *r) {
  while (is_space(*r->at)) ++r->at;
}

static bool take(reader *r, char c) {
  skip_space(r);
  if (*r->at != c) return false;
  ++r->at;
  return true;
}

/* The letters that are there once, in the order of their codes, as NumPy has it. */
static void imply_result(reader *r) {
  cutt_cli_pattern *p = r->pattern;
  for (int c = 'A'; c <= 'z'; ++c) {
    for (int label = 0; label < p->labels; ++label) {
      int times = 0;
      for (int t = CUTT_CLI_LEFT; t <= CUTT_CLI_RIGHT; ++t)
        for (int i = 0; i < p->rank[t]; ++i) times += p->label[t][i] == label;
      if (*r->first[label].at == c && times == 1) p->label[CUTT_CLI_RESULT][p->rank[CUTT_CLI_RESULT]++] = label;
    }
  }
}

static bool read_einsum(reader *r) {
  for (int tensor = CUTT_CLI_LEFT;; ++tensor) {
    for (skip_space(r); is_letter(*r->at); skip_space(r))
      if (!add_mode(r, tensor, 1)) return false;
    if (tensor == CUTT_CLI_LEFT && take(r, ',')) continue;
    if (tensor == CUTT_CLI_LEFT) tensor = CUTT_CLI_RIGHT; /* which there is none of */
    if (tensor == CUTT_CLI_RIGHT && !*r->at) {
      imply_result(r);
      return true;
    }
    if (tensor == CUTT_CLI_RIGHT && !(take(r, '-') && take(r, '>'))) return false;
    if (tensor == CUTT_CLI_RESULT) return !*r->at;
  }
}

static bool read_tensor(reader *r, int tensor) {
  skip_space(r);
  while (is_name(*r->at)) ++r->at;
  if (tensor != CUTT_CLI_RESULT) take(r, '+');
  if (!take(r, '(')) return false;
  if (take(r, ')')) return true;
  do {
    skip_space(r);
    size_t length = 0;
    while (is_name(r->at[length])) ++length;
    if (!add_mode(r, tensor, length)) return false;
  } while (take(r, ','));
  return take(r, ')');
}

static bool read_talsh(reader *r) {
  if (!read_tensor(r, CUTT_CLI_RESULT)) return false;
  take(r, '+');
  if (!take(r, '=') || !read_tensor(r, CUTT_CLI_LEFT)) return false;
  if (take(r, '*') && !read_tensor(r, CUTT_CLI_RIGHT)) return false;
  skip_space(r);
  return !*r->at;
}

bool cutt_cli_pattern_read(const char *text, cutt_cli_pattern *pattern) {
  memset(pattern, 0, sizeof *pattern);
  reader r = {.at = text, .pattern = pattern};
  if (strchr(text, '(') ? read_talsh(&r) : read_einsum(&r)) return true;
  memset(pattern, 0, sizeof *pattern);
  return false;
}

/* ------------------------------------------------------------------------------------------------------ contraction */

void cutt_cli_packed_strides(const int64_t *shape, int rank, bool fortran_order, int64_t *strides) {
  int64_t stride = 1;
  for (int i = 0; i < rank; ++i) {
    const int axis = fortran_order ? i : rank - 1 - i;
    strides[axis] = stride;
    /* An axis of extent 0 counts as 1. What overflows is refused by the library, by the extents. */
    if (shape[axis] > 1 && __builtin_mul_overflow(stride, shape[axis], &stride)) stride = INT64_MAX;
  }
}

bool cutt_cli_contraction_result(const char *command, cutt_cli_contraction *c) {
  cutt_cli_pattern p;
  c->rank[CUTT_CLI_RESULT] = 0;
  const char between = strchr(c->pattern, '(') ? '*' : ',';
  const bool two = c->name[CUTT_CLI_RIGHT];
  if (two != (strchr(c->pattern, between) != NULL)) {
    if (two)
      cutt_cli_misused(command,
                       "the pattern '%s' has one operand, and two are given; it must have two, with a '%c' between "
                       "them",
                       c->pattern, between);
    else
      cutt_cli_misused(command, "the pattern '%s' has two operands, and one is given", c->pattern);
    return false;
  }
  if (!cutt_cli_pattern_read(c->pattern, &p)) return true;
  for (int t = CUTT_CLI_LEFT; t <= CUTT_CLI_RIGHT; ++t) {
    if (c->rank[t] == p.rank[t]) continue;
    char shape[256];
    cutt_cli_misused(command, "%s has %d ax%s, %s, but the pattern '%s' gives it %d letter%s; each axis must have one",
                     c->name[t], c->rank[t], c->rank[t] == 1 ? "is" : "es",
                     cutt_cli_shape(c->shape[t], c->rank[t], shape, sizeof shape), c->pattern, p.rank[t],
                     p.rank[t] == 1 ? "" : "s");
    return false;
  }
  const int rank = c->rank[CUTT_CLI_RESULT] = p.rank[CUTT_CLI_RESULT];
  for (int i = 0; i < rank; ++i) {
    c->shape[CUTT_CLI_RESULT][i] = 1; /* of a letter that is in no operand, which the library will say */
    for (int t = CUTT_CLI_RIGHT; t >= CUTT_CLI_LEFT; --t)
      for (int j = 0; j < p.rank[t]; ++j)
        if (p.label[t][j] == p.label[CUTT_CLI_RESULT][i]) c->shape[CUTT_CLI_RESULT][i] = c->shape[t][j];
  }
  cutt_cli_packed_strides(c->shape[CUTT_CLI_RESULT], rank, false, c->strides[CUTT_CLI_RESULT]);
  return true;
}

/* The library's error with its fields called what the user knows them as: left_extents[1] is "axis 1 of A.npy", and
 * options->provider "--provider". */
static const char *own_words(const cutt_cli_contraction *c, const char *said, char *text, size_t size) {
  static const char *const fields[CUTT_CLI_TENSORS] = {"left_extents[", "right_extents[", "result_extents["};
  static const char option[] = "options->";
  size_t length = 0;
  text[0] = 0;
  while (*said && length + 1 < size) {
    int tensor = 0;
    while (tensor < CUTT_CLI_TENSORS && strncmp(said, fields[tensor], strlen(fields[tensor])) != 0) ++tensor;
    if (tensor < CUTT_CLI_TENSORS) {
      char *end = NULL;
      const long axis = strtol(said + strlen(fields[tensor]), &end, 10);
      length += (size_t)snprintf(text + length, size - length, "axis %ld of %s", axis, c->name[tensor]);
      said = *end == ']' ? end + 1 : end;
    } else if (!strncmp(said, "options->workspace_limit", 24)) {
      length += (size_t)snprintf(text + length, size - length, "--workspace");
      said += 24;
    } else if (!strncmp(said, option, strlen(option))) {
      length += (size_t)snprintf(text + length, size - length, "--");
      said += strlen(option);
    } else {
      text[length++] = *said++;
      text[length] = 0;
    }
  }
  return text;
}

/* Two numbers as a scalar of the type, in memory of 16 bytes. */
static void write_scalar(const cutt_cli_number *number, const double *value, void *scalar) {
  const float single[2] = {(float)value[0], (float)value[1]};
  if (number->word == 8)
    memcpy(scalar, value, 16);
  else
    memcpy(scalar, single, sizeof single);
}

int cutt_cli_contraction_plan(const char *command, const cutt_cli_contraction *c,
                              const cuttContractionOptions_t *options, cuttContractionPlan_t *plan) {
  double alpha[2], beta[2]; /* memory of the right alignment for any scalar */
  cuttContraction_t problem = CUTT_CONTRACTION_INIT;
  problem.pattern = c->pattern;
  problem.type = c->number->type;
  problem.left_rank = c->rank[CUTT_CLI_LEFT];
  problem.right_rank = c->rank[CUTT_CLI_RIGHT];
  problem.result_rank = c->rank[CUTT_CLI_RESULT];
  problem.left_extents = c->shape[CUTT_CLI_LEFT];
  problem.right_extents = c->shape[CUTT_CLI_RIGHT];
  problem.left_strides = c->strides[CUTT_CLI_LEFT];
  problem.right_strides = c->strides[CUTT_CLI_RIGHT];
  problem.result_strides = c->strides[CUTT_CLI_RESULT];
  if (c->scaled) {
    write_scalar(c->number, c->alpha, alpha);
    write_scalar(c->number, c->beta, beta);
    problem.alpha = alpha;
    problem.beta = beta;
  }
  *plan = NULL;
  const cuttResult result = cuttContractionPlanCreate(plan, &problem, options);
  if (result == CUTT_SUCCESS) return CUTT_CLI_DONE;
  char text[1536];
  own_words(c, cuttLastError(), text, sizeof text);
  if (result == CUTT_INVALID_PARAMETER) return cutt_cli_misused(command, "%s", text);
  return cutt_cli_failed("the contraction could not be planned: %s", text);
}

/* ------------------------------------------------------------------------------------------------------ description */

static cuttResult describe(void *of, int format, char *buffer, size_t size, size_t *needed) {
  return cuttContractionDescribe(of, (cuttFormat_t)format, buffer, size, needed);
}

char *cutt_cli_contraction_text(cuttContractionPlan_t plan) {
  return cutt_cli_described(describe, plan, CUTT_TEXT, "the plan");
}

static json_t *list_of(const int64_t *shape, int rank) {
  json_t *list = json_array();
  for (int i = 0; list && i < rank; ++i) {
    if (json_array_append_new(list, json_integer(shape[i])) == 0) continue;
    json_decref(list);
    return NULL;
  }
  return list;
}

json_t *cutt_cli_contraction_json(cuttContractionPlan_t plan, const cutt_cli_contraction *c) {
  json_t *root = cutt_cli_described_json(describe, plan, "the plan");
  if (!root) return NULL;
  json_t *right = c->name[CUTT_CLI_RIGHT] ? list_of(c->shape[CUTT_CLI_RIGHT], c->rank[CUTT_CLI_RIGHT]) : json_null();
  json_t *numpy = json_pack("{s:s, s:s, s:o, s:o, s:o}", "pattern", c->pattern, "dtype", c->number->name, "left",
                            list_of(c->shape[CUTT_CLI_LEFT], c->rank[CUTT_CLI_LEFT]), "right", right, "result",
                            list_of(c->shape[CUTT_CLI_RESULT], c->rank[CUTT_CLI_RESULT]));
  if (json_object_set_new(root, "numpy", numpy) == 0) return root;
  cutt_cli_message("out of memory for the description");
  json_decref(root);
  return NULL;
}

const char *cutt_cli_contraction_words(const cutt_cli_contraction *c, char *buffer, size_t size) {
  char operands[CUTT_CLI_OPERANDS_TEXT], shape[256];
  snprintf(buffer, size, "NumPy order: '%s', %s -> %s, dtype %s, C order.", c->pattern,
           cutt_cli_contraction_operands(c, operands, sizeof operands),
           cutt_cli_shape(c->shape[CUTT_CLI_RESULT], c->rank[CUTT_CLI_RESULT], shape, sizeof shape), c->number->name);
  return buffer;
}

const char *cutt_cli_contraction_operands(const cutt_cli_contraction *c, char *buffer, size_t size) {
  char shape[2][256];
  for (int t = 0; t < 2; ++t) cutt_cli_shape(c->shape[t], c->rank[t], shape[t], sizeof shape[t]);
  const bool two = c->name[CUTT_CLI_RIGHT];
  snprintf(buffer, size, "%s%s%s", shape[0], two ? " and " : "", two ? shape[1] : "");
  return buffer;
}

const char *cutt_cli_permuted(const cuttContractionInfo_t *info) {
  static const char *const words[] = {"nothing",
                                      "left",
                                      "right",
                                      "left and right",
                                      "result",
                                      "left and result",
                                      "right and result",
                                      "left, right and result"};
  return words[(info->permutes_left != 0) | (info->permutes_right != 0) << 1 | (info->permutes_result != 0) << 2];
}
