/* Elementwise operations of which operands are turned in registers, for one type of memory (cutt_combine_turn_fn of kernels.h), included
 * by combine_type.h.
 *
 * A tile of rows of the result is walked along, a cache line of each row at a time: the lines of a few rows are made of loads from as
 * many places of a turned operand as a line has elements, and interleaved. So each operand is read in runs, and nothing is put
 * anywhere in between. The rows are more streams than processors follow: all that comes next is asked for. */
#define W (LINE / (int)OF(ELEMENT)) /* elements of a line in memory */
#define BYTES (64 / W)
#define GROUP (BYTES == 2 ? 2 * CUTT_TURN_GROUP : CUTT_TURN_GROUP)
#define VECTORS (LINE / V)                       /* that are computed with, of a line */
#define TOGETHER (VECTORS < 4 ? 4 / VECTORS : 1) /* rows that are computed together */
#define COUNT (TOGETHER * VECTORS)

/* Asks for what turned operands have of the columns `ahead` from here, or in the next tile, for one line of rows. */
CUTT_INLINE void OWN(turn_ask)(const cutt_combine_turn *t, int64_t i, int64_t ahead, int64_t row) {
  const int64_t n = t->combination.n, at = i + ahead;
  for (int o = 0; o < t->combination.operands; ++o) {
    if (!t->place[o]) continue;
    const char *from = (at < n ? t->at[o] : t->next[o]) + row * BYTES;
    const int64_t *place = t->place[o] + (at < n ? at : at - n);
    for (int k = 0; k < W; ++k) __builtin_prefetch(from + place[k], 0, 2);
  }
}

/* One operand's vectors of some rows. */
CUTT_INLINE void OWN(turn_read)(const cutt_combine_turn *t, int o, const turn_line *turned, int64_t row, int64_t i,
                                int64_t bytes, OF(vector) * x) {
  const cutt_combine_operand *operand = &t->combination.operand[o];
  CUTT_UNROLL for (int k = 0; k < TOGETHER; ++k) {
    const char *from = t->at[o] + (row + k) * operand->step;
    if (operand->single) {
      OWN(all_single)(from, VECTORS, x + k * VECTORS);
      continue;
    }
    CUTT_UNROLL for (int v = 0; v < VECTORS; ++v) {
      const int64_t rest = bytes - v * V, here = rest < 0 ? 0 : rest < V ? rest : V;
      x[k * VECTORS + v] = turned ? OWN(read)((const char *)(turned + k) + IN_MEMORY(v * V), V)
                                  : OWN(read)(from + i * BYTES + IN_MEMORY(v * V), here);
    }
  }
  OWN(scale_operand)(operand, COUNT, x);
}

/* A line, or the `bytes` of numbers that are there, of some rows; the first `skip` of them have been written. */
CUTT_INLINE void OWN(turn_some)(char *out, const cutt_combine_turn *t, turn_line (*turned)[GROUP], int first,
                                int64_t row, int64_t i, int64_t bytes, int64_t skip) {
  const cutt_combination *c = &t->combination;
  OF(vector) x[COUNT], y[COUNT];
  OWN(turn_read)(t, 0, t->place[0] ? turned[0] + first : NULL, row, i, bytes, x);
  for (int o = 1; o < c->operands; ++o) {
    OWN(turn_read)(t, o, t->place[o] ? turned[o] + first : NULL, row, i, bytes, y);
    OWN(combine_by)(c->op[o - 1], COUNT, x, y);
  }
  CUTT_UNROLL for (int k = 0; k < TOGETHER; ++k) {
    char *to = out + (row + k) * c->step + i * BYTES;
    if (k < skip) continue;
    if (!t->carry) {
      CUTT_UNROLL for (int v = 0; v < VECTORS; ++v) {
        const int64_t rest = bytes - v * V;
        if (rest > 0) OWN(write)(to + IN_MEMORY(v * V), x[k * VECTORS + v], rest < V ? rest : V);
      }
      continue;
    }
    const turn_line line = OWN(line_of)(x + k * VECTORS);
    if (bytes == LINE)
      turn_put(BYTES, to, &line, t->carry[row + k], t->begins && i == 0);
    else
      turn_put_part(to, &line, IN_MEMORY(bytes), t->carry[row + k], t->begins && i == 0);
  }
}

static void OWN(turn)(char *out, const cutt_combine_turn *callers) {
  const cutt_combine_turn own = *callers, *t = &own; /* which no store may change */
  const cutt_combination *c = &t->combination;
  const int64_t n = c->n, rows = c->rows;
  const int64_t ahead = t->asks ? (TURN_AHEAD / (rows * BYTES) + W) / W * W : 0;
  turn_line turned[3][GROUP];
  for (int64_t i = 0; i < n; i += W) {
    const int64_t here = n - i < W ? n - i : W, bytes = here * OF(ELEMENT);
    int64_t places[3][W]; /* of the last line, whose elements beyond the row's end are its last one */
    const int64_t *place[3] = {0};
    for (int o = 0; o < c->operands; ++o) {
      if (!t->place[o]) continue;
      place[o] = t->place[o] + i;
      if (here == W) continue;
      for (int k = 0; k < W; ++k) places[o][k] = place[o][k < here ? k : here - 1];
      place[o] = places[o];
    }
    for (int64_t next = 0; next < rows; next += GROUP) {
      const int64_t row = next + GROUP <= rows ? next : rows - GROUP, skip = next - row;
      if (ahead && next * BYTES % 64 == 0) OWN(turn_ask)(t, i, ahead, next);
      const bool writes = ahead && !t->carry && i * BYTES + TURN_ROW_AHEAD < n * BYTES;
      for (int k = 0; k < GROUP && writes; ++k)
        __builtin_prefetch(out + (row + k) * c->step + i * BYTES + TURN_ROW_AHEAD, 1);
      for (int o = 0; o < c->operands; ++o) {
        const cutt_combine_operand *operand = &c->operand[o];
        if (place[o]) turn_columns(BYTES, GROUP, t->at[o] + row * BYTES, place[o], turned[o]);
        if (!ahead || place[o] || operand->single) continue;
        const int64_t at = i * BYTES + TURN_ROW_AHEAD;
        const char *from = at < n * BYTES ? t->at[o] + at : t->next[o] + (at - n * BYTES);
        for (int k = 0; k < GROUP; ++k) __builtin_prefetch(from + (row + k) * operand->step);
      }
      for (int k = 0; k < GROUP; k += TOGETHER) OWN(turn_some)(out, t, turned, k, row + k, i, bytes, skip - k);
    }
    if (ahead) OWN(turn_ask)(t, i, ahead, rows - 1);
  }
  for (int64_t row = 0; t->carry && t->ends && row < rows; ++row)
    turn_end(out + row * c->step + n * BYTES, t->carry[row], t->begins ? n * BYTES : 64);
}

#undef W
#undef BYTES
#undef GROUP
#undef VECTORS
#undef TOGETHER
#undef COUNT
