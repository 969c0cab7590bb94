/* The cost of an algorithm (cost.h). All counts are in doubles: they only have to be compared. */
#include "contract/cost.h"

#include <math.h>
#include <stdlib.h>

enum { LINE = 64, GAP = 1024, TILE = 64, SPLIT = 256, MOST_PARTS = 16 };

/* What permuting a tensor in pieces takes beyond the bytes and runs that are counted, as measured: tables are set up anew. */
static const double piece_loss = 1.4;

int64_t cutt_aligned(int64_t bytes) {
  return (bytes + CUTT_WORKSPACE_ALIGNMENT - 1) / CUTT_WORKSPACE_ALIGNMENT * CUTT_WORKSPACE_ALIGNMENT;
}

double cutt_flops_each(const cutt_contraction *c) { return c->type->complex ? 8.0 : 2.0; }

static int64_t chunks_of(const cutt_contraction *c, const cutt_algorithm *algorithm, int mode) {
  return (c->mode[mode].extent + algorithm->chunk[mode] - 1) / algorithm->chunk[mode];
}

bool cutt_algorithm_stays(const cutt_contraction *c, const cutt_algorithm *algorithm, cutt_tensor t) {
  for (int i = 0; i < c->modes; ++i)
    if (algorithm->chunk[i] < c->mode[i].extent && cutt_algorithm_holds(c, algorithm, t, i)) return false;
  return true;
}

/* Bytes of the runs in which a piece lies in the tensor's own memory. */
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

/* How often each piece of a tensor is packed: with chunks of the loops that it does not have, again for each of them that
 * comes between. Chunks of K come innermost, and so every tensor that has them is packed anew for each unit. */
static double repeats(const cutt_contraction *c, const cutt_algorithm *algorithm, cutt_tensor t) {
  double m = 1, n = 1, k = 1;
  for (int i = 0; i < c->modes; ++i) {
    const cutt_role role = cutt_mode_role(&c->mode[i]);
    const double count = (double)chunks_of(c, algorithm, i);
    if (role == CUTT_ROLE_M) m *= count;
    if (role == CUTT_ROLE_N) n *= count;
    if (role == CUTT_ROLE_K && cutt_algorithm_holds(c, algorithm, t, i)) k *= count;
  }
  if (t == CUTT_RESULT || cutt_algorithm_stays(c, algorithm, t)) return 1;
  if (t == CUTT_LEFT) return k > 1 || algorithm->n_outside ? n : 1;
  return k > 1 || !algorithm->n_outside ? m : 1;
}

typedef struct counts {
  cutt_view view; /* of a piece */
  cutt_gemm gemm;
  double pieces, calls; /* calls: products in a piece */
  double volume[CUTT_TENSORS];
  bool in_cache; /* a packed piece stays in a thread's cache */
} counts;

static double permute_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_algorithm *algorithm,
                              const counts *n, cutt_tensor t) {
  const double bytes = (double)n->volume[t] * c->type->bytes * repeats(c, algorithm, t);
  const double launches = bytes / (double)(n->view.packed[t] * c->type->bytes) * r->launch;
  const double run = run_bytes(c, algorithm, t), waste = (run + LINE) / run;
  double moved = bytes * waste;                                          /* to or from the tensor itself */
  if (t == CUTT_RESULT && (!c->beta_is_zero || n->in_cache)) moved *= 2; /* lines are read to be written */
  double near = 0;
  if (n->in_cache && !cutt_algorithm_stays(c, algorithm, t))
    near = bytes / r->cache / r->threads;
  else
    moved += bytes;
  /* The first mode going elsewhere is a transposition and not a copy of runs. */
  const cutt_role inner = algorithm->inner[t];
  const bool copies = algorithm->kept[inner] > 0 && llabs(c->mode[algorithm->index_group[inner][0]].stride[t]) == 1;
  const double seconds = moved / r->memory * (copies ? 1.0 : 1.25) + near + launches / r->threads;
  return n->pieces > 1 && !cutt_algorithm_stays(c, algorithm, t) ? piece_loss * seconds : seconds;
}

/* Elements of a tensor that lie side by side within one product. *next: how far from one such run to the next. */
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

/* What bringing operands to the products takes, and the result away. A product of matrices that outgrow the cache finds
 * nothing of them there the next time; of smaller ones only the first use counts. Where a matrix consists of short runs with
 * gaps between them, each begins with a wait, since a BLAS does not look ahead as the permutation does. */
static double fetch_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_algorithm *algorithm,
                            const counts *n) {
  double seconds = 0;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    const double passes = t == CUTT_RESULT ? 2 : 1, bytes_each = c->type->bytes;
    double elements = n->volume[t] * repeats(c, algorithm, (cutt_tensor)t), matrix = 1;
    for (int side = 0; side < 2; ++side) {
      const cutt_role role = cutt_tensor_roles[t][side];
      for (int i = 0; i < algorithm->kept[role]; ++i) matrix *= (double)n->view.extent[algorithm->index_group[role][i]];
    }
    const double all = matrix * n->calls * n->pieces;
    if (algorithm->packed[t] && n->in_cache && !cutt_algorithm_stays(c, algorithm, (cutt_tensor)t)) {
      seconds += passes * all * bytes_each / r->cache / r->threads;
      continue;
    }
    if (matrix * bytes_each > (double)r->cache_bytes && all > elements) elements = all;
    seconds += passes * elements * bytes_each / r->fetch;
    int64_t next = 0;
    const double run = run_in_product(algorithm, n, (cutt_tensor)t, &next);
    if (n->volume[t] * bytes_each > 2.0 * (double)r->cache_bytes && ((double)next - run) * bytes_each >= GAP)
      seconds += passes * elements / run * r->run / r->threads;
  }
  return seconds;
}

/* On a GPU products of one loop are launched together, and a launch that has fewer tiles than there are multiprocessors leaves
 * some of them idle. */
static double launches_of(const cutt_contraction *c, const cutt_algorithm *algorithm, const counts *n, double calls,
                          double *use, int64_t multiprocessors) {
  double together = 1;
  for (int i = 0; i < c->modes; ++i) {
    const double extent = (double)n->view.extent[i];
    if (cutt_algorithm_keeps(algorithm, c, i) || cutt_mode_role(&c->mode[i]) == CUTT_ROLE_K || extent <= together)
      continue;
    together = extent;
  }
  /* cuBLAS shares out the sum of a product that is alone, as far as that goes. */
  const double parts = together > 1 ? 1 : fmin(MOST_PARTS, ceil((double)n->gemm.k / SPLIT));
  const double tiles = ceil((double)n->gemm.m / TILE) * ceil((double)n->gemm.n / TILE) * parts * together;
  *use = fmin(1, tiles / (double)multiprocessors);
  return calls / together;
}

static double multiply_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_algorithm *algorithm,
                               const counts *n) {
  const cutt_gemm *g = &n->gemm;
  const double m = (double)g->m, nn = (double)g->n, k = (double)g->k;
  const double calls = n->calls * n->pieces;
  const double flops = cutt_flops_each(c) * m * nn * k * calls;
  const bool vector = g->m == 1 || g->n == 1, small = m * nn * k <= r->small;
  const double *by = small ? r->small_slow : r->slow;
  const double speed = vector ? r->vector_share * r->flops : r->flops;
  const double slow = vector ? 1 + r->vector_edge / k
                             : by[0] + by[1] / m + by[2] / nn + by[3] / k + (g->op_a == CUTT_OP_N ? 0 : r->turned / m);
  const double work = flops * slow / speed, fetch = fetch_seconds(c, r, algorithm, n);
  if (!r->gpu) return work / r->threads + fetch + calls * r->call / r->threads;
  double use = 1;
  const double launches = launches_of(c, algorithm, n, calls, &use, r->multiprocessors);
  return fmax(work / use, fetch) + launches * r->call;
}

void cutt_cost_of(const cutt_contraction *c, const cutt_rates *r, const cutt_algorithm *algorithm, cutt_cost *cost) {
  counts n = {.pieces = 1, .calls = 1};
  bool swapped = false;
  cutt_algorithm_view(c, algorithm, NULL, &n.view);
  *cost = (cutt_cost){.units = 1, .terms = 1};
  if (!cutt_algorithm_product(c, algorithm, &n.view, &n.gemm, &swapped)) {
    cost->seconds = INFINITY;
    return;
  }
  for (int t = 0; t < CUTT_TENSORS; ++t) n.volume[t] = 1;
  for (int i = 0; i < c->modes; ++i) {
    const int64_t chunks = chunks_of(c, algorithm, i);
    n.pieces *= (double)chunks;
    if (cutt_mode_role(&c->mode[i]) == CUTT_ROLE_K)
      cost->terms *= chunks;
    else
      cost->units *= chunks;
    if (!cutt_algorithm_keeps(algorithm, c, i)) n.calls *= (double)algorithm->chunk[i];
    for (int t = 0; t < CUTT_TENSORS; ++t)
      if (cutt_algorithm_holds(c, algorithm, (cutt_tensor)t, i)) n.volume[t] *= (double)c->mode[i].extent;
  }
  int64_t shared = 0;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    cost->packed_bytes[t] = cutt_aligned(n.view.packed[t] * c->type->bytes);
    *(cutt_algorithm_stays(c, algorithm, (cutt_tensor)t) && t != CUTT_RESULT ? &shared : &cost->piece_bytes) +=
        cost->packed_bytes[t];
  }
  cost->spread = !r->gpu && r->threads > 1 && cost->units >= 2 * r->threads;
  cost->workspace = shared + cost->piece_bytes * (cost->spread ? r->threads : 1);
  n.in_cache = r->cache_bytes > 0 && cost->piece_bytes > 0 && cost->piece_bytes <= r->cache_bytes;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    if (algorithm->packed[t]) cost->permute[t] = permute_seconds(c, r, algorithm, &n, (cutt_tensor)t);
    cost->seconds += cost->permute[t];
  }
  cost->multiply = multiply_seconds(c, r, algorithm, &n);
  cost->seconds += cost->multiply;
}
