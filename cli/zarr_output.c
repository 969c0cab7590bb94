/* The choice of what a Zarr array is like; see zarr_output.h. */
#include "zarr_output.h"

#include <string.h>

bool cutt_zarr_read_format(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  return cutt_cli_parse_int(command, option->name, text, 2, 3, field);
}

bool cutt_zarr_wanted(const char *command, const cutt_zarr_choice *choice, char *path, bool *wanted) {
  static const char ending[] = ".zarr";
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') --length;
  *wanted =
      choice->format || (length >= strlen(ending) && !memcmp(path + length - strlen(ending), ending, strlen(ending)));
  if (*wanted && !strcmp(path, "-")) {
    cutt_cli_misused(command, "--zarr is given, and the output is '-'; standard output is no folder");
    return false;
  }
  if (*wanted) path[length] = 0;
  if (*wanted || (!choice->chunks && !choice->codec)) return true;
  cutt_cli_misused(command,
                   "--%s is given, and the output '%s' is no Zarr folder; NAME.zarr is one, or --zarr makes it so",
                   choice->chunks ? "chunks" : "codec", path);
  return false;
}

/* ------------------------------------------------------------------------------------------------------------- chunks */

/* Halves of the longest axis, until a chunk has at most 16 MiB, or a 32nd of the memory. */
static void chunks_by_rule(const cutt_npy *npy, size_t memory, int64_t *chunk) {
  double most = 16 << 20, bytes = npy->elem_bytes;
  if (memory && (double)memory / 32 < most) most = (double)memory / 32;
  for (int i = 0; i < npy->rank; ++i) {
    chunk[i] = npy->shape[i] > 0 ? npy->shape[i] : 1;
    bytes *= (double)chunk[i];
  }
  while (bytes > most) {
    int longest = 0;
    for (int i = 1; i < npy->rank; ++i)
      if (chunk[i] > chunk[longest]) longest = i;
    if (npy->rank == 0 || chunk[longest] == 1) return;
    const int64_t half = (chunk[longest] + 1) / 2;
    bytes *= (double)half / (double)chunk[longest];
    chunk[longest] = half;
  }
}

static bool read_chunks(const char *command, const char *text, const cutt_npy *npy, int64_t *chunk) {
  int count = 0;
  if (!cutt_cli_parse_list(command, "chunks", text, 1, INT64_MAX / 64, chunk, CUTT_NPY_MAX_RANK, &count)) return false;
  if (count != npy->rank) {
    cutt_cli_misused(command, "--chunks is '%s', of %d numbers; there must be one for each of the output's %d axes",
                     text, count, npy->rank);
    return false;
  }
  for (int i = 0; i < count; ++i) {
    if (chunk[i] <= (npy->shape[i] > 0 ? npy->shape[i] : 1)) continue;
    cutt_cli_misused(command, "--chunks is '%s', where %lld is more than the %lld of the output's axis %d", text,
                     (long long)chunk[i], (long long)npy->shape[i], i);
    return false;
  }
  return true;
}

static bool read_codec(const char *command, const char *name, int elem_bytes, cutt_zarr_codec *codec) {
  const bool known = cutt_zarr_codec_find(name, elem_bytes, codec);
  if (known && cutt_zarr_codec_usable(codec->kind)) return true;
  if (known)
    cutt_cli_message("--codec %s: the program was built without its library", name);
  else
    cutt_cli_misused(command, "--codec is '%s'; it must be none, blosc, zstd, gzip or, in version 2, zlib", name);
  return false;
}

/* --------------------------------------------------------------------------------------------------------- attributes */

static json_t *permuted(const json_t *list, const int *axes, int rank) {
  json_t *result = json_array();
  for (int i = 0; i < rank; ++i) json_array_append(result, json_array_get(list, (size_t)axes[i]));
  return result;
}

/* Attributes stay, but that names of axes go with the axes: xarray's are an attribute in version 2. */
static void take_attributes(const cutt_zarr_meta *from, const int *axes, cutt_zarr_meta *meta) {
  static const char dimensions[] = "_ARRAY_DIMENSIONS";
  const int rank = from->npy.rank;
  const json_t *names = json_object_get(from->attributes, dimensions);
  if (from->names && meta->format == 3) meta->names = permuted(from->names, axes, rank);
  if (!from->attributes) return;
  meta->attributes = json_copy(from->attributes);
  if (json_array_size(names) == (size_t)rank && rank > 0)
    json_object_set_new(meta->attributes, dimensions, permuted(names, axes, rank));
}

/* ---------------------------------------------------------------------------------------------------------------- all */

int cutt_zarr_choose(const char *command, const cutt_zarr_choice *choice, const cutt_zarr_meta *from, const int *axes,
                     const cutt_npy *npy, size_t memory, cutt_zarr_meta *meta) {
  memset(meta, 0, sizeof *meta);
  meta->npy = *npy;
  meta->format = choice->format ? (int)choice->format : from ? from->format : 2;
  meta->prefixed = meta->format == 3;
  meta->separator = meta->prefixed ? '/' : '.';
  for (int i = 0; i < npy->rank; ++i) meta->order[i] = i;
  chunks_by_rule(npy, memory, meta->chunk);
  if (from) {
    if (from->format == meta->format) {
      meta->prefixed = from->prefixed;
      meta->separator = from->separator;
    }
    meta->codec = from->codec;
    memcpy(meta->fill, from->fill, sizeof meta->fill);
    for (int i = 0; i < from->npy.rank; ++i) meta->chunk[i] = from->chunk[axes[i]];
    if (from->fill_value) meta->fill_value = json_incref(from->fill_value);
    take_attributes(from, axes, meta);
  }
  if (meta->format == 3 && meta->codec.kind == CUTT_ZARR_ZLIB) meta->codec.kind = CUTT_ZARR_GZIP;
  if ((choice->chunks && !read_chunks(command, choice->chunks, npy, meta->chunk)) ||
      (choice->codec && !read_codec(command, choice->codec, npy->elem_bytes, &meta->codec))) {
    cutt_zarr_meta_release(meta);
    return CUTT_CLI_USAGE;
  }
  if (cutt_zarr_chunk_bytes(meta) >= 0) return CUTT_CLI_DONE;
  cutt_zarr_meta_release(meta);
  return cutt_cli_failed("the chunks of the output have more bytes than can be counted");
}
