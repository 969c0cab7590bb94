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
  return OF(all)(OWN(cutt_float_of)(half));
#elif IS_COMPLEX
  return OF(one_for_all)(from);
#else
  return OF(all)(OF(number)(from));
#endif
}

/* `count` vectors of an operand. */
CUTT_INLINE void OWN(read_operand)(const cutt_combine_operand *o, int64_t at, int count, int64_t here, OF(vector) * x) {
  if (o->single) {
    const OF(vector) all = OWN(read_single)(o->at);
    CUTT_UNROLL for (int i = 0; i < count; ++i) x[i] = all;
  } else {
    CUTT_UNROLL for (int i = 0; i < count; ++i) x[i] = OWN(read)(o->at + IN_MEMORY(at + i * V), here);
  }
  if (o->scaled || o->conjugate) {
    CUTT_UNROLL for (int i = 0; i < count; ++i) x[i] = OF(scaled)(o, x[i]);
  }
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

/* Lines that are about to be written past the caches; several vectors may make one. */
CUTT_INLINE void OWN(stream_lines)(char *to, const OF(vector) * x, int count) {
#if CUTT_VECTOR_BYTES == 64 && !IS_HALF
  CUTT_UNROLL for (int i = 0; i < count; ++i) _mm512_stream_si512((void *)(to + i * V), (__m512i)x[i]);
#else
  _Alignas(64) char lines[COMBINED * V];
  CUTT_UNROLL for (int i = 0; i < count; ++i) OWN(write)(lines + IN_MEMORY(i * V), x[i], V);
  for (int i = 0; i < IN_MEMORY(count * V); i += 64) cutt_store_line(to + i, lines + i);
#endif
}

/* `count` vectors from one place on, of which `here` bytes each are there. */
CUTT_INLINE void OWN(combine_at)(char *to, const cutt_combination *c, int64_t at, int count, int64_t here,
                                 bool streams) {
  OF(vector) x[COMBINED], y[COMBINED];
  OWN(read_operand)(&c->operand[0], at, count, here, x);
  for (int o = 1; o < c->operands; ++o) {
    OWN(read_operand)(&c->operand[o], at, count, here, y);
    OWN(combine_by)(c->op[o - 1], count, x, y);
  }
  if (streams) {
    OWN(stream_lines)(to, x, count);
  } else {
    CUTT_UNROLL for (int i = 0; i < count; ++i) OWN(write)(to + IN_MEMORY(i * V), x[i], here);
  }
}

/* From one place on. */
CUTT_INLINE void OWN(combine_some)(char *to, const cutt_combination *c, int64_t at, int64_t bytes) {
  const int64_t end = at + bytes;
  for (; at + V <= end; at += V, to += IN_MEMORY(V)) OWN(combine_at)(to, c, at, 1, V, false);
  if (at < end) OWN(combine_at)(to, c, at, 1, end - at, false);
}

/* Asks for what comes soon, while so many lines from one place on are computed. What the next block packs lies in runs that are no
 * whole lines, so that it has more of them. */
CUTT_INLINE void OWN(fetch)(const cutt_combination *c, cutt_cpu_ahead *ahead, int64_t at, int64_t lines) {
  for (int o = 0; o < c->operands; ++o) {
    const char *from = c->operand[o].at + c->operand[o].ahead + IN_MEMORY(at);
    for (int64_t i = 0; i < lines && c->operand[o].ahead; ++i) __builtin_prefetch(from + i * 64, 0, 2);
  }
  for (int i = 0; i < c->aheads; ++i) cutt_combine_fetch(&ahead[i], lines + 1);
}

/* As many whole groups, or lines, as there are from one place on; returns where they end. */
CUTT_INLINE int64_t OWN(combine_lines)(char *out, const cutt_combination *c, cutt_cpu_ahead *ahead, int64_t at,
                                       int64_t bytes, bool streams) {
  for (; at + COMBINED * V <= bytes; at += COMBINED * V) {
    OWN(fetch)(c, ahead, at, COMBINED * V / LINE);
    OWN(combine_at)(out + IN_MEMORY(at), c, at, COMBINED, V, streams);
  }
  if (at < bytes) OWN(fetch)(c, ahead, at, (bytes - at + LINE - 1) / LINE);
  for (; at + LINE <= bytes; at += LINE) OWN(combine_at)(out + IN_MEMORY(at), c, at, LINE / V, V, streams);
  return at;
}

/* Up to the first cache line that the row begins; returns where that is. An edge may have what is before, in its line. */
CUTT_INLINE int64_t OWN(begin_row)(char *out, const cutt_combination *c, cutt_combine_edge *edge, int64_t bytes) {
  const int64_t before = (int64_t)((uintptr_t)out % 64), rest = LINE - before * (1 + IS_HALF);
  const int64_t head = rest < bytes ? rest : bytes;
  const bool joins = edge->bytes == before && edge->at + before == out;
  if (!before) return 0;
  OWN(combine_some)(joins ? edge->line + before : out, c, 0, head);
  if (!joins) return head;
  edge->bytes += IN_MEMORY(head);
  if (edge->bytes == 64) {
    cutt_store_line(edge->at, edge->line);
    edge->bytes = 0;
  }
  return head;
}

CUTT_INLINE void OWN(combine_row)(char *out, const cutt_combination *c, cutt_combine_edge *edge,
                                  cutt_cpu_ahead *ahead) {
  const int64_t bytes = c->n * OF(ELEMENT);
  int64_t at = edge ? OWN(begin_row)(out, c, edge, bytes) : 0;
  at = OWN(combine_lines)(out, c, ahead, at, bytes, edge != NULL);
  if (at == bytes) return;
  if (!edge) {
    OWN(combine_some)(out + IN_MEMORY(at), c, at, bytes - at);
    return;
  }
  cutt_combine_end(edge);
  OWN(combine_some)(edge->line, c, at, bytes - at);
  edge->at = out + IN_MEMORY(at);
  edge->bytes = IN_MEMORY(bytes - at);
}

static void OWN(combine)(char *out, const cutt_combination *callers, cutt_combine_edge *edge, cutt_cpu_ahead *ahead) {
  cutt_combination own = *callers; /* which no store may change */
  for (int64_t row = 0; row < own.rows; ++row, out += own.step) {
    if (edge)
      OWN(combine_row)(out, &own, edge + row * own.edge_step, ahead);
    else
      OWN(combine_row)(out, &own, NULL, ahead);
    for (int o = 0; o < own.operands; ++o) own.operand[o].at += own.operand[o].step;
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
