/* The metadata of Zarr arrays, version 2 (.zarray) and 3 (zarr.json): a strict reader, and a writer. jansson reads the
 * JSON; what is not understood is an error that names it and says what is allowed. */
#ifndef CUTT_CLI_ZARR_META_H
#define CUTT_CLI_ZARR_META_H

#include <jansson.h>

#include "cli/npy.h"
#include "cli/zarr/codec.h"

enum { CUTT_ZARR_WHY = 512 };

/* Writes what is wrong to `why`, of CUTT_ZARR_WHY bytes. Always false. */
__attribute__((format(printf, 2, 3))) bool cutt_zarr_refuse(char *why, const char *format, ...);

typedef struct cutt_zarr_meta {
  int format;                       /* 2 or 3 */
  cutt_npy npy;                     /* dtype and shape, as what it would be in an .npy file */
  int64_t chunk[CUTT_NPY_MAX_RANK]; /* the extents of a chunk; at least 1 */
  int order[CUTT_NPY_MAX_RANK];     /* axis i of a chunk as it is stored, from the slowest, is this axis of the array */
  bool prefixed;                    /* keys begin with "c": version 3's default */
  char separator;                   /* between the numbers of a key */
  cutt_zarr_codec codec;
  uint8_t fill[16];                        /* an element of what is not there */
  json_t *fill_value, *attributes, *names; /* as they are in the file; NULL: none. names: of the axes, or NULL */
} cutt_zarr_meta;

/* Bytes of a chunk before it is compressed; -1: more than can be counted. */
int64_t cutt_zarr_chunk_bytes(const cutt_zarr_meta *meta);

/* Reads the text of .zarray or zarr.json. `attributes` is that of .zattrs or NULL. On false `why`, of CUTT_ZARR_WHY bytes,
 * says what is wrong. The caller releases. */
bool cutt_zarr_meta_parse(const char *text, size_t bytes, int format, cutt_zarr_meta *meta, char *why);

/* Is the text that of a version 3 array, not of a group? */
bool cutt_zarr_meta_is_array(const char *text, size_t bytes);

/* The text of .zarray or zarr.json, which the caller frees; NULL: `why`. */
char *cutt_zarr_meta_text(const cutt_zarr_meta *meta, char *why);

void cutt_zarr_meta_release(cutt_zarr_meta *meta);

#endif
