/* The library's descriptions; see describe.h. */
#include "describe.h"

#include <stdlib.h>

#include "cutt_contract.h"

cuttResult cutt_cli_describe_plan(void *of, int format, char *buffer, size_t size, size_t *needed) {
  return cuttPlanDescribe(of, (cuttFormat_t)format, buffer, size, needed);
}

cuttResult cutt_cli_describe_devices(void *of, int format, char *buffer, size_t size, size_t *needed) {
  (void)of;
  return cuttDevicesDescribe((cuttFormat_t)format, buffer, size, needed);
}

cuttResult cutt_cli_describe_providers(void *of, int format, char *buffer, size_t size, size_t *needed) {
  (void)of;
  return cuttProvidersDescribe((cuttFormat_t)format, buffer, size, needed);
}

char *cutt_cli_described(cutt_cli_describer *describe, void *of, int format, const char *what) {
  size_t needed = 0;
  char *text = NULL;
  if (describe(of, format, NULL, 0, &needed) == CUTT_SUCCESS) {
    text = malloc(needed + 1);
    if (!text) {
      if (what) cutt_cli_message("out of memory: %zu bytes for the description of %s", needed, what);
      return NULL;
    }
    if (describe(of, format, text, needed, NULL) == CUTT_SUCCESS) return text;
  }
  if (what) cutt_cli_message("%s could not be described: %s", what, cuttLastError());
  free(text);
  return NULL;
}

json_t *cutt_cli_described_json(cutt_cli_describer *describe, void *of, const char *what) {
  char *text = cutt_cli_described(describe, of, CUTT_JSON, what);
  json_error_t error;
  json_t *object = text ? json_loads(text, 0, &error) : NULL;
  if (text && !object && what) cutt_cli_message("the library's description of %s is no JSON: %s", what, error.text);
  free(text);
  return object;
}

int cutt_cli_print_json(json_t *object) {
  char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
  json_decref(object);
  if (!text) return cutt_cli_failed("the description could not be written as JSON");
  int code = cutt_cli_print(text);
  if (code == CUTT_CLI_DONE) code = cutt_cli_print("\n");
  free(text);
  return code;
}
