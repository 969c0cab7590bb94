/* The value of what is not there in a Zarr array, from JSON to an element. */
#ifndef CUTT_CLI_ZARR_FILL_H
#define CUTT_CLI_ZARR_FILL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* An element of dtype `descr`, such as "<f8", of so many bytes, at most 16. False: it is no value of this dtype. */
bool cutt_zarr_fill_read(const json_t *value, const char *descr, int elem_bytes, uint8_t *element);

#endif
