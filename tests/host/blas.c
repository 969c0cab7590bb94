#include "host/blas.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

/* The same file by another name is no other library. */
static void add(host_libraries *list, const char *path) {
  char *real = realpath(path, NULL);
  if (!real) return;
  bool known = strlen(real) >= HOST_PATH || list->count == HOST_MOST_LIBRARIES;
  for (int i = 0; i < list->count && !known; i++) known = strcmp(list->path[i], real) == 0;
  if (!known) snprintf(list->path[list->count++], HOST_PATH, "%s", real);
  free(real);
}

void host_find_libraries(host_libraries *list) {
  static const char *const patterns[] = {"/usr/lib/*/openblas-*/libopenblas.so.0", "/usr/lib/*/blis-*/libblis.so.*",
                                         "/usr/lib*/libopenblas.so.0", "/usr/lib*/libblis.so.*",
                                         "/opt/intel/oneapi/mkl/latest/lib/libmkl_rt.so.2"};
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    glob_t found;
    if (glob(patterns[i], 0, NULL, &found)) continue;
    for (size_t j = 0; j < found.gl_pathc; j++) add(list, found.gl_pathv[j]);
    globfree(&found);
  }
  const char *named = getenv("CUTT_TEST_BLAS");
  while (named && *named) {
    char path[HOST_PATH];
    const size_t length = strcspn(named, ":");
    snprintf(path, sizeof path, "%.*s", (int)length, named);
    add(list, path);
    named += length + (named[length] == ':');
  }
}

void host_add_stand_ins(host_libraries *list, const char *folder, const char *const *names) {
  for (; *names; names++) {
    char path[HOST_PATH];
    snprintf(path, sizeof path, "%s/fake_%s.so", folder, *names);
    add(list, path);
  }
}

void host_need_stand_ins(host_libraries *list, const char *folder, const char *const *names) {
  int wanted = list->count;
  for (const char *const *name = names; *name; name++) wanted++;
  host_add_stand_ins(list, folder, names);
  assert_int_equal(list->count, wanted);
}

void host_need_libraries(host_libraries *list) {
  host_find_libraries(list);
  if (list->count) return;
  print_message("no BLAS is here\n");
  skip();
}

void host_describe_product(const int64_t *extents, const char *library, cuttContraction_t *contraction,
                           cuttContractionOptions_t *options) {
  *contraction = (cuttContraction_t)CUTT_CONTRACTION_INIT;
  contraction->pattern = "ij,jk->ik";
  contraction->type = CUTT_F64;
  contraction->left_rank = contraction->right_rank = contraction->result_rank = 2;
  contraction->left_extents = contraction->right_extents = extents;
  *options = (cuttContractionOptions_t)CUTT_CONTRACTION_OPTIONS_INIT;
  options->backend = CUTT_BACKEND_CPU;
  options->threads = 1;
  options->provider = library;
}
