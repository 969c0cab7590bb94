/* What several subcommands ask of the library: which backend --backend comes to here, and a wisdom file. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const struct {
  const char *name;
  cuttBackend_t backend;
} backends[] = {{"auto", CUTT_BACKEND_AUTO}, {"cpu", CUTT_BACKEND_CPU}, {"cuda", CUTT_BACKEND_CUDA}};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

bool cutt_cli_backend_of(const char *name, cuttBackend_t *backend) {
  for (size_t i = 0; i < BACKENDS; ++i) {
    if (strcmp(name, backends[i].name) != 0) continue;
    *backend = backends[i].backend;
    return true;
  }
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
