/* Wisdom as planning sees it. */
#ifndef CUTT_STORE_WISDOM_H
#define CUTT_STORE_WISDOM_H

#include "model/backend.h"

/* Is this a wisdom object, and alive, as far as can be seen? */
bool cutt_wisdom_alive(const struct cuttWisdom *wisdom);

/* The key of an entry is a line of words (see wisdom_file.c); these bound it, final 0 included. */
enum { CUTT_WISDOM_DEVICE_BYTES = 128, CUTT_WISDOM_KEY_BYTES = 4608 };

/* The key of a problem on this machine. threads: the most that any candidate of the problem would use. */
void cutt_wisdom_key(const cutt_backend *backend, const cutt_canonical *canonical, int threads,
                     char key[CUTT_WISDOM_KEY_BYTES]);

/* Looks a problem up. On true, *candidate (predicted seconds 0; not yet accepted by the backend) and *seconds are set.
 * Takes the object's lock; allocates nothing. */
bool cutt_wisdom_find(cuttWisdom_t wisdom, const char *key, cutt_candidate *candidate, double *seconds);

/* Adds a measured choice; one that is there for the same problem is replaced. Errors: CUTT_INTERNAL_ERROR. */
cuttResult cutt_wisdom_add(cuttWisdom_t wisdom, const char *key, const cutt_candidate *candidate, double seconds);

/* Choices of other libraries' problems, of which both the problem and the choice are words: printable characters, with one
 * space between words and no word "=". Their keys are made by cutt_wisdom_words_key. */
enum { CUTT_WISDOM_PROBLEM_BYTES = 12288, CUTT_WISDOM_WORDS_BYTES = 4096 };

/* The key of a problem on this machine: kind is a word ("contraction"), problem its words. False: they are too long. */
bool cutt_wisdom_words_key(const cutt_backend *backend, const char *kind, const char *problem, char *key, size_t size);

/* As cutt_wisdom_find and cutt_wisdom_add; the words found are given with a final 0. False also where they do not fit. */
bool cutt_wisdom_find_words(cuttWisdom_t wisdom, const char *key, char *words, size_t size, double *seconds);
cuttResult cutt_wisdom_add_words(cuttWisdom_t wisdom, const char *key, const char *words, double seconds);

/* ------------------------------------------------------------------ between wisdom.c (the store) and wisdom_file.c */

typedef struct cutt_wisdom_entry {
  uint64_t hash; /* of key */
  char *key;
  cutt_candidate candidate;
  char *words; /* the choice, of a problem that is no permutation; else NULL */
  int64_t picoseconds;
} cutt_wisdom_entry;

uint64_t cutt_wisdom_hash(const char *bytes, size_t count);

/* The word that stands for a backend on this machine, such as "cpu/...": at most CUTT_WISDOM_DEVICE_BYTES. */
void cutt_wisdom_device(const cutt_backend *backend, char *buffer);

/* Writes a number in decimal, without a final 0, and returns where it ends. At most 20 bytes. */
char *cutt_wisdom_number(char *to, int64_t value);

/* Adds an entry, copying its key and words. One that is there with the same key gives way if replace is set or the new one is
 * faster. added->hash is not looked at. Errors: CUTT_INTERNAL_ERROR. */
cuttResult cutt_wisdom_put(cuttWisdom_t wisdom, const cutt_wisdom_entry *added, bool replace);

/* All entries in the order in which they were first added. Valid, like entry keys, between lock and unlock only. */
const cutt_wisdom_entry *cutt_wisdom_lock(cuttWisdom_t wisdom, size_t *count);
void cutt_wisdom_unlock(cuttWisdom_t wisdom);

#endif
