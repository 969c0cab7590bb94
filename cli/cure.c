/* Starting again with an environment in which a BLAS picks the right kernels.
 *
 * Some BLAS libraries know fewer processors than there are: one that meets a processor which it does not know uses
 * kernels of an older one, at a fraction of the speed, unless a variable of the environment names the right ones. The
 * variable is read when the library is loaded, and then it is too late to set it. The library does not touch the
 * environment, which belongs to the process; the program may, for it is the process. So it starts itself anew. */
#include "cure.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "cutt_contract.h"

static const char mark[] = "CUTT_CURED";
static char **arguments;

void cutt_cli_cure_remember(char **argv) { arguments = argv; }

/* cuttProvidersDescribe's JSON, or NULL. */
static json_t *providers(void) {
  size_t needed = 0;
  if (cuttProvidersDescribe(CUTT_JSON, NULL, 0, &needed) != CUTT_SUCCESS) return NULL;
  char *text = malloc(needed + 1);
  json_t *parsed = NULL;
  if (text && cuttProvidersDescribe(CUTT_JSON, text, needed, NULL) == CUTT_SUCCESS) parsed = json_loads(text, 0, NULL);
  free(text);
  return parsed;
}

/* Sets NAME=VALUE unless NAME is set, and not to nothing; whether it did. */
static bool set(const char *cure) {
  char name[64];
  const char *equals = strchr(cure, '=');
  if (!equals || equals == cure || (size_t)(equals - cure) >= sizeof name) return false;
  snprintf(name, sizeof name, "%.*s", (int)(equals - cure), cure);
  const char *before = getenv(name);
  return !(before && *before) && setenv(name, equals + 1, 1) == 0;
}

void cutt_cli_cure(bool quiet) {
  const char *cured = getenv(mark);
  if (!arguments || (cured && *cured)) return;
  json_t *described = providers(), *each;
  size_t i;
  char said[256] = "";
  json_array_foreach(json_object_get(described, "providers"), i, each) {
    const char *cure = json_string_value(json_object_get(each, "cure"));
    if (!cure || !*cure || !set(cure)) continue;
    const char *name = json_string_value(json_object_get(each, "name"));
    const size_t length = strlen(said);
    snprintf(said + length, sizeof said - length, "%s%s for %s", length ? ", " : "", cure, name ? name : "BLAS");
  }
  json_decref(described);
  if (!*said || setenv(mark, "1", 1) != 0) return;
  if (!quiet) cutt_cli_message("started again with better kernels for this processor: %s (--no-cure leaves it)", said);
  fflush(NULL);
  execv("/proc/self/exe", arguments);
  /* Where that can't be, the work is done as it is, more slowly. */
}
