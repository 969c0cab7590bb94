/* Drawings of tiles: what they count against the tile element by element, texts that keep to their columns, SVG that is
 * well-formed, and buffers that cut them. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "describe/draw.h"
#include "support/texts.h"

static cuttResult draw(const void *plan, int format, char *buffer, size_t size, size_t *needed) {
  return cuttPlanDraw((cuttPlan_t)(uintptr_t)plan, (cuttDrawing_t)format, buffer, size, needed);
}

/* A plan of the n-th candidate, or of the model's choice for 0. NULL: there are not so many. */
static cuttPlan_t make(const test_problem *p, const char *device, int candidate) {
  const cuttProblem_t view = test_problem_view(p);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  cuttPlan_t plan;
  options.threads = p->threads;
  options.device = device;
  options.candidate = candidate;
  if (!candidate) assert_success(cuttPlanCreate(&plan, &view, &options));
  return candidate && cuttPlanCreate(&plan, &view, &options) ? NULL : plan;
}

/* ------------------------------------------------------------------------------------------------------ well-formed */

static const char *name_end(const char *at) {
  while (isalnum((unsigned char)*at) || *at == '-' || *at == ':') at++;
  return at;
}

/* Up to a character that ends it, with references in order. */
static const char *content_end(const char *at, char end) {
  for (; *at && *at != end && *at != '<'; at++) {
    if (*at != '&') continue;
    assert_int_equal(at[1], '#');
    for (at += 2; isdigit((unsigned char)*at); at++) continue;
    assert_int_equal(*at, ';');
  }
  return at;
}

/* Tags that close in order, attributes that are quoted and there once, one root; and no number that is none. */
static void check_svg(const char *svg) {
  enum { DEEPEST = 8 };
  const char *open[DEEPEST];
  int depth = 0, roots = 0;
  assert_null(strstr(svg, "script"));
  assert_null(strstr(svg, "nan"));
  assert_null(strstr(svg, "inf"));
  for (const char *at = svg; *at;) {
    if (*at != '<') {
      const char *end = content_end(at, '<');
      for (; depth == 0 && at < end; at++) assert_int_equal(*at, '\n');
      at = end;
      continue;
    }
    at++;
    const bool closes = *at == '/';
    at += closes;
    const char *name = at;
    at = name_end(at);
    assert_true(at > name);
    const size_t length = (size_t)(at - name);
    if (closes) {
      assert_true(depth > 0);
      assert_int_equal(length, (size_t)(name_end(open[depth - 1]) - open[depth - 1]));
      assert_memory_equal(name, open[--depth], length);
      assert_int_equal(*at++, '>');
      continue;
    }
    if (depth == 0) roots++;
    while (*at == ' ') {
      const char *attribute = ++at;
      at = name_end(at);
      assert_true(at > attribute);
      assert_memory_equal(at, "=\"", 2);
      at = content_end(at + 2, '"');
      assert_int_equal(*at++, '"');
    }
    if (*at == '/') {
      at++;
    } else {
      assert_true(depth < DEEPEST);
      open[depth++] = name;
    }
    assert_int_equal(*at++, '>');
  }
  assert_int_equal(depth, 0);
  assert_int_equal(roots, 1);
  assert_memory_equal(svg, "<svg ", 5);
}

/* But for the first line, which has the device's name. */
static void check_text(const char *text) {
  size_t column = 0;
  const char *second = strchr(text, '\n');
  assert_non_null(second);
  for (const char *c = text; *c; c++) {
    assert_true(*c == '\n' || (*c >= ' ' && *c < 0x7f));
    column = *c == '\n' ? 0 : column + 1;
    if (column > 100 && c > second) fail_msg("a line of more than 100 columns: %.200s", c - 100);
  }
  assert_int_equal(text[strlen(text) - 1], '\n');
}

static void check_drawing(cuttPlan_t plan) {
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  assert_success(cuttPlanGetInfo(plan, &info));
  char *text = test_whole_text(draw, plan, CUTT_DRAW_TEXT), *svg = test_whole_text(draw, plan, CUTT_DRAW_SVG);
  check_text(text);
  check_svg(svg);
  assert_true(strlen(svg) < 100000);
  assert_memory_equal(text, info.method, strlen(info.method));
  assert_non_null(strstr(svg, info.method));
  free(text);
  free(svg);
}

/* ------------------------------------------------------------------------------------------- element by element */

static int by_value(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* The runs of one side against the places of all elements of the tile. */
static void check_runs(const cutt_drawing *d, bool input) {
  enum { MOST = 40000 };
  static int64_t place[MOST];
  const cutt_canonical *c = &d->plan->canonical;
  const cutt_runs *r = input ? &d->in : &d->out;
  int64_t volume = 1, runs = 1, sectors = 0, last_sector = INT64_MIN;
  for (int j = 0; j < c->rank; j++) volume *= d->explanation.tile[j];
  if (volume > MOST) return;
  for (int64_t e = 0; e < volume; e++) {
    int64_t rest = e;
    place[e] = input ? c->in_start : c->out_start;
    for (int j = 0; j < c->rank; j++) {
      place[e] +=
          rest % d->explanation.tile[j] * (input ? c->mode[j].in_stride : c->mode[j].out_stride) * c->elem_bytes;
      rest /= d->explanation.tile[j];
    }
  }
  qsort(place, (size_t)volume, sizeof *place, by_value);
  for (int64_t e = 0; e < volume; e++) {
    if (e > 0 && place[e] != place[e - 1] + c->elem_bytes) runs++;
    for (int64_t at = place[e]; at < place[e] + c->elem_bytes; at++) {
      const int64_t sector =
          (at - ((at % d->explanation.sector_bytes) + d->explanation.sector_bytes) % d->explanation.sector_bytes);
      if (sector != last_sector) sectors++;
      last_sector = sector;
    }
  }
  /* Runs that happen to touch (the tile has a mode whole, but not the one before it) are still runs of their own. */
  assert_true(r->count >= runs);
  assert_int_equal(r->count * r->bytes, volume * c->elem_bytes);
  assert_int_equal((int64_t)r->used, volume * c->elem_bytes);
  assert_int_equal((int64_t)r->moved, sectors * d->explanation.sector_bytes);
  assert_int_equal(r->start, place[0]);
  assert_int_equal(r->repeats, 1);
}

static void counts_are_exact(void **unused) {
  (void)unused;
  static const char *const device[] = {NULL, "k20x", "h200"};
  test_rng rng = {5};
  for (int i = 0; i < test_scaled(400); i++) {
    const test_problem p = test_random_problem(&rng, &(test_limits){1, 6, 30000, 0, 0, 30, 2});
    if (test_volume(&p) == 0) continue;
    for (int n = 1; n <= 64; n += 1 + n / 4) {
      cuttPlan_t plan = make(&p, device[i % 3], n);
      if (!plan) break;
      cutt_drawing drawing;
      cutt_draw_work_out(plan, &drawing);
      assert_true(drawing.known);
      check_runs(&drawing, true);
      check_runs(&drawing, false);
      assert_success(cuttPlanDestroy(plan));
    }
  }
}

/* ---------------------------------------------------------------------------------------------------------- drawings */

/* All candidates of problems that have each of the methods among them. */
static void every_method(void **unused) {
  (void)unused;
  static const struct {
    int rank;
    int64_t extents[5];
    int perm[5];
    cuttType_t type;
  } problem[] = {{1, {100000}, {0}, CUTT_F32},
                 {2, {3, 5}, {1, 0}, CUTT_BYTES_1},
                 {2, {1000, 3000}, {1, 0}, CUTT_F64},
                 {3, {24, 100, 50}, {0, 2, 1}, CUTT_F32},
                 {4, {43, 37, 29, 3}, {3, 1, 0, 2}, CUTT_F32},
                 {5, {3, 2, 5, 70, 90}, {2, 4, 1, 3, 0}, CUTT_BYTES_2},
                 {3, {4000, 30, 500}, {1, 2, 0}, CUTT_C64}};
  static const char *const device[] = {NULL, "k40", "v100", "b200"};
  bool seen[CUTT_METHODS] = {false};
  for (size_t i = 0; i < sizeof problem / sizeof *problem; i++) {
    const test_problem p = test_packed(problem[i].type, problem[i].rank, problem[i].extents, problem[i].perm);
    for (size_t j = 0; j < sizeof device / sizeof *device; j++) {
      for (int n = 0;; n += n < 10 ? 1 : 9) {
        cuttPlan_t plan = make(&p, device[j], n);
        if (!plan) break;
        seen[plan->choice.candidate.method] = true;
        check_drawing(plan);
        assert_success(cuttPlanDestroy(plan));
      }
    }
  }
  for (int i = 0; i < CUTT_METHODS; i++) assert_true(seen[i]);
}

/* Strides of either sign, none, and nothing to do. */
static void odd_problems(void **unused) {
  (void)unused;
  test_rng rng = {6};
  for (int i = 0; i < test_scaled(300); i++) {
    const test_problem p = test_random_problem(&rng, &(test_limits){0, i % 4 ? 6 : 64, 5000, 0, 70, 30, 2});
    cuttPlan_t plan = make(&p, i % 2 ? "a100" : NULL, 0);
    check_drawing(plan);
    assert_success(cuttPlanDestroy(plan));
  }
  const test_problem none = test_packed(CUTT_F32, 2, (const int64_t[]){3, 0}, (const int[]){1, 0});
  test_problem one = test_packed(CUTT_F32, 0, NULL, NULL);
  for (int i = 0; i < 2; i++) {
    const char *device = i ? "m40" : NULL;
    cuttPlan_t plan = make(&none, device, 0);
    check_drawing(plan);
    char *text = test_whole_text(draw, plan, CUTT_DRAW_TEXT);
    assert_non_null(strstr(text, "no elements"));
    free(text);
    assert_success(cuttPlanDestroy(plan));
    plan = make(&one, device, 0);
    check_drawing(plan);
    text = test_whole_text(draw, plan, CUTT_DRAW_TEXT);
    assert_non_null(strstr(text, "4 bytes"));
    free(text);
    assert_success(cuttPlanDestroy(plan));
  }
  /* A row that is repeated is drawn once. */
  test_problem repeated = test_packed(CUTT_F32, 2, (const int64_t[]){64, 16}, (const int[]){1, 0});
  repeated.in_strided = true;
  repeated.in_strides[1] = 0;
  cuttPlan_t plan = make(&repeated, "h100", 0);
  check_drawing(plan);
  char *text = test_whole_text(draw, plan, CUTT_DRAW_TEXT);
  assert_non_null(strstr(text, "each read 16 times"));
  free(text);
  assert_success(cuttPlanDestroy(plan));
  /* Places at the ends of what an int64 holds. */
  static const int64_t farthest[] = {INT64_MAX - 5, -(INT64_MAX - 5)};
  for (int i = 0; i < 2; i++) {
    test_problem far = test_packed(CUTT_BYTES_1, 2, (const int64_t[]){2, 2}, (const int[]){1, 0});
    far.in_strided = true;
    far.in_strides[1] = farthest[i];
    plan = make(&far, i ? NULL : "h100", 0);
    check_drawing(plan);
    assert_success(cuttPlanDestroy(plan));
  }
}

/* The drawing says in words what small extents cost. */
static void words(void **unused) {
  (void)unused;
  test_problem p = test_packed(CUTT_F32, 3, (const int64_t[]){3, 1000, 1000}, (const int[]){1, 2, 0});
  p.in_strided = true;
  p.in_strides[1] = 8; /* 12 bytes of each 32 */
  p.in_strides[2] = 8000;
  cuttPlan_t plan = make(&p, "p100", 0);
  char *text = test_whole_text(draw, plan, CUTT_DRAW_TEXT);
  assert_non_null(
      strstr(text, "input runs is 12 bytes of a sector of 32:\n  38% of what is read is used by this tile."));
  assert_non_null(strstr(text, "|#+..|"));
  assert_non_null(strstr(text, "all that is written is used by this tile."));
  free(text);
  assert_success(cuttPlanDestroy(plan));
}

static void drawings_are_cut(void **unused) {
  (void)unused;
  const test_problem p = test_packed(CUTT_F32, 4, (const int64_t[]){43, 37, 29, 3}, (const int[]){3, 1, 0, 2});
  for (int i = 0; i < 2; i++) {
    cuttPlan_t plan = make(&p, i ? "k20x" : NULL, 0);
    test_text_cuts(draw, plan);
    assert_success(cuttPlanDestroy(plan));
  }
  size_t needed;
  assert_result(CUTT_INVALID_PLAN, cuttPlanDraw(NULL, CUTT_DRAW_TEXT, NULL, 0, &needed), "plan");
}

/* What is not an XML document's must not get into one. */
static void names_are_escaped(void **unused) {
  (void)unused;
  char buffer[256];
  static const struct {
    const char *raw, *escaped;
  } row[] = {{"plain", "plain"},
             {"<a & \"b\">", "&#60;a &#38; &#34;b&#34;&#62;"},
             {"\x1b[31m\x01\x7f", "?[31m??"},
             {"M\xc3\xbcller", "M\xc3\xbcller"},
             {"\xff\xc3", "??"},
             {"\xef\xbf\xbf", "?"}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    cutt_text text = cutt_text_start(buffer, sizeof buffer);
    cutt_text_add_xml(&text, row[i].raw);
    assert_string_equal(buffer, row[i].escaped);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_are_exact), cmocka_unit_test(every_method),
      cmocka_unit_test(odd_problems),     cmocka_unit_test(words),
      cmocka_unit_test(drawings_are_cut), cmocka_unit_test(names_are_escaped),
  };
  return cmocka_run_group_tests_name("draw", tests, NULL, NULL);
}
