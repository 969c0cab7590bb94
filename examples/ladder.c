/* Two terms of coupled cluster's T2 equations, beside plain loops: ladder [VIRTUAL OCCUPIED]
 *   particle ladder  D(a,b,i,j) += V(a,b,c,d) * T(c,d,i,j)   a matrix product as it lies
 *   ring             D(a,b,i,j) += V(a,k,c,i) * T(c,b,j,k)   modes have to be brought together first
 * The patterns are as TAL-SH writes them, and "+=" adds to what D holds. Without a BLAS it says so and ends with 77. */
#include <cutt_contract.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* v, o: extents of a, b, c, d and of i, j, k. The innermost loop runs along memory wherever one can. */
static void loops(int ring, int64_t v, int64_t o, const double *V, const double *T, double *D) {
  for (int64_t j = 0; j < o; ++j)
    for (int64_t i = 0; i < o; ++i)
      for (int64_t b = 0; b < v; ++b)
        for (int64_t last = 0; last < (ring ? o : v); ++last)
          for (int64_t c = 0; c < v; ++c) {
            const double t = ring ? T[c + v * (b + v * (j + o * last))] : T[c + v * (last + v * (i + o * j))];
            const double *column = ring ? V + v * (last + o * (c + v * i)) : V + v * (b + v * (c + v * last));
            double *out = D + v * (b + v * (i + o * j));
            for (int64_t a = 0; a < v; ++a) out[a] += column[a] * t;
          }
}

int main(int argc, char **argv) {
  const int64_t v = argc > 2 ? atoi(argv[1]) : 48, o = argc > 2 ? atoi(argv[2]) : 10;
  static const char *const pattern[2] = {"D(a,b,i,j)+=V(a,b,c,d)*T(c,d,i,j)", "D(a,b,i,j)+=V(a,k,c,i)*T(c,b,j,k)"};
  const int64_t V_extents[2][4] = {{v, v, v, v}, {v, o, v, o}}, T_extents[4] = {v, v, o, o};
  const size_t size = (size_t)(v * v * o * o);
  double *V = malloc((size_t)(v * v * v * v) * sizeof *V), *T = malloc(size * sizeof *T);
  double *D = calloc(size, sizeof *D), *wanted = calloc(size, sizeof *wanted);
  int status = v < o || o < 1 || !V || !T || !D || !wanted;
  for (int64_t i = 0; !status && i < v * v * v * v; ++i) V[i] = sin((double)i);
  for (size_t i = 0; !status && i < size; ++i) T[i] = cos((double)i);
  for (int ring = 0; ring < 2 && !status; ++ring) {
    cuttContraction_t term = CUTT_CONTRACTION_INIT;
    term.pattern = pattern[ring], term.type = CUTT_F64;
    term.left_rank = term.right_rank = term.result_rank = 4;
    term.left_extents = V_extents[ring], term.right_extents = T_extents;
    cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
    options.backend = CUTT_BACKEND_CPU, options.threads = 1; /* as the loops */
    cuttContractionPlan_t plan = NULL;
    const cuttResult_t made = cuttContractionPlanCreate(&plan, &term, &options);
    const double start = now();
    if (made || cuttContractionExecute(plan, V, T, D, NULL, 0, NULL)) {
      fprintf(stderr, "%s: %s\n", pattern[ring], cuttLastError());
      status = made == CUTT_INVALID_DEVICE ? 77 : 1;
    } else {
      const double flops = 2e-9 * (double)size * (double)(ring ? v * o : v * v), middle = now();
      loops(ring, v, o, V, T, wanted);
      const double end = now();
      for (size_t i = 0; i < size; ++i) status |= !(fabs(D[i] - wanted[i]) < 1e-9);
      printf("%s  loops %6.1f, cuTT %6.1f GFLOP/s: %.1f times as fast%s\n", pattern[ring], flops / (end - middle),
             flops / (middle - start), (end - middle) / (middle - start), status ? ", and WRONG" : "");
    }
    cuttContractionPlanDestroy(plan);
  }
  free(V), free(T), free(D), free(wanted);
  return status;
}
