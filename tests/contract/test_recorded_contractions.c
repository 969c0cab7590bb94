/* The planner's choice of an algorithm, held to times that were measured: for some random contractions on one thread of a
 * machine, the times of the algorithms that are cheapest by the model, of their versions in blocks for the cache, and of a few
 * others are in data/recorded-contractions-*.json. What is chosen now for such a machine must have been among the fastest
 * there. Nothing is timed here, so this machine does not matter.
 *
 * Usage: test_recorded_contractions FOLDER, that of the records.
 *        CUTT_CALIBRATION=0 test_recorded_contractions record DEVICE COUNT >recorded-contractions-NAME.json
 * makes a record of COUNT contractions on this machine, which it calls DEVICE. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "contract/choose.h"
#include "cpu/cost.h"
#include "store/device_file.h"
#include "support/wisdom.h"
#include "try.h"

static const char *folder;

enum { NAME_BYTES = 512, MOST_RECORDED = 48 };

static const cutt_backend *cpu_backend(void) {
  for (const cutt_backend *const *b = cutt_backends; *b; ++b)
    if ((*b)->id == CUTT_BACKEND_CPU) return *b;
  fail_msg("there is no backend for the CPU");
  return NULL;
}

/* ------------------------------------------------------------------------------------------------------ what is recorded */

/* The rates that are numbers of one machine and contraction, or of the fit. */
static const struct {
  const char *name;
  size_t offset, count;
} rate[] = {
    {"flops", offsetof(cutt_rates, flops), 1},
    {"memory", offsetof(cutt_rates, memory), 1},
    {"fetch", offsetof(cutt_rates, product_fetch), 1},
    {"cache", offsetof(cutt_rates, cache), 1},
    {"call", offsetof(cutt_rates, call), 1},
    {"launch", offsetof(cutt_rates, launch), 1},
    {"run_start", offsetof(cutt_rates, run_start), 1},
    {"slow", offsetof(cutt_rates, slow), 4},
    {"small_slow", offsetof(cutt_rates, small_slow), 4},
    {"small", offsetof(cutt_rates, small), 1},
    {"transposed", offsetof(cutt_rates, transposed), 1},
    {"vector_share", offsetof(cutt_rates, vector_share), 1},
    {"vector_edge", offsetof(cutt_rates, vector_edge), 1},
    {"permute_scale", offsetof(cutt_rates, permute_scale), 1},
};
enum { RATES = sizeof rate / sizeof *rate };

/* An algorithm as text: which tensors are packed, by the role of the index group that comes first there; the modes of the
 * three index groups; the chunks of what is cut, and which loop over them is outside. */
static void name_of(const cutt_contraction *c, const cutt_algorithm *algorithm, char name[NAME_BYTES]) {
  static const char role[] = "mnkb";
  size_t length = 0;
  bool cut = false;
  for (int t = 0; t < CUTT_TENSORS; ++t) name[length++] = algorithm->packed[t] ? role[algorithm->inner[t]] : '-';
  for (int r = 0; r < CUTT_INDEX_GROUPS; ++r) {
    length += (size_t)snprintf(name + length, NAME_BYTES - length, " %c", role[r]);
    for (int i = 0; i < algorithm->kept[r]; ++i)
      length +=
          (size_t)snprintf(name + length, NAME_BYTES - length, "%s%d", i ? "." : "", algorithm->index_group[r][i]);
  }
  for (int i = 0; i < c->modes; ++i) {
    if (algorithm->chunk[i] == c->mode[i].extent) continue;
    length += (size_t)snprintf(name + length, NAME_BYTES - length, " %d:%lld", i, (long long)algorithm->chunk[i]);
    cut = true;
  }
  if (cut) snprintf(name + length, NAME_BYTES - length, " %s", algorithm->n_outside ? "n" : "m");
}

/* -------------------------------------------------------------------------------------------------------------- recording */

/* The linker passes calls of these two functions here (--wrap). If set: the algorithm that a plan gets instead of its choice. */
static const cutt_algorithm *forced;
/* If set: the device file that permutations are planned for. */
static const char *device;

cuttResult __real_cutt_algorithm_choose(struct cuttContractionStruct *plan, int64_t limit);
cuttResult __wrap_cutt_algorithm_choose(struct cuttContractionStruct *plan, int64_t limit);
cuttResult __wrap_cutt_algorithm_choose(struct cuttContractionStruct *plan, int64_t limit) {
  if (!forced) return __real_cutt_algorithm_choose(plan, limit);
  plan->algorithm = *forced;
  cutt_cost_of(&plan->contraction, &plan->rates, forced, &plan->cost);
  return CUTT_SUCCESS;
}

cuttResult __real_cuttPlanCreate(cuttPlan_t *plan, const cuttProblem_t *problem, const cuttOptions_t *options);
cuttResult __wrap_cuttPlanCreate(cuttPlan_t *plan, const cuttProblem_t *problem, const cuttOptions_t *options);
cuttResult __wrap_cuttPlanCreate(cuttPlan_t *plan, const cuttProblem_t *problem, const cuttOptions_t *options) {
  cuttOptions_t there = *options;
  if (device) there.device = device;
  return __real_cuttPlanCreate(plan, problem, &there);
}

typedef struct collection {
  const cutt_contraction *c;
  const cutt_rates *rates;
  test_rng rng;
  /* The cheapest, the cheapest first; and some of all, each as likely as the others. */
  cutt_algorithm_choice cheapest[16];
  cutt_algorithm some[6];
  int count, seen;
  cutt_algorithm list[MOST_RECORDED];
  int listed;
} collection;

static void list(collection *all, const cutt_algorithm *algorithm) {
  char name[NAME_BYTES], other[NAME_BYTES];
  name_of(all->c, algorithm, name);
  for (int i = 0; i < all->listed; ++i) {
    name_of(all->c, &all->list[i], other);
    if (strcmp(name, other) == 0) return;
  }
  if (all->listed < MOST_RECORDED) all->list[all->listed++] = *algorithm;
}

static void collect(void *data, const cutt_algorithm *algorithm) {
  collection *all = data;
  const int most = sizeof all->cheapest / sizeof *all->cheapest, some = sizeof all->some / sizeof *all->some;
  cutt_cost cost;
  cutt_cost_of(all->c, all->rates, algorithm, &cost);
  if (!isfinite(cost.seconds)) return;
  const int64_t place = test_random_in(&all->rng, 0, all->seen++);
  if (place < some) all->some[all->seen <= some ? all->seen - 1 : place] = *algorithm;
  int at = all->count < most ? all->count++ : most;
  for (; at > 0 && all->cheapest[at - 1].cost.seconds > cost.seconds; --at)
    if (at < most) all->cheapest[at] = all->cheapest[at - 1];
  if (at < most) all->cheapest[at] = (cutt_algorithm_choice){*algorithm, cost};
}

/* What was chosen, what else is among the best, and what collect finds, whole and in blocks. */
static bool collect_all(const struct cuttContractionStruct *chosen, collection *all) {
  cutt_algorithm_choice best[CUTT_BEST_ALGORITHMS];
  int count = 0;
  *all = (collection){.c = &chosen->contraction, .rates = &chosen->rates, .rng = {7}};
  list(all, &chosen->algorithm);
  if (cutt_algorithms_best(all->c, all->rates, INT64_MAX, best, &count)) return false;
  for (int i = 0; i < count; ++i) list(all, &best[i].algorithm);
  if (cutt_algorithms_enumerate(all->c, all->rates->gpu, collect, all)) return false;
  for (int i = 0; i < all->count; ++i) {
    cutt_algorithm_choice cut = all->cheapest[i];
    list(all, &cut.algorithm);
    int64_t costings = cutt_most_costings(all->c);
    if (i < 8 && cut.cost.workspace &&
        cutt_cut(all->c, all->rates, INT64_MAX, all->rates->cache_bytes, &costings, &cut.algorithm, &cut.cost))
      list(all, &cut.algorithm);
  }
  const int some = sizeof all->some / sizeof *all->some;
  for (int i = 0; i < (all->seen < some ? all->seen : some); ++i) {
    cutt_cost cost;
    cutt_cost_of(all->c, all->rates, &all->some[i], &cost);
    if (cost.seconds < 20 * all->cheapest[0].cost.seconds) list(all, &all->some[i]);
  }
  return true;
}

/* Is it one to record: not tiny nor long, nothing summed beforehand, and a choice to be made? */
static bool is_wanted(const test_contraction *drawn, const cutt_contraction *c) {
  int64_t largest = 0;
  if (c->empty || c->no_terms || c->modes < 4 || test_contraction_products(drawn) < 3000000) return false;
  for (int i = 0; i < c->modes; ++i)
    if (c->mode[i].group == CUTT_GROUP_SUM_L || c->mode[i].group == CUTT_GROUP_SUM_R) return false;
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (c->volume[t] > largest) largest = c->volume[t];
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (test_contraction_volume(drawn, t) > 3000000) return false;
  return largest >= 300000 && largest <= 3000000;
}

/* The least of a few runs, and of one where that is known to be slow; 0 after an error. */
static double seconds_of(const test_fields *f, const cutt_algorithm *algorithm, void *const *memory, double fastest) {
  enum { RUNS = 3 };
  cuttContractionPlan_t plan = NULL;
  cuttContractionTimes_t times[RUNS];
  double least = INFINITY;
  forced = algorithm;
  cuttResult result = cuttContractionPlanCreate(&plan, &f->contraction, &f->options);
  forced = NULL;
  for (int runs = 1; runs <= RUNS && !result; runs += RUNS - 1) {
    if (runs > 1 && least > 4 * fastest) break;
    result = cuttContractionTime(plan, memory[0], memory[1], memory[2], NULL, 0, NULL, runs, times);
    for (int i = 0; i < runs && !result; ++i) least = fmin(least, times[i].total);
  }
  cuttContractionPlanDestroy(plan);
  return result ? 0 : least;
}

/* All of them, several times over, so that what disturbs the machine for a while does not stay with one. */
static bool time_all(const test_fields *f, const collection *all, void *const *memory, double seconds[MOST_RECORDED]) {
  enum { ROUNDS = 3 };
  double fastest = INFINITY;
  for (int i = 0; i < all->listed; ++i) seconds[i] = INFINITY;
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < all->listed; ++i) {
      if (round > 0 && seconds[i] > 4 * fastest) continue;
      const double now = seconds_of(f, &all->list[i], memory, fastest);
      if (now == 0) return false;
      seconds[i] = fmin(seconds[i], now);
      fastest = fmin(fastest, now);
    }
  }
  return true;
}

static void fill(cuttType_t type, void *memory, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (type == CUTT_F64)
      ((double *)memory)[i] = 0.5 + (double)(i % 997) / 1994;
    else
      ((float *)memory)[i] = 0.5f + (float)(i % 997) / 1994;
  }
}

static bool record_one(const test_contraction *drawn, const test_fields *f, bool first) {
  cuttContractionPlan_t plan = NULL;
  void *memory[CUTT_TENSORS] = {NULL, NULL, NULL};
  bool done = true;
  for (int t = 0; t < CUTT_TENSORS && done; ++t) {
    int64_t low, high;
    test_contraction_span(drawn, t, &low, &high);
    done = !cuttMemoryAllocate(CUTT_BACKEND_CPU, (size_t)high * test_type_bytes(drawn->type), &memory[t]);
    if (done) fill(drawn->type, memory[t], high);
  }
  collection *all = calloc(1, sizeof *all);
  double seconds[MOST_RECORDED];
  done = done && all && !cuttContractionPlanCreate(&plan, &f->contraction, &f->options) && collect_all(plan, all) &&
         time_all(f, all, memory, seconds);
  if (done) {
    printf("%s  {\"pattern\": \"%s\", \"type\": \"%s\", \"extents\": [", first ? "" : ",\n", drawn->pattern,
           drawn->type == CUTT_F64 ? "f64" : "f32");
    for (int i = 0; i < drawn->is.labels; ++i) printf("%s%lld", i ? ", " : "", (long long)drawn->extent[i]);
    printf("],\n   \"rates\": {\"cache_bytes\": %lld", (long long)plan->rates.cache_bytes);
    for (int i = 0; i < RATES; ++i) {
      const double *value = (const double *)(const void *)((const char *)&plan->rates + rate[i].offset);
      printf(", \"%s\": %s", rate[i].name, rate[i].count > 1 ? "[" : "");
      for (size_t j = 0; j < rate[i].count; ++j) printf("%s%.6g", j ? ", " : "", value[j]);
      if (rate[i].count > 1) printf("]");
    }
    printf("},\n   \"algorithms\": [\n");
    for (int i = 0; i < all->listed; ++i) {
      char name[NAME_BYTES];
      name_of(all->c, &all->list[i], name);
      printf("%s    [\"%s\", %.1f]", i ? ",\n" : "", name, seconds[i] * 1e6);
    }
    printf("]}");
  }
  cuttContractionPlanDestroy(plan);
  free(all);
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (memory[t]) cuttMemoryFree(CUTT_BACKEND_CPU, memory[t]);
  return done;
}

static int record(const char *name, int count) {
  const cutt_schema *schema = cpu_backend()->schema;
  const cutt_target *target = cpu_backend()->runtime->target();
  test_rng rng = {20260601};
  printf("{\n \"device\": {\"name\": \"%s\"", name);
  for (int i = 0; i < schema->property_count; ++i)
    printf(", \"%s\": %.17g", schema->properties[i].name, cutt_property_value(&schema->properties[i], target));
  printf("},\n \"columns\": [\"algorithm\", \"microseconds\"],\n \"contractions\": [\n");
  for (int done = 0; done < count;) {
    test_contraction drawn;
    cutt_contraction c;
    test_fields f;
    test_contraction_draw(&rng, 6, 60000000, &drawn);
    drawn.type = test_chance(&rng, 50) ? CUTT_F64 : CUTT_F32;
    snprintf(drawn.algorithm, sizeof drawn.algorithm, "ttgt");
    test_contraction_view(&drawn, &f);
    if (cutt_contraction_check(&f.contraction, &c) || !is_wanted(&drawn, &c)) continue;
    if (!record_one(&drawn, &f, done == 0)) {
      fprintf(stderr, "%s: %s\n", drawn.pattern, cuttLastError());
      return 1;
    }
    ++done;
  }
  printf("\n ]\n}\n");
  return 0;
}

/* --------------------------------------------------------------------------------------------------------------- judging */

static double number(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_number(value)) fail_msg("the record has no number %s", key);
  return json_number_value(value);
}

/* Writes a device file with the recorded machine's properties and the parameters that are built in. */
static void write_device(const json_t *record, cutt_cpu_core core) {
  const cutt_schema *schema = cpu_backend()->schema;
  cutt_target *target = calloc(1, schema->bytes);
  assert_non_null(target);
  snprintf(target->name, sizeof target->name, "%s", "recorded");
  target->value = cutt_cpu_values_of(core);
  for (int i = 0; i < schema->property_count; ++i) {
    const cutt_property *property = &schema->properties[i];
    const double value = number(json_object_get(record, "device"), property->name);
    void *field = cutt_property_field(property, target);
    if (property->kind == CUTT_PROPERTY_INT) *(int *)field = (int)value;
    if (property->kind == CUTT_PROPERTY_INT64) *(int64_t *)field = (int64_t)value;
    if (property->kind == CUTT_PROPERTY_REAL) *(double *)field = value;
  }
  assert_success(cutt_device_file_write(wisdom_path, schema, "recorded", target, NULL));
  free(target);
}

static void read_contraction(const json_t *recorded, cutt_contraction *c) {
  const json_t *extents = json_object_get(recorded, "extents");
  const char *type = json_string_value(json_object_get(recorded, "type"));
  const char *pattern = json_string_value(json_object_get(recorded, "pattern"));
  test_contraction read;
  test_fields f;
  assert_true(type && pattern);
  assert_true(test_contraction_make(pattern, strcmp(type, "f64") == 0 ? CUTT_F64 : CUTT_F32, &read));
  assert_int_equal(json_array_size(extents), read.is.labels);
  for (int i = 0; i < read.is.labels; ++i) read.extent[i] = json_integer_value(json_array_get(extents, (size_t)i));
  test_contraction_finish(&read);
  test_contraction_view(&read, &f);
  assert_success(cutt_contraction_check(&f.contraction, c));
}

static void read_rates(const json_t *recorded, cutt_rates *rates) {
  const json_t *from = json_object_get(recorded, "rates");
  *rates = (cutt_rates){.threads = 1, .cache_bytes = (int64_t)number(from, "cache_bytes")};
  for (int i = 0; i < RATES; ++i) {
    double *value = (double *)(void *)((char *)rates + rate[i].offset);
    if (rate[i].count == 1) value[0] = number(from, rate[i].name);
    for (size_t j = 0; rate[i].count > 1 && j < rate[i].count; ++j)
      value[j] = json_number_value(json_array_get(json_object_get(from, rate[i].name), j));
  }
}

/* The seconds that were measured for an algorithm; 0: it was not timed. *fastest: of all that were. */
static double measured(const json_t *algorithms, const cutt_contraction *c, const cutt_algorithm *algorithm,
                       double *fastest) {
  char wanted[NAME_BYTES];
  double found = 0;
  name_of(c, algorithm, wanted);
  *fastest = INFINITY;
  for (size_t i = 0; i < json_array_size(algorithms); ++i) {
    const json_t *row = json_array_get(algorithms, i);
    const char *name = json_string_value(json_array_get(row, 0));
    const double seconds = 1e-6 * json_number_value(json_array_get(row, 1));
    assert_true(name && seconds > 0);
    *fastest = fmin(*fastest, seconds);
    if (name && strcmp(name, wanted) == 0) found = seconds;
  }
  return found;
}

/* The time of what is chosen over that of the fastest; 0: neither it nor any of the best was timed. */
static double judge(const json_t *recorded, bool *is_first) {
  struct cuttContractionStruct *plan = calloc(1, sizeof *plan);
  cutt_algorithm_choice best[CUTT_BEST_ALGORITHMS];
  const json_t *algorithms = json_object_get(recorded, "algorithms");
  int count = 0;
  double fastest;
  assert_non_null(plan);
  read_contraction(recorded, &plan->contraction);
  read_rates(recorded, &plan->rates);
  plan->backend = cpu_backend();
  plan->threads = 1;
  assert_success(cutt_algorithm_choose(plan, INT64_MAX));
  double seconds = measured(algorithms, &plan->contraction, &plan->algorithm, &fastest);
  *is_first = seconds > 0;
  assert_success(cutt_algorithms_best(&plan->contraction, &plan->rates, INT64_MAX, best, &count));
  for (int i = 0; i < count && seconds == 0; ++i)
    seconds = measured(algorithms, &plan->contraction, &best[i].algorithm, &fastest);
  free(plan);
  return seconds / fastest;
}

/* The contractions of a record whose predicted permutations were scaled by a measured one, or those of smaller tensors, for which
 * none is timed; and how far the choice may be from the fastest that was timed: in the worst case, and in the (geometric)
 * mean. */
static void hold(const char *name, cutt_cpu_core core, bool scaled, size_t contractions, double most_worst,
                 double most_mean) {
  char path[1024];
  json_error_t error;
  double worst = 0, logs = 0;
  size_t judged = 0, first = 0, taken = 0;
  snprintf(path, sizeof path, "%s/recorded-contractions-%s.json", folder, name);
  json_t *record = json_load_file(path, 0, &error);
  if (!record) fail_msg("%s: %s", path, error.text);
  const json_t *all = json_object_get(record, "contractions");
  write_device(record, core);
  device = wisdom_path;
  for (size_t i = 0; i < json_array_size(all); ++i) {
    const json_t *recorded = json_array_get(all, i);
    bool is_first = false;
    if (scaled != (number(json_object_get(recorded, "rates"), "permute_scale") != 1)) continue;
    ++taken;
    const double over = judge(recorded, &is_first);
    if (over == 0) continue; /* the planner has changed, and can't be judged by this */
    if (over > most_worst)
      print_message("%s: %.3f times the fastest\n", json_string_value(json_object_get(recorded, "pattern")), over);
    ++judged;
    first += is_first;
    worst = fmax(worst, over);
    logs += log(over);
  }
  device = NULL;
  remove(wisdom_path);
  json_decref(record);
  assert_int_equal(taken, contractions);
  if (judged < contractions * 9 / 10)
    fail_msg("%s: %zu of %zu choices were timed: record anew", name, judged, contractions);
  const double mean = exp(logs / (double)judged);
  print_message(
      "%s: %zu contractions (of %zu the choice itself was timed), its time over the fastest's: mean %.3f, worst "
      "%.3f\n",
      name, judged, first, mean, worst);
  if (worst > most_worst || mean > most_mean)
    fail_msg("%s: the choices have become worse than mean %.2f, worst %.2f", name, most_mean, most_worst);
}

/* The bars are what the planner does today, and a little: they are no claim that this is good. Large tensors have the larger
 * differences: where one is transposed from short runs, blocks in the caches or other tensors in place are faster than
 * predicted. */
static void choices_for_small_tensors(void **unused) {
  (void)unused;
  hold("xeon", CUTT_CPU_CORE_OTHER, false, 17, 1.5, 1.1);
}

static void choices_for_large_tensors(void **unused) {
  (void)unused;
  hold("xeon", CUTT_CPU_CORE_OTHER, true, 13, 2.4, 1.22);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(choices_for_small_tensors),
                                     cmocka_unit_test(choices_for_large_tensors)};
  if (argc == 4 && strcmp(argv[1], "record") == 0) return record(argv[2], atoi(argv[3]));
  if (argc != 2) {
    fprintf(stderr, "usage: test_recorded_contractions FOLDER | record DEVICE COUNT\n");
    return 2;
  }
  folder = argv[1];
  return cmocka_run_group_tests_name("recorded contractions", tests, wisdom_open_folder, wisdom_close_folder);
}
