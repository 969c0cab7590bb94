/* Drawing the cases of a benchmark, and reading and writing them.
 *
 * A case must be the same on every machine, or figures could not be compared: the random numbers are the program's own
 * (random.h), every case has a stream of its own, seeded by what the case is, and extents come from integer
 * arithmetic, not from a math library whose last digits differ. */
#include "cases.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lists.h"
#include "random.h"

/* ------------------------------------------------------------------------------------------------------------ lists */

void cutt_bench_cases_free(cutt_bench_cases *cases) {
  free(cases->item);
  *cases = (cutt_bench_cases){0};
}

/* The strides of a contiguous input. */
static void set_contiguous(cutt_bench_case *c) {
  int64_t stride = 1;
  c->strided = false;
  for (int i = 0; i < c->rank; ++i) {
    c->in_stride[i] = stride;
    stride *= c->extent[i];
  }
}

static bool add_case(cutt_bench_cases *cases, const cutt_bench_case *c) {
  if (cases->count == cases->room) {
    size_t room = cases->room ? 2 * cases->room : 64;
    cutt_bench_case *item = realloc(cases->item, room * sizeof *item);
    if (!item) return false;
    cases->item = item;
    cases->room = room;
  }
  cases->item[cases->count] = *c;
  if (!c->strided) set_contiguous(&cases->item[cases->count]);
  ++cases->count;
  return true;
}

int64_t cutt_bench_volume(const cutt_bench_case *c) {
  int64_t volume = 1;
  for (int i = 0; i < c->rank; ++i)
    if (c->extent[i] == 0) return 0;
  for (int i = 0; i < c->rank; ++i)
    if (__builtin_mul_overflow(volume, c->extent[i], &volume)) return INT64_MAX;
  return volume;
}

int64_t cutt_bench_span(const cutt_bench_case *c, int64_t *first) {
  int64_t low = 0, span = 1;
  *first = 0;
  for (int i = 0; i < c->rank; ++i) {
    if (c->extent[i] == 0) return 0;
    const int64_t stride = c->in_stride[i];
    int64_t distance;
    if (stride == INT64_MIN || __builtin_mul_overflow(stride < 0 ? -stride : stride, c->extent[i] - 1, &distance) ||
        __builtin_add_overflow(span, distance, &span))
      return INT64_MAX;
    if (stride < 0) low += distance;
  }
  *first = low;
  return span;
}

/* All modes fuse to one when, modes of extent 1 aside, the permutation keeps their order. */
static bool is_trivial(const cutt_bench_case *c) {
  int last = -1;
  if (c->strided) return false;
  for (int i = 0; i < c->rank; ++i) {
    if (c->extent[c->perm[i]] == 1) continue;
    if (c->perm[i] < last) return false;
    last = c->perm[i];
  }
  return true;
}

/* --------------------------------------------------------------------------------------------------- random numbers */

/* The stream of the case that these numbers name. */
static cutt_bench_stream open_stream(uint64_t seed, uint64_t set, uint64_t rank, uint64_t ratio, uint64_t sample) {
  return cutt_bench_stream_open(seed, set << 48 | rank << 40 | ratio << 32 | sample);
}

/* Normal with deviation 1, in units of 2^-16, within two deviations: the sum of twelve even numbers is near enough to
 * normal there. */
static int64_t draw_normal(cutt_bench_stream *s) {
  for (;;) {
    int64_t sum = -6 * 65536;
    for (int i = 0; i < 12; ++i) sum += (int64_t)(cutt_bench_next(s) >> 48);
    if (sum >= -2 * 65536 && sum <= 2 * 65536) return sum;
  }
}

/* ---------------------------------------------------------------------------------------------------------- extents */

/* Extents in the making are fixed-point numbers of this many parts. */
enum { PARTS = 4096, MOST_SCALED = 12 };

/* Rounds each of count fixed-point extents up or down, at least to 2, so that with `others` (the product of the extents
 * that are settled) the volume comes nearest to the one wanted, by ratio. */
static void round_to_volume(const int64_t *fixed, int count, double others, double volume, int64_t *extent) {
  double best = -1;
  unsigned best_ups = 0;
  for (unsigned ups = 0; ups < 1u << count; ++ups) {
    double product = others;
    for (int i = 0; i < count; ++i) {
      int64_t value = fixed[i] / PARTS + (ups >> i & 1);
      product *= (double)(value < 2 ? 2 : value);
    }
    double off = product > volume ? product / volume : volume / product;
    if (best < 0 || off < best) {
      best = off;
      best_ups = ups;
    }
  }
  for (int i = 0; i < count; ++i) {
    int64_t value = fixed[i] / PARTS + (best_ups >> i & 1);
    extent[i] = value < 2 ? 2 : value;
  }
}

/* The factor, in parts, by which all of count weights (in parts too) must be multiplied so that their product with
 * others is the volume. */
static int64_t find_factor(const int64_t *weight, int count, double others, double volume) {
  int64_t low = 1, high = INT64_C(1) << 44;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    double product = others;
    for (int i = 0; i < count; ++i) product *= (double)middle * (double)weight[i] / ((double)PARTS * PARTS);
    if (product < volume) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static int64_t scale(int64_t weight, int64_t factor) { return (int64_t)((double)weight * (double)factor / PARTS); }

/* Scales the large extents of a case, those of at least half the largest, alike, so that its volume comes near to the
 * one wanted. When that would make a large extent smaller than what was a small one, those join in. */
static void scale_case(cutt_bench_case *c, int64_t volume) {
  for (int pass = 0; pass < c->rank; ++pass) {
    int64_t largest = 0, weight[MOST_SCALED], fixed[MOST_SCALED], extent[MOST_SCALED];
    for (int i = 0; i < c->rank; ++i)
      if (c->extent[i] > largest) largest = c->extent[i];
    int mode[MOST_SCALED], count = 0;
    double others = 1;
    for (int i = 0; i < c->rank; ++i) {
      if (2 * c->extent[i] >= largest && count < MOST_SCALED) {
        mode[count] = i;
        weight[count++] = c->extent[i] * PARTS;
      } else {
        others *= (double)c->extent[i];
      }
    }
    int64_t factor = find_factor(weight, count, others, (double)volume);
    for (int i = 0; i < count; ++i) fixed[i] = scale(weight[i], factor);
    round_to_volume(fixed, count, others, (double)volume, extent);
    bool changed = false;
    for (int i = 0; i < count; ++i) {
      changed = changed || c->extent[mode[i]] != extent[i];
      c->extent[mode[i]] = extent[i];
    }
    if (!changed || cutt_bench_volume(c) / 5 * 4 <= volume) return;
  }
}

/* ------------------------------------------------------------------------------------------------------------- sets */

bool cutt_bench_set1(cutt_bench_cases *cases, int samples, int64_t volume, uint64_t seed) {
  static const int ratios[] = {1, 5, 15};
  for (int rank = 2; rank <= 7; ++rank) {
    for (size_t r = 0; r < sizeof ratios / sizeof ratios[0]; ++r) {
      for (int sample = 0; sample < samples; ++sample) {
        cutt_bench_stream s = open_stream(seed, 1, (uint64_t)rank, (uint64_t)ratios[r], (uint64_t)sample);
        cutt_bench_case c = {.set = 1, .rank = rank};
        snprintf(c.id, sizeof c.id, "r%d_%dto1_%03d", rank, ratios[r], sample + 1);
        snprintf(c.group, sizeof c.group, "rank %d, %d:1", rank, ratios[r]);
        /* Weights from 1 to the ratio, both of which occur; shuffled only once they are extents, so that those rounded
         * up are not always the first. */
        int64_t weight[CUTT_MAX_RANK], fixed[CUTT_MAX_RANK], extent[CUTT_MAX_RANK];
        for (int i = 0; i < rank; ++i) weight[i] = PARTS + cutt_bench_draw(&s, (ratios[r] - 1) * PARTS + 1);
        weight[0] = PARTS;
        weight[1] = (int64_t)ratios[r] * PARTS;
        double wanted = (double)volume * (1.0 + 0.2 * (double)draw_normal(&s) / 65536);
        int64_t factor = find_factor(weight, rank, 1, wanted);
        for (int i = 0; i < rank; ++i) fixed[i] = scale(weight[i], factor);
        round_to_volume(fixed, rank, 1, wanted, extent);
        cutt_bench_draw_perm(&s, rank, c.perm);
        for (int i = 0; i < rank; ++i) c.extent[i] = extent[c.perm[i]];
        cutt_bench_draw_perm(&s, rank, c.perm);
        c.trivial = is_trivial(&c);
        if (!add_case(cases, &c)) return false;
      }
    }
  }
  return true;
}

bool cutt_bench_set2(cutt_bench_cases *cases, int samples, int64_t volume, uint64_t seed) {
  static const struct {
    int rank;
    int64_t extent[12];
  } tensor[] = {{8, {5, 3, 2, 4, 35, 33, 37, 40}}, {12, {2, 3, 4, 3, 2, 2, 3, 2, 20, 18, 22, 24}}};
  for (size_t t = 0; t < sizeof tensor / sizeof tensor[0]; ++t) {
    cutt_bench_case base = {.set = 2, .rank = tensor[t].rank};
    memcpy(base.extent, tensor[t].extent, (size_t)base.rank * sizeof base.extent[0]);
    snprintf(base.group, sizeof base.group, "rank %d", base.rank);
    if (volume > 0) scale_case(&base, volume);
    for (int sample = -2; sample < samples; ++sample) {
      cutt_bench_case c = base;
      for (int i = 0; i < c.rank; ++i) c.perm[i] = sample == -2 ? i : c.rank - 1 - i;
      if (sample == -2) {
        snprintf(c.id, sizeof c.id, "r%d_trivial", c.rank);
      } else if (sample == -1) {
        snprintf(c.id, sizeof c.id, "r%d_reverse", c.rank);
      } else {
        snprintf(c.id, sizeof c.id, "r%d_random_%03d", c.rank, sample + 1);
        cutt_bench_stream s = open_stream(seed, 2, (uint64_t)c.rank, 0, (uint64_t)sample);
        cutt_bench_draw_perm(&s, c.rank, c.perm);
      }
      c.trivial = is_trivial(&c);
      if (!add_case(cases, &c)) return false;
    }
  }
  return true;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

/* Cuts blanks off both ends, in place. */
static char *trim(char *text) {
  while (isspace((unsigned char)*text)) ++text;
  size_t length = strlen(text);
  while (length && isspace((unsigned char)text[length - 1])) text[--length] = 0;
  return text;
}

/* Numbers divided by `divider` (a blank: any white space), with signs or without. Returns how many, or -1 with *why
 * set. */
static int read_numbers(const char *text, char divider, bool is_signed, int64_t *list, const char **why) {
  int count = 0;
  for (const char *at = text; *at;) {
    if (!isdigit((unsigned char)at[is_signed && *at == '-'])) return *why = "a digit is expected", -1;
    if (count == CUTT_MAX_RANK) return *why = "there are more numbers than the largest rank, 64", -1;
    char *end;
    errno = 0;
    long long value = strtoll(at, &end, 10);
    if (errno) return *why = "a number is too large", -1;
    list[count++] = value;
    at = end;
    if (!*at) break;
    if (divider == ' ' ? !isspace((unsigned char)*at) : *at != divider)
      return *why = divider == 'x' ? "numbers are joined by x" : "numbers are divided by blanks", -1;
    ++at;
    while (divider == ' ' && isspace((unsigned char)*at)) ++at;
    if (!*at) return *why = "a number is missing at the end", -1;
  }
  return count;
}

/* The column in_strides into a case. On false *why says what is wrong with it. */
static bool read_strides(char *text, cutt_bench_case *c, char *why, size_t why_size) {
  const char *problem = NULL;
  text = trim(text);
  if (!*text) return true;
  int count = read_numbers(text, ' ', true, c->in_stride, &problem);
  if (count >= 0 && count != c->rank) {
    snprintf(why, why_size, "in_strides '%s' has %d entries; there are %d dims", text, count, c->rank);
    return false;
  }
  c->strided = true;
  int64_t first;
  if (!problem && cutt_bench_span(c, &first) == INT64_MAX) problem = "the input spans 2^63 elements or more";
  if (problem) snprintf(why, why_size, "in_strides '%s': %s", text, problem);
  return !problem;
}

/* One line "id,dims,perm", or with in_strides behind it, into a case. On false *why says what is wrong with which
 * column. */
static bool read_line(char *line, bool has_strides, cutt_bench_case *c, char *why, size_t why_size) {
  char *dims = strchr(line, ','), *perm = dims ? strchr(dims + 1, ',') : NULL;
  char *strides = perm ? strchr(perm + 1, ',') : NULL;
  if (!perm || (strides != NULL) != has_strides || (strides && strchr(strides + 1, ','))) {
    snprintf(why, why_size, "%s",
             has_strides ? "four columns are expected, id,dims,perm,in_strides"
                         : "three columns are expected, id,dims,perm");
    return false;
  }
  *dims++ = 0;
  *perm++ = 0;
  if (strides) *strides++ = 0;
  line = trim(line);
  dims = trim(dims);
  perm = trim(perm);
  bool plain = true;
  for (const char *at = line; *at; ++at) plain = plain && (unsigned char)*at >= ' ' && (unsigned char)*at < 127;
  if (!*line || strlen(line) >= sizeof c->id || !plain) {
    snprintf(why, why_size, "the id must have 1 to %zu characters, all of them printable ASCII", sizeof c->id - 1);
    return false;
  }
  snprintf(c->id, sizeof c->id, "%s", line);
  int64_t order[CUTT_MAX_RANK];
  const char *problem = NULL;
  c->rank = read_numbers(dims, 'x', false, c->extent, &problem);
  if (c->rank < 0) {
    snprintf(why, why_size, "dims '%s': %s", dims, problem);
    return false;
  }
  for (int i = 0; i < c->rank; ++i) {
    if (c->extent[i] < 1) {
      snprintf(why, why_size, "dims '%s': extent %d is 0; extents are 1 or more", dims, i);
      return false;
    }
  }
  if (cutt_bench_volume(c) == INT64_MAX) {
    snprintf(why, why_size, "dims '%s': there are 2^63 elements or more", dims);
    return false;
  }
  int count = read_numbers(perm, ' ', false, order, &problem);
  if (count < 0) {
    snprintf(why, why_size, "perm '%s': %s", perm, problem);
    return false;
  }
  if (count != c->rank) {
    snprintf(why, why_size, "perm '%s' has %d entries; dims '%s' has %d", perm, count, dims, c->rank);
    return false;
  }
  bool seen[CUTT_MAX_RANK] = {false};
  for (int i = 0; i < count; ++i) {
    if (order[i] >= c->rank || seen[order[i]]) {
      snprintf(why, why_size, "perm '%s' must have each of 0 to %d once", perm, c->rank - 1);
      return false;
    }
    seen[order[i]] = true;
    c->perm[i] = (int)order[i];
  }
  if (strides && !read_strides(strides, c, why, why_size)) return false;
  c->trivial = is_trivial(c);
  return true;
}

/* Lines of a file or of an array, whichever is given: the next one in *line, or false at the end. */
typedef struct source {
  FILE *file;
  const char *const *array;
  char *line;
  size_t room;
} source;

static bool next_line(source *from) {
  if (from->file) return getline(&from->line, &from->room, from->file) >= 0;
  if (!*from->array) return false;
  free(from->line);
  from->line = strdup(*from->array++);
  return from->line;
}

static bool read_cases(cutt_bench_cases *cases, source *from, const char *name, const char *group, char *error,
                       size_t error_size) {
  bool headed = false, has_strides = false;
  long number = 0;
  char why[256];
  while (next_line(from)) {
    ++number;
    char *line = trim(from->line);
    if (!*line || *line == '#') continue;
    if (!headed) {
      has_strides = !strcmp(line, "id,dims,perm,in_strides");
      if (!has_strides && strcmp(line, "id,dims,perm") != 0) {
        snprintf(error, error_size, "%s:%ld: the heading must be 'id,dims,perm' or 'id,dims,perm,in_strides'", name,
                 number);
        return false;
      }
      headed = true;
      continue;
    }
    cutt_bench_case c = {.rank = 0};
    if (!read_line(line, has_strides, &c, why, sizeof why)) {
      snprintf(error, error_size, "%s:%ld: %s", name, number, why);
      return false;
    }
    snprintf(c.group, sizeof c.group, "%s", group);
    if (!add_case(cases, &c)) {
      snprintf(error, error_size, "%s:%ld: out of memory", name, number);
      return false;
    }
  }
  if (from->file && ferror(from->file)) {
    snprintf(error, error_size, "%s:%ld: %s", name, number + 1, strerror(errno));
    return false;
  }
  if (cases->count == 0) {
    snprintf(error, error_size, "%s:%ld: there are no cases; a case is a line such as '1,48x28x28,2 0 1'", name,
             number + 1);
    return false;
  }
  return true;
}

bool cutt_bench_read(cutt_bench_cases *cases, FILE *file, const char *name, const char *group, char *error,
                     size_t error_size) {
  source from = {.file = file};
  bool done = read_cases(cases, &from, name, group, error, error_size);
  free(from.line);
  return done;
}

bool cutt_bench_set3(cutt_bench_cases *cases, int64_t volume) {
  char error[256];
  source from = {.array = cutt_bench_ttc57};
  bool done = read_cases(cases, &from, "set3", "set 3", error, sizeof error);
  free(from.line);
  for (size_t i = 0; done && i < cases->count; ++i) {
    cases->item[i].set = 3;
    if (volume <= 0) continue;
    scale_case(&cases->item[i], volume);
    set_contiguous(&cases->item[i]);
  }
  return done;
}

static bool read_list(cutt_bench_cases *cases, const char *const *list, const char *name) {
  char error[256];
  source from = {.array = list};
  bool done = read_cases(cases, &from, name, name, error, sizeof error);
  free(from.line);
  return done;
}

bool cutt_bench_everyday(cutt_bench_cases *cases) { return read_list(cases, cutt_bench_everyday_list, "everyday"); }

bool cutt_bench_layouts(cutt_bench_cases *cases) { return read_list(cases, cutt_bench_layouts_list, "layouts"); }

/* ---------------------------------------------------------------------------------------------------------- writing */

const char *cutt_bench_dims_text(const cutt_bench_case *c, char *buffer, size_t size) {
  size_t length = 0;
  if (size) buffer[0] = 0;
  for (int i = 0; i < c->rank && length < size; ++i)
    length += (size_t)snprintf(buffer + length, size - length, "%s%lld", i ? "x" : "", (long long)c->extent[i]);
  return buffer;
}

const char *cutt_bench_perm_text(const cutt_bench_case *c, char *buffer, size_t size) {
  size_t length = 0;
  if (size) buffer[0] = 0;
  for (int i = 0; i < c->rank && length < size; ++i)
    length += (size_t)snprintf(buffer + length, size - length, "%s%d", i ? " " : "", c->perm[i]);
  return buffer;
}

bool cutt_bench_write(const cutt_bench_cases *cases, FILE *file) {
  char dims[24 * CUTT_MAX_RANK], perm[4 * CUTT_MAX_RANK];
  bool strided = false;
  for (size_t i = 0; i < cases->count; ++i) strided = strided || cases->item[i].strided;
  fprintf(file, "id,dims,perm%s\n", strided ? ",in_strides" : "");
  for (size_t i = 0; i < cases->count; ++i) {
    const cutt_bench_case *c = &cases->item[i];
    fprintf(file, "%s,%s,%s%s", c->id, cutt_bench_dims_text(c, dims, sizeof dims),
            cutt_bench_perm_text(c, perm, sizeof perm), strided ? "," : "");
    for (int j = 0; c->strided && j < c->rank; ++j) fprintf(file, "%s%lld", j ? " " : "", (long long)c->in_stride[j]);
    fputc('\n', file);
  }
  return fflush(file) == 0 && !ferror(file);
}
