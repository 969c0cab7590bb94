/* What a contraction's text says and which texts are refused, with which words. What is wrong with a contraction otherwise
 * is in test_contraction_check.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/pattern.h"
#include "reference.h"
#include "support/check.h"

static cutt_pattern parsed; /* large */

static void assert_labels(int tensor, const char *names) {
  char text[512] = "";
  for (int i = 0; i < parsed.rank[tensor]; ++i) {
    strcat(text, i ? "," : "");
    strcat(text, parsed.name[parsed.label[tensor][i]].name);
  }
  assert_string_equal(text, names);
}

static void assert_parses(const char *text, const char *left, const char *right, const char *result) {
  assert_success(cutt_pattern_parse(text, &parsed));
  assert_labels(CUTT_LEFT, left);
  assert_labels(CUTT_RIGHT, right);
  assert_labels(CUTT_RESULT, result);
  for (int t = 0; t < CUTT_TENSORS; ++t) { /* what stands at each place is the label */
    for (int i = 0; i < parsed.rank[t]; ++i) {
      const char *name = parsed.name[parsed.label[t][i]].name;
      const size_t length = strlen(name) - (name[strlen(name) - 1] == '~');
      if (parsed.place[t][i]) assert_memory_equal(text + parsed.place[t][i] - 1, name, length);
    }
  }
}

static void reads_einsum(void **unused) {
  (void)unused;
  assert_parses("abc,cd->abd", "a,b,c", "c,d", "a,b,d");
  assert_int_equal(parsed.labels, 4);
  assert_int_equal(parsed.place[CUTT_LEFT][0], 1);
  assert_int_equal(parsed.place[CUTT_RIGHT][1], 6);
  assert_int_equal(parsed.place[CUTT_RESULT][2], 11);
  assert_int_equal(parsed.label[CUTT_RIGHT][0], parsed.label[CUTT_LEFT][2]);
  assert_false(parsed.adds || parsed.conjugate[0] || parsed.conjugate[1]);
  assert_parses(" a b\tc ,\n c d - > a b d ", "a,b,c", "c,d", "a,b,d");
  assert_int_equal(parsed.place[CUTT_LEFT][0], 2);
  assert_parses(",->", "", "", "");
  assert_parses(",", "", "", "");
  assert_parses("a,a->", "a", "a", "");
  assert_parses("ab,->ba", "a,b", "", "b,a");
  assert_parses(",ab->ab", "", "a,b", "a,b");
  assert_parses("a,b->ab", "a", "b", "a,b");
  assert_parses("aab,bbc->ac", "a,a,b", "b,b,c", "a,c");
  assert_parses("ab,bc->c", "a,b", "b,c", "c");
}

/* NumPy: np.einsum without "->" has the letters that are there once, upper case first. */
static void implies_the_result(void **unused) {
  (void)unused;
  assert_parses("ij,jk", "i,j", "j,k", "i,k");
  assert_parses("ji,jk", "j,i", "j,k", "i,k");
  assert_parses("ba,dc", "b,a", "d,c", "a,b,c,d");
  assert_parses("aB,bA", "a,B", "b,A", "A,B,a,b");
  assert_parses("zZ,Zy", "z,Z", "Z,y", "y,z");
  assert_parses("aab,c", "a,a,b", "c", "b,c");
  assert_parses("a,a", "a", "a", "");
  assert_int_equal(parsed.place[CUTT_RESULT][0], 0);
  char text[128];
  int length = 0;
  for (char c = 'a'; c <= 'z'; ++c) text[length++] = c;
  text[length++] = ',';
  for (char c = 'A'; c <= 'Z'; ++c) text[length++] = c;
  text[length] = 0;
  assert_success(cutt_pattern_parse(text, &parsed));
  assert_int_equal(parsed.rank[CUTT_RESULT], 52);
  assert_int_equal(parsed.labels, 52);
  assert_string_equal(parsed.name[parsed.label[CUTT_RESULT][0]].name, "A");
  assert_string_equal(parsed.name[parsed.label[CUTT_RESULT][51]].name, "z");
}

static void reads_one_operand(void **unused) {
  (void)unused;
  assert_parses("abcb->ac", "a,b,c,b", "", "a,c");
  assert_true(parsed.one);
  assert_parses("->", "", "", "");
  assert_true(parsed.one);
  assert_parses("ba", "b,a", "", "a,b");
  assert_true(parsed.one);
  assert_parses("aa", "a,a", "", "");
  assert_parses("D(i1,k)+=L+(i1,j,k)", "i1,j,k", "", "i1,k");
  assert_true(parsed.one && parsed.adds && parsed.conjugate[0]);
  assert_parses("ab,->a", "a,b", "", "a");
  assert_false(parsed.one);
}

static void reads_talsh(void **unused) {
  (void)unused;
  assert_parses("D(a,b,d)+=L(a,b,c)*R(c,d)", "a,b,c", "c,d", "a,b,d");
  assert_true(parsed.adds);
  assert_false(parsed.conjugate[0] || parsed.conjugate[1]);
  assert_int_equal(parsed.place[CUTT_RESULT][0], 3);
  assert_int_equal(parsed.place[CUTT_LEFT][0], 13);
  assert_parses("D(a,b,d)=L(a,b,c)*R(c,d)", "a,b,c", "c,d", "a,b,d");
  assert_false(parsed.adds);
  assert_parses("D()+=L(a)*R(a)", "a", "a", "");
  assert_parses("D( ) = L( ) * R( )", "", "", "");
  assert_parses("D(a)=L+(a,b)*R(b)", "a,b", "b", "a");
  assert_true(parsed.conjugate[0] && !parsed.conjugate[1]);
  assert_parses("D(a)=L(a,b)*R+(b)", "a,b", "b", "a");
  assert_true(!parsed.conjugate[0] && parsed.conjugate[1]);
  assert_parses("D(a)+=L + (a,b)*R+ (b)", "a,b", "b", "a");
  assert_true(parsed.conjugate[0] && parsed.conjugate[1] && parsed.adds);
  assert_parses("\tResult_2( i1 , j_2 )\n+= T1(i1,K)*\tV(K,j_2) ", "i1,K", "K,j_2", "i1,j_2");
  assert_parses("D(a1,a2)=L(a1,2)*R(2,a2)", "a1,2", "2,a2", "a1,a2");
  /* Names of any length are told apart, and cut where they are shown. */
  assert_parses(
      "D(abcdefghijklmnopqrstuvwxyz_0123456789,abcdefghijklmnopqrstuvwxyz_0123456780)="
      "L(abcdefghijklmnopqrstuvwxyz_0123456789)*R(abcdefghijklmnopqrstuvwxyz_0123456780)",
      "abcdefghijklmnopqrstuvwxyz_012~", "abcdefghijklmnopqrstuvwxyz_012~",
      "abcdefghijklmnopqrstuvwxyz_012~,abcdefghijklmnopqrstuvwxyz_012~");
  assert_int_equal(parsed.labels, 2);
  assert_parses("D(abcdefghijklmnopqrstuvwxyz01234)=L(abcdefghijklmnopqrstuvwxyz01234)*R()",
                "abcdefghijklmnopqrstuvwxyz01234", "", "abcdefghijklmnopqrstuvwxyz01234");
}

#define refuses(text, ...)                                                                                             \
  assert_result(CUTT_INVALID_PARAMETER, cutt_pattern_parse(text, &parsed), "pattern", __VA_ARGS__)

static void refuses_einsum(void **unused) {
  (void)unused;
  refuses(NULL, "NULL", "abc,cd->abd");
  refuses("", "nothing in it", "place 1");
  refuses("   ", "nothing in it", "place 4");
  refuses("abc->d", "the letter 'd'", "place 6", "neither operand");
  refuses("ab,bc,cd->ad", "third operand", "place 6");
  refuses("ab,bc->a,c", "','", "place 9", "result");
  refuses("abc,cd->abx", "\"abc,cd->abx\"", "the letter 'x'", "place 11", "neither operand");
  refuses("abc,cd-> a b x", "the letter 'x'", "place 14");
  refuses("ab,bc->aca", "the letter 'a'", "place 10", "already", "place 8", "once");
  refuses("a1,b->ab", "'1'", "place 2", "not a letter", "a-z");
  refuses("a_,b->ab", "'_'", "place 2", "not a letter");
  refuses("...a,ab->...b", "'.'", "place 1", "'...'", "not supported");
  refuses("a,ab->b...", "'.'", "place 8", "'...'", "not supported");
  refuses("ab,bc-ac", "'a'", "place 7", "'>'");
  refuses("ab,bc-", "ends at place 7", "'>'");
  refuses("ab,bc->ac->ac", "second", "place 10");
  refuses("ab,bc>ac", "'>'", "place 6", "not allowed", "'->'");
  refuses("ab;bc->ac", "';'", "place 3");
  refuses("ab,b\x80->a", "code 128", "place 5");
  refuses("ab,b\x01->a", "code 1 ", "place 5", "b?->a");
  refuses("ab)", "')'", "place 3");
}

static void refuses_talsh(void **unused) {
  (void)unused;
  refuses("D+(a)=L(a,b)*R(b)", "'+'", "place 2", "conjugates the result", "operands");
  refuses("(a)=L(a,b)*R(b)", "'('", "place 1", "name of a tensor");
  refuses("D a=L(a,b)*R(b)", "'a'", "place 3", "'('");
  refuses("D(a)L(a,b)*R(b)", "'L'", "place 5", "'='", "'+='");
  refuses("D(a)+L(a,b)*R(b)", "'L'", "place 6", "'+='");
  refuses("D(a)==L(a,b)*R(b)", "'='", "place 6", "name of a tensor");
  refuses("D(a)=(a,b)*R(b)", "'('", "place 6", "name of a tensor");
  refuses("D(a)=L(a,b)R(b)", "'R'", "place 12", "'*'");
  refuses("D(a)=L(a,b)*R(b)*S(a)", "third operand", "place 17");
  refuses("D(a)=L(a,b)*R(b)x", "'x'", "place 17", "end of the text");
  refuses("D(a)=L(a,b)*R(b", "ends at place 16", "')'");
  refuses("D(a)=L(a,b)*", "ends at place 13", "name of a tensor");
  refuses("D(a)=L(a b)*R(b)", "'b'", "place 10", "','");
  refuses("D(a)=L(a,)*R(b)", "')'", "place 10", "name of a mode");
  refuses("D(a)=L(,a)*R(b)", "','", "place 8", "name of a mode");
  refuses("D(a)=L(a,b-c)*R(b)", "'-'", "place 11");
  refuses("D(a)=L++(a,b)*R(b)", "'+'", "place 8", "'('");
  refuses("D(a1,zz)=L(a1,b)*R(b)", "the mode 'zz'", "place 6", "neither operand");
  refuses("D(a1,a1)=L(a1,b)*R(b)", "the mode 'a1'", "place 6", "already", "place 3");
  refuses("D(a)=L(a,b)*R(b\x80)", "code 128", "place 16");
  refuses("ab,bc->(ac", "','", "place 3", "'('");
}

static void refuses_what_is_too_large(void **unused) {
  (void)unused;
  static char text[200000];
  for (int t = 0; t < 3; ++t) { /* a tensor with a mode too many, each in its turn; and the most that there may be */
    for (int modes = CUTT_MAX_RANK; modes <= CUTT_MAX_RANK + 1; ++modes) {
      size_t length = 0;
      for (int u = 0; u < 3; ++u) {
        const int tensor = (u + 2) % 3; /* the result first */
        length += (size_t)sprintf(text + length, "%s(", u == 0 ? "D" : u == 1 ? "=L" : "*R");
        for (int i = 0; i < (tensor == t || t == 2 ? modes : 1); ++i) {
          length += (size_t)sprintf(text + length, "%sm%d", i ? "," : "", i);
        }
        length += (size_t)sprintf(text + length, ")");
      }
      if (modes == CUTT_MAX_RANK) {
        assert_success(cutt_pattern_parse(text, &parsed));
        assert_int_equal(parsed.rank[t], CUTT_MAX_RANK);
      } else {
        refuses(text, "more than 64 modes", "place", "0 to 64");
      }
    }
  }
  memset(text, 'a', sizeof text);
  text[sizeof text - 1] = 0;
  refuses(text, "longer than 65536");
  text[65536] = 0;
  refuses(text, "more than 64 modes", "aaaa...");
  memset(text, ' ', 65536);
  memcpy(text + 100, "ab", 2);
  memcpy(text + 60000, ",bc->", 5);
  memcpy(text + 65534, "ac", 2);
  assert_success(cutt_pattern_parse(text, &parsed));
  assert_int_equal(parsed.place[CUTT_RESULT][1], 65536);
  const int length = sprintf(text, "D(");
  memset(text + length, 'x', 30000);
  strcpy(text + length + 30000, ")=L(a)*R(b)");
  refuses(text, "the mode 'xxxx", "...'", "place 3", "neither");
}

/* ------------------------------------------------------------------------------------------------- any text whatever */

/* Both readers take it and understand the same, or neither takes it. The text ends at the end of an allocation, where
 * AddressSanitizer sees what reads beyond it. */
static void assert_agree(const char *given) {
  test_labels labels;
  char *text = malloc(strlen(given) + 1);
  assert_non_null(text);
  strcpy(text, given);
  memset(&parsed, 0xff, sizeof parsed);
  const cuttResult result = cutt_pattern_parse(text, &parsed);
  const bool good = test_labels_read(text, &labels);
  if (good != (result == CUTT_SUCCESS)) {
    fail_msg("\"%s\" is %s, and the parser says: %s", text, good ? "valid" : "not valid",
             result ? cuttLastError() : "nothing");
  }
  if (result) {
    assert_int_equal(result, CUTT_INVALID_PARAMETER);
    assert_non_null(strstr(cuttLastError(), "pattern"));
    if (!strstr(cuttLastError(), " place ")) fail_msg("\"%s\": no place in: %s", text, cuttLastError());
  } else {
    assert_int_equal(parsed.labels, labels.labels);
    assert_int_equal(parsed.adds, labels.adds);
    assert_int_equal(parsed.one, labels.one);
    for (int t = 0; t < CUTT_TENSORS; ++t) {
      assert_int_equal(parsed.rank[t], labels.rank[t]);
      for (int i = 0; i < labels.rank[t]; ++i) {
        /* The same labels in both; their numbers may be given in another order. */
        for (int u = 0; u < CUTT_TENSORS; ++u) {
          for (int j = 0; j < labels.rank[u]; ++j) {
            assert_int_equal(parsed.label[t][i] == parsed.label[u][j], labels.label[t][i] == labels.label[u][j]);
          }
        }
      }
      if (t != CUTT_RESULT) assert_int_equal(parsed.conjugate[t], labels.conjugate[t]);
    }
  }
  free(text);
}

static void takes_any_text(void **unused) {
  (void)unused;
  static const char *const seeds[] = {"abc,cd->abd",
                                      "ab,bc",
                                      "D(a,b,d)+=L(a,b,c)*R(c,d)",
                                      "D()=L+(a)*R+(a)",
                                      "aab,bbc->ac",
                                      " a b , b c - > a c ",
                                      "T2(i1, j2) = V(i1 ,k)*W(k,j2)",
                                      ",->",
                                      "abcb->ac",
                                      "D(a,c) = L(a,b,c,b)"};
  static const char usual[] = "abcAB,,,->->()()*+= \t.1_D";
  test_rng rng = {20240101};
  for (int i = 0; i < test_scaled(60000); ++i) {
    char text[80] = "";
    size_t length;
    if (test_chance(&rng, 20)) {
      length = (size_t)test_random_in(&rng, 0, 20);
      for (size_t j = 0; j < length; ++j) text[j] = usual[test_random_in(&rng, 0, (int64_t)sizeof usual - 2)];
    } else {
      strcpy(text, seeds[test_random_in(&rng, 0, (int64_t)(sizeof seeds / sizeof *seeds) - 1)]);
      length = strlen(text);
    }
    for (int64_t change = test_random_in(&rng, 0, 3); change > 0; --change) {
      const size_t at = (size_t)test_random_in(&rng, 0, (int64_t)length);
      const char c = test_chance(&rng, 90) ? usual[test_random_in(&rng, 0, (int64_t)sizeof usual - 2)]
                                           : (char)test_random_in(&rng, 1, 255);
      const int64_t kind = test_random_in(&rng, 0, 3);
      if (kind == 0) { /* insert */
        memmove(text + at + 1, text + at, length + 1 - at);
        text[at] = c;
        ++length;
      } else if (at < length && kind == 1) { /* change */
        text[at] = c;
      } else if (at < length && kind == 2) { /* remove */
        memmove(text + at, text + at + 1, length - at);
        --length;
      } else { /* end */
        text[at] = 0;
        length = at;
      }
    }
    assert_agree(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_einsum),
      cmocka_unit_test(implies_the_result),
      cmocka_unit_test(reads_one_operand),
      cmocka_unit_test(reads_talsh),
      cmocka_unit_test(refuses_einsum),
      cmocka_unit_test(refuses_talsh),
      cmocka_unit_test(refuses_what_is_too_large),
      cmocka_unit_test(takes_any_text),
  };
  return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
