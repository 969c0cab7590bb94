/* Device files: what is written is read again to the last bit, whatever the locale; a file that is wrong anywhere is
 * refused and named; and what planning does with the files that it finds. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plan/described.h"
#include "plan/plan.h"
#include "store/device_file.h"
#include "support/wisdom.h"

static const char key[] = "some-device-1.5";

static const cutt_backend *backend_named(const char *name) {
  for (const cutt_backend *const *b = cutt_backends; *b; b++) {
    if (strcmp((*b)->name, name) == 0) return *b;
  }
  fail_msg("there is no backend %s", name);
  return NULL;
}

static double draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

/* A device of a backend with properties and values drawn at random; to be freed, and so is its value. */
static cutt_target *some_device(const cutt_schema *schema, uint64_t seed) {
  cutt_target *target = calloc(1, schema->bytes);
  double *value = calloc((size_t)schema->parameter_count, sizeof *value);
  assert_non_null(target);
  assert_non_null(value);
  snprintf(target->name, sizeof target->name, "Some Device, No. %d (%s)", (int)seed, schema->backend);
  for (int i = 0; i < schema->parameter_count; i++) value[i] = draw(&seed) * pow(10, 20 * draw(&seed) - 10);
  if (schema->parameter_count > 1) value[1] = 0;
  for (int i = 0; i < schema->property_count; i++) {
    const cutt_property *property = &schema->properties[i];
    void *at = (char *)target + property->offset;
    const double real = property->least + (property->most - property->least) * draw(&seed);
    const int64_t wide = (int64_t)real;
    const int whole = real > 2e9 ? 2000000000 : (int)real;
    if (property->kind == CUTT_PROPERTY_INT) memcpy(at, &whole, sizeof whole);
    if (property->kind == CUTT_PROPERTY_INT64) memcpy(at, &wide, sizeof wide);
    if (property->kind == CUTT_PROPERTY_REAL) memcpy(at, &real, sizeof real);
  }
  target->value = value;
  return target;
}

static void free_device(cutt_target *target) {
  free((void *)(uintptr_t)target->value);
  free(target);
}

static void assert_same_numbers(const cutt_schema *schema, const cutt_target *a, const cutt_target *b) {
  for (int i = 0; i < schema->property_count; i++) {
    assert_true(cutt_property_value(&schema->properties[i], a) == cutt_property_value(&schema->properties[i], b));
  }
  for (int i = 0; i < schema->parameter_count; i++) assert_true(a->value[i] == b->value[i]);
}

static void round_trip(uint64_t seeds) {
  for (const cutt_backend *const *b = cutt_backends; *b; b++) {
    for (uint64_t seed = 1; seed <= seeds; seed++) {
      cutt_target *device = some_device((*b)->schema, seed), *again = NULL;
      const cutt_backend *backend = NULL;
      char found[CUTT_DEVICE_KEY_BYTES];
      assert_success(cutt_device_file_write(wisdom_path, (*b)->schema, key, device,
                                            seed % 2 ? "# one line\n# and another = 7\n" : NULL));
      assert_success(cutt_device_file_read(wisdom_path, &backend, &again, found));
      assert_ptr_equal(backend, *b);
      assert_string_equal(found, key);
      assert_string_equal(again->name, device->name);
      assert_string_equal(again->source, wisdom_path);
      assert_same_numbers((*b)->schema, device, again);
      free(again);
      free_device(device);
    }
  }
}

static void comes_back(void **unused) {
  (void)unused;
  round_trip(50);
}

static void in_any_locale(void **unused) {
  (void)unused;
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "de_DE", "fr_FR"};
  bool found = false;
  for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++) found = setlocale(LC_ALL, names[i]) != NULL;
  if (!found) skip(); /* this system has no locale with a decimal comma */
  char text[16];
  snprintf(text, sizeof text, "%.1f", 1.5);
  assert_string_equal(text, "1,5");
  round_trip(5);
  setlocale(LC_ALL, "C");
}

/* The overlay's values live as long as the process; so that this is no leak, somebody must know them. */
static const double *kept[8];
static int kept_count;
static void keep_values(const cutt_target *device) {
  assert_true(kept_count < 8);
  kept[kept_count++] = device->value;
}

/* The bytes of a good file of the CPU's; to be freed. */
static char *good_file(size_t *size) {
  const cutt_schema *schema = backend_named("cpu")->schema;
  cutt_target *device = some_device(schema, 5);
  assert_success(cutt_device_file_write(wisdom_path, schema, key, device, "# a comment\n"));
  free_device(device);
  return wisdom_read_file(wisdom_path, size);
}

static cuttResult read_text(const char *text, size_t size) {
  const cutt_backend *backend = NULL;
  cutt_target *target = NULL;
  char found[CUTT_DEVICE_KEY_BYTES];
  wisdom_write_file(wisdom_path, text, size);
  const cuttResult result = cutt_device_file_read(wisdom_path, &backend, &target, found);
  if (result) {
    assert_int_equal(result, CUTT_INVALID_PARAMETER);
    assert_non_null(strstr(cuttLastError(), wisdom_path));
  }
  free(target);
  return result;
}

static void cut_off_anywhere(void **unused) {
  (void)unused;
  size_t size;
  char *text = good_file(&size);
  for (size_t cut = 0; cut < size; cut++) {
    if (cut == size - 1) assert_success(read_text(text, cut)); /* only the last line end is missing */
    if (cut < size - 1) assert_int_equal(read_text(text, cut), CUTT_INVALID_PARAMETER);
  }
  free(text);
}

/* Whatever byte it is: an error with a path, or a file that is as good. */
static void every_byte_damaged(void **unused) {
  (void)unused;
  size_t size;
  char *text = good_file(&size);
  static const char with[] = {0, '\n', ' ', '9', '-', '\t', (char)0xff};
  for (size_t at = 0; at < size; at++) {
    const char old = text[at];
    text[at] = with[at % sizeof with];
    (void)read_text(text, size);
    text[at] = old;
  }
  assert_success(read_text(text, size));
  free(text);
}

/* The file with the text `old` (once, the first) replaced, is refused with these words. */
static void refused(const char *text, const char *old, const char *with, const char *word, const char *other) {
  const char *at = strstr(text, old);
  assert_non_null(at);
  const size_t size = strlen(text) + strlen(with) + 1;
  char *changed = malloc(size);
  assert_non_null(changed);
  snprintf(changed, size, "%.*s%s%s", (int)(at - text), text, with, at + strlen(old));
  assert_result(CUTT_INVALID_PARAMETER, read_text(changed, strlen(changed)), word, other);
  free(changed);
}

static void every_line_lost_or_doubled(void **unused) {
  (void)unused;
  size_t size;
  char *text = good_file(&size), *changed = calloc(1, 2 * size + 2);
  assert_non_null(changed);
  for (char *line = text; *line; line += strcspn(line, "\n") + 1) {
    const size_t length = strcspn(line, "\n") + 1, before = (size_t)(line - text);
    memcpy(changed, text, before);
    memcpy(changed + before, line + length, size - before - length);
    const cuttResult lost = read_text(changed, size - length);
    memcpy(changed, text, before + length);
    memcpy(changed + before + length, line, size - before);
    const cuttResult doubled = read_text(changed, size + length);
    const bool may_lack = *line == '#' || strncmp(line, "parameter ", 10) == 0;
    assert_int_equal(lost, may_lack ? CUTT_SUCCESS : CUTT_INVALID_PARAMETER);
    assert_int_equal(doubled, *line == '#' ? CUTT_SUCCESS : CUTT_INVALID_PARAMETER);
  }
  free(changed);
  free(text);
}

/* text without the lines that begin with one of two words. */
static size_t without_lines(char *text, const char *word, const char *other) {
  char *to = text;
  for (char *line = text; *line;) {
    const size_t length = strcspn(line, "\n") + 1;
    if (strncmp(line, word, strlen(word)) != 0 && strncmp(line, other, strlen(other)) != 0) {
      memmove(to, line, length);
      to += length;
    }
    line += length;
  }
  *to = 0;
  return (size_t)(to - text);
}

/* What the file does not have is built in, or where it is the device at hand's, that device's; all else is the file's. */
static void files_of_earlier_versions(void **unused) {
  (void)unused;
  const cutt_schema *schema = backend_named("cpu")->schema;
  size_t size;
  char *text = good_file(&size), found[CUTT_DEVICE_KEY_BYTES];
  cutt_target *file = some_device(schema, 5), *device = some_device(schema, 100), *target = NULL;
  const cutt_backend *backend = NULL;
  const double *own = device->value;
  size_t left = without_lines(text, "parameter memory.along", "parameter l2.joins");
  assert_true(left < size);
  wisdom_write_file(wisdom_path, text, left);
  assert_success(cutt_device_file_read(wisdom_path, &backend, &target, found));

  left = without_lines(text, "property byte_permutes", "property byte_permutes");
  assert_result(CUTT_INVALID_PARAMETER, read_text(text, left), "byte_permutes", "missing");
  assert_int_equal(setenv("CUTT_CALIBRATION", wisdom_path, 1), 0);
  cutt_device_file_overlay(schema, key, device);
  assert_success(cutt_device_file_check(device));
  assert_ptr_not_equal(device->value, own);
  int lacking = 0;
  for (int i = 0; i < schema->parameter_count; i++) {
    const char *name = schema->parameters[i].name;
    const bool lacks = strncmp(name, "memory.along", 12) == 0 || strcmp(name, "l2.joins") == 0;
    assert_true(target->value[i] == (lacks ? schema->value : file->value)[i]);
    assert_true(device->value[i] == (lacks ? own : file->value)[i]);
    lacking += lacks;
  }
  assert_int_equal(lacking, 5);
  for (int i = 0; i < schema->property_count; i++) {
    const cutt_property *property = &schema->properties[i];
    const bool lacks = strcmp(property->name, "byte_permutes") == 0;
    cutt_target *before = some_device(schema, 100);
    assert_true(cutt_property_value(property, device) == cutt_property_value(property, lacks ? before : file));
    free_device(before);
  }
  assert_int_equal(unsetenv("CUTT_CALIBRATION"), 0);
  keep_values(device);
  device->value = own;
  free_device(device);
  free_device(file);
  free(target);
  free(text);
}

static void every_number_wrong(void **unused) {
  (void)unused;
  size_t size;
  char *text = good_file(&size);
  static const char *const wrong[] = {"nan", "inf", "-1", "0x10", "1,5", "1e999", "", "+1", "1 1", ".", "1e", "--1"};
  for (char *line = text; *line; line += strcspn(line, "\n") + 1) {
    if (strncmp(line, "property ", 9) != 0 && strncmp(line, "parameter ", 10) != 0) continue;
    char *number = strchr(strchr(line, ' ') + 1, ' ') + 1, old[256], with[256];
    const size_t whole = strcspn(line, "\n"), digits = strcspn(number, " \n"), name = (size_t)(number - line);
    snprintf(old, sizeof old, "\n%.*s\n", (int)whole, line);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      snprintf(with, sizeof with, "\n%.*s%s%.*s\n", (int)name, line, wrong[i], (int)(whole - name - digits),
               number + digits);
      refused(text, old, with, "line ", "'");
    }
    snprintf(with, sizeof with, "\n%.*s km\n", (int)whole, line);
    refused(text, old, with, "unit", "km");
    snprintf(with, sizeof with, "\n%.*s%.*s\n", (int)name, line, (int)digits, number);
    refused(text, old, with, "unit", "it must be");
  }
  free(text);
}

static void says_what_is_wrong(void **unused) {
  (void)unused;
  size_t size;
  char *text = good_file(&size);
  refused(text, "cutt device, format 1", "cutt device, format 2", "line 1", "format '2'");
  refused(text, "cutt device", "# cutt device", "line 1", "not a device file");
  refused(text, "backend cpu", "backend abacus", "abacus", "cpu");
  refused(text, "property l2_bytes", "property l9_bytes", "l9_bytes", "line ");
  refused(text, "property l2_bytes", "fiction l2_bytes", "fiction", "parameter");
  refused(text, "key some", "key some thing", "one word", "thing");
  refused(text, "name Some Device, No. 5 (cpu)", "name", "line ", "characters");
  refused(text, "parameter l2.lines", "parameter l2.lies", "l2.lies", "no parameter");
  refused(text, "end\n", "end\nproperty x 1\n", "after", "end");
  refused(text, "end\n", "end of it\n", "begins with", "end");
  assert_result(CUTT_INVALID_PARAMETER, read_text("", 0), "end");
  assert_result(CUTT_INVALID_PARAMETER, read_text("property l2_bytes 5 B\n", 22), "line 1");

  /* What is allowed: lines of comment and blank ones, and line ends of another system. */
  char *changed = calloc(1, 3 * size + 64), *to = changed;
  assert_non_null(changed);
  for (char *c = text; *c; c++) {
    if (*c == '\n') to = stpcpy(to, "\r\n# more\r\n\r");
    *to++ = *c;
  }
  assert_success(read_text(changed, (size_t)(to - changed)));
  free(changed);

  /* The word that older files have. */
  char *place = strstr(text, "property l2_bytes");
  assert_non_null(place);
  memcpy(place, "    fact", 8);
  assert_success(read_text(text, size));

  /* And no endless file, nor what is not a file. */
  char *endless = malloc(200000);
  assert_non_null(endless);
  memset(endless, '#', 200000);
  memcpy(endless, text, 22); /* the header and its end */
  assert_result(CUTT_INVALID_PARAMETER, read_text(endless, 200000), "longer");
  free(endless);
  free(text);
  const cutt_backend *backend = NULL;
  cutt_target *target = NULL;
  char found[CUTT_DEVICE_KEY_BYTES];
  assert_result(CUTT_INVALID_PARAMETER, cutt_device_file_read(wisdom_folder, &backend, &target, found), "regular",
                wisdom_folder);
  assert_result(CUTT_INVALID_PARAMETER, cutt_device_file_read("/no/such/file", &backend, &target, found),
                "/no/such/file", "No such file");
}

static void nothing_wrong_is_written(void **unused) {
  (void)unused;
  const cutt_schema *schema = backend_named("cpu")->schema;
  cutt_target *device = some_device(schema, 3);
  double *value = (double *)(uintptr_t)device->value;
  wisdom_write_file(wisdom_path, "what was here", 13);
  value[0] = NAN;
  assert_result(CUTT_INTERNAL_ERROR, cutt_device_file_write(wisdom_path, schema, key, device, NULL), "nothing");
  value[0] = -1;
  assert_result(CUTT_INTERNAL_ERROR, cutt_device_file_write(wisdom_path, schema, key, device, NULL), "nothing");
  value[0] = 1;
  assert_result(CUTT_INTERNAL_ERROR, cutt_device_file_write(wisdom_path, schema, "two words", device, NULL), "key");
  size_t size;
  char *text = wisdom_read_file(wisdom_path, &size);
  assert_string_equal(text, "what was here");
  free(text);
  assert_result(CUTT_INVALID_PARAMETER, cutt_device_file_write(wisdom_folder, schema, key, device, NULL), "regular");
  assert_result(CUTT_INTERNAL_ERROR, cutt_device_file_write("/no/such/file", schema, key, device, NULL), "/no/such");
  snprintf(device->name, sizeof device->name, "a\nname\x01");
  assert_success(cutt_device_file_write(wisdom_path, schema, key, device, NULL));
  free_device(device);
}

/* ------------------------------------------------------------------------------------------------ finding files */

/* The default place of the test's key, below folder; created when make is set. */
static void default_path(const char *folder, char *path, bool make) {
  assert_int_equal(setenv("XDG_DATA_HOME", folder, 1), 0);
  assert_true(cutt_device_file_path(key, path, CUTT_PATH_BYTES));
  char expected[256];
  snprintf(expected, sizeof expected, "%s/cutt/%s.device", folder, key);
  assert_string_equal(path, expected);
  snprintf(expected, sizeof expected, "%s/cutt", folder);
  if (make) assert_int_equal(mkdir(expected, 0700), 0);
}

static void where_files_are(void **unused) {
  (void)unused;
  char path[CUTT_PATH_BYTES], small[16];
  assert_int_equal(setenv("HOME", "/home/someone", 1), 0);
  assert_int_equal(setenv("XDG_DATA_HOME", "relative", 1), 0); /* which is to be ignored */
  assert_true(cutt_device_file_path("cuda/GPU (1)", path, sizeof path));
  assert_string_equal(path, "/home/someone/.local/share/cutt/cuda_GPU__1_.device");
  assert_false(cutt_device_file_path("cuda", small, sizeof small));
  assert_int_equal(unsetenv("XDG_DATA_HOME"), 0);
  assert_true(cutt_device_file_path(".x.y", path, sizeof path));
  assert_string_equal(path, "/home/someone/.local/share/cutt/_x.y.device");
  assert_int_equal(unsetenv("HOME"), 0);
  assert_false(cutt_device_file_path("cuda", path, sizeof path));
}

/* Likewise why it takes none. */
static void free_unused(cutt_target *device) {
  free((void *)(uintptr_t)device->unused);
  device->unused = NULL;
}

/* Does the overlay take the file's numbers? Else the target must be as it was. */
static bool taken(const cutt_schema *schema, const char *of, const cutt_target *file) {
  cutt_target *device = some_device(schema, 100), *before = some_device(schema, 100);
  const double *own = device->value;
  cutt_device_file_overlay(schema, of, device);
  assert_string_equal(device->name, before->name);
  const bool changed = device->value != own;
  assert_success(cutt_device_file_check(device));
  free_unused(device);
  assert_same_numbers(schema, device, changed ? file : before);
  if (changed) {
    assert_non_null(device->source);
    keep_values(device);
  }
  device->value = own;
  free_device(device);
  free_device(before);
  return changed;
}

/* A target that CUTT_CALIBRATION keeps from being planned for, and why. */
static void assert_refused(const cutt_schema *schema, const char *first, const char *second) {
  cutt_target *device = some_device(schema, 100);
  const double *own = device->value;
  assert_success(cutt_device_file_check(device));
  cutt_device_file_overlay(schema, key, device);
  assert_ptr_equal(device->value, own);
  assert_null(device->source);
  assert_result(CUTT_INVALID_PARAMETER, cutt_device_file_check(device), first, second, "0 for none");
  free_unused(device);
  free_device(device);
}

static void overlays(void **unused) {
  (void)unused;
  const cutt_schema *schema = backend_named("cpu")->schema, *other = backend_named("cuda")->schema;
  cutt_target *device = some_device(schema, 8);
  char path[CUTT_PATH_BYTES];
  default_path(wisdom_folder, path, true);
  unsetenv("CUTT_CALIBRATION");
  assert_false(taken(schema, key, device)); /* no file */
  assert_success(cutt_device_file_write(path, schema, key, device, NULL));
  assert_true(taken(schema, key, device));
  setenv("CUTT_CALIBRATION", "0", 1);
  assert_false(taken(schema, key, device));
  setenv("CUTT_CALIBRATION", "/no/such/file", 1);
  assert_refused(schema, "CUTT_CALIBRATION is '/no/such/file'", "No such file");
  assert_success(cutt_device_file_write(wisdom_path, schema, key, device, NULL));
  setenv("CUTT_CALIBRATION", wisdom_path, 1);
  assert_true(taken(schema, key, device));
  assert_false(taken(schema, "another-device", device));
  assert_false(taken(other, key, device));
  wisdom_write_file(wisdom_path, "rubbish", 7);
  assert_refused(schema, wisdom_path, "not a device file");
  char long_name[2 * CUTT_PATH_BYTES];
  memset(long_name, 'x', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = 0;
  setenv("CUTT_CALIBRATION", long_name, 1);
  assert_refused(schema, "CUTT_CALIBRATION is 'xxx", "0 for none");
  setenv("CUTT_CALIBRATION", "", 1); /* as if it were not set */
  assert_true(taken(schema, key, device));
  setenv("CUTT_CALIBRATION", "0", 1);
  unlink(path);
  *strrchr(path, '/') = 0;
  assert_int_equal(rmdir(path), 0);
  free_device(device);
}

static void described_devices(void **unused) {
  (void)unused;
  const cutt_backend *cpu = backend_named("cpu"), *cuda = backend_named("cuda"), *backend = NULL;
  const cutt_target *target = NULL;
  cutt_target *own = NULL, *device = some_device(cpu->schema, 4);
  assert_success(cutt_device_file_write(wisdom_path, cpu->schema, key, device, NULL));
  static const cuttBackend_t ids[] = {CUTT_BACKEND_AUTO, CUTT_BACKEND_CPU};
  for (size_t i = 0; i < 2; i++) {
    assert_success(cutt_target_described(wisdom_path, ids[i], &backend, &target, &own));
    assert_ptr_equal(backend, cpu);
    assert_ptr_equal(target, own);
    assert_same_numbers(cpu->schema, device, target);
    free(own);
  }
  assert_result(CUTT_INVALID_PARAMETER, cutt_target_described(wisdom_path, CUTT_BACKEND_CUDA, &backend, &target, &own),
                "options->device", "CUTT_BACKEND_CPU");
  wisdom_write_file(wisdom_path, "rubbish", 7);
  assert_result(CUTT_INVALID_PARAMETER, cutt_target_described(wisdom_path, CUTT_BACKEND_AUTO, &backend, &target, &own),
                "options->device", "line 1");
  assert_result(CUTT_INVALID_PARAMETER, cutt_target_described("no.file", CUTT_BACKEND_AUTO, &backend, &target, &own),
                "no.file");
  for (size_t i = 0; i < 2; i++) {
    const char *name = i ? "H200" : "h200";
    assert_success(cutt_target_described(name, CUTT_BACKEND_AUTO, &backend, &target, &own));
    assert_ptr_equal(backend, cuda);
    assert_null(own);
    assert_non_null(strstr(target->name, "H200"));
  }
  assert_result(CUTT_INVALID_PARAMETER, cutt_target_described("abacus", CUTT_BACKEND_AUTO, &backend, &target, &own),
                "abacus", "h200");
  assert_result(CUTT_INVALID_PARAMETER, cutt_target_described("", CUTT_BACKEND_CUDA, &backend, &target, &own), "h200");
  assert_result(CUTT_INVALID_PARAMETER, cutt_target_described("h200", CUTT_BACKEND_CPU, &backend, &target, &own),
                "path");
  assert_result(CUTT_INVALID_PARAMETER, cutt_target_described("h200", (cuttBackend_t)77, &backend, &target, &own),
                "options->backend", "77");
  free_device(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(comes_back),
      cmocka_unit_test(in_any_locale),
      cmocka_unit_test(cut_off_anywhere),
      cmocka_unit_test(every_byte_damaged),
      cmocka_unit_test(every_line_lost_or_doubled),
      cmocka_unit_test(files_of_earlier_versions),
      cmocka_unit_test(every_number_wrong),
      cmocka_unit_test(says_what_is_wrong),
      cmocka_unit_test(nothing_wrong_is_written),
      cmocka_unit_test(where_files_are),
      cmocka_unit_test(overlays),
      cmocka_unit_test(described_devices),
  };
  return cmocka_run_group_tests_name("device files", tests, wisdom_open_folder, wisdom_close_folder);
}
