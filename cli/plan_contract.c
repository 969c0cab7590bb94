/* cutt plan --contract: how a contraction would be done: what is permuted, the matrix products, blocks, workspace, and
 * the predicted times, for a person or as JSON. As for permutations, what is printed is the library's own description,
 * under the problem in NumPy's order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contraction.h"
#include "override.h"
#include "plan_contract.h"

static const char me[] = "plan";

static int print_text(cuttContractionPlan_t plan, const cutt_cli_contraction *contraction) {
  char words[2048], header[2304];
  snprintf(header, sizeof header, "%s\nBelow, modes are called by their letters.\n\n",
           cutt_cli_contraction_words(contraction, words, sizeof words));
  char *text = cutt_cli_contraction_text(plan);
  if (!text) return CUTT_CLI_FAILED;
  int code = cutt_cli_print(header);
  if (code == CUTT_CLI_DONE) code = cutt_cli_print(text);
  free(text);
  return code;
}

int cutt_cli_plan_contraction(const cutt_cli_plan_contract *request) {
  cutt_cli_contraction contraction = {.pattern = request->pattern,
                                      .name = {"the first --shape", "the second --shape", "the result"}};
  const char *name = request->dtype;
  if (request->shapes != 1 && request->shapes != 2)
    return cutt_cli_misused(me,
                            "--shape is given %d times; with --contract it must be given for each operand, such as "
                            "--shape 100,200 --shape 200,300",
                            request->shapes);
  if (request->shapes == 1) contraction.name[CUTT_CLI_RIGHT] = NULL;
  if (!name) return cutt_cli_misused(me, "--dtype is missing; it must be given, such as --dtype f8");
  contraction.number = cutt_cli_number_find(name + (*name && strchr("<>|=", *name) ? 1 : 0));
  if (!contraction.number)
    return cutt_cli_misused(me, "--dtype is '%s'; for a contraction it must be " CUTT_CLI_NUMBERS, name);
  for (int t = 0; t < request->shapes; ++t) {
    contraction.rank[t] = request->rank[t];
    memcpy(contraction.shape[t], request->shape[t], sizeof contraction.shape[t]);
    cutt_cli_packed_strides(contraction.shape[t], contraction.rank[t], false, contraction.strides[t]);
  }
  if (!cutt_cli_contraction_result(me, &contraction)) return CUTT_CLI_USAGE;
  cuttContractionOptions_t options = request->options;
  if (!cutt_cli_find_backend(options.backend, &options.backend)) return CUTT_CLI_FAILED;
  cuttContractionPlan_t plan = NULL;
  int code = cutt_cli_contraction_plan(me, &contraction, &options, &plan);
  if (code != CUTT_CLI_DONE) return code;
  cutt_cli_tell_override(&options, request->quiet);
  if (request->json) {
    json_t *object = cutt_cli_contraction_json(plan, &contraction);
    code = object ? cutt_cli_print_json(object) : CUTT_CLI_FAILED;
  } else {
    code = print_text(plan, &contraction);
  }
  cuttContractionPlanDestroy(plan);
  return code;
}
