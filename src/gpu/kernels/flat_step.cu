/* Copies of runs without tables (flat_copy.cu) whose elements have gaps between them, on either side, or are backwards in the input, or all
 * the same one: an access is an element, and from one to the next are steps of any size. Of runs that have no gaps some elements at a
 * time are turned round, if they are backwards, or made of the one that all of them are, in registers. */
#include "flat_tile.h"

/* get bytes are loaded for each access, and bytes stored. */
#define DEFINE_FLAT_STEP(name, get, type, bytes, most, made)                                                              \
  KERNEL(cutt_flat_##name, CUTT_FLAT_THREADS, FLAT_BLOCKS)                                                             \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_args) args) {                                       \
    const uint32_t step = thread_count(), first = flat_number(&args) * (args.each * step) + thread_index();            \
    type value[most];                                                                                                  \
    int64_t to[most];                                                                                                  \
    wait_for_earlier(args.next_early);                                                                                 \
    if (args.run > 0) {                                                                                                \
      const flat_piece p = flat_piece_of(&args, args.run_in, args.run_out);                                            \
      UNROLL(most)                                                                                                     \
      for (uint32_t i = 0; i < most; ++i) {                                                                            \
        if (i * CUTT_FLAT_LANES < p.left)                                                                              \
          value[i] = global_load##get(in + (p.at.in + (int64_t)(i * CUTT_FLAT_LANES) * args.run_in));                \
      }                                                                                                                \
      UNROLL(most)                                                                                                     \
      for (uint32_t i = 0; i < most; ++i) {                                                                            \
        if (i * CUTT_FLAT_LANES < p.left)                                                                              \
          global_store##bytes(out + (p.at.out + (int64_t)(i * CUTT_FLAT_LANES) * args.run_out), made(value[i]));     \
      }                                                                                                                \
      return;                                                                                                          \
    }                                                                                                                  \
    UNROLL(most)                                                                                                       \
    for (uint32_t i = 0; i < most; ++i) {                                                                              \
      if (i >= args.each || first + i * step >= args.rows) break;                                                      \
      const flat_places p = flat_places_of(&args, first + i * step, args.run_in, args.run_out);                        \
      value[i] = global_load##get(in + p.in);                                                                        \
      to[i] = p.out;                                                                                                   \
    }                                                                                                                  \
    UNROLL(most)                                                                                                       \
    for (uint32_t i = 0; i < most; ++i) {                                                                              \
      if (i < args.each && first + i * step < args.rows) global_store##bytes(out + to[i], made(value[i]));           \
    }                                                                                                                  \
  }

/* The 16 bytes of a vector, element by element, from its end. */
DEVICE word4 turn_round(word4 v, uint32_t turn) {
  const word4 halves = {v.z, v.w, v.x, v.y};
  if (turn == CUTT_FLAT_TURN_8) return halves;
  const word4 words = {permute_bytes(halves.y, 0, turn), permute_bytes(halves.x, 0, turn),
                       permute_bytes(halves.w, 0, turn), permute_bytes(halves.z, 0, turn)};
  return words;
}

/* As many elements of the same value. */
DEVICE word4 fill_words(uint32_t v) {
  const word4 words = {v, v, v, v};
  return words;
}
DEVICE word4 fill_pairs(word2 v) {
  const word4 words = {v.x, v.y, v.x, v.y};
  return words;
}

#define AS_IT_IS(value) value
#define TURNED_WORD(value) permute_bytes(value, 0, args.turn)
#define TURNED_VECTOR(value) turn_round(value, args.turn)
#define WORD_OF_1(value) permute_bytes(value, 0, 0)
#define WORD_OF_2(value) permute_bytes(value, 0, 0x1010)
#define VECTOR_OF_1(value) fill_words(WORD_OF_1(value))
#define VECTOR_OF_2(value) fill_words(WORD_OF_2(value))
DEFINE_FLAT_STEP(step_1, 1, uint8_t, 1, CUTT_FLAT_NARROW, AS_IT_IS)
DEFINE_FLAT_STEP(step_2, 2, uint16_t, 2, CUTT_FLAT_NARROW, AS_IT_IS)
DEFINE_FLAT_STEP(step_4, 4, uint32_t, 4, CUTT_FLAT_NARROW, AS_IT_IS)
DEFINE_FLAT_STEP(step_8, 8, word2, 8, CUTT_FLAT_COPIES, AS_IT_IS)
DEFINE_FLAT_STEP(step_16, 16, word4, 16, CUTT_FLAT_COPIES, AS_IT_IS)
DEFINE_FLAT_STEP(back_4, 4, uint32_t, 4, CUTT_FLAT_NARROW, TURNED_WORD)
DEFINE_FLAT_STEP(back_16, 16, word4, 16, CUTT_FLAT_COPIES, TURNED_VECTOR)
DEFINE_FLAT_STEP(fill_1, 1, uint8_t, 4, CUTT_FLAT_NARROW, WORD_OF_1)
DEFINE_FLAT_STEP(fill_2, 2, uint16_t, 4, CUTT_FLAT_NARROW, WORD_OF_2)
DEFINE_FLAT_STEP(fill_1v, 1, uint8_t, 16, CUTT_FLAT_COPIES, VECTOR_OF_1)
DEFINE_FLAT_STEP(fill_2v, 2, uint16_t, 16, CUTT_FLAT_COPIES, VECTOR_OF_2)
DEFINE_FLAT_STEP(fill_4v, 4, uint32_t, 16, CUTT_FLAT_COPIES, fill_words)
DEFINE_FLAT_STEP(fill_8v, 8, word2, 16, CUTT_FLAT_COPIES, fill_pairs)
