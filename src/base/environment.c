/* Variables of the environment whose values are words (environment.h). What they do is where they are read. */
#include "base/environment.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

typedef struct variable {
  const char *name, *words[6], *allowed;
} variable;

cuttResult cutt_environment_check(void) {
  static const variable variables[] = {
      {"CUTT_CUDA", {"0", "off", "1", "on"}, "0 or off for no GPU, 1 or on as if it were not set"},
      {"CUTT_LOG", {"none", "error", "warn", "info", "debug"}, "none, error, warn, info or debug"},
  };
  for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
    const variable *v = &variables[i];
    const char *value = getenv(v->name);
    if (!value || !*value) continue;
    int word = 0;
    while (v->words[word] && strcmp(value, v->words[word]) != 0) ++word;
    if (!v->words[word])
      return cutt_error(CUTT_INVALID_PARAMETER, "the environment variable %s is '%.100s'; it must be %s", v->name,
                        value, v->allowed);
  }
  return CUTT_SUCCESS;
}
