/* What the subcommands that contract share: element types by NumPy's names, reading a pattern, a contraction in NumPy's
 * order as the library wants it, the words of refusals, and the library's descriptions. */
#ifndef CUTT_CLI_CONTRACTION_H
#define CUTT_CLI_CONTRACTION_H

#include "cli.h"
#include "cutt_contract.h"
#include "describe.h"

/* The tensors, in the order in which the library has them. */
enum { CUTT_CLI_LEFT, CUTT_CLI_RIGHT, CUTT_CLI_RESULT, CUTT_CLI_TENSORS };

/* ------------------------------------------------------------------------------------------------------------ types */

/* What can be contracted. */
typedef struct cutt_cli_number {
  const char *name; /* NumPy's, without a byte order: "f8" */
  cuttType_t type;
  int bytes; /* of an element */
  int word;  /* bytes of what a byte order is of: the element, or the half of a complex one */
  bool complex;
} cutt_cli_number;

/* By name; NULL when it is none of them, which CUTT_CLI_NUMBERS lists. */
const cutt_cli_number *cutt_cli_number_find(const char *name);
#define CUTT_CLI_NUMBERS "f2, f4, f8, c8 or c16"

/* ---------------------------------------------------------------------------------------------------------- pattern */

enum { CUTT_CLI_LABELS = 3 * CUTT_MAX_RANK, CUTT_CLI_OPERANDS_TEXT = 544 };

/* Which mode is which: label[t][i] is the number of the label that mode i of tensor t has, in the order of the text. */
typedef struct cutt_cli_pattern {
  int rank[CUTT_CLI_TENSORS];
  int label[CUTT_CLI_TENSORS][CUTT_MAX_RANK];
  int labels;
} cutt_cli_pattern;

/* Reads "ab,bc->ac" or "D(a,c)+=L(a,b)*R(b,c)", or with one operand "abb->a" or "D(a)+=L(a,b,b)". False for a text that is no pattern; the library knows in what way.
 * That a pattern makes sense (the result's letters are in the operands, say) is left to the library too. */
bool cutt_cli_pattern_read(const char *text, cutt_cli_pattern *pattern);

/* ------------------------------------------------------------------------------------------------------- contraction */

/* In NumPy's order: letter i of a group is axis i of that array. The library's order is the reverse, but with
 * strides given it takes any; so the user's text goes to it as it is, and the places in its errors are the user's. */
typedef struct cutt_cli_contraction {
  const char *pattern;
  const char *name[CUTT_CLI_TENSORS]; /* of the arrays, in messages: "A.npy"; NULL: there is no right operand */
  const cutt_cli_number *number;
  int rank[CUTT_CLI_TENSORS];
  int64_t shape[CUTT_CLI_TENSORS][CUTT_MAX_RANK];
  /* In elements. */
  int64_t strides[CUTT_CLI_TENSORS][CUTT_MAX_RANK];
  bool scaled;              /* alpha and beta are given */
  double alpha[2], beta[2]; /* real and imaginary part */
} cutt_cli_contraction;

/* The strides of a packed array, the last axis being the fastest, or in Fortran order the first. */
void cutt_cli_packed_strides(const int64_t *shape, int rank, bool fortran_order, int64_t *strides);

/* The rank, shape and strides of the result, from the pattern and the operands, and whether the operands have as many
 * axes as the pattern gives them. A pattern that is no pattern leaves a result of rank 0: planning says what is wrong
 * with it. False after a message of wrong usage. */
bool cutt_cli_contraction_result(const char *command, cutt_cli_contraction *contraction);

/* Plans it; an exit code, with *plan NULL and a message given unless it is CUTT_CLI_DONE. Refusals of the problem are
 * wrong usage; that there is no library for it is a failure. */
int cutt_cli_contraction_plan(const char *command, const cutt_cli_contraction *contraction,
                              const cuttContractionOptions_t *options, cuttContractionPlan_t *plan);

/* The library's description for a person, whole; the caller frees it. NULL after a message. */
char *cutt_cli_contraction_text(cuttContractionPlan_t plan);

/* The description as an object, with NumPy's view of the problem added as "numpy". NULL after a message. */
json_t *cutt_cli_contraction_json(cuttContractionPlan_t plan, const cutt_cli_contraction *contraction);

/* "NumPy order: ab,bc->ac, (2, 3) and (3, 4) -> (2, 4), dtype f8." into a buffer, which it returns. */
const char *cutt_cli_contraction_words(const cutt_cli_contraction *contraction, char *buffer, size_t size);

/* "(2, 3) and (3, 4)": the operands' shapes, into a buffer, which it returns. */
const char *cutt_cli_contraction_operands(const cutt_cli_contraction *contraction, char *buffer, size_t size);

/* "left and result", "nothing": the tensors that a plan permutes. */
const char *cutt_cli_permuted(const cuttContractionInfo_t *info);

#endif
