/* Devices that are described and need not be here: by a name that a runtime knows, or by a device file. */
#include "plan/described.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/device_file.h"

static cuttResult read_described(const char *path, cuttBackend_t id, const cutt_backend **backend,
                                 const cutt_target **target, cutt_target **own) {
  char key[CUTT_DEVICE_KEY_BYTES], why[CUTT_DEVICE_WHY_BYTES];
  const cuttResult result = cutt_device_file_try(path, backend, own, key, why);
  if (result) return cutt_error(result, "options->device is '%s', which can't be used: %s", path, why);
  if (id != CUTT_BACKEND_AUTO && (*backend)->id != id) {
    free(*own);
    *own = NULL;
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "options->device is '%s', a device of %s; options->backend must be that or CUTT_BACKEND_AUTO",
                      path, (*backend)->id_name);
  }
  *target = *own;
  return CUTT_SUCCESS;
}

cuttResult cutt_target_described(const char *device, cuttBackend_t id, const cutt_backend **backend,
                                 const cutt_target **target, cutt_target **own) {
  *own = NULL;
  char names[512] = "";
  cutt_text list = cutt_text_start(names, sizeof names);
  bool known = id == CUTT_BACKEND_AUTO;
  for (const cutt_backend *const *b = cutt_backends; *b; ++b) known = known || (*b)->id == id;
  if (!known) {
    return cutt_error(CUTT_INVALID_PARAMETER, "options->backend is %ld; it must be one of the values of cuttBackend_t",
                      (long)id);
  }
  if (strpbrk(device, "/.")) return read_described(device, id, backend, target, own);
  for (const cutt_backend *const *b = cutt_backends; *b; ++b) {
    if (!(*b)->runtime->target_named || (id != CUTT_BACKEND_AUTO && (*b)->id != id)) continue;
    *target = (*b)->runtime->target_named(device);
    *backend = *b;
    if (*target) return CUTT_SUCCESS;
    if ((*b)->runtime->target_names) cutt_text_add(&list, "%s%s", list.length ? ", " : "", (*b)->runtime->target_names);
  }
  if (!list.length) {
    return cutt_error(
        CUTT_INVALID_PARAMETER,
        "options->device is '%s'; %s knows no devices by name, so it must be the path of a device file, with a "
        "'/' or a '.'",
        device, id == CUTT_BACKEND_AUTO ? "this build" : "the backend of options->backend");
  }
  return cutt_error(CUTT_INVALID_PARAMETER,
                    "options->device is '%s'; it must be one of %s, or the path of a device file, with a '/' or a '.'",
                    device, names);
}
