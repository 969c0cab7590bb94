/* The kernel of stretch.cu for elements of STRETCH_TYPE, which is included once for each type: of STRETCH_BYTES, numbers of the kind
 * STRETCH_NUMBER that are computed with, of STRETCH_VALUE_BYTES. */

/* Blocks that fit on an SM, and terms that are loaded at once. */
#define STRETCH_BLOCKS (STRETCH_BYTES > 8 ? 2 : 4)
#define STRETCH_BATCH 4
/* Results that a thread has at once where it has all of their terms. */
#define STRETCH_AT_ONCE CUTT_STRETCH_AT_ONCE(STRETCH_BYTES)
#define STRETCH_EACH ((uint32_t)CUTT_STRETCH_WINDOW / STRETCH_BYTES) /* elements of a window */

/* The window at an end of what L spans: its elements by themselves, and zeros, which are loaded with them and not in use. */
DEVICE void STRETCH_OF(stretch_ask_end_)(const unsigned char *left, const sum_step *s, uint32_t stage_at,
                                         uint32_t shift, uint32_t bytes, uint32_t window) {
  const uint32_t byte = window * CUTT_STRETCH_WINDOW + thread_index() * STRETCH_BYTES;
  if (thread_index() >= STRETCH_EACH) return;
  STRETCH_WORD word = STRETCH_ACCESS(pass_none)();
  if (byte >= shift && byte < shift + bytes) word = STRETCH_ACCESS(global_load)(left + (s->left + byte - shift));
  STRETCH_ACCESS(shared_store)(stage_at + byte, word);
  bulk_after_stores();
}

/* Asks for a stretch's windows, which are counted from the line on that it begins in: all threads, or one warp where there are copies in
 * bulk, with their counter. */
DEVICE void STRETCH_OF(stretch_ask_)(const cutt_stretch_args *args, const unsigned char *left, const sum_step *s,
                                     uint32_t stage_at, uint32_t counter_at) {
  const uint32_t shift = stretch_shift(left, s), bytes = stretch_there(args, s) * args->part_step;
  const uint32_t first = shift / CUTT_STRETCH_WINDOW,
                 windows = (shift + bytes + CUTT_STRETCH_WINDOW - 1) / CUTT_STRETCH_WINDOW;
  const int64_t at = s->left - shift;
  const bool begins = at + (int64_t)first * CUTT_STRETCH_WINDOW >= args->low,
             ends = at + (int64_t)windows * CUTT_STRETCH_WINDOW <= args->high;
  const uint32_t begin = begins ? first : first + 1, end = ends ? windows : windows - 1;
  if (has_bulk()) {
    if (thread_index() == 0 && begin < end)
      bulk_copy(counter_at, stage_at + begin * CUTT_STRETCH_WINDOW, left + (at + begin * CUTT_STRETCH_WINDOW),
                (end - begin) * CUTT_STRETCH_WINDOW);
  } else {
    uint32_t i = thread_index() < begin ? thread_index() + CUTT_STRETCH_THREADS : thread_index();
    uint32_t to = stage_at + i * CUTT_STRETCH_WINDOW;
    const unsigned char *from = left + (at + i * CUTT_STRETCH_WINDOW);
    const uint32_t apart = CUTT_STRETCH_THREADS * CUTT_STRETCH_WINDOW;
    UNROLL(1)
    for (; i + 3 * CUTT_STRETCH_THREADS < end; i += 4 * CUTT_STRETCH_THREADS, to += 4 * apart, from += 4 * apart) {
      UNROLL(4)
      for (uint32_t k = 0; k < 4; ++k) async_copy16(to + k * apart, from + k * apart, true);
    }
    UNROLL(3)
    for (uint32_t k = 0; k < 3; ++k)
      async_copy16_if(i + k * CUTT_STRETCH_THREADS < end, to + k * apart, from + k * apart);
  }
  if (!begins) STRETCH_OF(stretch_ask_end_)(left, s, stage_at, shift, bytes, first);
  if (!ends) STRETCH_OF(stretch_ask_end_)(left, s, stage_at, shift, bytes, windows - 1);
}

DEVICE STRETCH_VALUE STRETCH_OF(stretch_kept_)(uint32_t at) {
  return STRETCH_NUMBER_OF(from_bits_)(STRETCH_VALUE_ACCESS(shared_load)(at));
}

DEVICE void STRETCH_OF(stretch_keep_)(uint32_t at, STRETCH_VALUE sum) {
  STRETCH_VALUE_ACCESS(shared_store)(at, STRETCH_NUMBER_OF(bits_)(sum));
}

/* Writes a result. That alpha is 1 and beta 0 is asked here: to make floats of both takes as long as some terms. */
DEVICE void STRETCH_OF(stretch_write_)(const cutt_stretch_args *args, unsigned char *to, STRETCH_VALUE all) {
  if (stretch_is_plain(args))
    STRETCH_ACCESS(global_store)(to, STRETCH_OF(element_)(all));
  else
    STRETCH_OF(write_)(&args->scalars, args->stores_sums, to, all);
}

DEVICE STRETCH_VALUE STRETCH_OF(stretch_number_)(const cutt_stretch_args *args, uint32_t at) {
  return STRETCH_OF(number_)(STRETCH_ACCESS(shared_load)(at), args->flip);
}

/* Adds so many terms, the first one at `at`, the others `apart`. Several are loaded before the first one is added: each by itself would
 * be waited for; those that are left over come first, since what they add to is then known. op is a constant, as in what follows: to look at
 * it for each number takes longer than to add. */
DEVICE STRETCH_VALUE STRETCH_OF(stretch_run_)(const cutt_stretch_args *args, uint32_t op, uint32_t at, uint32_t apart,
                                              uint32_t count, STRETCH_VALUE sum) {
  UNROLL(1)
  for (; count % STRETCH_BATCH; --count, at += apart)
    sum = STRETCH_NUMBER_OF(reduce_)(op, sum, STRETCH_OF(stretch_number_)(args, at));
  UNROLL(1)
  for (; count > 0; count -= STRETCH_BATCH, at += STRETCH_BATCH * apart) {
    STRETCH_VALUE term[STRETCH_BATCH];
    UNROLL(STRETCH_BATCH)
    for (uint32_t i = 0; i < STRETCH_BATCH; ++i) term[i] = STRETCH_OF(stretch_number_)(args, at + i * apart);
    UNROLL(STRETCH_BATCH)
    for (uint32_t i = 0; i < STRETCH_BATCH; ++i) sum = STRETCH_NUMBER_OF(reduce_)(op, sum, term[i]);
  }
  return sum;
}

/* Adds what follows each other from `at` to `end`, of which a lane has some windows: from `window` on, so far apart. The next one is
 * under way while one is added up, in pairs. What a window has of other elements does not count. */
DEVICE STRETCH_VALUE STRETCH_OF(stretch_windows_)(const cutt_stretch_args *args, uint32_t op, uint32_t at, uint32_t end,
                                                  uint32_t window, uint32_t apart, STRETCH_VALUE sum) {
  word4 next = pass_none16();
  if (window < end) next = shared_load16(window);
  UNROLL(1)
  for (; window < end; window += apart) {
    const word4 held = next;
    const bool ends = window < at || window + CUTT_STRETCH_WINDOW > end;
    if (window + apart < end) next = shared_load16(window + apart);
#if STRETCH_BYTES == 2
    if (sum_is_extreme(op) && !ends) {
      const uint32_t pair = STRETCH_OF(extreme_within_)(op, held);
      sum = STRETCH_NUMBER_OF(reduce_)(op, sum, STRETCH_OF(number_)((uint16_t)pair, 0));
      sum = STRETCH_NUMBER_OF(reduce_)(op, sum, STRETCH_OF(number_)((uint16_t)(pair >> 16), 0));
      continue;
    }
#endif
    STRETCH_VALUE term[STRETCH_EACH];
    UNROLL(STRETCH_EACH)
    for (uint32_t e = 0; e < STRETCH_EACH; ++e)
      term[e] = STRETCH_OF(number_)(STRETCH_ACCESS(sum_part)(held, e), args->flip);
    if (ends) {
      UNROLL(STRETCH_EACH)
      for (uint32_t e = 0; e < STRETCH_EACH; ++e)
        if (window + e * STRETCH_BYTES < at || window + e * STRETCH_BYTES >= end)
          term[e] = STRETCH_NUMBER_OF(none_)(op);
    }
    UNROLL(STRETCH_EACH)
    for (uint32_t e = 1; e < STRETCH_EACH; e += 2) term[e] = STRETCH_NUMBER_OF(reduce_)(op, term[e - 1], term[e]);
    UNROLL(STRETCH_EACH)
    for (uint32_t e = 3; e < STRETCH_EACH; e += 4) term[e] = STRETCH_NUMBER_OF(reduce_)(op, term[e - 2], term[e]);
    if (STRETCH_EACH == 8) term[7] = STRETCH_NUMBER_OF(reduce_)(op, term[3], term[STRETCH_EACH - 1]);
    sum = STRETCH_NUMBER_OF(reduce_)(op, sum, term[STRETCH_EACH - 1]);
  }
  return sum;
}

/* Adds a lane's terms of a result, of which the first one of all is at `at`. */
DEVICE STRETCH_VALUE STRETCH_OF(stretch_terms_)(const cutt_stretch_args *args, uint32_t op, const stretch_thread *me,
                                                uint32_t at, uint32_t inner, uint32_t outer, STRETCH_VALUE sum) {
  const uint32_t lanes = 1u << args->inner_bits, apart = args->inner_step << args->inner_bits;
  const uint32_t count = inner > me->inner ? (inner - me->inner + lanes - 1) >> args->inner_bits : 0;
  UNROLL(1)
  for (uint32_t i = me->outer; i < outer; i += 1u << (args->lane_bits - args->inner_bits)) {
    const uint32_t begin = at + shared_load4(args->terms_at + i * CUTT_STRETCH_TERM);
    if (args->wide)
      sum = STRETCH_OF(stretch_windows_)(
          args, op, begin, begin + inner * STRETCH_BYTES,
          begin / CUTT_STRETCH_WINDOW * CUTT_STRETCH_WINDOW + me->inner * CUTT_STRETCH_WINDOW,
          (uint32_t)CUTT_STRETCH_WINDOW << args->inner_bits, sum);
    else
      sum = STRETCH_OF(stretch_run_)(args, op, begin + me->inner * args->inner_step, apart, count, sum);
  }
  return sum;
}

/* Adds so many terms of several results to each, and goes on behind them. op and terms are constants. */
DEVICE void STRETCH_OF(stretch_next_)(const cutt_stretch_args *args, uint32_t op, uint32_t terms, uint32_t step,
                                      uint32_t *from, STRETCH_VALUE *sum) {
  STRETCH_VALUE term[STRETCH_AT_ONCE][STRETCH_BATCH];
  UNROLL(STRETCH_AT_ONCE)
  for (uint32_t r = 0; r < STRETCH_AT_ONCE; ++r) {
    UNROLL(STRETCH_BATCH)
    for (uint32_t k = 0; k < terms; ++k) term[r][k] = STRETCH_OF(stretch_number_)(args, from[r] + k * step);
    from[r] += terms * step;
  }
  UNROLL(STRETCH_BATCH)
  for (uint32_t k = 0; k < terms; ++k) {
    UNROLL(STRETCH_AT_ONCE)
    for (uint32_t r = 0; r < STRETCH_AT_ONCE; ++r) sum[r] = STRETCH_NUMBER_OF(reduce_)(op, sum[r], term[r][k]);
  }
}

#if STRETCH_BYTES == 2
/* The same of so many pairs of terms that lie in 4 bytes. */
DEVICE void STRETCH_OF(stretch_next_pairs_)(uint32_t op, uint32_t pairs, uint32_t *from, STRETCH_VALUE *sum) {
  UNROLL(STRETCH_AT_ONCE)
  for (uint32_t r = 0; r < STRETCH_AT_ONCE; ++r) {
    uint32_t held = shared_load4(from[r]), more = held;
    if (pairs > 1) more = shared_load4(from[r] + 2 * STRETCH_BYTES);
    if (sum_is_extreme(op)) held = STRETCH_OF(extreme_pair_)(op, held, more);
    sum[r] = STRETCH_NUMBER_OF(reduce_)(op, sum[r], STRETCH_OF(number_)((uint16_t)held, 0));
    sum[r] = STRETCH_NUMBER_OF(reduce_)(op, sum[r], STRETCH_OF(number_)((uint16_t)(held >> 16), 0));
    if (pairs > 1 && !sum_is_extreme(op)) {
      sum[r] = STRETCH_NUMBER_OF(reduce_)(op, sum[r], STRETCH_OF(number_)((uint16_t)more, 0));
      sum[r] = STRETCH_NUMBER_OF(reduce_)(op, sum[r], STRETCH_OF(number_)((uint16_t)(more >> 16), 0));
    }
    from[r] += 2 * pairs * STRETCH_BYTES;
  }
}
#endif

/* Adds all terms of several results, of which the first ones are at `at`. */
DEVICE void STRETCH_OF(stretch_several_)(const cutt_stretch_args *args, uint32_t op, const uint32_t *at, uint32_t inner,
                                         uint32_t outer, STRETCH_VALUE *sum) {
  UNROLL(1)
  for (uint32_t i = 0; i < outer; ++i) {
    const uint32_t behind = shared_load4(args->terms_at + i * CUTT_STRETCH_TERM);
    uint32_t from[STRETCH_AT_ONCE], left = inner;
    UNROLL(STRETCH_AT_ONCE)
    for (uint32_t r = 0; r < STRETCH_AT_ONCE; ++r) from[r] = at[r] + behind;
#if STRETCH_BYTES == 2
    if (args->pairs && inner % 2 == 0 && at[0] % 4 == 0) {
      UNROLL(1)
      for (; left >= 4; left -= 4) STRETCH_OF(stretch_next_pairs_)(op, 2, from, sum);
      if (left) STRETCH_OF(stretch_next_pairs_)(op, 1, from, sum);
      continue;
    }
#endif
    if (args->inner_step == STRETCH_BYTES) { /* a constant, which needs no address for each term */
      UNROLL(1)
      for (; left >= STRETCH_BATCH; left -= STRETCH_BATCH)
        STRETCH_OF(stretch_next_)(args, op, STRETCH_BATCH, STRETCH_BYTES, from, sum);
      if (left >= 2) STRETCH_OF(stretch_next_)(args, op, 2, STRETCH_BYTES, from, sum);
      left %= 2;
    }
    UNROLL(1)
    for (; left > 0; --left) STRETCH_OF(stretch_next_)(args, op, 1, args->inner_step, from, sum);
  }
}

/* Adds a stretch of which a thread has all terms of its results, several of these at once. What is not there counts as the first one, which
 * always is, and is not written. */
DEVICE void STRETCH_OF(stretch_add_several_)(const cutt_stretch_args *args, unsigned char *result, uint32_t stage_at,
                                             uint32_t inner, uint32_t outer, uint32_t limit, bool first, bool last) {
  const uint32_t apart = CUTT_STRETCH_THREADS * args->result_apart * STRETCH_VALUE_BYTES;
  UNROLL(1)
  for (uint32_t i = thread_index(); i < args->results; i += STRETCH_AT_ONCE * CUTT_STRETCH_THREADS) {
    const uint32_t kept = args->sums_at + i * args->result_apart * STRETCH_VALUE_BYTES;
    uint32_t at[STRETCH_AT_ONCE];
    bool there[STRETCH_AT_ONCE];
    STRETCH_VALUE sum[STRETCH_AT_ONCE];
    UNROLL(STRETCH_AT_ONCE)
    for (uint32_t r = 0; r < STRETCH_AT_ONCE; ++r) {
      const uint32_t number = i + r * CUTT_STRETCH_THREADS;
      const uint32_t own = stretch_at(args, number < args->results ? number : 0);
      there[r] = number < args->results && own < limit;
      at[r] = stage_at + (there[r] ? own : 0);
      sum[r] = STRETCH_NUMBER_OF(none_)(args->op);
      if (!first && there[r]) sum[r] = STRETCH_OF(stretch_kept_)(kept + r * apart);
    }
    PASS_BY_OP(args->op, STRETCH_SEVERAL);
    if (last && stretch_is_plain(args)) { /* asked once for all of them */
      UNROLL(STRETCH_AT_ONCE)
      for (uint32_t r = 0; r < STRETCH_AT_ONCE; ++r)
        if (there[r]) STRETCH_ACCESS(global_store)
      (result + stretch_to(args, i + r * CUTT_STRETCH_THREADS), STRETCH_OF(element_)(sum[r]));
      continue;
    }
    UNROLL(STRETCH_AT_ONCE)
    for (uint32_t r = 0; r < STRETCH_AT_ONCE; ++r) {
      if (!there[r]) continue;
      if (last)
        STRETCH_OF(stretch_write_)(args, result + stretch_to(args, i + r * CUTT_STRETCH_THREADS), sum[r]);
      else
        STRETCH_OF(stretch_keep_)(kept + r * apart, sum[r]);
    }
  }
}

/* Adds a stretch, which is the first of its tile, the last, or neither, to what there is of the threads' sums. Those of lanes stay in
 * shared memory; a thread that has all terms of a result writes it. limit: where results begin that the stretch does not have. */
DEVICE void STRETCH_OF(stretch_add_)(const cutt_stretch_args *args, const stretch_thread *me, unsigned char *result,
                                     uint32_t stage_at, uint32_t there, uint32_t limit, bool first, bool last) {
  const uint32_t inner = args->inner_part ? args->inner_part * there : args->inner;
  const uint32_t outer = args->outer_part ? args->outer_part * there : args->outer;
  const uint32_t each = CUTT_STRETCH_THREADS >> args->lane_bits;
  if (args->several) {
    STRETCH_OF(stretch_add_several_)(args, result, stage_at, inner, outer, limit, first, last);
    return;
  }
  UNROLL(1)
  for (uint32_t i = me->own; i < args->results; i += each) {
    const word4 entry = shared_load16(args->results_at + i * CUTT_STRETCH_ENTRY);
    if (entry.z >= limit) continue;
    const uint32_t kept = entry.w + me->kept;
    STRETCH_VALUE sum = STRETCH_NUMBER_OF(none_)(args->op);
    if (!first) sum = STRETCH_OF(stretch_kept_)(kept);
    const uint32_t at = stage_at + entry.z;
    PASS_BY_OP(args->op, STRETCH_TERMS);
    if (last && args->lane_bits == 0)
      STRETCH_OF(stretch_write_)(args, result + pass_join(entry.x, entry.y), sum);
    else
      STRETCH_OF(stretch_keep_)(kept, sum);
  }
}

/* The lanes' sums to results: up to eight to one at a time. */
DEVICE void STRETCH_OF(stretch_finish_)(const cutt_stretch_args *args, unsigned char *result, uint32_t limit) {
  uint32_t from = args->sums_at, to = args->sums_at + args->sums_bytes;
  UNROLL(1)
  for (uint32_t left = args->lane_bits; left > 0;) {
    const uint32_t bits = left > 3 ? left - 3 : 0, lanes = 1u << bits;
    barrier();
    UNROLL(1)
    for (uint32_t i = thread_index(); i < args->results << bits; i += CUTT_STRETCH_THREADS) {
      const uint32_t own = i >> bits, lane = i & (lanes - 1);
      const word4 entry = shared_load16(args->results_at + own * CUTT_STRETCH_ENTRY);
      if (entry.z >= limit) continue;
      const uint32_t at = (own * args->result_apart + lane * args->lane_apart) * STRETCH_VALUE_BYTES;
      STRETCH_VALUE all = STRETCH_OF(stretch_kept_)(from + at), sum[7];
      UNROLL(7)
      for (uint32_t j = 0; j < 7; ++j) {
        const uint32_t other = (j + 1) << bits;
        sum[j] = STRETCH_OF(stretch_kept_)(from + at +
                                           (other < 1u << left ? other : 0) * args->lane_apart * STRETCH_VALUE_BYTES);
      }
      UNROLL(7)
      for (uint32_t j = 0; j < 7; ++j)
        if ((j + 1) << bits < 1u << left) all = STRETCH_NUMBER_OF(reduce_)(args->op, all, sum[j]);
      if (bits)
        STRETCH_OF(stretch_keep_)(to + at, all);
      else
        STRETCH_OF(stretch_write_)(args, result + pass_join(entry.x, entry.y), all);
    }
    left = bits;
    const uint32_t other = from;
    from = to;
    to = other;
  }
}

STRETCH_KERNEL(STRETCH_OF(cutt_stretch_))
(const unsigned char *left, unsigned char *result, CONSTANT(cutt_stretch_args) args) {
  const sum_share share = sum_share_of(&args.walk);
  const stretch_thread me = stretch_begin(&args, STRETCH_VALUE_BYTES);
  unsigned char *const to = result + (int64_t)share.part * args.part_bytes;
  sum_step step = sum_find(&args.walk, share.first, share.begin), ahead = step;
  const bool asks = !has_bulk() || thread_index() < CUTT_STRETCH_WARP;
  uint32_t stage = 0;
  bool odd = false; /* turn of the stages */
  if (has_bulk() && thread_index() == 0) {
    UNROLL(CUTT_STRETCH_STAGES)
    for (uint32_t i = 0; i < CUTT_STRETCH_STAGES; ++i) bulk_begin(args.counters_at + i * CUTT_STRETCH_COUNTER);
  }
  if (asks) {
    if (ahead.tile < share.last) {
      STRETCH_OF(stretch_ask_)(&args, left, &ahead, 0, args.counters_at);
      ahead = sum_next(&args.walk, &ahead, share.begin, share.end);
    }
    if (has_bulk()) bulk_commit(args.counters_at);
  }
  async_commit();
  stretch_describe(&args, STRETCH_VALUE_BYTES);
  if (has_bulk()) barrier(); /* counters are there */
  UNROLL(1)
  while (step.tile < share.last) {
    if (has_bulk())
      bulk_wait(args.counters_at + stage * CUTT_STRETCH_COUNTER, odd);
    else
      async_wait(0);
    barrier(); /* the stretch is there, and the one before is not in use any more */
    if (asks && ahead.tile < share.last) {
      const uint32_t counter_at = args.counters_at + (1 - stage) * CUTT_STRETCH_COUNTER;
      STRETCH_OF(stretch_ask_)(&args, left, &ahead, (1 - stage) * args.stage_bytes, counter_at);
      ahead = sum_next(&args.walk, &ahead, share.begin, share.end);
      if (has_bulk()) bulk_commit(counter_at);
    }
    async_commit();
    const uint32_t there = stretch_there(&args, &step), limit = args.part_kept ? there * args.part_step : UINT32_MAX;
    const bool last = step.term + 1 == share.end;
    STRETCH_OF(stretch_add_)
    (&args, &me, to + step.result, stage * args.stage_bytes + stretch_shift(left, &step), there, limit,
     step.term == share.begin, last);
    if (last && args.lane_bits) STRETCH_OF(stretch_finish_)(&args, to + step.result, limit);
    step = sum_next(&args.walk, &step, share.begin, share.end);
    odd = odd != (stage == 1);
    stage = 1 - stage;
  }
}

#undef STRETCH_BLOCKS
#undef STRETCH_BATCH
#undef STRETCH_AT_ONCE
#undef STRETCH_EACH
#undef STRETCH_TYPE
#undef STRETCH_BYTES
#undef STRETCH_NUMBER
#undef STRETCH_VALUE_BYTES
