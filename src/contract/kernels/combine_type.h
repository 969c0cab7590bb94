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
CUTT_INLINE void OWN(read_operand)(const cutt_combine_operand *o, int64_t at, int count, int64_t here, OF(vector) *x) {
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

CUTT_INLINE void OWN(combine_by)(cuttOperator_t op, int count, OF(vector) *x, const OF(vector) *y) {
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
CUTT_INLINE void OWN(stream_lines)(char *to, const OF(vector) *x, int count) {
#if CUTT_VECTOR_BYTES == 64 && !IS_HALF
  CUTT_UNROLL for (int i = 0; i < count; ++i) _mm512_stream_si512((void *)(to + i * V), (__m512i)x[i]);
#else
  _Alignas(64) char lines[COMBINED * V];
  CUTT_UNROLL for (int i = 0; i < count; ++i) OWN(write)(lines + IN_MEMORY(i * V), x[i], V);
  for (int i = 0; i < IN_MEMORY(count * V); i += 64) cutt_store_line(to + i, lines + i);
#endif
}

/* `count` vectors from one place on, of which `here` bytes each are there. */
CUTT_INLINE void OWN(combine_at)(char *out, const cutt_combination *c, int64_t at, int count, int64_t here, bool streams) {
  OF(vector) x[COMBINED], y[COMBINED];
  OWN(read_operand)(&c->operand[0], at, count, here, x);
  for (int o = 1; o < c->operands; ++o) {
    OWN(read_operand)(&c->operand[o], at, count, here, y);
    OWN(combine_by)(c->op[o - 1], count, x, y);
  }
  if (streams) {
    OWN(stream_lines)(out + IN_MEMORY(at), x, count);
  } else {
    CUTT_UNROLL for (int i = 0; i < count; ++i) OWN(write)(out + IN_MEMORY(at + i * V), x[i], here);
  }
}

CUTT_INLINE void OWN(combine_all)(char *out, const cutt_combination *c, cutt_cpu_ahead *ahead, bool streams) {
  const int64_t bytes = c->n * OF(ELEMENT), even = bytes - bytes % (COMBINED * V);
  for (int64_t at = 0; at < even; at += COMBINED * V) {
    OWN(combine_at)(out, c, at, COMBINED, V, streams);
    for (int i = 0; i < c->aheads; ++i) cutt_cpu_prefetch(&ahead[i], COMBINED * V / LINE + 1);
  }
  int64_t at = even;
  for (; streams && at < bytes; at += LINE) OWN(combine_at)(out, c, at, LINE / V, V, true);
  for (; at + V <= bytes; at += V) OWN(combine_at)(out, c, at, 1, V, false);
  if (at < bytes) OWN(combine_at)(out, c, at, 1, bytes - at, false);
  for (int i = 0; i < c->aheads && even < bytes; ++i) cutt_cpu_prefetch(&ahead[i], (int)((bytes - even) / LINE) + 1);
}

static void OWN(combine)(char *out, const cutt_combination *callers, cutt_cpu_ahead *ahead) {
  const cutt_combination own = *callers; /* which no store may change */
  if (own.streams)
    OWN(combine_all)(out, &own, ahead, true);
  else
    OWN(combine_all)(out, &own, ahead, false);
}

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
