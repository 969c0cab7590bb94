/* Memory of other processes (opened.h). */
#include "dist/opened.h"

#include <stdlib.h>

#include "base/error.h"
#include "plan/services.h"

enum { BY_PEER = 8, SAMPLE_BYTES = 256 };

typedef struct mapping {
  void *base; /* NULL: a free entry */
  uint64_t there, id;
  unsigned long long used; /* the latest use */
} mapping;

struct cutt_opened {
  const cutt_runtime *runtime;
  cutt_context context;
  void *sample;
  int size;
  unsigned long long uses;
  mapping map[]; /* BY_PEER for each rank */
};

cuttResult cutt_opened_make(const cutt_runtime *runtime, int size, cutt_opened **opened) {
  const size_t bytes = sizeof **opened + (size_t)size * BY_PEER * sizeof(mapping);
  cutt_opened *made = calloc(1, bytes);
  *opened = NULL;
  if (!made)
    return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for the memory of other processes", bytes);
  made->runtime = runtime;
  made->size = size;
  cuttResult result = runtime->context(&made->context);
  if (!result) result = runtime->memory_allocate(SAMPLE_BYTES, &made->sample);
  if (result) {
    free(made);
    return result;
  }
  *opened = made;
  return CUTT_SUCCESS;
}

const void *cutt_opened_sample(const cutt_opened *opened) { return opened->sample; }

static void close_mapping(const cutt_opened *opened, mapping *m) {
  if (m->base) opened->runtime->shared_close(m->base);
  m->base = NULL;
}

void cutt_opened_free(cutt_opened *opened) {
  if (!opened) return;
  const cutt_runtime *runtime = opened->runtime;
  cutt_scope scope;
  const cuttResult entered = runtime->enter_context(&opened->context, &scope);
  for (int i = 0; i < opened->size * BY_PEER; ++i) close_mapping(opened, &opened->map[i]);
  runtime->memory_free(opened->sample);
  if (!entered) runtime->leave(&scope);
  free(opened);
}

/* What the peer has freed is in the way of what it has allocated since, in the same or other blocks of its driver's: where
 * opening fails, all that it had is closed, and opened again when it is wanted. */
static cuttResult open_mapping(const cutt_opened *opened, mapping *own, const cutt_shared_memory *shared, void **base) {
  const cuttResult result = opened->runtime->shared_open(shared, base);
  bool any = false;
  for (int i = 0; result && i < BY_PEER; ++i) {
    any = any || own[i].base;
    close_mapping(opened, &own[i]);
  }
  return result && any ? opened->runtime->shared_open(shared, base) : result;
}

cuttResult cutt_opened_find(cutt_opened *opened, int peer, const cutt_shared_memory *shared, unsigned char **at) {
  mapping *own = opened->map + (size_t)peer * BY_PEER, *place = own;
  for (int i = 0; i < BY_PEER; ++i) {
    mapping *m = &own[i];
    if (m->base && m->there == shared->base && m->id == shared->id) {
      m->used = ++opened->uses;
      *at = (unsigned char *)m->base + shared->offset;
      return CUTT_SUCCESS;
    }
    if (m->there == shared->base) close_mapping(opened, m); /* another one, which is gone there */
    if (place->base && (!m->base || m->used < place->used)) place = m;
  }
  close_mapping(opened, place);
  void *base = NULL;
  const cuttResult result = open_mapping(opened, own, shared, &base);
  if (result) return result;
  *place = (mapping){base, shared->base, shared->id, ++opened->uses};
  *at = (unsigned char *)base + shared->offset;
  return CUTT_SUCCESS;
}
