/* cmocka's side of the checks. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/backend.h"

void test_check(const test_problem *p, unsigned what) {
  if (!test_try(p, what)) fail();
}

bool test_isa_missing(void) {
  const char *wanted = getenv("CUTT_CPU_ISA");
  if (!wanted || !*wanted) return false;
  const char *why = "";
  if (cutt_cpu_backend.runtime->probe(&why) && !strcmp(cutt_cpu_backend.runtime->isa(), wanted)) return false;
  printf("skipped: this machine or build lacks CUTT_CPU_ISA=%s (%s)\n", wanted, why ? why : "");
  return true;
}

void test_assert_result(cuttResult wanted, cuttResult got, const char *call, const char *file, int line,
                        const char *const *words) {
  if (got != wanted) {
    print_error("%s gave %s, not %s; last error: %s\n", call, cuttResultName(got), cuttResultName(wanted),
                cuttLastError());
    _fail(file, line);
  }
  for (; *words; words++) {
    if (strstr(cuttLastError(), *words)) continue;
    print_error("%s: the error \"%s\" does not say \"%s\"\n", call, cuttLastError(), *words);
    _fail(file, line);
  }
}

void test_assert_near(double wanted, double got, int line) {
  if (fabs(got - wanted) > 1e-9 * fabs(wanted)) fail_msg("line %d: %.17g, where %.17g is right", line, got, wanted);
}
