/* What is found out of a case; see result.h. */
#include "result.h"

#include <stdlib.h>

const int cutt_bench_gain_of[CUTT_BENCH_GAINS] = {1, 2, 4, 8, 12};

double cutt_bench_percent(const cutt_bench_result *result) {
  return result->copy_gbs > 0 ? 100 * result->gbs / result->copy_gbs : 0;
}

bool cutt_bench_has_choice(const cutt_bench_result *result) {
  return !result->error[0] && result->choice.listed > 0 && result->choice.copy_seconds > 0;
}

void cutt_bench_results_free(cutt_bench_result *results, size_t count) {
  for (size_t i = 0; results && i < count; ++i) {
    json_decref(results[i].candidate);
    json_decref(results[i].candidates);
  }
  free(results);
}
