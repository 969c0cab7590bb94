/* Contracting files block by block; see contract.h, and contract_cut.c for how they are cut.
 *
 * A step contracts one block of each operand into a block of the result: the first of a block of the result writes it,
 * the others add to it, and after the last it goes to the file. */
#include "cli/pieces/contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/pieces/box.h"
#include "cli/pieces/flush.h"
#include "cli/pieces/pipeline.h"

enum { DEPTH = CUTT_PIPELINE_DEPTH, KEPT = 8, PARTS = 8 };
enum { INITIAL = CUTT_CLI_TENSORS, FILES }; /* what the result is added to, beside the three tensors */

/* What a step does, by its number. Slots change when the block does. */
enum { NEW_LEFT = 1, NEW_RIGHT = 2, LEFT_SLOT = 4, RIGHT_SLOT = 8, FIRST = 16, LAST = 32, RESULT_SLOT = 64 };

/* A plan for blocks of these extents. */
typedef struct kept_plan {
  cuttContractionPlan_t plan;
  bool first; /* it does not add to what is there, or to what --in says */
  int64_t extents[CUTT_CLI_LABELS];
} kept_plan;

typedef struct run {
  cutt_blocks_job *job;
  cutt_box_file file[FILES];
  uint8_t *steps; /* flags of each */
  void *buffer[FILES][DEPTH];
  kept_plan kept[KEPT];
  int next_kept;
  void *workspace;
  size_t workspace_bytes;
  cutt_flusher flusher; /* of the result */
} run;

/* ------------------------------------------------------------------------------------------------------------- steps */

/* The range of each label in a step. */
static void ranges_of(const cutt_blocks_job *job, int64_t step, int64_t *origin, int64_t *extents) {
  for (int i = 0; i < job->pattern.labels; ++i) {
    const int label = job->walk[i];
    const int64_t all = job->extents[label], block = job->block[label];
    const int64_t count = all > 0 ? (all + block - 1) / block : 1;
    origin[label] = step % count * block;
    extents[label] = all - origin[label] < block ? all - origin[label] : block;
    step /= count;
  }
}

static int tensor_of(int file) { return file == INITIAL ? CUTT_CLI_RESULT : file; }

static bool in_fortran_order(const cutt_blocks_job *job, int file) {
  if (file == CUTT_CLI_RESULT) return false;
  return job->file[tensor_of(file)].fortran_order;
}

/* The axis of NumPy's that mode i of a file is. */
static int axis_of(const cutt_blocks_job *job, int file, int i) {
  return in_fortran_order(job, file) ? i : job->pattern.rank[tensor_of(file)] - 1 - i;
}

static cutt_box box_of(const cutt_blocks_job *job, int file, int64_t step) {
  int64_t origin[CUTT_CLI_LABELS], extents[CUTT_CLI_LABELS];
  const int t = tensor_of(file);
  cutt_box box = {.origin = {0}};
  ranges_of(job, step, origin, extents);
  for (int i = 0; i < job->pattern.rank[t]; ++i) {
    const int label = job->pattern.label[t][axis_of(job, file, i)];
    box.origin[i] = origin[label];
    box.extents[i] = extents[label];
  }
  return box;
}

static int64_t box_bytes(const run *r, int file, const cutt_box *box) {
  return cutt_box_volume(box->extents, r->file[file].rank) * r->file[file].elem_bytes;
}

/* Is the tensor's block another one than in the step before? */
static bool is_new(const cutt_blocks_job *job, int tensor, int64_t step) {
  if (step == 0) return true;
  const cutt_box now = box_of(job, tensor, step), before = box_of(job, tensor, step - 1);
  return memcmp(now.origin, before.origin, (size_t)job->pattern.rank[tensor] * sizeof now.origin[0]) != 0;
}

static bool describe_steps(run *r) {
  cutt_blocks_job *job = r->job;
  r->steps = malloc((size_t)job->steps);
  if (!r->steps) return false;
  unsigned slots = LEFT_SLOT | RIGHT_SLOT | RESULT_SLOT;
  for (int64_t step = 0; step < job->steps; ++step) {
    unsigned flags = 0;
    if (is_new(job, CUTT_CLI_LEFT, step)) flags |= NEW_LEFT, slots ^= LEFT_SLOT;
    if (is_new(job, CUTT_CLI_RIGHT, step)) flags |= NEW_RIGHT, slots ^= RIGHT_SLOT;
    if (is_new(job, CUTT_CLI_RESULT, step)) {
      flags |= FIRST, slots ^= RESULT_SLOT;
      if (step > 0) r->steps[step - 1] |= LAST;
    }
    r->steps[step] = (uint8_t)(flags | slots);
  }
  r->steps[job->steps - 1] |= LAST;
  return true;
}

static uint8_t *buffer_of(const run *r, int file, int64_t step) {
  static const unsigned slot[FILES] = {LEFT_SLOT, RIGHT_SLOT, RESULT_SLOT, RESULT_SLOT};
  return r->buffer[file][(r->steps[step] & slot[file]) != 0];
}

/* ------------------------------------------------------------------------------------------------ reading and writing */

static void swap_words(uint8_t *at, int64_t bytes, int word) {
  for (uint8_t *end = at + bytes; at < end; at += word)
    for (int i = 0; i < word / 2; ++i) {
      const uint8_t byte = at[i];
      at[i] = at[word - 1 - i];
      at[word - 1 - i] = byte;
    }
}

static bool is_read(const run *r, int file, int64_t step) {
  switch (file) {
    case CUTT_CLI_LEFT:
      return r->steps[step] & NEW_LEFT;
    case CUTT_CLI_RIGHT:
      return r->job->file[CUTT_CLI_RIGHT].path && r->steps[step] & NEW_RIGHT;
    case INITIAL:
      return r->buffer[INITIAL][0] && r->steps[step] & FIRST;
    default:
      return false;
  }
}

static bool read_part(void *data, int64_t step, int part, char *why) {
  const run *r = data;
  for (int file = 0; file < FILES; ++file) {
    if (!is_read(r, file, step)) continue;
    const cutt_box box = box_of(r->job, file, step);
    const int64_t elem_bytes = r->file[file].elem_bytes, bytes = box_bytes(r, file, &box);
    const int64_t each = (bytes / elem_bytes + PARTS - 1) / PARTS * elem_bytes, low = each * part;
    const int64_t high = low + each < bytes ? low + each : bytes;
    uint8_t *memory = buffer_of(r, file, step);
    if (low >= high) continue;
    if (!cutt_box_read(&r->file[file], &box, low, high, memory, why)) return false;
    if (r->job->file[tensor_of(file)].swapped && !r->file[file].zarr)
      swap_words(memory + low, high - low, r->job->contraction->number->word);
  }
  return true;
}

static bool write_block(void *data, int64_t step, char *why) {
  run *r = data;
  if (!(r->steps[step] & LAST)) return true;
  const cutt_box box = box_of(r->job, CUTT_CLI_RESULT, step);
  const int64_t bytes = box_bytes(r, CUTT_CLI_RESULT, &box);
  if (bytes > 0 && !cutt_box_write(&r->file[CUTT_CLI_RESULT], &box, 0, bytes, buffer_of(r, CUTT_CLI_RESULT, step), why))
    return false;
  cutt_flusher_filled(&r->flusher, bytes,
                      cutt_box_run(r->file[CUTT_CLI_RESULT].extents, box.extents, r->file[CUTT_CLI_RESULT].rank,
                                   r->file[CUTT_CLI_RESULT].elem_bytes),
                      0);
  return true;
}

/* ------------------------------------------------------------------------------------------------------- contracting */

/* The contraction of a step's blocks, packed as their files are. */
static cutt_cli_contraction block_problem(const cutt_blocks_job *job, const int64_t *extents, bool first) {
  cutt_cli_contraction c = *job->contraction;
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t) {
    for (int i = 0; i < c.rank[t]; ++i) c.shape[t][i] = extents[job->pattern.label[t][i]];
    cutt_cli_packed_strides(c.shape[t], c.rank[t], in_fortran_order(job, t), c.strides[t]);
  }
  if (!first) c.beta[0] = 1.0, c.beta[1] = 0.0;
  return c;
}

static bool take_workspace(run *r, cuttContractionPlan_t plan) {
  size_t bytes = 0;
  if (cuttContractionWorkspace(plan, &bytes) != CUTT_SUCCESS) return false;
  if (bytes <= r->workspace_bytes) return true;
  cuttMemoryFree(CUTT_BACKEND_CPU, r->workspace);
  r->workspace = NULL;
  r->workspace_bytes = 0;
  if (cuttMemoryAllocate(CUTT_BACKEND_CPU, bytes, &r->workspace) != CUTT_SUCCESS) return false;
  r->workspace_bytes = bytes;
  return true;
}

/* Of a step; NULL: `why` says why, or is empty after a message. */
static cuttContractionPlan_t plan_of(run *r, int64_t step, char *why) {
  cutt_blocks_job *job = r->job;
  int64_t origin[CUTT_CLI_LABELS], extents[CUTT_CLI_LABELS] = {0};
  const bool first = r->steps[step] & FIRST;
  ranges_of(job, step, origin, extents);
  for (int i = 0; i < KEPT; ++i)
    if (r->kept[i].plan && r->kept[i].first == first &&
        !memcmp(r->kept[i].extents, extents, (size_t)job->pattern.labels * sizeof extents[0]))
      return r->kept[i].plan;
  kept_plan *kept = &r->kept[r->next_kept++ % KEPT];
  cuttContractionPlanDestroy(kept->plan);
  kept->plan = NULL;
  kept->first = first;
  memcpy(kept->extents, extents, sizeof extents);
  const cutt_cli_contraction c = block_problem(job, extents, first);
  *why = 0;
  cutt_cli_progress_clear(job->progress);
  if (cutt_cli_contraction_plan(job->command, &c, &job->options, &kept->plan) != CUTT_CLI_DONE) return NULL;
  if (take_workspace(r, kept->plan)) return kept->plan;
  snprintf(why, CUTT_PIPELINE_WHY, "memory for the workspace can't be had: %s", cuttLastError());
  return NULL;
}

/* What the result is added to, as the result's block lies. */
static bool fill_result(const run *r, int64_t step, char *why) {
  const cutt_box box = box_of(r->job, INITIAL, step);
  const int rank = r->file[INITIAL].rank;
  int perm[CUTT_MAX_RANK] = {0};
  for (int i = 0; i < rank; ++i) perm[i] = r->job->file[CUTT_CLI_RESULT].fortran_order ? rank - 1 - i : i;
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = rank;
  problem.type = (cuttType_t)r->file[INITIAL].elem_bytes;
  problem.extents = box.extents;
  problem.perm = perm;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  options.threads = r->job->options.threads;
  if (cuttPermute(&problem, &options, buffer_of(r, INITIAL, step), buffer_of(r, CUTT_CLI_RESULT, step), NULL) ==
      CUTT_SUCCESS)
    return true;
  snprintf(why, CUTT_PIPELINE_WHY, "a block of what the result is added to could not be moved: %s", cuttLastError());
  return false;
}

static bool contract_blocks(void *data, int64_t step, char *why) {
  run *r = data;
  if (is_read(r, INITIAL, step) && !fill_result(r, step, why)) return false;
  cuttContractionPlan_t plan = plan_of(r, step, why);
  if (!plan) return false;
  if (cuttContractionExecute(plan, buffer_of(r, CUTT_CLI_LEFT, step), buffer_of(r, CUTT_CLI_RIGHT, step),
                             buffer_of(r, CUTT_CLI_RESULT, step), r->workspace, r->workspace_bytes,
                             NULL) == CUTT_SUCCESS)
    return true;
  snprintf(why, CUTT_PIPELINE_WHY, "the contraction of a block failed: %s", cuttLastError());
  return false;
}

/* --------------------------------------------------------------------------------------------------------------- all */

static void describe_file(run *r, int file) {
  const cutt_blocks_job *job = r->job;
  cutt_box_file *f = &r->file[file];
  const int t = tensor_of(file);
  *f = (cutt_box_file){.elem_bytes = job->contraction->number->bytes, .rank = job->pattern.rank[t]};
  for (int i = 0; i < f->rank; ++i)
    f->extents[i] = f->chunk[i] = job->extents[job->pattern.label[t][axis_of(job, file, i)]];
  f->path = file == CUTT_CLI_RESULT ? job->output->path : job->file[t].path;
  f->descriptor = file == CUTT_CLI_RESULT ? job->output->descriptor : job->file[t].descriptor;
  f->zarr = file == CUTT_CLI_RESULT ? job->out_zarr : job->file[t].zarr;
  f->start = file == CUTT_CLI_RESULT ? job->out_start : job->file[t].start;
}

/* Two of each, for the largest blocks. */
static bool allocate(run *r) {
  const cutt_blocks_job *job = r->job;
  /* With beta 0 it is not read. */
  const bool added =
      job->file[CUTT_CLI_RESULT].path && (job->contraction->beta[0] != 0.0 || job->contraction->beta[1] != 0.0);
  for (int file = 0; file < FILES; ++file) {
    if (file == INITIAL && !added) continue;
    int64_t bytes = r->file[file].elem_bytes;
    for (int i = 0; i < r->file[file].rank; ++i)
      bytes *= job->block[job->pattern.label[tensor_of(file)][axis_of(job, file, i)]];
    for (int slot = 0; slot < DEPTH; ++slot)
      if (cuttMemoryAllocate(CUTT_BACKEND_CPU, (size_t)(bytes > 0 ? bytes : 1), &r->buffer[file][slot]) != CUTT_SUCCESS)
        return false;
  }
  return true;
}

static void release(run *r) {
  for (int file = 0; file < FILES; ++file)
    for (int slot = 0; slot < DEPTH; ++slot) cuttMemoryFree(CUTT_BACKEND_CPU, r->buffer[file][slot]);
  for (int i = 0; i < KEPT; ++i) cuttContractionPlanDestroy(r->kept[i].plan);
  cuttMemoryFree(CUTT_BACKEND_CPU, r->workspace);
  free(r->steps);
}

const char *cutt_blocks_words(const cutt_blocks_job *job, char *buffer, size_t size) {
  char memory[CUTT_CLI_TENSORS][32];
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t) {
    double bytes = job->contraction->number->bytes;
    for (int i = 0; i < job->pattern.rank[t]; ++i) bytes *= (double)job->block[job->pattern.label[t][i]];
    cutt_cli_bytes(bytes, memory[t], sizeof memory[t]);
  }
  const bool two = job->file[CUTT_CLI_RIGHT].path;
  snprintf(buffer, size, "%lld block%s of the result, of %s, in %lld step%s with blocks of %s%s%s",
           (long long)job->blocks, job->blocks == 1 ? "" : "s", memory[CUTT_CLI_RESULT], (long long)job->steps,
           job->steps == 1 ? "" : "s", memory[CUTT_CLI_LEFT], two ? " and " : "", two ? memory[CUTT_CLI_RIGHT] : "");
  return buffer;
}

int cutt_blocks_contract(cutt_blocks_job *job) {
  run r = {.job = job};
  for (int file = 0; file < FILES; ++file)
    if (file != INITIAL || job->file[CUTT_CLI_RESULT].path) describe_file(&r, file);
  bool good = describe_steps(&r) && allocate(&r);
  if (!good) cutt_cli_message("there is no memory for the blocks; --memory says how much may be used");
  const cutt_pipeline pipeline = {.items = job->steps,
                                  .parts = PARTS,
                                  .readers = job->readers,
                                  .read = read_part,
                                  .work = contract_blocks,
                                  .write = write_block,
                                  .data = &r,
                                  .progress = job->progress,
                                  .what = "contracting",
                                  .begin = 0.0,
                                  .end = 1.0};
  cutt_flusher_start(&r.flusher, job->output->stream || job->out_zarr ? -1 : job->output->descriptor);
  good = good && cutt_pipeline_run(&pipeline);
  cutt_flusher_stop(&r.flusher);
  release(&r);
  return good ? CUTT_CLI_DONE : CUTT_CLI_FAILED;
}
