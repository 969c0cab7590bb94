/* Copies of runs without tables (flat_copy.cu) whose elements have gaps between them, on either side, or are backwards in the input, or all
 * the same one: an access is an element, and from one to the next are steps of any size. Of runs that have no gaps some elements at a
 * time are turned round, if they are backwards, or made of the one that all of them are, in registers. */
#include "flat_runs.h"

#define DEFINE_FLAT_STEP(name, get, type, bytes, most, made)                                                           \
  DEFINE_FLAT_RUNS(name, get, type, bytes, most, , , made(value[i]), args.run_in, args.run_out)

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
