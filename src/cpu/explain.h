/* See cutt_backend.methods->explain. */
#ifndef CUTT_CPU_EXPLAIN_H
#define CUTT_CPU_EXPLAIN_H

#include "plan/backend.h"

void cutt_cpu_explain(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                      cutt_explanation *explanation);

#endif
