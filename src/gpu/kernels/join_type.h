/* The kernel of join.cu for elements of JOIN_TYPE, which is included once for each type: sums are numbers of the kind JOIN_NUMBER, of
 * JOIN_BYTES. */

DEVICE JOIN_VALUE JOIN_OF(join_kept_)(uint32_t number) {
  return JOIN_NUMBER_OF(from_bits_)(JOIN_ACCESS(shared_load)(number * JOIN_BYTES));
}

/* What a thread has of a result's parts: of loads at once one upon the other, in pairs. */
DEVICE JOIN_VALUE JOIN_OF(join_parts_)(const cutt_join_args *args, const unsigned char *from, uint32_t part,
                                       uint32_t apart) {
  JOIN_VALUE sum = JOIN_NUMBER_OF(none_)(args->op);
  UNROLL(1)
  for (; part < args->parts; part += CUTT_JOIN_LOADS * apart) {
    JOIN_VALUE term[CUTT_JOIN_LOADS];
    UNROLL(CUTT_JOIN_LOADS)
    for (uint32_t k = 0; k < CUTT_JOIN_LOADS; ++k) {
      const uint32_t number = part + k * apart;
      term[k] = JOIN_NUMBER_OF(none_)(args->op);
      if (number < args->parts)
        term[k] = JOIN_NUMBER_OF(from_bits_)(JOIN_ACCESS(global_load)(from + number * args->part_bytes));
    }
    UNROLL(CUTT_JOIN_LOADS)
    for (uint32_t k = 0; k < CUTT_JOIN_LOADS; k += 2)
      sum = JOIN_NUMBER_OF(combine_)(args->op, sum, JOIN_NUMBER_OF(combine_)(args->op, term[k], term[k + 1]));
  }
  return sum;
}

JOIN_KERNEL(JOIN_OF(cutt_join_))
(const unsigned char *parts, unsigned char *result, CONSTANT(cutt_join_args) args) {
  const uint32_t lanes = 1u << args.lane_bits, groups = CUTT_JOIN_THREADS >> args.lane_bits;
  const uint32_t lane = thread_index() & (lanes - 1), group = thread_index() >> args.lane_bits;
  const uint32_t number = block_index() * lanes + lane;
  const int64_t at = join_place(&args, number);
  JOIN_VALUE sum = JOIN_NUMBER_OF(none_)(args.op);
  wait_for_earlier(false);
  if (number < args.results) sum = JOIN_OF(join_parts_)(&args, parts + (int64_t)number * JOIN_BYTES, group, groups);
  /* The groups' sums, up to eight to one at a time: what a group adds up, no other one does. */
  UNROLL(1)
  for (uint32_t left = groups; left > 1;) {
    const uint32_t next = (left + 7) / 8;
    if (group < left) JOIN_ACCESS(shared_store)(thread_index() * JOIN_BYTES, JOIN_NUMBER_OF(bits_)(sum));
    barrier();
    UNROLL(1)
    for (uint32_t other = group + next; group < next && other < left; other += next)
      sum = JOIN_NUMBER_OF(combine_)(args.op, sum, JOIN_OF(join_kept_)((other << args.lane_bits) + lane));
    left = next;
  }
  if (group == 0 && number < args.results) JOIN_OF(write_)(&args.scalars, 0, result + at, sum);
}

#undef JOIN_TYPE
#undef JOIN_NUMBER
#undef JOIN_BYTES
