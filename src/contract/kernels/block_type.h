/* A block's functions for one type (block.h). The macros NAME, NUMBER, IS_COMPLEX and MOST are set by who includes it, several times:
 * the type's name and number, whether that is a part of a complex one, and the most rows of a block. */
#define PASTE_2(a, b) a##b
#define PASTE(a, b) PASTE_2(a, b)
#define OWN(name) PASTE(name##_, NAME)
#define FMA PASTE(CUTT_FMA_, NAME)
#define STORE OWN(put_block)

CUTT_INLINE void OWN(put_block)(bool adds, const bool *conjugate, char *to, OWN(vector) a, OWN(vector) b,
                                int64_t bytes) {
  const OWN(sums) sums = OWN(sums_of)(a, b);
  OWN(vector) total = OWN(total)(&sums, conjugate);
  if (bytes == V) {
    if (adds) total += OWN(load)(to);
    memcpy(to, &total, V);
    return;
  }
  if (adds) total += (OWN(vector))cutt_part_load(to, bytes);
  cutt_part_store(to, (cutt_part)total, bytes);
}

/* `rows` rows from one on, `bytes` from a place of each: `vectors` vectors, the last of which may be in part. */
CUTT_INLINE void OWN(block)(const cutt_pass_tile *t, int64_t row, int64_t at, int64_t bytes, int vectors, int rows) {
  typedef OWN(vector) vector;
  typedef NUMBER number;
#define load_number OWN(number)
  const vector none = {0};
  const char *l = t->operand[0] + t->row[0][row] + at;
  const bool adds = t->adds, conjugate[2] = {t->conjugate[0], t->conjugate[1]};
  const int64_t last = bytes - (vectors - 1) * V, *const term[2] = {t->term[0], t->term[1]}, terms = t->terms;
  CUTT_EACH_ROW(CUTT_ROW_OPEN)
  for (int64_t s = 0; s < terms; ++s) {
    const char *from = l + term[0][s];
    const int64_t to = term[1][s];
    const vector x0 = vectors > 1 ? OWN(load)(from) : (vector)cutt_part_load(from, last);
    const vector x1 = vectors > 2 ? OWN(load)(from + V) : vectors > 1 ? (vector)cutt_part_load(from + V, last) : none;
    const vector x2 = vectors > 2 ? (vector)cutt_part_load(from + 2 * V, last) : none;
    CUTT_EACH_ROW(CUTT_ROW_ADD)
  }
  CUTT_EACH_ROW(CUTT_ROW_CLOSE)
#undef load_number
}

#define DEFINE_BLOCK(vectors, rows)                                                                                    \
  static void PASTE(OWN(block_##vectors##_##rows), _)(const cutt_pass_tile *t, int64_t row, int64_t at,                \
                                                      int64_t bytes) {                                                 \
    OWN(block)(t, row, at, bytes, vectors, rows);                                                                      \
  }
#define DEFINE_BLOCKS(vectors)                                                                                         \
  DEFINE_BLOCK(vectors, 1) DEFINE_BLOCK(vectors, 2) DEFINE_BLOCK(vectors, 3) DEFINE_BLOCK(vectors, 4)
DEFINE_BLOCKS(1)
DEFINE_BLOCKS(2)
DEFINE_BLOCKS(3)
#if MOST == 8
DEFINE_BLOCK(1, 6)
DEFINE_BLOCK(2, 6)
DEFINE_BLOCK(3, 6)
DEFINE_BLOCK(1, 8)
DEFINE_BLOCK(2, 8)
DEFINE_BLOCK(3, 8)
#define OTHERS(vectors) [6] = PASTE(OWN(block_##vectors##_6), _), [8] = PASTE(OWN(block_##vectors##_8), _),
#else
#define OTHERS(vectors)
#endif
#define ROWS_OF(vectors)                                                                                               \
  [vectors] = {[1] = PASTE(OWN(block_##vectors##_1), _),                                                               \
               [2] = PASTE(OWN(block_##vectors##_2), _),                                                               \
               [3] = PASTE(OWN(block_##vectors##_3), _),                                                               \
               [4] = PASTE(OWN(block_##vectors##_4), _),                                                               \
               OTHERS(vectors)}

static void OWN(blocks)(const cutt_pass_tile *callers) {
  static void (*const block[CUTT_BLOCK_VECTORS + 1][9])(const cutt_pass_tile *, int64_t, int64_t, int64_t) = {
      ROWS_OF(1), ROWS_OF(2), ROWS_OF(3)};
  const cutt_pass_tile own = *callers, *t = &own; /* which no store to D may change */
  const int64_t bytes = t->n * OWN(ELEMENT), all = (bytes + V - 1) / V;
  const int64_t strips = (all + CUTT_BLOCK_VECTORS - 1) / CUTT_BLOCK_VECTORS;
  const int64_t blocks = t->rows / t->group * strips * ((t->group + MOST - 1) / MOST);
  cutt_cpu_ahead ahead = t->ahead;
  const int64_t asked = ahead.runs * ((ahead.bytes + CUTT_CPU_LINE - 2) / CUTT_CPU_LINE + 1);
  const int lines = (int)((asked + blocks - 1) / blocks);
  for (int64_t group = 0; group < t->rows; group += t->group) {
    int64_t done = 0;
    for (int64_t strip = 0; strip < strips; ++strip) {
      const int64_t vectors = (all - done) / (strips - strip), at = done * V;
      const int64_t part = at + vectors * V > bytes ? bytes - at : vectors * V;
      for (int64_t row = 0, rows; row < t->group; row += rows) {
        rows = cutt_block_rows(t->group - row, MOST);
        if (lines) cutt_cpu_prefetch(&ahead, lines);
        block[vectors][rows](t, group + row, at, part);
      }
      done += vectors;
    }
  }
}

#undef ROWS_OF
#undef OTHERS
#undef DEFINE_BLOCKS
#undef DEFINE_BLOCK
#undef STORE
#undef FMA
#undef OWN
#undef PASTE
#undef PASTE_2
#undef NAME
#undef NUMBER
#undef IS_COMPLEX
#undef MOST
