/* cutt devices: the library's own account of what is usable on this machine. */
#include <stdlib.h>

#include "cli.h"

static const char help[] =
    "Usage: cutt devices [--json]\n"
    "List the backends and instruction sets of this machine, which are used, and why one is not.\n\n"
    "  --json      as one JSON object\n"
    "  -h, --help  this help\n";

enum { OPTION_JSON = 256 };

static const struct option options[] = {
    {"json", no_argument, NULL, OPTION_JSON}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

int cutt_cli_devices(int argc, char **argv) {
  cuttFormat_t format = CUTT_TEXT;
  int option;
  while ((option = cutt_cli_option("devices", argc, argv, options)) != -1) {
    if (option == 'h') return cutt_cli_print(help);
    if (option != OPTION_JSON) return CUTT_CLI_USAGE;
    format = CUTT_JSON;
  }
  if (optind < argc)
    return cutt_cli_misused("devices", "'%s' is not an option; devices takes only --json", argv[optind]);
  size_t needed = 0;
  if (cuttDevicesDescribe(format, NULL, 0, &needed) != CUTT_SUCCESS)
    return cutt_cli_failed("the devices could not be described: %s", cuttLastError());
  char *text = malloc(needed + 1);
  if (!text) return cutt_cli_failed("out of memory: %zu bytes for the description", needed);
  int code = CUTT_CLI_FAILED;
  if (cuttDevicesDescribe(format, text, needed, NULL) == CUTT_SUCCESS) {
    if (needed >= 2 && text[needed - 2] != '\n') { /* the final 0 gives way to a line end */
      text[needed - 1] = '\n';
      text[needed] = 0;
    }
    code = cutt_cli_print(text);
  } else {
    cutt_cli_message("the devices could not be described: %s", cuttLastError());
  }
  free(text);
  return code;
}
