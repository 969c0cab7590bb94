/* See cutt_methods.explain. */
#ifndef CUTT_CPU_EXPLAIN_H
#define CUTT_CPU_EXPLAIN_H

#include "model/method.h"

void cutt_cpu_explain(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                      cutt_explanation *explanation);

#endif
