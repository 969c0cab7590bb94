/* The values of options: every refusal names the option, the value, and what is allowed. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "options.h"

bool cutt_cli_parse_int(const char *command, const char *name, const char *text, int64_t low, int64_t high,
                        int64_t *value) {
  char *end = NULL;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  bool is_number = end != text && !*end && strspn(text, " \t\n\v\f\r") == 0;
  if (is_number && errno == 0 && number >= low && number <= high) {
    *value = number;
    return true;
  }
  cutt_cli_misused(command, "--%s is '%s'; it must be a whole number from %lld to %lld", name, text, (long long)low,
                   (long long)high);
  return false;
}

bool cutt_cli_parse_double(const char *command, const char *name, const char *text, double low, double high,
                           double *value) {
  char *end = NULL;
  double number = strtod(text, &end);
  bool is_number = end != text && !*end && strspn(text, " \t\n\v\f\r") == 0;
  if (is_number && number >= low && number <= high) { /* not for NaN */
    *value = number;
    return true;
  }
  cutt_cli_misused(command, "--%s is '%s'; it must be a number from %g to %g", name, text, low, high);
  return false;
}

bool cutt_cli_parse_size(const char *command, const char *name, const char *text, int64_t low, int64_t high,
                         int64_t *value) {
  static const char letters[] = "kMGT";
  char *end = NULL;
  double number = strtod(text, &end);
  bool good = end != text && text[0] >= '0' && text[0] <= '9' && strspn(text, "0123456789.") == (size_t)(end - text);
  if (good && *end) {
    const char *letter = strchr(letters, *end == 'K' ? 'k' : *end);
    good = letter;
    bool binary = end[1] == 'i';
    for (long i = letter ? letter - letters : -1; i >= 0; --i) number *= binary ? 1024.0 : 1000.0;
    good = good && end[1 + (binary ? 1 : 0)] == 0;
  }
  if (good && number >= (double)low && number <= (double)high && number < 9.2e18) {
    *value = (int64_t)number;
    return true;
  }
  cutt_cli_misused(command, "--%s is '%s'; it must be a number from %lld to %lld, such as 100000, 400M or 1.5Gi", name,
                   text, (long long)low, (long long)high);
  return false;
}

bool cutt_cli_parse_list(const char *command, const char *name, const char *text, int64_t low, int64_t high,
                         int64_t *list, int max, int *count) {
  *count = 0;
  if (!text[strspn(text, " ")]) return true;
  for (const char *at = text;; ++at) {
    char word[32];
    at += strspn(at, " ");
    size_t length = strcspn(at, ","), digits = length;
    while (digits > 0 && at[digits - 1] == ' ') --digits;
    snprintf(word, sizeof word, "%.*s", digits < sizeof word ? (int)digits : (int)sizeof word - 1, at);
    char *end = NULL;
    errno = 0;
    long long number = strtoll(word, &end, 10);
    if (digits >= sizeof word || end == word || *end || errno || isspace((unsigned char)word[0]) || number < low ||
        number > high) {
      cutt_cli_misused(command,
                       "--%s is '%s', where '%.*s' is wrong; it must be whole numbers from %lld to %lld with commas "
                       "between them, such as 2,0,1",
                       name, text, (int)(length < 64 ? length : 64), at, (long long)low, (long long)high);
      return false;
    }
    if (*count == max) {
      cutt_cli_misused(command, "--%s is '%s'; it may have %d numbers at most", name, text, max);
      return false;
    }
    list[(*count)++] = number;
    at += length;
    if (!*at) return true;
  }
}

bool cutt_cli_check_axes(const char *command, const int64_t *list, int count, int rank, int *axes) {
  if (count != rank) {
    cutt_cli_misused(command, "--axes has %d axes, but the array has %d; each of them must be there once", count, rank);
    return false;
  }
  bool seen[CUTT_MAX_RANK] = {false};
  for (int i = 0; i < count; ++i) {
    int64_t axis = list[i] < 0 ? list[i] + rank : list[i];
    if (axis < 0 || axis >= rank) {
      cutt_cli_misused(command, "--axes has axis %lld, but the array has %d: they are numbered %d to %d, or %d to -1",
                       (long long)list[i], rank, 0, rank - 1, -rank);
      return false;
    }
    if (seen[axis]) {
      cutt_cli_misused(command, "--axes has axis %lld twice; each axis must be there once", (long long)axis);
      return false;
    }
    seen[axis] = true;
    axes[i] = (int)axis;
  }
  return true;
}

bool cutt_cli_parse_axes(const char *command, const char *text, int rank, int *axes) {
  int64_t list[CUTT_MAX_RANK];
  int count = rank;
  for (int i = 0; i < rank; ++i) list[i] = rank - 1 - i;
  return (!text ||
          cutt_cli_parse_list(command, "axes", text, -CUTT_MAX_RANK, CUTT_MAX_RANK - 1, list, CUTT_MAX_RANK, &count)) &&
         cutt_cli_check_axes(command, list, count, rank, axes);
}

/* ---------------------------------------------------------------------------------------------------------- readers */

bool cutt_cli_read_flag(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  (void)command;
  (void)option;
  (void)text;
  *(bool *)field = true;
  return true;
}

bool cutt_cli_read_text(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  (void)command;
  (void)option;
  *(const char **)field = text;
  return true;
}

bool cutt_cli_read_threads(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  int64_t threads = 0;
  if (!cutt_cli_parse_int(command, option->name, text, 1, CUTT_CLI_MAX_THREADS, &threads)) return false;
  *(int *)field = (int)threads;
  return true;
}

bool cutt_cli_read_case_seconds(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  return cutt_cli_parse_double(command, option->name, text, 0.001, 3600, field);
}

bool cutt_cli_read_seed(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  return cutt_cli_parse_int(command, option->name, text, 0, INT64_MAX, field);
}

static bool read_size(const char *command, const cutt_cli_option *option, const char *text, int64_t low, void *field) {
  int64_t bytes = 0;
  if (!cutt_cli_parse_size(command, option->name, text, low, INT64_C(1) << 60, &bytes)) return false;
  *(size_t *)field = (size_t)bytes;
  return true;
}

bool cutt_cli_read_bytes(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  return read_size(command, option, text, 0, field);
}

bool cutt_cli_read_memory(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  return read_size(command, option, text, 1000, field);
}

bool cutt_cli_read_backend(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  if (cutt_cli_backend_of(text, field)) return true;
  cutt_cli_misused(command, "--%s is '%s'; it must be auto, cpu or cuda", option->name, text);
  return false;
}

bool cutt_cli_read_measure(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  (void)command;
  (void)option;
  (void)text;
  *(cuttChoice_t *)field = CUTT_MEASURE;
  return true;
}
