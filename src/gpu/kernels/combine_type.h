/* The kernel of combine.cu for elements of COMBINE_TYPE, which is included once for each type: words of COMBINE_BYTES that hold an
 * element, and numbers of the kind COMBINE_NUMBER that are computed with. */

#define COMBINE_ROWS CUTT_COMBINE_ROWS_OF(COMBINE_BYTES)

/* Blocks that fit on an SM: 80 registers for each thread are enough for three where the compiler does not have more loads under way, and
 * from sm_100 on more than 128 are wanted for 16 bytes. */
#if COMBINE_BYTES <= 8 && __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000
#define COMBINE_BLOCKS 3
#elif (COMBINE_BYTES == 4 || COMBINE_BYTES == 8) && __CUDA_ARCH__ >= 800 && __CUDA_ARCH__ < 1000
#define COMBINE_BLOCKS 3
#elif COMBINE_BYTES > 8 && __CUDA_ARCH__ >= 1000
#define COMBINE_BLOCKS 1
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
DEVICE void COMBINE_OF(combine_load_)(const cutt_combine_args *args, uint32_t k, const unsigned char *from,
                                      uint32_t place, uint32_t first, uint32_t there, COMBINE_WORD *value) {
  const uint32_t at = combine_row_at(&args->walk[0], first) + (CUTT_COMBINE_ROW_A + k) * CUTT_COMBINE_WORD_BYTES;
  UNROLL(COMBINE_ROWS)
  for (uint32_t i = 0; i < COMBINE_ROWS; ++i) value[i] = COMBINE_ACCESS(pass_none)();
  if (args->use[k] == CUTT_COMBINE_TURNED) {
    UNROLL(COMBINE_ROWS)
    for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
      if (there >> i & 1)
        value[i] = COMBINE_ACCESS(shared_load)(place + shared_load4(at + i * (4 * CUTT_COMBINE_WORD_BYTES)));
    }
  } else if (args->use[k] == CUTT_COMBINE_DIRECT) {
    UNROLL(COMBINE_ROWS)
    for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
      if (!(there >> i & 1)) continue;
      const int64_t row = (int32_t)shared_load4(at + i * (4 * CUTT_COMBINE_WORD_BYTES));
      value[i] = COMBINE_ACCESS(global_load)(from + row * COMBINE_BYTES);
    }
  }
}

/* Where a thread's elements are, in the tensors and in shared memory. */
typedef struct COMBINE_OF(combine_at_) {
  const unsigned char *a, *b, *c;
  unsigned char *d;
  uint32_t place_a, place_b, place_c;
} COMBINE_OF(combine_at_);

/* A thread's rows from `first` on: loads, computes and stores those that are there. */
DEVICE void COMBINE_OF(combine_rows_)(const cutt_combine_args *args, const COMBINE_OF(combine_at_) * at, uint32_t first,
                                      uint32_t there) {
  COMBINE_WORD in_a[COMBINE_ROWS], in_b[COMBINE_ROWS], in_c[COMBINE_ROWS];
  COMBINE_OF(combine_load_)(args, 0, at->a, at->place_a, first, there, in_a);
  COMBINE_OF(combine_load_)(args, 1, at->b, at->place_b, first, there, in_b);
  COMBINE_OF(combine_load_)(args, 2, at->c, at->place_c, first, there, in_c);
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
    if (step == COMBINE_BYTES) {                                                                                       \
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
    COMBINE_OF(combine_get##vector##_)(at->place_a, args->beside[0], a, there, x);                                     \
    COMBINE_OF(combine_get##vector##_)(at->place_b, args->beside[1], b, there, y);                                     \
    COMBINE_JOIN(args->op[0], x, y, (vector) * (together))                                                             \
    if (args->three) {                                                                                                 \
      COMBINE_OF(combine_get##vector##_)(at->place_c, args->beside[2], c, there, y);                                   \
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
  if (!args.even) combine_list_limits(&args, 0, CUTT_COMBINE_WHOLE_TILE);
  /* A thread's positions do not change from tile to tile. */
  const combine_spot mine = combine_position(&args);
  combine_own own[CUTT_COMBINE_OPERANDS] = {{0, 0}, {0, 0}, {0, 0}};
  UNROLL(3)
  for (uint32_t k = 0; k < CUTT_COMBINE_OPERANDS; ++k) {
    if (args.use[k] == CUTT_COMBINE_TURNED) own[k] = combine_own_position(&args, k);
  }
  barrier();
  if (!args.even) {
    combine_list_left(&args, CUTT_COMBINE_WHOLE_TILE);
    barrier();
  }
  UNROLL(1)
  for (uint32_t number = block_index();;) {
    const combine_tile tile = combine_tile_of(&args, number);
    const uint32_t set = tile.whole ? CUTT_COMBINE_WHOLE_TILE : CUTT_COMBINE_PART;
    if (!tile.whole) {
      combine_list_limits(&args, number, set);
      barrier();
      combine_list_left(&args, set);
      barrier();
    }
    UNROLL(1)
    for (uint32_t k = 0; k < CUTT_COMBINE_OPERANDS; ++k) {
      if (args.use[k] != CUTT_COMBINE_TURNED) continue;
      const combine_own my = k == 0 ? own[0] : k == 1 ? own[1] : own[2];
      const int64_t from = (k == 0 ? tile.a : k == 1 ? tile.b : tile.c) + my.from;
      COMBINE_OF(combine_turn_)
      (&args.walk[1 + k], set,
       (k == 0   ? a
        : k == 1 ? b
                 : c) +
           from * COMBINE_BYTES,
       args.turned_at[k] + (uint32_t)my.place);
    }
    async_commit();
    async_wait(0);
    barrier();
    const COMBINE_OF(combine_at_)
        at = {a + (tile.a + mine.a) * COMBINE_BYTES, b + (tile.b + mine.b) * COMBINE_BYTES,
              c + (tile.c + mine.c) * COMBINE_BYTES, result + (tile.d + mine.d) * COMBINE_BYTES,
              args.turned_at[0] + (uint32_t)mine.a,  args.turned_at[1] + (uint32_t)mine.b,
              args.turned_at[2] + (uint32_t)mine.c};
    COMBINE_OF(combine_all_)(&args, &at, set);
    number += args.step;
    if (number >= args.tiles) break;
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
