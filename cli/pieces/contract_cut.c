/* How a contraction of files is cut into blocks; see contract.h.
 *
 * Each mode is cut on its own. The result's blocks are done one after the other, each with all blocks of the modes that
 * are summed over, so that a block of the result is written once; the operands' blocks are read again where other modes
 * are cut. Which to cut is found by halving, again and again, the mode that costs least for the memory that it frees. */
#include <stdio.h>
#include <string.h>

#include "cli/pieces/box.h"
#include "cli/pieces/contract.h"
#include "cli/pieces/pipeline.h"

/* As in cut.c: what a stretch costs beside its bytes. */
static const double stretch_cost = 16e3;

/* What a step does with its blocks in memory, permuting them for the matrix product, in bytes of the disk for each of
 * theirs; and what it costs by itself. */
static const double memory_cost = 0.25, step_cost = 64e3;

static bool has(const cutt_cli_pattern *p, int tensor, int label) {
  for (int i = 0; i < p->rank[tensor]; ++i)
    if (p->label[tensor][i] == label) return true;
  return false;
}

static int64_t blocks_of(const cutt_blocks_job *job, int label) {
  const int64_t extent = job->extents[label], block = job->block[label];
  return extent > 0 ? (extent + block - 1) / block : 1;
}

/* Bytes of a tensor's block. */
static double block_bytes(const cutt_blocks_job *job, int tensor) {
  double bytes = job->contraction->number->bytes;
  for (int i = 0; i < job->pattern.rank[tensor]; ++i) bytes *= (double)job->block[job->pattern.label[tensor][i]];
  return bytes;
}

static bool is_added(const cutt_blocks_job *job) { return job->file[CUTT_CLI_RESULT].path; }

static double buffers(const cutt_blocks_job *job) {
  double bytes = 0.0;
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t)
    bytes += block_bytes(job, t) * (t == CUTT_CLI_RESULT && is_added(job) ? 2 : 1);
  return CUTT_PIPELINE_DEPTH * bytes;
}

/* Moving all of a tensor once, in the stretches that its blocks have. */
static double tensor_cost(const cutt_blocks_job *job, int tensor) {
  const cutt_cli_pattern *p = &job->pattern;
  const int rank = p->rank[tensor];
  double bytes = job->contraction->number->bytes;
  double run = bytes;
  bool whole = true;
  for (int i = 0; i < rank; ++i) {
    const int label = p->label[tensor][job->file[tensor].fortran_order ? i : rank - 1 - i];
    bytes *= (double)job->extents[label];
    if (whole) run *= (double)job->block[label];
    whole = whole && job->block[label] == job->extents[label];
  }
  return run > 0.0 ? bytes * (1.0 + stretch_cost / run) : 0.0;
}

/* How often modes are cut: those of the left operand alone among the result's, of the right one's, and summed ones. */
static void count_cuts(const cutt_blocks_job *job, double *left, double *right, double *summed) {
  *left = *right = *summed = 1.0;
  for (int label = 0; label < job->pattern.labels; ++label) {
    const bool in_left = has(&job->pattern, CUTT_CLI_LEFT, label), in_right = has(&job->pattern, CUTT_CLI_RIGHT, label);
    const double count = (double)blocks_of(job, label);
    if (!has(&job->pattern, CUTT_CLI_RESULT, label))
      *summed *= count;
    else if (in_left && !in_right)
      *left *= count;
    else if (in_right && !in_left)
      *right *= count;
  }
}

/* In bytes of the disk; *left_inside: steps go on along the left operand's modes before the right one's. */
static double price(const cutt_blocks_job *job, bool *left_inside) {
  double left, right, summed;
  count_cuts(job, &left, &right, &summed);
  const double a = tensor_cost(job, CUTT_CLI_LEFT), b = tensor_cost(job, CUTT_CLI_RIGHT);
  const double c = tensor_cost(job, CUTT_CLI_RESULT);
  /* Where nothing that is summed over is cut, the block of one operand stays while those of the other go by. */
  const bool stays = summed == 1.0;
  const double right_first = (stays ? 1.0 : right) * a + left * b, left_first = right * a + (stays ? 1.0 : left) * b;
  *left_inside = left_first < right_first;
  double blocks = 0.0, steps = 1.0;
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t) blocks += block_bytes(job, t);
  for (int label = 0; label < job->pattern.labels; ++label) steps *= (double)blocks_of(job, label);
  return (*left_inside ? left_first : right_first) + c * (is_added(job) ? 2.0 : 1.0) +
         steps * (memory_cost * blocks + step_cost);
}

/* Steps go on along summed modes first, then those of one operand, those of the other, and those of both. */
static void order_labels(cutt_blocks_job *job, bool left_inside) {
  int count = 0;
  for (int place = 0; place < 4; ++place)
    for (int label = 0; label < job->pattern.labels; ++label) {
      const bool in_left = has(&job->pattern, CUTT_CLI_LEFT, label);
      const bool both = in_left && has(&job->pattern, CUTT_CLI_RIGHT, label);
      const int own = !has(&job->pattern, CUTT_CLI_RESULT, label) ? 0 : both ? 3 : in_left == left_inside ? 1 : 2;
      if (own == place) job->walk[count++] = label;
    }
}

/* What blocks of a label are made of: chunks of a Zarr result; else, as long as there are two of them, of an operand. */
static int64_t unit_of(const cutt_blocks_job *job, int label, bool any) {
  const cutt_cli_pattern *p = &job->pattern;
  for (int i = 0; i < p->rank[CUTT_CLI_RESULT] && job->out_zarr; ++i)
    if (p->label[CUTT_CLI_RESULT][i] == label) return job->out_zarr->chunk[p->rank[CUTT_CLI_RESULT] - 1 - i];
  for (int t = 0; t < CUTT_CLI_TENSORS && any; ++t)
    for (int i = 0; i < p->rank[t] && job->file[t].zarr; ++i)
      if (p->label[t][i] == label) return job->file[t].zarr->chunk[p->rank[t] - 1 - i];
  return 1;
}

/* Half of a block along a label, or somewhat more; the same: there is no less. */
static int64_t halved(const cutt_blocks_job *job, int label) {
  const int64_t block = job->block[label], half = (block + 1) / 2;
  for (int any = 1; any >= 0; --any) {
    const int64_t unit = unit_of(job, label, any), rounded = (half + unit - 1) / unit * unit;
    if (rounded < block) return rounded;
  }
  return block;
}

/* Halves the mode for which that costs least for the memory that it frees; false: none can be. */
static bool halve_one(cutt_blocks_job *job) {
  /* Sums of halves are rounded to halves each time, which is more than the bound allows. */
  const bool may_add = job->contraction->number->bytes > 2;
  bool left_inside;
  const double cost = price(job, &left_inside), bytes = buffers(job);
  int best = -1;
  double best_score = 0.0;
  for (int label = 0; label < job->pattern.labels; ++label) {
    const int64_t block = job->block[label];
    if (block <= 1 || (!may_add && !has(&job->pattern, CUTT_CLI_RESULT, label))) continue;
    job->block[label] = halved(job, label);
    const double freed = bytes - buffers(job);
    const double score = freed > 0.0 ? (price(job, &left_inside) - cost) / freed : 0.0;
    job->block[label] = block;
    if (freed <= 0.0 || (best >= 0 && score >= best_score)) continue;
    best = label;
    best_score = score;
  }
  if (best < 0) return false;
  job->block[best] = halved(job, best);
  return true;
}

/* Threads that read take chunks of Zarr arrays, and so does the one that writes; *memory is what is left. False after a
 * message. */
static bool share_memory(cutt_blocks_job *job, size_t *memory) {
  size_t each = 0, writer = job->out_zarr ? cutt_zarr_thread_bytes(job->out_zarr) : 0;
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t)
    if (job->file[t].zarr) each += cutt_zarr_thread_bytes(job->file[t].zarr);
  const size_t most = 4;
  job->readers = each == 0 || *memory / 4 / each >= most ? (int)most
                 : *memory / 4 > each                    ? (int)(*memory / 4 / each)
                                                         : 1;
  const size_t taken = writer + each * (size_t)job->readers;
  if (taken <= *memory / 2) {
    *memory -= taken;
    return true;
  }
  char size[32];
  cutt_cli_message("the chunks are too large for the memory that may be used: --memory %s would do",
                   cutt_cli_bytes(2.3 * (double)(each + writer), size, sizeof size));
  return false;
}

bool cutt_blocks_cut(cutt_blocks_job *job, size_t memory) {
  const cutt_cli_contraction *c = job->contraction;
  if (!share_memory(job, &memory)) return false;
  /* A quarter is workspace, for permuting blocks. */
  const double most = 0.75 * (double)memory;
  if (job->options.workspace_limit > memory / 4) job->options.workspace_limit = memory / 4;
  if (!cutt_cli_pattern_read(c->pattern, &job->pattern)) return false; /* it has been planned, and so can be read */
  for (int t = CUTT_CLI_LEFT; t <= CUTT_CLI_RIGHT; ++t)
    for (int i = 0; i < job->pattern.rank[t]; ++i) job->extents[job->pattern.label[t][i]] = c->shape[t][i];
  memcpy(job->block, job->extents, sizeof job->block);
  char size[32];
  while (buffers(job) > most) {
    if (halve_one(job)) continue;
    if (c->number->bytes > 2 && !job->out_zarr) break; /* blocks of one element each: there is no less */
    if (job->out_zarr) {
      cutt_cli_message("the chunks of the result are too large for the memory that may be used: blocks of them need %s",
                       cutt_cli_bytes(buffers(job) / 0.75, size, sizeof size));
      return false;
    }
    cutt_cli_message(
        "the modes that are summed over don't fit in the memory that may be used, and sums of %s can't be cut; "
        "blocks of them need %s, or convert the arrays to f4",
        c->number->name, cutt_cli_bytes(buffers(job) / 0.75, size, sizeof size));
    return false;
  }
  bool left_inside;
  price(job, &left_inside);
  order_labels(job, left_inside);
  job->steps = job->blocks = 1;
  for (int label = 0; label < job->pattern.labels; ++label) {
    const int64_t count = blocks_of(job, label);
    job->steps *= count;
    if (has(&job->pattern, CUTT_CLI_RESULT, label)) job->blocks *= count;
  }
  return true;
}
