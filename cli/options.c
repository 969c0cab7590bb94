/* Options and their values: every refusal names the option, the value, and what is allowed. Also the wisdom file, the
 * one option value that is opened the same way by several subcommands. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Says that argument is no option here, with the nearest one. */
static void unknown_option(const char *command, const char *argument, const struct option *options) {
  enum { MOST = 32 };
  const char *words[MOST];
  char word[64], list[512] = "";
  size_t count = 0;
  for (; options[count].name && count < MOST; ++count) {
    words[count] = options[count].name;
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s--%s", count ? ", " : "", options[count].name);
  }
  /* "--tread=2": the name alone. */
  snprintf(word, sizeof word, "%s", argument + strspn(argument, "-"));
  word[strcspn(word, "=")] = 0;
  const char *nearest = cutt_cli_nearest(word, words, count);
  if (nearest)
    cutt_cli_misused(command, "unknown option '%s'; did you mean '--%s'?", argument, nearest);
  else
    cutt_cli_misused(command, "unknown option '%s'; the options are %s", argument, list);
}

int cutt_cli_option(const char *command, int argc, char **argv, const struct option *options) {
  opterr = 0;
  char letters[32] = ":h"; /* of the options whose val is a letter; h is everybody's */
  size_t count = 2;
  for (const struct option *each = options; each->name && count + 3 < sizeof letters; ++each) {
    if (each->val == 'h' || each->val > 'z') continue;
    letters[count++] = (char)each->val;
    if (each->has_arg == required_argument) letters[count++] = ':';
  }
  letters[count] = 0;
  int option = getopt_long(argc, argv, letters, options, NULL);
  if (option != '?' && option != ':') return option;
  /* After a long option getopt stands behind it, and optopt is its val, or 0 when it is unknown. After an unknown letter
   * optopt is that letter, and getopt may still stand before a cluster of them. */
  const char *argument = argv[optind - 1];
  bool known = false;
  for (const struct option *each = options; each->name; ++each) known = known || each->val == optopt;
  if (option == ':') {
    cutt_cli_misused(command, "option '%s' needs a value", argument);
  } else if (optopt == 0) {
    unknown_option(command, argument, options);
  } else if (known) {
    cutt_cli_misused(command, "option '%.*s' takes no value", (int)strcspn(argument, "="), argument);
  } else {
    char letter[3] = {'-', (char)optopt, 0};
    unknown_option(command, letter, options);
  }
  return '?';
}

bool cutt_cli_parse_int(const char *command, const char *option, const char *text, int64_t low, int64_t high,
                        int64_t *value) {
  char *end = NULL;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  bool is_number = end != text && *end == 0 && strspn(text, " \t\n\v\f\r") == 0;
  if (is_number && errno == 0 && number >= low && number <= high) {
    *value = number;
    return true;
  }
  cutt_cli_misused(command, "%s is '%s'; it must be a whole number from %lld to %lld", option, text, (long long)low,
                   (long long)high);
  return false;
}

bool cutt_cli_parse_double(const char *command, const char *option, const char *text, double low, double high,
                           double *value) {
  char *end = NULL;
  double number = strtod(text, &end);
  bool is_number = end != text && *end == 0 && strspn(text, " \t\n\v\f\r") == 0;
  if (is_number && number >= low && number <= high) { /* not for NaN */
    *value = number;
    return true;
  }
  cutt_cli_misused(command, "%s is '%s'; it must be a number from %g to %g", option, text, low, high);
  return false;
}

bool cutt_cli_parse_size(const char *command, const char *option, const char *text, int64_t low, int64_t high,
                         int64_t *value) {
  static const char letters[] = "kMGT";
  char *end = NULL;
  double number = strtod(text, &end);
  bool good = end != text && text[0] >= '0' && text[0] <= '9' && strspn(text, "0123456789.") == (size_t)(end - text);
  if (good && *end) {
    const char *letter = strchr(letters, *end == 'K' ? 'k' : *end);
    good = letter != NULL;
    bool binary = end[1] == 'i';
    for (long i = letter ? letter - letters : -1; i >= 0; --i) number *= binary ? 1024.0 : 1000.0;
    good = good && end[1 + (binary ? 1 : 0)] == 0;
  }
  if (good && number >= (double)low && number <= (double)high && number < 9.2e18) {
    *value = (int64_t)number;
    return true;
  }
  cutt_cli_misused(command, "%s is '%s'; it must be a number from %lld to %lld, such as 100000, 400M or 1.5Gi", option,
                   text, (long long)low, (long long)high);
  return false;
}

bool cutt_cli_parse_list(const char *command, const char *option, const char *text, int64_t low, int64_t high,
                         int64_t *list, int max, int *count) {
  *count = 0;
  if (*text == 0) return true;
  for (const char *at = text;; ++at) {
    char word[32];
    size_t length = strcspn(at, ",");
    snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : (int)sizeof word - 1, at);
    char *end = NULL;
    errno = 0;
    long long number = strtoll(word, &end, 10);
    if (length >= sizeof word || end == word || *end || errno || word[0] == ' ' || number < low || number > high) {
      cutt_cli_misused(command,
                       "%s is '%s', where '%.*s' is wrong; it must be whole numbers from %lld to %lld with commas "
                       "between them, such as 2,0,1",
                       option, text, (int)(length < 64 ? length : 64), at, (long long)low, (long long)high);
      return false;
    }
    if (*count == max) {
      cutt_cli_misused(command, "%s is '%s'; it may have %d numbers at most", option, text, max);
      return false;
    }
    list[(*count)++] = number;
    at += length;
    if (*at == 0) return true;
  }
}

static const struct {
  const char *name;
  cuttBackend_t backend;
} backends[] = {{"auto", CUTT_BACKEND_AUTO}, {"cpu", CUTT_BACKEND_CPU}, {"cuda", CUTT_BACKEND_CUDA}};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

bool cutt_cli_parse_backend(const char *command, const char *text, cuttBackend_t *backend) {
  for (size_t i = 0; i < BACKENDS; ++i) {
    if (strcmp(text, backends[i].name) != 0) continue;
    *backend = backends[i].backend;
    return true;
  }
  cutt_cli_misused(command, "--backend is '%s'; it must be auto, cpu or cuda", text);
  return false;
}

const char *cutt_cli_backend_name(cuttBackend_t backend) {
  for (size_t i = 0; i < BACKENDS; ++i)
    if (backend == backends[i].backend) return backends[i].name;
  return "unknown";
}

bool cutt_cli_find_backend(cuttBackend_t asked, cuttBackend_t *backend) {
  /* A plan knows, and one of a tensor without elements is no work. */
  static const int64_t extents[1] = {0};
  static const int perm[1] = {0};
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 1;
  problem.type = CUTT_BYTES_1;
  problem.extents = extents;
  problem.perm = perm;
  cuttOptions_t plan_options = CUTT_OPTIONS_INIT;
  plan_options.backend = asked;
  cuttPlan_t plan = NULL;
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  bool found =
      cuttPlanCreate(&plan, &problem, &plan_options) == CUTT_SUCCESS && cuttPlanGetInfo(plan, &info) == CUTT_SUCCESS;
  if (!found) cutt_cli_message("--backend %s can't be had: %s", cutt_cli_backend_name(asked), cuttLastError());
  *backend = info.backend;
  cuttPlanDestroy(plan);
  return found;
}

bool cutt_cli_check_axes(const char *command, const int64_t *axes, int count, int rank, int *checked) {
  if (count != rank) {
    cutt_cli_misused(command, "--axes has %d axes, but the array has %d; each of them must be there once", count, rank);
    return false;
  }
  bool seen[CUTT_MAX_RANK] = {false};
  for (int i = 0; i < count; ++i) {
    int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank) {
      cutt_cli_misused(command, "--axes has axis %lld, but the array has %d: they are numbered %d to %d, or %d to -1",
                       (long long)axes[i], rank, 0, rank - 1, -rank);
      return false;
    }
    if (seen[axis]) {
      cutt_cli_misused(command, "--axes has axis %lld twice; each axis must be there once", (long long)axis);
      return false;
    }
    seen[axis] = true;
    checked[i] = (int)axis;
  }
  return true;
}

cuttWisdom_t cutt_cli_wisdom_open(const char *path, bool quiet, bool *is_new) {
  cuttWisdom_t wisdom = NULL;
  if (cuttWisdomCreate(&wisdom) != CUTT_SUCCESS) {
    cutt_cli_message("wisdom: %s", cuttLastError());
    return NULL;
  }
  *is_new = access(path, F_OK) != 0 && errno == ENOENT;
  if (*is_new) return wisdom;
  size_t used = 0, ignored = 0;
  if (cuttWisdomLoad(wisdom, path, &used, &ignored) != CUTT_SUCCESS) {
    cutt_cli_message("the wisdom file could not be read: %s", cuttLastError());
    cuttWisdomDestroy(wisdom);
    return NULL;
  }
  if (ignored > 0 && !quiet)
    cutt_cli_message("%s: %zu of %zu lines are not used here: %s", path, ignored, used + ignored, cuttLastError());
  return wisdom;
}
