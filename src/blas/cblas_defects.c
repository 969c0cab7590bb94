/* What releases of BLAS libraries read past the ends of their operands.
 *
 * None uses what it reads there, but where nothing is mapped behind the operand, the process ends: an operand in a mapped
 * file or in shared memory often ends with its last page. cblas_copy.c copies such ends for the releases in this table.
 *
 * Each row has a call that shows the defect, with packed operands, one of which lies at the end of a page with nothing mapped
 * behind it. tests/host/test_page_ends.c does these calls directly, where there is such a release, and through
 * libcutt_contract. */
#include <stdio.h>
#include <string.h>

#include "blas/cblas.h"

static const cutt_cblas_defect defects[] = {
    /* zgemv_n and cgemv_n load the vector's next element beforehand: GCC 12 vectorises the loop so. Issue 4013; without
     * vectorising since 0.3.24. Every x86 kernel has it in C32, those from Sandybridge on in C64. */
    {"openblas",
     {0, 3, 24},
     CUTT_C32,
     true,
     {.columns = {0, 1, 0}},
     {.op_a = CUTT_OP_N, .op_b = CUTT_OP_T, .m = 2, .n = 1, .k = 1, .lda = 2, .ldb = 2, .ldc = 2},
     1},
    {"openblas",
     {0, 3, 24},
     CUTT_C64,
     true,
     {.columns = {0, 1, 0}},
     {.op_a = CUTT_OP_N, .op_b = CUTT_OP_T, .m = 2, .n = 1, .k = 1, .lda = 2, .ldb = 2, .ldc = 2},
     1},
    /* The haswell and zen kernels for small products: sgemmsup_rd_1x16n reads a row of A more (a column of what is stored as
     * B, since the product is done transposed), issue 821; and 6x2m whole vectors of C where it writes half ones, issue 635. */
    {"blis",
     {1, 1, 0},
     CUTT_F32,
     false,
     {.columns = {0, 1, 0}},
     {.op_a = CUTT_OP_T, .op_b = CUTT_OP_N, .m = 16, .n = 4, .k = 2, .lda = 2, .ldb = 2, .ldc = 16},
     1},
    {"blis",
     {1, 0, 0},
     CUTT_F32,
     false,
     {.elements = {0, 0, 2}},
     {.op_a = CUTT_OP_N, .op_b = CUTT_OP_N, .m = 2, .n = 2, .k = 1, .lda = 2, .ldb = 1, .ldc = 2},
     2},
    /* Issue 460, and in cgemm the penryn kernels. */
    {"blis",
     {0, 9, 0},
     CUTT_F64,
     false,
     {.columns = {1, 1, 0}},
     {.op_a = CUTT_OP_N, .op_b = CUTT_OP_N, .m = 6, .n = 7, .k = 1, .lda = 6, .ldb = 1, .ldc = 6},
     1},
    {"blis",
     {0, 9, 0},
     CUTT_C32,
     false,
     {.elements = {0, 0, 1}},
     {.op_a = CUTT_OP_T, .op_b = CUTT_OP_C, .m = 108, .n = 36, .k = 356, .lda = 356, .ldb = 36, .ldc = 121},
     2},
};

const cutt_cblas_defect *cutt_cblas_defects(int *count) {
  *count = sizeof defects / sizeof *defects;
  return defects;
}

/* Is the version, "0.3.21" and more, that of a release before another? False where it has no numbers. */
static bool is_before(const char *version, const int other[3]) {
  int number[3] = {0, 0, 0};
  if (sscanf(version, "%d.%d.%d", &number[0], &number[1], &number[2]) < 2) return false;
  for (int i = 0; i < 3; ++i)
    if (number[i] != other[i]) return number[i] < other[i];
  return false;
}

int cutt_cblas_type(cuttType_t type) { return type == CUTT_F32 ? 0 : type == CUTT_F64 ? 1 : type == CUTT_C32 ? 2 : 3; }

bool cutt_cblas_has(const cutt_cblas *library, const cutt_cblas_defect *defect) {
  return strcmp(library->base.name, defect->library) == 0 && is_before(library->base.version, defect->before);
}

void cutt_cblas_find_defects(cutt_cblas *library) {
  for (size_t i = 0; i < sizeof defects / sizeof *defects; ++i) {
    const cutt_cblas_defect *d = &defects[i];
    if (!cutt_cblas_has(library, d)) continue;
    const int type = cutt_cblas_type(d->type);
    cutt_overread *known = &library->past[d->vector][type];
    for (int o = 0; o < 3; ++o) {
      if (d->past.columns[o] > known->columns[o]) known->columns[o] = d->past.columns[o];
      if (d->past.elements[o] > known->elements[o]) known->elements[o] = d->past.elements[o];
    }
    library->reads_past[type] = true;
  }
}
