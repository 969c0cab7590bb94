/* Candidates (candidate.h). */
#include "model/candidate.h"

#include <string.h>

const char *const cutt_method_name[CUTT_METHODS] = {
    [CUTT_METHOD_COPY] = "Copy",     [CUTT_METHOD_TILED_COPY] = "TiledCopy",     [CUTT_METHOD_TILED] = "Tiled",
    [CUTT_METHOD_PACKED] = "Packed", [CUTT_METHOD_PACKED_SPLIT] = "PackedSplit",
};

bool cutt_candidate_equal(const cutt_candidate *a, const cutt_candidate *b) {
  return a->method == b->method && a->m == b->m && a->k == b->k && a->split_m == b->split_m &&
         a->split_k == b->split_k && a->threads == b->threads && !memcmp(a->param, b->param, sizeof a->param);
}
