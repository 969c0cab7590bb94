/* The kernel of sum.cu for elements of SUM_TYPE, which is included once for each type: of SUM_BYTES, numbers of the kind SUM_NUMBER that
 * are computed with, of SUM_VALUE_BYTES. */

#define SUM_EACH ((uint32_t)CUTT_SUM_WINDOW / SUM_BYTES) /* elements of a window */
/* Sums of a thread: one for each window, or for each column of one. */
#define SUM_SUMS (SUM_EACH > CUTT_SUM_LOADS ? SUM_EACH : (uint32_t)CUTT_SUM_LOADS)
/* Blocks that fit on an SM. On sm_90 64 registers are enough for each thread, but with eight sums. */
#if SUM_BYTES > 8 || (SUM_BYTES == 2 && __CUDA_ARCH__ < 900)
#define SUM_BLOCKS 2
#elif SUM_BYTES == 2 || __CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1000
#define SUM_BLOCKS 3
#else
#define SUM_BLOCKS 4
#endif

/* Asks for a step's windows, of which those that hold none of its elements are not loaded. Of a tile at an end of what L spans, elements are
 * loaded by themselves, and put together in shared memory. */
DEVICE void SUM_OF(sum_ask_)(const cutt_sum_args *args, const unsigned char *left, const sum_step *s,
                             const sum_thread *me, word4 *held) {
  const uint32_t rows = sum_rows(args, s), columns = sum_columns(args, s);
  const uint32_t bytes = (args->merged ? rows * columns : columns) * SUM_BYTES, runs = args->merged ? 1 : rows;
  const bool within = s->left + args->reach[0] >= args->low && s->left + args->reach[1] <= args->high;
  UNROLL(CUTT_SUM_LOADS)
  for (uint32_t i = 0; i < CUTT_SUM_LOADS; ++i) {
    const uint32_t shift = sum_shift(left, s, me->begin[i]), from = sum_from(me, i);
    const int64_t at = s->left + me->begin[i] - shift + from;
    const bool holds = sum_row(me, i) < runs && from < shift + bytes;
    held[i] = pass_none16();
    if (within) {
      if (holds) held[i] = global_load16(left + at);
    } else if (holds) {
      const uint32_t room =
          args->sums_at + thread_index() * CUTT_SUM_WINDOW; /* where there are no sums yet, or no more */
      shared_store16(room, pass_none16());
      for (uint32_t byte = 0; byte < CUTT_SUM_WINDOW; byte += SUM_BYTES)
        if (from + byte >= shift && from + byte < shift + bytes)
          SUM_ACCESS(shared_store)(room + byte, SUM_ACCESS(global_load)(left + (at + byte)));
      held[i] = shared_load16(room);
    }
  }
}

DEVICE SUM_VALUE SUM_OF(sum_element_)(const cutt_sum_args *args, word4 window, uint32_t i) {
  return SUM_OF(number_)(SUM_ACCESS(sum_part)(window, i), args->flip);
}

/* A window's element to each of so many sums. The operator is looked at once for all of them. */
DEVICE void SUM_OF(sum_join_)(uint32_t op, SUM_VALUE *sum, const SUM_VALUE *element) {
  if (op == CUTT_COMBINE_ADD) {
    UNROLL(SUM_EACH)
    for (uint32_t e = 0; e < SUM_EACH; ++e) sum[e] = SUM_NUMBER_OF(add_)(element[e], sum[e]);
  } else if (op == CUTT_COMBINE_MULTIPLY) {
    UNROLL(SUM_EACH)
    for (uint32_t e = 0; e < SUM_EACH; ++e) sum[e] = SUM_NUMBER_OF(multiply_)(sum[e], element[e]);
  } else if (op == CUTT_COMBINE_MAX) {
    UNROLL(SUM_EACH)
    for (uint32_t e = 0; e < SUM_EACH; ++e) sum[e] = SUM_NUMBER_OF(combine_)(CUTT_COMBINE_MAX, sum[e], element[e]);
  } else {
    UNROLL(SUM_EACH)
    for (uint32_t e = 0; e < SUM_EACH; ++e) sum[e] = SUM_NUMBER_OF(combine_)(CUTT_COMBINE_MIN, sum[e], element[e]);
  }
}

/* What a window has between two bytes, to a sum, by an operator that is a constant. */
DEVICE SUM_VALUE SUM_OF(sum_window_)(const cutt_sum_args *args, uint32_t op, word4 held, uint32_t from, uint32_t begin,
                                     uint32_t end, SUM_VALUE sum) {
  UNROLL(SUM_EACH)
  for (uint32_t e = 0; e < SUM_EACH; ++e)
    if (from + e * SUM_BYTES >= begin && from + e * SUM_BYTES < end)
      sum = SUM_NUMBER_OF(combine_)(op, sum, SUM_OF(sum_element_)(args, held, e));
  return sum;
}

/* A window's elements, with those that are not the row's changed to none, to a sum. */
DEVICE SUM_VALUE SUM_OF(sum_of_window_)(uint32_t op, const SUM_VALUE *element, SUM_VALUE sum) {
  if (op == CUTT_COMBINE_MULTIPLY) {
    UNROLL(SUM_EACH)
    for (uint32_t e = 0; e < SUM_EACH; ++e) sum = SUM_NUMBER_OF(multiply_)(sum, element[e]);
  } else if (op == CUTT_COMBINE_MAX) {
    UNROLL(SUM_EACH)
    for (uint32_t e = 0; e < SUM_EACH; ++e) sum = SUM_NUMBER_OF(combine_)(CUTT_COMBINE_MAX, sum, element[e]);
  } else {
    UNROLL(SUM_EACH)
    for (uint32_t e = 0; e < SUM_EACH; ++e) sum = SUM_NUMBER_OF(combine_)(CUTT_COMBINE_MIN, sum, element[e]);
  }
  return sum;
}

/* Results are rows: adds up each window by itself, but for what is not the row's. */
DEVICE void SUM_OF(sum_windows_)(const cutt_sum_args *args, const unsigned char *left, const sum_step *s,
                                 const sum_thread *me, const word4 *held, SUM_VALUE *sum) {
  const uint32_t rows = sum_rows(args, s), bytes = sum_columns(args, s) * SUM_BYTES;
  UNROLL(CUTT_SUM_LOADS)
  for (uint32_t i = 0; i < CUTT_SUM_LOADS; ++i) {
    const uint32_t shift = sum_shift(left, s, me->begin[i]), from = sum_from(me, i);
    if (sum_row(me, i) >= rows) continue;
    const uint32_t end = shift + bytes;
    if (args->op != CUTT_COMBINE_ADD) {
      SUM_VALUE element[SUM_EACH];
      UNROLL(SUM_EACH)
      for (uint32_t e = 0; e < SUM_EACH; ++e)
        element[e] = from + e * SUM_BYTES >= shift && from + e * SUM_BYTES < end
                         ? SUM_OF(sum_element_)(args, held[i], e)
                         : SUM_NUMBER_OF(none_)(args->op);
      sum[i] = SUM_OF(sum_of_window_)(args->op, element, sum[i]);
    } else if (from >= shift && from + CUTT_SUM_WINDOW <= end) {
      UNROLL(SUM_EACH)
      for (uint32_t e = 0; e < SUM_EACH; ++e)
        sum[i] = SUM_NUMBER_OF(add_)(SUM_OF(sum_element_)(args, held[i], e), sum[i]);
    } else {
      sum[i] = SUM_OF(sum_window_)(args, CUTT_COMBINE_ADD, held[i], from, shift, end, sum[i]);
    }
  }
}

/* Results are columns, and rows begin at multiples of 16 bytes: adds up windows one upon the other. Columns that are not the tile's are
 * not in use. */
DEVICE void SUM_OF(sum_upon_)(const cutt_sum_args *args, const sum_step *s, const sum_thread *me, const word4 *held,
                              SUM_VALUE *sum) {
  const uint32_t rows = sum_rows(args, s);
  UNROLL(CUTT_SUM_LOADS)
  for (uint32_t i = 0; i < CUTT_SUM_LOADS; ++i) {
    if (sum_row(me, i) >= rows) continue;
    SUM_VALUE element[SUM_EACH];
    UNROLL(SUM_EACH)
    for (uint32_t e = 0; e < SUM_EACH; ++e) element[e] = SUM_OF(sum_element_)(args, held[i], e);
    SUM_OF(sum_join_)(args->op, sum, element);
  }
}

/* The same from shared memory: of columns that are as far from each other as threads have some. What is loaded of those beyond the tile's
 * is not in use. */
DEVICE void SUM_OF(sum_staged_)(const cutt_sum_args *args, const unsigned char *left, const sum_step *s,
                                const sum_thread *me, SUM_VALUE *sum) {
  const uint32_t rows = sum_rows(args, s), columns = sum_columns(args, s), groups = args->sums;
  const uint32_t pitch = args->merged ? args->columns * SUM_BYTES : args->windows.by * CUTT_SUM_WINDOW;
  const uint32_t end = me->group < groups ? rows : 0;
  UNROLL(1)
  for (uint32_t row = me->group; row < end; row += groups) {
    const uint32_t shift = sum_shift(left, s, args->merged ? 0 : (int64_t)row * args->row_step);
    const uint32_t at = row * pitch + shift;
    SUM_VALUE element[SUM_EACH];
    UNROLL(SUM_EACH)
    for (uint32_t e = 0; e < SUM_EACH; ++e) {
      const uint32_t own = me->column + e * args->across.by, column = own < columns ? own : 0;
      element[e] = SUM_OF(number_)(SUM_ACCESS(shared_load)(at + column * SUM_BYTES), args->flip);
    }
    SUM_OF(sum_join_)(args->op, sum, element);
  }
}

DEVICE SUM_VALUE SUM_OF(sum_kept_)(const cutt_sum_args *args, uint32_t number) {
  return SUM_NUMBER_OF(from_bits_)(SUM_VALUE_ACCESS(shared_load)(args->sums_at + number * SUM_VALUE_BYTES));
}

DEVICE void SUM_OF(sum_keep_)(const cutt_sum_args *args, uint32_t number, SUM_VALUE sum) {
  SUM_VALUE_ACCESS(shared_store)(args->sums_at + number * SUM_VALUE_BYTES, SUM_NUMBER_OF(bits_)(sum));
}

/* A thread's sums into shared memory: windows by their numbers; columns row by row. */
DEVICE void SUM_OF(sum_keep_all_)(const cutt_sum_args *args, const sum_thread *me, const SUM_VALUE *sum) {
  if (!args->columns_kept) {
    UNROLL(CUTT_SUM_LOADS)
    for (uint32_t i = 0; i < CUTT_SUM_LOADS; ++i)
      if (sum_row(me, i) < args->rows) SUM_OF(sum_keep_)(args, thread_index() + i * CUTT_SUM_THREADS, sum[i]);
  } else if (me->group < args->sums) {
    UNROLL(SUM_EACH)
    for (uint32_t e = 0; e < SUM_EACH; ++e) {
      const uint32_t column = args->staged ? me->column + e * args->across.by : me->column * SUM_EACH + e;
      SUM_OF(sum_keep_)(args, me->group * args->sum_apart + column, sum[e]);
    }
  }
}

DEVICE SUM_VALUE SUM_OF(sum_of_lane_)(const cutt_sum_args *args, uint32_t result, uint32_t lane) {
  const uint32_t at = result * args->result_apart;
  SUM_VALUE all = SUM_OF(sum_kept_)(args, at + lane * args->sum_apart);
  for (uint32_t i = lane + args->lanes; i < args->sums; i += args->lanes)
    all = SUM_NUMBER_OF(combine_)(args->op, all, SUM_OF(sum_kept_)(args, at + i * args->sum_apart));
  return all;
}

/* The threads' sums to results. */
DEVICE void SUM_OF(sum_finish_)(const cutt_sum_args *args, unsigned char *result, const sum_step *s,
                                const sum_thread *me, const SUM_VALUE *sum) {
  const uint32_t there = args->columns_kept ? sum_columns(args, s) : sum_rows(args, s), lanes = args->lanes;
  barrier(); /* what was there is not in use any more */
  SUM_OF(sum_keep_all_)(args, me, sum);
  barrier();
  if (lanes > 1) {
    const uint32_t own = thread_index() / lanes, lane = thread_index() % lanes;
    SUM_VALUE all = SUM_NUMBER_OF(zero_)();
    if (own < args->results) all = SUM_OF(sum_of_lane_)(args, own, lane);
    barrier();
    if (own < args->results) SUM_OF(sum_keep_)(args, thread_index(), all);
    for (uint32_t half = lanes / 2; half > 0; half /= 2) {
      barrier();
      if (own >= args->results || lane >= half) continue;
      all = SUM_NUMBER_OF(combine_)(args->op, all, SUM_OF(sum_kept_)(args, thread_index() + half));
      SUM_OF(sum_keep_)(args, thread_index(), all);
    }
    barrier();
  }
  for (uint32_t i = thread_index(); i < there; i += CUTT_SUM_THREADS) {
    const SUM_VALUE all = lanes > 1 ? SUM_OF(sum_kept_)(args, i * lanes) : SUM_OF(sum_of_lane_)(args, i, 0);
    SUM_OF(write_)(&args->scalars, args->stores_sums, result + (s->result + (int64_t)i * args->result_step), all);
  }
  barrier();
}

SUM_KERNEL(SUM_OF(cutt_sum_))
(const unsigned char *left, unsigned char *result, CONSTANT(cutt_sum_args) args) {
  const sum_share share = sum_share_of(&args.walk);
  const sum_thread me = sum_begin(&args);
  word4 held[CUTT_SUM_LOADS];
  SUM_VALUE sum[SUM_SUMS];
  sum_step step = sum_find(&args.walk, share.first, share.begin);
  SUM_OF(sum_ask_)(&args, left, &step, &me, held);
  while (step.tile < share.last) {
    if (step.term == share.begin) {
      UNROLL(SUM_SUMS)
      for (uint32_t i = 0; i < SUM_SUMS; ++i) sum[i] = SUM_NUMBER_OF(none_)(args.op);
    }
    const sum_step next = sum_next(&args.walk, &step, share.begin, share.end);
    if (args.staged) {
      UNROLL(CUTT_SUM_LOADS)
      for (uint32_t i = 0; i < CUTT_SUM_LOADS; ++i)
        shared_store16((thread_index() + i * CUTT_SUM_THREADS) * CUTT_SUM_WINDOW, held[i]);
    } else if (args.columns_kept) {
      SUM_OF(sum_upon_)(&args, &step, &me, held, sum);
    } else {
      SUM_OF(sum_windows_)(&args, left, &step, &me, held, sum);
    }
    if (next.tile < share.last) SUM_OF(sum_ask_)(&args, left, &next, &me, held);
    if (args.staged) {
      barrier();
      SUM_OF(sum_staged_)(&args, left, &step, &me, sum);
      barrier(); /* what is there is not in use any more */
    }
    if (next.term == share.begin)
      SUM_OF(sum_finish_)(&args, result + (int64_t)share.part * args.part_bytes, &step, &me, sum);
    step = next;
  }
}

#undef SUM_EACH
#undef SUM_SUMS
#undef SUM_BLOCKS
#undef SUM_TYPE
#undef SUM_BYTES
#undef SUM_NUMBER
#undef SUM_VALUE_BYTES
