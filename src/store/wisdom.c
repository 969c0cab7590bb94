/* Wisdom: measured choices, kept to be used again.
 *
 * An entry is found by its key, a text of all that the timing of a choice depends on: the library's version, the
 * machine, the number of threads and the canonical problem. The machine being part of the key, entries of several
 * machines live in one object side by side, and those of another one are never found here.
 *
 * Entries sit in one array, in the order in which they came, and a hash table of indices leads to them. One mutex
 * guards all: planning with wisdom is rare and short, and executing a plan never comes here. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* strdup */
#endif
#include "store/wisdom.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "runtime/runtime.h"

static const uint64_t alive = UINT64_C(0x6375747477697364), dead = UINT64_C(0xdeaddeaddeaddead);

struct cuttWisdom {
  uint64_t magic;
  pthread_mutex_t lock;
  cutt_wisdom_entry *entries;
  size_t count, room;
  uint32_t *table; /* index + 1 of an entry, 0: free; open addressing */
  size_t slots;    /* a power of two, at least twice count; 0 at first */
};

bool cutt_wisdom_alive(const struct cuttWisdom *wisdom) { return wisdom && wisdom->magic == alive; }

cuttResult cuttWisdomCreate(cuttWisdom_t *wisdom) {
  if (!wisdom) return cutt_error(CUTT_INVALID_PARAMETER, "wisdom is NULL; it must point to a cuttWisdom_t");
  *wisdom = NULL;
  struct cuttWisdom *made = calloc(1, sizeof *made);
  if (!made) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for wisdom", sizeof *made);
  const int failed = pthread_mutex_init(&made->lock, NULL);
  if (failed) {
    free(made);
    return cutt_error(CUTT_INTERNAL_ERROR, "a mutex for wisdom could not be made: %s", strerror(failed));
  }
  made->magic = alive;
  *wisdom = made;
  return CUTT_SUCCESS;
}

cuttResult cuttWisdomDestroy(cuttWisdom_t wisdom) {
  if (!wisdom) return CUTT_SUCCESS;
  if (!cutt_wisdom_alive(wisdom)) {
    return cutt_error(CUTT_INVALID_PARAMETER, "wisdom is %p, which is not alive; it must come from cuttWisdomCreate",
                      (void *)wisdom);
  }
  *(volatile uint64_t *)&wisdom->magic = dead; /* volatile: a plain store before free would be optimised away */
  pthread_mutex_destroy(&wisdom->lock);
  for (size_t i = 0; i < wisdom->count; ++i) {
    free(wisdom->entries[i].key);
    free(wisdom->entries[i].words);
  }
  free(wisdom->entries);
  free(wisdom->table);
  free(wisdom);
  return CUTT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------- keys */

/* FNV-1a. */
uint64_t cutt_wisdom_hash(const char *bytes, size_t count) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < count; ++i) hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
  return hash;
}

void cutt_wisdom_device(const cutt_backend *backend, char *buffer) {
  char device[CUTT_WISDOM_DEVICE_BYTES] = "";
  backend->runtime->device_key(device, sizeof device);
  device[sizeof device - 1] = 0;
  cutt_text text = cutt_text_start(buffer, CUTT_WISDOM_DEVICE_BYTES);
  cutt_text_add(&text, "%s/%s", backend->name, device);
  /* It is one word of a line. */
  for (char *c = buffer; *c; ++c) {
    if (*c <= ' ' || *c > '~') *c = '_';
  }
}

char *cutt_wisdom_number(char *to, int64_t value) {
  char digits[20];
  int count = 0;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do {
    digits[count++] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest);
  if (value < 0) *to++ = '-';
  while (count) *to++ = digits[--count];
  return to;
}

/* Alpha and beta only by whether they cost anything: their values don't change the time. */
static int64_t scale_kind(const cutt_scale *scale) {
  return scale->active ? (int64_t)scale->type * 4 + scale->conjugate * 2 + scale->reads_out : 0;
}

void cutt_wisdom_key(const cutt_backend *backend, const cutt_canonical *canonical, int threads,
                     char key[CUTT_WISDOM_KEY_BYTES]) {
  char *end = cutt_wisdom_number(key, cuttVersion());
  *end++ = ' ';
  cutt_wisdom_device(backend, end);
  end += strlen(end);
  const int64_t numbers[] = {threads, canonical->elem_bytes, canonical->base_bytes, scale_kind(&canonical->scale),
                             canonical->rank};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    *end++ = ' ';
    end = cutt_wisdom_number(end, numbers[i]);
  }
  for (int i = 0; i < canonical->rank; ++i) {
    const cutt_mode *mode = &canonical->mode[i];
    *end++ = ' ';
    end = cutt_wisdom_number(end, mode->extent);
    *end++ = ':';
    end = cutt_wisdom_number(end, mode->in_stride);
    *end++ = ':';
    end = cutt_wisdom_number(end, mode->out_stride);
  }
  *end = 0;
}

bool cutt_wisdom_words_key(const cutt_backend *backend, const char *kind, const char *problem, char *key, size_t size) {
  char device[CUTT_WISDOM_DEVICE_BYTES];
  cutt_wisdom_device(backend, device);
  cutt_text text = cutt_text_start(key, size);
  cutt_text_add(&text, "%d %s %s %s", cuttVersion(), device, kind, problem);
  return text.length < size;
}

/* ------------------------------------------------------------------------------------------------------------ store */

/* The slot of a key, or the free slot where it belongs. Not for an empty table. */
static size_t find_slot(const struct cuttWisdom *wisdom, uint64_t hash, const char *key) {
  size_t slot = (size_t)hash & (wisdom->slots - 1);
  for (; wisdom->table[slot]; slot = (slot + 1) & (wisdom->slots - 1)) {
    const cutt_wisdom_entry *entry = &wisdom->entries[wisdom->table[slot] - 1];
    if (entry->hash == hash && !strcmp(entry->key, key)) break;
  }
  return slot;
}

/* Makes room for one more entry, in the array and in the table; false when memory is short, with all as it was. */
static bool make_room(struct cuttWisdom *wisdom) {
  if (wisdom->count == wisdom->room) {
    const size_t room = wisdom->room ? wisdom->room * 2 : 16;
    if (room > UINT32_MAX / 2) return false;
    cutt_wisdom_entry *entries = realloc(wisdom->entries, room * sizeof *entries);
    if (!entries) return false;
    wisdom->entries = entries;
    wisdom->room = room;
  }
  if ((wisdom->count + 1) * 2 > wisdom->slots) {
    const size_t slots = wisdom->slots ? wisdom->slots * 2 : 32;
    uint32_t *table = calloc(slots, sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < wisdom->count; ++i) {
      size_t slot = (size_t)wisdom->entries[i].hash & (slots - 1);
      while (table[slot]) slot = (slot + 1) & (slots - 1);
      table[slot] = (uint32_t)(i + 1);
    }
    free(wisdom->table);
    wisdom->table = table;
    wisdom->slots = slots;
  }
  return true;
}

static bool copy_text(const char *text, char **copy) {
  *copy = text ? strdup(text) : NULL;
  return *copy || !text;
}

cuttResult cutt_wisdom_put(cuttWisdom_t wisdom, const cutt_wisdom_entry *added, bool replace) {
  const uint64_t hash = cutt_wisdom_hash(added->key, strlen(added->key));
  char *key = NULL, *words = NULL;
  const bool copied = copy_text(added->words, &words);
  cuttResult result = CUTT_SUCCESS;
  pthread_mutex_lock(&wisdom->lock);
  size_t slot = wisdom->slots ? find_slot(wisdom, hash, added->key) : 0;
  if (copied && wisdom->slots && wisdom->table[slot]) {
    cutt_wisdom_entry *entry = &wisdom->entries[wisdom->table[slot] - 1];
    if (replace || added->picoseconds < entry->picoseconds) {
      char *const old = entry->words;
      entry->candidate = added->candidate;
      entry->words = words;
      entry->picoseconds = added->picoseconds;
      words = old; /* to be freed */
    }
  } else if (copied && copy_text(added->key, &key) && make_room(wisdom)) {
    slot = find_slot(wisdom, hash, key);
    wisdom->entries[wisdom->count++] = (cutt_wisdom_entry){hash, key, added->candidate, words, added->picoseconds};
    wisdom->table[slot] = (uint32_t)wisdom->count;
    words = NULL;
  } else {
    free(key);
    result = cutt_error(CUTT_INTERNAL_ERROR, "out of memory: wisdom of %zu entries can't take another", wisdom->count);
  }
  pthread_mutex_unlock(&wisdom->lock);
  free(words);
  return result;
}

/* The entry of a key, or NULL; the lock is held. */
static const cutt_wisdom_entry *find_entry(const struct cuttWisdom *wisdom, const char *key) {
  if (!wisdom->slots) return NULL;
  const uint32_t index = wisdom->table[find_slot(wisdom, cutt_wisdom_hash(key, strlen(key)), key)];
  return index ? &wisdom->entries[index - 1] : NULL;
}

bool cutt_wisdom_find(cuttWisdom_t wisdom, const char *key, cutt_candidate *candidate, double *seconds) {
  pthread_mutex_lock(&wisdom->lock);
  const cutt_wisdom_entry *entry = find_entry(wisdom, key);
  if (entry) {
    *candidate = entry->candidate;
    candidate->seconds = 0;
    *seconds = (double)entry->picoseconds * 1e-12;
  }
  pthread_mutex_unlock(&wisdom->lock);
  return entry != NULL;
}

bool cutt_wisdom_find_words(cuttWisdom_t wisdom, const char *key, char *words, size_t size, double *seconds) {
  pthread_mutex_lock(&wisdom->lock);
  const cutt_wisdom_entry *entry = find_entry(wisdom, key);
  const size_t length = entry && entry->words ? strlen(entry->words) : SIZE_MAX;
  if (length < size) {
    memcpy(words, entry->words, length + 1);
    *seconds = (double)entry->picoseconds * 1e-12;
  }
  pthread_mutex_unlock(&wisdom->lock);
  return length < size;
}

static int64_t picoseconds_of(double seconds) {
  /* 1e6 seconds are more than anyone waits for, and far from the largest number. */
  const double bounded = seconds < 0 ? 0 : seconds > 1e6 ? 1e6 : seconds;
  return (int64_t)(bounded * 1e12);
}

cuttResult cutt_wisdom_add(cuttWisdom_t wisdom, const char *key, const cutt_candidate *candidate, double seconds) {
  const cutt_wisdom_entry entry = {
      .key = (char *)(uintptr_t)key, .candidate = *candidate, .picoseconds = picoseconds_of(seconds)};
  return cutt_wisdom_put(wisdom, &entry, true);
}

cuttResult cutt_wisdom_add_words(cuttWisdom_t wisdom, const char *key, const char *words, double seconds) {
  const cutt_wisdom_entry entry = {
      .key = (char *)(uintptr_t)key, .words = (char *)(uintptr_t)words, .picoseconds = picoseconds_of(seconds)};
  return cutt_wisdom_put(wisdom, &entry, true);
}

const cutt_wisdom_entry *cutt_wisdom_lock(cuttWisdom_t wisdom, size_t *count) {
  pthread_mutex_lock(&wisdom->lock);
  *count = wisdom->count;
  return wisdom->entries;
}

void cutt_wisdom_unlock(cuttWisdom_t wisdom) { pthread_mutex_unlock(&wisdom->lock); }
