/* Elementwise operations on one type of memory (kernels.h), included by kernels.c once for each. Who includes it sets the macros
 * MEMORY, NAME, IS_HALF and IS_COMPLEX: what is in memory; what is computed with; whether these differ; and whether numbers have
 * no order.
 *
 * Operands come from memory and results go there, past the caches if asked for, a few vectors at a time, with nothing in between
 * but registers: loads and stores past the caches then go on side by side. */
#define PASTE_2(a, b) a##b
#define PASTE(a, b) PASTE_2(a, b)
#define OWN(name) PASTE(name##_, MEMORY)
#define OF(name) PASTE(name##_, NAME)
#define LINE (64 * (1 + IS_HALF)) /* bytes of numbers that fill a cache line */
#define IN_MEMORY(bytes) ((bytes) / (1 + IS_HALF))

/* The first bytes of a vector of numbers, `here` of them. */
CUTT_INLINE OF(vector) OWN(read)(const char *from, int64_t here) {
#if IS_HALF
  return (OF(vector))OWN(cutt_take)(from, here);
#else
  return OF(take)(from, here);
#endif
}

CUTT_INLINE void OWN(write)(char *to, OF(vector) x, int64_t here) {
#if IS_HALF
  OWN(cutt_keep)(to, (cutt_floats)x, here);
#else
  OF(keep)(to, x, here);
#endif
}

CUTT_INLINE OF(vector) OWN(read_single)(const char *from) {
#if IS_HALF
  uint16_t half;
  memcpy(&half, from, sizeof half);
  return OF(all)(OWN(cutt_single)(half));
#elif IS_COMPLEX
  return OF(one_for_all)(from);
#else
  return OF(all)(OF(number)(from));
#endif
}

/* What is done with vectors of an operand before it takes part. */
CUTT_INLINE void OWN(scale_operand)(const cutt_combine_operand *o, int count, OF(vector) * x) {
  if (o->scaled || o->conjugate) {
    CUTT_UNROLL for (int i = 0; i < count; ++i) x[i] = OF(scaled)(o, x[i]);
  }
}

CUTT_INLINE void OWN(all_single)(const char *from, int count, OF(vector) * x) {
  const OF(vector) all = OWN(read_single)(from);
  CUTT_UNROLL for (int i = 0; i < count; ++i) x[i] = all;
}

/* `count` vectors of an operand whose row begins at `row`. */
CUTT_INLINE void OWN(read_operand)(const cutt_combine_operand *o, const char *row, int64_t at, int count, int64_t here,
                                   OF(vector) * x) {
  if (o->single) {
    OWN(all_single)(row, count, x);
  } else {
    CUTT_UNROLL for (int i = 0; i < count; ++i) x[i] = OWN(read)(row + IN_MEMORY(at + i * V), here);
  }
  OWN(scale_operand)(o, count, x);
}

CUTT_INLINE void OWN(combine_by)(cuttOperator_t op, int count, OF(vector) * x, const OF(vector) * y) {
  switch (op) {
    case CUTT_OP_ADD:
      CUTT_UNROLL for (int i = 0; i < count; ++i) x[i] = OF(add)(x[i], y[i]);
      return;
    case CUTT_OP_MULTIPLY:
      CUTT_UNROLL for (int i = 0; i < count; ++i) x[i] = OF(multiply)(x[i], y[i]);
      return;
#if !IS_COMPLEX
    case CUTT_OP_MAX:
      CUTT_UNROLL for (int i = 0; i < count; ++i) x[i] = OF(max)(x[i], y[i]);
      return;
    case CUTT_OP_MIN:
      CUTT_UNROLL for (int i = 0; i < count; ++i) x[i] = OF(min)(x[i], y[i]);
      return;
#endif
    default: /* complex numbers have no other */
      return;
  }
}

/* A line, of its numbers. */
CUTT_INLINE turn_line OWN(line_of)(const OF(vector) * x) {
  turn_line line;
#if IS_HALF && CUTT_VECTOR_BYTES == 64
  __m256i part[2]; /* each by itself, since a load of what two stores made waits for both */
  CUTT_UNROLL for (int v = 0; v < 2; ++v) OWN(write)((char *)&part[v], x[v], V);
  line.part[0] = (packed_lanes)_mm512_inserti64x4(_mm512_castsi256_si512(part[0]), part[1], 1);
#elif IS_HALF && CUTT_VECTOR_BYTES == 32
  __m128i part[4];
  CUTT_UNROLL for (int v = 0; v < 4; ++v) OWN(write)((char *)&part[v], x[v], V);
  CUTT_UNROLL for (int p = 0; p < 2; ++p) line.part[p] = (packed_lanes)_mm256_set_m128i(part[2 * p + 1], part[2 * p]);
#else
  CUTT_UNROLL for (int v = 0; v < LINE / V; ++v) OWN(write)((char *)&line + IN_MEMORY(v * V), x[v], V);
#endif
  return line;
}

/* `count` vectors from one place on, of which `here` bytes each are there. */
CUTT_INLINE void OWN(combine_at)(char *to, const cutt_combination *c, const char *const *row, int64_t at, int count,
                                 int64_t here, bool streams) {
  OF(vector) x[COMBINED], y[COMBINED];
  OWN(read_operand)(&c->operand[0], row[0], at, count, here, x);
  for (int o = 1; o < c->operands; ++o) {
    OWN(read_operand)(&c->operand[o], row[o], at, count, here, y);
    OWN(combine_by)(c->op[o - 1], count, x, y);
  }
  if (!streams) {
    CUTT_UNROLL for (int i = 0; i < count; ++i) OWN(write)(to + IN_MEMORY(i * V), x[i], here);
    return;
  }
  CUTT_UNROLL for (int i = 0; i < count; i += LINE / V) {
    const turn_line line = OWN(line_of)(x + i);
    cutt_store_line(to + IN_MEMORY(i * V), (const char *)&line);
  }
}

/* The line of the result that lies `at` bytes from the row's beginning, of which its bytes from one to before another are made; the others are arbitrary. */
CUTT_INLINE turn_line OWN(combine_part)(const cutt_combination *c, const char *const *row, int64_t at, int64_t from,
                                        int64_t to) {
  OF(vector) x[LINE / V], y[LINE / V];
  for (int o = 0; o < c->operands; ++o) {
    OF(vector) *const own = o ? y : x;
    if (c->operand[o].single) {
      OWN(all_single)(row[o], LINE / V, own);
    } else {
      const turn_line part = turn_load_part((int)OF(ELEMENT) / (1 + IS_HALF), row[o] + at, from, to);
      CUTT_UNROLL for (int v = 0; v < LINE / V; ++v) own[v] = OWN(read)((const char *)&part + IN_MEMORY(v * V), V);
    }
    OWN(scale_operand)(&c->operand[o], LINE / V, own);
    if (o) OWN(combine_by)(c->op[o - 1], LINE / V, x, y);
  }
  return OWN(line_of)(x);
}

/* Asks for what comes soon, while so many lines from one place on are computed. What the next block packs lies in runs that are no
 * whole lines, so that it has more of them. */
CUTT_INLINE void OWN(fetch)(const cutt_combination *c, const char *const *row, cutt_cpu_ahead *ahead, int64_t at,
                            int64_t lines) {
  for (int o = 0; o < c->operands; ++o) {
    const char *from = row[o] + c->operand[o].ahead + IN_MEMORY(at);
    for (int64_t i = 0; i < lines && c->operand[o].ahead; ++i) __builtin_prefetch(from + i * 64, 0, 2);
  }
  for (int i = 0; i < c->aheads; ++i) cutt_combine_fetch(&ahead[i], lines + 1);
}

/* As many whole groups, or lines, as there are from one place on; returns where they end. */
CUTT_INLINE int64_t OWN(combine_lines)(char *out, const cutt_combination *c, const char *const *row,
                                       cutt_cpu_ahead *ahead, int64_t at, int64_t bytes, bool streams) {
  for (; at + COMBINED * V <= bytes; at += COMBINED * V) {
    OWN(fetch)(c, row, ahead, at, COMBINED * V / LINE);
    OWN(combine_at)(out + IN_MEMORY(at), c, row, at, COMBINED, V, streams);
  }
  if (at < bytes) OWN(fetch)(c, row, ahead, at, (bytes - at + LINE - 1) / LINE);
  for (; at + LINE <= bytes; at += LINE) OWN(combine_at)(out + IN_MEMORY(at), c, row, at, LINE / V, V, streams);
  return at;
}

/* A row through the caches. */
CUTT_INLINE void OWN(combine_row)(char *out, const cutt_combination *c, const char *const *row, cutt_cpu_ahead *ahead) {
  const int64_t bytes = c->n * OF(ELEMENT);
  int64_t at = OWN(combine_lines)(out, c, row, ahead, 0, bytes, false);
  for (; at + V <= bytes; at += V) OWN(combine_at)(out + IN_MEMORY(at), c, row, at, 1, V, false);
  if (at < bytes) OWN(combine_at)(out + IN_MEMORY(at), c, row, at, 1, bytes - at, false);
}

/* Up to the end of the cache line in which a row of so many bytes of memory begins, or of the row; returns how many bytes that are. The edge may
 * have what is before, in the line; what does not fill it is the edge's, if it has what is before or nothing is. Lines are made as a whole, in
 * registers: a load of what several stores have made waits until all those before have reached the cache. */
CUTT_INLINE int64_t OWN(begin_row)(char *out, const cutt_combination *c, const char *const *row,
                                   cutt_combine_edge *edge, int64_t bytes) {
  enum { ELEMENT = OF(ELEMENT) / (1 + IS_HALF) };
  const int64_t lead = (int64_t)((uintptr_t)out % 64), end = lead + bytes < 64 ? lead + bytes : 64;
  char *const at = out - lead;
  const bool joins = lead && edge->bytes == lead && edge->at == at;
  if (!lead && end == 64) return 0;
  turn_line line = OWN(combine_part)(c, row, -lead, lead, end);
  if (lead && !joins) {
    turn_store_part(ELEMENT, at, &line, lead, end);
    return end - lead;
  }
  if (joins)
    line = turn_joined(edge->line, &line, lead);
  else
    cutt_combine_end(edge);
  if (end == 64) {
    cutt_store_line(at, (const char *)&line);
    edge->bytes = 0;
  } else {
    turn_keep(edge, at, &line, end);
  }
  return end - lead;
}

/* A row past the caches. */
CUTT_INLINE void OWN(stream_row)(char *out, const cutt_combination *c, const char *const *row, cutt_combine_edge *edge,
                                 cutt_cpu_ahead *ahead) {
  const int64_t bytes = c->n * OF(ELEMENT);
  int64_t at = OWN(begin_row)(out, c, row, edge, IN_MEMORY(bytes)) * (1 + IS_HALF);
  at = OWN(combine_lines)(out, c, row, ahead, at, bytes, true);
  if (at == bytes) return;
  const turn_line line = OWN(combine_part)(c, row, IN_MEMORY(at), 0, IN_MEMORY(bytes - at));
  cutt_combine_end(edge);
  turn_keep(edge, out + IN_MEMORY(at), &line, IN_MEMORY(bytes - at));
}

static void OWN(combine)(char *out, const char *const *at, const cutt_combination *callers, cutt_combine_edge *edge,
                         int64_t edge_step, cutt_cpu_ahead *ahead) {
  cutt_combination own = *callers; /* which no store may change */
  const char *row[3] = {at[0], at[1], at[2]};
  for (int64_t i = 0; i < own.rows; ++i, out += own.step) {
    if (edge)
      OWN(stream_row)(out, &own, row, edge + i * edge_step, ahead);
    else
      OWN(combine_row)(out, &own, row, ahead);
    for (int o = 0; o < own.operands; ++o) row[o] += own.operand[o].step;
  }
}

#if TURNS(IS_HALF)
#include "contract/kernels/turn_type.h"
#endif

#undef IN_MEMORY
#undef LINE
#undef OF
#undef OWN
#undef PASTE
#undef PASTE_2
#undef MEMORY
#undef NAME
#undef IS_HALF
#undef IS_COMPLEX
