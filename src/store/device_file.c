/* Device files.
 *
 *   cutt device, format 1
 *   # what a person should know
 *   backend cuda
 *   key cuda-NVIDIA_H200-...
 *   name NVIDIA H200
 *   property sms 132 1
 *   property l2_bytes 62914560 B
 *   parameter memory.lines 1.0625 B
 *   end
 *
 * A property or a parameter is a name, a number and its unit, if it has one. People may edit a file, to describe a device
 * that they don't have; so there is no checksum, but all properties must be there, everything once, in the units that the
 * library has them in, and within bounds; and a file that was cut off has no end. A file that is wrong in one place is not used
 * at all: half of a description would be another device's. Parameters that are not there are the built-in ones, since earlier
 * versions of the library had fewer. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "store/device_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/number.h"

static const char header[] = "cutt device, format ";
static const char format[] = "1";

enum { FILE_BYTES = 65536, MOST_PROPERTIES = 64 };

/* ------------------------------------------------------------------------------------------------------ properties */

static void add_property_value(cutt_text *text, const cutt_property *property, const cutt_target *target) {
  if (property->kind == CUTT_PROPERTY_INT64) { /* which a double may not hold */
    int64_t wide = 0;
    memcpy(&wide, (const char *)target + property->offset, sizeof wide);
    cutt_text_add(text, "%" PRId64, wide);
  } else if (property->kind == CUTT_PROPERTY_INT) {
    cutt_text_add(text, "%.0f", cutt_property_value(property, target));
  } else {
    cutt_add_real(text, cutt_property_value(property, target));
  }
}

/* ---------------------------------------------------------------------------------------------------------- reading */

typedef struct reader {
  const char *path;
  const cutt_schema *schema; /* of known */
  cutt_target
      *known;  /* the device at hand, whose properties and values are taken where the file lacks some; NULL: none */
  int lacking; /* parameters */
  int line;
  bool ended;
  const cutt_backend *backend;
  cutt_target *target; /* one block: the struct, the values, the path */
  double *value;       /* in it */
  char key[CUTT_DEVICE_KEY_BYTES];
  bool has_key, has_name, has_property[MOST_PROPERTIES], has_parameter[CUTT_PARAMETERS];
  cuttResult result;
  char why[CUTT_DEVICE_WHY_BYTES]; /* when result is not CUTT_SUCCESS */
} reader;

/* Words what is wrong, and with which line, if it is one's fault. Returns false. */
__attribute__((format(printf, 2, 3))) static bool wrong(reader *r, const char *what, ...) {
  char text[CUTT_DEVICE_WHY_BYTES / 2];
  va_list arguments;
  va_start(arguments, what);
  vsnprintf(text, sizeof text, what, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it was started */
  va_end(arguments);
  r->result = CUTT_INVALID_PARAMETER;
  if (r->line > 0) {
    snprintf(r->why, sizeof r->why, "%.300s, line %d: %s", r->path, r->line, text);
  } else {
    snprintf(r->why, sizeof r->why, "%.300s: %s", r->path, text);
  }
  return false;
}

/* Cuts the next word off *at; NULL when there is none. */
static char *take_word(char **at) {
  char *word = *at + strspn(*at, " ");
  if (!*word) return NULL;
  char *end = word + strcspn(word, " ");
  *at = end + (*end == ' ');
  *end = 0;
  return word;
}

static bool take_backend(reader *r, const char *name) {
  if (r->backend) return wrong(r, "there is a second line 'backend'");
  for (const cutt_backend *const *b = cutt_backends; *b; ++b) {
    if (!strcmp((*b)->name, name)) r->backend = *b;
  }
  if (!r->backend) {
    char names[128] = "";
    cutt_text list = cutt_text_start(names, sizeof names);
    for (const cutt_backend *const *b = cutt_backends; *b; ++b) {
      cutt_text_add(&list, "%s%s", list.length ? ", " : "", (*b)->name);
    }
    return wrong(r, "the backend is '%s'; it must be one of %s", name, names);
  }
  const cutt_schema *schema = r->backend->schema;
  const size_t aligned = (schema->bytes + sizeof(double) - 1) / sizeof(double) * sizeof(double);
  const size_t values = (size_t)schema->parameter_count * sizeof(double), path = strlen(r->path) + 1;
  r->target = calloc(1, aligned + values + path);
  if (!r->target) {
    wrong(r, "out of memory: %zu bytes for a device", aligned + values + path);
    r->result = CUTT_INTERNAL_ERROR;
    return false;
  }
  r->value = (double *)(void *)((char *)r->target + aligned);
  char *source = (char *)r->target + aligned + values;
  memcpy(source, r->path, path);
  r->target->value = r->value;
  r->target->source = source;
  return true;
}

/* The number and the unit of a property or a parameter. */
static bool take_value(reader *r, const char *name, char *rest, const char *unit, char **number) {
  *number = take_word(&rest);
  if (!*number) return wrong(r, "'%s' has no value", name);
  if (!unit) unit = "";
  if (strcmp(rest, unit) != 0) {
    return wrong(r, "the unit of '%s' is '%s'; it must be %s%s%s", name, rest, *unit ? "'" : "", *unit ? unit : "none",
                 *unit ? "'" : "");
  }
  return true;
}

static bool take_property(reader *r, const char *name, char *rest) {
  const cutt_schema *schema = r->backend->schema;
  int i = 0;
  while (i < schema->property_count && strcmp(schema->properties[i].name, name) != 0) ++i;
  if (i == schema->property_count)
    return wrong(r, "there is no property '%s' of the backend %s", name, schema->backend);
  const cutt_property *property = &schema->properties[i];
  if (r->has_property[i]) return wrong(r, "the property '%s' is there twice", name);
  r->has_property[i] = true;
  char *number = NULL;
  if (!take_value(r, name, rest, property->unit, &number)) return false;
  double real = 0;
  int64_t wide = 0;
  if (property->kind == CUTT_PROPERTY_REAL) {
    if (!cutt_read_real(number, &real)) return wrong(r, "'%s' is '%s', which is not a number", name, number);
  } else {
    if (!cutt_read_whole(number, &wide)) return wrong(r, "'%s' is '%s', which is not a whole number", name, number);
    real = (double)wide;
  }
  if (real < property->least || real > property->most ||
      (property->kind == CUTT_PROPERTY_INT && (wide < INT32_MIN || wide > INT32_MAX))) {
    return wrong(r, "'%s' is %s; it must be %.15g to %.15g", name, number, property->least, property->most);
  }
  const int whole = (int)wide;
  const void *from = property->kind == CUTT_PROPERTY_INT     ? (const void *)&whole
                     : property->kind == CUTT_PROPERTY_INT64 ? (const void *)&wide
                                                             : (const void *)&real;
  memcpy(cutt_property_field(property, r->target), from, cutt_property_bytes(property));
  return true;
}

static bool take_parameter(reader *r, const char *name, char *rest) {
  const cutt_schema *schema = r->backend->schema;
  int i = 0;
  while (i < schema->parameter_count && strcmp(schema->parameters[i].name, name) != 0) ++i;
  if (i == schema->parameter_count)
    return wrong(r, "there is no parameter '%s' of the backend %s", name, schema->backend);
  if (r->has_parameter[i]) return wrong(r, "the parameter '%s' is there twice", name);
  r->has_parameter[i] = true;
  char *number = NULL;
  if (!take_value(r, name, rest, schema->parameters[i].unit, &number)) return false;
  if (!cutt_read_real(number, &r->value[i])) return wrong(r, "'%s' is '%s', which is not a number", name, number);
  if (r->value[i] < 0) return wrong(r, "'%s' is %s; it must be 0 or more", name, number);
  return true;
}

/* Printable, and not too long. */
static bool take_text(reader *r, const char *what, const char *from, bool *has, char *to, size_t size) {
  if (*has) return wrong(r, "there is a second line '%s'", what);
  *has = true;
  if (!*from || strlen(from) >= size) return wrong(r, "the %s must have 1 to %zu characters", what, size - 1);
  memcpy(to, from, strlen(from) + 1);
  return true;
}

static bool take_line(reader *r, char *line) {
  if (r->line == 1) {
    const size_t fixed = sizeof header - 1;
    if (strncmp(line, header, fixed) != 0)
      return wrong(r, "this is not a device file: it must begin with '%s'", header);
    return !strcmp(line + fixed, format) ||
           wrong(r, "format '%s' is not known; this library reads format %s", line + fixed, format);
  }
  if (!*line || *line == '#') return true;
  if (r->ended) return wrong(r, "there is more after the line 'end'");
  char *rest = line;
  const char *word = take_word(&rest);
  if (word && !strcmp(word, "end") && !*rest) return r->ended = true;
  if (word && !strcmp(word, "backend")) return take_backend(r, rest);
  if (word && !strcmp(word, "key")) {
    return take_text(r, word, rest, &r->has_key, r->key, sizeof r->key) &&
           (!strchr(r->key, ' ') || wrong(r, "the key is '%s'; it must be one word", r->key));
  }
  const bool name = word && !strcmp(word, "name");
  /* Files that were written before the first release have the word fact. */
  const bool property = word && (!strcmp(word, "property") || !strcmp(word, "fact"));
  if (!name && !property && (!word || strcmp(word, "parameter") != 0)) {
    return wrong(r, "it begins with '%s'; it must be backend, key, name, property, parameter or end", word ? word : "");
  }
  if (!r->backend) return wrong(r, "there must be a line 'backend' before it");
  if (name) return take_text(r, word, rest, &r->has_name, r->target->name, sizeof r->target->name);
  const char *what = take_word(&rest);
  if (!what) return wrong(r, "a name is missing after '%s'", word);
  return property ? take_property(r, what, rest) : take_parameter(r, what, rest);
}

static bool check_complete(reader *r) {
  r->line = 0;
  if (!r->ended) return wrong(r, "the line 'end' is missing; the file has been cut off");
  if (!r->backend || !r->has_key || !r->has_name) {
    return wrong(r, "the line '%s' is missing", !r->backend ? "backend" : !r->has_key ? "key" : "name");
  }
  const cutt_schema *schema = r->backend->schema;
  const bool same = r->known && !strcmp(schema->backend, r->schema->backend);
  for (int i = 0; i < schema->property_count; ++i) {
    const cutt_property *property = &schema->properties[i];
    if (r->has_property[i]) continue;
    if (!same) return wrong(r, "the property '%s' is missing", property->name);
    memcpy(cutt_property_field(property, r->target), cutt_property_field(property, r->known),
           cutt_property_bytes(property));
  }
  const double *built_in = same ? cutt_target_values(r->known, schema->value) : schema->value;
  for (int i = 0; i < schema->parameter_count; ++i) {
    if (r->has_parameter[i]) continue;
    r->value[i] = built_in[i];
    ++r->lacking;
  }
  return true;
}

/* text is cut up. On false the reader says why, and holds nothing that is to be freed. */
static bool parse(reader *r, char *text, size_t length) {
  bool good = true;
  for (char *at = text; good && at < text + length;) {
    char *end = memchr(at, '\n', (size_t)(text + length - at));
    char *next = end ? end + 1 : text + length;
    if (!end) end = text + length;
    if (end > at && end[-1] == '\r') --end; /* an editor of another system */
    ++r->line;
    for (const char *c = at; c < end; ++c) {
      if (good && ((unsigned char)*c < ' ' || *c == 0x7f)) good = wrong(r, "it has a character that is no text");
    }
    *end = 0;
    good = good && take_line(r, at);
    at = next;
  }
  good = good && check_complete(r);
  if (good) return true;
  free(r->target);
  r->target = NULL;
  return false;
}

/* What a file holds, but no more than one byte too many. */
typedef struct contents {
  char *text; /* FILE_BYTES + 2 */
  size_t length;
} contents;

static bool take_contents(void *context, const char *bytes, size_t length) {
  contents *c = context;
  const size_t room = FILE_BYTES + 1 - c->length, taken = length < room ? length : room;
  memcpy(c->text + c->length, bytes, taken);
  c->length += taken;
  return c->length <= FILE_BYTES;
}

static bool read_all(reader *r, const char *path, contents *c) {
  const char *failed = cutt_file_try(path, take_contents, c);
  if (failed) {
    snprintf(r->why, sizeof r->why, "the device file \"%.300s\" %s%s%s", path, failed, errno ? ": " : "",
             errno ? strerror(errno) : "");
    return false;
  }
  if (c->length <= FILE_BYTES) return true;
  snprintf(r->why, sizeof r->why, "%.300s is not a device file: it is longer than %d bytes", path, FILE_BYTES);
  return false;
}

/* All of reading, without touching the thread's last error. schema, known: see reader, or NULL. */
static bool load(reader *r, const char *path, const cutt_schema *schema, cutt_target *known) {
  *r = (reader){.path = path, .schema = schema, .known = known, .result = CUTT_INVALID_PARAMETER};
  contents c = {.text = malloc(FILE_BYTES + 2)};
  bool good = c.text != NULL;
  if (!good) {
    r->result = CUTT_INTERNAL_ERROR;
    snprintf(r->why, sizeof r->why, "out of memory: %d bytes for a device file", FILE_BYTES + 2);
  } else {
    good = read_all(r, path, &c) && parse(r, c.text, c.length);
  }
  free(c.text);
  return good;
}

cuttResult cutt_device_file_try(const char *path, const cutt_backend **backend, cutt_target **target, char *key,
                                char *why) {
  reader r;
  if (!load(&r, path, NULL, NULL)) {
    memcpy(why, r.why, sizeof r.why);
    return r.result;
  }
  *backend = r.backend;
  *target = r.target;
  memcpy(key, r.key, sizeof r.key);
  return CUTT_SUCCESS;
}

cuttResult cutt_device_file_read(const char *path, const cutt_backend **backend, cutt_target **target, char *key) {
  char why[CUTT_DEVICE_WHY_BYTES];
  const cuttResult result = cutt_device_file_try(path, backend, target, key, why);
  return result ? cutt_error(result, "%s", why) : CUTT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

static void add_value_line(cutt_text *text, const char *unit) {
  cutt_text_add(text, "%s%s\n", unit && *unit ? " " : "", unit ? unit : "");
}

static void compose(const cutt_schema *schema, const char *key, const cutt_target *target, const char *comment,
                    cutt_text *text) {
  char name[sizeof target->name];
  memcpy(name, target->name, sizeof name);
  name[sizeof name - 1] = 0;
  for (char *c = name; *c; ++c) {
    if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
  }
  cutt_text_add(text, "%s%s\n%s", header, format, comment ? comment : "");
  cutt_text_add(text, "backend %s\nkey %s\nname %s\n", schema->backend, key, *name ? name : "unknown");
  for (int i = 0; i < schema->property_count; ++i) {
    cutt_text_add(text, "property %s ", schema->properties[i].name);
    add_property_value(text, &schema->properties[i], target);
    add_value_line(text, schema->properties[i].unit);
  }
  const double *value = cutt_target_values(target, schema->value);
  for (int i = 0; i < schema->parameter_count; ++i) {
    cutt_text_add(text, "parameter %s ", schema->parameters[i].name);
    cutt_add_real(text, value[i]);
    add_value_line(text, schema->parameters[i].unit);
  }
  cutt_text_add(text, "end\n");
}

cuttResult cutt_device_file_write(const char *path, const cutt_schema *schema, const char *key,
                                  const cutt_target *target, const char *comment) {
  cutt_text text = cutt_text_start(NULL, 0);
  compose(schema, key, target, comment, &text);
  const size_t length = text.length;
  char *whole = malloc(length + 1), *copy = malloc(length + 1);
  cuttResult result = CUTT_SUCCESS;
  if (!whole || !copy) {
    result = cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a device file", 2 * (length + 1));
  } else {
    text = cutt_text_start(whole, length + 1);
    compose(schema, key, target, comment, &text);
    /* A description that could not be read again would only be found out about by the next process. */
    reader r = {.path = path};
    memcpy(copy, whole, length + 1);
    if (length > FILE_BYTES) {
      result = cutt_error(CUTT_INTERNAL_ERROR, "the device file would be longer than %d bytes", FILE_BYTES);
    } else if (parse(&r, copy, length)) {
      free(r.target);
      result = cutt_file_replace("the device file", path, whole, length);
    } else {
      result = cutt_error(CUTT_INTERNAL_ERROR, "the device can't be described, and nothing was written: %s", r.why);
    }
  }
  free(whole);
  free(copy);
  return result;
}

/* --------------------------------------------------------------------------------------------------- where files are */

bool cutt_device_file_path(const char *key, char *path, size_t size) {
  char file[CUTT_DEVICE_KEY_BYTES];
  snprintf(file, sizeof file, "%s", key);
  for (char *c = file; *c; ++c) {
    const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '-' ||
                       *c == '_' || (*c == '.' && c > file);
    if (!plain) *c = '_';
  }
  const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
  int length = -1;
  if (data && *data == '/') { /* a relative one is invalid, by the specification, and to be ignored */
    length = snprintf(path, size, "%s/cutt/%s.device", data, file);
  } else if (home && *home) {
    length = snprintf(path, size, "%s/.local/share/cutt/%s.device", home, file);
  }
  return length > 0 && (size_t)length < size;
}

/* CUTT_CALIBRATION, or NULL. Empty is not set, as with the library's other variables. */
static const char *named_file(void) {
  const char *named = getenv("CUTT_CALIBRATION");
  return named && *named ? named : NULL;
}

/* The file to look at for a device, or none. */
static bool find_file(const char *key, char *path, size_t size) {
  const char *named = named_file();
  if (!named) return cutt_device_file_path(key, path, size) && access(path, F_OK) == 0;
  if (!strcmp(named, "0")) return false;
  snprintf(path, size, "%s", named); /* one that is cut will not be there */
  return true;
}

/* Words why a file is not used. The text lives as long as the target, which is never freed. */
static void leave(cutt_target *target, bool refused, const char *why) {
  static const char no_memory[] = "out of memory: why a device file is not used";
  cutt_log(CUTT_LOG_WARN, "no calibration is used: %s", why);
  char *kept = malloc(strlen(why) + 1);
  if (kept) memcpy(kept, why, strlen(why) + 1);
  target->unused = kept ? kept : no_memory;
  target->refused = refused;
}

static void leave_bad(cutt_target *target, const reader *r) {
  char why[2 * CUTT_DEVICE_WHY_BYTES];
  const char *named = named_file();
  if (!named) {
    leave(target, false, r->why);
    return;
  }
  snprintf(why, sizeof why,
           "CUTT_CALIBRATION is '%.300s'; it must be the path of a device file that can be read, or 0 for none: %s",
           named, r->why);
  leave(target, true, why);
}

/* Takes what the file at path says. */
static void overlay_from(const char *path, const cutt_schema *schema, const char *key, cutt_target *target) {
  reader r;
  if (!load(&r, path, schema, target)) {
    leave_bad(target, &r);
    return;
  }
  const bool other_backend = strcmp(r.backend->schema->backend, schema->backend) != 0;
  if (other_backend || strcmp(r.key, key) != 0) {
    char why[CUTT_DEVICE_WHY_BYTES];
    snprintf(why, sizeof why, "%.300s is of %s, and this device is %s", path, r.key, key);
    /* One file is named for all backends, and it is one's only. */
    if (named_file() && other_backend) {
      cutt_log(CUTT_LOG_DEBUG, "no calibration is used: %s", why);
    } else {
      leave(target, false, why);
    }
    free(r.target);
    return;
  }
  for (int i = 0; i < schema->property_count; ++i) {
    const cutt_property *property = &schema->properties[i];
    memcpy(cutt_property_field(property, target), cutt_property_field(property, r.target),
           cutt_property_bytes(property));
  }
  /* The values and the path stay in the block, which is not freed. */
  target->value = r.target->value;
  target->source = r.target->source;
  cutt_log(CUTT_LOG_INFO, "calibration of %s: %s", key, path);
  if (r.lacking > 0) {
    cutt_log(CUTT_LOG_WARN,
             "%s lacks %d of %d parameters, as files of earlier versions do; these are the built-in ones", path,
             r.lacking, schema->parameter_count);
  }
}

void cutt_device_file_overlay(const cutt_schema *schema, const char *key, cutt_target *target) {
  char *path = malloc(CUTT_PATH_BYTES);
  if (!path) {
    cutt_log(CUTT_LOG_WARN, "no calibration is looked for: out of memory, %d bytes for its path", CUTT_PATH_BYTES);
  } else if (find_file(key, path, CUTT_PATH_BYTES)) {
    overlay_from(path, schema, key, target);
  }
  free(path);
}

cuttResult cutt_device_file_check(const cutt_target *target) {
  return target->refused ? cutt_error(CUTT_INVALID_PARAMETER, "%s", target->unused) : CUTT_SUCCESS;
}
