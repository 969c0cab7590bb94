/* What cuBLAS takes for products (product_speed.h).
 *
 * A small product of a batch is computed in tiles of a fixed extent, however much of a tile there is, so that 4 x 4 results take as long as 32 x 32 do,
 * and a tile takes longer to begin and end than for some tens of terms. As measured on an H200 (cuBLAS 13.1): 21,000 batches of
 * products of 1 to 300 rows, columns and terms, strided, both operands in both orders, to which
 *   seconds of a product = each + tiles * (tile + term * k) + result * m * n
 * was fitted, of which nearly all have 64 rows or columns at most; the mean of |ln(predicted / measured)| is 0.07 to 0.17, where the general
 * formula (cost.c) had 0.4 to 0.5. Off by more are bfloat16 in columns of odd length (0.26), and complex doubles (0.6), whose small products
 * take 2 or 17 ns, and nothing tells which. */
#include "contract/product_speed.h"

#include <math.h>

enum { MOST = 512, MOST_OF_SHORTER = 64, MEASURED_ON = 132 };

/* ns, of 132 multiprocessors. */
typedef struct tiling {
  double extent; /* 0: there is none */
  double tile, term;
} tiling;

typedef struct fitted {
  tiling first, second; /* the faster one counts */
  double each, result, reading;
} fitted;

/* Of which all columns begin at multiples of 16 bytes, of 4, or of 2. */
static const fitted half_aligned = {{64, 2.33, 0.008}, {0, 0, 0}, 0.73, 0.0002, 1.5},
                    half_even = {{16, 0.70, 0.008}, {32, 2.09, 0.013}, 0, 0, 2.4},
                    f16_odd = {{16, 1.56, 0.009}, {32, 2.05, 0.065}, 0.16, 0, 1.2},
                    bf16_odd = {{16, 2.00, 0.023}, {32, 1.92, 0.039}, 1.02, 0, 1.2},
                    half_vector = {{16, 0.26, 0.008}, {0, 0, 0}, 0.33, 0.0013, 1.2};

static const struct of_type {
  cuttType_t type;
  fitted matrix, vector;
} others[] = {
    {CUTT_F32, {{32, 1.27, 0.057}, {0, 0, 0}, 0.42, 0, 2.2}, {{32, 0.82, 0.008}, {0, 0, 0}, 0.02, 0.0095, 2.0}},
    {CUTT_F64, {{32, 2.60, 0.043}, {0, 0, 0}, 0.84, 0, 1.5}, {{16, 0, 0.018}, {0, 0, 0}, 0.63, 0.025, 1.5}},
    {CUTT_C32, {{32, 2.45, 0.176}, {0, 0, 0}, 0.52, 0, 2.3}, {{32, 0.59, 0.015}, {0, 0, 0}, 0, 0.0029, 1.6}},
    {CUTT_C64, {{64, 6.53, 0}, {0, 0, 0}, 0, 0, 2.1}, {{8, 0.22, 0.014}, {0, 0, 0}, 0.42, 0.0011, 1.3}},
};

static const fitted *fitted_half(const cutt_type_info *type, const cutt_gemm *g) {
  const int64_t columns = g->lda | g->ldb | g->ldc;
  if (g->m == 1 || g->n == 1) return &half_vector;
  if (columns % 8 == 0) return &half_aligned;
  if (columns % 2 == 0) return &half_even;
  return type->type == CUTT_F16 ? &f16_odd : &bf16_odd;
}

/* NULL: a type that cuBLAS does not multiply. */
static const fitted *fitted_of(const cutt_type_info *type, const cutt_gemm *g) {
  if (type->type == CUTT_F16 || type->type == CUTT_BF16) return fitted_half(type, g);
  for (int i = 0; i < (int)(sizeof others / sizeof *others); ++i)
    if (others[i].type == type->type) return g->m == 1 || g->n == 1 ? &others[i].vector : &others[i].matrix;
  return NULL;
}

static double tiles_of(const tiling *t, const cutt_gemm *g) {
  return ceil((double)g->m / t->extent) * ceil((double)g->n / t->extent);
}

static double seconds_of(const tiling *t, const cutt_gemm *g) {
  return tiles_of(t, g) * (t->tile + t->term * (double)g->k);
}

/* Times as long as that of vectors times matrices whose results lie apart. */
static double results_apart(const cutt_type_info *type, const cutt_gemm *g) {
  return g->m > 1 || g->n == 1 || g->ldc == 1 ? 1 : type->bytes == 2 ? 1.9 : 1.35;
}

double cutt_batched_sum_seconds(const cutt_gemm *gemm) {
  static const double of_matrix = 6.59e-9, of_vector = 1.95e-9; /* 6 to 9, and 0.5 to 2 as measured, of all types */
  return (gemm->m > 1 && gemm->n > 1 ? of_matrix : of_vector) * (double)gemm->k;
}

/* ------------------------------------------------------------------------------------------------------ all other products */

/* As measured on an H200 (cuBLAS 13.1), by the first of cuBLASLt's algorithms: 113,000 products of 2 to 200,000 rows and columns and 2 to 300,000 terms, a
 * quarter of them in batches of 2 to 2000, to which
 *   begin + the longer one of memory's time * reading and, by the faster tiling, turns * (tile + term * terms of a part) + join
 * was fitted. There is a turn for each time that all multiprocessors have a tile. Tiles of a single product, of fewer than multiprocessors, are cut into
 * parts of at least so many terms, which join takes to add up; so are vectors in batches. The mean of |ln(predicted / measured)| is 0.09 to 0.16. begin and
 * reading are then those by which 5700 contractions are chosen best: the host bounds short products, and takes 6 to 13 us for the same one at different
 * times. Vectors, and sums of more terms, are as measured by cuBLAS. Microseconds. */
typedef struct product {
  double begin, part, join, reading;
  tiling first, second; /* the faster one counts */
} product;

/* Of which all columns begin at multiples of 16 bytes, those of operands do, or not even those. */
static const product f64_aligned = {7.8, 107, 2.3, 1.32, {64, 1.03, 0.0178}, {32, 0.152, 0.0082}},
                     f64_results = {7.2, 87, 1.6, 1.62, {64, 1.36, 0.0360}, {32, 0.183, 0.0080}},
                     f64_odd = {6.2, 107, 1.9, 1.61, {64, 1.21, 0.0270}, {32, 0.206, 0.0086}};
/* Of which all columns begin at multiples of 16 bytes, of 4, or of 2. */
static const product half_whole = {5.3, 2545, 2.8, 1.04, {64, 0.348, 0.00130}, {32, 0.56, 0.00043}},
                     half_by_four = {3.4, 50, 4.2, 1.66, {64, 0.44, 0.0067}, {32, 0.119, 0.0026}},
                     half_by_two = {3.1, 55, 3.4, 1.00, {128, 2.03, 0.0311}, {32, 0.200, 0.0055}};

static const product f32_matrix = {7.0, 50, 3.5, 1.61, {64, 0.410, 0.0260}, {32, 0.064, 0.0092}},
                     c32_matrix = {5.6, 414, 1.9, 2.05, {64, 1.28, 0.0835}, {32, 0.117, 0.0260}},
                     c64_matrix = {6.2, 1206, 3.7, 1.29, {32, 0.98, 0.0171}, {16, 0.188, 0.0058}};

/* A matrix times a vector, where the terms of a row follow each other in the matrix, or the rows. */
static const struct of_vectors {
  cuttType_t type;
  product terms, rows;
} vectors[] = {
    {CUTT_F16, {5.5, 42, 0, 1.55, {16, 0.038, 0.00080}, {0, 0, 0}}, {5.8, 2, 0, 1.60, {32, 0.03, 0.0030}, {0, 0, 0}}},
    {CUTT_F32,
     {5.5, 5200, 0, 1.15, {16, 0.083, 0.00066}, {0, 0, 0}},
     {5.8, 148, 0, 1.17, {32, 0.03, 0.0030}, {0, 0, 0}}},
    {CUTT_F64,
     {5.5, 1300, 0, 1.07, {16, 0.073, 0.00102}, {0, 0, 0}},
     {5.9, 1800, 0, 1.06, {32, 0.03, 0.0030}, {0, 0, 0}}},
    {CUTT_C32,
     {5.3, 4000, 0, 1.09, {16, 0.033, 0.00091}, {0, 0, 0}},
     {5.5, 2300, 0, 1.10, {32, 0.03, 0.0030}, {0, 0, 0}}},
    {CUTT_C64,
     {5.3, 600, 0, 1.03, {16, 0.052, 0.00176}, {0, 0, 0}},
     {5.5, 200, 0, 1.03, {32, 0.03, 0.0036}, {0, 0, 0}}},
};

/* Parts of a sum, for each multiprocessor: of long sums there are more. */
static double most_parts(double terms) {
  static const double short_sum = 2e5, fewest = 0.502, doubling = 0.122;
  return fmin(1, fewest + doubling * log2(fmax(1, terms / short_sum)));
}

static bool is_vector(const cutt_gemm *g) { return g->m == 1 || g->n == 1; }

static const product *product_of(cuttType_t type, int bytes, const cutt_gemm *g) {
  const int64_t each = 16 / bytes, operands = g->lda | g->ldb, all = operands | g->ldc;
  switch (type) {
    case CUTT_F16:
    case CUTT_BF16:
      return all % each == 0 ? &half_whole : all % 2 == 0 ? &half_by_four : &half_by_two;
    case CUTT_F64:
      return all % each == 0 ? &f64_aligned : operands % each == 0 ? &f64_results : &f64_odd;
    case CUTT_F32:
      return &f32_matrix;
    case CUTT_C32:
      return &c32_matrix;
    default:
      return &c64_matrix;
  }
}

static const product *vector_of(cuttType_t type, const cutt_gemm *g) {
  const bool by_terms = g->n == 1 ? g->op_a != CUTT_OP_N : g->op_b == CUTT_OP_N;
  const struct of_vectors *of = vectors;
  while (of->type != (type == CUTT_BF16 ? CUTT_F16 : type) && of->type != CUTT_C64) ++of;
  return by_terms ? &of->terms : &of->rows;
}

/* Times as long as floats take by their tiles: few rows and columns with a long sum, the shorter time being where rows and columns lie next to each other in both
 * operands; and few of one with a long sum, if the operand that has the many others has its terms next to each other. */
static double of_floats(const cutt_gemm *g) {
  enum { NARROW = 32, SMALL = 64, SMALLEST = 16, LENGTHS = 3 };
  static const struct {
    int64_t terms;
    double small[2], smallest;
  } from[LENGTHS] = {{400000, {2.25, 3.1}, 1.8}, {50000, {1.45, 1.95}, 1.5}, {10000, {1.25, 1.5}, 1.25}};
  static const double narrow = 1.4;
  const bool rows = g->m <= NARROW, columns = g->n <= NARROW, terms_in_a = g->op_a != CUTT_OP_N,
             terms_in_b = g->op_b == CUTT_OP_N;
  int length = 0;
  while (length < LENGTHS && g->k < from[length].terms) ++length;
  if (length == LENGTHS) return 1;
  if (g->m <= SMALLEST && g->n <= SMALLEST) return from[length].smallest;
  if (g->m <= SMALL && g->n <= SMALL) return from[length].small[terms_in_a || terms_in_b];
  return rows != columns && (rows ? terms_in_b : terms_in_a) ? narrow : 1;
}

/* Of so many products by a tiling. Batches of few tiles with long sums are often done by larger tiles, of which there are too few: 1.1 or 1.5 to 2.2
 * times as long was measured. */
static double tiled(const product *by, const tiling *t, const cutt_gemm *g, double products, double sms) {
  enum { LONG = 2000, FEW = 2 };
  static const double few_long = 1.49;
  if (t->extent <= 0) return INFINITY;
  const double k = (double)g->k, tiles = products * tiles_of(t, g);
  if (products > 1 && !is_vector(g)) {
    const double turns = ceil(tiles / sms);
    return turns * (t->tile + t->term * k) * (k >= LONG && turns <= FEW ? few_long : 1);
  }
  const double most = is_vector(g) ? sms : most_parts(k) * sms;
  const double parts = fmax(1, fmin(fmin(ceil(k / by->part), most), floor(sms / tiles)));
  return fmax(1, tiles * parts / sms) * (t->tile + t->term * k / parts) + (parts > 1 ? by->join : 0);
}

static const product *class_of(const cutt_type_info *type, const cutt_gemm *g) {
  return is_vector(g) ? vector_of(type->type, g) : product_of(type->type, type->bytes, g);
}

bool cutt_batched_of(const cutt_type_info *type, const cutt_gemm *gemm, int64_t multiprocessors,
                     cutt_batched *batched) {
  const double m = (double)gemm->m, n = (double)gemm->n, k = (double)gemm->k, ns = 1e-9;
  const fitted *by = fitted_of(type, gemm);
  const bool measured = fmax(fmax(m, n), k) <= MOST && fmin(m, n) <= MOST_OF_SHORTER && fmax(m, n) > 1;
  if (!by || !measured || multiprocessors < 1) return false;
  const bool second = by->second.extent > 0 && seconds_of(&by->second, gemm) < seconds_of(&by->first, gemm);
  const tiling *in = second ? &by->second : &by->first;
  batched->tiles = tiles_of(in, gemm);
  batched->seconds = ns * (by->each + seconds_of(in, gemm) + by->result * m * n) * results_apart(type, gemm) *
                     MEASURED_ON / (double)multiprocessors;
  batched->reading = by->reading;
  batched->begin = 1e-6 * class_of(type, gemm)->begin;
  return true;
}

double cutt_product_seconds(const cutt_type_info *type, const cutt_gemm *gemm, double products, int64_t multiprocessors,
                            double flops, double memory) {
  /* What planning expects of a multiprocessor of an H200 (blas/cublas_speed.c). */
  static const double measured_flops = 456e9, measured_half = 5.68e12, us = 1e-6;
  const double sms = fmax(1, (double)multiprocessors);
  const double own = type->type == CUTT_F32 && !is_vector(gemm) ? of_floats(gemm) : 1;
  const double slower = own * (type->bytes == 2 ? measured_half : measured_flops) * sms / flops;
  const product *by = class_of(type, gemm);
  const double tiles = fmin(tiled(by, &by->first, gemm, products, sms), tiled(by, &by->second, gemm, products, sms));
  return us * by->begin + fmax(us * slower * tiles, by->reading * memory);
}
