/* A fuzzer's input as numbers (input.h), and what libFuzzer calls first. */
#include "fuzz/input.h"

#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Threads that spin while they wait for work would take the processor from the fuzzer. */
int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  setenv("OMP_WAIT_POLICY", "passive", 0);
  setenv("KMP_BLOCKTIME", "0", 0);
  return 0;
}

uint8_t byte(stream *s) {
  if (!s->left) return 0;
  s->left--;
  return *s->at++;
}

uint64_t bytes(stream *s, int count) {
  uint64_t value = 0;
  while (count-- > 0) value = value << 8 | byte(s);
  return value;
}

int64_t number(stream *s, bool wild, int64_t low, int64_t high) {
  const uint8_t kind = byte(s);
  if (wild && kind >= 240) return (int64_t)bytes(s, 8);
  return low + (int64_t)(kind % (uint64_t)(high - low + 1));
}
