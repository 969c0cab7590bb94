/* Between describe.c, which answers the calls, the files that write text and JSON, and terms.c, which these and drawings use. */
#ifndef CUTT_DESCRIBE_DESCRIBE_H
#define CUTT_DESCRIBE_DESCRIBE_H

#include "plan/plan.h"

/* A plan's candidates, with the choice among them. */
enum { CUTT_LISTED = CUTT_MAX_CANDIDATES + 1 };
typedef struct cutt_listing {
  cutt_candidate list[CUTT_LISTED];
  int count, chosen;
} cutt_listing;

/* A term of a candidate's time, by the backend's own model: its part of the whole, what hides it counted (target.h). */
typedef struct cutt_term {
  const cutt_parameter *parameter;
  double seconds;
} cutt_term;

/* What the backend says of a candidate; all 0 when the problem has no elements. */
void cutt_describe_explain(const struct cuttPlanStruct *plan, const cutt_candidate *candidate,
                           cutt_explanation *explanation);

/* The terms that are not 0, the largest first. Returns how many; *sum: all of them. */
int cutt_describe_terms(const struct cuttPlanStruct *plan, const cutt_explanation *explanation,
                        cutt_term list[CUTT_TERMS], double *sum);

/* GB/s that a number of seconds makes; 0 when the time is not known. */
double cutt_describe_rate(const struct cuttPlanStruct *plan, double seconds);

void cutt_describe_text(const struct cuttPlanStruct *plan, const cutt_listing *listing, cutt_text *text);
void cutt_describe_json(const struct cuttPlanStruct *plan, const cutt_listing *listing, cutt_text *text);

#endif
