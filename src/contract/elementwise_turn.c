/* Elementwise operations of which operands are turned in registers (elementwise.h): the tiles, and the walk over them.
 *
 * A tile has some rows of D, which follow each other in a mode in which all turned operands have their elements next to each other,
 * and some KB of each row. Tiles go along the rows first, so that D is written on where the one before ended, and then to the next
 * rows, of which the turned operands have the elements behind those of the rows before. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "contract/elementwise.h"

enum {
  LEAST_ROW = 512,   /* bytes */
  RUN_BYTES = 512,   /* of a turned operand */
  MOST_PLACES = 1024 /* of a tile's row */
};

typedef struct cuttElementwiseStruct plan_t;
typedef struct cutt_elementwise_turn turn_t;

/* One that is permuted to D first is D. */
static int64_t stride(const plan_t *p, int mode, int operand) {
  return p->mode[mode].stride[p->moved == operand + 1 ? CUTT_RESULT : cutt_elementwise_tensor(operand)];
}

/* Has it another order along the first mode? */
static bool is_turned(const plan_t *p, int operand) {
  const int64_t step = stride(p, 0, operand);
  return p->use[operand] != CUTT_USE_ZERO && step != 0 && step != 1;
}

/* The mode in which a turned operand has its elements next to each other; -1: it has none. */
static int unit_mode(const plan_t *p, int operand) {
  int mode = 1;
  while (mode < p->modes && stride(p, mode, operand) != 1) ++mode;
  return mode < p->modes ? mode : -1;
}

/* The one mode in which all turned operands have their elements next to each other; -1: there is none. */
static int common_mode(const plan_t *p) {
  int common = -1;
  for (int o = 0; o < p->operands; ++o) {
    if (!is_turned(p, o)) continue;
    const int own = unit_mode(p, o);
    if (own < 0 || (common >= 0 && own != common)) return -1;
    common = own;
  }
  return common;
}

/* Do D and all operands that are not turned take a row of so many elements on along this mode? */
static bool goes_on(const plan_t *p, int mode, int64_t row) {
  if (p->mode[mode].stride[CUTT_RESULT] != row) return false;
  for (int o = 0; o < p->operands; ++o)
    if (p->use[o] != CUTT_USE_ZERO && !is_turned(p, o) && stride(p, mode, o) != (stride(p, 0, o) ? row : 0))
      return false;
  return true;
}

static int64_t whole_groups(int64_t rows, int64_t group) { return (rows + group - 1) / group * group; }

/* Chunks of nearly the same extent, none of them below the least, and few rows that are computed twice, since a group goes beyond a
 * chunk; false: there are none. */
static bool cut_mode(cutt_elementwise_mode *mode, int64_t least, int64_t most, int64_t group) {
  mode->chunks = (mode->extent + most - 1) / most;
  mode->chunk = (mode->extent + mode->chunks - 1) / mode->chunks;
  while (mode->chunk > least && mode->extent % mode->chunk && mode->extent % mode->chunk < least) --mode->chunk;
  mode->chunks = (mode->extent + mode->chunk - 1) / mode->chunk;
  const int64_t last = mode->extent - (mode->chunks - 1) * mode->chunk;
  const int64_t computed = (mode->chunks - 1) * whole_groups(mode->chunk, group) + whole_groups(last, group);
  return mode->chunk >= least && last >= least && 2 * computed <= 3 * mode->extent;
}

/* The modes of a row, of which a tile has the first ones, one of them in chunks, and the rows; false: they are not worth it. */
static bool cut(plan_t *p, turn_t *turn) {
  const int64_t bytes = p->type->bytes, most_rows = smaller(RUN_BYTES / bytes, CUTT_TURN_MOST);
  int64_t row = 1;
  int modes = 0;
  for (; modes < p->modes && modes != turn->rows && goes_on(p, modes, row); ++modes) row *= p->mode[modes].extent;
  const int64_t group = bytes == 2 ? 2 * CUTT_TURN_GROUP : CUTT_TURN_GROUP;
  if (row * bytes < LEAST_ROW || !cut_mode(&p->mode[turn->rows], CUTT_TURN_LEAST, most_rows, group)) return false;
  row = 1;
  for (int i = 0; i < p->modes; ++i) {
    cutt_elementwise_mode *mode = &p->mode[i];
    if (i == turn->rows) continue;
    mode->chunk = i >= modes ? 1 : smaller(mode->extent, (MOST_PLACES + row - 1) / row);
    mode->chunks = (mode->extent + mode->chunk - 1) / mode->chunk;
    mode->chunk = (mode->extent + mode->chunks - 1) / mode->chunks; /* nearly the same */
    mode->chunks = (mode->extent + mode->chunk - 1) / mode->chunk;
    if (i < modes) row *= mode->chunk;
    if (i < modes && mode->chunk < mode->extent) modes = i + 1;
  }
  turn->row_modes = modes;
  turn->places = row;
  return true;
}

static cuttResult list_places(const plan_t *p, turn_t *turn, int operand) {
  int64_t *place = turn->place[operand] = malloc((size_t)(turn->places + CUTT_TURN_BEHIND) * sizeof *place);
  if (!place) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %" PRId64 " places of a row", turn->places);
  place[0] = 0;
  for (int64_t i = 0, done = 1; i < turn->row_modes; done *= p->mode[i++].chunk)
    for (int64_t j = done; j < done * p->mode[i].chunk; ++j)
      place[j] = place[j - done] + stride(p, (int)i, operand) * p->type->bytes;
  for (int64_t i = 0; i < CUTT_TURN_BEHIND; ++i) place[turn->places + i] = place[turn->places - 1];
  return CUTT_SUCCESS;
}

static void order_modes(const plan_t *p, turn_t *turn) {
  int at = 0;
  for (int i = 0; i < turn->row_modes; ++i) turn->order[at++] = i;
  turn->order[at++] = turn->rows;
  for (int i = turn->row_modes; i < p->modes; ++i)
    if (i != turn->rows) turn->order[at++] = i;
}

/* Where operands have their elements next to each other in different modes, one of them is permuted to D first, if then the others can be
 * turned. */
static bool move_one(plan_t *p, turn_t *turn) {
  for (int64_t after = 0; cutt_elementwise_may_move(p, &after);) {
    turn->rows = common_mode(p);
    if (turn->rows >= 0 && cut(p, turn)) return true;
  }
  return false;
}

cuttResult cutt_elementwise_turn_prepare(struct cuttElementwiseStruct *p) {
  if (!p->numbers->turn || p->modes < 2 || p->mode[0].stride[CUTT_RESULT] != 1) return CUTT_SUCCESS;
  turn_t turn = {.rows = common_mode(p)};
  if (turn.rows >= 0 ? !cut(p, &turn) : !move_one(p, &turn)) return CUTT_SUCCESS;
  order_modes(p, &turn);
  p->blocks = 1;
  for (int i = 0; i < p->modes; ++i) p->blocks *= p->mode[i].chunks;
  p->turn = malloc(sizeof turn);
  if (!p->turn) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for tiles of a plan", sizeof turn);
  *p->turn = turn;
  cuttResult result = cutt_elementwise_move(p);
  for (int o = 0; o < p->operands && !result; ++o) {
    if (p->use[o] == CUTT_USE_ZERO) continue;
    if (is_turned(p, o)) result = list_places(p, p->turn, o);
    p->use[o] = is_turned(p, o) ? CUTT_USE_TURNED : stride(p, 0, o) ? CUTT_USE_IN_PLACE : CUTT_USE_SINGLE;
  }
  return result;
}

void cutt_elementwise_turn_release(struct cuttElementwiseStruct *p) {
  for (int o = 0; p->turn && o < CUTT_ELEMENTWISE_OPERANDS; ++o) free(p->turn->place[o]);
  free(p->turn);
  p->turn = NULL;
}

/* --------------------------------------------------------------------------------------------------------- execution */

/* Where a tile is in each tensor, elements of a row, and rows. */
typedef struct tile {
  char *at[CUTT_MOST_TENSORS];
  int64_t n, rows;
} tile;

static tile tile_of(const plan_t *p, void *const tensor[CUTT_MOST_TENSORS], int64_t number) {
  const turn_t *turn = p->turn;
  tile here = {.n = 1};
  for (int t = 0; t < CUTT_MOST_TENSORS; ++t) here.at[t] = tensor[t];
  for (int i = 0; i < p->modes; ++i) {
    const cutt_elementwise_mode *mode = &p->mode[turn->order[i]];
    const int64_t begin = number % mode->chunks * mode->chunk, extent = smaller(mode->chunk, mode->extent - begin);
    number /= mode->chunks;
    for (int t = 0; t < CUTT_MOST_TENSORS; ++t)
      if (here.at[t]) here.at[t] += begin * mode->stride[t] * p->type->bytes;
    if (i < turn->row_modes) here.n *= extent;
    if (i == turn->row_modes) here.rows = extent;
  }
  return here;
}

/* Do a tile's rows go on in the next one, each behind at least as much as is carried on? */
static bool continues(const plan_t *p, const tile *here, const tile *next) {
  const int64_t bytes = here->n * p->type->bytes;
  return bytes >= CUTT_CPU_LINE && next->rows == here->rows && next->at[CUTT_RESULT] == here->at[CUTT_RESULT] + bytes;
}

/* What all tiles have in common. */
static cutt_combine_turn begin(const plan_t *p, const cutt_combination *combination, void *carry) {
  cutt_combine_turn own = {.combination = *combination, .asks = p->far, .carry = carry};
  const int64_t bytes = p->type->bytes;
  own.combination.step = p->mode[p->turn->rows].stride[CUTT_RESULT] * bytes;
  for (int o = 0; o < p->operands; ++o) {
    own.place[o] = p->turn->place[o];
    own.combination.operand[o].step = p->use[o] == CUTT_USE_ZERO ? 0 : stride(p, p->turn->rows, o) * bytes;
  }
  return own;
}

void cutt_elementwise_turn_run(const struct cuttElementwiseStruct *p, void *const tensor[CUTT_MOST_TENSORS],
                               const cutt_combination *combination, void *carry, int64_t from, int64_t to) {
  static const unsigned char zero[16];
  cutt_combine_turn own = begin(p, combination, carry);
  own.begins = true;
  tile here = tile_of(p, tensor, from);
  for (int64_t i = from; i < to; ++i) {
    const tile next = i + 1 < to ? tile_of(p, tensor, i + 1) : here;
    own.combination.n = here.n;
    own.combination.rows = here.rows;
    own.ends = i + 1 == to || !continues(p, &here, &next);
    for (int o = 0; o < p->operands; ++o) {
      const cutt_tensor t = cutt_elementwise_tensor(o);
      own.at[o] = here.at[t] ? here.at[t] : (const char *)zero;
      own.next[o] = next.at[t] ? next.at[t] : (const char *)zero;
    }
    p->numbers->turn(here.at[CUTT_RESULT], &own);
    own.begins = own.ends;
    here = next;
  }
}
