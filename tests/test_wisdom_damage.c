/* Wisdom files that something has happened to: whatever it was costs at most the lines that it happened to, and no line
 * can make a plan wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/buffers.h"
#include "support/wisdom.h"

/* ------------------------------------------------------------------------------------------------ damage */

static void truncated_at_every_byte(void **unused) {
  (void)unused;
  size_t size;
  char *text = wisdom_saved(&size);
  for (size_t cut = 0; cut <= size; cut++) {
    /* Whole entries before the cut, and whether it falls inside of one. */
    size_t entries = 0, at = 0;
    bool inside = false;
    while (at < cut) {
      const size_t length = strcspn(text + at, "\n");
      if (wisdom_is_entry(text + at)) {
        if (at + length <= cut)
          entries++;
        else
          inside = true;
      }
      at += length + 1;
    }
    cuttWisdom_t wisdom = wisdom_fresh();
    wisdom_write_file(wisdom_path, text, cut);
    if (cut < strcspn(text, "\n"))
      assert_success(cuttWisdomLoad(wisdom, wisdom_path, NULL, NULL)); /* not even the header */
    else
      wisdom_assert_load(wisdom, wisdom_path, entries, inside);
    if (inside) assert_true(strlen(cuttLastError()) > 0);
    if (cut % 97 == 0)
      for (int i = 0; i < WISDOM_PROBLEMS; i++) wisdom_knows(wisdom, i);
    assert_success(cuttWisdomDestroy(wisdom));
  }
  free(text);
}

static void every_byte_damaged(void **unused) {
  (void)unused;
  size_t size;
  char *text = wisdom_saved(&size);
  static const char with[] = {0, '\n', ' ', '9', (char)0xff};
  const size_t header = strcspn(text, "\n");
  for (size_t at = 0; at < size; at++) {
    for (size_t n = 0; n < sizeof with; n++) {
      const char old = text[at];
      size_t used, ignored;
      if (old == with[n]) continue;
      text[at] = with[n];
      cuttWisdom_t wisdom = wisdom_fresh();
      wisdom_write_file(wisdom_path, text, size);
      assert_success(cuttWisdomLoad(wisdom, wisdom_path, &used, &ignored));
      assert_true(used <= WISDOM_PROBLEMS && used + ignored <= WISDOM_PROBLEMS + 2);
      /* Damage to an entry costs that entry; a line end that is gone, its neighbour too. */
      if (at > header) assert_true(used + 2 >= WISDOM_PROBLEMS);
      if (at % 53 == 0) wisdom_knows(wisdom, (int)(at % WISDOM_PROBLEMS));
      assert_success(cuttWisdomDestroy(wisdom));
      text[at] = old;
    }
  }
  free(text);
}

static void garbage(void **unused) {
  (void)unused;
  test_rng rng = {8};
  size_t size;
  char *good = wisdom_saved(&size);
  for (int i = 0; i < test_scaled(200); i++) {
    static char bytes[60000];
    const size_t length = (size_t)test_random_in(&rng, 0, i % 10 ? 3000 : (int64_t)sizeof bytes - 10000);
    test_fill_bits(bytes, length, 1, test_random(&rng));
    if (i % 3 == 1) /* printable */
      for (size_t j = 0; j < length; j++) bytes[j] = (char)(' ' + (unsigned char)bytes[j] % 95);
    if (i % 5 == 0) memset(bytes, i % 2 ? '7' : 0, length); /* one long line */
    size_t whole = length;
    if (i % 2) { /* good lines after it */
      bytes[whole++] = '\n';
      memcpy(bytes + whole, good, size);
      whole += size;
    }
    cuttWisdom_t wisdom = wisdom_fresh();
    size_t used, ignored;
    wisdom_write_file(wisdom_path, bytes, whole);
    assert_success(cuttWisdomLoad(wisdom, wisdom_path, &used, &ignored));
    assert_int_equal(used, i % 2 ? WISDOM_PROBLEMS : 0);
    assert_success(cuttWisdomSave(wisdom, wisdom_other_path));
    assert_success(cuttWisdomDestroy(wisdom));
  }
  free(good);
}

/* ------------------------------------------------------------------------------------------------ edits */

static void comments_and_blank_lines_are_nothing(void **unused) {
  (void)unused;
  size_t size;
  char *text = wisdom_saved(&size), *to = calloc(1, 2 * size + 1000), *end = to;
  for (const char *line = text; *line;) {
    const size_t length = strcspn(line, "\n");
    memcpy(end, line, length);
    end += length;
    end += sprintf(end, wisdom_is_entry(line) ? "\r\n\n# a remark\n\n" : "\n");
    line += length + (line[length] == '\n');
  }
  wisdom_write_file(wisdom_path, to, (size_t)(end - to));
  cuttWisdom_t wisdom = wisdom_fresh();
  wisdom_assert_load(wisdom, wisdom_path, WISDOM_PROBLEMS, 0);
  assert_success(cuttWisdomDestroy(wisdom));
  free(text);
  free(to);
}

/* An entry's text is "VERSION DEVICE PROBLEM = CANDIDATE". */
static void another_machine(char *entry, size_t room, void *unused) {
  (void)unused;
  char *device = strchr(entry, ' ');
  assert_non_null(device);
  wisdom_put(entry, room, device + 1, strcspn(device + 1, " "), "cpu/some-other-machine");
}

static void another_version(char *entry, size_t room, void *unused) {
  (void)unused;
  wisdom_put(entry, room, entry, strcspn(entry, " "), "99999");
}

static void other_machines_are_kept_and_not_used(void **unused) {
  (void)unused;
  size_t size;
  char *text = wisdom_saved(&size), *foreign = wisdom_edited(text, another_machine, NULL);
  cuttWisdom_t wisdom = wisdom_fresh();
  wisdom_write_file(wisdom_path, foreign, strlen(foreign));
  wisdom_assert_load(wisdom, wisdom_path, 0, WISDOM_PROBLEMS);
  assert_non_null(strstr(cuttLastError(), "some-other-machine"));
  for (int i = 0; i < WISDOM_PROBLEMS; i++) assert_false(wisdom_knows(wisdom, i));
  wisdom_learn(wisdom, 1);
  assert_success(cuttWisdomSave(wisdom, wisdom_path));
  assert_success(cuttWisdomDestroy(wisdom));
  /* All of theirs are still there, beside the new one. */
  size_t new_size;
  char *now = wisdom_read_file(wisdom_path, &new_size);
  for (const char *line = foreign; *line;) {
    const size_t length = strcspn(line, "\n");
    char one[8192];
    snprintf(one, sizeof one, "%.*s\n", (int)length, line);
    assert_true(length < sizeof one - 2);
    if (wisdom_is_entry(line)) assert_non_null(strstr(now, one));
    line += length + (line[length] == '\n');
  }
  wisdom = wisdom_fresh();
  wisdom_assert_load(wisdom, wisdom_path, 1, WISDOM_PROBLEMS);
  assert_true(wisdom_knows(wisdom, 1));
  assert_false(wisdom_knows(wisdom, 0));
  assert_success(cuttWisdomDestroy(wisdom));
  free(text);
  free(foreign);
  free(now);
}

static void other_versions_are_passed_over(void **unused) {
  (void)unused;
  size_t size;
  char *text = wisdom_saved(&size), *foreign = wisdom_edited(text, another_version, NULL);
  cuttWisdom_t wisdom = wisdom_fresh();
  wisdom_write_file(wisdom_path, foreign, strlen(foreign));
  wisdom_assert_load(wisdom, wisdom_path, 0, WISDOM_PROBLEMS);
  assert_non_null(strstr(cuttLastError(), "99999"));
  for (int i = 0; i < WISDOM_PROBLEMS; i++) assert_false(wisdom_knows(wisdom, i));
  assert_success(cuttWisdomDestroy(wisdom));
  free(text);
  free(foreign);
}

/* Changes some numbers, or words, of an entry. */
static void scribble(char *entry, size_t room, void *context) {
  static const char *const numbers[] = {"0",
                                        "1",
                                        "2",
                                        "7",
                                        "16",
                                        "-1",
                                        "64",
                                        "1000000",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "9223372036854775808",
                                        "007",
                                        "1.5",
                                        "x",
                                        ""};
  test_rng *rng = context;
  for (int changes = (int)test_random_in(rng, 1, 3); changes > 0; changes--) {
    /* Only behind " = " most of the time, so that the problem is still found. */
    char *from = strstr(entry, " = ");
    if (!from || test_chance(rng, 20)) from = entry;
    int words = 0;
    for (char *c = from; *c; c++) words += *c == ' ';
    for (int64_t skip = test_random_in(rng, 0, words); skip > 0 && strchr(from, ' '); skip--) {
      from = strchr(from, ' ') + 1;
    }
    wisdom_put(entry, room, from, strcspn(from, " "),
               numbers[test_random_in(rng, 0, (int64_t)(sizeof numbers / sizeof *numbers) - 1)]);
  }
}

/* Edits with a checksum that is right: the candidate may be anything, and plans made from it must be right or be made
 * without it. */
static void forged_entries_never_harm(void **unused) {
  (void)unused;
  test_rng rng = {77};
  size_t size;
  char *text = wisdom_saved(&size);
  for (int i = 0; i < test_scaled(1500); i++) {
    char *forged = wisdom_edited(text, scribble, &rng);
    size_t used, ignored;
    cuttWisdom_t wisdom = wisdom_fresh();
    wisdom_write_file(wisdom_path, forged, strlen(forged));
    assert_success(cuttWisdomLoad(wisdom, wisdom_path, &used, &ignored));
    assert_int_equal(used + ignored, WISDOM_PROBLEMS);
    for (int n = 0; n < WISDOM_PROBLEMS; n++) wisdom_knows(wisdom, n);
    assert_success(cuttWisdomDestroy(wisdom));
    free(forged);
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(truncated_at_every_byte, wisdom_empty_folder),
      cmocka_unit_test_setup(every_byte_damaged, wisdom_empty_folder),
      cmocka_unit_test_setup(garbage, wisdom_empty_folder),
      cmocka_unit_test_setup(comments_and_blank_lines_are_nothing, wisdom_empty_folder),
      cmocka_unit_test_setup(other_machines_are_kept_and_not_used, wisdom_empty_folder),
      cmocka_unit_test_setup(other_versions_are_passed_over, wisdom_empty_folder),
      cmocka_unit_test_setup(forged_entries_never_harm, wisdom_empty_folder),
  };
  return cmocka_run_group_tests_name("wisdom_damage", tests, wisdom_open_folder, wisdom_close_folder);
}
