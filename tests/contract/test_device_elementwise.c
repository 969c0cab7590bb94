/* Elementwise operations on a GPU, their launches by the emulator: every element is there once, and what they are there for, whole
 * sectors on all sides, no bank conflicts, enough bytes under way; odd sizes, random ones, and more than 2^31 elements. Numbers of all
 * types are compared by cuda_elementwise. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "contract/device_elementwise.h"
#include "contract/problem.h"
#include "simt/engine.h"
#include "support/buffers.h"
#include "support/check.h"

enum { A, B, D, C, TENSORS, ROOM = 4096 }; /* as cutt_tensor */

/* One multiprocessor, of which tiles are as of large tensors; an H200; a T4. */
static const cutt_combine_device devices[] = {{1, 233472, 232448}, {132, 233472, 232448}, {40, 65536, 65536}};

/* An operation and its memory. */
typedef struct setting {
  struct cuttElementwiseStruct p;
  int64_t volume, elements[TENSORS]; /* of D; that a tensor spans */
  unsigned char *memory[TENSORS];
  size_t bytes[TENSORS];
  unsigned char *map;
  size_t map_bytes;
} setting;

/* Strides of tensors that are packed but for so many elements behind each run of the first mode: "ab,ba,b->ab". */
static void make(setting *s, const char *pattern, cuttType_t type, const int64_t *extents, int64_t gap) {
  static const int order[TENSORS] = {A, B, C, D};
  memset(s, 0, sizeof *s);
  assert_success(cutt_contraction_type_check(type, &s->p.type));
  int64_t step[TENSORS] = {1, 1, 1, 1}, stride[TENSORS][26] = {{0}};
  int t = 0;
  s->volume = 1;
  for (int each = 0; each < TENSORS; ++each) s->elements[each] = 1;
  for (const char *at = pattern; *at; ++at) {
    if (*at == ',') ++t;
    if (*at == '-') s->p.operands = t + 1, t = 3;
    if (*at < 'a' || *at > 'z') continue;
    const int label = *at - 'a';
    stride[order[t]][label] = step[order[t]];
    step[order[t]] = step[order[t]] * extents[label] + (step[order[t]] == 1 ? gap : 0);
    s->elements[order[t]] += (extents[label] - 1) * stride[order[t]][label];
    if (t < 3) continue;
    s->volume *= extents[label];
    cutt_elementwise_mode *mode = &s->p.mode[s->p.modes++];
    mode->extent = extents[label];
    for (int each = 0; each < TENSORS; ++each) mode->stride[each] = stride[each][label];
  }
}

/* Each tensor so many bytes behind a multiple of 64; pages are there when they are touched. */
static void place(setting *s, int64_t offset) {
  s->map_bytes = ROOM;
  for (int t = 0; t < TENSORS; ++t) {
    s->bytes[t] = (size_t)(s->elements[t] * s->p.type->bytes);
    s->map_bytes += (s->bytes[t] + ROOM) / 64 * 64;
  }
  s->map = mmap(NULL, s->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  assert_true(s->map != MAP_FAILED);
  unsigned char *at = s->map + ROOM / 2 + offset;
  for (int t = 0; t < TENSORS; ++t) {
    s->memory[t] = at;
    at += (s->bytes[t] + ROOM / 2) / 64 * 64;
  }
}

static simt_launch launch_of(const setting *s, const cutt_combine_launch *launch) {
  static const char *const names[] = {"f16", "bf16", "f32", "f64", "c32", "c64", "i32", "i64"};
  static const char *const wide[] = {"f16", "bf16", "f32", "i32"};
  char name[64];
  simt_launch l = {.in = s->memory[A],
                   .out = s->memory[D],
                   .right = s->memory[B],
                   .third = s->memory[C],
                   .blocks = launch->grid.blocks,
                   .threads = launch->grid.threads,
                   .shared_bytes = launch->grid.shared_bytes,
                   .async = true,
                   .read = {s->memory[A], s->bytes[A]},
                   .read_right = {s->memory[B], s->bytes[B]},
                   .read_third = {s->memory[C], s->p.operands == 3 ? s->bytes[C] : 0},
                   .write = {s->memory[D], s->bytes[D]}};
  if (launch->kernel < 8)
    snprintf(name, sizeof name, "cutt_combine_%s", names[launch->kernel]);
  else if (launch->kernel >= 12)
    snprintf(name, sizeof name, "cutt_combine_line_%s", names[launch->kernel - 12]);
  else
    snprintf(name, sizeof name, "cutt_combine_wide_%s", wide[launch->kernel - 8]);
  assert_true(simt_pass_named(name, &launch->args, &l));
  return l;
}

static bool all_turned(const setting *s, const cutt_combine_launch *launch) {
  for (int k = 0; k < s->p.operands; ++k)
    if (launch->args.use[k] != CUTT_COMBINE_TURNED) return false;
  return true;
}

static void run(const simt_launch *l, const char *pattern, simt_counts *counts, int64_t *written) {
  char fault[768];
  if (!simt_run(l, written, counts, fault, sizeof fault)) fail_msg("%s: %s", pattern, fault);
}

/* ----------------------------------------------------------------------------------------------------- the results */

static int64_t at_of(const setting *s, int t, int64_t number) {
  int64_t at = 0;
  for (int i = 0; i < s->p.modes; ++i) {
    at += number % s->p.mode[i].extent * s->p.mode[i].stride[t];
    number /= s->p.mode[i].extent;
  }
  return at;
}

/* Sums of whole numbers, held to the definition; every byte of D is written once, and nothing else. */
static void assert_sums(setting *s, const char *pattern, const cutt_combine_launch *launch, uint64_t seed) {
  const int64_t bytes = s->p.type->bytes;
  for (int t = 0; t < TENSORS; ++t) test_fill_bits(s->memory[t], s->bytes[t], (size_t)bytes, seed + (uint64_t)t);
  const simt_launch l = launch_of(s, launch);
  int64_t written = 0;
  run(&l, pattern, NULL, &written);
  assert_int_equal(written, s->volume * bytes);
  for (int64_t i = 0; i < s->volume; ++i) {
    uint64_t sum = 0, got = 0;
    for (int t = 0; t < TENSORS; ++t) {
      uint64_t v = 0;
      if (t == C && s->p.operands == 2) continue;
      memcpy(&v, s->memory[t] + at_of(s, t, i) * bytes, (size_t)bytes);
      *(t == D ? &got : &sum) += v;
    }
    if (bytes == 4) sum &= UINT32_MAX;
    if (sum != got) fail_msg("%s: element %" PRId64 " is %" PRIx64 ", not %" PRIx64, pattern, i, got, sum);
  }
}

static void random_sums(void **unused) {
  (void)unused;
  static const char *const patterns[] = {
      "ab,ba->ab",  "abc,cab,bca->abc", "abcd,dcba,bd->cadb", "a,a->a", ",a->a",
      "ab,a,b->ba", "abc,c,ca->bac",    "ab,ab,ab->ab",       ",->",    "abcdef,fbdaec->abcdef",
      "abc,cb->abc"};
  enum { PATTERNS = sizeof patterns / sizeof *patterns };
  test_rng rng = {20261123};
  long wide = 0, turned = 0, windows = 0, count = 0;
  for (int i = 0; i < test_scaled(400); ++i) {
    const char *pattern = patterns[i % PATTERNS];
    const bool aligned = test_chance(&rng, 50);
    int64_t extents[26], volume = 1;
    for (int label = 0; label < 6; ++label) {
      extents[label] = test_chance(&rng, 50) ? test_random_in(&rng, 2, 9) : test_random_in(&rng, 2, 120);
      if (aligned) extents[label] = (extents[label] + 3) / 4 * 4;
      if (volume * extents[label] > 40000) extents[label] = aligned ? 4 : 2;
      volume *= extents[label];
    }
    setting s;
    cutt_combine_launch launch;
    make(&s, pattern, i / PATTERNS % 2 ? CUTT_I64 : CUTT_I32, extents,
         !aligned && test_chance(&rng, 30) ? test_random_in(&rng, 1, 9) : 0);
    place(&s, aligned ? 0 : test_random_in(&rng, 0, 7) * s.p.type->bytes);
    for (int way = 0; way < 2; ++way) {
      const cutt_combine_device *device = &devices[test_random_in(&rng, 0, 2)];
      if (!cutt_device_elementwise_lay_out(&s.p, device, way == 1, &launch)) {
        assert_int_equal(way, 1);
        continue;
      }
      assert_true(launch.grid.shared_bytes <= device->block_shared);
      if (way == 1 && !aligned) continue;
      for (int k = 0; k < 2; ++k) launch.args.op[k] = CUTT_COMBINE_ADD;
      launch.args.three = s.p.operands == 3;
      launch.args.plain =
          all_turned(&s, &launch) && (launch.args.walk[0].width > (uint32_t)s.p.type->bytes || test_chance(&rng, 70));
      assert_sums(&s, pattern, &launch, (uint64_t)i);
      wide += way;
      for (int k = 0; k < 3; ++k) {
        turned += launch.args.use[k] == CUTT_COMBINE_TURNED;
        windows += launch.args.use[k] == CUTT_COMBINE_TURNED && launch.args.walk[1 + k].window;
      }
      ++count;
    }
    munmap(s.map, s.map_bytes);
  }
  print_message("%ld launches, %ld of them wide, %ld operands turned, %ld by windows\n", count, wide, turned, windows);
  assert_true(wide >= test_scaled(40) && turned >= test_scaled(100) && windows >= test_scaled(50));
}

/* The third operand has D's neighbours next to each other in shared memory, since a tile has one of its own first mode: 16 bytes of them
 * are loaded from there at once, and lie at multiples of 16. */
static void neighbours(void **unused) {
  (void)unused;
  static const int64_t extents[][5] = {{11, 12, 2, 7, 4}, {7, 8, 2, 7, 2}, {11, 36, 9, 7, 4}};
  int beside = 0;
  for (size_t i = 0; i < sizeof extents / sizeof *extents; ++i)
    for (int d = 0; d < 2; ++d) {
      setting s;
      cutt_combine_launch launch;
      make(&s, "debca,acedb,cbdae->bdaec", CUTT_I32, extents[i], 0);
      place(&s, 0);
      assert_true(cutt_device_elementwise_lay_out(&s.p, &devices[d], true, &launch));
      for (int k = 0; k < 2; ++k) launch.args.op[k] = CUTT_COMBINE_ADD;
      launch.args.three = launch.args.plain = true;
      beside += launch.args.beside[2] == 4 && launch.args.walk[0].width == 16;
      assert_sums(&s, "debca,acedb,cbdae->bdaec", &launch, i);
      munmap(s.map, s.map_bytes);
    }
  assert_true(beside >= 2);
}

/* ----------------------------------------------------------------------------------------------------- the counts */

typedef struct counted {
  const char *pattern;
  cuttType_t type;
  int64_t extent[4];
  bool aligned;
  double most_sectors,
      most_wavefronts; /* times those that the tensors have, and that there are without bank conflicts */
} counted;

static const counted cases[] = {
    /* Turned: whole sectors where extents allow it; 16 bytes at a time, and element by element. */
    {"ab,ba->ab", CUTT_F32, {256, 256}, true, 1, 1.05},
    {"ab,ba->ab", CUTT_F64, {256, 256}, true, 1, 1.05},
    {"ab,ba->ab", CUTT_F16, {512, 256}, true, 1, 1.05},
    {"ab,ba->ab", CUTT_C64, {128, 128}, false, 1, 1.05},
    {"ba,ba->ab", CUTT_F32, {256, 192}, true, 1, 1.05},
    {"abc,cab,bca->abc", CUTT_F32, {64, 64, 64}, true, 1, 2},
    {"abc,cab,bca->abc", CUTT_F64, {32, 64, 64}, true, 1, 2},
    {"abc,cba->bac", CUTT_F64, {32, 32, 64}, true, 1, 2},
    {"abcd,dcba->abcd", CUTT_F32, {16, 32, 24, 40}, true, 1, 2},
    {"abc,cab,bca->abc", CUTT_F16, {64, 64, 64}, true, 1.001, 2},
    /* By windows, which lie in shared memory as in the operand: rows whose steps are multiples of 16 bytes have the same banks. */
    {"ab,ba->ab", CUTT_F32, {256, 256}, false, 1, 2},
    {"ab,ba->ab", CUTT_F64, {256, 256}, false, 1, 1.6},
    {"abc,cab,bca->abc", CUTT_F32, {64, 64, 64}, false, 1, 2.5},
    {"ab,ba->ab", CUTT_F32, {333, 257}, false, 1.35, 1.3},
    {"abc,cab->abc", CUTT_F64, {37, 61, 91}, false, 1.35, 1.3},
    {"abc,bca->cab", CUTT_F32, {81, 79, 77}, false, 1.6, 1.8},
    {"abc,bca->cab", CUTT_F64, {65, 67, 63}, false, 1.5, 1.6},
    {"abc,bca->cab", CUTT_BF16, {81, 79, 77}, false, 2.1, 2.5},
    /* Direct: 16 bytes at a time. */
    {"a,a->a", CUTT_F32, {1000000}, true, 1.001, 4},
    {"a,a,a->a", CUTT_F16, {1000003}, true, 1.001, 4},
    {"ab,b->ab", CUTT_F16, {2048, 300}, true, 1.02, 4},
    {"ab,a->ab", CUTT_F64, {300, 512}, true, 1.3, 4},
    {"ab,ab->ab", CUTT_F16, {999, 300}, false, 1.6, 4},
};

/* Elements of A, B and C that are read, each tensor by its own; D's sectors are as many as are written. */
static double sectors_of(const setting *s) {
  double all = 0;
  for (int t = 0; t < TENSORS; ++t)
    if (t != D && (t != C || s->p.operands == 3)) all += (double)s->bytes[t] / SIMT_SECTOR;
  return all;
}

static void counts(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const counted *c = &cases[i];
    setting s;
    cutt_combine_launch launch;
    simt_counts got;
    int64_t written;
    memset(&got, 0, sizeof got);
    make(&s, c->pattern, c->type, c->extent, 0);
    if (strcmp(c->pattern, "a,a->a") == 0) s.elements[A] = c->extent[0];
    place(&s, 0);
    assert_true(
        cutt_device_elementwise_lay_out(&s.p, &devices[0], c->aligned, &launch)); /* tiles as of large tensors */
    launch.args.three = s.p.operands == 3;
    launch.args.plain = all_turned(&s, &launch);
    launch.grid.blocks = launch.args.step = launch.args.tiles; /* one for each block */
    simt_launch l = launch_of(&s, &launch);
    l.read = (simt_span){s.map, s.map_bytes};
    l.shared_split = launch.grid.shared_bytes;
    for (int k = 0; k < 3; ++k)
      if (launch.args.use[k] == CUTT_COMBINE_TURNED && launch.args.turned_at[k] < l.shared_split)
        l.shared_split = launch.args.turned_at[k];
    run(&l, c->pattern, &got, &written);
    const double stores = (double)s.bytes[D] / SIMT_SECTOR, loads = sectors_of(&s);
    const double blocks_of_an_sm = c->aligned || c->type == CUTT_C64 ? 2 : 3;
    const double flight = (double)got.flight_bytes / launch.grid.blocks * blocks_of_an_sm;
    print_message("%-18s %2d bytes: %.3f sectors loaded, %.3f stored, of those there are; shared memory %" PRId64
                  " wavefronts, %" PRId64 " at least, tables %" PRId64 ", %" PRId64 "; %.0f KB under way on an SM\n",
                  c->pattern, s.p.type->bytes, (double)got.tile_load_sectors / loads,
                  (double)got.store_sectors / stores, got.shared[1].wavefronts, got.shared[1].ideal,
                  got.shared[0].wavefronts, got.shared[0].ideal, flight / 1024);
    assert_true((double)got.tile_load_sectors <= c->most_sectors * loads + 1);
    assert_true((double)got.store_sectors <= c->most_sectors * stores + 1);
    if (c->most_sectors <= 1) assert_int_equal(got.store_sectors, got.store_sectors_whole);
    assert_true((double)got.shared[1].wavefronts <= c->most_wavefronts * (double)got.shared[1].ideal);
    assert_true((double)got.shared[0].wavefronts <= 1.1 * (double)got.shared[0].ideal);
    assert_true(flight >= 20 * 1024);
    /* A request for elements one by one has at most as many bytes as a warp has of them. */
    bool windows = false;
    for (int k = 0; k < s.p.operands; ++k) windows = windows || launch.args.walk[1 + k].window;
    if (windows) assert_true(got.load_bytes >= 250 * got.load_requests);
    munmap(s.map, s.map_bytes);
  }
}

/* The last tiles of tensors with more than 2^31 elements. */
static void far_ones(void **unused) {
  (void)unused;
  static const struct {
    const char *pattern;
    cuttType_t type;
    int64_t extent[3];
    bool wide;
  } far[] = {{"a,a->a", CUTT_I32, {INT64_C(3000000001)}, true},
             {"a,a->a", CUTT_I32, {INT64_C(3000000001)}, false},
             {"ab,ba->ab", CUTT_I32, {70001, 70003}, false},
             {"ab,b,ba->ab", CUTT_I64, {3, INT64_C(2147483659)}, false}};
  for (size_t i = 0; i < sizeof far / sizeof *far; ++i) {
    setting s;
    cutt_combine_launch launch;
    make(&s, far[i].pattern, far[i].type, far[i].extent, 0);
    place(&s, 0);
    assert_true(cutt_device_elementwise_lay_out(&s.p, &devices[1], far[i].wide, &launch));
    launch.args.three = s.p.operands == 3;
    launch.grid.blocks = launch.args.step = launch.args.tiles; /* one for each block */
    simt_launch l = launch_of(&s, &launch);
    const uint32_t only[] = {0, l.blocks / 2, l.blocks - 1};
    l.only = only;
    l.only_count = 3;
    const int64_t bytes = s.p.type->bytes, last = s.volume - 1;
    const int32_t one = 1, two = 2, three = 3;
    memcpy(s.memory[A] + at_of(&s, A, last) * bytes, &one, sizeof one);
    memcpy(s.memory[B] + at_of(&s, B, last) * bytes, &two, sizeof two);
    if (s.p.operands == 3) memcpy(s.memory[C] + at_of(&s, C, last) * bytes, &three, sizeof three);
    int64_t written = 0;
    run(&l, far[i].pattern, NULL, &written);
    int32_t got = 0;
    memcpy(&got, s.memory[D] + at_of(&s, D, last) * bytes, sizeof got);
    assert_int_equal(got, s.p.operands == 3 ? 6 : 3);
    assert_true(written > 0);
    munmap(s.map, s.map_bytes);
  }
  simt_cleanup();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_sums), cmocka_unit_test(neighbours),
                                     cmocka_unit_test(counts), cmocka_unit_test(far_ones)};
  const int result = cmocka_run_group_tests(tests, NULL, NULL);
  simt_cleanup();
  return result;
}
