/* Wisdom files.
 *
 * A file is a header line, comment lines that start with '#', and one line per entry:
 *
 *   cutt wisdom, format 1
 *   CHECKSUM VERSION DEVICE THREADS ELEM_BYTES BASE_BYTES SCALE RANK EXTENT:IN:OUT ... = METHOD M K SPLIT_M SPLIT_K
 *   THREADS P0 ... P5 PICOSECONDS                                                        (all of it on one line)
 *   CHECKSUM VERSION DEVICE KIND WORD ... = WORD ... PICOSECONDS
 *
 * The second form is of a problem that is no permutation: KIND, in small letters, is what it is, and only the library that plans
 * such problems knows the words. From VERSION to what stands before the "=" a line is the entry's key. Everything is a word or a whole number in decimal, so
 * no locale can change its meaning, and nothing is rounded. The checksum covers what follows it: a line that an editor,
 * a full disk or a crash has damaged is passed over and says so, and the others are still good. Even a line with a
 * right checksum is only believed as far as it is plausible here, and the backend looks at the candidate again before
 * using it.
 *
 * When two lines have one key, the faster of the two is kept: a timing is too long when something disturbed it, and
 * never too short.
 *
 * Several processes may save to one file: each adds its entries to what is there, one after the other. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "runtime/runtime.h"
#include "store/wisdom.h"

static const char header[] = "cutt wisdom, format ";
static const char format[] = "1";
static const char columns[] =
    "# checksum version device threads elem_bytes base_bytes scale rank extent:in_stride:out_stride ...\n"
    "#   = method m k split_m split_k threads p0 p1 p2 p3 p4 p5 picoseconds\n"
    "# checksum version device contraction words ... = words ... picoseconds\n";

/* VALUE_BYTES: of what follows a permutation's key. CHECK_BYTES: the checksum, 16 hexadecimal digits and a space. */
enum { VALUE_BYTES = 320, CHECK_BYTES = 17 };
enum { LINE_BYTES = CHECK_BYTES + CUTT_WISDOM_PROBLEM_BYTES + CUTT_WISDOM_WORDS_BYTES };
enum { DEVICES = 8 };

/* ---------------------------------------------------------------------------------------------------------- reading */

typedef struct reader {
  cuttWisdom_t wisdom;
  const char *path;
  char device[DEVICES][CUTT_WISDOM_DEVICE_BYTES]; /* of the backends that are usable here */
  int devices;
  size_t line, used, ignored; /* line: number of the current one, from 1 */
  bool other_format;          /* by the header: every line is passed over */
  bool is_wisdom, has_text;   /* a line was of wisdom, of whichever version; a line was not empty */
  bool quiet;                 /* why a line is passed over is not told */
  char text[LINE_BYTES + 2];  /* of the current line; a '\r' and the final 0 beside it */
  size_t length;
  bool too_long; /* it is passed over to its end without being kept */
  cuttResult result;
} reader;

__attribute__((format(printf, 2, 3))) static void ignore(reader *r, const char *why, ...) {
  if (r->ignored++ || r->quiet) return;
  char reason[512];
  va_list arguments;
  va_start(arguments, why);
  vsnprintf(reason, sizeof reason, why, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it was started */
  va_end(arguments);
  cutt_error(CUTT_SUCCESS, "%s, line %zu is passed over: %s", r->path, r->line, reason);
}

/* A whole number as this library writes it, followed by end; *at moves behind that. */
static bool take_number(const char **at, char end, int64_t low, int64_t high, int64_t *value) {
  const char *c = *at;
  const bool negative = *c == '-';
  if (negative) ++c;
  if (*c < '0' || *c > '9' || (*c == '0' && (negative || (c[1] >= '0' && c[1] <= '9')))) return false;
  int64_t number = 0;
  for (; *c >= '0' && *c <= '9'; ++c) {
    if (__builtin_mul_overflow(number, 10, &number)) return false;
    const int digit = negative ? '0' - *c : *c - '0';
    if (__builtin_add_overflow(number, digit, &number)) return false;
  }
  if (*c != end || number < low || number > high) return false;
  *at = c + 1;
  *value = number;
  return true;
}

/* A number that fits an int. */
static bool take_int(const char **at, char end, int low, int high, int *value) {
  int64_t number = 0;
  if (!take_number(at, end, low, high, &number)) return false;
  *value = (int)number;
  return true;
}

static bool take_method(const char **at, cutt_method *method) {
  for (int i = 0; i < CUTT_METHODS; ++i) {
    const size_t length = strlen(cutt_method_name[i]);
    if (strncmp(*at, cutt_method_name[i], length) != 0 || (*at)[length] != ' ') continue;
    *at += length + 1;
    *method = (cutt_method)i;
    return true;
  }
  return false;
}

/* What follows the device in a key, up to " = ". */
static bool take_problem(const char **at, int *rank, int *threads) {
  int elem = 0, base = 0, scale = 0;
  if (!take_int(at, ' ', 1, CUTT_MAX_THREADS, threads) || !take_int(at, ' ', 1, 16, &elem) ||
      !take_int(at, ' ', 1, 16, &base) || !take_int(at, ' ', 0, INT32_MAX, &scale) ||
      !take_int(at, ' ', 0, CUTT_MAX_RANK, rank)) {
    return false;
  }
  if ((elem & (elem - 1)) || (base & (base - 1)) || base > elem) return false;
  for (int i = 0; i < *rank; ++i) {
    int64_t extent = 0, in = 0, out = 0;
    if (!take_number(at, ':', 2, INT64_MAX, &extent) || !take_number(at, ':', INT64_MIN, INT64_MAX, &in) ||
        !take_number(at, ' ', 1, INT64_MAX, &out)) {
      return false;
    }
  }
  if (**at != '=' || (*at)[1] != ' ') return false;
  *at += 2;
  return true;
}

static bool take_candidate(const char **at, int rank, int threads, cutt_candidate *candidate, int64_t *picoseconds) {
  if (!take_method(at, &candidate->method) || !take_int(at, ' ', 0, rank, &candidate->m) ||
      !take_int(at, ' ', 0, rank, &candidate->k) || !take_number(at, ' ', 0, INT64_MAX, &candidate->split_m) ||
      !take_number(at, ' ', 0, INT64_MAX, &candidate->split_k) || !take_int(at, ' ', 1, threads, &candidate->threads)) {
    return false;
  }
  for (int i = 0; i < CUTT_PARAMS; ++i) {
    if (!take_number(at, ' ', INT64_MIN, INT64_MAX, &candidate->param[i])) return false;
  }
  candidate->seconds = 0;
  return take_number(at, 0, 0, INT64_MAX, picoseconds);
}

/* Words, one space between them, from *at to the word "=", or to the end of the text. *at moves to the end. */
static bool take_words(const char **at) {
  const char *c = *at;
  for (size_t word = 0; *c; ++c) {
    if (*c == ' ' && word == 0) return false;
    if (*c == ' ' && c[1] == '=' && c[2] == ' ') break;
    if (*c != ' ' && !(*c > ' ' && *c <= '~')) return false;
    word = *c == ' ' ? 0 : word + 1;
  }
  if (c == *at || c[-1] == ' ') return false;
  *at = c;
  return true;
}

/* The rest of an entry whose problem is no permutation, from its kind on. The key and the words are given a final 0. */
static bool take_worded(char *kind, cutt_wisdom_entry *entry) {
  const char *at = kind, *number = NULL;
  if (*at < 'a' || *at > 'z' || !take_words(&at) || *at != ' ') return false;
  char *words = kind + (at - kind) + 3; /* after " = " */
  at = words;
  if (!take_words(&at) || *at) return false;
  number = strrchr(words, ' ');
  if (!number) return false;
  char *words_end = words + (number - words);
  ++number;
  if (!take_number(&number, 0, 0, INT64_MAX, &entry->picoseconds)) return false;
  *words_end = words[-3] = 0;
  entry->words = words;
  return true;
}

/* The rest of an entry of a permutation, from its threads on; *why: what can't be read. The key is given a final 0. */
static bool take_permutation(char *problem, cutt_wisdom_entry *entry, const char **why) {
  const char *at = problem;
  int rank = 0, threads = 0;
  *why = "its problem can't be read";
  if (!take_problem(&at, &rank, &threads)) return false;
  char *key_end = problem + (at - problem) - 3; /* before " = " */
  *why = "its candidate can't be read";
  if (!take_candidate(&at, rank, threads, &entry->candidate, &entry->picoseconds)) return false;
  *key_end = 0;
  return true;
}

/* A line without its end, followed by a 0. Entries of this library's version are added whichever machine they are of;
 * only those of this one count as used. */
static cuttResult take_entry(reader *r, char *line, size_t length) {
  char check[CHECK_BYTES];
  const uint64_t sum = length >= CHECK_BYTES ? cutt_wisdom_hash(line + CHECK_BYTES, length - CHECK_BYTES) : 0;
  snprintf(check, sizeof check, "%016" PRIx64, sum);
  if (length < CHECK_BYTES || memcmp(line, check, CHECK_BYTES - 1) != 0 || line[CHECK_BYTES - 1] != ' ' ||
      strlen(line) != length) {
    ignore(r, "its checksum is not that of its text; it has been damaged or edited");
    return CUTT_SUCCESS;
  }
  r->is_wisdom = true;
  char *key = line + CHECK_BYTES;
  const char *at = key;
  int version = 0;
  if (!take_int(&at, ' ', 0, INT32_MAX, &version)) {
    ignore(r, "it does not begin with a version");
    return CUTT_SUCCESS;
  }
  if (version != cuttVersion()) {
    ignore(r, "it is of version %d, and this is version %d", version, cuttVersion());
    return CUTT_SUCCESS;
  }
  const char *device = at;
  while (*at > ' ' && *at <= '~') ++at;
  const size_t device_length = (size_t)(at - device);
  cutt_wisdom_entry entry = {.key = key};
  const char *why = "its problem can't be read";
  const bool has_device = device_length > 0 && device_length < CUTT_WISDOM_DEVICE_BYTES && *at == ' ';
  char *problem = key + (at - key) + 1;
  const bool permutes = has_device && *problem >= '0' && *problem <= '9';
  if (!has_device || !(permutes ? take_permutation(problem, &entry, &why) : take_worded(problem, &entry))) {
    ignore(r, "%s", why);
    return CUTT_SUCCESS;
  }
  const cuttResult result = cutt_wisdom_put(r->wisdom, &entry, false);
  if (result) return result;
  for (int i = 0; i < r->devices; ++i) {
    if (strlen(r->device[i]) == device_length && !memcmp(r->device[i], device, device_length)) {
      ++r->used;
      return CUTT_SUCCESS;
    }
  }
  ignore(r, "it is of another machine, %.*s", (int)device_length, device);
  return CUTT_SUCCESS;
}

/* What the header says after its fixed words. A format that is not known makes every line one to pass over; a header
 * that is damaged doesn't, because each line has a checksum of its own. */
static void take_header(reader *r, const char *name) {
  if (!strcmp(name, format)) return;
  const size_t digits = strspn(name, "0123456789");
  r->other_format = digits > 0 && digits < 10 && !name[digits];
  if (!r->other_format) {
    ignore(r, "the header is damaged");
    return;
  }
  /* The header is the line to name, but only entries count. */
  ignore(r, "format %s is not known; this library reads format %s", name, format);
  r->ignored = 0;
}

static cuttResult take_line(reader *r) {
  char *line = r->text;
  ++r->line;
  if (r->length && line[r->length - 1] == '\r') --r->length; /* an editor of another system */
  line[r->length] = 0;
  r->has_text |= r->length > 0;
  if (r->line == 1 && !r->too_long && !strncmp(line, header, sizeof header - 1)) {
    r->is_wisdom = true;
    take_header(r, line + sizeof header - 1);
    return CUTT_SUCCESS;
  }
  if (!r->too_long && (r->length == 0 || line[0] == '#')) return CUTT_SUCCESS;
  if (r->other_format) {
    ++r->ignored;
    return CUTT_SUCCESS;
  }
  if (r->too_long) {
    ignore(r, "it is longer than any entry");
    return CUTT_SUCCESS;
  }
  return take_entry(r, line, r->length);
}

/* Cuts a file into lines. */
static bool take_bytes(void *context, const char *bytes, size_t count) {
  reader *r = context;
  for (size_t i = 0; i < count && !r->result; ++i) {
    if (bytes[i] == '\n') {
      r->result = take_line(r);
      r->length = 0;
      r->too_long = false;
    } else if (r->length <= LINE_BYTES) {
      r->text[r->length++] = bytes[i];
    } else {
      r->too_long = true;
    }
  }
  return !r->result;
}

static cuttResult check_arguments(cuttWisdom_t wisdom, const char *path) {
  if (!cutt_wisdom_alive(wisdom)) {
    return cutt_error(CUTT_INVALID_PARAMETER, "wisdom is %p, which is not alive; it must come from cuttWisdomCreate",
                      (void *)wisdom);
  }
  if (!path || !*path) {
    return cutt_error(CUTT_INVALID_PARAMETER, "path is %s; it must name a file", path ? "empty" : "NULL");
  }
  return CUTT_SUCCESS;
}

static reader *start_reading(cuttWisdom_t wisdom, const char *path) {
  reader *r = calloc(1, sizeof *r);
  if (!r) {
    cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to read wisdom", sizeof *r);
    return NULL;
  }
  r->wisdom = wisdom;
  r->path = path;
  return r;
}

cuttResult cuttWisdomLoad(cuttWisdom_t wisdom, const char *path, size_t *used, size_t *ignored) {
  if (used) *used = 0;
  if (ignored) *ignored = 0;
  cuttResult result = check_arguments(wisdom, path);
  if (result) return result;
  reader *r = start_reading(wisdom, path);
  if (!r) return CUTT_INTERNAL_ERROR;
  for (const cutt_backend *const *b = cutt_backends; *b && r->devices < DEVICES; ++b) {
    const char *why = NULL;
    if ((*b)->runtime->probe(&why)) cutt_wisdom_device(*b, r->device[r->devices++]);
  }
  result = cutt_file_read("path", path, take_bytes, r);
  if (!result) result = r->result;
  if (!result && r->length) result = take_line(r); /* the last one has no end */
  if (used) *used = r->used;
  if (ignored) *ignored = r->ignored;
  cutt_log(CUTT_LOG_INFO, "wisdom: %zu entries used and %zu passed over in %s", r->used, r->ignored, path);
  free(r);
  return result;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

static char *put_candidate(char *to, const cutt_candidate *candidate) {
  const int64_t numbers[] = {candidate->m, candidate->k, candidate->split_m, candidate->split_k, candidate->threads};
  to = stpcpy(to, cutt_method_name[candidate->method]);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    *to++ = ' ';
    to = cutt_wisdom_number(to, numbers[i]);
  }
  for (int i = 0; i < CUTT_PARAMS; ++i) {
    *to++ = ' ';
    to = cutt_wisdom_number(to, candidate->param[i]);
  }
  return to;
}

static char *put_entry(char *to, const cutt_wisdom_entry *entry) {
  char *line = to;
  to += CHECK_BYTES;
  to = stpcpy(to, entry->key);
  to = stpcpy(to, " = ");
  to = entry->words ? stpcpy(to, entry->words) : put_candidate(to, &entry->candidate);
  *to++ = ' ';
  to = cutt_wisdom_number(to, entry->picoseconds);
  const char *text = line + CHECK_BYTES;
  snprintf(line, CHECK_BYTES, "%016" PRIx64, cutt_wisdom_hash(text, (size_t)(to - text)));
  line[CHECK_BYTES - 1] = ' ';
  *to++ = '\n';
  return to;
}

/* All of the file, in memory, so that the lock is not held while a disk is waited for. NULL: out of memory. */
static char *compose(cuttWisdom_t wisdom, size_t *length) {
  size_t count = 0;
  const cutt_wisdom_entry *entries = cutt_wisdom_lock(wisdom, &count);
  size_t bytes = sizeof header + sizeof format + sizeof columns + 1;
  for (size_t i = 0; i < count; ++i) {
    const cutt_wisdom_entry *e = &entries[i];
    bytes += CHECK_BYTES + strlen(e->key) + (e->words ? strlen(e->words) : 0) + VALUE_BYTES;
  }
  char *text = malloc(bytes);
  if (text) {
    char *to = stpcpy(stpcpy(stpcpy(stpcpy(text, header), format), "\n"), columns);
    for (size_t i = 0; i < count; ++i) to = put_entry(to, &entries[i]);
    *length = (size_t)(to - text);
  }
  cutt_wisdom_unlock(wisdom);
  return text;
}

/* Adds what a file holds, if there is one. */
static cuttResult add_file(cuttWisdom_t wisdom, const char *path) {
  reader *r = start_reading(wisdom, path);
  if (!r) return CUTT_INTERNAL_ERROR;
  r->quiet = true;
  const char *wrong = cutt_file_try(path, take_bytes, r);
  const int error = errno;
  if (wrong && error != ENOENT && error != ENOTDIR && error != 0) {
    r->result = cutt_error(CUTT_INTERNAL_ERROR, "\"%s\" is as it was, because what it holds %s: %s", path, wrong,
                           strerror(error));
  }
  if (!r->result && r->length) r->result = take_line(r); /* the last one has no end */
  if (!r->result && r->has_text && !r->is_wisdom)
    r->result = cutt_error(
        CUTT_INVALID_PARAMETER,
        "path is \"%s\", which holds no line of wisdom and is as it was; it must name wisdom's file, or none", path);
  const cuttResult result = r->result;
  free(r);
  return result;
}

static cuttResult add_all(cuttWisdom_t to, cuttWisdom_t from) {
  size_t count = 0;
  cuttResult result = CUTT_SUCCESS;
  const cutt_wisdom_entry *entries = cutt_wisdom_lock(from, &count);
  for (size_t i = 0; i < count && !result; ++i) {
    result = cutt_wisdom_put(to, &entries[i], false);
  }
  cutt_wisdom_unlock(from);
  return result;
}

/* What the path holds and the object. */
static cuttResult save_merged(cuttWisdom_t wisdom, const char *path) {
  cuttWisdom_t merged = NULL;
  char *text = NULL;
  size_t length = 0;
  cuttResult result = cuttWisdomCreate(&merged);
  if (!result) result = add_file(merged, path);
  if (!result) result = add_all(merged, wisdom);
  if (!result) {
    text = compose(merged, &length);
    result = text ? cutt_file_replace("path", path, text, length)
                  : cutt_error(CUTT_INTERNAL_ERROR, "out of memory: wisdom for \"%s\"", path);
  }
  free(text);
  cuttWisdomDestroy(merged);
  return result;
}

cuttResult cuttWisdomSave(cuttWisdom_t wisdom, const char *path) {
  cuttResult result = check_arguments(wisdom, path);
  if (result) return result;
  const cutt_file_guard guard = cutt_file_lock(path);
  result = save_merged(wisdom, path);
  cutt_file_unlock(guard);
  return result;
}
