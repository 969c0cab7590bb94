/* Plans that are kept, the last ones used, by a key (calls.h). The object is the store behind cutt.plan_cache: functions in
 * Python find plans in it by bytes, and those here by numbers, in the same order of use and under the same limit.
 *
 * Whoever holds the GIL has the table to itself: nothing in here runs code of Python's while the table is half changed. */
#include <stdlib.h>
#include <string.h>

#include "calls.h"

typedef struct entry {
  struct entry *next;          /* in its bucket */
  struct entry *newer, *older; /* by last use */
  uint64_t hash;
  PyObject *plan;
  plan_facts facts; /* of those that were found by numbers */
  size_t size;
  unsigned char key[];
} entry;

typedef struct plans {
  PyObject object;
  entry **bucket; /* a power of two of them, or none yet */
  size_t buckets, count;
  entry *newest, *oldest;
  long long limit, hits, misses;
} plans;

PyObject *kept_plans;

void begin_key(plan_key *key) {
  key->word = key->few;
  key->words = 0;
  key->room = FEW_WORDS;
  key->full = false;
}

void end_key(plan_key *key) {
  if (key->word != key->few) free(key->word);
}

bool grow_key(plan_key *key, size_t words) {
  if (key->full) return false;
  const size_t room = 2 * (key->words + words);
  int64_t *word = realloc(key->word == key->few ? NULL : key->word, room * sizeof *word);
  if (!word) {
    key->full = true;
    return false;
  }
  if (key->word == key->few) memcpy(word, key->few, key->words * sizeof *word);
  key->word = word;
  key->room = room;
  return true;
}

void add_all(plan_key *key, int count, const int64_t *values) {
  const size_t words = (size_t)count;
  if (!has_room(key, words)) return;
  memcpy(key->word + key->words, values, words * sizeof *values);
  key->words += words;
}

void add_view(plan_key *key, const view *v) {
  add(key, v->rank);
  add_all(key, v->rank, v->shape);
  add_all(key, v->rank, v->strides);
}

void add_bytes(plan_key *key, const void *bytes, size_t size) {
  const size_t words = (size + 7) / 8;
  add(key, (int64_t)size);
  if (!words || !has_room(key, words)) return;
  key->word[key->words + words - 1] = 0;
  memcpy(key->word + key->words, bytes, size);
  key->words += words;
}

/* Eight bytes at a time; a key's own numbers are mostly small, so that each is spread before the next comes in. */
static uint64_t hash_of(const void *key, size_t size) {
  const unsigned char *byte = key;
  uint64_t hash = size, word = 0;
  for (; size >= 8; size -= 8, byte += 8) {
    memcpy(&word, byte, 8);
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 29;
  }
  word = 0;
  memcpy(&word, byte, size);
  hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ hash >> 32;
}

/* ---------------------------------------------------------------------------------------------------------- the table */

static void unlink_use(plans *p, entry *e) {
  *(e->newer ? &e->newer->older : &p->newest) = e->older;
  *(e->older ? &e->older->newer : &p->oldest) = e->newer;
}

static void link_newest(plans *p, entry *e) {
  e->newer = NULL;
  e->older = p->newest;
  *(p->newest ? &p->newest->newer : &p->oldest) = e;
  p->newest = e;
}

static entry *look_up(plans *p, const void *key, size_t size, uint64_t hash) {
  if (!p->buckets) return NULL;
  for (entry *e = p->bucket[hash & (p->buckets - 1)]; e; e = e->next) {
    if (e->hash != hash || e->size != size || memcmp(e->key, key, size)) continue;
    if (p->newest != e) {
      unlink_use(p, e);
      link_newest(p, e);
    }
    return e;
  }
  return NULL;
}

static void take_out(plans *p, entry *e) {
  entry **link = &p->bucket[e->hash & (p->buckets - 1)];
  while (*link != e) link = &(*link)->next;
  *link = e->next;
  unlink_use(p, e);
  --p->count;
}

/* Takes out what is more than the limit, as a list by `next`. */
static entry *trim(plans *p, long long limit) {
  entry *out = NULL;
  while (p->count && (long long)p->count > limit) {
    entry *e = p->oldest;
    take_out(p, e);
    e->next = out;
    out = e;
  }
  return out;
}

/* Destroying a plan runs code of Python's, so the table is whole by then. */
static void drop(entry *list) {
  while (list) {
    entry *next = list->next;
    Py_DECREF(list->plan);
    free(list);
    list = next;
  }
}

static bool grow(plans *p) {
  const size_t buckets = p->buckets ? 2 * p->buckets : 64;
  entry **bucket = calloc(buckets, sizeof *bucket);
  if (!bucket) return p->buckets > 0;
  for (size_t i = 0; i < p->buckets; ++i) {
    for (entry *e = p->bucket[i], *next; e; e = next) {
      next = e->next;
      e->next = bucket[e->hash & (buckets - 1)];
      bucket[e->hash & (buckets - 1)] = e;
    }
  }
  free(p->bucket);
  p->bucket = bucket;
  p->buckets = buckets;
  return true;
}

/* Keeps a plan. Without memory for it, it is not kept. */
static void keep(plans *p, const void *key, size_t size, uint64_t hash, PyObject *plan, const plan_facts *facts) {
  if (p->limit <= 0) return;
  entry *e = malloc(sizeof *e + size), *before = look_up(p, key, size, hash);
  if (!e || (p->count >= p->buckets && !grow(p))) {
    free(e);
    return;
  }
  *e = (entry){.hash = hash, .plan = plan, .size = size};
  if (facts) e->facts = *facts;
  memcpy(e->key, key, size);
  Py_INCREF(plan);
  if (before) { /* another thread has made it at the same time */
    take_out(p, before);
    before->next = NULL;
  }
  entry **link = &p->bucket[hash & (p->buckets - 1)];
  e->next = *link;
  *link = e;
  link_newest(p, e);
  ++p->count;
  entry *out = trim(p, p->limit);
  drop(before);
  drop(out);
}

bool read_facts(PyObject *made, PyObject **plan, plan_facts *facts) {
  memset(facts, 0, sizeof *facts);
  PyObject *shape = PyTuple_GetItem(made, 4);
  if (!shape) return false;
  *plan = PyTuple_GetItem(made, 0);
  facts->kind = (int)PyLong_AsLong(PyTuple_GetItem(made, 1));
  facts->plan = PyLong_AsVoidPtr(PyTuple_GetItem(made, 2));
  facts->workspace = PyLong_AsSize_t(PyTuple_GetItem(made, 3));
  if (PyTuple_Size(made) > 5) facts->calls = (int)PyLong_AsLong(PyTuple_GetItem(made, 5));
  facts->rank = (int)PyTuple_Size(shape);
  for (int i = 0; i < facts->rank && i < MOST_AXES; ++i) facts->shape[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
  if (PyErr_Occurred()) return false;
  if (facts->rank > MOST_AXES) {
    PyErr_SetString(PyExc_SystemError, "a plan of the hot path has too many axes");
    return false;
  }
  Py_INCREF(*plan);
  return true;
}

outcome find_plan(const plan_key *key, PyObject *(*make)(const void *what, bool again), const void *what,
                  PyObject **plan, plan_facts *facts) {
  plans *p = (plans *)kept_plans;
  const size_t size = key->words * sizeof *key->word;
  const uint64_t hash = hash_of(key->word, size);
  if (key->full) return LEFT;
  entry *e = look_up(p, key->word, size, hash);
  const bool again = e && e->facts.calls == 1;
  if (e && !again) {
    ++p->hits;
    if (e->facts.calls) --e->facts.calls;
    *facts = e->facts;
    *plan = e->plan;
    Py_INCREF(*plan);
    return DONE;
  }
  PyObject *made = make(what, again);
  if (!made) {
    ++p->misses;
    return FAILED;
  }
  if (made == Py_None) {
    Py_DECREF(made);
    return LEFT;
  }
  ++p->misses;
  const bool read = read_facts(made, plan, facts);
  Py_DECREF(made);
  if (!read) return FAILED;
  keep(p, key->word, size, hash, *plan, facts);
  return DONE;
}

/* ---------------------------------------------------------------------------------------------- what Python sees of it */

/* The bytes of a key of Python's. Those of numbers begin with a small number, and so never with this letter. */
static bool bytes_of(PyObject *key, char **bytes, Py_ssize_t *size) {
  if (PyBytes_AsStringAndSize(key, bytes, size)) return false;
  if (*size > 0 && (*bytes)[0] == 'p') return true;
  PyErr_SetString(PyExc_ValueError, "a key begins with the letter p");
  return false;
}

static PyObject *get(PyObject *self, PyObject *key) {
  plans *p = (plans *)self;
  char *bytes;
  Py_ssize_t size;
  if (!bytes_of(key, &bytes, &size)) return NULL;
  const entry *e = look_up(p, bytes, (size_t)size, hash_of(bytes, (size_t)size));
  ++*(e ? &p->hits : &p->misses);
  PyObject *plan = e ? e->plan : Py_None;
  Py_INCREF(plan);
  return plan;
}

static PyObject *put(PyObject *self, PyObject *arguments) {
  char *bytes;
  Py_ssize_t size;
  PyObject *key, *plan;
  if (!PyArg_ParseTuple(arguments, "OO", &key, &plan) || !bytes_of(key, &bytes, &size)) return NULL;
  keep((plans *)self, bytes, (size_t)size, hash_of(bytes, (size_t)size), plan, NULL);
  Py_RETURN_NONE;
}

static PyObject *clear(PyObject *self, PyObject *nothing) {
  (void)nothing;
  drop(trim((plans *)self, 0));
  Py_RETURN_NONE;
}

static Py_ssize_t length(PyObject *self) { return (Py_ssize_t)((const plans *)self)->count; }

enum { LIMIT, HITS, MISSES };

static long long *counter(PyObject *self, void *which) {
  plans *p = (plans *)self;
  return (intptr_t)which == LIMIT ? &p->limit : (intptr_t)which == HITS ? &p->hits : &p->misses;
}

static PyObject *get_counter(PyObject *self, void *which) { return PyLong_FromLongLong(*counter(self, which)); }

static int set_counter(PyObject *self, PyObject *value, void *which) {
  const long long number = value ? PyLong_AsLongLong(value) : 0;
  if (number == -1 && PyErr_Occurred()) return -1;
  *counter(self, which) = number;
  if ((intptr_t)which == LIMIT) drop(trim((plans *)self, number));
  return 0;
}

static void destroy(PyObject *self) {
  plans *p = (plans *)self;
  PyTypeObject *type = Py_TYPE(self);
  drop(trim(p, 0));
  free(p->bucket);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"get", get, METH_O, "The plan of a key, or None."},
    {"put", put, METH_VARARGS, "Keeps a plan by its key."},
    {"clear", clear, METH_NOARGS, "Drops all plans."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"limit", get_counter, set_counter, NULL, (void *)(intptr_t)LIMIT},
    {"hits", get_counter, set_counter, NULL, (void *)(intptr_t)HITS},
    {"misses", get_counter, set_counter, NULL, (void *)(intptr_t)MISSES},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)(uintptr_t)destroy},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_sq_length, (void *)(uintptr_t)length},
    {0, NULL},
};

PyType_Spec plans_spec = {"cutt._calls.Plans", sizeof(plans), 0, Py_TPFLAGS_DEFAULT, slots};
