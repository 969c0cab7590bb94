/* What to set in the environment for better kernels.
 *
 * Some BLAS libraries know fewer processors than there are: one that meets a processor which it does not know uses
 * kernels of an older one, at a fraction of the speed, unless a variable of the environment names the right ones. It is
 * read when the library is loaded, and the environment is the user's: so it is the user who is told. */
#include "override.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"

/* A member that is a string; "" without one. */
static const char *text_of(const json_t *object, const char *name) {
  const char *text = json_string_value(json_object_get(object, name));
  return text ? text : "";
}

/* Is it the library on the CPU that is asked for, by name or path, or the default? */
static bool is_used(const json_t *library, const char *asked) {
  if (strcmp(text_of(library, "backend"), "cpu") != 0) return false;
  if (!asked) return json_is_true(json_object_get(library, "default"));
  return !strcmp(text_of(library, "name"), asked) || !strcmp(text_of(library, "path"), asked);
}

/* Is the variable of NAME=VALUE set, and not to nothing? */
static bool is_set(const char *override) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(override, "="), override);
  const char *value = getenv(name);
  return value && *value;
}

void cutt_cli_tell_override(const cuttContractionOptions_t *options, bool quiet) {
  if (quiet || options->backend != CUTT_BACKEND_CPU) return;
  json_t *described = cutt_cli_described_json(cutt_cli_describe_providers, NULL, NULL), *each;
  size_t i;
  json_array_foreach(json_object_get(described, "providers"), i, each) {
    const char *override = text_of(each, "environment_override");
    if (!*override || is_set(override) || !is_used(each, options->provider)) continue;
    cutt_cli_message(
        "%s has picked its kernels for %s, and has faster ones for this processor; environment override: %s",
        text_of(each, "name"), text_of(each, "kernels"), override);
    break;
  }
  json_decref(described);
}
