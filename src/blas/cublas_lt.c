/* The algorithms that cuBLASLt has for a product, to be chosen from.
 *
 * cuBLAS chooses an algorithm by itself, by a heuristic. cuBLASLt, which every cuBLAS is linked with, gives the best few of that
 * heuristic, and does products by the one that it is told. An algorithm's workspace is the caller's, and a call names its stream, so that
 * one handle of a context serves all threads: a product takes the host less time than by cuBLAS, whose handles have to be bound to a
 * stream and kept from others.
 *
 * **Numbers.** Products are computed as cublas.c has them computed: never in TF32; and of halves no parts of a sum are kept in
 * half, so that algorithms which do so are not listed.
 *
 * **Words.** An algorithm is kept as the numbers of its configuration, and not as cuBLASLt's own 64 bytes, which differ from process
 * to process for some. Numbers from a file are never given to the library: the list is asked for again, and the algorithm in it is
 * taken that has them.
 *
 * **Addresses.** The list is asked for addresses that are multiples of a number of bytes, and a product at others is not done by
 * its algorithms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "blas/cublas.h"
#include "blas/load.h"
#include "plan/services.h"

typedef struct lt_description *lt_operation;
typedef struct lt_matrix *lt_layout;
typedef struct lt_preference *lt_preferences;

typedef struct lt_algorithm {
  uint64_t data[8];
} lt_algorithm;

/* cublasLtMatmulHeuristicResult_t */
typedef struct lt_result {
  lt_algorithm algorithm;
  size_t workspace;
  cublas_status state; /* the rest is only valid where this is 0 */
  float waves;
  int reserved[4];
} lt_result;

enum { LAYOUT_BATCH = 5, LAYOUT_STRIDE = 6 }; /* cublasLtMatrixLayoutAttribute_t */
enum { OPERATION_A = 3, OPERATION_B = 4 };    /* cublasLtMatmulDescAttributes_t */
enum {
  PREFER_WORKSPACE = 1,
  PREFER_REDUCTIONS = 3,
  PREFER_ALIGNMENT_A = 5
};                                                   /* ..PreferenceAttributes_t; then of B, C, D */
enum { REDUCE_IN_COMPUTE_TYPE = 2, REDUCE_ANY = 7 }; /* cublasLtReductionScheme_t */
/* cublasLtMatmulAlgoConfigAttributes_t, by its numbers, and their bytes: id, tile, parts of the sum, reduction, swizzling, custom
 * option, stages, and since 11.8 inner shape and cluster. */
enum { CONFIG_ID, CONFIG_TILE, CONFIG_PARTS, CONFIG_STAGES = 6, CONFIGS = 9 };
static const size_t config_bytes[CONFIGS] = {4, 4, 4, 4, 4, 4, 4, 2, 2};
/* Of an algorithm's words: the version, how many before it in the list have the same configuration, and that. */
enum { WORD_VERSION, WORD_ALIKE, WORD_CONFIG };
_Static_assert((int)WORD_CONFIG + (int)CONFIGS == (int)CUTT_GEMM_WORDS, "the words of an algorithm");

struct cublas_lt {
  size_t (*version)(void);
  cublas_status (*create)(cublas_handle *handle);
  cublas_status (*layout_create)(lt_layout *layout, int type, uint64_t rows, uint64_t columns, int64_t ld);
  cublas_status (*layout_destroy)(lt_layout layout);
  cublas_status (*layout_set)(lt_layout layout, int attribute, const void *value, size_t bytes);
  cublas_status (*operation_create)(lt_operation *operation, int compute, int scalars);
  cublas_status (*operation_destroy)(lt_operation operation);
  cublas_status (*operation_set)(lt_operation operation, int attribute, const void *value, size_t bytes);
  cublas_status (*preferences_create)(lt_preferences *preferences);
  cublas_status (*preferences_destroy)(lt_preferences preferences);
  cublas_status (*preferences_set)(lt_preferences preferences, int attribute, const void *value, size_t bytes);
  cublas_status (*heuristic)(cublas_handle handle, lt_operation operation, lt_layout a, lt_layout b, lt_layout c,
                             lt_layout d, lt_preferences preferences, int most, lt_result *list, int *count);
  cublas_status (*config)(const lt_algorithm *algorithm, int attribute, void *value, size_t bytes, size_t *written);
  cublas_status (*multiply)(cublas_handle handle, lt_operation operation, const void *alpha, const void *a,
                            lt_layout layout_a, const void *b, lt_layout layout_b, const void *beta, const void *c,
                            lt_layout layout_c, void *d, lt_layout layout_d, const lt_algorithm *algorithm,
                            void *workspace, size_t bytes, cudaStream_t stream);
};

/* A product as cuBLASLt has it described. */
typedef struct product {
  lt_operation operation;
  lt_layout a, b, c;
} product;

typedef struct chosen {
  cutt_gemm_chosen base;
  cublas_handle handle;
  product product;
  lt_algorithm algorithm;
} chosen;

const cublas_lt *cutt_cublas_lt_find(void *library) {
  cublas_lt *lt = calloc(1, sizeof *lt);
  if (!lt) return NULL;
  const struct {
    const char *name;
    void *function;
  } needed[] = {{"cublasLtGetVersion", &lt->version},
                {"cublasLtCreate", &lt->create},
                {"cublasLtMatrixLayoutCreate", &lt->layout_create},
                {"cublasLtMatrixLayoutDestroy", &lt->layout_destroy},
                {"cublasLtMatrixLayoutSetAttribute", &lt->layout_set},
                {"cublasLtMatmulDescCreate", &lt->operation_create},
                {"cublasLtMatmulDescDestroy", &lt->operation_destroy},
                {"cublasLtMatmulDescSetAttribute", &lt->operation_set},
                {"cublasLtMatmulPreferenceCreate", &lt->preferences_create},
                {"cublasLtMatmulPreferenceDestroy", &lt->preferences_destroy},
                {"cublasLtMatmulPreferenceSetAttribute", &lt->preferences_set},
                {"cublasLtMatmulAlgoGetHeuristic", &lt->heuristic},
                {"cublasLtMatmulAlgoConfigGetAttribute", &lt->config},
                {"cublasLtMatmul", &lt->multiply}};
  /* In the libraries that cuBLAS depends on too: so it is of the same release. */
  for (size_t i = 0; i < sizeof needed / sizeof *needed; ++i) {
    if (cutt_library_find(library, needed[i].name, needed[i].function)) continue;
    cutt_log(CUTT_LOG_INFO, "cuBLAS has no %s: its algorithms can't be chosen from", needed[i].name);
    free(lt);
    return NULL;
  }
  return lt;
}

/* ------------------------------------------------------------------------------------------------------- descriptions */

static cublas_status make_layout(const cublas_lt *lt, int type, int64_t rows, int64_t columns, int64_t ld,
                                 int64_t batch, int64_t stride, lt_layout *layout) {
  const int32_t count = (int32_t)batch;
  cublas_status status = lt->layout_create(layout, type, (uint64_t)rows, (uint64_t)columns, ld);
  if (status || batch == 1) return status;
  status = lt->layout_set(*layout, LAYOUT_BATCH, &count, sizeof count);
  return status ? status : lt->layout_set(*layout, LAYOUT_STRIDE, &stride, sizeof stride);
}

/* Scalars are of the type that sums are in. cublasOperation_t is as cutt_op. */
static cublas_status describe(const cublas_lt *lt, const cutt_gemm_case *of, product *p) {
  const cublas_types types = cutt_cublas_types_of(of->type);
  const cutt_gemm *g = &of->gemm;
  const bool half = of->type == CUTT_F16 || of->type == CUTT_BF16;
  const int32_t op_a = (int32_t)g->op_a, op_b = (int32_t)g->op_b;
  const bool as_is_a = g->op_a == CUTT_OP_N, as_is_b = g->op_b == CUTT_OP_N;
  *p = (product){NULL, NULL, NULL, NULL};
  cublas_status status =
      lt->operation_create(&p->operation, types.compute, half ? cutt_cublas_types_of(CUTT_F32).data : types.data);
  if (!status) status = lt->operation_set(p->operation, OPERATION_A, &op_a, sizeof op_a);
  if (!status) status = lt->operation_set(p->operation, OPERATION_B, &op_b, sizeof op_b);
  if (!status)
    status =
        make_layout(lt, types.data, as_is_a ? g->m : g->k, as_is_a ? g->k : g->m, g->lda, g->batch, g->stride_a, &p->a);
  if (!status)
    status =
        make_layout(lt, types.data, as_is_b ? g->k : g->n, as_is_b ? g->n : g->k, g->ldb, g->batch, g->stride_b, &p->b);
  return status ? status : make_layout(lt, types.data, g->m, g->n, g->ldc, g->batch, g->stride_c, &p->c);
}

static void end(const cublas_lt *lt, const product *p) {
  if (p->operation) lt->operation_destroy(p->operation);
  if (p->a) lt->layout_destroy(p->a);
  if (p->b) lt->layout_destroy(p->b);
  if (p->c) lt->layout_destroy(p->c);
}

static cublas_status set_preferences(const cublas_lt *lt, const cutt_gemm_case *of, lt_preferences preferences) {
  const bool half = of->type == CUTT_F16 || of->type == CUTT_BF16;
  const uint64_t workspace = of->workspace;
  const uint32_t reductions = half ? REDUCE_IN_COMPUTE_TYPE : REDUCE_ANY, alignment = (uint32_t)of->alignment;
  cublas_status status = lt->preferences_set(preferences, PREFER_WORKSPACE, &workspace, sizeof workspace);
  if (!status) status = lt->preferences_set(preferences, PREFER_REDUCTIONS, &reductions, sizeof reductions);
  for (int i = 0; i < 4 && !status; ++i)
    status = lt->preferences_set(preferences, PREFER_ALIGNMENT_A + i, &alignment, sizeof alignment);
  return status;
}

/* The first `most` of the heuristic, without those that can't be used. A layout that it has none for is no failure. */
static int ask(const cublas_lt *lt, cublas_handle handle, const cutt_gemm_case *of, const product *p, int most,
               lt_result list[CUTT_GEMM_ALGORITHMS]) {
  lt_preferences preferences = NULL;
  int found = 0, count = 0;
  memset(list, 0, CUTT_GEMM_ALGORITHMS * sizeof *list);
  cublas_status status = lt->preferences_create(&preferences);
  if (!status) status = set_preferences(lt, of, preferences);
  if (!status) status = lt->heuristic(handle, p->operation, p->a, p->b, p->c, p->c, preferences, most, list, &found);
  if (preferences) lt->preferences_destroy(preferences);
  if (status) {
    cutt_log(CUTT_LOG_INFO, "cuBLASLt lists no algorithms for a product of m = %lld, n = %lld, k = %lld: it says %d",
             (long long)of->gemm.m, (long long)of->gemm.n, (long long)of->gemm.k, status);
    return 0;
  }
  for (int i = 0; i < found && i < most; ++i)
    if (!list[i].state && list[i].workspace <= of->workspace) list[count++] = list[i];
  return count;
}

/* 0 where the release has no such attribute. */
static uint32_t config_of(const cublas_lt *lt, const lt_algorithm *algorithm, int attribute) {
  uint32_t wide = 0;
  uint16_t narrow = 0;
  size_t written = 0;
  const size_t bytes = config_bytes[attribute];
  void *value = bytes == sizeof wide ? (void *)&wide : &narrow;
  if (lt->config(algorithm, attribute, value, bytes, &written)) return 0;
  return bytes == sizeof wide ? wide : narrow;
}

/* The words of number `which` of a list. */
static cutt_gemm_algorithm words_of(const cublas_lt *lt, const lt_result *list, int which) {
  cutt_gemm_algorithm words = {{(uint32_t)lt->version()}};
  uint32_t *config = &words.word[WORD_CONFIG];
  for (int i = 0; i < CONFIGS; ++i) config[i] = config_of(lt, &list[which].algorithm, i);
  for (int before = 0; before < which; ++before) {
    bool alike = true;
    for (int i = 0; i < CONFIGS && alike; ++i) alike = config_of(lt, &list[before].algorithm, i) == config[i];
    words.word[WORD_ALIKE] += alike;
  }
  return words;
}

/* ---------------------------------------------------------------------------------------------------------- the calls */

cublas_status cutt_cublas_lt_handle(const cublas_lt *lt, cublas_handle *handle) { return lt->create(handle); }

/* Its extents are given as integers of 32 bits. */
cuttResult cutt_cublas_lt_list(const cublas_lt *lt, cublas_handle handle, const cutt_gemm_case *of,
                               cutt_gemm_algorithm list[CUTT_GEMM_ALGORITHMS], int *count) {
  lt_result found[CUTT_GEMM_ALGORITHMS];
  product p;
  *count = 0;
  if (!cutt_gemm_fits(&of->gemm)) return CUTT_SUCCESS;
  if (!describe(lt, of, &p)) *count = ask(lt, handle, of, &p, CUTT_GEMM_ALGORITHMS, found);
  end(lt, &p);
  for (int i = 0; i < *count; ++i) list[i] = words_of(lt, found, i);
  return CUTT_SUCCESS;
}

static bool has_words(const cublas_lt *lt, const lt_result *list, int which, const cutt_gemm_algorithm *words) {
  const cutt_gemm_algorithm own = words_of(lt, list, which);
  return memcmp(&own, words, sizeof own) == 0;
}

static void take(const cublas_lt *lt, const lt_result *list, int which, chosen *one) {
  const cutt_gemm_algorithm words = words_of(lt, list, which);
  const uint32_t *config = &words.word[WORD_CONFIG];
  one->algorithm = list[which].algorithm;
  one->base.workspace = list[which].workspace;
  snprintf(one->base.name, sizeof one->base.name, "cublasLt %zu: algorithm %u, tile %u, stages %u, sums in %u parts",
           lt->version(), config[CONFIG_ID], config[CONFIG_TILE], config[CONFIG_STAGES], config[CONFIG_PARTS]);
}

/* *found: there is one. */
static cuttResult choose_of(const cublas_lt *lt, const cutt_gemm_algorithm *algorithm, chosen *one, bool *found) {
  const cutt_gemm_case *of = &one->base.of;
  lt_result list[CUTT_GEMM_ALGORITHMS];
  if (algorithm && algorithm->word[WORD_VERSION] != (uint32_t)lt->version())
    return cutt_error(CUTT_INVALID_PARAMETER, "the algorithm for products is of cuBLASLt %u, and this is %zu",
                      algorithm->word[WORD_VERSION], lt->version());
  const cublas_status status = cutt_gemm_fits(&of->gemm) ? describe(lt, of, &one->product) : 0;
  if (status)
    return cutt_error(CUTT_INTERNAL_ERROR, "describing a product to cuBLASLt %zu failed: it says %d", lt->version(),
                      status);
  const int most = algorithm ? CUTT_GEMM_ALGORITHMS : 1;
  const int count = one->product.c ? ask(lt, one->handle, of, &one->product, most, list) : 0;
  int i = 0;
  while (algorithm && i < count && !has_words(lt, list, i, algorithm)) ++i;
  *found = i < count;
  if (*found) take(lt, list, i, one);
  if (algorithm && !*found)
    return cutt_error(
        CUTT_INVALID_PARAMETER,
        "the algorithm for products is none of the %d that cuBLASLt %zu lists for m = %lld, n = %lld, k = "
        "%lld, with addresses that are multiples of %lld and %zu bytes of workspace",
        count, lt->version(), (long long)of->gemm.m, (long long)of->gemm.n, (long long)of->gemm.k,
        (long long)of->alignment, of->workspace);
  return CUTT_SUCCESS;
}

cuttResult cutt_cublas_lt_choose(const cublas_lt *lt, cublas_handle handle, const cutt_gemm_case *of,
                                 const cutt_gemm_algorithm *algorithm, cutt_gemm_chosen **to) {
  chosen *one = calloc(1, sizeof *one);
  if (!one) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for an algorithm", sizeof *one);
  one->base.of = *of;
  one->handle = handle;
  bool found = false;
  const cuttResult result = choose_of(lt, algorithm, one, &found);
  if (found)
    *to = &one->base;
  else
    cutt_cublas_lt_forget(lt, &one->base);
  return result;
}

void cutt_cublas_lt_forget(const cublas_lt *lt, cutt_gemm_chosen *it) {
  if (!it) return;
  end(lt, &((const chosen *)(const void *)it)->product);
  free(it);
}

cublas_status cutt_cublas_lt_multiply(const cublas_lt *lt, const cutt_gemm_chosen *it, const cutt_gemm_operands *on,
                                      void *workspace, cudaStream_t stream) {
  const chosen *one = (const chosen *)(const void *)it;
  const product *p = &one->product;
  /* An address of no workspace is refused where it is not aligned as one of some would be. */
  if (it->workspace == 0) workspace = NULL;
  return lt->multiply(one->handle, p->operation, on->alpha, on->a, p->a, on->b, p->b, on->beta, on->c, p->c, on->c,
                      p->c, &one->algorithm, workspace, it->workspace, stream);
}
