/* Wisdom to try things on. */
#include "support/wisdom.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/wisdom.h"
#include "support/buffers.h"
#include "support/reference.h"

char wisdom_folder[64], wisdom_path[128], wisdom_other_path[128];

/* Problems that differ in everything that a key may hold. */
static test_problem problem(int number) {
  static const int64_t extents[WISDOM_PROBLEMS][4] = {{7, 30, 12, 5}, {2, 9, 40, 3}, {33, 17, 1, 6}, {16, 16, 16, 2}};
  static const int perms[WISDOM_PROBLEMS][4] = {{3, 1, 0, 2}, {2, 0, 3, 1}, {1, 0, 2, 3}, {3, 2, 1, 0}};
  static const cuttType_t types[WISDOM_PROBLEMS] = {CUTT_BYTES_4, CUTT_BYTES_1, CUTT_F64, CUTT_BYTES_16};
  test_problem p = test_packed(types[number], 4, extents[number], perms[number]);
  if (number == 2) {
    p.has_beta = true;
    p.beta.f64[0] = 0.5;
  }
  return p;
}

cuttPlan_t wisdom_plan(cuttWisdom_t wisdom, int number, cuttChoice_t choice) {
  const test_problem p = problem(number);
  const cuttProblem_t view = test_problem_view(&p);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  cuttPlan_t plan;
  options.threads = 1 + number % 2;
  options.choice = choice;
  options.measure_seconds = 0.01;
  options.wisdom = wisdom;
  assert_success(cuttPlanCreate(&plan, &view, &options));
  return plan;
}

void wisdom_learn(cuttWisdom_t wisdom, int number) {
  assert_success(cuttPlanDestroy(wisdom_plan(wisdom, number, CUTT_MEASURE)));
}

/* Does wisdom know the problem? A plan made with it must be right either way. */
bool wisdom_knows(cuttWisdom_t wisdom, int number) {
  cuttPlan_t plan = wisdom_plan(wisdom, number, CUTT_PREDICT);
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  assert_success(cuttPlanGetInfo(plan, &info));
  const test_problem p = problem(number);
  const size_t bytes = (size_t)test_volume(&p) * test_type_bytes(p.type);
  unsigned char *in = malloc(bytes), *out = malloc(bytes), *expected = malloc(bytes);
  assert_non_null(in);
  assert_non_null(out);
  assert_non_null(expected);
  test_fill_values(in, bytes, p.type, 1);
  test_fill_values(out, bytes, p.type, 2);
  memcpy(expected, out, bytes);
  test_reference(&p, in, expected);
  assert_success(cuttPlanExecute(plan, in, out, NULL));
  test_same_nans(&p, expected, out);
  assert_memory_equal(out, expected, bytes);
  free(in);
  free(out);
  free(expected);
  assert_success(cuttPlanDestroy(plan));
  return info.measured_seconds > 0.0;
}

cuttWisdom_t wisdom_fresh(void) {
  cuttWisdom_t wisdom;
  assert_success(cuttWisdomCreate(&wisdom));
  return wisdom;
}

cuttWisdom_t wisdom_learned(void) {
  cuttWisdom_t wisdom = wisdom_fresh();
  for (int i = 0; i < WISDOM_PROBLEMS; i++) wisdom_learn(wisdom, i);
  return wisdom;
}

char *wisdom_read_file(const char *name, size_t *size) {
  FILE *file = fopen(name, "rb");
  assert_non_null(file);
  char *text = calloc(1, 100000);
  assert_non_null(text);
  *size = fread(text, 1, 99999, file);
  fclose(file);
  return text;
}

void wisdom_write_file(const char *name, const void *text, size_t size) {
  FILE *file = fopen(name, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, size, file), size);
  fclose(file);
}

/* The bytes of a file that all problems were learned into. */
char *wisdom_saved(size_t *size) {
  cuttWisdom_t wisdom = wisdom_learned();
  assert_success(cuttWisdomSave(wisdom, wisdom_path));
  assert_success(cuttWisdomDestroy(wisdom));
  return wisdom_read_file(wisdom_path, size);
}

/* Lines are the header, comments, blank, or entries. */
bool wisdom_is_entry(const char *line) {
  return *line && *line != '#' && *line != '\n' && strncmp(line, "cutt wisdom", 11) != 0;
}

/* Calls fix for every entry's text (behind the checksum), then makes the checksums right again. */
char *wisdom_edited(const char *text, void (*fix)(char *entry, size_t room, void *context), void *context) {
  char *result = calloc(1, 200000), *to = result;
  assert_non_null(result);
  while (*text) {
    const size_t length = strcspn(text, "\n");
    if (!wisdom_is_entry(text)) {
      memcpy(to, text, length);
      to += length;
    } else {
      char entry[8192] = "";
      assert_true(length > WISDOM_CHECKSUM && length < sizeof entry / 2);
      memcpy(entry, text + WISDOM_CHECKSUM, length - WISDOM_CHECKSUM);
      fix(entry, sizeof entry, context);
      to += sprintf(to, "%016" PRIx64 " %s", cutt_wisdom_hash(entry, strlen(entry)), entry);
    }
    text += length;
    if (*text == '\n') *to++ = *text++;
  }
  return result;
}

void wisdom_assert_load(cuttWisdom_t wisdom, const char *name, size_t used, size_t ignored) {
  size_t got_used = 99, got_ignored = 99;
  assert_success(cuttWisdomLoad(wisdom, name, &got_used, &got_ignored));
  assert_int_equal(got_used, used);
  assert_int_equal(got_ignored, ignored);
}

int wisdom_open_folder(void **unused) {
  (void)unused;
  snprintf(wisdom_folder, sizeof wisdom_folder, "/tmp/cutt-wisdom-XXXXXX");
  if (!mkdtemp(wisdom_folder)) return 1;
  snprintf(wisdom_path, sizeof wisdom_path, "%s/wisdom", wisdom_folder);
  snprintf(wisdom_other_path, sizeof wisdom_other_path, "%s/other", wisdom_folder);
  return 0;
}

int wisdom_empty_folder(void **unused) {
  (void)unused;
  unlink(wisdom_path);
  unlink(wisdom_other_path);
  return 0;
}

int wisdom_close_folder(void **unused) {
  (void)unused;
  unlink(wisdom_path);
  unlink(wisdom_other_path);
  return rmdir(wisdom_folder);
}

/* Puts a text in the place of length bytes at `at`, in an entry that has so much room. */
void wisdom_put(char *entry, size_t room, char *at, size_t length, const char *text) {
  const size_t rest = strlen(at + length) + 1, wide = strlen(text);
  assert_true((size_t)(at - entry) + wide + rest <= room);
  memmove(at + wide, at + length, rest);
  memcpy(at, text, wide);
}
