/* Compressed chunks; see codec.h. */
#include "cli/zarr/codec.h"

#include <stdio.h>
#include <string.h>

#ifdef CUTT_BLOSC
#include <blosc.h>
#endif
#ifdef CUTT_ZSTD
#include <zstd.h>
#endif
#ifdef CUTT_ZLIB
#include <zlib.h>
#endif

static const char *const names[] = {"none", "blosc", "zstd", "gzip", "zlib"};

static const char damaged[] = "is damaged: it can't be decompressed", no_memory[] = "could not be compressed";
static const char missing[] = "is compressed by a library that the program was built without";

bool cutt_zarr_codec_find(const char *name, int elem_bytes, cutt_zarr_codec *codec) {
  static const int levels[] = {0, 5, 3, 5, 1};
  for (int kind = CUTT_ZARR_NONE; kind <= CUTT_ZARR_ZLIB; ++kind) {
    if (strcmp(name, names[kind]) != 0) continue;
    *codec = (cutt_zarr_codec){.kind = (cutt_zarr_codec_kind)kind,
                               .level = levels[kind],
                               .name = "lz4",
                               .shuffle = 1,
                               .elem_bytes = elem_bytes};
    return true;
  }
  return false;
}

const char *cutt_zarr_codec_name(cutt_zarr_codec_kind kind) { return names[kind]; }

bool cutt_zarr_codec_usable(cutt_zarr_codec_kind kind) {
  switch (kind) {
#ifdef CUTT_BLOSC
    case CUTT_ZARR_BLOSC:
#endif
#ifdef CUTT_ZSTD
    case CUTT_ZARR_ZSTD:
#endif
#ifdef CUTT_ZLIB
    case CUTT_ZARR_GZIP:
    case CUTT_ZARR_ZLIB:
#endif
    case CUTT_ZARR_NONE:
      return true;
    default:
      return false;
  }
}

/* -------------------------------------------------------------------------------------------------------------- blosc */

#ifdef CUTT_BLOSC

static size_t blosc_bound(size_t bytes) { return bytes + BLOSC_MAX_OVERHEAD; }

static const char *blosc_decode(const uint8_t *from, size_t stored, uint8_t *to, size_t bytes) {
  size_t inside = 0;
  if (stored > INT32_MAX || blosc_cbuffer_validate(from, stored, &inside) != 0 || inside != bytes) return damaged;
  return bytes == 0 || blosc_decompress_ctx(from, to, bytes, 1) == (int)bytes ? NULL : damaged;
}

static const char *blosc_encode(const cutt_zarr_codec *codec, const uint8_t *from, size_t bytes, uint8_t *to,
                                size_t *stored) {
  if (bytes > BLOSC_MAX_BUFFERSIZE) return "has more bytes than blosc takes, 2^31 - 17";
  int shuffle = codec->shuffle;
  if (shuffle < 0) shuffle = codec->elem_bytes == 1 ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE; /* as numcodecs has it */
  const int done = blosc_compress_ctx(codec->level, shuffle, (size_t)codec->elem_bytes, bytes, from, to,
                                      blosc_bound(bytes), codec->name, (size_t)codec->block_bytes, 1);
  *stored = done > 0 ? (size_t)done : 0;
  return done > 0 ? NULL : no_memory;
}

#endif

/* --------------------------------------------------------------------------------------------------------------- zstd */

#ifdef CUTT_ZSTD

static size_t zstd_bound(size_t bytes) { return ZSTD_compressBound(bytes); }

static const char *zstd_decode(const uint8_t *from, size_t stored, uint8_t *to, size_t bytes) {
  return ZSTD_decompress(to, bytes, from, stored) == bytes ? NULL : damaged;
}

static const char *zstd_encode(const cutt_zarr_codec *codec, const uint8_t *from, size_t bytes, uint8_t *to,
                               size_t *stored) {
  ZSTD_CCtx *context = ZSTD_createCCtx();
  if (!context) return no_memory;
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, codec->level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, codec->checksum);
  *stored = ZSTD_compress2(context, to, zstd_bound(bytes), from, bytes);
  ZSTD_freeCCtx(context);
  return ZSTD_isError(*stored) ? no_memory : NULL;
}

#endif

/* --------------------------------------------------------------------------------------------------------------- zlib */

#ifdef CUTT_ZLIB

/* zlib counts in 32 bits. */
static uInt part_of(size_t bytes) {
  const size_t most = (size_t)1 << 30;
  return (uInt)(bytes < most ? bytes : most);
}

static size_t zlib_bound(size_t bytes) { return bytes + bytes / 1000 + 1024; }

static const char *zlib_decode(const uint8_t *from, size_t stored, uint8_t *to, size_t bytes) {
  z_stream z = {.zalloc = NULL};
  size_t taken = 0, given = 0;
  int state = Z_OK;
  if (inflateInit2(&z, MAX_WBITS + 32) != Z_OK) return damaged; /* 32: gzip's header or zlib's own */
  while (state == Z_OK) {
    const uInt input = part_of(stored - taken), output = part_of(bytes - given);
    z.next_in = (Bytef *)(uintptr_t)(from + taken);
    z.avail_in = input;
    z.next_out = to + given;
    z.avail_out = output;
    state = inflate(&z, Z_NO_FLUSH);
    taken += input - z.avail_in;
    given += output - z.avail_out;
    if (state == Z_OK && z.avail_in == input && z.avail_out == output) break; /* no way on */
  }
  inflateEnd(&z);
  return state == Z_STREAM_END && given == bytes ? NULL : damaged;
}

static const char *zlib_encode(const cutt_zarr_codec *codec, const uint8_t *from, size_t bytes, uint8_t *to,
                               size_t *stored) {
  z_stream z = {.zalloc = NULL};
  const size_t room = zlib_bound(bytes);
  size_t taken = 0;
  int state = Z_OK;
  *stored = 0;
  if (deflateInit2(&z, codec->level, Z_DEFLATED, MAX_WBITS + (codec->kind == CUTT_ZARR_GZIP ? 16 : 0), 8,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return no_memory;
  while (state == Z_OK) {
    const uInt input = part_of(bytes - taken), output = part_of(room - *stored);
    z.next_in = (Bytef *)(uintptr_t)(from + taken);
    z.avail_in = input;
    z.next_out = to + *stored;
    z.avail_out = output;
    state = deflate(&z, input == bytes - taken ? Z_FINISH : Z_NO_FLUSH);
    taken += input - z.avail_in;
    *stored += output - z.avail_out;
  }
  deflateEnd(&z);
  return state == Z_STREAM_END ? NULL : no_memory;
}

#endif

/* ---------------------------------------------------------------------------------------------------------------- all */

size_t cutt_zarr_codec_bound(const cutt_zarr_codec *codec, size_t bytes) {
  switch (codec->kind) {
#ifdef CUTT_BLOSC
    case CUTT_ZARR_BLOSC:
      return blosc_bound(bytes);
#endif
#ifdef CUTT_ZSTD
    case CUTT_ZARR_ZSTD:
      return zstd_bound(bytes);
#endif
#ifdef CUTT_ZLIB
    case CUTT_ZARR_GZIP:
    case CUTT_ZARR_ZLIB:
      return zlib_bound(bytes);
#endif
    default:
      return bytes;
  }
}

const char *cutt_zarr_decode(const cutt_zarr_codec *codec, const uint8_t *from, size_t stored, uint8_t *to,
                             size_t bytes) {
  switch (codec->kind) {
#ifdef CUTT_BLOSC
    case CUTT_ZARR_BLOSC:
      return blosc_decode(from, stored, to, bytes);
#endif
#ifdef CUTT_ZSTD
    case CUTT_ZARR_ZSTD:
      return zstd_decode(from, stored, to, bytes);
#endif
#ifdef CUTT_ZLIB
    case CUTT_ZARR_GZIP:
    case CUTT_ZARR_ZLIB:
      return zlib_decode(from, stored, to, bytes);
#endif
    case CUTT_ZARR_NONE:
      if (stored != bytes) return damaged;
      memcpy(to, from, bytes);
      return NULL;
    default:
      return missing;
  }
}

const char *cutt_zarr_encode(const cutt_zarr_codec *codec, const uint8_t *from, size_t bytes, uint8_t *to,
                             size_t *stored) {
  switch (codec->kind) {
#ifdef CUTT_BLOSC
    case CUTT_ZARR_BLOSC:
      return blosc_encode(codec, from, bytes, to, stored);
#endif
#ifdef CUTT_ZSTD
    case CUTT_ZARR_ZSTD:
      return zstd_encode(codec, from, bytes, to, stored);
#endif
#ifdef CUTT_ZLIB
    case CUTT_ZARR_GZIP:
    case CUTT_ZARR_ZLIB:
      return zlib_encode(codec, from, bytes, to, stored);
#endif
    case CUTT_ZARR_NONE:
      memcpy(to, from, bytes);
      *stored = bytes;
      return NULL;
    default:
      return missing;
  }
}
