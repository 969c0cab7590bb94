/* What passes on a GPU ask of memory and of shared memory, counted by the emulator, and what is predicted of them. */
#include <inttypes.h>
#include <string.h>

#include "emulated.h"
#include "support/check.h"

/* A contraction, of tensors where a device's memory would begin. */
static void place_case(const char *pattern, cuttType_t type, const int64_t *extent, int64_t multiprocessors,
                       test_contraction *t, cutt_contraction *c) {
  emulated_case(pattern, type, extent, t, c);
  emulated_place(t, false);
  test_rates.multiprocessors = multiprocessors;
  test_rates.block_shared = 227 << 10;
}

/* What a launch did. Bytes of operands and of D. For each 512 bytes of operands and, of products, of D, which is what a warp asks for at
 * once: requests of loads, wavefronts of shared memory, and how few these could be. Sectors that requests load of those there are, and the
 * same where each block counts a sector once. */
typedef struct figures {
  simt_counts got;
  double loaded, stored, requests, wavefronts, ideal, sectors, block_sectors;
} figures;

static figures count_shape(const test_contraction *t, const cutt_contraction *c, const cutt_device_shape *shape) {
  figures f;
  memset(&f, 0, sizeof f);
  emulated_hold(t, c, shape, &f.got);
  f.loaded = (double)(c->volume[CUTT_LEFT] + (c->right_is_one ? 0 : c->volume[CUTT_RIGHT])) * c->type->bytes;
  f.stored = (double)c->volume[CUTT_RESULT] * c->type->bytes;
  const double pieces = (f.loaded + (c->right_is_one ? 0 : f.stored)) / 512;
  f.requests = (double)f.got.load_requests / pieces;
  f.wavefronts = (double)(f.got.shared[0].wavefronts + f.got.shared[1].wavefronts) / pieces;
  f.ideal = (double)(f.got.shared[0].ideal + f.got.shared[1].ideal) / pieces;
  f.sectors = (double)f.got.load_sectors * SIMT_SECTOR / f.loaded;
  f.block_sectors = (double)f.got.tile_load_sectors * SIMT_SECTOR / f.loaded;
  return f;
}

/* What shared memory takes for the descriptions of rows, beside the loads from memory that these are for. */
static void wavefronts_of_sums(void **unused) {
  (void)unused;
  static const struct {
    const char *pattern;
    cuttType_t type;
    int64_t extent[3];
    double most;
  } cases[] = {{"ab->b", CUTT_F32, {256, 4096}, 5.5}, /* one term a thread, which is also added up with the others' */
               {"ab->a", CUTT_F32, {4096, 256}, 3.5},
               {"ab->a", CUTT_F16, {4096, 256}, 3.5},
               {"abc->b", CUTT_F32, {256, 64, 64}, 5.5}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    test_contraction t;
    static cutt_contraction c;
    cutt_device_shape shape;
    const int64_t few = 16; /* so that each has as many rows as there are of large tensors */
    place_case(cases[i].pattern, cases[i].type, cases[i].extent, few, &t, &c);
    cutt_device_pass_tiles(&c, &test_rates, 1 << 20, &shape);
    const figures f = count_shape(&t, &c, &shape);
    print_message(
        "%-7s %d bytes: %.2f wavefronts of shared memory for a request of loads, %.2f sectors of those there are\n",
        cases[i].pattern, c.type->bytes, f.wavefronts / f.requests, f.sectors);
    assert_true(f.wavefronts <= cases[i].most * f.requests);
  }
}

/* Sums by tiles load 16 bytes at a time, all sectors about once, also where c does not say which bytes L spans, as it does not of what is
 * summed beforehand; and go through shared memory only at the end of a tile. */
static void loads_of_tiles(void **unused) {
  (void)unused;
  static const struct {
    const char *pattern;
    cuttType_t type;
    int64_t extent[3];
    double requests, wavefronts; /* for each 512 bytes at most: of loads, and of shared memory */
  } cases[] = {{"ab->b", CUTT_F32, {1001, 300}, 1.15, 0.1}, {"ab->b", CUTT_F16, {2002, 300}, 1.15, 0.1},
               {"ab->a", CUTT_F32, {1024, 300}, 1.3, 2},    {"ab->a", CUTT_F16, {2048, 300}, 1.3, 2},
               {"ab->a", CUTT_F32, {1001, 300}, 1.3, 2},    {"ab->a", CUTT_F64, {501, 300}, 1.3, 2},
               {"a->", CUTT_F32, {300000}, 1.15, 0.1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    test_contraction t;
    static cutt_contraction c;
    cutt_device_shape shape;
    place_case(cases[i].pattern, cases[i].type, cases[i].extent, 4, &t, &c);
    memset(c.low, 0, sizeof c.low);
    memset(c.high, 0, sizeof c.high);
    cutt_device_pass_tiles(&c, &test_rates, 0, &shape);
    const figures f = count_shape(&t, &c, &shape);
    print_message(
        "%-5s %d bytes: for 512 bytes %.2f requests of loads, %.2f wavefronts; %.2f sectors of those there are\n",
        cases[i].pattern, c.type->bytes, f.requests, f.wavefronts, f.block_sectors);
    assert_true(f.requests <= cases[i].requests && f.wavefronts <= cases[i].wavefronts);
    assert_true(f.block_sectors <= 1.15);
  }
}

/* Sums by stretches read all sectors once; for 512 bytes, which come to an H200's SM in 27 cycles, few accesses of shared memory. */
static void accesses_of_stretches(void **unused) {
  (void)unused;
  static const struct {
    const char *pattern;
    cuttType_t type;
    int64_t extent[4];
    double wavefronts;
  } cases[] = {{"ab->b", CUTT_F32, {33, 5000}, 10},         {"ab->b", CUTT_F64, {100, 900}, 10},
               {"abc->ac", CUTT_F32, {8, 32, 600}, 22},     {"abcd->ac", CUTT_F32, {22, 19, 8, 40}, 14},
               {"abcd->db", CUTT_F64, {12, 8, 10, 70}, 24}, {"a->", CUTT_F32, {200000}, 10},
               {"ab->b", CUTT_F16, {33, 9000}, 19},         {"ab->b", CUTT_F32, {16, 9000}, 23},
               {"ab->b", CUTT_F16, {400, 1000}, 13}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    test_contraction t;
    static cutt_contraction c;
    cutt_device_shape shape;
    place_case(cases[i].pattern, cases[i].type, cases[i].extent, 4, &t, &c);
    cutt_device_pass_stretches(&c, &test_rates, 0, &shape);
    const figures f = count_shape(&t, &c, &shape);
    print_message("%-8s %2d bytes: for 512 bytes %.2f wavefronts; %.2f sectors of those there are\n", cases[i].pattern,
                  c.type->bytes, f.wavefronts, f.sectors);
    assert_true(f.wavefronts <= cases[i].wavefronts && f.sectors <= 1.05);
  }
}

/* Sums by staged tiles read all sectors once, wherever rows begin, and copy whole lines: few requests for 512 bytes. */
static void accesses_of_staged(void **unused) {
  (void)unused;
  static const struct {
    const char *pattern;
    cuttType_t type;
    int64_t extent[3];
    double requests, wavefronts; /* for each 512 bytes at most */
  } cases[] = {{"ab->a", CUTT_F32, {1001, 300}, 1.1, 9},     {"ab->a", CUTT_F16, {2002, 300}, 1.1, 13},
               {"ab->a", CUTT_F64, {501, 300}, 1.1, 9},      {"ab->a", CUTT_F32, {1024, 300}, 1.02, 9},
               {"ab->a", CUTT_F32, {100000, 3}, 1.05, 9},    {"abc->ac", CUTT_F32, {130, 5, 200}, 1.05, 13},
               {"abc->ac", CUTT_F64, {301, 90, 10}, 1.05, 9}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    test_contraction t;
    static cutt_contraction c;
    cutt_device_shape shape;
    place_case(cases[i].pattern, cases[i].type, cases[i].extent, 4, &t, &c);
    cutt_device_pass_staged(&c, &test_rates, 0, &shape);
    const figures f = count_shape(&t, &c, &shape);
    print_message(
        "%-7s %2d bytes: for 512 bytes %.2f requests of loads, %.2f wavefronts; %.2f sectors of those there are\n",
        cases[i].pattern, c.type->bytes, f.requests, f.wavefronts, f.sectors);
    assert_true(f.requests <= cases[i].requests && f.wavefronts <= cases[i].wavefronts && f.sectors <= 1.1);
  }
}

/* Small products: memory's sectors once and whole, and what shared memory takes for 512 bytes of all tensors, which come to an H200's
 * SM in 27 cycles. */
static void accesses_of_small(void **unused) {
  (void)unused;
  static const struct {
    const char *pattern;
    cuttType_t type;
    int64_t extent[4]; /* of the letters in their order */
    double wavefronts;
  } cases[] = {{"abz,bcz->acz", CUTT_F64, {4, 4, 512, 4}, 18.5},  {"abz,bcz->acz", CUTT_F32, {4, 4, 1024, 4}, 31},
               {"abz,bcz->acz", CUTT_F16, {4, 4, 2048, 4}, 48},   {"abz,bcz->acz", CUTT_C64, {4, 4, 512, 4}, 21},
               {"abz,bcz->acz", CUTT_F64, {8, 8, 128, 8}, 18},    {"abz,bcz->acz", CUTT_F32, {8, 8, 256, 8}, 21},
               {"abz,bcz->acz", CUTT_F16, {8, 8, 256, 8}, 34},    {"abz,bcz->acz", CUTT_C32, {8, 8, 128, 8}, 18},
               {"abz,bcz->acz", CUTT_F64, {16, 16, 64, 16}, 24},  {"abz,bcz->acz", CUTT_F32, {16, 16, 64, 16}, 34},
               {"abz,bcz->acz", CUTT_F16, {16, 16, 64, 16}, 39},  {"abz,bcz->acz", CUTT_C64, {16, 16, 32, 16}, 35},
               {"abz,bcz->acz", CUTT_F64, {32, 32, 16, 32}, 36},  {"abz,bcz->acz", CUTT_F32, {32, 32, 16, 32}, 39},
               {"abz,bcz->acz", CUTT_F16, {32, 32, 16, 32}, 70},  {"abz,bcz->acz", CUTT_F64, {3, 3, 1000, 3}, 15.5},
               {"abz,bcz->acz", CUTT_F32, {5, 5, 1000, 5}, 25.5}, {"zab,zbc->zac", CUTT_F64, {2048, 4, 4, 4}, 13.5},
               {"ab,bc->ac", CUTT_F64, {16384, 4, 4}, 15.5},      {"ba,cb->ca", CUTT_F64, {4, 16384, 4}, 24},
               {"ab,bc->ac", CUTT_F32, {16384, 4, 4}, 16},        {"ba,cb->ca", CUTT_F32, {4, 16384, 4}, 29.5}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    test_contraction t;
    static cutt_contraction c;
    cutt_device_shape shape;
    place_case(cases[i].pattern, cases[i].type, cases[i].extent, 1, &t, &c);
    cutt_device_pass_small(&c, &test_rates, &shape);
    assert_true(isfinite(shape.seconds));
    const figures f = count_shape(&t, &c, &shape);
    const double stored = (double)f.got.store_sectors * SIMT_SECTOR / f.stored;
    print_message(
        "%-12s %2d bytes, %" PRId64 " of %" PRId64 " x %" PRId64 " x %" PRId64 ", %d threads, %" PRId64
        " bytes: sectors %.2f loaded, %.2f stored, whole %.2f; for 512 bytes %.2f wavefronts, ideally %.2f; %.0f "
        "requests\n",
        cases[i].pattern, c.type->bytes, shape.small.matrices, shape.small.rows, shape.small.columns, shape.small.terms,
        shape.small.threads, shape.small.shared_bytes, f.block_sectors, stored,
        (double)f.got.store_sectors_whole / (double)f.got.store_sectors, f.wavefronts, f.ideal,
        (double)(f.got.load_requests + f.got.store_requests));
    assert_true(f.block_sectors <= 1.05 && stored <= 1.02);
    assert_true(f.got.store_sectors_whole == f.got.store_sectors);
    assert_true(f.wavefronts <= cases[i].wavefronts);
  }
}

static cutt_rates rates_of_h200(void) {
  cutt_rates h200 = test_rates;
  h200.multiprocessors = 132;
  h200.sm_shared = 228 << 10;
  h200.block_shared = 227 << 10;
  h200.memory = 3.67e12;
  h200.matrix_units = true;
  return h200;
}

/* Small products are predicted to take what they took on an H200, and more where pieces of a few bytes are all over memory. */
static void seconds_of_small(void **unused) {
  (void)unused;
  static const struct {
    const char *pattern;
    cuttType_t type;
    int64_t extent[4];         /* of the letters in their order */
    double least, most, flops; /* microseconds, and a product's speed */
  } cases[] = {{"abz,bcz->acz", CUTT_F64, {4, 4, 1000000, 4}, 105, 130, 60e12},
               {"abz,bcz->acz", CUTT_F32, {4, 4, 1000000, 4}, 60, 75, 60e12},
               {"abz,bcz->acz", CUTT_F16, {4, 4, 1000000, 4}, 49, 61, 700e12},
               {"abz,bcz->acz", CUTT_C64, {8, 8, 125000, 8}, 102, 125, 60e12},
               {"abz,bcz->acz", CUTT_C32, {16, 16, 60000, 16}, 160, 215, 60e12},
               {"abz,bcz->acz", CUTT_F64, {16, 16, 60000, 16}, 132, 163, 60e12},
               {"abz,bcz->acz", CUTT_F64, {32, 32, 15000, 32}, 153, 188, 60e12},
               {"zab,zbc->zac", CUTT_F32, {250000, 8, 8, 8}, 57, 72, 60e12},
               {"zab,zbc->zac", CUTT_F64, {60000, 16, 16, 16}, 700, 1230, 60e12},
               {"ab,bc->ac", CUTT_F64, {2000000, 4, 4}, 36, 46, 60e12},
               {"ba,cb->ca", CUTT_F16, {4, 2000000, 4}, 23, 29, 700e12}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    test_contraction t;
    static cutt_contraction c;
    cutt_device_shape shape;
    cutt_rates h200 = rates_of_h200();
    h200.flops = h200.blas_flops = cases[i].flops;
    emulated_case(cases[i].pattern, cases[i].type, cases[i].extent, &t, &c);
    cutt_device_pass_small(&c, &h200, &shape);
    print_message("%s, %d bytes: %.1f us\n", cases[i].pattern, c.type->bytes, 1e6 * shape.seconds);
    assert_true(1e6 * shape.seconds >= cases[i].least && 1e6 * shape.seconds <= cases[i].most);
    h200.blas_flops = 0; /* no BLAS is needed for them */
    h200.flops = 1e10;
    cutt_device_pass_small(&c, &h200, &shape);
    assert_true(1e6 * shape.seconds <= cases[i].most);
  }
}

/* On tensor cores blocks keep as much as they can of an operand, but where there would be fewer blocks than multiprocessors. */
static void panels_of_cores(void **unused) {
  (void)unused;
  static const struct {
    const char *pattern;
    int64_t extent[3];
    int64_t least, most; /* positions that a block keeps */
  } cases[] = {{"ac,cb->ab", {32, 16, 4096}, 32, 64},
               {"ac,cb->ab", {64, 16, 2048}, 32, 64},
               {"ac,cb->ab", {8192, 24, 4096}, 128, 128}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    test_contraction t;
    static cutt_contraction c;
    cutt_core_shape shape;
    const cutt_rates h200 = rates_of_h200();
    emulated_case(cases[i].pattern, CUTT_F64, cases[i].extent, &t, &c);
    cutt_core_choose(&c, &h200, true, &shape);
    print_message("%" PRId64 " x %" PRId64 " x %" PRId64 ": %" PRId64 " panels of %" PRId64 ", %" PRId64 " strips\n",
                  shape.rows, shape.columns, shape.terms, shape.panels, shape.panel, shape.strips);
    assert_true(isfinite(shape.seconds));
    assert_in_range(shape.panel, cases[i].least, cases[i].most);
    assert_true(shape.panels * shape.panel >= shape.columns && (shape.panels - 1) * shape.panel < shape.columns);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(panels_of_cores),    cmocka_unit_test(wavefronts_of_sums),
                                     cmocka_unit_test(loads_of_tiles),     cmocka_unit_test(accesses_of_stretches),
                                     cmocka_unit_test(accesses_of_staged), cmocka_unit_test(accesses_of_small),
                                     cmocka_unit_test(seconds_of_small)};
  return cmocka_run_group_tests_name("counts of passes on a GPU", tests, NULL, emulated_cleanup);
}
