/* Lists of contractions: reading those that are compiled in, scaling, writing. What is listed is known when this is
 * written, so a line that does not fit is a fault of the program, and ends it. */
#include "contract_cases.h"

#include <stdlib.h>
#include <string.h>

#include "lists.h"

/* ------------------------------------------------------------------------------------------------------------ lists */

void cutt_bench_contractions_free(cutt_bench_contractions *cases) {
  free(cases->item);
  *cases = (cutt_bench_contractions){0};
}

bool cutt_bench_contractions_add(cutt_bench_contractions *cases, const cutt_bench_contraction *c) {
  if (cases->count == cases->room) {
    const size_t room = cases->room ? 2 * cases->room : 64;
    cutt_bench_contraction *item = realloc(cases->item, room * sizeof *item);
    if (!item) return false;
    cases->item = item;
    cases->room = room;
  }
  cases->item[cases->count++] = *c;
  return true;
}

int64_t cutt_bench_contract_volume(const cutt_bench_contraction *c, int tensor) {
  int64_t volume = 1;
  for (int i = 0; i < c->rank[tensor]; ++i)
    if (__builtin_mul_overflow(volume, c->extent[c->modes[tensor][i] - 'a'], &volume)) return INT64_MAX;
  return volume;
}

/* Elements of the largest tensor. */
static int64_t largest(const cutt_bench_contraction *c) {
  int64_t largest = 0;
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t) {
    const int64_t volume = cutt_bench_contract_volume(c, t);
    if (volume > largest) largest = volume;
  }
  return largest;
}

/* ---------------------------------------------------------------------------------------------------------- scaling */

enum { PARTS = 1 << 16 };

static cutt_bench_contraction scaled(const cutt_bench_contraction *c, int64_t parts) {
  cutt_bench_contraction s = *c;
  for (int i = 0; i < CUTT_BENCH_LETTERS; ++i) {
    if (c->extent[i] == 0) continue;
    s.extent[i] = c->extent[i] * parts / PARTS;
    if (s.extent[i] < 2) s.extent[i] = 2;
  }
  return s;
}

/* The largest of the factors 1/PARTS .. 1 with which the largest tensor is small enough. */
static void scale_down(cutt_bench_contraction *c, int64_t volume) {
  int64_t low = 1, high = PARTS;
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    const cutt_bench_contraction s = scaled(c, middle);
    if (largest(&s) <= volume) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  *c = scaled(c, low);
}

/* ---------------------------------------------------------------------------------------------------------- reading */

enum { FIELDS = 9, FIELD = 96 };

/* Cuts a line into fields, in quotes or not; returns how many. */
static int split(const char *line, char divider, char field[FIELDS][FIELD]) {
  int count = 0;
  bool quoted = false;
  size_t length = 0;
  for (const char *at = line;; ++at) {
    if (*at == '"') {
      quoted = !quoted;
    } else if (!*at || (*at == divider && !quoted)) {
      field[count++][length] = 0;
      length = 0;
      if (!*at || count == FIELDS) return count;
    } else if (length + 1 < FIELD) {
      field[count][length++] = *at;
    }
  }
}

static void must(bool right, const char *line) {
  if (right) return;
  fprintf(stderr, "cutt: the line '%s' of a list that is compiled in can't be used\n", line);
  abort();
}

/* "a,c,d" or "acd" as the modes of a tensor, up to an end that is no letter; returns it. */
static const char *read_modes(cutt_bench_contraction *c, int tensor, const char *text) {
  for (; (*text >= 'a' && *text <= 'z') || *text == ','; ++text) {
    if (*text == ',') continue;
    if (c->rank[tensor] == CUTT_BENCH_CONTRACT_RANK) break;
    c->modes[tensor][c->rank[tensor]++] = *text;
  }
  return text;
}

/* "312x24" as the extents of the modes of a tensor; false where it contradicts what is there. */
static bool read_extents(cutt_bench_contraction *c, int tensor, const char *text) {
  for (int i = 0; i < c->rank[tensor]; ++i) {
    char *end;
    const long long extent = strtoll(text, &end, 10);
    int64_t *known = &c->extent[c->modes[tensor][i] - 'a'];
    if (end == text || (*known && *known != extent)) return false;
    *known = extent;
    text = end + (*end == 'x');
  }
  return !*text;
}

/* id;pattern;D;L;R, the pattern as D(a,b,c)+=L(b,d,a)*R(d,c). The groups are those of the other list, which has the
 * same contractions. */
bool cutt_bench_contract_talsh48(cutt_bench_contractions *cases, int64_t volume) {
  for (const char *const *line = cutt_bench_talsh48 + 1; *line; ++line) {
    char field[FIELDS][FIELD], other[FIELDS][FIELD];
    cutt_bench_contraction c = {.id = ""};
    must(split(*line, ';', field) == 5, *line);
    const char *at = strchr(field[1], '(');
    for (int t = CUTT_CLI_RESULT, next = 0; next < CUTT_CLI_TENSORS; t = next++) {
      must(at, *line);
      at = strchr(read_modes(&c, t, at + 1), '(');
    }
    must(read_extents(&c, CUTT_CLI_RESULT, field[2]) && read_extents(&c, CUTT_CLI_LEFT, field[3]) &&
             read_extents(&c, CUTT_CLI_RIGHT, field[4]),
         *line);
    split(cutt_bench_tccg48[line - cutt_bench_talsh48], ',', other);
    snprintf(c.group, sizeof c.group, "%.20s", other[1]);
    c.place = (int)(line - cutt_bench_talsh48);
    snprintf(c.id, sizeof c.id, "talsh48_%02d", atoi(field[0]) % 100);
    if (volume > 0) scale_down(&c, volume);
    if (!cutt_bench_contractions_add(cases, &c)) return false;
  }
  return true;
}

/* id,group,original,normalised,einsum,extents_f64,extents_f32,...; the normalised one is "D-L-R". */
bool cutt_bench_contract_tccg48(cutt_bench_contractions *cases, int elem_bytes, int64_t volume) {
  for (const char *const *line = cutt_bench_tccg48 + 1; *line; ++line) {
    char field[FIELDS][FIELD];
    cutt_bench_contraction c = {.id = ""};
    must(split(*line, ',', field) == 9, *line);
    const char *at = field[3];
    for (int t = CUTT_CLI_RESULT, next = 0; next < CUTT_CLI_TENSORS; t = next++) {
      at = read_modes(&c, t, at);
      at += *at == '-';
    }
    for (at = elem_bytes <= 4 ? field[6] : field[5]; *at; at += *at == ';') {
      char *end;
      must(*at >= 'a' && *at <= 'z' && at[1] == ':', *line);
      c.extent[*at - 'a'] = strtoll(at + 2, &end, 10);
      must(end > at + 2, *line);
      at = end;
    }
    snprintf(c.group, sizeof c.group, "%.20s", field[1]);
    c.place = (int)(line - cutt_bench_tccg48);
    snprintf(c.id, sizeof c.id, "tccg48_%02d", atoi(field[0]) % 100);
    if (volume > 0) scale_down(&c, volume);
    if (!cutt_bench_contractions_add(cases, &c)) return false;
  }
  return true;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

const char *cutt_bench_contract_pattern(const cutt_bench_contraction *c, char *buffer, size_t size) {
  snprintf(buffer, size, "%s,%s->%s", c->modes[CUTT_CLI_LEFT], c->modes[CUTT_CLI_RIGHT], c->modes[CUTT_CLI_RESULT]);
  return buffer;
}

const char *cutt_bench_contract_extents(const cutt_bench_contraction *c, char *buffer, size_t size) {
  size_t length = 0;
  if (size) buffer[0] = 0;
  for (int i = 0; i < CUTT_BENCH_LETTERS && length < size; ++i)
    if (c->extent[i])
      length += (size_t)snprintf(buffer + length, size - length, "%s%c:%lld", length ? " " : "", 'a' + i,
                                 (long long)c->extent[i]);
  return buffer;
}

bool cutt_bench_contract_write(const cutt_bench_contractions *cases, FILE *file) {
  char pattern[64], extents[512];
  fputs("id;group;pattern;extents\n", file);
  for (size_t i = 0; i < cases->count; ++i) {
    const cutt_bench_contraction *c = &cases->item[i];
    fprintf(file, "%s;%s;%s;%s\n", c->id, c->group, cutt_bench_contract_pattern(c, pattern, sizeof pattern),
            cutt_bench_contract_extents(c, extents, sizeof extents));
  }
  return fflush(file) == 0 && !ferror(file);
}
