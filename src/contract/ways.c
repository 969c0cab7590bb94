/* Ways to do a contraction (ways.h).
 *
 * In words a pass is the mode that it runs along and the cache lines of a block, from which its shape follows, or -1 and 1 for an elementwise
 * operation, or on a GPU -1 and the number of its kind of shape; products are all
 * that an algorithm consists of, with its modes by their numbers in the canonical form, and maybe the words of the library's own
 * algorithm for them. */
#include "contract/ways.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "contract/prepare.h"

enum { PASSES = 5, ALIKE = 2, COMBINED = 1 /* the word of an elementwise operation */ };

/* ------------------------------------------------------------------------------------------------------------------ list */

static void insert(cutt_way *list, int *count, const cutt_way *way) {
  if (!isfinite(way->seconds) || (*count == CUTT_MOST_WAYS && !(way->seconds < list[CUTT_MOST_WAYS - 1].seconds)))
    return;
  int at = *count < CUTT_MOST_WAYS ? (*count)++ : CUTT_MOST_WAYS - 1;
  for (; at > 0 && list[at - 1].seconds > way->seconds; --at) list[at] = list[at - 1];
  list[at] = *way;
}

/* Algorithms that permute the same tensors, both of them in blocks or not, are mostly as fast as each other: of those before
 * number i, how many are like it. */
static int alike(const cutt_algorithm_choice *list, int i) {
  int count = 0;
  for (int j = 0; j < i; ++j) {
    const cutt_cost *one = &list[i].cost, *other = &list[j].cost;
    const bool cut = one->result_blocks * one->k_blocks > 1, other_cut = other->result_blocks * other->k_blocks > 1;
    count += cut == other_cut &&
             memcmp(list[i].algorithm.packed, list[j].algorithm.packed, sizeof list[i].algorithm.packed) == 0;
  }
  return count;
}

typedef struct lists {
  cutt_pass_shape pass[PASSES];
  cutt_device_shape device[PASSES];
  cutt_algorithm_choice best[CUTT_LISTED_ALGORITHMS];
  cutt_way way;
} lists;

/* Of a plan whose sum is split so, if it is; more: seconds of adding up the parts. */
static cuttResult list_ways(const struct cuttContractionStruct *plan, int64_t limit, const cutt_split *split,
                            double more, cutt_way *list, int *count, lists *all) {
  const bool only_pass = plan->family == CUTT_FAMILY_PASS;
  all->way = (cutt_way){.split = *split};
  if (cutt_contraction_has_pass(plan) && cutt_contraction_on_gpu(plan)) {
    const int passes = cutt_device_pass_list(&plan->contraction, &plan->rates, limit, all->device, PASSES);
    for (int i = 0; i < passes; ++i) {
      all->way.one_pass = true;
      all->way.shape.along = -1;
      all->way.device = all->device[i];
      all->way.seconds = all->device[i].seconds + more;
      insert(list, count, &all->way);
    }
  } else if (cutt_contraction_has_pass(plan)) {
    const int passes = cutt_pass_list(&plan->contraction, &plan->rates, all->pass, PASSES);
    for (int i = 0; i < passes; ++i) {
      all->way.one_pass = true;
      all->way.shape = all->pass[i];
      all->way.seconds = all->pass[i].seconds;
      insert(list, count, &all->way);
    }
  }
  if (only_pass || !plan->blas) return CUTT_SUCCESS;
  int found = 0, looked = 0;
  const cuttResult result = cutt_algorithms_look(plan, limit, CUTT_LISTED_ALGORITHMS, all->best, &found, &looked);
  for (int i = 0; i < found && !result; ++i) {
    if (alike(all->best, i) >= ALIKE) continue;
    all->way.one_pass = false;
    all->way.choice = all->best[i];
    all->way.seconds = all->best[i].cost.seconds + more;
    insert(list, count, &all->way);
  }
  return result;
}

/* A copy of a plan whose sum is in parts, to ask of; it owns nothing. Errors: CUTT_INTERNAL_ERROR (memory). */
static cuttResult split_plan(const struct cuttContractionStruct *plan, const cutt_split *split,
                             struct cuttContractionStruct **made) {
  struct cuttContractionStruct *copy = *made = malloc(sizeof *copy);
  if (!copy) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to plan a contraction", sizeof *copy);
  *copy = *plan;
  cutt_split_products(&plan->contraction, split, &copy->contraction);
  return CUTT_SUCCESS;
}

/* Of sums in parts that may not take much longer than the fastest way. */
static cuttResult list_parts(const struct cuttContractionStruct *plan, int64_t limit, cutt_way *list, int *count,
                             lists *all) {
  static const double most_times = 1.25;
  cutt_split split[CUTT_MOST_SPLITS];
  const double below = *count ? most_times * list[0].seconds : INFINITY;
  const int splits = cutt_splits_list(&plan->contraction, &plan->rates, limit, below, split);
  cuttResult result = CUTT_SUCCESS;
  for (int i = 0; i < splits && !result; ++i) {
    struct cuttContractionStruct *copy = NULL;
    const int64_t left = limit - cutt_split_bytes(&plan->contraction, &split[i]);
    const double more = cutt_parts_seconds(&plan->contraction, &split[i], &plan->rates, left);
    if (!(more < below)) continue;
    result = split_plan(plan, &split[i], &copy);
    if (!result) result = list_ways(copy, left, &split[i], more, list, count, all);
    free(copy);
  }
  return result;
}

cuttResult cutt_ways_list(const struct cuttContractionStruct *plan, int64_t limit, cutt_way list[CUTT_MOST_WAYS],
                          int *count) {
  lists *all = calloc(1, sizeof *all);
  *count = 0;
  if (!all) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to plan a contraction", sizeof *all);
  cuttResult result = list_ways(plan, limit, &(cutt_split){0, 0}, 0, list, count, all);
  if (!result && cutt_contraction_on_gpu(plan) && cutt_contraction_has_pass(plan))
    result = list_parts(plan, limit, list, count, all);
  free(all);
  return result;
}

cuttResult cutt_way_take(struct cuttContractionStruct *plan, const cutt_way *way, int64_t limit) {
  if (way->split.parts) {
    const cuttResult split = cutt_contraction_take_parts(plan, &way->split, limit);
    if (split) return split;
  }
  if (way->one_pass)
    return cutt_contraction_on_gpu(plan) ? cutt_contraction_take_device_pass(plan, &way->device)
                                         : cutt_contraction_take_pass(plan, &way->shape);
  plan->algorithm = way->choice.algorithm;
  plan->cost = way->choice.cost;
  return cutt_contraction_take_products(plan, way->number ? &way->algorithm : NULL, limit);
}

/* ----------------------------------------------------------------------------------------------------------------- words */

/* One word of a library's own words. */
static void add_word(cutt_text *text, const char *words) {
  for (; *words; ++words) {
    const bool plain = *words > ' ' && *words <= '~' && *words != '=';
    cutt_text_add(text, "%c", plain ? *words : '_');
  }
}

void cutt_way_problem(const struct cuttContractionStruct *plan, int64_t limit, cutt_text *text) {
  const cutt_contraction *c = &plan->asked;
  static const char *const families[] = {"any", "one-pass", "ttgt"};
  const cutt_blas *blas = plan->family == CUTT_FAMILY_PASS ? NULL : plan->blas;
  cutt_text_add(text, "%s ", families[plan->family]);
  add_word(text, blas ? blas->name : "none");
  if (blas) cutt_text_add(text, "/");
  if (blas) add_word(text, blas->version);
  if (blas) cutt_text_add(text, "/");
  if (blas) add_word(text, blas->kernels);
  cutt_text_add(text, " %d %" PRId64 " %s %d %d %d %d %d %d", plan->threads, limit, c->type->name, c->conjugate[0],
                c->conjugate[1], c->alpha_is_one, c->beta_is_zero + 2 * c->beta_is_one, c->right_is_one,
                (int)c->reduce);
  for (int i = 0; i < c->modes; ++i) {
    const cutt_contract_mode *m = &c->mode[i];
    cutt_text_add(text, " %d:%" PRId64, (int)m->group, m->extent);
    for (int t = 0; t < CUTT_TENSORS; ++t) cutt_text_add(text, ":%" PRId64, m->stride[t]);
  }
}

static void add_words(const cutt_contraction *c, const cutt_way *way, cutt_text *text) {
  if (way->one_pass) {
    const bool device = way->device.number > 0;
    cutt_text_add(text, "one-pass %d %" PRId64, device ? -1 : way->shape.along,
                  device                ? (int64_t)way->device.number
                  : way->shape.combined ? (int64_t)COMBINED
                                        : way->shape.lines);
    return;
  }
  const cutt_algorithm *a = &way->choice.algorithm;
  cutt_text_add(text, "ttgt");
  for (int t = 0; t < CUTT_TENSORS; ++t) cutt_text_add(text, " %d", a->packed[t] ? 1 + (int)a->inner[t] : 0);
  cutt_text_add(text, " %d", a->n_outside);
  for (int role = 0; role < CUTT_INDEX_GROUPS; ++role) {
    cutt_text_add(text, " %d", a->kept[role]);
    for (int i = 0; i < a->kept[role]; ++i) cutt_text_add(text, " %d", a->index_group[role][i]);
  }
  for (int i = 0; i < c->modes; ++i) cutt_text_add(text, " %" PRId64, a->chunk[i]);
  for (int i = 0; i < CUTT_GEMM_WORDS && way->number; ++i) cutt_text_add(text, " %" PRIu32, way->algorithm.word[i]);
}

/* Has this done of what is left of a contraction by a way: where there is no memory for that, of the whole. */
static void of_products(const cutt_contraction *c, const cutt_way *way, cutt_text *text,
                        void (*add)(const cutt_contraction *, const cutt_way *, cutt_text *)) {
  cutt_contraction *products = way->split.parts ? malloc(sizeof *products) : NULL;
  if (products) cutt_split_products(c, &way->split, products);
  add(products ? products : c, way, text);
  free(products);
}

static const char parts_word[] = "parts";

void cutt_way_words(const cutt_contraction *c, const cutt_way *way, cutt_text *text) {
  if (way->split.parts) cutt_text_add(text, "%s %d %" PRId64 " ", parts_word, way->split.mode, way->split.parts);
  of_products(c, way, text, add_words);
}

/* ---------------------------------------------------------------------------------------------------------- reading words */

/* The next word, a whole number from low to high. */
static bool take(const char **at, int64_t low, int64_t high, int64_t *value) {
  int64_t number = 0;
  const char *c = *at;
  if (*c++ != ' ') return false;
  const bool negative = *c == '-';
  c += negative;
  const char *digits = c;
  for (; *c >= '0' && *c <= '9'; ++c)
    if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *c - '0', &number)) return false;
  if (c == digits || (*c && *c != ' ')) return false;
  *value = negative ? -number : number;
  *at = c;
  return *value >= low && *value <= high;
}

static bool take_int(const char **at, int low, int high, int *value) {
  int64_t number = 0;
  const bool good = take(at, low, high, &number);
  *value = (int)number;
  return good;
}

static bool read_algorithm(const cutt_contraction *c, bool together, const char *at, cutt_way *way) {
  cutt_algorithm *a = &way->choice.algorithm;
  bool used[CUTT_MOST_MODES] = {false};
  int number = 0;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    if (!take_int(&at, 0, CUTT_ROLE_K + 1, &number)) return false;
    a->packed[t] = number > 0;
    a->inner[t] = number ? (cutt_role)(number - 1) : cutt_tensor_roles[t][0];
    if (a->inner[t] != cutt_tensor_roles[t][0] && a->inner[t] != cutt_tensor_roles[t][1]) return false;
  }
  if (!take_int(&at, 0, 1, &number)) return false;
  a->n_outside = number == 1;
  a->together = together;
  for (int role = 0; role < CUTT_INDEX_GROUPS; ++role) {
    if (!take_int(&at, 0, c->modes, &a->kept[role])) return false;
    for (int i = 0; i < a->kept[role]; ++i) {
      int *mode = &a->index_group[role][i];
      if (!take_int(&at, 0, c->modes - 1, mode) || used[*mode] || cutt_mode_role(&c->mode[*mode]) != (cutt_role)role)
        return false;
      used[*mode] = true;
    }
  }
  for (int i = 0; i < c->modes; ++i)
    if (!take(&at, 1, c->mode[i].extent, &a->chunk[i])) return false;
  if (!*at) return true;
  way->number = 1; /* whichever it is in the list */
  for (int i = 0; i < CUTT_GEMM_WORDS; ++i) {
    int64_t word = 0;
    if (!take(&at, 0, UINT32_MAX, &word)) return false;
    way->algorithm.word[i] = (uint32_t)word;
  }
  return !*at;
}

/* Is the role's index group, as it is cut, contiguous in a tensor that is used in place? */
static bool is_contiguous(const cutt_contraction *c, const cutt_algorithm *a, cutt_role role, cutt_tensor t) {
  const cutt_contract_mode *last = NULL;
  bool whole = true; /* all modes so far are */
  for (int i = 0; i < a->kept[role]; ++i) {
    const int number = a->index_group[role][i];
    const cutt_contract_mode *mode = &c->mode[number];
    if (mode->stride[t] <= 0 || (!whole && a->chunk[number] > 1)) return false;
    if (last && mode->stride[t] != last->stride[t] * last->extent) return false;
    whole = whole && a->chunk[number] == mode->extent;
    last = mode;
  }
  return true;
}

/* Is it an algorithm that is right, and that a plan can be made of? */
static bool is_sound(const cutt_contraction *c, const cutt_algorithm *a) {
  int ragged = 0;
  for (int i = 0; i < c->modes; ++i) ragged += c->mode[i].extent % a->chunk[i] != 0;
  if (ragged > CUTT_MOST_RAGGED) return false;
  for (int t = 0; t < CUTT_TENSORS; ++t)
    for (int side = 0; side < 2 && !a->packed[t]; ++side)
      if (!is_contiguous(c, a, cutt_tensor_roles[t][side], (cutt_tensor)t)) return false;
  return true;
}

static const char *read_pass(const struct cuttContractionStruct *plan, const char *at, int64_t limit, cutt_way *way) {
  const cutt_contraction *c = &plan->contraction;
  int along = 0;
  int64_t lines = 0;
  if (!cutt_contraction_has_pass(plan)) return "one pass is not to be had here";
  if (!take_int(&at, -1, c->modes - 1, &along) || !take(&at, 0, 1024, &lines) || *at) return "its words can't be read";
  way->one_pass = true;
  if (cutt_contraction_on_gpu(plan)) {
    if (along >= 0 || lines > CUTT_DEVICE_PASS_NUMBERS) return "its words can't be read";
    way->shape.along = along;
    if (lines)
      cutt_device_pass_numbered(c, &plan->rates, limit, (int)lines, &way->device);
    else
      cutt_device_pass_choose(c, &plan->rates, limit, &way->device);
    way->seconds = way->device.seconds;
    return way->seconds < INFINITY ? NULL : "there is no such pass, or it has too many tiles";
  }
  const bool combined = along < 0 && lines == COMBINED;
  if (along < 0 && c->modes && !combined) return "its words can't be read";
  if (combined && !cutt_pass_shape_combined(c, &plan->rates, &way->shape)) return "it is no elementwise operation";
  if (lines == 0) cutt_pass_shape_of(c, &plan->rates, along, &way->shape);
  if (lines && !combined && !cutt_pass_shape_blocked(c, &plan->rates, along, lines, &way->shape))
    return "there are no rows to be computed in blocks";
  way->seconds = way->shape.seconds;
  return NULL;
}

static const char *read_way(const struct cuttContractionStruct *plan, const char *words, int64_t limit, cutt_way *way) {
  static const char pass[] = "one-pass", products[] = "ttgt";
  const cutt_contraction *c = &plan->contraction;
  if (strncmp(words, pass, sizeof pass - 1) == 0) return read_pass(plan, words + sizeof pass - 1, limit, way);
  if (strncmp(words, products, sizeof products - 1) != 0) return "its algorithm is not known";
  if (plan->family == CUTT_FAMILY_PASS || !plan->blas) return "there are no matrix products here";
  const cutt_algorithm *a = &way->choice.algorithm;
  if (!read_algorithm(c, plan->rates.gpu, words + sizeof products - 1, way)) return "its words can't be read";
  if (way->number && !plan->blas->choose) return "the library has no algorithms for products to be chosen from";
  if (!is_sound(c, a)) return "its matrices do not lie as they have to";
  cutt_cost_of(c, &plan->rates, a, &way->choice.cost);
  if (!isfinite(way->choice.cost.seconds)) return "it leaves no matrix product";
  if (way->choice.cost.workspace > limit) return "it needs more workspace than there may be";
  if (cutt_algorithm_look(plan, &way->choice)) return cuttLastError();
  way->seconds = way->choice.cost.seconds;
  return NULL;
}

/* A way of the parts of a sum. */
static const char *read_parts(const struct cuttContractionStruct *plan, const char *words, int64_t limit,
                              cutt_way *way) {
  const cutt_contraction *c = &plan->contraction;
  const char *at = words;
  if (!cutt_contraction_on_gpu(plan) || !cutt_contraction_has_pass(plan)) return "sums can't be done in parts here";
  if (!take_int(&at, 0, c->modes - 1, &way->split.mode) || !take(&at, 2, INT64_MAX, &way->split.parts) || *at != ' ')
    return "its words can't be read";
  if (!cutt_split_fits(c, &way->split)) return "its sum can't be done in such parts";
  const int64_t left = limit - cutt_split_bytes(c, &way->split);
  if (left < 0) return "it needs more workspace than there may be";
  const double more = cutt_parts_seconds(c, &way->split, &plan->rates, left);
  if (!(more < INFINITY)) return "there is no sum of such parts";
  struct cuttContractionStruct *copy = NULL;
  if (split_plan(plan, &way->split, &copy)) return cuttLastError();
  const char *why = read_way(copy, at + 1, left, way);
  free(copy);
  way->seconds += more;
  return why;
}

const char *cutt_way_read(const struct cuttContractionStruct *plan, const char *words, int64_t limit, cutt_way *way) {
  memset(way, 0, sizeof *way);
  const size_t length = sizeof parts_word - 1;
  return strncmp(words, parts_word, length) == 0 ? read_parts(plan, words + length, limit, way)
                                                 : read_way(plan, words, limit, way);
}

/* ---------------------------------------------------------------------------------------------------------------- a name */

static void add_name(const cutt_contraction *c, const cutt_way *way, cutt_text *text) {
  static const char letter[CUTT_TENSORS] = {'L', 'R', 'D'};
  if (way->one_pass) {
    const cutt_pass_shape *s = &way->shape;
    static const char *const kinds[CUTT_DEVICE_KINDS] = {
        "",          " by products",       " by panels",    " on tensor cores", " elementwise",
        " by tiles", " by small products", " by stretches", " in strips",       " by staged tiles"};
    const cutt_device_shape *d = &way->device;
    cutt_text_add(text, "one-pass%s", kinds[d->kind]);
    if (d->kind == CUTT_DEVICE_CORES) cutt_text_add(text, ", %s in tiles", d->core.streams_rows ? "rows" : "columns");
    if (d->kind == CUTT_DEVICE_STRIPS) cutt_text_add(text, ", %s in tiles", d->strip.streams_rows ? "rows" : "columns");
    for (int t = 0, first = 1; t < CUTT_TENSORS; ++t) {
      if (!cutt_device_is_moved(d->moved, (cutt_tensor)t)) continue;
      cutt_text_add(text, "%s%c", first ? ", permuting " : "", letter[t]);
      first = 0;
    }
    if (s->combined) cutt_text_add(text, " elementwise");
    if (s->along >= 0) cutt_text_add(text, " along %s", c->mode[s->along].name);
    if (s->blocked) cutt_text_add(text, ", blocks of %" PRId64 " lines", s->lines);
    return;
  }
  const cutt_algorithm *a = &way->choice.algorithm;
  const cutt_cost *cost = &way->choice.cost;
  int permuted = 0;
  cutt_text_add(text, "ttgt");
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (a->packed[t]) cutt_text_add(text, "%s%c", permuted++ ? "" : " permuting ", letter[t]);
  if (permuted == 0) cutt_text_add(text, " in place");
  static const char role_letter[CUTT_INDEX_GROUPS] = {'m', 'n', 'k'};
  for (int role = 0; role < CUTT_INDEX_GROUPS; ++role) {
    cutt_text_add(text, role ? ", %c" : "; %c", role_letter[role]);
    for (int i = 0; i < a->kept[role]; ++i)
      cutt_text_add(text, "%s%s", i ? "." : " ", c->mode[a->index_group[role][i]].name);
    if (a->kept[role] == 0) cutt_text_add(text, " -");
  }
  const int64_t blocks = cost->result_blocks * cost->k_blocks;
  if (blocks > 1) cutt_text_add(text, "; %" PRId64 " blocks", blocks);
  if (way->number) cutt_text_add(text, "; algorithm no. %d", way->number);
}

void cutt_way_name(const cutt_contraction *c, const cutt_way *way, cutt_text *text) {
  if (way->split.parts)
    cutt_text_add(text, "in %" PRId64 " parts of %s, ", way->split.parts, c->mode[way->split.mode].name);
  of_products(c, way, text, add_name);
}
