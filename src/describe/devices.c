/* What this machine looks like to the library, as text for a person and as JSON for a program. */
#include <string.h>

#include "base/error.h"
#include "describe/describe.h"
#include "plan/arguments.h"

static void add_json_or_null(cutt_text *text, const char *string) {
  if (string) {
    cutt_text_add_json(text, string);
  } else {
    cutt_text_add(text, "null");
  }
}

static void describe_json(const cutt_backend *backend, bool usable, const char *why, cutt_text *text) {
  cutt_text_add(text, "{\"name\":\"%s\",\"usable\":%s", backend->name, usable ? "true" : "false");
  cutt_text_add(text, usable ? ",\"isa\":" : ",\"why\":");
  cutt_text_add_json(text, usable ? backend->runtime->isa() : why);
  if (usable) {
    cutt_text_add(text, ",\"device\":{");
    backend->runtime->describe_device(CUTT_JSON, text);
    const cutt_target *target = backend->runtime->target();
    cutt_text_add(text, "},\"source\":");
    add_json_or_null(text, target->source);
    cutt_text_add(text, ",\"source_unused\":");
    add_json_or_null(text, target->unused);
  }
  cutt_text_add(text, ",\"described_devices\":[");
  for (const char *at = backend->runtime->target_names; at && *at;) { /* a list for people: "k20x, k40" */
    const size_t length = strcspn(at, ",");
    cutt_text_add(text, "%s\"%.*s\"", at == backend->runtime->target_names ? "" : ",", (int)length, at);
    at += length;
    at += strspn(at, ", ");
  }
  cutt_text_add(text, "]}");
}

static void describe_text(const cutt_backend *backend, bool usable, const char *why, cutt_text *text) {
  if (!usable) {
    cutt_text_add(text, "\n%s: not usable here: %s\n", backend->name, why);
    return;
  }
  cutt_text_add(text, "\n%s: usable, %s\n", backend->name, backend->runtime->isa());
  backend->runtime->describe_device(CUTT_TEXT, text);
  const cutt_target *target = backend->runtime->target();
  const char *source = target->source;
  if (target->refused) {
    cutt_text_add(text, "  model            none, and no plans: %s\n", target->unused);
    return;
  }
  cutt_text_add(text, "  model            with parameters %s%s\n", source ? "from " : "that are built in",
                source ? source : "");
  if (target->unused) cutt_text_add(text, "                   a device file is not used: %s\n", target->unused);
}

cuttResult cuttDevicesDescribe(cuttFormat_t format, char *buffer, size_t size, size_t *needed) {
  const cuttResult result = cutt_description_check(format, buffer, size);
  if (result) return result;
  const bool json = format == CUTT_JSON;
  cutt_text text = cutt_text_start(buffer, size);
  const int version = cuttVersion();
  cutt_text_add(&text, json ? "{\"version\":\"%d.%d.%d\",\"backends\":[" : "cuTT %d.%d.%d\n", version / 10000,
                version / 100 % 100, version % 100);
  for (const cutt_backend *const *b = cutt_backends; *b; ++b) {
    const char *why = NULL;
    const bool usable = (*b)->runtime->probe(&why);
    if (!why) why = "it does not say why";
    if (json && b != cutt_backends) cutt_text_add(&text, ",");
    (json ? describe_json : describe_text)(*b, usable, why, &text);
  }
  if (json) {
    cutt_text_add(&text, "]}\n");
  } else {
    cutt_text_add(&text, "\nplans can be described, wherever they are made, for: ");
    for (const cutt_backend *const *b = cutt_backends; *b; ++b) {
      if ((*b)->runtime->target_names) cutt_text_add(&text, "%s, ", (*b)->runtime->target_names);
    }
    cutt_text_add(&text, "and for device files\n");
  }
  if (needed) *needed = text.length + 1;
  return CUTT_SUCCESS;
}
