/* What cuBLAS takes for small products of batches, and for halves that are not aligned (product_speed.h).
 *
 * A product of a batch is computed in tiles of a fixed extent, however much of a tile there is, so that 4 x 4 results take as long as 32 x 32 do,
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
  return true;
}

double cutt_batched_sum_seconds(const cutt_gemm *gemm) {
  static const double of_matrix = 7e-9, of_vector = 1.2e-9; /* 6 to 9, and 0.5 to 2 as measured, of all types */
  return (gemm->m > 1 && gemm->n > 1 ? of_matrix : of_vector) * (double)gemm->k;
}

/* ------------------------------------------------------------------------------------------- large products of half types */

/* What a launch takes beside its tiles; a tile of a multiprocessor, and each of its terms; times as long as memory takes. As measured on an
 * H200 of 4500 products of contractions drawn at random, 2 to a million rows, columns and terms: |ln(predicted / measured)| 0.2 in the mean. */
typedef struct single {
  double extent, begin, tile, term, reading;
} single;

static const single even = {128, 7.5e-6, 1.79e-6, 20.9e-9, 1.9}, even_narrow = {32, 8.5e-6, 0.15e-6, 1.9e-9, 1.6},
                    odd = {64, 7.2e-6, 0.56e-6, 9.6e-9, 2.7};

double cutt_unaligned_halves_seconds(const cutt_type_info *type, const cutt_gemm *gemm, double products,
                                     int64_t multiprocessors, double memory) {
  enum { NARROW = 64, PART = 300 };
  const int64_t columns = gemm->lda | gemm->ldb | gemm->ldc, least = gemm->m < gemm->n ? gemm->m : gemm->n;
  if (type->bytes != 2 || columns % 8 == 0 || least < 2 || multiprocessors < 1) return 0;
  const single *by = columns % 2 ? &odd : least > NARROW ? &even : &even_narrow;
  const double sms = (double)multiprocessors, k = (double)gemm->k;
  const double tiles = products * ceil((double)gemm->m / by->extent) * ceil((double)gemm->n / by->extent);
  /* Long sums of one product are shared among multiprocessors that would have nothing to do. */
  const double parts = products > 1 ? 1 : fmax(1, fmin(ceil(k / PART), sms / tiles)),
               turns = fmax(1, tiles * parts / sms);
  return by->begin + fmax(turns * (by->tile + by->term * k / parts), memory * by->reading);
}
