/* A fuzzer's input, read from its start as numbers. */
#ifndef CUTT_TESTS_FUZZ_INPUT_H
#define CUTT_TESTS_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct stream {
  const uint8_t *at;
  size_t left;
} stream;

/* The next byte; 0 once the input is used up. */
uint8_t byte(stream *s);

/* The next `count` bytes, the highest first. */
uint64_t bytes(stream *s, int count);

/* Mostly from low to high, now and then any if wild. */
int64_t number(stream *s, bool wild, int64_t low, int64_t high);

#endif
