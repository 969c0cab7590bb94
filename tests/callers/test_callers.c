/* Programs that were written for the original library: each caller, compiled in every way that CMakeLists.txt lists,
 * does its work and gets the right result. That they compile at all is most of the test.
 *
 * They run on the memory that AUTO plans for: the GPU's where one is usable, else the host's. */
/* cmocka's header wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "caller.h"
#include "cutt.h"

/* An element's value is its index in the input, in as many of its bytes as there are. */
static void set_element(unsigned char *element, size_t elem_bytes, size_t index) {
  for (size_t b = 0; b < elem_bytes; b++) element[b] = b < sizeof index ? (unsigned char)(index >> (8 * b)) : 0x5a;
}

static size_t volume_of(int rank, const int *dim) {
  size_t volume = 1;
  for (int i = 0; i < rank; i++) volume *= (size_t)dim[i];
  return volume;
}

const char *caller_open(caller_data *data, int rank, const int *dim, size_t elem_bytes) {
  const size_t volume = volume_of(rank, dim);
  memset(data, 0, sizeof *data);
  data->bytes = volume * elem_bytes;
  unsigned char *host = malloc(data->bytes);
  if (!host || cuttMemoryAllocate(CUTT_BACKEND_AUTO, data->bytes, &data->in) != CUTT_SUCCESS ||
      cuttMemoryAllocate(CUTT_BACKEND_AUTO, data->bytes, &data->out) != CUTT_SUCCESS) {
    free(host);
    return "out of memory";
  }
  memset(host, 0xee, data->bytes);
  const char *wrong = caller_copy(data->out, host, data->bytes);
  for (size_t i = 0; i < volume; i++) set_element(host + i * elem_bytes, elem_bytes, i);
  if (!wrong) wrong = caller_copy(data->in, host, data->bytes);
  free(host);
  return wrong;
}

void caller_close(caller_data *data) {
  cuttMemoryFree(CUTT_BACKEND_AUTO, data->in);
  cuttMemoryFree(CUTT_BACKEND_AUTO, data->out);
}

const char *caller_copy(void *to, const void *from, size_t bytes) {
  return cuttMemoryCopy(CUTT_BACKEND_AUTO, to, from, bytes) == CUTT_SUCCESS ? NULL : cuttLastError();
}

const char *caller_verify(const void *result, int rank, const int *dim, const int *perm, size_t elem_bytes) {
  const size_t volume = volume_of(rank, dim);
  unsigned char *host = malloc(volume * elem_bytes);
  if (!host) return "out of memory";
  const char *wrong = caller_copy(host, result, volume * elem_bytes);
  for (size_t o = 0; o < volume && !wrong; o++) {
    size_t rest = o, index = 0;
    for (int i = 0; i < rank; i++) {
      index += rest % (size_t)dim[perm[i]] * volume_of(perm[i], dim);
      rest /= (size_t)dim[perm[i]];
    }
    unsigned char wanted[16];
    set_element(wanted, elem_bytes, index);
    if (memcmp(host + o * elem_bytes, wanted, elem_bytes) != 0) wrong = "an element is not where it belongs";
  }
  free(host);
  return wrong;
}

static void run(void **state) {
  const char *(*caller)(void) = NULL;
  memcpy(&caller, *state, sizeof caller);
  const char *wrong = caller();
  if (wrong) fail_msg("%s (cuttLastError: %s)", wrong, cuttLastError());
}

/* variants.def, which CMake writes, has a line C_VARIANT(name) or CXX_VARIANT(name) for each variant. */
#define EITHER_LANGUAGE(DO, variant)                                                                                   \
  DO(first, variant) DO(schedule, variant) DO(circuit, variant) DO(loop, variant) DO(words, variant)
#define ONLY_CXX(DO, variant)                                                                                          \
  DO(tensor, variant) DO(storage, variant) DO(layer, variant) DO(update, variant) DO(kept, variant)

#define DECLARE(caller, variant) const char *caller_##caller##_##variant(void);
#define C_VARIANT(variant) EITHER_LANGUAGE(DECLARE, variant)
#define CXX_VARIANT(variant) EITHER_LANGUAGE(DECLARE, variant) ONLY_CXX(DECLARE, variant)
#include "variants.def"
#undef C_VARIANT
#undef CXX_VARIANT

typedef struct entry {
  const char *name;
  const char *(*caller)(void);
} entry;

static entry entries[] = {
#define ENTER(caller, variant) {#variant ": " #caller, caller_##caller##_##variant},
#define C_VARIANT(variant) EITHER_LANGUAGE(ENTER, variant)
#define CXX_VARIANT(variant) EITHER_LANGUAGE(ENTER, variant) ONLY_CXX(ENTER, variant)
#include "variants.def"
};

enum { ENTRIES = sizeof entries / sizeof entries[0] };

int main(void) {
  static struct CMUnitTest tests[ENTRIES];
  for (int i = 0; i < ENTRIES; i++) {
    tests[i].name = entries[i].name;
    tests[i].test_func = run;
    tests[i].initial_state = &entries[i].caller;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
