/* The parser of patterns.
 *
 *   einsum   text = letters ["," letters] ["->" letters]
 *   TAL-SH   text = tensor ("=" | "+=") tensor ["*" tensor],   tensor = name ["+"] "(" [mode {"," mode}] ")"
 *
 * The second form is the one that has a '('. The first follows NumPy's rules where they fit two operands: white space is
 * ignored, and a result that isn't written has the letters that are there exactly once, in the order of their codes (upper
 * case first). NumPy's '...' is refused, since all modes have to have a name here.
 *
 * Characters are read one after the other, by index, and never beyond the final 0. While parsing, a label's name is its place
 * and length in the text, so that names of any length are told apart; the name that the pattern keeps is for people to read,
 * and cut where it is too long. Every error has the place of what is wrong, counted in characters from 1. */
#include "contract/pattern.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

enum {
  LONGEST = 65536, /* characters of a pattern; places stay within an int, and no error takes long to find */
  QUOTED = 160,    /* of the pattern in an error, of which the rest has to be readable too */
  WORD_QUOTED = 40 /* of a name in an error */
};

typedef struct word {
  size_t at, length;
} word;

typedef struct parser {
  const char *text;
  size_t at;
  cutt_pattern *pattern;
  word word[CUTT_MOST_LABELS]; /* where each label is for the first time */
  int operands;                /* that there may be */
} parser;

static const char *const tensor_name[CUTT_MOST_TENSORS] = {"the left operand", "the right operand", "the result",
                                                           "the third operand"};

/* Of ASCII, whatever the locale is. */
static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

/* ----------------------------------------------------------------------------------------------------------- errors */

/* A part of the text as an error can show it: cut where it is long, and with '?' for what isn't printable. */
static void add_quoted(cutt_text *text, const char *part, size_t length, size_t most) {
  for (size_t i = 0; i < length && i < most; ++i) {
    cutt_text_add(text, "%c", part[i] >= ' ' && part[i] <= '~' ? part[i] : '?');
  }
  if (length > most) cutt_text_add(text, "...");
}

__attribute__((format(printf, 2, 3))) static cuttResult refuse(const parser *p, const char *format, ...) {
  char quoted[QUOTED + 8], what[640];
  cutt_text text = cutt_text_start(quoted, sizeof quoted);
  add_quoted(&text, p->text, strlen(p->text), QUOTED);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it was started */
  va_end(arguments);
  return cutt_error(CUTT_INVALID_PARAMETER, "pattern \"%s\": %s", quoted, what);
}

/* The error for a character that may not be at the parser's place. */
static cuttResult unexpected(const parser *p, const char *wanted) {
  const char c = p->text[p->at];
  if (!c) return refuse(p, "the text ends at place %zu, where %s must stand", p->at + 1, wanted);
  if (c < ' ' || c > '~') {
    return refuse(p, "the character with code %u at place %zu is not allowed; %s must stand there", (unsigned char)c,
                  p->at + 1, wanted);
  }
  return refuse(p, "the character '%c' at place %zu is not allowed; %s must stand there", c, p->at + 1, wanted);
}

/* A label as errors call it: the letter 'a', the mode 'a1'. */
typedef struct label_text {
  char text[WORD_QUOTED + 32];
} label_text;

static label_text label_name(const parser *p, int label) {
  const word *w = &p->word[label];
  label_text name;
  cutt_text text = cutt_text_start(name.text, sizeof name.text);
  cutt_text_add(&text, "the %s '", w->length == 1 && is_letter(p->text[w->at]) ? "letter" : "mode");
  add_quoted(&text, p->text + w->at, w->length, WORD_QUOTED);
  cutt_text_add(&text, "'");
  return name;
}

/* ----------------------------------------------------------------------------------------------------------- labels */

static int find_label(const parser *p, word w) {
  for (int i = 0; i < p->pattern->labels; ++i) {
    if (p->word[i].length == w.length && !memcmp(p->text + p->word[i].at, p->text + w.at, w.length)) return i;
  }
  return -1;
}

static int new_label(parser *p, word w) {
  cutt_pattern *pattern = p->pattern;
  const int label = pattern->labels++;
  p->word[label] = w;
  char *name = pattern->name[label].name;
  const bool fits = w.length < CUTT_NAME_SIZE;
  const size_t kept = fits ? w.length : CUTT_NAME_SIZE - 2;
  memcpy(name, p->text + w.at, kept);
  if (!fits) name[kept] = '~';
  name[kept + !fits] = 0;
  return label;
}

static cuttResult add_mode(parser *p, cutt_tensor tensor, word w) {
  cutt_pattern *pattern = p->pattern;
  const int rank = pattern->rank[tensor];
  if (rank == CUTT_MAX_RANK) {
    return refuse(p, "%s has more than %d modes, the next one at place %zu; it may have 0 to %d", tensor_name[tensor],
                  CUTT_MAX_RANK, w.at + 1, CUTT_MAX_RANK);
  }
  int label = find_label(p, w);
  if (label < 0) label = new_label(p, w);
  pattern->label[tensor][rank] = label;
  pattern->place[tensor][rank] = (int)w.at + 1;
  ++pattern->rank[tensor];
  return CUTT_SUCCESS;
}

static int count_of(const cutt_pattern *pattern, cutt_tensor tensor, int label) {
  int count = 0;
  for (int i = 0; i < pattern->rank[tensor]; ++i) count += pattern->label[tensor][i] == label;
  return count;
}

static cuttResult check_result(const parser *p) {
  const cutt_pattern *pattern = p->pattern;
  for (int i = 0; i < pattern->rank[CUTT_RESULT]; ++i) {
    const int label = pattern->label[CUTT_RESULT][i], place = pattern->place[CUTT_RESULT][i];
    if (!count_of(pattern, CUTT_LEFT, label) && !count_of(pattern, CUTT_RIGHT, label) &&
        !count_of(pattern, CUTT_THIRD, label)) {
      return refuse(p, "%s at place %d is in %s operand; the result may have modes of the operands only",
                    label_name(p, label).text, place, p->operands == 2 ? "neither" : "no");
    }
    for (int j = 0; j < i; ++j) {
      if (pattern->label[CUTT_RESULT][j] != label) continue;
      return refuse(p, "%s at place %d is in the result already, at place %d; each may be there once",
                    label_name(p, label).text, place, pattern->place[CUTT_RESULT][j]);
    }
  }
  return CUTT_SUCCESS;
}

/* ----------------------------------------------------------------------------------------------------------- einsum */

static void skip_space(parser *p) {
  while (is_space(p->text[p->at])) ++p->at;
}

/* The result that isn't written. */
static void imply_result(parser *p) {
  cutt_pattern *pattern = p->pattern;
  for (int code = 'A'; code <= 'z'; ++code) {
    for (int label = 0; label < pattern->labels; ++label) {
      if (p->text[p->word[label].at] != code) continue;
      if (count_of(pattern, CUTT_LEFT, label) + count_of(pattern, CUTT_RIGHT, label) != 1) continue;
      /* Never too many: there are 52 letters. */
      pattern->label[CUTT_RESULT][pattern->rank[CUTT_RESULT]] = label;
      pattern->place[CUTT_RESULT][pattern->rank[CUTT_RESULT]++] = 0;
    }
  }
}

static cuttResult refuse_in_einsum(const parser *p) {
  const char c = p->text[p->at];
  if (c == '.') {
    return refuse(p,
                  "the '.' at place %zu: modes without a name (NumPy's '...') are not supported; each mode must have "
                  "a letter",
                  p->at + 1);
  }
  if (is_digit(c) || c == '_') {
    return refuse(p,
                  "the character '%c' at place %zu is not a letter; a mode is one letter, a-z or A-Z (names of several "
                  "characters are for the form D(m1,n)=L(m1,k)*R(k,n))",
                  c, p->at + 1);
  }
  return unexpected(p, "a letter (a-z, A-Z), a ',' or '->'");
}

/* At a ','. */
static cuttResult next_operand(parser *p, cutt_tensor *tensor) {
  if (*tensor == CUTT_LEFT) {
    *tensor = CUTT_RIGHT;
    return CUTT_SUCCESS;
  }
  if (*tensor == CUTT_THIRD || p->operands == 2)
    return refuse(p, "the ',' at place %zu begins a %s operand; there may be %s", p->at + 1,
                  p->operands == 2 ? "third" : "fourth", p->operands == 2 ? "two" : "two or three");
  *tensor = CUTT_THIRD;
  p->pattern->three = true;
  return CUTT_SUCCESS;
}

static cuttResult parse_einsum(parser *p) {
  cutt_tensor tensor = CUTT_LEFT;
  for (skip_space(p); p->text[p->at]; skip_space(p)) {
    const char c = p->text[p->at];
    if (is_letter(c)) {
      const cuttResult result = add_mode(p, tensor, (word){p->at, 1});
      if (result) return result;
      ++p->at;
    } else if (c == ',') {
      if (tensor == CUTT_RESULT) return refuse(p, "the ',' at place %zu is in the result; it has one group", p->at + 1);
      const cuttResult result = next_operand(p, &tensor);
      if (result) return result;
      ++p->at;
    } else if (c == '-') {
      const size_t arrow = p->at++;
      skip_space(p);
      if (p->text[p->at] != '>') return unexpected(p, "the '>' of '->'");
      ++p->at;
      p->pattern->one = tensor == CUTT_LEFT;
      if (tensor == CUTT_RESULT)
        return refuse(p, "the '->' at place %zu is the second one; there may be one", arrow + 1);
      tensor = CUTT_RESULT;
    } else {
      return refuse_in_einsum(p);
    }
  }
  if (tensor == CUTT_RESULT) return CUTT_SUCCESS;
  if (p->operands > 2) return unexpected(p, "'->' and the result");
  if (tensor == CUTT_LEFT && !p->pattern->labels)
    return refuse(p, "the text ends at place %zu, and there is nothing in it; a scalar is \"->\"", p->at + 1);
  p->pattern->one = tensor == CUTT_LEFT;
  imply_result(p);
  return CUTT_SUCCESS;
}

/* ----------------------------------------------------------------------------------------------------------- TAL-SH */

static word read_name(parser *p) {
  word w = {p->at, 0};
  while (is_name(p->text[p->at])) ++p->at;
  w.length = p->at - w.at;
  return w;
}

/* One tensor with its modes, and the white space behind it. */
static cuttResult parse_tensor(parser *p, cutt_tensor tensor) {
  skip_space(p);
  if (!read_name(p).length) return unexpected(p, "the name of a tensor (letters, digits, _)");
  skip_space(p);
  if (p->text[p->at] == '+') {
    if (tensor == CUTT_RESULT) {
      return refuse(p, "the '+' at place %zu conjugates the result; only operands can be conjugated", p->at + 1);
    }
    p->pattern->conjugate[tensor] = true;
    ++p->at;
    skip_space(p);
    if (p->text[p->at] != '(') return unexpected(p, "a '('");
  }
  if (p->text[p->at] != '(') return unexpected(p, tensor == CUTT_RESULT ? "a '('" : "a '(' or '+('");
  ++p->at;
  skip_space(p);
  if (p->text[p->at] != ')') {
    for (;;) {
      skip_space(p);
      const word w = read_name(p);
      if (!w.length) {
        return unexpected(p, p->pattern->rank[tensor] ? "the name of a mode (letters, digits, _)"
                                                      : "the name of a mode (letters, digits, _) or a ')'");
      }
      const cuttResult result = add_mode(p, tensor, w);
      if (result) return result;
      skip_space(p);
      if (p->text[p->at] == ')') break;
      if (p->text[p->at] != ',') return unexpected(p, "a ',' or ')'");
      ++p->at;
    }
  }
  ++p->at;
  skip_space(p);
  return CUTT_SUCCESS;
}

static cuttResult parse_talsh(parser *p) {
  cuttResult result = parse_tensor(p, CUTT_RESULT);
  if (result) return result;
  if (p->text[p->at] == '+') {
    p->pattern->adds = true;
    ++p->at;
    if (p->text[p->at] != '=') return unexpected(p, "the '=' of '+='");
  } else if (p->text[p->at] != '=') {
    return unexpected(p, "'=' or '+='");
  }
  ++p->at;
  result = parse_tensor(p, CUTT_LEFT);
  if (result) return result;
  p->pattern->one = !p->text[p->at];
  if (p->pattern->one) return CUTT_SUCCESS;
  if (p->text[p->at] != '*') return unexpected(p, "a '*' and a second operand, or the end of the text,");
  ++p->at;
  result = parse_tensor(p, CUTT_RIGHT);
  if (result) return result;
  if (p->text[p->at] == '*') {
    return refuse(p, "the '*' at place %zu begins a third operand; there may be two", p->at + 1);
  }
  if (p->text[p->at]) return unexpected(p, "the end of the text");
  return CUTT_SUCCESS;
}

/* Sets up a parser. */
static cuttResult open_text(const char *text, const char *examples, cutt_pattern *pattern, parser *p) {
  if (!text) return cutt_error(CUTT_INVALID_PARAMETER, "pattern is NULL; it must be a text such as %s", examples);
  size_t length = 0;
  while (length <= LONGEST && text[length]) ++length;
  if (length > LONGEST) {
    return cutt_error(CUTT_INVALID_PARAMETER, "pattern \"%.40s...\" is longer than %d characters; it must not be", text,
                      LONGEST);
  }
  *p = (parser){.text = text, .pattern = pattern, .operands = 2};
  memset(pattern, 0, sizeof *pattern);
  return CUTT_SUCCESS;
}

cuttResult cutt_pattern_parse(const char *text, cutt_pattern *pattern) {
  parser p;
  cuttResult result = open_text(text, "\"abc,cd->abd\" or \"D(a,b,d)+=L(a,b,c)*R(c,d)\"", pattern, &p);
  if (!result) result = strchr(text, '(') ? parse_talsh(&p) : parse_einsum(&p);
  return result ? result : check_result(&p);
}

cuttResult cutt_pattern_parse_elementwise(const char *text, cutt_pattern *pattern) {
  parser p;
  cuttResult result = open_text(text, "\"ab,ba->ab\" or \"ab,ba,b->ab\"", pattern, &p);
  p.operands = 3;
  if (!result) result = parse_einsum(&p);
  if (!result && pattern->one) result = refuse(&p, "there is one operand; there must be two or three");
  if (!result) result = check_result(&p);
  for (int t = 0; t < CUTT_MOST_TENSORS && !result; ++t) {
    for (int i = 0; i < pattern->rank[t] && !result; ++i) {
      const int label = pattern->label[t][i];
      if (!count_of(pattern, CUTT_RESULT, label))
        result = refuse(&p, "%s at place %d is not in the result, and an elementwise operation sums nothing",
                        label_name(&p, label).text, pattern->place[t][i]);
    }
  }
  return result;
}
