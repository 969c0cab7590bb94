/* Wisdom as it should be: what is saved comes back, files merge, and what can't be done is refused. Files that something
 * has happened to are in test_wisdom_damage.c. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/wisdom.h"

/* ------------------------------------------------------------------------------------------------ as it should be */

static void saves_and_loads(void **unused) {
  (void)unused;
  cuttWisdom_t wisdom = wisdom_fresh(), again = wisdom_fresh();
  for (int i = 0; i < WISDOM_PROBLEMS; i++) {
    assert_false(wisdom_knows(wisdom, i));
    wisdom_learn(wisdom, i);
    assert_true(wisdom_knows(wisdom, i));
    if (i + 1 < WISDOM_PROBLEMS) assert_false(wisdom_knows(wisdom, i + 1));
  }
  assert_success(cuttWisdomSave(wisdom, wisdom_path));
  wisdom_assert_load(again, wisdom_path, WISDOM_PROBLEMS, 0);
  for (int i = 0; i < WISDOM_PROBLEMS; i++) assert_true(wisdom_knows(again, i));
  /* And what was loaded saves as the same file. */
  size_t size, other_size;
  assert_success(cuttWisdomSave(again, wisdom_other_path));
  char *text = wisdom_read_file(wisdom_path, &size), *other = wisdom_read_file(wisdom_other_path, &other_size);
  assert_int_equal(size, other_size);
  assert_memory_equal(text, other, size);
  free(text);
  free(other);
  wisdom_assert_load(again, wisdom_path, WISDOM_PROBLEMS, 0); /* loading twice is harmless */
  assert_success(cuttWisdomLoad(again, wisdom_path, NULL, NULL));
  assert_success(cuttWisdomDestroy(wisdom));
  assert_success(cuttWisdomDestroy(again));
}

static void the_same_choice_comes_back(void **unused) {
  (void)unused;
  cuttWisdom_t wisdom = wisdom_fresh();
  cuttPlanInfo_t measured = {.struct_size = sizeof measured}, recalled = measured;
  cuttPlan_t plan = wisdom_plan(wisdom, 0, CUTT_MEASURE);
  assert_success(cuttPlanGetInfo(plan, &measured));
  assert_success(cuttPlanDestroy(plan));
  for (int choice = CUTT_PREDICT; choice <= CUTT_MEASURE; choice++) { /* looked up before measuring, too */
    plan = wisdom_plan(wisdom, 0, (cuttChoice_t)choice);
    assert_success(cuttPlanGetInfo(plan, &recalled));
    assert_success(cuttPlanDestroy(plan));
    assert_string_equal(recalled.method, measured.method);
    assert_int_equal(recalled.threads, measured.threads);
    assert_true(recalled.predicted_seconds == measured.predicted_seconds);
    assert_true(recalled.measured_seconds > 0.999 * measured.measured_seconds - 1e-11 &&
                recalled.measured_seconds < 1.001 * measured.measured_seconds + 1e-11);
  }
  assert_success(cuttWisdomDestroy(wisdom));
}

static void files_merge(void **unused) {
  (void)unused;
  cuttWisdom_t one = wisdom_fresh(), two = wisdom_fresh(), all = wisdom_fresh();
  wisdom_learn(one, 0);
  wisdom_learn(one, 1);
  wisdom_learn(two, 1);
  wisdom_learn(two, 2);
  assert_success(cuttWisdomSave(one, wisdom_path));
  assert_success(cuttWisdomSave(two, wisdom_other_path));
  wisdom_assert_load(all, wisdom_path, 2, 0);
  wisdom_assert_load(all, wisdom_other_path, 2, 0);
  for (int i = 0; i < 3; i++) assert_true(wisdom_knows(all, i));
  assert_false(wisdom_knows(all, 3));
  assert_success(cuttWisdomSave(all, wisdom_path));
  cuttWisdom_t merged = wisdom_fresh();
  wisdom_assert_load(merged, wisdom_path, 3, 0);
  assert_success(cuttWisdomDestroy(one));
  assert_success(cuttWisdomDestroy(two));
  assert_success(cuttWisdomDestroy(all));
  assert_success(cuttWisdomDestroy(merged));
}

/* An entry's text ends with its time in picoseconds: *context. */
static void set_time(char *entry, size_t room, void *context) {
  char *time = strrchr(entry, ' ');
  assert_non_null(time);
  wisdom_put(entry, room, time + 1, strlen(time + 1), context);
}

/* An entry's second word is its device. */
static void set_machine(char *entry, size_t room, void *context) {
  char *device = strchr(entry, ' ');
  assert_non_null(device);
  wisdom_put(entry, room, device + 1, strcspn(device + 1, " "), context);
}

static size_t count_entries(const char *text, const char *words) {
  size_t count = 0;
  for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    char one[8192];
    snprintf(one, sizeof one, "%.*s", (int)strcspn(line, "\n"), line);
    count += wisdom_is_entry(line) && strstr(one, words);
  }
  return count;
}

/* Two runs of this machine and one of another: the union is saved, and of two entries for one problem the faster. */
static void merging_keeps_the_faster(void **unused) {
  (void)unused;
  static char slow_time[] = "777000000", fast_time[] = "333000000", machine[] = "cpu/some-other-machine";
  size_t size;
  char *text = wisdom_saved(&size);
  char *slow = wisdom_edited(text, set_time, slow_time), *fast = wisdom_edited(text, set_time, fast_time);
  char *others = wisdom_edited(slow, set_machine, machine);
  const char *const order[][3] = {{slow, fast, others}, {fast, others, slow}, {others, slow, fast}};
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    cuttWisdom_t all = wisdom_fresh();
    for (int file = 0; file < 3; file++) {
      const bool foreign = order[i][file] == others;
      wisdom_write_file(wisdom_path, order[i][file], strlen(order[i][file]));
      wisdom_assert_load(all, wisdom_path, foreign ? 0 : WISDOM_PROBLEMS, foreign ? WISDOM_PROBLEMS : 0);
    }
    assert_success(cuttWisdomSave(all, wisdom_other_path));
    assert_success(cuttWisdomDestroy(all));
    char *merged = wisdom_read_file(wisdom_other_path, &size);
    assert_int_equal(count_entries(merged, ""), 2 * WISDOM_PROBLEMS);
    assert_int_equal(count_entries(merged, fast_time), WISDOM_PROBLEMS);
    assert_int_equal(count_entries(merged, slow_time), WISDOM_PROBLEMS);
    assert_int_equal(count_entries(merged, machine), WISDOM_PROBLEMS);
    free(merged);
  }
  free(text);
  free(slow);
  free(fast);
  free(others);
}

/* Saving adds to what the file holds, by the same rule, and the object itself stays as it is. */
static void saving_adds(void **unused) {
  (void)unused;
  static char slow_time[] = "777000000", fast_time[] = "333000000", machine[] = "cpu/some-other-machine";
  size_t size;
  char *text = wisdom_saved(&size);
  char *slow = wisdom_edited(text, set_time, slow_time), *fast = wisdom_edited(text, set_time, fast_time);
  char *others = wisdom_edited(slow, set_machine, machine);
  const char *const there[] = {slow, fast, others}, *const added[] = {fast, slow, slow};
  for (int i = 0; i < 3; i++) {
    cuttWisdom_t wisdom = wisdom_fresh();
    wisdom_write_file(wisdom_other_path, added[i], strlen(added[i]));
    wisdom_assert_load(wisdom, wisdom_other_path, WISDOM_PROBLEMS, 0);
    wisdom_write_file(wisdom_path, there[i], strlen(there[i]));
    assert_success(cuttWisdomSave(wisdom, wisdom_path));
    char *merged = wisdom_read_file(wisdom_path, &size);
    assert_int_equal(count_entries(merged, ""), i < 2 ? WISDOM_PROBLEMS : 2 * WISDOM_PROBLEMS);
    assert_int_equal(count_entries(merged, fast_time), i < 2 ? WISDOM_PROBLEMS : 0);
    assert_int_equal(count_entries(merged, machine), i < 2 ? 0 : WISDOM_PROBLEMS);
    free(merged);
    unlink(wisdom_other_path);
    assert_success(cuttWisdomSave(wisdom, wisdom_other_path));
    merged = wisdom_read_file(wisdom_other_path, &size);
    assert_int_equal(count_entries(merged, added[i] == fast ? fast_time : slow_time), WISDOM_PROBLEMS);
    assert_int_equal(count_entries(merged, machine), 0);
    free(merged);
    assert_success(cuttWisdomDestroy(wisdom));
  }
  free(text);
  free(slow);
  free(fast);
  free(others);
}

/* Several processes, such as the ranks of one job, save to one file at the same time, each what it alone knows: nothing of it is
 * lost, in no round. */
static void processes_save_to_one_file(void **unused) {
  (void)unused;
  enum { ROUNDS = 25 };
  cuttWisdom_t own[WISDOM_PROBLEMS];
  for (int i = 0; i < WISDOM_PROBLEMS; i++) {
    own[i] = wisdom_fresh();
    wisdom_learn(own[i], i);
  }
  for (int round = 0; round < ROUNDS; round++) {
    int start[2];
    pid_t child[WISDOM_PROBLEMS];
    assert_int_equal(pipe(start), 0);
    for (int i = 0; i < WISDOM_PROBLEMS; i++) {
      child[i] = fork();
      assert_true(child[i] >= 0);
      if (child[i] == 0) {
        char byte;
        close(start[1]);
        if (read(start[0], &byte, 1) != 0) _exit(2); /* until all are there */
        _exit(cuttWisdomSave(own[i], wisdom_path) != CUTT_SUCCESS);
      }
    }
    close(start[1]);
    close(start[0]);
    for (int i = 0; i < WISDOM_PROBLEMS; i++) {
      int status = 0;
      assert_int_equal(waitpid(child[i], &status, 0), child[i]);
      assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    cuttWisdom_t all = wisdom_fresh();
    wisdom_assert_load(all, wisdom_path, WISDOM_PROBLEMS, 0);
    assert_success(cuttWisdomDestroy(all));
    unlink(wisdom_path);
  }
  for (int i = 0; i < WISDOM_PROBLEMS; i++) assert_success(cuttWisdomDestroy(own[i]));
}

static void empty_wisdom(void **unused) {
  (void)unused;
  cuttWisdom_t wisdom = wisdom_fresh();
  assert_success(cuttWisdomSave(wisdom, wisdom_path));
  wisdom_assert_load(wisdom, wisdom_path, 0, 0);
  wisdom_write_file(wisdom_path, "", 0);
  wisdom_assert_load(wisdom, wisdom_path, 0, 0);
  assert_success(cuttWisdomDestroy(wisdom));
  assert_success(cuttWisdomDestroy(NULL));
}

/* ------------------------------------------------------------------------------------------------ refusals */

static void refuses_bad_arguments(void **unused) {
  (void)unused;
  char missing[160];
  cuttWisdom_t wisdom = wisdom_fresh();
  size_t used = 5, ignored = 5;
  assert_result(CUTT_INVALID_PARAMETER, cuttWisdomCreate(NULL), "wisdom", "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttWisdomLoad(NULL, wisdom_path, NULL, NULL), "wisdom");
  assert_result(CUTT_INVALID_PARAMETER, cuttWisdomSave(NULL, wisdom_path), "wisdom");
  assert_result(CUTT_INVALID_PARAMETER, cuttWisdomLoad(wisdom, NULL, NULL, NULL), "path", "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttWisdomSave(wisdom, NULL), "path", "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttWisdomLoad(wisdom, "", NULL, NULL), "path");
  snprintf(missing, sizeof missing, "%s/not-there", wisdom_folder);
  assert_result(CUTT_INVALID_PARAMETER, cuttWisdomLoad(wisdom, missing, &used, &ignored), missing);
  assert_int_equal(used, 0);
  assert_int_equal(ignored, 0);
  assert_result(CUTT_INVALID_PARAMETER, cuttWisdomLoad(wisdom, wisdom_folder, NULL, NULL), wisdom_folder);
  assert_result(CUTT_INVALID_PARAMETER, cuttWisdomLoad(wisdom, "/dev/zero", NULL, NULL), "/dev/zero");
  assert_int_not_equal(cuttWisdomSave(wisdom, wisdom_folder), CUTT_SUCCESS);
  snprintf(missing, sizeof missing, "%s/not-there/file", wisdom_folder);
  assert_int_not_equal(cuttWisdomSave(wisdom, missing), CUTT_SUCCESS);
  assert_non_null(strstr(cuttLastError(), "not-there"));
  assert_success(cuttWisdomDestroy(wisdom));
}

/* What is not wisdom stays as it is, whatever it is; an empty file is taken. */
static void leaves_other_files(void **unused) {
  (void)unused;
  static const struct {
    const char *text;
    size_t length;
    bool taken;
  } files[] = {{"hello\nworld\n", 12, false},
               {"\x93NUMPY\x01\0v\0{'descr': '<f8'}\n\0\0\0", 30, false},
               {"# notes\n", 8, false},
               {"x", 1, false},
               {"", 0, true},
               {"\n", 1, true},
               {"cutt wisdom, format 1", 21, true}};
  cuttWisdom_t wisdom = wisdom_learned();
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    size_t now_size;
    FILE *file = fopen(wisdom_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(files[i].text, 1, files[i].length, file), files[i].length);
    assert_int_equal(fclose(file), 0);
    const cuttResult result = cuttWisdomSave(wisdom, wisdom_path);
    if (files[i].taken) {
      assert_success(result);
      continue;
    }
    assert_result(CUTT_INVALID_PARAMETER, result, "path", wisdom_path, "no line of wisdom");
    char *now = wisdom_read_file(wisdom_path, &now_size);
    assert_int_equal(now_size, files[i].length);
    assert_memory_equal(now, files[i].text, now_size);
    free(now);
  }
  assert_success(cuttWisdomDestroy(wisdom));
}

/* A disk that fills up, by a limit on the size of files: the old file is whole and nothing else is left behind. */
static void full_disk_leaves_the_old_file(void **unused) {
  (void)unused;
  size_t size, whole, now_size;
  char *text = wisdom_saved(&size);
  struct rlimit old, low;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  cuttWisdom_t wisdom = wisdom_learned();
  /* Its length is its own: measured times have more digits or fewer. */
  assert_success(cuttWisdomSave(wisdom, wisdom_other_path));
  free(wisdom_read_file(wisdom_other_path, &whole));
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  for (size_t limit = 0; limit < whole - 1; limit += 61) {
    low = old;
    low.rlim_cur = (rlim_t)limit;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    const cuttResult result = cuttWisdomSave(wisdom, wisdom_path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_result(CUTT_INTERNAL_ERROR, result, wisdom_path);
    char *now = wisdom_read_file(wisdom_path, &now_size);
    assert_int_equal(now_size, size);
    assert_memory_equal(now, text, size);
    free(now);
  }
  signal(SIGXFSZ, handler);
  assert_success(cuttWisdomDestroy(wisdom));
  unlink(wisdom_path);
  unlink(wisdom_other_path);
  assert_int_equal(rmdir(wisdom_folder), 0); /* empty: no temporary is left */
  assert_int_equal(mkdir(wisdom_folder, 0700), 0);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(saves_and_loads, wisdom_empty_folder),
      cmocka_unit_test_setup(the_same_choice_comes_back, wisdom_empty_folder),
      cmocka_unit_test_setup(files_merge, wisdom_empty_folder),
      cmocka_unit_test_setup(merging_keeps_the_faster, wisdom_empty_folder),
      cmocka_unit_test_setup(saving_adds, wisdom_empty_folder),
      cmocka_unit_test_setup(processes_save_to_one_file, wisdom_empty_folder),
      cmocka_unit_test_setup(empty_wisdom, wisdom_empty_folder),
      cmocka_unit_test_setup(refuses_bad_arguments, wisdom_empty_folder),
      cmocka_unit_test_setup(leaves_other_files, wisdom_empty_folder),
      cmocka_unit_test_setup(full_disk_leaves_the_old_file, wisdom_empty_folder),
  };
  return cmocka_run_group_tests_name("wisdom", tests, wisdom_open_folder, wisdom_close_folder);
}
