/* cutt devices: the libraries' own accounts of what is usable on this machine, to permute and to contract. */
#include <stdlib.h>

#include "cli.h"
#include "describe.h"
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

/* One object: the members of both. */
static int print_json(void) {
  json_t *devices = cutt_cli_described_json(cutt_cli_describe_devices, NULL, "the devices");
  json_t *libraries = devices ? cutt_cli_described_json(cutt_cli_describe_providers, NULL, "the BLAS libraries") : NULL;
  const bool known = libraries, joined = known && json_object_update(devices, libraries) == 0;
  json_decref(libraries);
  if (joined) return cutt_cli_print_json(devices);
  json_decref(devices);
  return known ? cutt_cli_failed("out of memory for the description") : CUTT_CLI_FAILED;
}

static int print_text(void) {
  char *devices = cutt_cli_described(cutt_cli_describe_devices, NULL, CUTT_TEXT, "the devices");
  char *libraries =
      devices ? cutt_cli_described(cutt_cli_describe_providers, NULL, CUTT_TEXT, "the BLAS libraries") : NULL;
  int code = libraries ? cutt_cli_print(devices) : CUTT_CLI_FAILED;
  if (code == CUTT_CLI_DONE) code = cutt_cli_print(libraries);
  free(devices);
  free(libraries);
  return code;
}

int cutt_cli_devices(int argc, char **argv) {
  request ask = {.json = false};
  int code;
  if (!cutt_cli_read_options(&syntax, argc, argv, &ask, &code)) return code;
  if (optind < argc) return cutt_cli_misused(me, "'%s' is not an option; devices takes only --json", argv[optind]);
  return ask.json ? print_json() : print_text();
}
