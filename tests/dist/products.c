/* Random contractions over ranks (products.h). */
#include "products.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, POISON = 0xff, MOST_PRODUCTS = 20000, MOST_TERMS = 200 };

static bool is_half(cuttType_t type) { return type == CUTT_F16 || type == CUTT_BF16; }

/* ------------------------------------------------------------------------------------------------------------ random cases */

static void add_label(test_rng *rng, product_case *c, int tensor, int label) {
  if (c->modes[tensor] == MOST_MODES) return;
  /* At a random place. */
  const int at = (int)test_random_in(rng, 0, c->modes[tensor]);
  for (int i = c->modes[tensor]; i > at; i--) c->label[tensor][i] = c->label[tensor][i - 1];
  c->label[tensor][at] = label;
  c->modes[tensor]++;
}

/* Which tensors have a label: as free, contracted, batch, summed and repeated modes do. */
static void make_labels(test_rng *rng, product_case *c) {
  static const bool in[5][TENSORS] = {{1, 0, 1}, {0, 1, 1}, {1, 1, 0}, {1, 1, 1}, {1, 0, 0}};
  c->one = test_chance(rng, 8);
  const int labels = (int)test_random_in(rng, 1, 6);
  bool repeats[MOST_LABELS] = {false};
  for (int label = 0; label < labels; label++) {
    const int kind = c->one                 ? (test_chance(rng, 60) ? 0 : 4)
                     : test_chance(rng, 92) ? (int)test_random_in(rng, 0, 3)
                                            : 4;
    const bool mirrored = kind == 4 && !c->one && test_chance(rng, 50);
    for (int t = 0; t < TENSORS; t++)
      if (in[kind][mirrored && t < RESULT ? 1 - t : t]) add_label(rng, c, t, label);
    repeats[label] = test_chance(rng, 5) && in[kind][LEFT] && !mirrored;
  }
  for (int label = 0; label < labels; label++)
    if (repeats[label]) add_label(rng, c, LEFT, label);
  c->labels = labels;
  /* An einsum has to name something on the left of the comma only if there is something. */
  if (c->one && c->modes[LEFT] == 0) add_label(rng, c, LEFT, 0);
}

static void make_extents(test_rng *rng, product_case *c) {
  int64_t room = test_random_in(rng, 1, MOST_PRODUCTS), terms = is_half(c->type) ? MOST_TERMS : MOST_PRODUCTS;
  for (int i = 0; i < c->labels; i++) {
    bool free_mode = false;
    for (int m = 0; m < c->modes[RESULT]; m++) free_mode = free_mode || c->label[RESULT][m] == i;
    int64_t most = room < 24 ? room : 24;
    if (!free_mode && most > terms) most = terms;
    c->extent[i] = test_chance(rng, 3) ? 0 : test_random_in(rng, 1, most);
    if (c->extent[i]) room /= c->extent[i];
    if (c->extent[i] && !free_mode) terms /= c->extent[i];
  }
}

static void write_pattern(product_case *c) {
  char *at = c->pattern;
  for (int t = 0; t < TENSORS; t++) {
    if (t == RIGHT && c->one) continue;
    if (t == RIGHT) *at++ = ',';
    if (t == RESULT) at += sprintf(at, "->");
    for (int i = 0; i < c->modes[t]; i++) *at++ = (char)('a' + c->label[t][i]);
  }
  *at = 0;
}

static bool has(const product_case *c, int tensor, int label) {
  for (int i = 0; i < c->modes[tensor]; i++)
    if (c->label[tensor][i] == label) return true;
  return false;
}

/* Layouts that fit: each label has its parts, and where a tensor has not all labels there are copies of it. */
static void align(test_rng *rng, product_case *c) {
  int parts[MOST_LABELS], blocks[MOST_LABELS], step[MOST_LABELS], order[MOST_RANKS], positions = 1;
  for (int i = 0; i < c->labels; i++) {
    parts[i] = blocks[i] = 1;
    int repeated = 0;
    for (int m = 0; m < c->modes[LEFT]; m++) repeated += c->label[LEFT][m] == i;
    if (has(c, RESULT, i) && repeated < 2) parts[i] = (int)test_random_in(rng, 1, c->size / positions);
    blocks[i] = test_chance(rng, 60) ? 0 : (int)test_random_in(rng, 1, 3);
    step[i] = positions;
    positions *= parts[i];
  }
  for (int i = 0; i < c->size; i++) order[i] = i;
  test_shuffle(rng, order, c->size);
  for (int t = 0; t < TENSORS; t++) {
    dist_side *s = &c->side[t];
    int in_tensor = 1;
    for (int i = 0; i < c->modes[t]; i++) {
      s->parts[i] = parts[c->label[t][i]];
      s->blocks[i] = blocks[c->label[t][i]];
      in_tensor *= s->parts[i];
    }
    s->copies = positions / in_tensor;
    for (int p = 0; p < positions; p++) {
      int at = 0, next = 1, copy = 0, copy_step = in_tensor;
      for (int i = 0; i < c->modes[t]; i++) {
        const int label = c->label[t][i];
        if (parts[label] == 1) continue;
        at += p / step[label] % parts[label] * next;
        next *= parts[label];
      }
      for (int label = 0; label < c->labels; label++) {
        if (has(c, t, label) || parts[label] == 1) continue;
        copy += p / step[label] % parts[label] * copy_step;
        copy_step *= parts[label];
      }
      s->ranks[at + copy] = order[p];
    }
  }
}

static void make_options(test_rng *rng, product_case *c) {
  static const size_t limits[] = {0, 0, 3000, 10000, 100000}, pieces[] = {0, 0, 64, 1000};
  c->options = (cuttDistContractionOptions_t)CUTT_DIST_CONTRACTION_OPTIONS_INIT;
  c->options.threads = test_chance(rng, 70) ? 1 : 2;
  c->options.algorithm = (cuttDistAlgorithm_t)test_random_in(rng, 0, 4);
  c->options.deterministic = test_chance(rng, 30);
  c->options.workspace_limit = limits[test_random_in(rng, 0, 4)];
  c->options.piece_bytes = pieces[test_random_in(rng, 0, 3)];
  c->options.panel = test_chance(rng, 50) ? 0 : test_random_in(rng, 1, 12);
  c->options.direct = (cuttDistDirect_t)test_random_in(rng, 0, 2);
}

void product_case_make(product_case *c, uint64_t seed, int size) {
  static const cuttType_t types[] = {CUTT_F32, CUTT_F64, CUTT_F64, CUTT_C32, CUTT_C64,
                                     CUTT_I32, CUTT_I64, CUTT_F16, CUTT_BF16};
  test_rng rng = {test_mix(seed)};
  memset(c, 0, sizeof *c);
  c->seed = seed;
  c->size = size;
  c->type = types[test_random_in(&rng, 0, (int64_t)(sizeof types / sizeof *types) - 1)];
  make_labels(&rng, c);
  make_extents(&rng, c);
  write_pattern(c);
  for (int t = 0; t < TENSORS; t++) {
    for (int i = 0; i < c->modes[t]; i++) c->side[t].extents[i] = c->extent[c->label[t][i]];
    dist_side_make(&rng, c->modes[t], size, &c->side[t]);
  }
  c->aligned = test_chance(&rng, 30);
  if (c->aligned) align(&rng, c);
  c->has_alpha = test_chance(&rng, 50);
  c->has_beta = test_chance(&rng, 60);
  const int most = is_half(c->type) ? 1 : 3;
  for (int i = 0; i < 2; i++) {
    const bool there = i == 0 || test_type_complex(c->type);
    c->alpha[i] = there ? (int)test_random_in(&rng, -most, most) : 0;
    c->beta[i] = there ? (int)test_random_in(&rng, -most, most) : 0;
    c->conjugate[i] = test_chance(&rng, 30);
  }
  make_options(&rng, c);
}

cuttDistLayout_t product_case_layout(const product_case *c, int tensor) {
  return dist_side_layout(&c->side[tensor], c->modes[tensor]);
}

/* --------------------------------------------------------------------------------------------------------- whole numbers */

typedef struct whole {
  int64_t re, im;
} whole;

/* A half: sign, 5 bits of exponent, 10 of fraction; the number is exact in it. */
static uint16_t half_of(int64_t value) {
  const unsigned sign = value < 0 ? 0x8000U : 0;
  uint64_t rest = (uint64_t)(value < 0 ? -value : value);
  int exponent = 25; /* of 2^10 */
  if (rest == 0) return 0;
  while (rest < 1024) {
    rest <<= 1;
    exponent--;
  }
  while (rest >= 2048) {
    rest >>= 1;
    exponent++;
  }
  return (uint16_t)(sign | (unsigned)exponent << 10 | (unsigned)(rest & 1023));
}

static void store(cuttType_t type, whole value, void *element) {
  const float f[2] = {(float)value.re, (float)value.im};
  const double d[2] = {(double)value.re, (double)value.im};
  const int32_t i = (int32_t)value.re;
  uint32_t bits;
  uint16_t half;
  memcpy(&bits, f, sizeof bits);
  half = type == CUTT_F16 ? half_of(value.re) : (uint16_t)(bits >> 16);
  if (is_half(type)) memcpy(element, &half, sizeof half);
  if (type == CUTT_I32) memcpy(element, &i, sizeof i);
  if (type == CUTT_I64) memcpy(element, &value.re, sizeof value.re);
  if (type == CUTT_F32 || type == CUTT_C32) memcpy(element, f, test_type_bytes(type));
  if (type == CUTT_F64 || type == CUTT_C64) memcpy(element, d, test_type_bytes(type));
}

/* A zero of either sign is zero. */
static bool is_stored(cuttType_t type, whole value, const void *element) {
  unsigned char wanted[16], negative[16];
  const size_t bytes = test_type_bytes(type);
  float f[2] = {(float)value.re, (float)value.im};
  double d[2] = {(double)value.re, (double)value.im};
  store(type, value, wanted);
  if (memcmp(element, wanted, bytes) == 0) return true;
  if (type == CUTT_F32 || type == CUTT_C32) {
    memcpy(f, element, bytes);
    return f[0] == (float)value.re && f[1] == (float)value.im;
  }
  if (type == CUTT_F64 || type == CUTT_C64) {
    memcpy(d, element, bytes);
    return d[0] == (double)value.re && d[1] == (double)value.im;
  }
  memset(negative, 0, sizeof negative);
  negative[1] = 0x80;
  return is_half(type) && value.re == 0 && memcmp(element, negative, bytes) == 0;
}

static whole times(whole a, whole b) { return (whole){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

/* ----------------------------------------------------------------------------------------------------------------- one case */

/* A rank's part of a tensor: memory with guards around it. */
typedef struct part {
  unsigned char *memory, *wanted, *origin; /* element (0, ..., 0) */
  size_t bytes;
  int64_t extents[MOST_MODES], strides[MOST_MODES];
  int64_t count;
} part;

typedef struct trial {
  const product_case *c;
  const cuttDistComm_t *comms;
  whole *tensor[TENSORS], *expected; /* of the whole tensors, packed */
  char failure[MOST_RANKS][FAILURE_BYTES];
  char refused[MOST_RANKS][FAILURE_BYTES];
  int64_t sent[MOST_RANKS], received[MOST_RANKS];
} trial;

static int64_t offset_in(const product_case *c, int tensor, const int64_t *index) {
  int64_t at = 0, step = 1;
  for (int i = 0; i < c->modes[tensor]; i++) {
    at += index[c->label[tensor][i]] * step;
    step *= c->extent[c->label[tensor][i]];
  }
  return at;
}

static int64_t volume_of(const product_case *c, int tensor) {
  int64_t volume = 1;
  for (int i = 0; i < c->modes[tensor]; i++) volume *= c->side[tensor].extents[i];
  return volume;
}

/* The definition. */
static void contract(trial *t) {
  const product_case *c = t->c;
  int64_t index[MOST_LABELS] = {0};
  const int64_t volume = volume_of(c, RESULT);
  const whole alpha = c->has_alpha ? (whole){c->alpha[0], c->alpha[1]} : (whole){1, 0};
  const whole beta = c->has_beta ? (whole){c->beta[0], c->beta[1]} : (whole){0, 0};
  const bool complex_type = test_type_complex(c->type);
  for (int64_t i = 0; i < volume; i++) t->expected[i] = times(beta, t->tensor[RESULT][i]);
  for (int i = 0; i < c->labels; i++)
    if (c->extent[i] == 0) return;
  for (;;) {
    whole l = t->tensor[LEFT][offset_in(c, LEFT, index)];
    whole r = c->one ? (whole){1, 0} : t->tensor[RIGHT][offset_in(c, RIGHT, index)];
    if (complex_type && c->conjugate[0]) l.im = -l.im;
    if (complex_type && c->conjugate[1]) r.im = -r.im;
    const whole p = times(alpha, times(l, r));
    whole *d = &t->expected[offset_in(c, RESULT, index)];
    d->re += p.re;
    d->im += p.im;
    int i = 0;
    while (i < c->labels && ++index[i] == c->extent[i]) index[i++] = 0;
    if (i == c->labels) return;
  }
}

static void make_whole(trial *t) {
  const product_case *c = t->c;
  test_rng rng = {test_mix(c->seed + 77)};
  const int most = is_half(c->type) ? 1 : 4;
  for (int k = 0; k < TENSORS; k++) {
    const int64_t volume = volume_of(c, k);
    t->tensor[k] = calloc((size_t)volume + 1, sizeof(whole));
    assert_non_null(t->tensor[k]);
    for (int64_t i = 0; i < volume; i++) {
      t->tensor[k][i].re = test_random_in(&rng, -most, most);
      if (test_type_complex(c->type)) t->tensor[k][i].im = test_random_in(&rng, -most, most);
    }
  }
  t->expected = calloc((size_t)volume_of(c, RESULT) + 1, sizeof(whole));
  assert_non_null(t->expected);
  contract(t);
}

static void make_part(const trial *t, int tensor, int rank, part *p) {
  const product_case *c = t->c;
  const cuttDistLayout_t layout = product_case_layout(c, tensor);
  const bool strided = c->side[tensor].strided;
  test_rng rng = {test_mix(c->seed + 1000003 * (uint64_t)(rank + 1) + (uint64_t)tensor)};
  int order[MOST_MODES];
  int64_t next = 1, low = 0, high = 0;
  cuttDistLocalExtents(&layout, rank, p->extents);
  cuttDistLocalCount(&layout, rank, &p->count);
  for (int i = 0; i < c->modes[tensor]; i++) order[i] = i;
  if (strided) test_shuffle(&rng, order, c->modes[tensor]);
  for (int i = 0; i < c->modes[tensor]; i++) {
    const int m = order[i];
    if (strided && test_chance(&rng, 30)) next += test_random_in(&rng, 1, 3);
    p->strides[m] = strided && test_chance(&rng, 20) ? -next : next;
    next *= p->extents[m] > 0 ? p->extents[m] : 1;
    const int64_t reach = p->extents[m] > 0 ? (p->extents[m] - 1) * p->strides[m] : 0;
    *(reach < 0 ? &low : &high) += reach;
  }
  const size_t elem = test_type_bytes(c->type);
  p->bytes = (size_t)(high - low + 1) * elem + 2 * GUARD;
  p->memory = malloc(p->bytes);
  p->wanted = malloc(p->bytes);
  assert_non_null(p->memory);
  assert_non_null(p->wanted);
  p->origin = p->memory + GUARD + (size_t)-low * elem;
}

/* Calls for every element of a part: stores it, or compares it with, a whole number of the whole tensor. Elements that are right
 * become those of `wanted`, so that what lies beside them can be compared by bytes. */
static bool visit(const trial *t, int tensor, int rank, const part *p, const whole *values, bool compares) {
  const product_case *c = t->c;
  const cuttDistLayout_t layout = product_case_layout(c, tensor);
  const size_t elem = test_type_bytes(c->type);
  int64_t local[MOST_MODES] = {0}, global[MOST_MODES] = {0};
  if (p->count == 0) return true;
  for (;;) {
    int64_t from = 0, step = 1, to = 0;
    cuttDistGlobal(&layout, rank, local, global);
    for (int i = 0; i < c->modes[tensor]; i++) {
      from += global[i] * step;
      step *= layout.extents[i];
      to += local[i] * p->strides[i];
    }
    unsigned char *at = p->origin + to * (int64_t)elem;
    if (!compares)
      store(c->type, values[from], at);
    else if (!is_stored(c->type, values[from], at))
      return false;
    else
      memcpy(p->wanted + (at - p->memory), at, elem);
    int i = 0;
    while (i < c->modes[tensor] && ++local[i] == p->extents[i]) local[i++] = 0;
    if (i == c->modes[tensor]) return true;
  }
}

static void fail_here(trial *t, int rank, const char *what) {
  if (t->failure[rank][0]) return;
  snprintf(t->failure[rank], FAILURE_BYTES, "seed %llu, rank %d of %d, %s: %s: %.200s", (unsigned long long)t->c->seed,
           rank, t->c->size, t->c->pattern, what, cuttLastError());
}

static void set_scalar(cuttType_t type, const int *value, test_scalar *scalar) {
  memset(scalar, 0, sizeof *scalar);
  /* Of half types it is a float. */
  store(is_half(type) ? CUTT_F32 : type, (whole){value[0], value[1]}, scalar);
}

static cuttResult make_plan(const trial *t, int rank, const part *parts, cuttDistContractionPlan_t *plan) {
  const product_case *c = t->c;
  cuttDistLayout_t layout[TENSORS];
  cuttDistContraction_t contraction = CUTT_DIST_CONTRACTION_INIT;
  test_scalar alpha, beta;
  for (int k = 0; k < TENSORS; k++) {
    layout[k] = product_case_layout(c, k);
    if (c->side[k].strided) layout[k].strides = parts[k].strides;
  }
  set_scalar(c->type, c->alpha, &alpha);
  set_scalar(c->type, c->beta, &beta);
  contraction.pattern = c->pattern;
  contraction.type = c->type;
  contraction.left = &layout[LEFT];
  contraction.right = c->one ? NULL : &layout[RIGHT];
  contraction.result = &layout[RESULT];
  contraction.alpha = c->has_alpha ? &alpha : NULL;
  contraction.beta = c->has_beta ? &beta : NULL;
  contraction.conjugate_left = c->conjugate[0];
  contraction.conjugate_right = c->conjugate[1];
  return cuttDistContractionPlanCreate(plan, t->comms[rank], &contraction, &c->options);
}

/* What the plan says about itself, against what is known of the case. */
static void check_info(trial *t, int rank, cuttDistContractionPlan_t plan) {
  const product_case *c = t->c;
  cuttDistContractionInfo_t info = {.struct_size = sizeof info};
  if (cuttDistContractionGetInfo(plan, &info) != CUTT_SUCCESS) {
    fail_here(t, rank, "info");
    return;
  }
  t->sent[rank] = info.bytes_sent;
  t->received[rank] = info.bytes_received;
  if (c->options.algorithm && info.algorithm != c->options.algorithm) fail_here(t, rank, "another algorithm");
  if (c->options.workspace_limit && info.workspace_bytes > c->options.workspace_limit)
    fail_here(t, rank, "more workspace than the limit");
  if (info.algorithm == CUTT_DIST_LOCAL && info.bytes_sent + info.bytes_received > 0)
    fail_here(t, rank, "something moves though all is local");
  if ((info.algorithm == CUTT_DIST_REDUCE) != (info.partial_results > 1)) fail_here(t, rank, "partial results");
  if (info.most_bytes_sent < info.bytes_sent || info.most_bytes_received < info.bytes_received)
    fail_here(t, rank, "the most is less than this rank's");
}

/* A part's memory where the plan wants it: itself, or a copy on the device. */
static unsigned char *place(const trial *t, const part *p) {
  void *memory = NULL;
  if (!t->c->on_device) return p->memory;
  return cuttMemoryAllocate(CUTT_BACKEND_CUDA, p->bytes, &memory) == CUTT_SUCCESS ? memory : NULL;
}

static cuttResult execute(const trial *t, cuttDistContractionPlan_t plan, const part *parts,
                          unsigned char *const *memory) {
  unsigned char *origin[TENSORS];
  cuttResult result = CUTT_SUCCESS;
  for (int k = 0; k < TENSORS; k++) {
    const bool there = parts[k].count && (k != RIGHT || !t->c->one);
    origin[k] = there ? memory[k] + (parts[k].origin - parts[k].memory) : NULL;
    if (t->c->on_device && !result)
      result = cuttMemoryCopy(CUTT_BACKEND_CUDA, memory[k], parts[k].memory, parts[k].bytes);
  }
  if (!result) result = cuttDistContractionExecute(plan, origin[LEFT], origin[RIGHT], origin[RESULT], NULL);
  if (t->c->on_device && !result)
    result = cuttMemoryCopy(CUTT_BACKEND_CUDA, parts[RESULT].memory, memory[RESULT], parts[RESULT].bytes);
  return result;
}

static void try_rank(void *what, int rank) {
  trial *t = what;
  const product_case *c = t->c;
  part parts[TENSORS];
  unsigned char *memory[TENSORS];
  cuttDistContractionPlan_t plan = NULL;
  for (int k = 0; k < TENSORS; k++) {
    make_part(t, k, rank, &parts[k]);
    memset(parts[k].memory, POISON, parts[k].bytes);
    visit(t, k, rank, &parts[k], t->tensor[k], false);
    memory[k] = place(t, &parts[k]);
  }
  const bool reads = c->has_beta && (c->beta[0] || c->beta[1]);
  const cuttResult result = make_plan(t, rank, parts, &plan);
  if (result == CUTT_INVALID_PARAMETER && strstr(cuttLastError(), "options->"))
    snprintf(t->refused[rank], FAILURE_BYTES, "%s", cuttLastError());
  else if (result)
    fail_here(t, rank, "create");
  if (plan) check_info(t, rank, plan);
  part *out = &parts[RESULT];
  for (int i = 0; plan && i < 2; i++) {
    memset(out->memory, POISON, out->bytes);
    memset(out->wanted, POISON, out->bytes);
    if (reads) visit(t, RESULT, rank, out, t->tensor[RESULT], false);
    if (execute(t, plan, parts, memory) != CUTT_SUCCESS)
      fail_here(t, rank, "execute");
    else if (!visit(t, RESULT, rank, out, t->expected, true))
      fail_here(t, rank, "a wrong element");
    else if (memcmp(out->memory, out->wanted, out->bytes) != 0)
      fail_here(t, rank, "something beside the elements was written");
  }
  if (cuttDistContractionPlanDestroy(plan) != CUTT_SUCCESS) fail_here(t, rank, "destroy");
  for (int k = 0; k < TENSORS; k++) {
    if (c->on_device) cuttMemoryFree(CUTT_BACKEND_CUDA, memory[k]);
    free(parts[k].memory);
    free(parts[k].wanted);
  }
}

static trial *open_trial(const product_case *c, const cuttDistComm_t *comms) {
  trial *t = calloc(1, sizeof *t);
  assert_non_null(t);
  t->c = c;
  t->comms = comms;
  make_whole(t);
  return t;
}

static void close_trial(trial *t) {
  for (int k = 0; k < TENSORS; k++) free(t->tensor[k]);
  free(t->expected);
  free(t);
}

bool product_case_try(const product_case *c, const cuttDistComm_t *comms, char failure[FAILURE_BYTES]) {
  trial *t = open_trial(c, comms);
  ranks_run(c->size, try_rank, t);
  int64_t sent = 0, received = 0;
  failure[0] = 0;
  for (int i = 0; i < c->size; i++) {
    sent += t->sent[i];
    received += t->received[i];
    if (t->failure[i][0] && !failure[0]) memcpy(failure, t->failure[i], FAILURE_BYTES);
    if (strcmp(t->refused[i], t->refused[0]) != 0 && !failure[0])
      snprintf(failure, FAILURE_BYTES, "rank %d is told %.150s and rank 0 %.150s", i, t->refused[i], t->refused[0]);
  }
  if (!failure[0] && c->options.direct == CUTT_DIST_DIRECT_NEVER && sent != received)
    snprintf(failure, FAILURE_BYTES, "not all that is sent is received");
  if (!failure[0] && t->refused[0][0] && c->options.algorithm <= CUTT_DIST_REDISTRIBUTE &&
      !c->options.workspace_limit && (c->aligned || c->options.algorithm != CUTT_DIST_LOCAL))
    snprintf(failure, FAILURE_BYTES, "seed %llu: refused: %.300s", (unsigned long long)c->seed, t->refused[0]);
  const bool ran = !t->refused[0][0];
  close_trial(t);
  return ran;
}

bool product_case_try_rank(const product_case *c, cuttDistComm_t comm, int rank, char failure[FAILURE_BYTES]) {
  cuttDistComm_t comms[MOST_RANKS] = {NULL};
  comms[rank] = comm;
  trial *t = open_trial(c, comms);
  try_rank(t, rank);
  memcpy(failure, t->failure[rank], FAILURE_BYTES);
  const bool ran = !t->refused[rank][0];
  close_trial(t);
  return ran;
}
