/* cutt devices: the libraries' own accounts of what is usable on this machine, to permute and to contract. */
#include <jansson.h>
#include <stdlib.h>

#include "cli.h"
#include "cutt_contract.h"
#include "options.h"

static const char me[] = "devices";

typedef struct request {
  bool json;
} request;

static const cutt_cli_option options[] = {
    {"json", NULL, "as one JSON object", cutt_cli_read_flag, offsetof(request, json)},
};

static const cutt_cli_syntax syntax = {
    .command = me,
    .usage =
        "Usage: cutt devices [--json]\n"
        "List the backends and instruction sets of this machine, which are used, and why one is not; and the BLAS\n"
        "libraries that multiply matrices for contractions, with their speed.\n",
    .options = options,
    .count = sizeof options / sizeof options[0],
};

typedef cuttResult describe(cuttFormat_t format, char *buffer, size_t size, size_t *needed);

/* The whole text; the caller frees it. NULL after a message. */
static char *described(describe *say, cuttFormat_t format, const char *what) {
  size_t needed = 0;
  char *text = NULL;
  if (say(format, NULL, 0, &needed) == CUTT_SUCCESS) {
    text = malloc(needed);
    if (!text) {
      cutt_cli_message("out of memory: %zu bytes for the description", needed);
      return NULL;
    }
    if (say(format, text, needed, NULL) == CUTT_SUCCESS) return text;
  }
  cutt_cli_message("the %s could not be described: %s", what, cuttLastError());
  free(text);
  return NULL;
}

/* One object: the members of both. */
static int print_json(const char *devices, const char *providers) {
  json_error_t error;
  json_t *root = json_loads(devices, 0, &error), *more = root ? json_loads(providers, 0, &error) : NULL;
  if (!more) cutt_cli_message("the library's description is no JSON: %s", error.text);
  char *text =
      more && json_object_update(root, more) == 0 ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
  json_decref(root);
  json_decref(more);
  if (!text) return cutt_cli_failed("the devices could not be written as JSON");
  int code = cutt_cli_print(text);
  if (!code) code = cutt_cli_print("\n");
  free(text);
  return code;
}

int cutt_cli_devices(int argc, char **argv) {
  request ask = {.json = false};
  int code;
  if (!cutt_cli_read_options(&syntax, argc, argv, &ask, &code)) return code;
  if (optind < argc) return cutt_cli_misused(me, "'%s' is not an option; devices takes only --json", argv[optind]);
  const cuttFormat_t format = ask.json ? CUTT_JSON : CUTT_TEXT;
  char *devices = described(cuttDevicesDescribe, format, "devices");
  char *providers = devices ? described(cuttProvidersDescribe, format, "libraries that multiply matrices") : NULL;
  code = CUTT_CLI_FAILED;
  if (providers && format == CUTT_JSON) {
    code = print_json(devices, providers);
  } else if (providers) {
    code = cutt_cli_print(devices);
    if (!code) code = cutt_cli_print(providers);
  }
  free(devices);
  free(providers);
  return code;
}
