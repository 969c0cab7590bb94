/* The kernel of combine.cu for elements of COMBINE_TYPE, which is included once for each type: words of COMBINE_BYTES that hold an
 * element, and numbers of the kind COMBINE_NUMBER that are computed with. */

#define COMBINE_ROWS CUTT_COMBINE_ROWS_OF(COMBINE_BYTES)

/* Blocks that fit on an SM: 80 registers for each thread are enough for three where the compiler does not have more loads under way. */
#if COMBINE_BYTES <= 8 && __CUDA_ARCH__ >= 900
#define COMBINE_BLOCKS 3
#elif (COMBINE_BYTES == 4 || COMBINE_BYTES == 8) && __CUDA_ARCH__ >= 800
#define COMBINE_BLOCKS 3
#else
#define COMBINE_BLOCKS 2
#endif

/* In all of these, rows of a tile that is whole are a loop of their own: a branch for each element would take longer than all else. */

/* Loads an operand by a walk in its own order, an access of so many bytes at a time, and puts it into shared memory, with copies that
 * don't wait. `all`: every row of the walk is there. */
#define COMBINE_DEFINE_TURN(width)                                                                                     \
  DEVICE void COMBINE_OF(combine_turn##width##_)(const cutt_combine_walk *walk, uint32_t set,                          \
                                                 const unsigned char *from, uint32_t to, uint32_t split, bool all) {   \
    enum { TOGETHER = 8, SOME = 4 }; /* rows whose entries are loaded together */                                      \
    const uint32_t rows = walk->rows;                                                                                  \
    uint32_t first = 0, at = combine_own_at(walk, 0);                                                                  \
    UNROLL(1)                                                                                                          \
    for (; all && first + TOGETHER <= rows; first += TOGETHER, at += TOGETHER * 2 * CUTT_COMBINE_WORD_BYTES) {         \
      word2 row[TOGETHER];                                                                                             \
      UNROLL(TOGETHER)                                                                                                 \
      for (uint32_t i = 0; i < TOGETHER; ++i) row[i] = shared_load8(at + i * 2 * CUTT_COMBINE_WORD_BYTES);             \
      UNROLL(TOGETHER)                                                                                                 \
      for (uint32_t i = 0; i < TOGETHER; ++i)                                                                          \
        async_copy##width(to + row[i].y, from + (int64_t)(int32_t)row[i].x * COMBINE_BYTES, false);                    \
    }                                                                                                                  \
    UNROLL(1)                                                                                                          \
    for (; first < rows; first += SOME) {                                                                              \
      word2 row[SOME];                                                                                                 \
      uint32_t there = 0;                                                                                              \
      UNROLL(SOME)                                                                                                     \
      for (uint32_t i = 0; i < SOME; ++i) {                                                                            \
        const uint32_t y = first + i < rows ? first + i : first;                                                       \
        row[i] = shared_load8(combine_own_at(walk, y));                                                                \
        if (first + i < rows &&                                                                                        \
            (all || combine_within(split, combine_left_of(walk, CUTT_COMBINE_TURN_LEFT + set, y, 0))))                 \
          there |= 1u << i;                                                                                            \
      }                                                                                                                \
      UNROLL(SOME)                                                                                                     \
      for (uint32_t i = 0; i < SOME; ++i) {                                                                            \
        if (there >> i & 1)                                                                                            \
          async_copy##width(to + row[i].y, from + (int64_t)(int32_t)row[i].x * COMBINE_BYTES, false);                  \
      }                                                                                                                \
    }                                                                                                                  \
  }
#if COMBINE_BYTES <= 4
COMBINE_DEFINE_TURN(4)
#endif
#if COMBINE_BYTES == 8
COMBINE_DEFINE_TURN(8)
#endif
COMBINE_DEFINE_TURN(16)
#undef COMBINE_DEFINE_TURN

#if COMBINE_BYTES < 4
/* The same through registers, element by element. */
DEVICE void COMBINE_OF(combine_turn_one_)(const cutt_combine_walk *walk, uint32_t set, const unsigned char *from,
                                          uint32_t to, uint32_t split, bool all) {
  enum { TOGETHER = 8 };
  const uint32_t rows = walk->rows;
  for (uint32_t first = 0; first < rows; first += TOGETHER) {
    COMBINE_WORD value[TOGETHER];
    uint32_t there = 0;
    UNROLL(8)
    for (uint32_t i = 0; i < TOGETHER; ++i) {
      const uint32_t y = first + i < rows ? first + i : first;
      if (all ? first + i < rows
              : first + i < rows && combine_within(split, combine_left_of(walk, CUTT_COMBINE_TURN_LEFT + set, y, 0)))
        there |= 1u << i;
      value[i] = COMBINE_ACCESS(pass_none)();
      if (there >> i & 1)
        value[i] =
            COMBINE_ACCESS(global_load)(from + (int64_t)(int32_t)shared_load4(combine_own_at(walk, y)) * COMBINE_BYTES);
    }
    UNROLL(8)
    for (uint32_t i = 0; i < TOGETHER; ++i) {
      if (there >> i & 1) COMBINE_ACCESS(shared_store)
      (to + shared_load4(combine_own_at(walk, first + i) + CUTT_COMBINE_WORD_BYTES), value[i]);
    }
  }
}
#endif

#if COMBINE_BYTES < 16
/* The same by windows of 16 bytes. tile: bytes from the operand's first element to the tile's; to: where that one comes to lie. */
DEVICE void COMBINE_OF(combine_turn_windows_)(const cutt_combine_args *args, uint32_t k, uint32_t set,
                                              const unsigned char *operand, int64_t tile, uint32_t to) {
  enum { TOGETHER = 4 };
  const cutt_combine_walk *walk = &args->walk[1 + k];
  const cutt_combine_digit *digit = &walk->digit[0];
  const uint32_t rows = walk->rows, runs = walk->runs;
  const uint32_t run = multiply_high(thread_index(), digit->inverse), window = thread_index() - run * digit->extent;
  if (run >= runs) return;
  const bool whole = set == CUTT_COMBINE_WHOLE_TILE;
  const uint32_t extent = whole ? args->chunk[digit->mode] : shared_load4(combine_limit_at(set, digit->mode));
  const cutt_combine_span *span = &args->span[k];
  const bool within = tile + span->reach[0] >= span->low && tile + span->reach[1] <= span->high;
  const uintptr_t from = (uintptr_t)(operand + tile) + window * CUTT_COMBINE_WINDOW;
  to += window * CUTT_COMBINE_WINDOW;
  /* Bytes of the run from the window on, if a window began with the run. */
  const int32_t left = (int32_t)(extent * walk->inner * COMBINE_BYTES) - (int32_t)(window * CUTT_COMBINE_WINDOW);
  const uint32_t step = runs * (2 * CUTT_COMBINE_WORD_BYTES);
  uint32_t at = combine_own_at(walk, run);
  UNROLL(1)
  for (uint32_t y = run; y < rows && within; y += TOGETHER * runs, at += TOGETHER * step) {
    word2 row[TOGETHER];
    int32_t left_of[TOGETHER];
    UNROLL(TOGETHER)
    for (uint32_t i = 0; i < TOGETHER; ++i) {
      const bool there = y + i * runs < rows;
      row[i] = shared_load8(there ? at + i * step : at);
      left_of[i] = there ? left : -CUTT_COMBINE_WINDOW;
    }
    if (!whole) {
      UNROLL(TOGETHER)
      for (uint32_t i = 0; i < TOGETHER; ++i)
        if (y + i * runs < rows && !shared_load1(combine_run_at(walk, y + i * runs))) left_of[i] = -CUTT_COMBINE_WINDOW;
    }
    UNROLL(TOGETHER)
    for (uint32_t i = 0; i < TOGETHER; ++i) {
      const uintptr_t here = from + (uintptr_t)((int64_t)(int32_t)row[i].x * COMBINE_BYTES);
      async_copy16_if((int32_t)(here % CUTT_COMBINE_WINDOW) + left_of[i] > 0,
                      (to + row[i].y) & ~(CUTT_COMBINE_WINDOW - 1u),
                      (const void *)(here & ~(uintptr_t)(CUTT_COMBINE_WINDOW - 1)));
    }
  }
  /* In a tile at an end of what the operand spans, elements of windows that go beyond are loaded by themselves. */
  UNROLL(1)
  for (uint32_t y = run; y < rows && !within; y += runs) {
    if (!whole && !shared_load1(combine_run_at(walk, y))) continue;
    const word2 row = shared_load8(combine_own_at(walk, y));
    const unsigned char *here =
        operand + (tile + window * CUTT_COMBINE_WINDOW + (int64_t)(int32_t)row.x * COMBINE_BYTES);
    const uint32_t shift = (uint32_t)(uintptr_t)here % CUTT_COMBINE_WINDOW;
    const uint32_t there = (to + row.y) & ~(CUTT_COMBINE_WINDOW - 1u);
    here -= shift;
    const bool inside = here >= operand + span->low && here + CUTT_COMBINE_WINDOW <= operand + span->high;
    if ((int32_t)shift + left <= 0) continue;
    if (inside) async_copy16(there, here, false);
    UNROLL(1)
    for (uint32_t byte = 0; byte < CUTT_COMBINE_WINDOW && !inside; byte += COMBINE_BYTES) {
      if ((window > 0 || byte >= shift) && (int32_t)(shift - byte) + left > 0)
        COMBINE_ACCESS(shared_store)(there + byte, COMBINE_ACCESS(global_load)(here + byte));
    }
  }
}
#endif

/* Of one operand: from: of the thread, in the tile; to: the same in shared memory. */
DEVICE void COMBINE_OF(combine_turn_)(const cutt_combine_walk *walk, uint32_t set, const unsigned char *from,
                                      uint32_t to) {
  combine_part me = {0, 0, thread_index() < walk->x};
  const bool all = set == CUTT_COMBINE_WHOLE_TILE && walk->even;
  if (!all) me = combine_mine(walk, set);
  if (!me.there) return;
#if COMBINE_BYTES < 4
  if (walk->width == COMBINE_BYTES) {
    COMBINE_OF(combine_turn_one_)(walk, set, from, to, me.split, all);
    return;
  }
#endif
#if COMBINE_BYTES <= 4
  if (walk->width == 4) {
    COMBINE_OF(combine_turn4_)(walk, set, from, to, me.split, all);
    return;
  }
#endif
#if COMBINE_BYTES == 8
  if (walk->width == 8) {
    COMBINE_OF(combine_turn8_)(walk, set, from, to, me.split, all);
    return;
  }
#endif
  COMBINE_OF(combine_turn16_)(walk, set, from, to, me.split, all);
}

/* What a thread has of an operand in some rows, of which those are there whose bits are set. */
DEVICE void COMBINE_OF(combine_load_)(const cutt_combine_args *args, uint32_t k, uint32_t place, uint32_t first,
                                      uint32_t there, COMBINE_WORD *value) {
  const uint32_t at = combine_row_at(&args->walk[0], first) + (CUTT_COMBINE_ROW_A + k) * CUTT_COMBINE_WORD_BYTES;
  UNROLL(COMBINE_ROWS)
  for (uint32_t i = 0; i < COMBINE_ROWS; ++i) value[i] = COMBINE_ACCESS(pass_none)();
  if (args->use[k] != CUTT_COMBINE_TURNED) return;
  UNROLL(COMBINE_ROWS)
  for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
    if (there >> i & 1)
      value[i] = COMBINE_ACCESS(shared_load)(place + shared_load4(at + i * (4 * CUTT_COMBINE_WORD_BYTES)));
  }
}

/* Where a thread's elements are: in shared memory, and in D. */
typedef struct COMBINE_OF(combine_at_) {
  uint32_t a, b, c;
  unsigned char *d;
} COMBINE_OF(combine_at_);

/* A thread's rows from `first` on: loads, computes and stores those that are there. */
DEVICE void COMBINE_OF(combine_rows_)(const cutt_combine_args *args, const COMBINE_OF(combine_at_) * at, uint32_t first,
                                      uint32_t there) {
  COMBINE_WORD in_a[COMBINE_ROWS], in_b[COMBINE_ROWS], in_c[COMBINE_ROWS];
  COMBINE_OF(combine_load_)(args, 0, at->a, first, there, in_a);
  COMBINE_OF(combine_load_)(args, 1, at->b, first, there, in_b);
  COMBINE_OF(combine_load_)(args, 2, at->c, first, there, in_c);
  COMBINE_OF(combine_numbers_)(args, in_a, in_b, in_c);
  const uint32_t entry = combine_row_at(&args->walk[0], first);
  UNROLL(COMBINE_ROWS)
  for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
    if (!(there >> i & 1)) continue;
    const int64_t row = (int32_t)shared_load4(entry + i * (4 * CUTT_COMBINE_WORD_BYTES));
    COMBINE_ACCESS(global_store)(at->d + row * COMBINE_BYTES, in_a[i]);
  }
}

/* Where nothing is but turned operands: `vector` elements of D's first mode at once, in a few rows, by few instructions. Of an operand
 * that has them next to each other, too, all are one access; steps: from one to the next, in bytes. */
#define COMBINE_DEFINE_PLAIN(vector, together, bytes, pack, unpack)                                                    \
  DEVICE void COMBINE_OF(combine_get##vector##_)(uint32_t place, uint32_t step, const uint32_t *row, uint32_t there,   \
                                                 COMBINE_REAL *x) {                                                    \
    COMBINE_WORD value[(vector) * (together)];                                                                         \
    if ((vector) > 1 && step == COMBINE_BYTES) {                                                                       \
      UNROLL(together)                                                                                                 \
      for (uint32_t r = 0; r < (together); ++r)                                                                        \
        if (there >> r & 1) unpack(shared_load##bytes(place + row[r]), &value[r * (vector)]);                          \
    } else {                                                                                                           \
      UNROLL(together)                                                                                                 \
      for (uint32_t r = 0; r < (together); ++r) {                                                                      \
        uint32_t at = place + row[r];                                                                                  \
        UNROLL(vector)                                                                                                 \
        for (uint32_t i = 0; i < (vector); ++i, at += step)                                                            \
          if (there >> r & 1) value[r * (vector) + i] = COMBINE_ACCESS(shared_load)(at);                               \
      }                                                                                                                \
    }                                                                                                                  \
    UNROLL(16)                                                                                                         \
    for (uint32_t i = 0; i < (vector) * (together); ++i) x[i] = COMBINE_OF(number_)(value[i], 0);                      \
  }                                                                                                                    \
  DEVICE void COMBINE_OF(combine_put##vector##_)(const cutt_combine_args *args, const COMBINE_OF(combine_at_) * at,    \
                                                 uint32_t first, uint32_t there) {                                     \
    const uint32_t entry = combine_row_at(&args->walk[0], first);                                                      \
    uint32_t d[together], a[together], b[together], c[together];                                                       \
    COMBINE_REAL x[(vector) * (together)], y[(vector) * (together)];                                                   \
    UNROLL(together)                                                                                                   \
    for (uint32_t r = 0; r < (together); ++r) {                                                                        \
      word4 row = {0, 0, 0, 0};                                                                                        \
      if (there >> r & 1) row = shared_load16(entry + r * (4 * CUTT_COMBINE_WORD_BYTES));                              \
      d[r] = row.x, a[r] = row.y, b[r] = row.z, c[r] = row.w;                                                          \
    }                                                                                                                  \
    COMBINE_OF(combine_get##vector##_)(at->a, args->beside[0], a, there, x);                                           \
    COMBINE_OF(combine_get##vector##_)(at->b, args->beside[1], b, there, y);                                           \
    COMBINE_JOIN(args->op[0], x, y, (vector) * (together))                                                             \
    if (args->three) {                                                                                                 \
      COMBINE_OF(combine_get##vector##_)(at->c, args->beside[2], c, there, y);                                         \
      COMBINE_JOIN(args->op[1], x, y, (vector) * (together))                                                           \
    }                                                                                                                  \
    UNROLL(together)                                                                                                   \
    for (uint32_t r = 0; r < (together); ++r) {                                                                        \
      COMBINE_WORD value[vector];                                                                                      \
      UNROLL(vector)                                                                                                   \
      for (uint32_t i = 0; i < (vector); ++i) value[i] = COMBINE_OF(element_)(x[r * (vector) + i]);                    \
      if (there >> r & 1) global_store##bytes(at->d + (int64_t)(int32_t)d[r] * COMBINE_BYTES, pack(value));            \
    }                                                                                                                  \
  }                                                                                                                    \
  DEVICE void COMBINE_OF(combine_plain##vector##_)(const cutt_combine_args *args, const COMBINE_OF(combine_at_) * at,  \
                                                   uint32_t set, uint32_t split, bool all) {                           \
    const cutt_combine_walk *walk = &args->walk[0];                                                                    \
    const uint32_t rows = walk->rows;                                                                                  \
    uint32_t first = 0;                                                                                                \
    UNROLL(1)                                                                                                          \
    for (; all && first + (together) <= rows; first += (together))                                                     \
      COMBINE_OF(combine_put##vector##_)(args, at, first, (1u << (together)) - 1);                                     \
    UNROLL(1)                                                                                                          \
    for (; first < rows; first += (together)) {                                                                        \
      uint32_t there = 0;                                                                                              \
      UNROLL(together)                                                                                                 \
      for (uint32_t r = 0; r < (together); ++r) {                                                                      \
        const uint32_t y = first + r;                                                                                  \
        if (y < rows && (all || combine_within(split, combine_left_of(walk, CUTT_COMBINE_LEFT + set, y, first))))      \
          there |= 1u << r;                                                                                            \
      }                                                                                                                \
      COMBINE_OF(combine_put##vector##_)(args, at, first, there);                                                      \
    }                                                                                                                  \
  }
#define COMBINE_ONE(v) (*(v))
#define COMBINE_TO_ONE(v, to) (*(to) = (v))
#if COMBINE_BYTES == 2
COMBINE_DEFINE_PLAIN(1, 4, 2, COMBINE_ONE, COMBINE_TO_ONE)
COMBINE_DEFINE_PLAIN(8, 1, 16, combine_pack2, combine_unpack2)
#elif COMBINE_BYTES == 4
COMBINE_DEFINE_PLAIN(1, 4, 4, COMBINE_ONE, COMBINE_TO_ONE)
COMBINE_DEFINE_PLAIN(4, 2, 16, combine_pack4, combine_unpack4)
#elif COMBINE_BYTES == 8
COMBINE_DEFINE_PLAIN(1, 4, 8, COMBINE_ONE, COMBINE_TO_ONE)
COMBINE_DEFINE_PLAIN(2, 2, 16, combine_pack8, combine_unpack8)
#else
COMBINE_DEFINE_PLAIN(1, 2, 16, COMBINE_ONE, COMBINE_TO_ONE)
#endif
#undef COMBINE_ONE
#undef COMBINE_TO_ONE
#undef COMBINE_DEFINE_PLAIN

/* All of a thread's. */
DEVICE void COMBINE_OF(combine_all_)(const cutt_combine_args *args, const COMBINE_OF(combine_at_) * at, uint32_t set) {
  const cutt_combine_walk *walk = &args->walk[0];
  const uint32_t rows = walk->rows, every = (1u << COMBINE_ROWS) - 1;
  combine_part me = {0, 0, thread_index() < walk->x};
  const bool all = set == CUTT_COMBINE_WHOLE_TILE && walk->even;
  if (!all) me = combine_mine(walk, set);
  if (!me.there) return;
  uint32_t first = 0;
#if COMBINE_BYTES == 2
  if (walk->width == 16) {
    COMBINE_OF(combine_plain8_)(args, at, set, me.split, all);
    return;
  }
#elif COMBINE_BYTES == 4
  if (walk->width == 16) {
    COMBINE_OF(combine_plain4_)(args, at, set, me.split, all);
    return;
  }
#elif COMBINE_BYTES == 8
  if (walk->width == 16) {
    COMBINE_OF(combine_plain2_)(args, at, set, me.split, all);
    return;
  }
#endif
  if (args->plain) {
    COMBINE_OF(combine_plain1_)(args, at, set, me.split, all);
    return;
  }
  UNROLL(1)
  for (; all && first + COMBINE_ROWS <= rows; first += COMBINE_ROWS) COMBINE_OF(combine_rows_)(args, at, first, every);
  UNROLL(1)
  for (; first < rows; first += COMBINE_ROWS) {
    uint32_t there = 0;
    UNROLL(COMBINE_ROWS)
    for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
      if (first + i < rows &&
          (all || combine_within(me.split, combine_left_of(walk, CUTT_COMBINE_LEFT + set, first + i, first))))
        there |= 1u << i;
    }
    COMBINE_OF(combine_rows_)(args, at, first, there);
  }
}

COMBINE_KERNEL(COMBINE_OF(cutt_combine_), COMBINE_BLOCKS)
(const unsigned char *a, unsigned char *result, CONSTANT(cutt_combine_args) args, const unsigned char *b,
 const unsigned char *c) {
  combine_list_rows(&args);
  combine_list_tile(&args, block_index(), 0);
  if (!args.even) combine_list_limits(&args, 0, CUTT_COMBINE_WHOLE_TILE);
  /* A thread's positions do not change from tile to tile. */
  const combine_spot mine = combine_position(&args);
  combine_own own[2] = {{0, 0}, {0, 0}};
  UNROLL(2)
  for (uint32_t k = 0; k < 2; ++k) {
    if (args.use[k] == CUTT_COMBINE_TURNED && !args.walk[1 + k].window) own[k] = combine_own_position(&args, k);
  }
  barrier();
  if (!args.even) {
    combine_list_left(&args, CUTT_COMBINE_WHOLE_TILE);
    barrier();
  }
  UNROLL(1)
  for (uint32_t turn = 0;; ++turn) {
    const combine_tile tile = combine_listed_tile(turn);
    const uint32_t set = tile.whole ? CUTT_COMBINE_WHOLE_TILE : CUTT_COMBINE_PART;
    if (!tile.whole) {
      combine_list_limits(&args, tile.number, set);
      barrier();
      combine_list_left(&args, set);
      barrier();
    }
    UNROLL(1)
    for (uint32_t k = 0; k < CUTT_COMBINE_OPERANDS; ++k) {
      if (args.use[k] != CUTT_COMBINE_TURNED) continue;
      const unsigned char *const operand = k == 0 ? a : k == 1 ? b : c;
      const int64_t from = (k == 0 ? tile.a : k == 1 ? tile.b : tile.c) * COMBINE_BYTES;
#if COMBINE_BYTES < 16
      if (args.walk[1 + k].window) {
        COMBINE_OF(combine_turn_windows_)
        (&args, k, set, operand, from, args.turned_at[k] + combine_shift(&args, k, operand + from));
        continue;
      }
#endif
      const combine_own my = k == 0 ? own[0] : k == 1 ? own[1] : combine_own_position(&args, k);
      COMBINE_OF(combine_turn_)
      (&args.walk[1 + k], set, operand + from + (int64_t)my.from * COMBINE_BYTES,
       args.turned_at[k] + (uint32_t)my.place);
    }
    async_commit();
    /* While the tile is on its way. */
    const uint32_t next = tile.number + args.step;
    const bool last = next >= args.tiles;
    if (!last) combine_list_tile(&args, next, turn + 1);
    const COMBINE_OF(combine_at_)
        at = {combine_at(&args, 0, a + tile.a * COMBINE_BYTES, mine.a),
              combine_at(&args, 1, b + tile.b * COMBINE_BYTES, mine.b),
              combine_at(&args, 2, c + tile.c * COMBINE_BYTES, mine.c), result + (tile.d + mine.d) * COMBINE_BYTES};
    async_wait(0);
    barrier();
    COMBINE_OF(combine_all_)(&args, &at, set);
    if (last) break;
    barrier(); /* before what was read is written over */
  }
}

#undef COMBINE_ROWS
#undef COMBINE_BLOCKS
#undef COMBINE_TYPE
#undef COMBINE_WORD
#undef COMBINE_BYTES
#undef COMBINE_NUMBER
#undef COMBINE_COUNT
