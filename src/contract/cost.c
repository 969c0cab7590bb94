/* Predicts the time of an algorithm (cost.h). Counts are doubles: they need no more digits to be compared. */
#include "contract/cost.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "contract/product_speed.h"
#include "model/machine.h"

/* Bytes of a cache line. Bytes between two runs from which on the processor does not fetch the second one ahead. */
enum { CACHE_LINE = 64, GAP = 1024 };

/* Permuting a tensor in blocks takes this much longer than its bytes and runs explain, as measured: each block sets up its
 * loops anew. */
static const double block_loss = 1.4;

int64_t cutt_aligned(int64_t bytes) {
  return (bytes + CUTT_WORKSPACE_ALIGNMENT - 1) / CUTT_WORKSPACE_ALIGNMENT * CUTT_WORKSPACE_ALIGNMENT;
}

double cutt_flops_each(const cutt_contraction *c) { return c->type->complex ? 8.0 : 2.0; }

double cutt_flops(const cutt_contraction *c) {
  double flops = cutt_flops_each(c);
  for (int i = 0; i < c->modes; ++i) flops *= (double)c->mode[i].extent;
  return flops;
}

double cutt_together(const double *time, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += time[i] * time[i] * time[i] * time[i];
  return sqrt(sqrt(sum));
}

bool cutt_exceeds_caches(const cutt_contraction *c, const cutt_rates *r) {
  double elements = 0;
  for (int t = 0; t < CUTT_TENSORS; ++t) elements += (double)c->volume[t];
  return r->stream_bytes > 0 && elements * c->type->bytes >= (double)cutt_most_cached(r->stream_bytes);
}

typedef struct counts {
  /* Of a block of whole chunks. */
  cutt_view view;
  cutt_gemm gemm;
  double blocks;
  /* Products in a block. */
  double calls;
  /* Elements of each tensor. */
  double volume[CUTT_TENSORS];
  /* Of each mode: is it in an index group, how many chunks has it, and is it one that a tensor's part of a block has? */
  bool kept[CUTT_MOST_MODES], holds[CUTT_TENSORS][CUTT_MOST_MODES];
  double chunks[CUTT_MOST_MODES];
  /* Is a tensor packed once for all blocks? */
  bool stays[CUTT_TENSORS];
  /* The packed parts of a block stay in a thread's cache. */
  bool in_cache;
} counts;

static int64_t chunks_of(const cutt_contraction *c, const cutt_algorithm *algorithm, int mode) {
  return (c->mode[mode].extent + algorithm->chunk[mode] - 1) / algorithm->chunk[mode];
}

bool cutt_algorithm_stays(const cutt_contraction *c, const cutt_algorithm *algorithm, cutt_tensor t) {
  for (int i = 0; i < c->modes; ++i)
    if (algorithm->chunk[i] < c->mode[i].extent && cutt_algorithm_holds(c, algorithm, t, i)) return false;
  return true;
}

/* Bytes of the contiguous runs that a block has in the unpacked tensor. */
static double run_bytes(const cutt_contraction *c, const cutt_algorithm *algorithm, cutt_tensor t) {
  int64_t run = 1;
  for (bool grew = true; grew;) {
    grew = false;
    for (int i = 0; i < c->modes && !grew; ++i) {
      if (llabs(c->mode[i].stride[t]) != run || algorithm->chunk[i] == 1) continue;
      run *= algorithm->chunk[i];
      grew = algorithm->chunk[i] == c->mode[i].extent;
      if (!grew) return (double)run * c->type->bytes;
    }
  }
  return (double)run * c->type->bytes;
}

/* How often each part of an operand is packed. The part stays packed while the chunk changes only of modes that the operand
 * does not have. So L is packed once for each chunk of N where the loop over those is outside of one that changes L's part: the
 * loop over M's chunks, or that over K's, which is the innermost. R likewise, with M. */
static double repeats(const cutt_contraction *c, const cutt_algorithm *algorithm, const counts *all, cutt_tensor t) {
  double m = 1, n = 1, k = 1;
  if (t == CUTT_RESULT || all->stays[t]) return 1;
  for (int i = 0; i < c->modes; ++i) {
    const cutt_role role = cutt_mode_role(&c->mode[i]);
    if (role == CUTT_ROLE_M) m *= all->chunks[i];
    if (role == CUTT_ROLE_N) n *= all->chunks[i];
    if (role == CUTT_ROLE_K && all->holds[t][i]) k *= all->chunks[i];
  }
  if (t == CUTT_LEFT) return k > 1 || algorithm->n_outside ? n : 1;
  return k > 1 || !algorithm->n_outside ? m : 1;
}

static double permute_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_algorithm *algorithm,
                              const counts *n, cutt_tensor t) {
  const double bytes = (double)n->volume[t] * c->type->bytes * repeats(c, algorithm, n, t);
  const double launches = bytes / (double)(n->view.packed[t] * c->type->bytes) * r->launch;
  const double run = run_bytes(c, algorithm, t), waste = (run + CACHE_LINE) / run;
  double moved = bytes * waste; /* to or from the unpacked tensor */
  if (t == CUTT_RESULT && (!c->beta_is_zero || n->in_cache))
    moved *= 2; /* cache lines are read before they are written */
  double near = 0;
  if (n->in_cache && !n->stays[t])
    near = bytes / r->cache / r->threads;
  else
    moved += bytes;
  /* Where the tensor's own first mode stays first, runs are copied, which is faster than transposing. */
  const cutt_role inner = algorithm->inner[t];
  const bool copies = algorithm->kept[inner] > 0 && llabs(c->mode[algorithm->index_group[inner][0]].stride[t]) == 1;
  const double seconds = moved / r->memory * (copies ? 1.0 : 1.25) + near + launches / r->threads;
  return n->blocks > 1 && !n->stays[t] ? block_loss * seconds : seconds;
}

/* Elements in a contiguous run of a tensor's matrix in a product. *next: elements from one run to the next; 0: there is one. */
static double run_in_product(const cutt_algorithm *algorithm, const counts *n, cutt_tensor t, int64_t *next) {
  int64_t run = 1;
  for (bool grew = true; grew;) {
    grew = false;
    *next = 0;
    for (int side = 0; side < 2 && !grew; ++side) {
      const cutt_role role = cutt_tensor_roles[t][side];
      for (int i = 0; i < algorithm->kept[role] && !grew; ++i) {
        const int mode = algorithm->index_group[role][i];
        const int64_t stride = n->view.stride[t][mode];
        if (n->view.extent[mode] == 1 || stride < run) continue;
        grew = stride == run;
        if (grew) run *= n->view.extent[mode];
        if (!grew && (*next == 0 || stride < *next)) *next = stride;
      }
    }
  }
  return (double)run;
}

/* Bytes that come from memory with an element: the rest of its cache line too, where its neighbours are not in use. kept: those of
 * one product, whose modes these are; NULL: of all. */
static double bytes_with(const cutt_contraction *c, cutt_tensor t, const bool *kept) {
  int64_t least = INT64_MAX;
  for (int i = 0; i < c->modes; ++i)
    if (c->mode[i].stride[t] && (!kept || kept[i])) least = smaller(least, (int64_t)llabs(c->mode[i].stride[t]));
  const int64_t line = CACHE_LINE / c->type->bytes;
  return (double)(least == INT64_MAX ? 1 : smaller(least, line)) * c->type->bytes;
}

/* cuBLAS reads no result that it does not add to. */
static bool reads_result(const cutt_contraction *c, const cutt_algorithm *algorithm) {
  return !algorithm->packed[CUTT_RESULT] && !c->beta_is_zero;
}

/* Seconds of moving operands from memory to the products, and results back. Every product fetches its matrices again where
 * they are larger than the cache; smaller ones are fetched at their first use only. Where runs have large gaps between them,
 * each run begins with a wait for memory, since a BLAS does not prefetch as the permutation does. */
static double fetch_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_algorithm *algorithm,
                            const counts *n) {
  double seconds = 0;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    const double passes = t == CUTT_RESULT && (!r->gpu || reads_result(c, algorithm)) ? 2 : 1;
    double bytes_each = algorithm->packed[t] ? c->type->bytes : bytes_with(c, (cutt_tensor)t, NULL);
    /* Products of a batch on a GPU are under way at once, and share what comes along. */
    const double bytes_own = algorithm->packed[t] || r->gpu ? bytes_each : bytes_with(c, (cutt_tensor)t, n->kept);
    double elements = n->volume[t] * repeats(c, algorithm, n, (cutt_tensor)t), matrix = 1;
    for (int side = 0; side < 2; ++side) {
      const cutt_role role = cutt_tensor_roles[t][side];
      for (int i = 0; i < algorithm->kept[role]; ++i) matrix *= (double)n->view.extent[algorithm->index_group[role][i]];
    }
    const double all = matrix * n->calls * n->blocks;
    if (algorithm->packed[t] && n->in_cache && !n->stays[t]) {
      seconds += passes * all * bytes_each / r->cache / r->threads;
      continue;
    }
    if (matrix * bytes_own > (double)r->cache_bytes && all * bytes_own > elements * bytes_each) {
      elements = all;
      bytes_each = bytes_own;
    }
    /* Results come and go as fast as a copy's, since nothing is known beforehand of where they will be written. */
    const bool goes = t == CUTT_RESULT && elements * bytes_each > (double)r->cache_bytes;
    seconds += passes * elements * bytes_each / (goes ? r->memory : r->product_fetch);
    int64_t next = 0;
    const double run = run_in_product(algorithm, n, (cutt_tensor)t, &next);
    if (n->volume[t] * bytes_each > 2.0 * (double)r->cache_bytes && ((double)next - run) * bytes_each >= GAP)
      seconds += passes * elements / run * r->run_start / r->threads;
  }
  return seconds;
}

/* Do the steps of one loop go on where those of another end, in all tensors? */
static bool goes_on(const cutt_view *view, int inner, int outer) {
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (view->stride[t][outer] != view->stride[t][inner] * view->extent[inner]) return false;
  return true;
}

/* The iterations of the longest loop over modes of the result, where loops that go on are one. */
static double longest_loop(const cutt_contraction *c, const counts *n) {
  int loop[CUTT_MOST_MODES], loops = 0;
  for (int i = 0; i < c->modes; ++i)
    if (!n->kept[i] && cutt_mode_role(&c->mode[i]) != CUTT_ROLE_K && n->view.extent[i] > 1) loop[loops++] = i;
  double longest = 1;
  for (int i = 0; i < loops; ++i) {
    int last = loop[i];
    double together = (double)n->view.extent[last];
    for (int j = 0; j < loops; ++j) {
      if (!goes_on(&n->view, last, loop[j])) continue;
      last = loop[j];
      together *= (double)n->view.extent[last];
      j = -1;
    }
    longest = fmax(longest, together);
  }
  return longest;
}

/* Seconds of products that add to what others have computed, on a GPU: each reads and writes its results while nothing is multiplied, and begins
 * when the one before has ended. */
static double adding_seconds(const cutt_contraction *c, const cutt_rates *r, const counts *n, double launches) {
  static const double between = 5e-6;
  double additions = 1;
  for (int i = 0; i < c->modes; ++i) {
    if (cutt_mode_role(&c->mode[i]) != CUTT_ROLE_K) continue;
    additions *= n->kept[i] ? n->chunks[i] : (double)c->mode[i].extent;
  }
  if (additions <= 1) return 0;
  const double results = n->volume[CUTT_RESULT] * c->type->bytes;
  return 2 * (additions - 1) * results / r->memory + launches * between;
}

/* Numbers of a product's vectors that do not follow each other in memory: a BLAS takes them one by one. */
static double strided_numbers(const cutt_gemm *g) {
  const bool left = g->m == 1 && g->op_a == CUTT_OP_N && g->lda > 1,
             right = g->n == 1 && g->op_b != CUTT_OP_N && g->ldb > 1;
  return (double)(left + right) * (double)g->k;
}

/* On a GPU, where the longest loop over modes of the result is a batch, launched at once. */
static double device_multiply_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_algorithm *algorithm,
                                      const counts *n) {
  /* A call of cuBLAS takes the host longer than a short product takes the GPU, unless permutations come before or behind it. */
  static const double only_call = 0.7e-6;
  const cutt_gemm *g = &n->gemm;
  const double calls = n->calls * n->blocks, launches = calls / longest_loop(c, n);
  const double fetch = fetch_seconds(c, r, algorithm, n), adding = adding_seconds(c, r, n, launches);
  const double alone = launches < calls ? cutt_batched_sum_seconds(g) : 0;
  bool packs = false;
  for (int t = 0; t < CUTT_TENSORS; ++t) packs = packs || algorithm->packed[t];
  const double more = packs ? 0 : only_call;
  cutt_batched batched;
  if (launches < calls && cutt_batched_of(c->type, g, r->multiprocessors, &batched)) {
    const double at_work = fmin(1, batched.tiles * calls / launches / (double)r->multiprocessors);
    return fmax(fmax(calls * batched.seconds / at_work, fetch * batched.reading), alone) +
           launches * (batched.begin + more) + adding;
  }
  const double each =
      cutt_product_seconds(c->type, g, calls / launches, r->multiprocessors, r->flops, fetch / launches);
  return fmax(launches * (each + more), alone) + adding;
}

static double multiply_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_algorithm *algorithm,
                               const counts *n) {
  if (r->gpu) return device_multiply_seconds(c, r, algorithm, n);
  const cutt_gemm *g = &n->gemm;
  const double m = (double)g->m, nn = (double)g->n, k = (double)g->k;
  const double calls = n->calls * n->blocks;
  const double flops = cutt_flops_each(c) * m * nn * k * calls;
  const bool vector = g->m == 1 || g->n == 1, small = m * nn * k <= r->small;
  const double *by = small ? r->small_slow : r->slow;
  const double speed = vector ? r->vector_share * r->flops : r->flops;
  const double slow = vector
                          ? 1 + r->vector_edge / k
                          : by[0] + by[1] / m + by[2] / nn + by[3] / k + (g->op_a == CUTT_OP_N ? 0 : r->transposed / m);
  const double work = flops * slow / speed + calls * strided_numbers(g) * r->strided;
  return (work + calls * r->call) / r->threads + fetch_seconds(c, r, algorithm, n);
}

/* What is asked of modes again and again. */
static void count_modes(const cutt_contraction *c, const cutt_algorithm *algorithm, counts *n) {
  cutt_algorithm_list_kept(algorithm, c, n->kept);
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    n->volume[t] = 1;
    n->stays[t] = true;
  }
  for (int i = 0; i < c->modes; ++i) {
    const cutt_role role = cutt_mode_role(&c->mode[i]);
    const bool cut = algorithm->chunk[i] < c->mode[i].extent;
    n->chunks[i] = cut ? (double)chunks_of(c, algorithm, i) : 1;
    for (int t = 0; t < CUTT_TENSORS; ++t) {
      n->holds[t][i] =
          c->mode[i].stride[t] || (n->kept[i] && (cutt_tensor_roles[t][0] == role || cutt_tensor_roles[t][1] == role));
      if (cut && n->holds[t][i]) n->stays[t] = false;
    }
  }
}

void cutt_cost_of(const cutt_contraction *c, const cutt_rates *r, const cutt_algorithm *algorithm, cutt_cost *cost) {
  counts n = {.blocks = 1, .calls = 1};
  bool swapped = false;
  cutt_algorithm_view(c, algorithm, NULL, &n.view);
  *cost = (cutt_cost){.result_blocks = 1, .k_blocks = 1};
  if (!cutt_algorithm_product(c, algorithm, &n.view, &n.gemm, &swapped)) {
    cost->seconds = INFINITY;
    return;
  }
  count_modes(c, algorithm, &n);
  for (int i = 0; i < c->modes; ++i) {
    const int64_t chunks = (int64_t)n.chunks[i];
    n.blocks *= n.chunks[i];
    if (cutt_mode_role(&c->mode[i]) == CUTT_ROLE_K)
      cost->k_blocks *= chunks;
    else
      cost->result_blocks *= chunks;
    if (!n.kept[i]) n.calls *= (double)algorithm->chunk[i];
    for (int t = 0; t < CUTT_TENSORS; ++t)
      if (n.holds[t][i]) n.volume[t] *= (double)c->mode[i].extent;
  }
  int64_t shared = 0;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    cost->packed_bytes[t] = cutt_aligned(n.view.packed[t] * c->type->bytes);
    *(n.stays[t] && t != CUTT_RESULT ? &shared : &cost->block_bytes) += cost->packed_bytes[t];
  }
  cost->spread = !r->gpu && r->threads > 1 && cost->result_blocks >= 2 * r->threads;
  cost->workspace = shared + cost->block_bytes * (cost->spread ? r->threads : 1);
  n.in_cache = r->cache_bytes > 0 && cost->block_bytes > 0 && cost->block_bytes <= r->cache_bytes;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    if (algorithm->packed[t]) cost->permute[t] = permute_seconds(c, r, algorithm, &n, (cutt_tensor)t);
    cost->seconds += cost->permute[t];
  }
  cost->multiply = multiply_seconds(c, r, algorithm, &n);
  cost->seconds += cost->multiply;
}
