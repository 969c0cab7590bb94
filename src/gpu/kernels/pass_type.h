/* The kernel of pass.cu for elements of PASS_TYPE, which is included once for each type: words of PASS_BYTES that hold an
 * element, and numbers of the kind PASS_NUMBER that are computed with, of PASS_SUM_BYTES. */

#define PASS_ROWS CUTT_PASS_ROWS_OF(PASS_BYTES)
#define PASS_TERMS (PASS_BYTES == 8 ? 4u : 2u) /* of one operand, at once */
/* Blocks that fit on an SM. From sm_90 on 80 registers are enough for each thread, and before that loads in flight take more. */
#if PASS_BYTES > 8 || __CUDA_ARCH__ < 900
#define PASS_BLOCKS 2
#else
#define PASS_BLOCKS 3
#endif

/* Loads an operand's part of the rows from `first` on, for one term, with its neighbours by threads side by side, and puts it
 * into shared memory row by row. */
DEVICE void PASS_OF(pass_turn_)(const cutt_pass_args *args, const unsigned char *from, uint32_t side, uint32_t first,
                                const pass_term *term, bool whole) {
  const pass_share own = pass_share_of(&args->turn[side], args->x.by), *const share = &own;
  const uint32_t row_at = (first + share->y) * CUTT_PASS_ROW_ENTRY;
  const pass_pair row = pass_load(row_at), left = pass_load(row_at + 16);
  const unsigned char *const begin = from + (side ? row.b + term->offset.b : row.a + term->offset.a);
  const bool rows = whole || (term->along.b < left.b && term->along_last < pass_load(row_at + 32).b);
  PASS_WORD value[PASS_ROWS];
  UNROLL(PASS_ROWS)
  for (uint32_t i = 0; i < PASS_ROWS; ++i) {
    const uint32_t x = share->x + i * share->step;
    value[i] = PASS_ACCESS(pass_none)();
    if (x < args->x.by && rows) {
      const uint32_t at = args->positions_at + x * CUTT_PASS_POSITION_ENTRY;
      const pass_pair position = pass_load(at);
      if (whole || pass_load(at + 16).a + term->along.a < left.a)
        value[i] = PASS_ACCESS(global_load)(begin + (side ? position.b : position.a));
    }
  }
  barrier(); /* what was there is not in use any more */
  UNROLL(PASS_ROWS)
  for (uint32_t i = 0; i < PASS_ROWS; ++i) {
    const uint32_t x = share->x + i * share->step;
    if (x < args->x.by)
      PASS_ACCESS(shared_store)(args->turn[side].at + (share->y * args->pitch + x) * PASS_BYTES, value[i]);
  }
}

/* The same by other operators than addition. */
DEVICE void PASS_OF(pass_combine_)(const cutt_pass_args *args, const PASS_WORD *l, const PASS_WORD *r, uint32_t there,
                                   PASS_SUM *sum) {
  UNROLL(PASS_ROWS)
  for (uint32_t i = 0; i < PASS_ROWS; ++i) {
    PASS_SUM term = PASS_OF(number_)(l[i], args->flip[0]);
    if (args->has_right) term = PASS_NUMBER_OF(multiply_)(term, PASS_OF(number_)(r[i], args->flip[1]));
    if (there >> i & 1) sum[i] = PASS_NUMBER_OF(combine_)(args->op, sum[i], term);
  }
}

/* Multiplies what has been loaded, of the rows that are there, and adds it to the sums. */
DEVICE void PASS_OF(pass_fuse_)(const cutt_pass_args *args, const PASS_WORD *l, const PASS_WORD *r, uint32_t there,
                                PASS_SUM *sum) {
  if (args->op != CUTT_COMBINE_ADD) {
    PASS_OF(pass_combine_)(args, l, r, there, sum);
  } else if (args->has_right) {
    UNROLL(PASS_ROWS)
    for (uint32_t i = 0; i < PASS_ROWS; ++i) {
      const PASS_SUM left = PASS_OF(number_)(l[i], args->flip[0]), right = PASS_OF(number_)(r[i], args->flip[1]);
      if (there >> i & 1) sum[i] = PASS_NUMBER_OF(fuse_)(left, right, sum[i]);
    }
  } else {
    UNROLL(PASS_ROWS)
    for (uint32_t i = 0; i < PASS_ROWS; ++i) {
      const PASS_SUM left = PASS_OF(number_)(l[i], args->flip[0]);
      if (there >> i & 1) sum[i] = PASS_NUMBER_OF(add_)(left, sum[i]);
    }
  }
}

/* One term of a thread's rows, all of which are there: nothing stands between the loads. */
DEVICE void PASS_OF(pass_add_whole_)(const cutt_pass_args *args, const unsigned char *left, const unsigned char *right,
                                     const pass_thread *me, uint32_t first, const pass_term *term, PASS_SUM *sum) {
  const unsigned char *const left_at = left + (me->at.left + term->offset.a);
  const uint32_t step = args->groups * CUTT_PASS_ROW_ENTRY;
  uint32_t at = (first + me->group) * CUTT_PASS_ROW_ENTRY;
  PASS_WORD l[PASS_ROWS], r[PASS_ROWS];
  if (args->has_right) { /* else right is NULL */
    const unsigned char *const right_at = right + (me->at.right + term->offset.b);
    UNROLL(PASS_ROWS)
    for (uint32_t i = 0; i < PASS_ROWS; ++i, at += step) {
      const pass_pair row = pass_load(at);
      l[i] = PASS_ACCESS(global_load)(left_at + row.a);
      r[i] = PASS_ACCESS(global_load)(right_at + row.b);
    }
  } else {
    UNROLL(PASS_ROWS)
    for (uint32_t i = 0; i < PASS_ROWS; ++i, at += step) {
      l[i] = PASS_ACCESS(global_load)(left_at + pass_load_first(at));
      r[i] = l[i];
    }
  }
  PASS_OF(pass_fuse_)(args, l, r, ~0u, sum);
}

/* The same of several terms of one operand, from the table's entry on: all their loads are under way at once. whole: all positions and
 * rows are there; what is loaded for one that is not, which is not stored, is another's. */
DEVICE void PASS_OF(pass_add_several_)(const cutt_pass_args *args, const unsigned char *left, const pass_thread *me,
                                       uint32_t first, uint32_t term_at, bool whole, PASS_SUM *sum) {
  const uint32_t step = args->groups * CUTT_PASS_ROW_ENTRY;
  uint32_t at = (first + me->group) * CUTT_PASS_ROW_ENTRY;
  const unsigned char *from[PASS_TERMS];
  PASS_WORD l[PASS_TERMS][PASS_ROWS];
  UNROLL(PASS_TERMS)
  for (uint32_t t = 0; t < PASS_TERMS; ++t)
    from[t] = left + (me->at.left + pass_load_first(term_at + t * CUTT_PASS_TERM_ENTRY));
  UNROLL(PASS_ROWS)
  for (uint32_t i = 0; i < PASS_ROWS; ++i, at += step) {
    int64_t row = pass_load_first(at);
    if (!whole && me->at.at0 >= pass_load_first(at + 16)) row -= me->at.left;
    UNROLL(PASS_TERMS)
    for (uint32_t t = 0; t < PASS_TERMS; ++t) l[t][i] = PASS_ACCESS(global_load)(from[t] + row);
  }
  UNROLL(PASS_TERMS)
  for (uint32_t t = 0; t < PASS_TERMS; ++t) PASS_OF(pass_fuse_)(args, l[t], l[t], ~0u, sum);
}

/* Are so many terms from this entry of the table on within the bounds of summed modes? */
DEVICE bool PASS_OF(pass_are_whole_)(uint32_t term_at) {
  uint32_t all = PASS_SUMS_WHOLE;
  UNROLL(PASS_TERMS)
  for (uint32_t t = 0; t < PASS_TERMS; ++t) all &= shared_load4(term_at + t * CUTT_PASS_TERM_ENTRY + 32);
  return all != 0;
}

/* The same where rows may not be there, or an operand is turned. */
DEVICE void PASS_OF(pass_add_)(const cutt_pass_args *args, const unsigned char *left, const unsigned char *right,
                               const pass_thread *me, uint32_t first, const pass_term *term, bool whole,
                               PASS_SUM *sum) {
  const int64_t left_at = me->at.left + term->offset.a, right_at = me->at.right + term->offset.b;
  const int64_t along = me->at.at0 + term->along.a;
  PASS_WORD l[PASS_ROWS], r[PASS_ROWS];
  uint32_t there = 0;
  UNROLL(PASS_ROWS)
  for (uint32_t i = 0; i < PASS_ROWS; ++i) {
    const uint32_t y = me->group + i * args->groups, at = (first + y) * CUTT_PASS_ROW_ENTRY;
    l[i] = r[i] = PASS_ACCESS(pass_none)();
    bool is_there = whole && first + y < args->rows_there;
    if (!whole) {
      const pass_pair bound = pass_load(at + 16);
      is_there = along < bound.a && term->along.b < bound.b && term->along_last < pass_load(at + 32).b;
    }
    if (is_there) {
      const pass_pair row = pass_load(at);
      const uint32_t turned = (y * args->pitch + me->x) * PASS_BYTES;
      there |= 1u << i;
      l[i] = args->turn[0].run.by ? PASS_ACCESS(shared_load)(args->turn[0].at + turned)
                                  : PASS_ACCESS(global_load)(left + (left_at + row.a));
      if (args->has_right)
        r[i] = args->turn[1].run.by ? PASS_ACCESS(shared_load)(args->turn[1].at + turned)
                                    : PASS_ACCESS(global_load)(right + (right_at + row.b));
    }
  }
  PASS_OF(pass_fuse_)(args, l, r, there, sum);
}

DEVICE PASS_SUM PASS_OF(pass_sum_at_)(uint32_t at, uint32_t number) {
  return PASS_NUMBER_OF(from_bits_)(PASS_SUM_ACCESS(shared_load)(at + number * PASS_SUM_BYTES));
}

/* Adds up the sums of threads, `count` for each of `results`, which lie `pitch` sums apart in shared memory, to `lanes` of each. */
DEVICE void PASS_OF(pass_narrow_)(uint32_t op, uint32_t sums_at, uint32_t results, uint32_t count, uint32_t pitch,
                                  uint32_t lanes) {
  for (uint32_t i = thread_index(); i < results * lanes; i += CUTT_PASS_THREADS) {
    const uint32_t lane = i % lanes, at = i / lanes * pitch;
    PASS_SUM sum = PASS_OF(pass_sum_at_)(sums_at, at + lane);
    UNROLL(7)
    for (uint32_t j = 1; j < 8; ++j) { /* at most 8 times as many */
      const uint32_t number = lane + j * lanes;
      if (number < count) sum = PASS_NUMBER_OF(combine_)(op, sum, PASS_OF(pass_sum_at_)(sums_at, at + number));
    }
    PASS_SUM_ACCESS(shared_store)(sums_at + (at + lane) * PASS_SUM_BYTES, PASS_NUMBER_OF(bits_)(sum));
  }
  barrier();
}

/* The sums of threads to results, across positions, across rows, or all of a block. */
DEVICE void PASS_OF(pass_reduce_)(const cutt_pass_args *args, unsigned char *result, const pass_thread *me,
                                  uint32_t first, PASS_SUM *sum) {
  const bool rows = args->way == CUTT_PASS_ACROSS_X;
  const uint32_t results = rows ? args->groups * PASS_ROWS : args->way == CUTT_PASS_ALL ? 1 : args->x.by;
  const uint32_t count = rows ? args->x.by : args->way == CUTT_PASS_ALL ? args->groups * args->x.by : args->groups;
  const uint32_t pitch = count | 1;
  UNROLL(PASS_ROWS)
  for (uint32_t i = 0; i < PASS_ROWS; ++i) {
    if (!rows && i) sum[0] = PASS_NUMBER_OF(combine_)(args->op, sum[0], sum[i]);
    if (me->works && rows) {
      const uint32_t at = (me->group + i * args->groups) * pitch + me->x;
      PASS_SUM_ACCESS(shared_store)(args->sums_at + at * PASS_SUM_BYTES, PASS_NUMBER_OF(bits_)(sum[i]));
    }
  }
  if (me->works && !rows) {
    const uint32_t at = args->way == CUTT_PASS_ALL ? thread_index() : me->x * pitch + me->group;
    PASS_SUM_ACCESS(shared_store)(args->sums_at + at * PASS_SUM_BYTES, PASS_NUMBER_OF(bits_)(sum[0]));
  }
  barrier();
  if (count > CUTT_PASS_LANES) PASS_OF(pass_narrow_)(args->op, args->sums_at, results, count, pitch, CUTT_PASS_LANES);
  const uint32_t narrow = count < CUTT_PASS_LANES ? count : CUTT_PASS_LANES;
  if (narrow > CUTT_PASS_LAST_LANES)
    PASS_OF(pass_narrow_)(args->op, args->sums_at, results, narrow, pitch, CUTT_PASS_LAST_LANES);
  const uint32_t left = narrow < CUTT_PASS_LAST_LANES ? narrow : CUTT_PASS_LAST_LANES;
  for (uint32_t i = thread_index(); i < results; i += CUTT_PASS_THREADS) {
    const uint32_t at = (rows ? first + i : first) * CUTT_PASS_ROW_ENTRY;
    PASS_SUM all = PASS_OF(pass_sum_at_)(args->sums_at, i * pitch);
    for (uint32_t j = 1; j < left; ++j)
      all = PASS_NUMBER_OF(combine_)(args->op, all, PASS_OF(pass_sum_at_)(args->sums_at, i * pitch + j));
    /* Of positions of D, a thread's result is that of its own. */
    const int64_t offset = args->way == CUTT_PASS_ACROSS_Y ? me->at.result : 0;
    const int64_t along = args->way == CUTT_PASS_ACROSS_Y ? me->at.at0 : 0;
    if (along < pass_load(at + 16).a)
      PASS_OF(write_)(&args->scalars, args->stores_sums, result + (pass_load(at + 32).a + offset), all);
  }
  barrier();
}

DEVICE void PASS_OF(pass_finish_)(const cutt_pass_args *args, unsigned char *result, const pass_thread *me,
                                  uint32_t first, PASS_SUM *sum) {
  if (args->way != CUTT_PASS_PLAIN) {
    PASS_OF(pass_reduce_)(args, result, me, first, sum);
    return;
  }
  if (!me->works) return;
  const uint32_t step = args->groups * CUTT_PASS_ROW_ENTRY;
  uint32_t at = (first + me->group) * CUTT_PASS_ROW_ENTRY;
  unsigned char *const to = result + me->at.result;
  /* Terms do not go beyond D's bounds, so that what is whole for one is for all. */
  const bool whole =
      args->terms && (shared_load4(args->terms_at + 32) & PASS_ALL_WHOLE) && args->rows == args->rows_there;
  if (whole && !args->scalars.reads && !args->stores_sums) {
    UNROLL(PASS_ROWS)
    for (uint32_t i = 0; i < PASS_ROWS; ++i, at += step) {
      const PASS_SUM all = PASS_NUMBER_OF(scale_)(&args->scalars, sum[i], sum[i]);
      PASS_ACCESS(global_store)(to + pass_load_first(at + 32), PASS_OF(element_)(all));
    }
    return;
  }
  UNROLL(PASS_ROWS)
  for (uint32_t i = 0; i < PASS_ROWS; ++i, at += step) {
    if (me->at.at0 < pass_load_first(at + 16))
      PASS_OF(write_)(&args->scalars, args->stores_sums, to + pass_load_first(at + 32), sum[i]);
  }
}

PASS_KERNEL(PASS_OF(cutt_pass_))
(const unsigned char *left, unsigned char *result, CONSTANT(cutt_pass_args) args, const unsigned char *right) {
  const uint32_t outer = divide(block_index(), args.inner), rest = block_index() - outer * args.inner.by;
  const uint32_t number = args.parts_first ? outer : rest, part = args.parts_first ? rest : outer;
  const uint32_t begin = part * args.part_terms;
  const uint32_t end = args.terms - begin < args.part_terms ? args.terms : begin + args.part_terms;
  pass_place tile = {0, 0, (int64_t)part * args.part_bytes, 0, 0, 0};
  pass_go(&args, args.z_end, args.tile_end, number, &tile);
  pass_list_rows(&args, &tile);
  const pass_thread me = pass_begin(&args);
  if (args.terms == 0) barrier(); /* otherwise there is one when they are listed */
  const bool turns = args.turn[0].run.by + args.turn[1].run.by > 0;
  const bool alone = !args.has_right && !turns;
  for (uint32_t first = 0; first < args.rows; first += args.groups * PASS_ROWS) {
    PASS_SUM sum[PASS_ROWS];
    UNROLL(PASS_ROWS)
    for (uint32_t i = 0; i < PASS_ROWS; ++i) sum[i] = PASS_NUMBER_OF(none_)(args.op);
    for (uint32_t from = begin; from < end; from += CUTT_PASS_TABLE) {
      const uint32_t count = end - from < CUTT_PASS_TABLE ? end - from : CUTT_PASS_TABLE;
      if (first == 0 || end - begin > CUTT_PASS_TABLE) { /* otherwise all of them are there */
        barrier();
        pass_list_terms(&args, &tile, from, count);
        barrier();
      }
      for (uint32_t z = 0; z < count; ++z) {
        const uint32_t at = args.terms_at + z * CUTT_PASS_TERM_ENTRY;
        if (alone && z + PASS_TERMS <= count && PASS_OF(pass_are_whole_)(at)) {
          PASS_OF(pass_add_several_)(&args, left, &me, first, at, shared_load4(at + 32) & PASS_ALL_WHOLE, sum);
          z += PASS_TERMS - 1;
          continue;
        }
        const bool all = shared_load4(at + 32) & PASS_ALL_WHOLE;
        pass_term term = {{pass_load_first(at), 0}, {0, 0}, 0};
        if (args.has_right) term.offset = pass_load(at);
        if (!all) {
          term.along = pass_load(at + 16);
          term.along_last = pass_load(at + 32).b;
        }
        if (args.turn[0].run.by) PASS_OF(pass_turn_)(&args, left, 0, first, &term, all);
        if (args.turn[1].run.by) PASS_OF(pass_turn_)(&args, right, 1, first, &term, all);
        if (turns) barrier();
        if (all && !turns) {
          PASS_OF(pass_add_whole_)(&args, left, right, &me, first, &term, sum);
        } else {
          PASS_OF(pass_add_)(&args, left, right, &me, first, &term, all, sum);
        }
      }
    }
    PASS_OF(pass_finish_)(&args, result, &me, first, sum);
  }
}

#undef PASS_ROWS
#undef PASS_TERMS
#undef PASS_BLOCKS
#undef PASS_TYPE
#undef PASS_WORD
#undef PASS_BYTES
#undef PASS_NUMBER
#undef PASS_SUM_BYTES
