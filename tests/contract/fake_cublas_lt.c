/* A stand-in for cuBLASLt (fake_cublas_lt.h), by the names and numbers of its header. */
#include "contract/fake_cublas_lt.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/fake_driver.h"

#define PUBLIC __attribute__((visibility("default")))
#define FUNCTION(result, name, parameters)                                                                             \
  PUBLIC result name parameters;                                                                                       \
  PUBLIC result name parameters

static fake_cublas_lt_t control;

enum { ALLOCATION_FAILED = 3 };

typedef struct layout {
  int type;
  int64_t rows, columns, ld, stride;
  int32_t batch;
} layout;

typedef struct operation {
  int compute, scalars;
  int32_t op_a, op_b;
} operation;

typedef struct preferences {
  uint64_t workspace;
  uint32_t reductions, alignment[4];
} preferences;

typedef struct algorithm {
  uint64_t data[8];
} algorithm;

typedef struct result {
  algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} result;

static int make(void **to, size_t bytes) {
  *to = NULL;
  if (control.fail_create) return control.fail_create;
  *to = calloc(1, bytes);
  if (!*to) return ALLOCATION_FAILED;
  atomic_fetch_add(&control.alive, 1);
  return 0;
}

static int end(void *it) {
  atomic_fetch_sub(&control.alive, 1);
  free(it);
  return 0;
}

/* An attribute of exactly these bytes. */
static int set(void *to, size_t size, const void *value, size_t bytes) {
  if (bytes != size) return FAKE_INVALID_VALUE;
  memcpy(to, value, size);
  return 0;
}

FUNCTION(size_t, cublasLtGetVersion, (void)) { return control.version ? control.version : 120804; }

/* One for all threads at once. */
FUNCTION(int, cublasLtCreate, (struct cublasContext * *handle)) {
  static struct cublasContext made;
  *handle = NULL;
  if (control.fail_handle) return control.fail_handle;
  *handle = &made;
  atomic_fetch_add(&control.handles, 1);
  return 0;
}

FUNCTION(int, cublasLtMatrixLayoutCreate, (layout * *to, int type, uint64_t rows, uint64_t columns, int64_t ld)) {
  const int status = make((void **)to, sizeof **to);
  if (!status) **to = (layout){type, (int64_t)rows, (int64_t)columns, ld, 0, 1};
  return status;
}
FUNCTION(int, cublasLtMatrixLayoutDestroy, (layout * it)) { return end(it); }
FUNCTION(int, cublasLtMatrixLayoutSetAttribute, (layout * it, int attribute, const void *value, size_t bytes)) {
  if (attribute == 5) return set(&it->batch, sizeof it->batch, value, bytes);
  if (attribute == 6) return set(&it->stride, sizeof it->stride, value, bytes);
  return FAKE_INVALID_VALUE;
}

FUNCTION(int, cublasLtMatmulDescCreate, (operation * *to, int compute, int scalars)) {
  const int status = make((void **)to, sizeof **to);
  if (!status) **to = (operation){compute, scalars, 0, 0};
  return status;
}
FUNCTION(int, cublasLtMatmulDescDestroy, (operation * it)) { return end(it); }
FUNCTION(int, cublasLtMatmulDescSetAttribute, (operation * it, int attribute, const void *value, size_t bytes)) {
  if (attribute == 3) return set(&it->op_a, sizeof it->op_a, value, bytes);
  if (attribute == 4) return set(&it->op_b, sizeof it->op_b, value, bytes);
  return FAKE_INVALID_VALUE;
}

FUNCTION(int, cublasLtMatmulPreferenceCreate, (preferences * *to)) {
  const int status = make((void **)to, sizeof **to);
  if (!status) **to = (preferences){0, 7, {256, 256, 256, 256}};
  return status;
}
FUNCTION(int, cublasLtMatmulPreferenceDestroy, (preferences * it)) { return end(it); }
FUNCTION(int, cublasLtMatmulPreferenceSetAttribute,
         (preferences * it, int attribute, const void *value, size_t bytes)) {
  if (attribute == 1) return set(&it->workspace, sizeof it->workspace, value, bytes);
  if (attribute == 3) return set(&it->reductions, sizeof it->reductions, value, bytes);
  if (attribute >= 5 && attribute <= 8)
    return set(&it->alignment[attribute - 5], sizeof it->alignment[0], value, bytes);
  return FAKE_INVALID_VALUE;
}

static fake_product product_of(const operation *o, const layout *a, const layout *b, const layout *c) {
  return (fake_product){.op_a = o->op_a,
                        .op_b = o->op_b,
                        .m = c->rows,
                        .n = c->columns,
                        .k = o->op_a == 0 ? a->columns : a->rows,
                        .type_a = a->type,
                        .lda = a->ld,
                        .stride_a = a->stride,
                        .type_b = b->type,
                        .ldb = b->ld,
                        .stride_b = b->stride,
                        .type_c = c->type,
                        .ldc = c->ld,
                        .stride_c = c->stride,
                        .batch = c->batch,
                        .compute = o->compute};
}

/* The algorithm of this number for a product: words that use all 64 bits, and no two products have in common. */
static algorithm algorithm_of(const fake_product *p, int number, uint32_t alignment) {
  const int64_t all[] = {p->op_a, p->op_b,   p->m,     p->n,        p->k,        p->lda,     p->ldb,
                         p->ldc,  p->type_c, p->batch, p->stride_a, p->stride_b, p->stride_c};
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) hash = (hash ^ (uint64_t)all[i]) * UINT64_C(1099511628211);
  return (algorithm){{(uint64_t)number, hash, alignment, 0, UINT64_MAX}};
}

FUNCTION(int, cublasLtMatmulAlgoGetHeuristic,
         (struct cublasContext * h, operation *o, layout *a, layout *b, layout *c, layout *d, preferences *p, int most,
          result *list, int *count)) {
  (void)h;
  *count = 0;
  control.most_workspace = p->workspace;
  control.reductions = p->reductions;
  control.alignment = p->alignment[0];
  if (control.fail_list) return control.fail_list;
  if (c != d || a->batch != c->batch || b->batch != c->batch) return FAKE_INVALID_VALUE;
  const fake_product product = product_of(o, a, b, c);
  const int status = fake_product_check(&product);
  if (status) return status;
  for (int i = 1; i < 4; ++i)
    if (p->alignment[i] != p->alignment[0]) return FAKE_INVALID_VALUE;
  for (int i = 0; i < control.count && *count < most; ++i) {
    if (control.workspace[i] > p->workspace || control.aligned[i] > p->alignment[0]) continue;
    list[(*count)++] = (result){.algorithm = algorithm_of(&product, i, p->alignment[0]),
                                .workspace = control.workspace[i],
                                .state = control.state[i]};
  }
  return *count ? 0 : FAKE_NOT_SUPPORTED;
}

FUNCTION(int, cublasLtMatmulAlgoConfigGetAttribute,
         (const algorithm *it, int attribute, void *value, size_t bytes, size_t *written)) {
  const int32_t number = control.config[it->data[0]] + 100 * attribute;
  const uint16_t narrow = (uint16_t)number;
  *written = attribute < 7 ? sizeof number : sizeof narrow;
  if (attribute < 0 || attribute > 8 || bytes != *written) return FAKE_INVALID_VALUE;
  memcpy(value, attribute < 7 ? (const void *)&number : &narrow, bytes);
  return 0;
}

FUNCTION(int, cublasLtMatmul,
         (struct cublasContext * h, operation *o, const void *alpha, const void *a, layout *la, const void *b,
          layout *lb, const void *beta, const void *c, layout *lc, void *d, layout *ld, const algorithm *by,
          void *workspace, size_t bytes, cudaStream_t stream)) {
  if (control.fail_multiply) return control.fail_multiply;
  if (!h || c != d || lc != ld) return FAKE_INVALID_VALUE;
  fake_product p = product_of(o, la, lb, lc);
  p.alpha = alpha;
  p.beta = beta;
  p.a = a;
  p.b = b;
  p.c = d;
  const int number = (int)by->data[0];
  const uintptr_t addresses = (uintptr_t)a | (uintptr_t)b | (uintptr_t)d;
  if (number < 0 || number >= control.count || control.state[number]) return FAKE_INVALID_VALUE;
  const algorithm right = algorithm_of(&p, number, (uint32_t)by->data[2]);
  const bool fault = memcmp(&right, by, sizeof right) != 0 || addresses % by->data[2] ||
                     bytes < control.workspace[number] || (uintptr_t)workspace % 256 || (bytes && !workspace);
  if (fault) atomic_fetch_add(&control.faults, 1);
  if (fault) return FAKE_INVALID_VALUE;
  if (control.fills_workspace && bytes) memset(workspace, 0xab, bytes);
  control.last = number;
  control.last_workspace = workspace;
  control.batch = p.batch;
  control.stream = stream;
  control.data = p.type_c;
  control.compute = p.compute;
  control.scalars = o->scalars;
  atomic_fetch_add(&control.products, 1);
  if (stream) stream->clock += control.seconds[number];
  fake_product_do(&p, stream, control.later);
  return 0;
}

FUNCTION(fake_cublas_lt_t *, fake_cublas_lt, (void)) { return &control; }
