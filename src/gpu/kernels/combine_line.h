/* Where the elements of an elementwise operation are of which no operand is turned (combine_args.h): D's elements are numbered, and a thread
 * works out from numbers where its own are, side by side with its neighbours'. There are no tables and no barriers, and as many loads
 * under way as registers hold. Where 16 bytes are accessed at once, these accesses are what is called elements here. */
#ifndef CUTT_GPU_KERNELS_COMBINE_LINE_H
#define CUTT_GPU_KERNELS_COMBINE_LINE_H

#include "combine_walk.h"

/* Where an element is: bytes from a part's first one, in D and two operands. */
typedef struct combine_line_spot {
  uint32_t d, a, b;
} combine_line_spot;

/* The digits of an element's number are its places in the part's modes. Those of the first four modes are worked out without a loop, as an index
 * that changes takes far longer: there are two modes or four at least, which may have one place each. each(step, digit) */
#define COMBINE_LINE_DIGIT(i, each)                                                                                    \
  {                                                                                                                    \
    const uint32_t next = divide(rest, args->mode[i].chunks), digit = rest - next * args->mode[i].chunks.by;           \
    rest = next;                                                                                                       \
    each(args->mode[i].step, digit)                                                                                    \
  }
#define COMBINE_LINE_DIGITS(number, each)                                                                              \
  uint32_t rest = (number);                                                                                            \
  COMBINE_LINE_DIGIT(0, each)                                                                                          \
  COMBINE_LINE_DIGIT(1, each)                                                                                          \
  if (args->tile_modes > 2) {                                                                                          \
    COMBINE_LINE_DIGIT(2, each)                                                                                        \
    COMBINE_LINE_DIGIT(3, each)                                                                                        \
    UNROLL(1)                                                                                                          \
    for (uint32_t i = 4; i < args->tile_modes; ++i) COMBINE_LINE_DIGIT(i, each)                                        \
  }

#define COMBINE_LINE_ADD(step, digit)                                                                                  \
  spot.d += (digit) * (uint32_t)(step)[0];                                                                             \
  spot.a += (digit) * (uint32_t)(step)[1];                                                                             \
  spot.b += (digit) * (uint32_t)(step)[2];
DEVICE combine_line_spot combine_line_at(const cutt_combine_args *args, uint32_t number) {
  combine_line_spot spot = {0, 0, 0};
  COMBINE_LINE_DIGITS(number, COMBINE_LINE_ADD)
  return spot;
}
#undef COMBINE_LINE_ADD

/* The same in one tensor. */
#define COMBINE_LINE_ADD(step, digit) at += (digit) * (uint32_t)(step)[tensor];
DEVICE uint32_t combine_line_in(const cutt_combine_args *args, uint32_t tensor, uint32_t number) {
  uint32_t at = 0;
  COMBINE_LINE_DIGITS(number, COMBINE_LINE_ADD)
  return at;
}
#undef COMBINE_LINE_ADD

/* The same where D and one of two operands have their elements as they are numbered. */
DEVICE combine_line_spot combine_line_beside(const cutt_combine_args *args, uint32_t number, uint32_t bytes) {
  const uint32_t beside = number * bytes, at = combine_line_in(args, args->parts.one, number);
  const combine_line_spot spot = {beside, args->parts.one == 1 ? at : beside, args->parts.one == 1 ? beside : at};
  return spot;
}

/* Where it is in the third operand. */
DEVICE uint32_t combine_line_third(const cutt_combine_args *args, uint32_t number, uint32_t bytes) {
  return args->parts.beside & 8 ? number * bytes : combine_line_in(args, 3, number);
}

/* Its place in the first mode. */
DEVICE uint32_t combine_line_first(const cutt_combine_args *args, uint32_t number) {
  return number - divide(number, args->mode[0].chunks) * args->mode[0].chunks.by;
}

/* Where the next element is of one whose place this is, if it is beside it. */
DEVICE combine_line_spot combine_line_next(const cutt_combine_args *args, combine_line_spot spot) {
  spot.d += (uint32_t)args->mode[0].step[0];
  spot.a += (uint32_t)args->mode[0].step[1];
  spot.b += (uint32_t)args->mode[0].step[2];
  return spot;
}

/* Where a part begins, in bytes of each tensor, and how many elements it has. number: of the part. */
typedef struct combine_line_part {
  int64_t d, a, b, c;
  uint32_t elements;
  bool last; /* of those that cut a mode; true also where none is cut */
} combine_line_part;
DEVICE combine_line_part combine_line_begin(const cutt_combine_args *args, uint32_t number) {
  combine_line_part part = {0, 0, 0, 0, args->parts.elements, true};
  UNROLL(1)
  for (uint32_t i = args->tile_modes; i < args->modes; ++i) {
    const uint32_t rest = divide(number, args->mode[i].chunks);
    const uint32_t chunk = number - rest * args->mode[i].chunks.by;
    number = rest;
    part.d += (int64_t)chunk * args->mode[i].step[0];
    part.a += (int64_t)chunk * args->mode[i].step[1];
    part.b += (int64_t)chunk * args->mode[i].step[2];
    part.c += (int64_t)chunk * args->mode[i].step[3];
    if (i == args->tile_modes) part.last = chunk + 1 == args->mode[i].chunks.by;
  }
  if (part.last) part.elements = args->parts.last;
  return part;
}

#endif
