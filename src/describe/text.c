/* A plan as text for a person. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "describe/describe.h"

enum { ROWS = 12 };                     /* of the table of candidates */
static const double least_share = 0.03; /* of a term that is told by itself */

/* What is lined up in a column is built here first. */
typedef struct cell {
  char at[256];
} cell;

static void add_list(cutt_text *text, const char *between, int count, const int64_t *values) {
  for (int i = 0; i < count; ++i) cutt_text_add(text, "%s%" PRId64, i ? between : "", values[i]);
}

static void add_scalar(cutt_text *text, const char *name, const cutt_type_info *type, const cutt_scalar *scalar) {
  if (type->type == CUTT_I32 || type->type == CUTT_I64) {
    cutt_text_add(text, ", %s %" PRId64, name, scalar->i);
  } else if (type->complex) {
    cutt_text_add(text, ", %s %.9g%+.9gi", name, scalar->re, scalar->im);
  } else {
    cutt_text_add(text, ", %s %.9g", name, scalar->re);
  }
}

static void add_duration(cutt_text *text, double seconds) {
  if (seconds <= 0) {
    cutt_text_add(text, "-");
  } else if (seconds < 1e-3) {
    cutt_text_add(text, "%.3f us", seconds * 1e6);
  } else if (seconds < 1) {
    cutt_text_add(text, "%.3f ms", seconds * 1e3);
  } else {
    cutt_text_add(text, "%.3f s", seconds);
  }
}

static const char *duration(double seconds, cell *c) {
  cutt_text text = cutt_text_start(c->at, sizeof c->at);
  add_duration(&text, seconds);
  return c->at;
}

/* Bytes in KB of 1024. */
static void add_kilobytes(cutt_text *text, int64_t bytes) {
  cutt_text_add(text, bytes < 102400 ? "%.1f KB" : "%.0f KB", (double)bytes / 1024);
}

static const char *plural(int64_t count) { return count == 1 ? "" : "s"; }

/* ---------------------------------------------------------------------------------------------------------- problem */

static void add_problem(const struct cuttPlanStruct *plan, cutt_text *text) {
  const cutt_user_problem *problem = &plan->problem;
  const cutt_canonical *canonical = &plan->canonical;
  const cutt_type_info *type = cutt_type_lookup(problem->type);
  cutt_text_add(text, "problem     rank %d, %s elements of %d byte%s, %" PRId64 " bytes moved\n", problem->rank,
                type->name, type->bytes, plural(type->bytes), cutt_bytes_moved(canonical));
  if (problem->rank > 0) {
    cutt_text_add(text, "  extents     ");
    add_list(text, " x ", problem->rank, problem->extents);
    cutt_text_add(text, "   (stride-1 mode first)\n  permutation ");
    for (int i = 0; i < problem->rank; ++i) cutt_text_add(text, "%s%d", i ? " " : "", problem->perm[i]);
    cutt_text_add(text, "   (input modes in the order of the output)\n");
  }
  if (problem->in_strided) {
    cutt_text_add(text, "  in strides  ");
    add_list(text, " ", problem->rank, problem->in_strides);
    cutt_text_add(text, "\n");
  }
  if (problem->out_strided) {
    cutt_text_add(text, "  out strides ");
    add_list(text, " ", problem->rank, problem->out_strides);
    cutt_text_add(text, "\n");
  }
  if (canonical->scale.active) {
    cutt_text_add(text, "  out = alpha * %s%s", canonical->scale.conjugate ? "conj(in)" : "in",
                  canonical->scale.reads_out ? " + beta * out" : "");
    add_scalar(text, "alpha", type, &canonical->scale.alpha);
    if (canonical->scale.reads_out) add_scalar(text, "beta", type, &canonical->scale.beta);
    cutt_text_add(text, "\n");
  }
}

static void add_canonical(const cutt_canonical *canonical, cutt_text *text) {
  cutt_text_add(text, "\ncanonical   rank %d, elements of %d byte%s, %" PRId64 " of them%s\n", canonical->rank,
                canonical->elem_bytes, plural(canonical->elem_bytes), canonical->volume,
                canonical->volume == 0 ? ": nothing to do"
                : canonical->identity  ? ": the identity"
                                       : "");
  if (canonical->rank == 0) return;
  cutt_text_add(text, "  mode %20s %20s %20s   place in output\n", "extent", "in stride", "out stride");
  for (int i = 0; i < canonical->rank; ++i) {
    const cutt_mode *mode = &canonical->mode[i];
    int place = 0;
    while (canonical->out_order[place] != i) ++place;
    cutt_text_add(text, "  %4d %20" PRId64 " %20" PRId64 " %20" PRId64 "   %d\n", i, mode->extent, mode->in_stride,
                  mode->out_stride, place);
  }
}

static void add_device(const struct cuttPlanStruct *plan, cutt_text *text) {
  cutt_text_add(text, "\ndevice      %s (%s)%s\n  model       %s, parameters %s%s\n", plan->target->name,
                plan->backend->name, plan->described_only ? ", as described: the plan can't be executed" : "",
                plan->model == CUTT_MODEL_IS_PAPER ? "the paper's" : "the library's own",
                plan->target->source ? "from " : "built in", plan->target->source ? plan->target->source : "");
}

/* ------------------------------------------------------------------------------------------------------- candidates */

/* The modes packed on one side, such as "0-3 5/8" when the last one is cut to chunks of 8. */
static void add_modes(cutt_text *text, const int *order, int count, int64_t split) {
  if (count == 0) cutt_text_add(text, "-");
  for (int i = 0; i < count;) {
    const int first = order ? order[i] : i;
    int length = 1;
    while (i + length < count && (order ? order[i + length] : i + length) == first + length) ++length;
    if (length < 3) length = 1;
    cutt_text_add(text, "%s%d", i ? " " : "", first);
    if (length > 1) cutt_text_add(text, "-%d", first + length - 1);
    i += length;
  }
  if (split > 0) cutt_text_add(text, "/%" PRId64, split);
}

static void add_parameters(cutt_text *text, const cutt_backend *backend, const cutt_candidate *candidate) {
  const char *between = "";
  for (int i = 0; i < CUTT_PARAMS; ++i) {
    if (!backend->methods->param_name[i]) continue;
    cutt_text_add(text, "%s%s=%" PRId64, between, backend->methods->param_name[i], candidate->param[i]);
    between = " ";
  }
}

enum {
  NUMBER,
  METHOD,
  MODES_M,
  MODES_K,
  TILE,
  THREADS,
  PARAMETERS,
  SHARED,
  OCCUPANCY,
  SECTORS,
  PREDICTED,
  RATE,
  OF_COPY,
  COLUMNS
};

static const struct {
  const char *title; /* NULL: sectors or lines */
  bool left;
} columns[COLUMNS] = {[NUMBER] = {"", false},
                      [METHOD] = {"method", true},
                      [MODES_M] = {"M_m", true},
                      [MODES_K] = {"M_k", true},
                      [TILE] = {"tile", false},
                      [THREADS] = {"threads", false},
                      [PARAMETERS] = {"parameters", true},
                      [SHARED] = {"shared", false},
                      [OCCUPANCY] = {"occupancy", false},
                      [SECTORS] = {NULL, false},
                      [PREDICTED] = {"predicted", false},
                      [RATE] = {"GB/s", false},
                      [OF_COPY] = {"of copy", false}};

static void fill_cell(const struct cuttPlanStruct *plan, const cutt_listing *l, int row, const cutt_explanation *e,
                      int column, cell *c) {
  const cutt_candidate *candidate = &l->list[row];
  cutt_text text = cutt_text_start(c->at, sizeof c->at);
  switch (column) {
    case NUMBER:
      cutt_text_add(&text, "%s%d", row == l->chosen ? "* " : "", row + 1);
      break;
    case METHOD:
      cutt_text_add(&text, "%s", cutt_method_name[candidate->method]);
      break;
    case MODES_M:
      add_modes(&text, NULL, candidate->m, candidate->split_m);
      break;
    case MODES_K:
      add_modes(&text, plan->canonical.out_order, candidate->k, candidate->split_k);
      break;
    case TILE:
      cutt_text_add(&text, "%" PRId64 "x%" PRId64, e->row_length, e->column_length);
      break;
    case THREADS:
      cutt_text_add(&text, "%d", candidate->threads);
      break;
    case PARAMETERS:
      add_parameters(&text, plan->backend, candidate);
      break;
    case SHARED:
      add_kilobytes(&text, e->shared_bytes);
      break;
    case OCCUPANCY:
      cutt_text_add(&text, "%.0f%%", 100 * e->occupancy);
      break;
    case SECTORS:
      if (e->least_sectors > 0) {
        cutt_text_add(&text, "%.2f", (e->read_sectors + e->written_sectors) / (2 * e->least_sectors));
      } else {
        cutt_text_add(&text, "-");
      }
      break;
    case PREDICTED:
      add_duration(&text, candidate->seconds);
      break;
    case RATE:
      cutt_text_add(&text, "%.2f", cutt_describe_rate(plan, candidate->seconds));
      break;
    case OF_COPY:
      if (candidate->seconds > 0) {
        cutt_text_add(&text, "%.0f%%", 100 * e->copy_seconds / candidate->seconds);
      } else {
        cutt_text_add(&text, "-");
      }
      break;
    default:
      break;
  }
}

static void add_cell(cutt_text *text, int column, int width, const char *content) {
  if (width > 0) cutt_text_add(text, "  %*s", columns[column].left ? -width : width, content);
}

static void add_candidates(const struct cuttPlanStruct *plan, const cutt_listing *l, cutt_text *text) {
  /* The first ones, and the choice. */
  int row[ROWS + 1], rows = 0;
  for (int i = 0; i < l->count; ++i) {
    if (i < ROWS || i == l->chosen) row[rows++] = i;
  }
  /* The width of a column is that of its widest cell; 0: there is no such thing here. */
  cutt_explanation e;
  cell c;
  int width[COLUMNS];
  const char *sector = "sectors";
  bool blocks = false;
  for (int i = 0; i < COLUMNS; ++i) width[i] = columns[i].title ? (int)strlen(columns[i].title) : 0;
  for (int i = 0; i < rows; ++i) {
    cutt_describe_explain(plan, &l->list[row[i]], &e);
    sector = e.sector_name;
    blocks = blocks || e.blocks_per_sm > 0;
    for (int j = 0; j < COLUMNS; ++j) {
      fill_cell(plan, l, row[i], &e, j, &c);
      if ((int)strlen(c.at) > width[j]) width[j] = (int)strlen(c.at);
    }
  }
  if (width[SECTORS] < (int)strlen(sector)) width[SECTORS] = (int)strlen(sector);
  if (!blocks) width[SHARED] = width[OCCUPANCY] = 0;

  cutt_text_add(text, "\ncandidates  by the time that %s model predicts; * is the choice\n",
                plan->model == CUTT_MODEL_IS_PAPER ? "the paper's" : "the");
  cutt_text_add(text, "  M_m, M_k  modes packed on each side; n/c: mode n in chunks of c\n");
  cutt_text_add(text, "  tile      elements of its input runs x of its output runs\n");
  cutt_text_add(text, "  %-8s  moved over those needed at least\n", sector);
  for (int j = 0; j < COLUMNS; ++j) add_cell(text, j, width[j], columns[j].title ? columns[j].title : sector);
  cutt_text_add(text, "\n");
  for (int i = 0; i < rows; ++i) {
    cutt_describe_explain(plan, &l->list[row[i]], &e);
    for (int j = 0; j < COLUMNS; ++j) {
      fill_cell(plan, l, row[i], &e, j, &c);
      add_cell(text, j, width[j], c.at);
    }
    cutt_text_add(text, "\n");
  }
  if (l->count > rows) cutt_text_add(text, "  and %d more; as JSON all are listed\n", l->count - rows);
}

/* ----------------------------------------------------------------------------------------------------------- choice */

static void add_terms(const struct cuttPlanStruct *plan, const cutt_explanation *e, cutt_text *text) {
  cutt_term terms[CUTT_TERMS];
  double sum, rest;
  const int count = cutt_describe_terms(plan, e, terms, &sum);
  if (count == 0 || sum <= 0) return;
  if (plan->model == CUTT_MODEL_IS_PAPER) {
    cell time;
    cutt_text_add(text, "  by the library's own model it takes %s:\n", duration(sum, &time));
  }
  cutt_text_add(text, "  dominated by: %s (%.0f%%)\n", terms[0].parameter->name, 100 * terms[0].seconds / sum);
  rest = sum;
  int i = 0;
  int width = 5;
  for (int j = 0; j < count; ++j) {
    if ((int)strlen(terms[j].parameter->name) > width) width = (int)strlen(terms[j].parameter->name);
  }
  cutt_text_add(text, "    %14s  share  %-*s  what takes it\n", "time", width, "term");
  for (; i < count && (i == 0 || terms[i].seconds >= least_share * sum); ++i) {
    cell time;
    cutt_text_add(text, "    %14s  %4.0f%%  %-*s  %s\n", duration(terms[i].seconds, &time),
                  100 * terms[i].seconds / sum, width, terms[i].parameter->name, terms[i].parameter->what);
    rest -= terms[i].seconds;
  }
  if (i < count && rest > 0) {
    cell time;
    cutt_text_add(text, "    %14s  %4.0f%%  %d other%s\n", duration(rest, &time), 100 * rest / sum, count - i,
                  plural(count - i));
  }
}

static void add_choice(const struct cuttPlanStruct *plan, cutt_text *text) {
  static const char *const how[] = {"by the model", "by measuring", "from wisdom", "as asked for"};
  const cutt_choice *choice = &plan->choice;
  const cutt_candidate *candidate = &choice->candidate;
  const bool paper = plan->model == CUTT_MODEL_IS_PAPER;
  cutt_explanation e;
  cutt_describe_explain(plan, candidate, &e);
  cell time;
  cutt_text_add(text, "\nchoice      %s %s, on %s (%s), %d thread%s\n", cutt_method_name[candidate->method],
                paper && choice->by == CUTT_BY_MODEL ? "by the paper's model" : how[choice->by], plan->backend->name,
                plan->isa, candidate->threads, plural(candidate->threads));
  if (e.tiles > 0) {
    cutt_text_add(text,
                  "  tile        %" PRId64 " input run%s of %" PRId64 " elements, %" PRId64 " output run%s of %" PRId64
                  "; %" PRId64 " tile%s\n",
                  e.rows, plural(e.rows), e.row_length, e.columns, plural(e.columns), e.column_length, e.tiles,
                  plural(e.tiles));
  }
  if (candidate->seconds > 0) {
    cutt_text_add(text, "  predicted   %s, %.2f GB/s, %.0f%% of a copy%s\n", duration(candidate->seconds, &time),
                  cutt_describe_rate(plan, candidate->seconds), 100 * e.copy_seconds / candidate->seconds,
                  paper ? "; by the paper's model" : "");
  }
  if (choice->measured_seconds > 0) {
    cutt_text_add(text, "  measured    %s, %.2f GB/s\n", duration(choice->measured_seconds, &time),
                  cutt_describe_rate(plan, choice->measured_seconds));
  }
  add_terms(plan, &e, text);
  cutt_text_add(text, "  plan made in %s\n", duration(plan->create_seconds, &time));
}

void cutt_describe_text(const struct cuttPlanStruct *plan, const cutt_listing *l, cutt_text *text) {
  add_problem(plan, text);
  add_canonical(&plan->canonical, text);
  add_device(plan, text);
  add_candidates(plan, l, text);
  add_choice(plan, text);
}
