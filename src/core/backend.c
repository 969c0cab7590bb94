/* What core knows about backends: the names of the methods, and which backend a plan is for. */
#include "core/backend.h"

#include <string.h>

#include "core/error.h"
#include "core/plan.h"

const char *const cutt_method_name[CUTT_METHODS] = {
    [CUTT_METHOD_COPY] = "Copy",     [CUTT_METHOD_TILED_COPY] = "TiledCopy",     [CUTT_METHOD_TILED] = "Tiled",
    [CUTT_METHOD_PACKED] = "Packed", [CUTT_METHOD_PACKED_SPLIT] = "PackedSplit",
};

cuttResult cutt_backend_select(cuttBackend_t id, const cutt_backend **backend) {
  const char *why = "this build has none", *name = id == CUTT_BACKEND_AUTO ? "CUTT_BACKEND_AUTO" : NULL;
  for (const cutt_backend *const *b = cutt_backends; *b; ++b) {
    if (id != CUTT_BACKEND_AUTO && (*b)->id != id) continue;
    if (name == NULL) name = (*b)->id_name;
    if ((*b)->probe(&why)) {
      *backend = *b;
      return CUTT_SUCCESS;
    }
  }
  if (name == NULL) {
    return cutt_error(CUTT_INVALID_PARAMETER, "options->backend is %ld; it must be one of the values of cuttBackend_t",
                      (long)id);
  }
  return cutt_error(CUTT_INVALID_DEVICE, "options->backend is %s, and no such backend is usable here: %s", name,
                    why ? why : "it does not say why");
}

bool cutt_candidate_equal(const cutt_candidate *a, const cutt_candidate *b) {
  return a->method == b->method && a->m == b->m && a->k == b->k && a->split_m == b->split_m &&
         a->split_k == b->split_k && a->threads == b->threads && !memcmp(a->param, b->param, sizeof a->param);
}
