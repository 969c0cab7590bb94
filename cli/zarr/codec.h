/* How the chunks of Zarr arrays are compressed: by libblosc, libzstd and zlib, where the program was built with them. */
#ifndef CUTT_CLI_ZARR_CODEC_H
#define CUTT_CLI_ZARR_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cutt_zarr_codec_kind {
  CUTT_ZARR_NONE,
  CUTT_ZARR_BLOSC,
  CUTT_ZARR_ZSTD,
  CUTT_ZARR_GZIP,
  CUTT_ZARR_ZLIB
} cutt_zarr_codec_kind;

typedef struct cutt_zarr_codec {
  cutt_zarr_codec_kind kind;
  int level;
  bool checksum; /* zstd's */
  char name[16]; /* blosc's compressor; the rest is blosc's too */
  int shuffle, block_bytes, elem_bytes;
} cutt_zarr_codec;

/* By its name, with the usual parameters. False: it is none of "none", "blosc", "zstd", "gzip", "zlib". */
bool cutt_zarr_codec_find(const char *name, int elem_bytes, cutt_zarr_codec *codec);

const char *cutt_zarr_codec_name(cutt_zarr_codec_kind kind);

/* Was the program built with its library? */
bool cutt_zarr_codec_usable(cutt_zarr_codec_kind kind);

/* The most bytes that so many take when they are compressed. */
size_t cutt_zarr_codec_bound(const cutt_zarr_codec *codec, size_t bytes);

/* Decompresses to exactly `bytes`. NULL: done; else what is wrong. */
const char *cutt_zarr_decode(const cutt_zarr_codec *codec, const uint8_t *from, size_t stored, uint8_t *to,
                             size_t bytes);

/* Compresses; *stored becomes how many bytes that are, at most cutt_zarr_codec_bound. NULL: done; else what is wrong. */
const char *cutt_zarr_encode(const cutt_zarr_codec *codec, const uint8_t *from, size_t bytes, uint8_t *to,
                             size_t *stored);

#endif
