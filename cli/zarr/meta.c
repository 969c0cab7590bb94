/* The metadata of Zarr arrays; see meta.h. */
#include "cli/zarr/meta.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/zarr/fill.h"

bool cutt_zarr_refuse(char *why, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, CUTT_ZARR_WHY, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it was started */
  va_end(arguments);
  return false;
}

static const json_t *get(const json_t *object, const char *key) { return json_object_get(object, key); }

/* A value for a message. */
static const char *text_of(const json_t *value, char buffer[64]) {
  char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
  snprintf(buffer, 64, "%s", text ? text : "missing");
  free(text);
  return buffer;
}

/* -------------------------------------------------------------------------------------------------------- extents */

static bool read_extents(const json_t *list, const char *key, int64_t least, int64_t *extents, int *rank, char *why) {
  char text[64];
  const size_t count = json_array_size(list);
  if (!json_is_array(list))
    return cutt_zarr_refuse(why, "%s is %s; it must be a list of whole numbers", key, text_of(list, text));
  if (count > CUTT_NPY_MAX_RANK)
    return cutt_zarr_refuse(why, "%s has %zu extents; at most %d are supported", key, count, CUTT_NPY_MAX_RANK);
  for (size_t i = 0; i < count; ++i) {
    const json_t *each = json_array_get(list, i);
    if (!json_is_integer(each) || json_integer_value(each) < least)
      return cutt_zarr_refuse(why, "%s has %s in it; extents are whole numbers from %d on", key, text_of(each, text),
                              (int)least);
    extents[i] = json_integer_value(each);
  }
  *rank = (int)count;
  return true;
}

/* Shape and chunks, and the dtype checked as that of an .npy file is. */
static bool read_shapes(const json_t *shape, const json_t *chunks, const char *chunk_key, cutt_zarr_meta *meta,
                        char *why) {
  int rank = 0;
  uint8_t header[CUTT_NPY_HEADER_ROOM];
  if (!read_extents(shape, "shape", 0, meta->npy.shape, &meta->npy.rank, why) ||
      !read_extents(chunks, chunk_key, 1, meta->chunk, &rank, why))
    return false;
  if (rank != meta->npy.rank)
    return cutt_zarr_refuse(why, "%s has %d extents, and shape %d; they must have as many", chunk_key, rank,
                            meta->npy.rank);
  int64_t volume = 1;
  for (int i = 0; i < rank; ++i)
    if (__builtin_mul_overflow(volume, meta->npy.shape[i] ? meta->npy.shape[i] : 1, &volume) || volume > INT64_MAX / 64)
      return cutt_zarr_refuse(why, "shape has more elements than can be counted");
  meta->npy.elem_bytes = 1; /* as long as it is not known */
  const size_t bytes = cutt_npy_write_header(&meta->npy, header);
  if (!cutt_npy_parse(header, bytes, &meta->npy, why)) return false;
  if (cutt_zarr_chunk_bytes(meta) < 0) return cutt_zarr_refuse(why, "%s has more bytes than can be counted", chunk_key);
  return true;
}

int64_t cutt_zarr_chunk_bytes(const cutt_zarr_meta *meta) {
  const int64_t most = (int64_t)1 << 51; /* so that what it is compressed to can be counted too */
  int64_t bytes = meta->npy.elem_bytes;
  for (int i = 0; i < meta->npy.rank; ++i)
    if (__builtin_mul_overflow(bytes, meta->chunk[i], &bytes)) return -1;
  return bytes <= most ? bytes : -1;
}

static bool read_fill(const json_t *value, cutt_zarr_meta *meta, char *why) {
  char text[64];
  if (value && !json_is_null(value)) meta->fill_value = json_incref((json_t *)(uintptr_t)value);
  if (cutt_zarr_fill_read(value, meta->npy.descr, meta->npy.elem_bytes, meta->fill)) return true;
  return cutt_zarr_refuse(why, "fill_value is %s, which is no value of dtype '%s'", text_of(value, text),
                          meta->npy.descr);
}

/* --------------------------------------------------------------------------------------------------------- codecs */

static int integer_of(const json_t *object, const char *key, int otherwise) {
  const json_t *value = get(object, key);
  const json_int_t number = json_integer_value(value);
  return json_is_integer(value) && number >= -(1 << 20) && number <= 1 << 20 ? (int)number : otherwise;
}

/* Of blosc: a number in version 2, a word in version 3. */
static int shuffle_of(const json_t *settings) {
  static const char *const words[] = {"noshuffle", "shuffle", "bitshuffle"};
  const char *word = json_string_value(get(settings, "shuffle"));
  for (int i = 0; word && i < 3; ++i)
    if (!strcmp(word, words[i])) return i;
  const int number = integer_of(settings, "shuffle", 1);
  return number >= -1 && number <= 2 ? number : 1;
}

static bool read_codec(const char *name, const json_t *settings, cutt_zarr_meta *meta, char *why) {
  if (!cutt_zarr_codec_find(name, meta->npy.elem_bytes, &meta->codec) || meta->codec.kind == CUTT_ZARR_NONE ||
      (meta->format == 3 && meta->codec.kind == CUTT_ZARR_ZLIB))
    return cutt_zarr_refuse(
        why, "codec '%s' is not one that can be read; %s are", name,
        meta->format == 2 ? "blosc, zstd, gzip and zlib, without filters," : "bytes, transpose, blosc, zstd and gzip");
  if (!cutt_zarr_codec_usable(meta->codec.kind))
    return cutt_zarr_refuse(
        why, "codec '%s' is of a library that the program was built without; no codec, %s%s%s can be read", name,
        cutt_zarr_codec_usable(CUTT_ZARR_BLOSC) ? "blosc, " : "",
        cutt_zarr_codec_usable(CUTT_ZARR_ZSTD) ? "zstd, " : "", cutt_zarr_codec_usable(CUTT_ZARR_GZIP) ? "gzip" : "");
  cutt_zarr_codec *codec = &meta->codec;
  codec->level = integer_of(settings, codec->kind == CUTT_ZARR_BLOSC ? "clevel" : "level", codec->level);
  if (codec->kind != CUTT_ZARR_ZSTD && (codec->level < 0 || codec->level > 9)) codec->level = 5;
  codec->checksum = json_is_true(get(settings, "checksum"));
  codec->block_bytes = integer_of(settings, "blocksize", 0);
  if (codec->block_bytes < 0) codec->block_bytes = 0;
  codec->shuffle = shuffle_of(settings);
  const char *inside = json_string_value(get(settings, "cname"));
  snprintf(codec->name, sizeof codec->name, "%s", inside ? inside : "lz4");
  return true;
}

/* ------------------------------------------------------------------------------------------------------ version 2 */

static bool read_v2(const json_t *root, cutt_zarr_meta *meta, char *why) {
  char text[64];
  const json_t *dtype = get(root, "dtype"), *filters = get(root, "filters"), *compressor = get(root, "compressor");
  const char *order = json_string_value(get(root, "order")), *separator = ".";
  if (get(root, "dimension_separator")) separator = json_string_value(get(root, "dimension_separator"));
  if (!json_is_string(dtype) || json_string_length(dtype) >= CUTT_NPY_DESCR)
    return cutt_zarr_refuse(why,
                            "dtype is %s; it must be one word, such as \"<f4\" (structured dtypes are not supported)",
                            text_of(dtype, text));
  snprintf(meta->npy.descr, sizeof meta->npy.descr, "%s", json_string_value(dtype));
  if (!order || (strcmp(order, "C") != 0 && strcmp(order, "F") != 0))
    return cutt_zarr_refuse(why, "order is %s; it must be \"C\" or \"F\"", text_of(get(root, "order"), text));
  if (!separator || (strcmp(separator, ".") != 0 && strcmp(separator, "/") != 0))
    return cutt_zarr_refuse(why, "dimension_separator is %s; it must be \".\" or \"/\"",
                            text_of(get(root, "dimension_separator"), text));
  meta->separator = *separator;
  if (!read_shapes(get(root, "shape"), get(root, "chunks"), "chunks", meta, why)) return false;
  for (int i = 0; i < meta->npy.rank; ++i) meta->order[i] = *order == 'C' ? i : meta->npy.rank - 1 - i;
  if (filters && !json_is_null(filters) && (!json_is_array(filters) || json_array_size(filters) > 0))
    return cutt_zarr_refuse(why, "filters has %s; arrays without filters can be read",
                            text_of(json_is_array(filters) ? get(json_array_get(filters, 0), "id") : filters, text));
  if (compressor && !json_is_null(compressor)) {
    const char *id = json_string_value(get(compressor, "id"));
    if (!read_codec(id ? id : text_of(compressor, text), compressor, meta, why)) return false;
  }
  return read_fill(get(root, "fill_value"), meta, why);
}

/* ------------------------------------------------------------------------------------------------------ version 3 */

/* Version 3's names of dtypes, and NumPy's without the byte order. */
static const char *const types[][2] = {{"bool", "b1"},      {"int8", "i1"},       {"int16", "i2"},   {"int32", "i4"},
                                       {"int64", "i8"},     {"uint8", "u1"},      {"uint16", "u2"},  {"uint32", "u4"},
                                       {"uint64", "u8"},    {"float16", "f2"},    {"float32", "f4"}, {"float64", "f8"},
                                       {"complex64", "c8"}, {"complex128", "c16"}};
enum { TYPES = sizeof types / sizeof types[0] };

/* Of the codecs the first ones say how a chunk is laid out. */
static bool read_layout(const json_t *codec, const char *name, cutt_zarr_meta *meta, bool *has_bytes, char *why) {
  char text[64];
  const json_t *settings = get(codec, "configuration");
  int64_t order[CUTT_NPY_MAX_RANK] = {0};
  int before[CUTT_NPY_MAX_RANK], rank = 0;
  bool seen[CUTT_NPY_MAX_RANK] = {false};
  if (!strcmp(name, "bytes")) {
    const char *endian = json_string_value(get(settings, "endian"));
    *has_bytes = true;
    if (endian && strcmp(endian, "little") != 0 && strcmp(endian, "big") != 0)
      return cutt_zarr_refuse(why, "codec 'bytes' has the endian '%s'; it must be little or big", endian);
    if (!endian && meta->npy.elem_bytes > 1)
      return cutt_zarr_refuse(why, "codec 'bytes' has no endian; it must be little or big");
    if (meta->npy.elem_bytes > 1) meta->npy.descr[0] = *endian == 'b' ? '>' : '<';
    return true;
  }
  if (!read_extents(get(settings, "order"), "order of codec 'transpose'", 0, order, &rank, why)) return false;
  memcpy(before, meta->order, sizeof before);
  for (int i = 0; i < rank; ++i) {
    if (rank != meta->npy.rank || order[i] >= rank || seen[order[i]])
      return cutt_zarr_refuse(why, "codec 'transpose' has the order %s; it must have each axis once",
                              text_of(get(settings, "order"), text));
    seen[order[i]] = true;
    meta->order[i] = before[order[i]];
  }
  return rank == meta->npy.rank ||
         cutt_zarr_refuse(why, "codec 'transpose' has an order of %d axes, and the array %d", rank, meta->npy.rank);
}

static bool read_codecs(const json_t *codecs, cutt_zarr_meta *meta, char *why) {
  char text[64];
  bool has_bytes = false;
  for (size_t i = 0; i < json_array_size(codecs); ++i) {
    const json_t *codec = json_array_get(codecs, i);
    const char *name = json_string_value(get(codec, "name"));
    if (!name) return cutt_zarr_refuse(why, "codecs has %s in it; each must have a name", text_of(codec, text));
    if (!has_bytes && (!strcmp(name, "bytes") || !strcmp(name, "transpose"))) {
      if (!read_layout(codec, name, meta, &has_bytes, why)) return false;
    } else {
      if (meta->codec.kind != CUTT_ZARR_NONE)
        return cutt_zarr_refuse(why, "codec '%s' follows '%s'; there can be one after 'bytes'", name,
                                cutt_zarr_codec_name(meta->codec.kind));
      if (!read_codec(name, get(codec, "configuration"), meta, why)) return false;
      if (!has_bytes) return cutt_zarr_refuse(why, "codec '%s' is where 'bytes' has to be", name);
    }
  }
  return has_bytes ||
         cutt_zarr_refuse(why, "codecs is %s; it must be a list with 'bytes' in it", text_of(codecs, text));
}

static bool read_keys(const json_t *encoding, cutt_zarr_meta *meta, char *why) {
  char text[64];
  const char *name = json_string_value(get(encoding, "name"));
  const json_t *separator = get(get(encoding, "configuration"), "separator");
  if (!name || (strcmp(name, "default") != 0 && strcmp(name, "v2") != 0))
    return cutt_zarr_refuse(why, "chunk_key_encoding is %s; its name must be \"default\" or \"v2\"",
                            text_of(encoding, text));
  meta->prefixed = !strcmp(name, "default");
  meta->separator = meta->prefixed ? '/' : '.';
  if (!separator) return true;
  const char *word = json_string_value(separator);
  if (!word || (strcmp(word, "/") != 0 && strcmp(word, ".") != 0))
    return cutt_zarr_refuse(why, "chunk_key_encoding has the separator %s; it must be \".\" or \"/\"",
                            text_of(separator, text));
  meta->separator = *word;
  return true;
}

/* What is not known must say that it may be ignored. */
static bool check_members(const json_t *root, char *why) {
  static const char *const known[] = {"zarr_format",         "node_type",  "shape",  "data_type",  "chunk_grid",
                                      "chunk_key_encoding",  "fill_value", "codecs", "attributes", "dimension_names",
                                      "storage_transformers"};
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)root, key, value) {
    bool found = json_is_false(get(value, "must_understand"));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) found = found || !strcmp(key, known[i]);
    if (!found) return cutt_zarr_refuse(why, "the metadata has '%.64s', an extension that is not supported", key);
  }
  const json_t *transformers = get(root, "storage_transformers");
  return json_array_size(transformers) == 0 || cutt_zarr_refuse(why, "storage_transformers are not supported");
}

static bool read_v3(const json_t *root, cutt_zarr_meta *meta, char *why) {
  char text[64];
  const json_t *type = get(root, "data_type"), *grid = get(root, "chunk_grid"), *names = get(root, "dimension_names");
  const char *name = json_string_value(type), *grid_name = json_string_value(get(grid, "name"));
  const char *node = json_string_value(get(root, "node_type"));
  if (!node || strcmp(node, "array") != 0)
    return cutt_zarr_refuse(why, "node_type is %s; it must be \"array\": the path of a group has no elements",
                            text_of(get(root, "node_type"), text));
  if (!check_members(root, why)) return false;
  for (int i = 0; name && i < TYPES; ++i)
    if (!strcmp(name, types[i][0]))
      snprintf(meta->npy.descr, sizeof meta->npy.descr, "%c%s",
               strchr(types[i][1], '1') && types[i][1][0] != 'c' ? '|' : '<', types[i][1]);
  if (!*meta->npy.descr)
    return cutt_zarr_refuse(
        why,
        "data_type is %s; it must be bool, int8 to int64, uint8 to uint64, float16 to float64, complex64 or "
        "complex128",
        text_of(type, text));
  if (!grid_name || strcmp(grid_name, "regular") != 0)
    return cutt_zarr_refuse(why, "chunk_grid is %s; its name must be \"regular\"", text_of(grid, text));
  if (!read_shapes(get(root, "shape"), get(get(grid, "configuration"), "chunk_shape"), "chunk_shape", meta, why))
    return false;
  for (int i = 0; i < meta->npy.rank; ++i) meta->order[i] = i;
  if (!read_keys(get(root, "chunk_key_encoding"), meta, why) || !read_codecs(get(root, "codecs"), meta, why))
    return false;
  if (json_array_size(names) == (size_t)meta->npy.rank && meta->npy.rank > 0)
    meta->names = json_incref((json_t *)(uintptr_t)names);
  if (json_is_object(get(root, "attributes")))
    meta->attributes = json_incref((json_t *)(uintptr_t)get(root, "attributes"));
  return read_fill(get(root, "fill_value"), meta, why);
}

/* ------------------------------------------------------------------------------------------------------------ all */

bool cutt_zarr_meta_parse(const char *text, size_t bytes, int format, cutt_zarr_meta *meta, char *why) {
  json_error_t error;
  memset(meta, 0, sizeof *meta);
  meta->format = format;
  json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
  if (!root) return cutt_zarr_refuse(why, "is no JSON that can be read: line %d: %.200s", error.line, error.text);
  const json_t *found = get(root, "zarr_format");
  bool good = json_is_object(root) || cutt_zarr_refuse(why, "is no JSON object");
  if (good && json_integer_value(found) != format)
    good = cutt_zarr_refuse(why, "zarr_format is %s; here it must be %d", text_of(found, (char[64]){0}), format);
  good = good && (format == 2 ? read_v2 : read_v3)(root, meta, why);
  json_decref(root);
  if (!good) cutt_zarr_meta_release(meta);
  return good;
}

bool cutt_zarr_meta_is_array(const char *text, size_t bytes) {
  json_t *root = json_loadb(text, bytes, 0, NULL);
  const char *type = json_string_value(get(root, "node_type"));
  const bool array = type && !strcmp(type, "array");
  json_decref(root);
  return array;
}

void cutt_zarr_meta_release(cutt_zarr_meta *meta) {
  json_decref(meta->fill_value);
  json_decref(meta->attributes);
  json_decref(meta->names);
  meta->fill_value = meta->attributes = meta->names = NULL;
}

/* -------------------------------------------------------------------------------------------------------- writing */

static json_t *list_of(const int64_t *extents, int rank) {
  json_t *list = json_array();
  for (int i = 0; i < rank; ++i) json_array_append_new(list, json_integer(extents[i]));
  return list;
}

static json_t *fill_of(const cutt_zarr_meta *meta) {
  const char kind = meta->npy.descr[strspn(meta->npy.descr, "<>|=")];
  if (meta->fill_value) return json_incref(meta->fill_value);
  if (strchr("SUVmM", kind)) return json_null();
  if (kind == 'c') return json_pack("[f, f]", 0.0, 0.0);
  return kind == 'b' ? json_false() : kind == 'f' ? json_real(0.0) : json_integer(0);
}

static json_t *compressor_of(const cutt_zarr_codec *codec) {
  const char *name = cutt_zarr_codec_name(codec->kind);
  if (codec->kind == CUTT_ZARR_NONE) return json_null();
  if (codec->kind == CUTT_ZARR_BLOSC)
    return json_pack("{s:s, s:s, s:i, s:i, s:i}", "id", name, "cname", codec->name, "clevel", codec->level, "shuffle",
                     codec->shuffle, "blocksize", codec->block_bytes);
  return json_pack("{s:s, s:i}", "id", name, "level", codec->level);
}

static bool is_in_c_order(const cutt_zarr_meta *meta) {
  for (int i = 0; i < meta->npy.rank; ++i)
    if (meta->order[i] != i) return false;
  return true;
}

static json_t *v2_of(const cutt_zarr_meta *meta) {
  const char separator[2] = {meta->separator, 0};
  return json_pack("{s:i, s:o, s:o, s:s, s:s, s:o, s:o, s:s, s:n}", "zarr_format", 2, "shape",
                   list_of(meta->npy.shape, meta->npy.rank), "chunks", list_of(meta->chunk, meta->npy.rank), "dtype",
                   meta->npy.descr, "order", is_in_c_order(meta) ? "C" : "F", "fill_value", fill_of(meta), "compressor",
                   compressor_of(&meta->codec), "dimension_separator", separator, "filters");
}

static json_t *codecs_of(const cutt_zarr_meta *meta) {
  static const char *const shuffles[] = {"noshuffle", "shuffle", "bitshuffle"};
  const cutt_zarr_codec *codec = &meta->codec;
  json_t *codecs = json_array();
  int64_t order[CUTT_NPY_MAX_RANK];
  for (int i = 0; i < meta->npy.rank; ++i) order[i] = meta->order[i];
  if (!is_in_c_order(meta))
    json_array_append_new(codecs, json_pack("{s:s, s:{s:o}}", "name", "transpose", "configuration", "order",
                                            list_of(order, meta->npy.rank)));
  if (meta->npy.elem_bytes == 1)
    json_array_append_new(codecs, json_pack("{s:s}", "name", "bytes"));
  else
    json_array_append_new(codecs, json_pack("{s:s, s:{s:s}}", "name", "bytes", "configuration", "endian",
                                            meta->npy.descr[0] == '>' ? "big" : "little"));
  if (codec->kind == CUTT_ZARR_BLOSC)
    json_array_append_new(
        codecs, json_pack("{s:s, s:{s:s, s:i, s:s, s:i, s:i}}", "name", "blosc", "configuration", "cname", codec->name,
                          "clevel", codec->level, "shuffle", shuffles[codec->shuffle < 0 ? 1 : codec->shuffle],
                          "typesize", codec->elem_bytes, "blocksize", codec->block_bytes));
  else if (codec->kind == CUTT_ZARR_ZSTD)
    json_array_append_new(codecs, json_pack("{s:s, s:{s:i, s:b}}", "name", "zstd", "configuration", "level",
                                            codec->level, "checksum", codec->checksum));
  else if (codec->kind == CUTT_ZARR_GZIP)
    json_array_append_new(codecs, json_pack("{s:s, s:{s:i}}", "name", "gzip", "configuration", "level", codec->level));
  return codecs;
}

static json_t *v3_of(const cutt_zarr_meta *meta, char *why) {
  const char *plain = meta->npy.descr + strspn(meta->npy.descr, "<>|="), *type = NULL;
  const char separator[2] = {meta->separator, 0};
  for (int i = 0; i < TYPES; ++i)
    if (!strcmp(plain, types[i][1])) type = types[i][0];
  if (!type || meta->codec.kind == CUTT_ZARR_ZLIB) {
    cutt_zarr_refuse(why, "%s '%s' is not in version 3 of Zarr; --zarr 2 has it", type ? "codec" : "dtype",
                     type ? "zlib" : meta->npy.descr);
    return NULL;
  }
  json_t *root = json_pack(
      "{s:i, s:s, s:o, s:s, s:{s:s, s:{s:o}}, s:{s:s, s:{s:s}}, s:o, s:o, s:o}", "zarr_format", 3, "node_type", "array",
      "shape", list_of(meta->npy.shape, meta->npy.rank), "data_type", type, "chunk_grid", "name", "regular",
      "configuration", "chunk_shape", list_of(meta->chunk, meta->npy.rank), "chunk_key_encoding", "name",
      meta->prefixed ? "default" : "v2", "configuration", "separator", separator, "fill_value", fill_of(meta), "codecs",
      codecs_of(meta), "attributes", meta->attributes ? json_incref(meta->attributes) : json_object());
  if (root && meta->names) json_object_set(root, "dimension_names", meta->names);
  return root;
}

char *cutt_zarr_meta_text(const cutt_zarr_meta *meta, char *why) {
  cutt_zarr_refuse(why, "out of memory for the metadata");
  json_t *root = meta->format == 2 ? v2_of(meta) : v3_of(meta, why);
  char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
  json_decref(root);
  return text;
}
