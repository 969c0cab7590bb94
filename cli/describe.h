/* The library's descriptions: fetching them whole, and printing JSON. */
#ifndef CUTT_CLI_DESCRIBE_H
#define CUTT_CLI_DESCRIBE_H

#include <jansson.h>

#include "cli.h"

/* A call of the library that describes `of`: a plan, or NULL where the call is about the machine. `format` is one of
 * the call's own. */
typedef cuttResult cutt_cli_describer(void *of, int format, char *buffer, size_t size, size_t *needed);

cutt_cli_describer cutt_cli_describe_plan;      /* of a cuttPlan_t; cuttFormat_t */
cutt_cli_describer cutt_cli_describe_devices;   /* cuttFormat_t */
cutt_cli_describer cutt_cli_describe_providers; /* cuttFormat_t */

/* The whole text; the caller frees it. NULL after a message, in which it is `what` that could not be described; without
 * one when what is NULL. */
char *cutt_cli_described(cutt_cli_describer *describe, void *of, int format, const char *what);

/* The same as a JSON object, to be let go of. */
json_t *cutt_cli_described_json(cutt_cli_describer *describe, void *of, const char *what);

/* Prints an object, indented, and lets go of it. An exit code. */
int cutt_cli_print_json(json_t *object);

#endif
