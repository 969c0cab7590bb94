/* Device files: a device's properties and the model's parameters on it, as text; and where the library looks for them. */
#ifndef CUTT_STORE_DEVICE_FILE_H
#define CUTT_STORE_DEVICE_FILE_H

#include "model/backend.h"

enum { CUTT_DEVICE_KEY_BYTES = 128, CUTT_DEVICE_WHY_BYTES = 700, CUTT_PATH_BYTES = 4096 };

/* Reads a file. *target is one block of memory for free(), which has a copy of the path (source) and of the values. key,
 * of CUTT_DEVICE_KEY_BYTES, receives the device's (backend->runtime->device_key). Errors: CUTT_INVALID_PARAMETER, which names the
 * path, the line and what is wrong with it; CUTT_INTERNAL_ERROR. */
cuttResult cutt_device_file_read(const char *path, const cutt_backend **backend, cutt_target **target, char *key);

/* The same without an error's text: why, of CUTT_DEVICE_WHY_BYTES, receives it instead. */
cuttResult cutt_device_file_try(const char *path, const cutt_backend **backend, cutt_target **target, char *key,
                                char *why);

/* Writes one, as cutt_file_replace does. comment: lines that begin with "# ", or NULL.
 * Errors: CUTT_INVALID_PARAMETER (path), CUTT_INTERNAL_ERROR. */
cuttResult cutt_device_file_write(const char *path, const cutt_schema *schema, const char *key,
                                  const cutt_target *target, const char *comment);

/* Where the file of a device is looked for when CUTT_CALIBRATION does not say: false when neither XDG_DATA_HOME nor HOME
 * is set, or the path is too long. */
bool cutt_device_file_path(const char *key, char *path, size_t size);

/* Takes what a calibration has found, if there is one for this device: all of *target (schema->bytes) but its name is
 * replaced by what the file says. What is wrong with a file goes to the log and to target->unused, and *target stays as it
 * was. The values live as long as the process. Called once for a device, when it is first planned for. */
void cutt_device_file_overlay(const cutt_schema *schema, const char *key, cutt_target *target);

/* May it be planned for? Not when CUTT_CALIBRATION names a file that can't be used. Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_device_file_check(const cutt_target *target);

#endif
