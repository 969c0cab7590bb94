/* The algorithm "one pass" on a GPU: shapes of all kinds, the planner's and others, whose launches the emulator runs, held to the
 * plain definition. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "emulated.h"
#include "support/buffers.h"
#include "support/check.h"
#include "try.h"

static const test_placed *placed;

static void place(const test_contraction *t) { placed = emulated_place(t, false); }

static long shapes, products, products_turned, products_wide[2], products_in_parts, panels, cores[2], cores_turned,
    cores_in_lots[2], combinations, ways[4], turned[3], in_parts, sums[2], sums_along, sums_turning, sums_in_parts,
    stretches, stretches_several, stretches_cut, stretches_in_parts, stretches_wide, stretch_lanes[3], small, small_cut,
    small_long, small_wide, small_between, staged, staged_runs[3], staged_cut, staged_in_parts, staged_groups[3],
    staged_short, staged_sliced, several_tiles, kept_terms, strips[2], strips_turned, strips_wide, strips_by_terms,
    strips_written[3];

/* Counts whether all tensors are accessed 16 bytes at a time, and whether one is by fewer, but by more than an element has. */
static void count_widths(const cutt_contraction *c, const cutt_small_shape *s) {
  static cutt_small_args args;
  uintptr_t all = 0;
  bool wide = true, between = false;
  cutt_small_fill(c, s, true, &args);
  for (int t = 0; t < TEST_TENSORS; ++t) {
    all |= (uintptr_t)placed->zero[t];
    wide = wide && args.access[t].width == CUTT_SMALL_WIDE;
    between = between || (args.access[t].width > (uint32_t)c->type->bytes && args.access[t].width < CUTT_SMALL_WIDE);
  }
  const bool aligned = all % CUTT_SMALL_WIDE == 0;
  small_wide += aligned && wide;
  small_between += aligned && between;
}

static void assert_shape(const test_contraction *t, const cutt_contraction *c, const cutt_device_shape *shape) {
  emulated_hold(t, c, shape, NULL);
  ++shapes;
  products += shape->kind == CUTT_DEVICE_PRODUCTS;
  products_turned += shape->kind == CUTT_DEVICE_PRODUCTS && shape->products.apart > 1;
  if (shape->kind == CUTT_DEVICE_PRODUCTS && shape->products.wide)
    ++products_wide[(uintptr_t)placed->zero[shape->products.by_rows] % CUTT_MULTIPLY_UNIT != 0];
  products_in_parts += shape->kind == CUTT_DEVICE_PRODUCTS && shape->parts > 1;
  panels += shape->kind == CUTT_DEVICE_PANELS;
  combinations += shape->kind == CUTT_DEVICE_COMBINATION;
  if (shape->kind == CUTT_DEVICE_CORES) {
    ++cores[shape->core.streams_rows];
    cores_turned += shape->core.turned;
    cores_in_lots[shape->core.streams_rows] += shape->core.depth < shape->core.terms;
  }
  if (shape->kind == CUTT_DEVICE_STRIPS) {
    static cutt_strip_args args;
    uint32_t bytes = 0;
    cutt_strip_fill(c, &shape->strip, &args, &bytes);
    ++strips[shape->strip.streams_rows];
    strips_turned += shape->strip.turned;
    strips_wide += args.wide;
    strips_by_terms += args.by_terms;
    ++strips_written[args.writes_wide ? 1 + !shape->strip.streams_rows : 0];
  }
  if (shape->kind == CUTT_DEVICE_TILES) {
    ++sums[shape->sum.columns_kept];
    sums_along += shape->sum.along;
    sums_turning += shape->sum.period > 1;
    sums_in_parts += shape->parts > 1;
  }
  if (shape->kind == CUTT_DEVICE_STRETCHES) {
    const cutt_stretch_shape *s = &shape->stretch;
    ++stretches;
    stretches_cut += c->mode[s->last_mode].extent % s->part[s->last_mode] != 0;
    stretches_in_parts += shape->parts > 1;
    stretches_wide += s->wide;
    ++stretch_lanes[s->lane_bits == 0 ? 0 : s->lane_bits <= 3 ? 1 : 2];
  }
  if (shape->kind == CUTT_DEVICE_STAGED) {
    const cutt_staged_shape *s = &shape->staged;
    ++staged;
    ++staged_runs[s->pieces ? 2 : s->joined];
    staged_cut += c->mode[s->column_mode].extent % s->columns != 0 || c->mode[s->row_mode].extent % s->rows != 0;
    staged_sliced += s->slices > 1;
    if (s->is_short) ++staged_short;
    staged_in_parts += shape->parts > 1;
    if (!s->is_short) ++staged_groups[s->groups == 1 ? 0 : s->across == 1 ? 2 : 1];
  }
  if (shape->kind == CUTT_DEVICE_SMALL) {
    ++small;
    small_cut += shape->small.cut >= 0;
    small_long += shape->small.matrices == 1;
    count_widths(c, &shape->small);
  }
  if (shape->kind != CUTT_DEVICE_SUMS) return;
  ++ways[shape->way];
  ++turned[(shape->turned[0] >= 0) + (shape->turned[1] >= 0)];
  in_parts += shape->parts > 1;
}

/* The same in lots of any depth, and with as many kept positions as a warp may have. */
static void try_core_lots(test_rng *rng, const test_contraction *t, const cutt_contraction *c,
                          cutt_device_shape *shape) {
  cutt_core_shape *s = &shape->core;
  if (s->terms <= CUTT_CORE_STEP) return;
  const int64_t keeps = s->streams_rows ? s->columns : s->rows;
  const int64_t groups = s->streams_rows ? CUTT_CORE_COLUMN_GROUPS : CUTT_CORE_ROW_GROUPS;
  s->threads = test_chance(rng, 50) ? CUTT_CORE_THREADS : CUTT_CORE_THREADS / 2;
  s->panel = test_random_in(rng, 1, groups * 8 * s->threads / (CUTT_CORE_THREADS / 2));
  if (s->panel > keeps) s->panel = keeps;
  s->panels = (keeps + s->panel - 1) / s->panel;
  s->depth = CUTT_CORE_STEP * test_random_in(rng, 1, (s->terms - 1) / CUTT_CORE_STEP);
  s->slots = (int)test_random_in(rng, 2, CUTT_CORE_SLOTS);
  cutt_core_args args;
  uint32_t bytes = 0;
  cutt_core_fill(c, s, &args, &bytes);
  if (bytes > test_rates.block_shared) return;
  assert_shape(t, c, shape);
}

/* On tensor cores, with the shared memory of an H100 and less. */
static void try_cores(test_rng *rng, const test_contraction *t, const cutt_contraction *c) {
  cutt_device_shape shape;
  for (int streams_rows = 0; streams_rows < 2; ++streams_rows) {
    test_rates.block_shared = test_chance(rng, 50) ? 163 << 10 : 99 << 10;
    cutt_device_pass_cores(c, &test_rates, streams_rows, &shape);
    if (!isfinite(shape.seconds)) continue;
    assert_shape(t, c, &shape);
    shape.core.strips = test_random_in(rng, 1, shape.core.tiles);
    if (shape.core.depth == shape.core.terms)
      shape.core.threads = shape.core.threads == CUTT_CORE_THREADS ? CUTT_CORE_THREADS / 2 : CUTT_CORE_THREADS;
    assert_shape(t, c, &shape);
    try_core_lots(rng, t, c, &shape);
  }
}

/* In strips: the planner's shape, and blocks, lots and strips of any size. */
static void try_strips(test_rng *rng, const test_contraction *t, const cutt_contraction *c) {
  cutt_device_shape shape;
  test_rates.block_shared = 227 << 10;
  for (int streams_rows = 0; streams_rows < 2; ++streams_rows) {
    cutt_device_pass_strips(c, &test_rates, streams_rows, &shape);
    if (!isfinite(shape.seconds)) continue;
    assert_shape(t, c, &shape);
    cutt_strip_shape *s = &shape.strip;
    s->each = (streams_rows ? 4 : 2) * (int)test_random_in(rng, 2, 3);
    s->across = (int)test_random_in(rng, 1, 3);
    s->along = 1 << test_random_in(rng, s->across == 1, s->across > 2 ? 1 : s->across > 1 ? 2 : 3);
    s->depth = 4 * test_random_in(rng, 1, 4);
    s->slots = test_random_in(rng, 2, CUTT_STRIP_SLOTS);
    s->panel = cutt_strip_kept(s) * s->across;
    s->panels = cutt_ceil_of(streams_rows ? s->columns : s->rows, s->panel);
    s->tiles = cutt_ceil_of(streams_rows ? s->rows : s->columns, cutt_strip_tile(s));
    s->strips = test_random_in(rng, 1, s->tiles);
    static cutt_strip_args args;
    uint32_t bytes = 0;
    cutt_strip_fill(c, s, &args, &bytes);
    if (bytes <= test_rates.block_shared) assert_shape(t, c, &shape);
  }
}

/* Tiles of products, with other numbers of parts too. */
static void try_products(test_rng *rng, const test_contraction *t, const cutt_contraction *c, cutt_tensor by_rows) {
  cutt_device_shape shape;
  cutt_device_pass_products(c, &test_rates, test_chance(rng, 50) ? 1 << 20 : 0, by_rows, &shape);
  if (!isfinite(shape.seconds)) return;
  assert_shape(t, c, &shape);
  shape.products.wide = !shape.products.wide && cutt_multiply_may_be_wide(c, &shape.products);
  if (shape.products.wide) assert_shape(t, c, &shape);
  if (shape.products.terms <= CUTT_MULTIPLY_TERMS) cutt_multiply_cut(&shape.products, 1);
  shape.parts = shape.products.parts;
  if (shape.parts == 1 && shape.products.depth < shape.products.terms) {
    shape.products.block_tiles = smaller(shape.products.tiles, test_random_in(rng, 2, 5));
    shape.products.keeps = test_chance(rng, 70) && cutt_multiply_may_keep(c, &shape.products);
    several_tiles += shape.products.block_tiles > 1;
    kept_terms += shape.products.block_tiles > 1 && shape.products.keeps;
    assert_shape(t, c, &shape);
  }
  cutt_multiply_cut(&shape.products, test_random_in(rng, 1, smaller(shape.products.terms, INT64_C(5))));
  if (shape.products.part_terms > CUTT_MULTIPLY_TERMS) return;
  shape.parts = shape.products.parts;
  assert_shape(t, c, &shape);
}

/* Sums by tiles, with other numbers of parts and of a block's tiles too. */
static void try_sums(test_rng *rng, const test_contraction *t, const cutt_contraction *c) {
  cutt_device_shape shape;
  cutt_device_pass_tiles(c, &test_rates, test_chance(rng, 50) ? 1 << 20 : 0, &shape);
  if (!isfinite(shape.seconds)) return;
  assert_shape(t, c, &shape);
  cutt_sum_shape *s = &shape.sum;
  const int64_t each = (s->blocks.terms + test_random_in(rng, 0, 3)) / test_random_in(rng, 1, 4);
  s->blocks.block_tiles = test_random_in(rng, 1, s->blocks.tiles);
  shape.parts = s->blocks.parts = (s->blocks.terms + (each > 0 ? each : 1) - 1) / (each > 0 ? each : 1);
  assert_shape(t, c, &shape);
}

/* Sums by stretches, with other numbers of parts and of a block's tiles too, and by loads of single numbers and of 16 bytes. */
static void try_stretches(test_rng *rng, const test_contraction *t, const cutt_contraction *c) {
  cutt_device_shape shape;
  test_rates.block_shared = 227 << 10;
  cutt_device_pass_stretches(c, &test_rates, test_chance(rng, 50) ? 1 << 20 : 0, &shape);
  if (!isfinite(shape.seconds)) return;
  assert_shape(t, c, &shape);
  cutt_sum_blocks *b = &shape.stretch.blocks;
  const int64_t each = larger((b->terms + test_random_in(rng, 0, 3)) / test_random_in(rng, 1, 4), INT64_C(1));
  b->block_tiles = test_random_in(rng, 1, b->tiles);
  shape.parts = b->parts = cutt_ceil_of(b->terms, each);
  assert_shape(t, c, &shape);
  const int inner = shape.stretch.inner_mode;
  stretches_several += shape.stretch.several;
  if (shape.stretch.several) { /* one by one, with descriptions */
    shape.stretch.several = false;
    shape.stretch.shared_bytes += (shape.stretch.results + 1) * CUTT_STRETCH_ENTRY;
    assert_shape(t, c, &shape);
  }
  if (inner < 0 || c->mode[inner].stride[CUTT_LEFT] != 1 || c->type->bytes == CUTT_STRETCH_WINDOW) return;
  shape.stretch.wide = !shape.stretch.wide;
  assert_shape(t, c, &shape);
}

/* Sums by staged tiles, with other numbers of rows or slices, parts and a block's tiles too. */
static void try_staged(test_rng *rng, const test_contraction *t, const cutt_contraction *c) {
  static const int64_t shared[] = {227 << 10, 48 << 10, 24 << 10};
  cutt_device_shape shape;
  test_rates.block_shared = shared[test_random_in(rng, 0, 2)];
  cutt_device_pass_staged(c, &test_rates, test_chance(rng, 50) ? 1 << 20 : 0, &shape);
  if (!isfinite(shape.seconds)) return;
  assert_shape(t, c, &shape);
  cutt_staged_shape *s = &shape.staged;
  cutt_sum_blocks *b = &s->blocks;
  const int cut = s->is_short ? s->slice_mode : s->row_mode;
  if (cut >= 0) {
    int64_t *const part = s->is_short ? &s->slices : &s->rows, *const count = s->is_short ? &b->tiles : &b->terms;
    *count /= cutt_ceil_of(c->mode[cut].extent, *part);
    *part = test_random_in(rng, 1, *part);
    *count *= cutt_ceil_of(c->mode[cut].extent, *part);
  }
  const int64_t each = larger((b->terms + test_random_in(rng, 0, 3)) / test_random_in(rng, 1, 4), INT64_C(1));
  b->block_tiles = test_random_in(rng, 1, b->tiles);
  shape.parts = b->parts = cutt_ceil_of(b->terms, each);
  assert_shape(t, c, &shape);
}

/* Small products, by few blocks and many, and with little shared memory. */
static void try_small(test_rng *rng, const test_contraction *t, const cutt_contraction *c) {
  cutt_device_shape shape;
  static const int64_t shared[] = {227 << 10, 64 << 10, 12 << 10, 5 << 10};
  for (int again = 0; again < 2; ++again) {
    test_rates.block_shared = shared[again ? test_random_in(rng, 1, 3) : 0];
    cutt_device_pass_small(c, &test_rates, &shape);
    if (!isfinite(shape.seconds)) continue;
    if (again) shape.small.blocks = test_random_in(rng, 1, shape.small.tiles);
    assert_shape(t, c, &shape);
  }
}

/* What measuring tries are shapes of different kinds, the best first, which their numbers make again. */
static void assert_list(const cutt_contraction *c, const cutt_device_shape *best) {
  enum { MOST = 4 };
  cutt_device_shape list[MOST], again;
  const int count = cutt_device_pass_list(c, &test_rates, 1 << 20, list, MOST);
  assert_true(count >= 1 && count <= MOST && (list[0].number == best->number || list[0].moved));
  for (int i = 0; i < count; ++i) {
    cutt_device_pass_numbered(c, &test_rates, 1 << 20, list[i].number, &again);
    assert_true(again.number == list[i].number && again.seconds == list[i].seconds && isfinite(again.seconds));
    assert_true(i == 0 || (list[i - 1].seconds <= list[i].seconds && list[i - 1].number != list[i].number));
  }
}

static void try_shapes(test_rng *rng, const test_contraction *t, int count) {
  test_fields fields;
  static cutt_contraction c;
  cutt_device_shape shape;
  test_contraction_view(t, &fields);
  assert_success(cutt_contraction_check(&fields.contraction, &c));
  if (c.empty || c.no_terms) return;
  place(t);
  test_rates.multiprocessors = test_chance(rng, 50) ? 132 : 1;
  cutt_device_pass_choose(&c, &test_rates, 1 << 20, &shape);
  assert_true(isfinite(shape.seconds) && shape.seconds > 0);
  assert_shape(t, &c, &shape);
  assert_list(&c, &shape);
  for (int i = 1; i < count; ++i) {
    static const int64_t most[] = {256, 128, 64, 32, 7};
    const bool turns = i == 1; /* where there is anything to be turned */
    cutt_device_pass_shape(&c, &test_rates, test_chance(rng, 30) ? 1 << 20 : test_random_in(rng, 0, 20000),
                           turns ? CUTT_SIDE_RESULT : (cutt_device_side)test_random_in(rng, 0, c.right_is_one ? 2 : 1),
                           test_chance(rng, 30), turns ? 32 : most[test_random_in(rng, 0, 4)], &shape);
    assert_shape(t, &c, &shape);
  }
  cutt_device_pass_combination(&c, &test_rates, &shape);
  if (isfinite(shape.seconds)) assert_shape(t, &c, &shape);
  try_cores(rng, t, &c);
  try_strips(rng, t, &c);
  try_sums(rng, t, &c);
  try_stretches(rng, t, &c);
  try_staged(rng, t, &c);
  try_small(rng, t, &c);
  for (cutt_tensor by_rows = CUTT_LEFT; by_rows <= CUTT_RIGHT; ++by_rows) {
    try_products(rng, t, &c, by_rows);
    cutt_device_pass_panels(&c, &test_rates, by_rows, &shape);
    if (!isfinite(shape.seconds)) continue;
    assert_shape(t, &c, &shape);
    shape.panel.strip_tiles = test_random_in(rng, 1, shape.panel.tiles);
    shape.panel.strips = (shape.panel.tiles + shape.panel.strip_tiles - 1) / shape.panel.strip_tiles;
    assert_shape(t, &c, &shape);
  }
}

/* -------------------------------------------------------------------------------------------------------------- the tests */

static void random_contractions(void **unused) {
  (void)unused;
  static const test_variety variety = {40, 50, 0, 1, 20};
  test_rng rng = {20261122};
  for (int i = 0; i < test_scaled(250); ++i) {
    test_contraction t;
    test_contraction_draw(&rng, (int)test_random_in(&rng, 1, 5), i % 10 ? 1500 : 12000, &t);
    test_contraction_vary(&rng, &variety, &t);
    try_shapes(&rng, &t, 3);
  }
}

/* Extents as in use: neighbours in other modes, long sums, few results. */
static void patterns(void **unused) {
  (void)unused;
  static const struct {
    const char *pattern;
    int64_t extent[5];
  } cases[] = {{"ab,ab->ab", {70, 41}},
               {"ab,ba->ab", {50, 70}},
               {"abc,bca->abc", {19, 23, 9}},
               {"bac,cab->abc", {20, 40, 12}},
               {"bca,cba->abc", {12, 9, 33}},
               {"ab,a->ab", {300, 13}},
               {"ab,b->ab", {300, 13}},
               {",ab->ab", {40, 40}},
               {"a,b->ab", {40, 30}},
               {"ab,ab->b", {3, 900}},
               {"abn,bn->an", {3, 3, 300}},
               {"nab,nb->na", {200, 3, 4}},
               {"nab,nbc->nac", {60, 4, 4, 3}},
               {"abn,bcn->acn", {4, 3, 5, 40}},
               {"a,a->", {9000}},
               {"ab->b", {700, 9}},
               {"ab->a", {9, 700}},
               {"ab->a", {300, 5}},
               {"abc->b", {30, 20, 15}},
               {"aab->b", {30, 9}},
               {"abcb->ac", {17, 18, 19}},
               {"ab->ba", {45, 70}},
               {"abc->", {20, 21, 22}},
               {"ab,ba->", {60, 50}},
               {"ab,bc->ac", {17, 11, 13}},
               {"ab,ac->bc", {150, 5, 6}},
               {"ii->i", {40}},
               {"ii->", {70}},
               {"ab,ab->", {2, 3}},
               {"a->a", {1500}},
               {"dba,ec->abcde", {9, 20, 11, 3, 5}},
               {"deca,be->abcd", {20, 5, 3, 17, 9}},
               {"dca,bd->abc", {20, 5, 19, 40}},
               {"ab,bc->ac", {300, 33, 50}},
               {"gab,gbc->gac", {3, 150, 20, 9}},
               {"ab,cb->ac", {70, 41, 37}},
               {"cab,bd->adc", {40, 9, 30, 6}},
               {"ab,bc->ca", {200, 7, 20}},
               {"dbea,ec->abcd", {7, 12, 24, 20, 8}},
               {"dga,gbc->abcd", {7, 12, 24, 15, 20}},
               {"ea,ebc->abc", {40, 17, 11, 30}},
               {"aeg,beg->abg", {20, 7, 3, 70}},
               {"ge,dgb->ebd", {5, 140, 24, 9}},
               {"gda,egb->abde", {21, 10, 12, 9, 5}},
               /* Each operand is turned in another mode that is summed over, and both end with shorter chunks. */
               {"cad,dcb->ab", {13, 9, 11, 5}},
               {"cad,dcb->ab", {45, 3, 39, 2}}};
  static const test_variety variety = {20, 50, 0, 1, 25};
  test_rng rng = {77};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    for (int again = 0; again < test_scaled(3); ++again) {
      test_contraction t;
      assert_true(test_contraction_make(cases[i].pattern, CUTT_F64, &t));
      for (int label = 0; label < t.is.labels; ++label) t.extent[label] = cases[i].extent[label];
      t.seed = (uint64_t)again + 10 * i;
      test_contraction_vary(&rng, &variety, &t);
      try_shapes(&rng, &t, test_scale() < 0.1 ? 2 : 5);
    }
  }
  print_message(
      "%ld shapes: %ld plain, %ld across threads, %ld across rows, %ld all, %ld of products, %ld of panels, %ld "
      "elementwise\n",
      shapes, ways[0], ways[1], ways[2], ways[3], products, panels, combinations);
  print_message("%ld with an operand turned, %ld with two; %ld in parts\n", turned[1], turned[2], in_parts);
  for (int way = 0; way < 4; ++way) assert_true(ways[way] >= test_scaled(20));
  assert_true(products >= test_scaled(40) && panels >= test_scaled(40) && combinations >= test_scaled(10));
  assert_true(turned[1] >= test_scaled(30) && turned[2] >= test_scaled(6) && in_parts >= test_scaled(20));
}

typedef void try_products_of(test_rng *rng, const test_contraction *t, const cutt_contraction *c);

/* Rows and columns in tiles, kept as a whole and in panels; terms that are no multiple of four; tiles that are turned. */
static void try_kept(cuttType_t type, try_products_of *try) {
  static const struct {
    const char *pattern;
    int64_t extent[5]; /* of a, b, ... */
  } cases[] = {{"deca,be->abcd", {24, 9, 3, 16, 7}},
               {"dbea,ec->abcd", {16, 5, 30, 8, 6}},
               {"dba,cd->abc", {40, 20, 33, 24}},
               {"ebad,ce->abcd", {9, 5, 24, 7, 18}},
               {"ea,ebc->abc", {40, 17, 11, 0, 30}},
               {"eb,aec->abc", {70, 41, 3, 0, 13}},
               {"ec,abe->abc", {20, 7, 72, 0, 9}},
               {"dega,gb->abde", {0}},
               {"gab,gbc->gac", {0}},
               {"ab,bc->ac", {300, 5, 150}},
               {"ab,cb->ac", {33, 128, 200}},
               {"abc,bd->adc", {10, 3, 30, 70}},
               {"abd,dc->abc", {8, 16, 140, 2}}};
  static const test_variety variety = {20, 50, 0, 1, 0};
  test_rng rng = {2026};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    for (int again = 0; again < test_scaled(4); ++again) {
      test_contraction t;
      test_fields fields;
      static cutt_contraction c;
      do { /* until it is of that type */
        assert_true(test_contraction_make(cases[i].pattern, type, &t));
        for (int label = 0; label < t.is.labels; ++label)
          t.extent[label] = cases[i].extent[0] ? cases[i].extent[label] : test_random_in(&rng, 1, 20);
        t.seed = (uint64_t)again + 100 * i;
        test_contraction_vary(&rng, &variety, &t);
      } while (t.type != type);
      test_contraction_view(&t, &fields);
      assert_success(cutt_contraction_check(&fields.contraction, &c));
      if (c.empty || c.no_terms) continue;
      place(&t);
      test_rates.multiprocessors = test_chance(&rng, 50) ? 132 : 1;
      try(&rng, &t, &c);
    }
  }
}

static void on_tensor_cores(void **unused) {
  (void)unused;
  memset(cores, 0, sizeof cores);
  memset(cores_in_lots, 0, sizeof cores_in_lots);
  cores_turned = 0;
  try_kept(CUTT_F64, try_cores);
  print_message("%ld shapes with kept rows, %ld with kept columns, %ld and %ld of them in lots; %ld turned\n", cores[0],
                cores[1], cores_in_lots[0], cores_in_lots[1], cores_turned);
  assert_true(cores_in_lots[0] >= test_scaled(8) && cores_in_lots[1] >= test_scaled(8));
  assert_true(cores[0] >= test_scaled(20) && cores[1] >= test_scaled(20) && cores_turned >= test_scaled(2));
}

static void in_strips(void **unused) {
  (void)unused;
  memset(strips, 0, sizeof strips);
  memset(strips_written, 0, sizeof strips_written);
  strips_turned = strips_wide = strips_by_terms = 0;
  try_kept(CUTT_F32, try_strips);
  print_message(
      "%ld strips with kept rows, %ld with kept columns; %ld of them turned, %ld wide, %ld by terms; %ld written one "
      "by one, %ld tiles and %ld kept "
      "by 16 bytes\n",
      strips[0], strips[1], strips_turned, strips_wide, strips_by_terms, strips_written[0], strips_written[1],
      strips_written[2]);
  assert_true(strips[0] >= test_scaled(8) && strips[1] >= test_scaled(20) && strips_turned >= test_scaled(2));
  assert_true(strips_wide >= test_scaled(10) && strips_by_terms >= test_scaled(20));
  for (int i = 0; i < 3; ++i) assert_true(strips_written[i] >= test_scaled(4));
}

/* Tiles of products: rows that are turned, terms that follow each other in the columns' operand, in whole sectors and not, and
 * parts of the terms. */
static void tiles_of_products(void **unused) {
  (void)unused;
  static const struct {
    const char *pattern;
    int64_t extent[6]; /* of a, b, ... */
  } cases[] = {{"efbad,cf->abcde", {24, 3, 12, 2, 20, 9}},
               {"efbad,cf->abcde", {32, 2, 24, 1, 32, 20}},
               {"deca,be->abcd", {33, 9, 3, 40, 7}},
               {"dba,cd->abc", {40, 20, 33, 24}},
               {"bda,dc->abc", {50, 70, 9, 6}},
               {"cab,cd->abd", {5, 40, 90, 3}},
               {"adec,ebd->abc", {40, 12, 3, 9, 16}},
               {"adec,ebd->abc", {16, 7, 5, 12, 11}},
               {"ab,cb->ac", {33, 600, 40}},
               {"dab,dcb->ac", {7, 40, 10, 24}},
               {"gab,gbc->gac", {9, 50, 30, 0, 0}},
               {"ab,bc->ac", {300, 1100, 3}}};
  static const test_variety variety = {20, 50, 0, 1, 0};
  test_rng rng = {2027};
  products = products_turned = products_in_parts = products_wide[0] = products_wide[1] = several_tiles = kept_terms = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    for (int again = 0; again < 4; ++again) {
      test_contraction t;
      test_fields fields;
      static cutt_contraction c;
      do {
        assert_true(test_contraction_make(cases[i].pattern, again % 2 ? CUTT_F64 : CUTT_F32, &t));
        for (int label = 0; label < t.is.labels; ++label)
          t.extent[label] = larger(cases[i].extent[label], INT64_C(1)) + (again > 2 ? test_random_in(&rng, 0, 3) : 0);
        t.seed = (uint64_t)again + 100 * i;
        test_contraction_vary(&rng, &variety, &t);
      } while (t.type != CUTT_F64 && t.type != CUTT_F32);
      test_contraction_view(&t, &fields);
      assert_success(cutt_contraction_check(&fields.contraction, &c));
      if (c.empty || c.no_terms) continue;
      placed = emulated_place(&t, again % 4 == 1);
      test_rates.multiprocessors = test_chance(&rng, 50) ? 132 : 1;
      for (cutt_tensor by_rows = CUTT_LEFT; by_rows <= CUTT_RIGHT; ++by_rows) try_products(&rng, &t, &c, by_rows);
    }
  }
  print_message(
      "%ld tiles of products, %ld of them turned, %ld and %ld by 16 bytes where aligned, %ld in parts; "
      "%ld with several for a block, %ld of these keep terms\n",
      products, products_turned, products_wide[0], products_wide[1], products_in_parts, several_tiles, kept_terms);
  assert_true(products >= 50 && products_turned >= 15 && products_in_parts >= 20 && products_wide[0] >= 8 &&
              products_wide[1] >= 3 && several_tiles >= 15 && kept_terms >= 5);
}

/* Sums by tiles: rows that begin anywhere, that follow each other and that don't; of D's columns and of its rows; tiles that are not whole;
 * and both ends of L, where not all of 16 bytes are its own. The same by stretches and by staged tiles. */
static void sums_by_tiles(void **unused) {
  (void)unused;
  static const struct {
    const char *pattern;
    int64_t extent[4]; /* of a, b, ... */
  } cases[] = {{"ab->b", {33, 300}},
               {"ab->b", {3, 1500}},
               {"ab->a", {3, 1500}},
               {"ab->a", {33, 300}},
               {"ab->a", {1203, 19}},
               {"ab->b", {5203, 3}},
               {"a->", {9001}},
               {"abc->b", {41, 37, 9}},
               {"abc->ac", {70, 11, 13}},
               {"abc->bc", {100, 11, 7}},
               {"abc->ca", {17, 30, 9}},
               {"abcd->db", {19, 8, 10, 7}},
               {"abca->bc", {9, 30, 4}},
               {"ab->ab", {20, 30}},
               {"abc->a", {1, 700, 5}},
               {"abcd->ca", {5, 7, 11, 9}},
               {"abcd->db", {4, 3, 50, 20}},
               {"abc->b", {3, 2600, 2}},
               {"ab->a", {500, 30}},
               {"abc->ab", {640, 5, 7}},
               {"abc->ac", {130, 40, 3}},
               {"abc->ac", {140, 3, 50}},
               {"ab->a", {6000, 4}},
               {"abcd->acd", {70, 5, 6, 9}},
               {"abcd->adc", {33, 8, 5, 7}},
               {"abcd->ad", {60, 9, 5, 12}},
               {"abc->ab", {900, 40, 3}}};
  static const test_variety variety = {30, 50, 0, 1, 15};
  test_rng rng = {16}, other = {17}, third = {18};
  memset(sums, 0, sizeof sums);
  memset(stretch_lanes, 0, sizeof stretch_lanes);
  memset(staged_groups, 0, sizeof staged_groups);
  sums_along = sums_turning = sums_in_parts = 0;
  stretches = stretches_several = stretches_cut = stretches_in_parts = stretches_wide = 0;
  staged = staged_cut = staged_in_parts = staged_short = staged_sliced = 0;
  memset(staged_runs, 0, sizeof staged_runs);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    for (int again = 0; again < test_scaled(12); ++again) {
      test_contraction t;
      test_fields fields;
      static cutt_contraction c;
      assert_true(test_contraction_make(cases[i].pattern, (cuttType_t)test_random_in(&rng, CUTT_F32, CUTT_F64), &t));
      for (int label = 0; label < t.is.labels; ++label) t.extent[label] = cases[i].extent[label];
      t.seed = (uint64_t)again + 100 * i;
      test_contraction_vary(&rng, &variety, &t);
      test_contraction_view(&t, &fields);
      assert_success(cutt_contraction_check(&fields.contraction, &c));
      if (c.empty || c.no_terms) continue;
      place(&t);
      test_rates.multiprocessors = test_chance(&rng, 50) ? 132 : 1;
      try_sums(&rng, &t, &c);
      try_stretches(&other, &t, &c);
      try_staged(&third, &t, &c);
    }
  }
  print_message(
      "%ld sums of rows, of which %ld one by one, %ld of columns, %ld where rows do not all begin at multiples of 16 "
      "bytes; "
      "%ld in parts\n",
      sums[0], sums_along, sums[1], sums_turning, sums_in_parts);
  assert_true(sums[0] >= test_scaled(60) && sums[1] >= test_scaled(60));
  print_message(
      "%ld sums by stretches: %ld with shorter ones, %ld in parts, %ld by loads of 16 bytes; %ld by one thread each, "
      "%ld by up to 8, %ld by more; in %ld shapes a thread has several\n",
      stretches, stretches_cut, stretches_in_parts, stretches_wide, stretch_lanes[0], stretch_lanes[1],
      stretch_lanes[2], stretches_several);
  assert_true(stretches_cut >= test_scaled(40) && stretches_in_parts >= test_scaled(15));
  assert_true(stretches_wide >= test_scaled(40));
  for (int i = 0; i < 3; ++i) assert_true(stretch_lanes[i] >= test_scaled(20));
  print_message(
      "%ld sums by staged tiles: %ld in runs of a row, %ld of several, %ld of a step; %ld with shorter ones, %ld in "
      "parts; "
      "%ld short, %ld in several slices; %ld whose rows all warps share, %ld some and %ld none\n",
      staged, staged_runs[0], staged_runs[1], staged_runs[2], staged_cut, staged_in_parts, staged_short, staged_sliced,
      staged_groups[0], staged_groups[1], staged_groups[2]);
  assert_true(staged_cut >= test_scaled(20) && staged_in_parts >= test_scaled(15) && staged_short >= test_scaled(40));
  /* Of few, as under sanitizers, there may be none of a kind. */
  const bool few = staged < 50;
  assert_true(few || staged_sliced >= test_scaled(20));
  for (int i = 0; i < 3; ++i)
    assert_true(few || (staged_runs[i] >= test_scaled(10) && staged_groups[i] >= test_scaled(10)));
  assert_true(sums_along >= test_scaled(20) && sums_turning >= test_scaled(20) && sums_in_parts >= test_scaled(15));
}

/* Many small products in all orders of their modes, and a small operand times a long one; extents with and without remainders, whose runs
 * allow accesses of 16 bytes or don't. */
static void small_products(void **unused) {
  (void)unused;
  static const struct {
    const char *pattern;
    int64_t extent[5]; /* of the letters in their order */
  } cases[] = {
      {"abz,bcz->acz", {4, 4, 500, 4}},      {"abz,bcz->acz", {8, 8, 130, 8}},  {"abz,bcz->acz", {16, 16, 9, 16}},
      {"abz,bcz->acz", {3, 3, 301, 3}},      {"abz,cbz->caz", {5, 7, 77, 6}},   {"zab,zbc->zac", {260, 4, 4, 4}},
      {"baz,zbc->azc", {6, 4, 90, 5}},       {"abz,bcz->acz", {32, 32, 2, 32}}, {"ab,bc->ac", {1900, 4, 4}},
      {"ba,cb->ca", {4, 1900, 4}},           {"ab,bc->ac", {4, 4, 1901}},       {"ba,bc->ca", {3, 700, 5}},
      {"abyz,bczy->acyz", {4, 3, 9, 11, 4}}, {"abz,bcz->acz", {8, 1, 200, 8}},  {"abz,bcz->acz", {6, 9, 200, 1}},
      {"abyz,byc->acz", {7, 5, 3, 40, 6}},   {"aabz,bcz->acz", {4, 3, 60, 5}},  {"abz,bc->acz", {4, 6, 150, 8}}};
  static const test_variety variety = {30, 50, 0, 1, 15};
  test_rng rng = {416};
  small = small_cut = small_long = small_wide = small_between = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    for (int again = 0; again < test_scaled(8); ++again) {
      test_contraction t;
      test_fields fields;
      static cutt_contraction c;
      assert_true(test_contraction_make(cases[i].pattern, (cuttType_t)test_random_in(&rng, CUTT_F16, CUTT_C64), &t));
      for (int label = 0; label < t.is.labels; ++label) t.extent[label] = cases[i].extent[label];
      t.seed = (uint64_t)again + 100 * i;
      if (again % 2)
        test_contraction_vary(&rng, &variety, &t);
      else
        test_contraction_finish(&t);
      test_contraction_view(&t, &fields);
      assert_success(cutt_contraction_check(&fields.contraction, &c));
      if (c.empty || c.no_terms) continue;
      place(&t);
      test_rates.multiprocessors = test_chance(&rng, 50) ? 132 : 1;
      try_small(&rng, &t, &c);
    }
  }
  print_message(
      "%ld small products: %ld with a shorter last chunk, %ld of single matrices, %ld by accesses of 16 bytes, %ld "
      "with "
      "some of fewer\n",
      small, small_cut, small_long, small_wide, small_between);
  assert_true(small >= test_scaled(150) && small_cut >= test_scaled(50));
  assert_true(small_long >= test_scaled(15) && small_wide >= test_scaled(30) && small_between >= test_scaled(10));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_contractions), cmocka_unit_test(patterns),
                                     cmocka_unit_test(on_tensor_cores),     cmocka_unit_test(in_strips),
                                     cmocka_unit_test(tiles_of_products),   cmocka_unit_test(sums_by_tiles),
                                     cmocka_unit_test(small_products)};
  return cmocka_run_group_tests_name("passes on a GPU", tests, NULL, emulated_cleanup);
}
