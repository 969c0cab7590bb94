/* Permuting a file in pieces; see permute.h, and cut.h for how they are chosen.
 *
 * A piece is read as it lies in the input, permuted from one buffer to another, and written as it lies in the output.
 * With an intermediate file the first pass permutes, chunk by chunk, and the second only puts chunks in their places. */
#include "cli/pieces/permute.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/pieces/box.h"
#include "cli/pieces/flush.h"
#include "cli/pieces/pipeline.h"

enum { BUFFERS = 2 * CUTT_PIPELINE_DEPTH, CACHE_READERS = 8 };

/* A part of a piece that one thread reads or writes at a time. */
static const int64_t part_bytes = (int64_t)4 << 20;

/* A permutation of parts of pieces that is kept: of the first shape that is met, which most of them have. */
typedef struct kept_plan {
  cuttPlan_t plan;
  int64_t extents[CUTT_MAX_RANK], in_strides[CUTT_MAX_RANK], out_strides[CUTT_MAX_RANK];
} kept_plan;

/* One pass. Its boxes are in the order of the input's modes; `perm` has the order of the modes of each file. */
typedef struct pass {
  const cutt_pieces_job *job;
  const cutt_cut_pass *cut;
  cutt_box_file in, out;
  int in_order[CUTT_MAX_RANK], out_order[CUTT_MAX_RANK]; /* mode i of the file is this mode of the problem */
  int walk[CUTT_MAX_RANK]; /* the other modes than `along`, by how soon pieces go on along them */
  int along; /* pieces go on along this mode first, for the width of a strip, and to the next strip last */
  int64_t strip;
  int64_t together;     /* as many pieces along that mode are asked for at once; 0 or 1: none are */
  int64_t first, items; /* this rank's pieces */
  int64_t span;         /* bytes after which what is written goes on where it ended; 0: much later */
  int parts;
  void *buffer[2][CUTT_PIPELINE_DEPTH]; /* to read into, to write from */
  kept_plan kept;
  cutt_direct direct;   /* the input */
  cutt_flusher flusher; /* of the output; the intermediate file may stay in memory */
} pass;

/* ------------------------------------------------------------------------------------------------------------ pieces */

static bool is_packed(const cutt_box_file *file) {
  return memcmp(file->extents, file->chunk, (size_t)file->rank * sizeof file->extents[0]) == 0;
}

static int64_t count_along(const pass *p, int mode) {
  const int64_t part = p->cut->box[mode];
  return (p->job->problem.extents[mode] + part - 1) / part;
}

static cutt_box piece_box(const pass *p, int64_t item) {
  const cutt_cut_problem *problem = &p->job->problem;
  const int64_t all = count_along(p, p->along), others = p->cut->pieces / all;
  int64_t place[CUTT_MAX_RANK] = {0};
  cutt_box box = {.origin = {0}};
  item += p->first;
  const int64_t before = item / (others * p->strip) * p->strip, left = all - before;
  const int64_t width = left < p->strip ? left : p->strip;
  item -= before * others;
  place[p->along] = before + item % width;
  item /= width;
  for (int i = 0; i < problem->rank; ++i) {
    const int mode = p->walk[i];
    if (mode != p->along) place[mode] = item % count_along(p, mode);
    if (mode != p->along) item /= count_along(p, mode);
    box.origin[mode] = place[mode] * p->cut->box[mode];
    const int64_t rest = problem->extents[mode] - box.origin[mode];
    box.extents[mode] = rest < p->cut->box[mode] ? rest : p->cut->box[mode];
  }
  return box;
}

static cutt_box in_order(const cutt_box *box, const int *order, int rank) {
  cutt_box result = {.origin = {0}};
  for (int i = 0; i < rank; ++i) {
    result.origin[i] = box->origin[order[i]];
    result.extents[i] = box->extents[order[i]];
  }
  return result;
}

/* A part of a piece, in bytes. */
static void bounds_of(const pass *p, const cutt_box *box, int part, int64_t *low, int64_t *high) {
  const int64_t bytes = cutt_box_volume(box->extents, p->in.rank) * p->in.elem_bytes;
  const int64_t each = (bytes + p->parts - 1) / p->parts, end = each * (part + 1);
  *low = each * part;
  *high = end < bytes ? end : bytes;
}

/* How many pieces from this one on are asked for together: until the last of them, or the end of the mode. */
static int64_t row_from(const pass *p, const cutt_box *piece) {
  const int64_t place = piece->origin[p->along] / p->cut->box[p->along], left = count_along(p, p->along) - place;
  const int64_t row = p->together - place % p->together;
  return row < left ? row : left;
}

/* Asks for the part of all pieces of a row, which begins with this piece. */
static void expect_row(const pass *p, int64_t item, int part) {
  int64_t low = 0, high = 0;
  const cutt_box piece = piece_box(p, item), box = in_order(&piece, p->in_order, p->in.rank);
  bounds_of(p, &box, part, &low, &high);
  if (low < high) cutt_box_expect(&p->in, &box, low, high, p->cut->in_run * row_from(p, &piece));
}

/* A row is asked for when the one before it begins, so that the disk is never waited for. */
static void expect_rows(const pass *p, const cutt_box *piece, int64_t item, int part) {
  const int64_t next = item + row_from(p, piece);
  const bool begins = piece->origin[p->along] / p->cut->box[p->along] % p->together == 0;
  if (item == 0) expect_row(p, item, part);
  if ((item == 0 || begins) && next < p->items) expect_row(p, next, part);
}

static bool read_piece(void *data, int64_t item, int part, char *why) {
  const pass *p = data;
  int64_t low = 0, high = 0;
  const cutt_box piece = piece_box(p, item), box = in_order(&piece, p->in_order, p->in.rank);
  bounds_of(p, &box, part, &low, &high);
  if (p->together > 1) expect_rows(p, &piece, item, part);
  return low >= high || cutt_box_read(&p->in, &box, low, high, p->buffer[0][item % CUTT_PIPELINE_DEPTH], why);
}

/* Is this the last piece of a strip? */
static bool ends_strip(const pass *p, const cutt_box *piece, int64_t item) {
  const int64_t all = count_along(p, p->along), others = p->cut->pieces / all;
  const int64_t place = piece->origin[p->along] / p->cut->box[p->along];
  const int64_t done = (item + p->first + 1) - place / p->strip * p->strip * others;
  const int64_t left = all - place / p->strip * p->strip, width = left < p->strip ? left : p->strip;
  return done == width * others;
}

/* Where a strip is a stretch of the output, it can go to the disk. */
static void flush_strip(pass *p, const cutt_box *piece) {
  const int mode = p->along, last = p->out.rank - 1;
  if (p->out_order[last] != mode || p->out.zarr || !is_packed(&p->out)) return;
  const int64_t slab = cutt_box_volume(p->out.extents, last) * p->out.elem_bytes, width = p->strip * p->cut->box[mode];
  const int64_t first = piece->origin[mode] / width * width, end = piece->origin[mode] + piece->extents[mode];
  cutt_flusher_complete(&p->flusher, p->out.start + first * slab, p->out.start + end * slab);
}

static bool write_piece(void *data, int64_t item, char *why) {
  pass *p = data;
  const int rank = p->out.rank;
  if (!cutt_ranks_well(p->job->ranks, why, CUTT_PIPELINE_WHY)) return false;
  const cutt_box piece = piece_box(p, item), box = in_order(&piece, p->out_order, rank);
  const int64_t bytes = cutt_box_volume(box.extents, rank) * p->out.elem_bytes;
  for (int64_t low = 0; low < bytes; low += part_bytes) {
    const int64_t high = bytes - low < part_bytes ? bytes : low + part_bytes;
    if (!cutt_box_write(&p->out, &box, low, high, p->buffer[1][item % CUTT_PIPELINE_DEPTH], why)) return false;
    cutt_flusher_filled(&p->flusher, high - low, p->cut->out_run, p->span);
  }
  if (item + 1 < p->items && ends_strip(p, &piece, item)) flush_strip(p, &piece);
  return true;
}

/* -------------------------------------------------------------------------------------------------------- permuting */

/* Strides of a packed box, by the modes of the problem. */
static void packed_strides(const int64_t *extents, const int *order, int rank, int64_t *strides) {
  int64_t stride = 1;
  for (int i = 0; i < rank; ++i) {
    strides[order[i]] = stride;
    stride *= extents[order[i]];
  }
}

static bool is_kept(const kept_plan *kept, int rank, const int64_t *extents, const int64_t *in, const int64_t *out) {
  const size_t bytes = (size_t)rank * sizeof extents[0];
  return kept->plan && !memcmp(kept->extents, extents, bytes) && !memcmp(kept->in_strides, in, bytes) &&
         !memcmp(kept->out_strides, out, bytes);
}

/* Plans with what the user has asked for; the others, at the ends of modes, are planned by the library's model. */
static cuttResult_t plan_first(pass *p, const cuttProblem_t *problem, const void *from, void *to) {
  const size_t bytes = (size_t)problem->rank * sizeof problem->extents[0];
  cuttOptions_t options = p->job->options;
  if (options.choice == CUTT_MEASURE) {
    options.measure_in = from;
    options.measure_out = to;
  }
  memcpy(p->kept.extents, problem->extents, bytes);
  memcpy(p->kept.in_strides, problem->in_strides, bytes);
  memcpy(p->kept.out_strides, problem->out_strides, bytes);
  return cuttPlanCreate(&p->kept.plan, problem, &options);
}

/* A box in memory; strides by the modes of the problem. */
static bool permute_box(pass *p, const int64_t *extents, const int64_t *in_strides, const int64_t *strides,
                        const void *from, void *to, char *why) {
  const cutt_cut_problem *c = &p->job->problem;
  int64_t out_strides[CUTT_MAX_RANK];
  for (int i = 0; i < c->rank; ++i) out_strides[i] = strides[c->perm[i]];
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = c->rank;
  problem.type = (cuttType_t)c->elem_bytes;
  problem.extents = extents;
  problem.perm = c->perm;
  problem.in_strides = in_strides;
  problem.out_strides = out_strides;
  cuttResult_t result = p->kept.plan ? CUTT_SUCCESS : plan_first(p, &problem, from, to);
  if (result == CUTT_SUCCESS && is_kept(&p->kept, c->rank, extents, in_strides, out_strides)) {
    result = cuttPlanExecute(p->kept.plan, from, to, NULL);
  } else if (result == CUTT_SUCCESS) {
    cuttOptions_t options = CUTT_OPTIONS_INIT;
    options.backend = p->job->options.backend;
    options.threads = p->job->options.threads;
    result = cuttPermute(&problem, &options, from, to, NULL);
  }
  if (result == CUTT_SUCCESS) return true;
  snprintf(why, CUTT_PIPELINE_WHY, "the permutation of a piece failed: %s", cuttLastError());
  return false;
}

/* Of the chunks on one side, each lies packed at its place; on the other side the piece is packed. */
static bool permute_chunks(pass *p, const cutt_box *piece, bool in_chunks, const uint8_t *from, uint8_t *to,
                           char *why) {
  const int rank = p->job->problem.rank, elem_bytes = p->in.elem_bytes;
  const cutt_box_file *file = in_chunks ? &p->in : &p->out;
  const int *order = in_chunks ? p->in_order : p->out_order, *other = in_chunks ? p->out_order : p->in_order;
  const cutt_box box = in_order(piece, order, rank);
  int64_t piece_strides[CUTT_MAX_RANK], chunk_strides[CUTT_MAX_RANK], extents[CUTT_MAX_RANK];
  packed_strides(piece->extents, other, rank, piece_strides);
  cutt_box_walk walk;
  cutt_box_walk_start(&walk, file, &box);
  do {
    int64_t place = 0;
    for (int i = 0; i < rank; ++i) {
      extents[order[i]] = walk.extents[i];
      place += (walk.origin[i] - box.origin[i]) * piece_strides[order[i]];
    }
    packed_strides(extents, order, rank, chunk_strides);
    place *= elem_bytes;
    if (!permute_box(p, extents, in_chunks ? chunk_strides : piece_strides, in_chunks ? piece_strides : chunk_strides,
                     from + (in_chunks ? walk.place : place), to + (in_chunks ? place : walk.place), why))
      return false;
  } while (cutt_box_walk_next(&walk));
  return true;
}

static bool permute_piece(void *data, int64_t item, char *why) {
  pass *p = data;
  const cutt_box piece = piece_box(p, item);
  const uint8_t *from = p->buffer[0][item % CUTT_PIPELINE_DEPTH];
  uint8_t *to = p->buffer[1][item % CUTT_PIPELINE_DEPTH];
  if (!is_packed(&p->in)) return permute_chunks(p, &piece, true, from, to, why);
  if (!is_packed(&p->out)) return permute_chunks(p, &piece, false, from, to, why);
  int64_t in_strides[CUTT_MAX_RANK], out_strides[CUTT_MAX_RANK];
  packed_strides(piece.extents, p->in_order, p->in.rank, in_strides);
  packed_strides(piece.extents, p->out_order, p->in.rank, out_strides);
  return permute_box(p, piece.extents, in_strides, out_strides, from, to, why);
}

/* ------------------------------------------------------------------------------------------------------------ passes */

/* A file of the problem's elements, its modes in this order; chunk NULL: packed. */
static cutt_box_file file_of(const cutt_pieces_job *job, const char *path, int descriptor, int64_t start,
                             const int *order, const int64_t *chunk) {
  const cutt_cut_problem *c = &job->problem;
  cutt_box_file file = {
      .path = path, .descriptor = descriptor, .start = start, .elem_bytes = c->elem_bytes, .rank = c->rank};
  for (int i = 0; i < c->rank; ++i) {
    file.extents[i] = c->extents[order[i]];
    file.chunk[i] = (chunk ? chunk : c->extents)[order[i]];
  }
  return file;
}

/* The mode along which stretches of a side go on in the next piece. */
static int goes_on(const pass *p, const int *order) {
  const cutt_cut_problem *c = &p->job->problem;
  int i = 0;
  while (i < c->rank - 1 && p->cut->box[order[i]] == c->extents[order[i]]) ++i;
  return order[i];
}

/* Chooses the order of the pieces. Short stretches of the input that go on in the next pieces are asked for together, as a row
 * of `together` pieces: the system keeps two rows, which is memory of its own. Rows are as wide as a strip, and after one comes
 * that in which what is written goes on, so that pages that are filled in part are soon filled. Where pieces are too large for
 * rows, the side with the shorter stretches says what comes next. */
static void plan_order(pass *p) {
  const int64_t stretch = (int64_t)256 << 10, most = (int64_t)32 << 20; /* of a stretch, of a row */
  const int read = goes_on(p, p->in_order), written = goes_on(p, p->out_order);
  const int64_t wanted = stretch / p->cut->in_run, room = most / p->cut->piece_bytes;
  p->together = p->in.zarr || !is_packed(&p->in) ? 0 : wanted < room ? wanted : room;
  const bool strips = p->together > 1, by_input = strips || p->cut->in_run < p->cut->out_run;
  p->along = by_input ? read : written;
  p->strip = count_along(p, p->along);
  if (strips && read != written && p->together < p->strip) p->strip = p->together;
  p->span = p->along == written ? p->cut->piece_bytes : strips ? p->strip * p->cut->piece_bytes : 0;
  memcpy(p->walk, by_input && !strips ? p->in_order : p->out_order, sizeof p->walk);
}

/* Threads that read stretches of so many bytes past the system's cache. A few keep a disk at its rate where stretches are long, and no
 * disk that has to move for it moves much. Short ones take as many as are some bytes under way together, if there is room. */
static int direct_readers(const cutt_pieces_job *job, int64_t run, bool in_order) {
  const int64_t room = job->direct_bytes / (run + 2 * CUTT_DIRECT_ALIGNMENT), enough = ((int64_t)1 << 20) / run;
  const int64_t readers = room < enough ? room : enough;
  if (in_order) return 4;
  return readers < CACHE_READERS ? CACHE_READERS : readers < CUTT_DIRECT_READERS ? (int)readers : CUTT_DIRECT_READERS;
}

/* Says how the input will be read, and returns by how many threads. What comes from the disk goes past the system's cache,
 * which would make pages for what is read once and copy it: long stretches, and short ones that are long enough where pieces
 * are too large to ask for rows of them. Else by way of the cache: long stretches by one thread, so that the kernel sees that
 * it may read ahead, and short ones by many, each of which waits for its own, without what follows them. */
static int plan_reading(pass *p, bool from_disk) {
  const int64_t run = p->cut->in_run, least_direct = (int64_t)16 << 10;
  if (p->in.zarr) return p->job->readers;
  const bool in_order = run >= (int64_t)1 << 20;
  posix_fadvise(p->in.descriptor, 0, 0, in_order ? POSIX_FADV_SEQUENTIAL : POSIX_FADV_RANDOM);
  if (from_disk && (in_order || p->together <= 1) && run >= least_direct &&
      p->job->direct_bytes >= CACHE_READERS * least_direct)
    cutt_direct_open(&p->direct, p->in.descriptor, direct_readers(p->job, run, in_order), p->job->direct_bytes);
  if (p->direct.descriptor >= 0) p->in.direct = &p->direct;
  return p->in.direct ? p->direct.readers : in_order ? 1 : CACHE_READERS;
}

/* The first of the items of a rank. */
static int64_t share_of(int64_t items, int rank, int size) { return items / size * rank + items % size * rank / size; }

static bool run_pass(pass *p, int number) {
  const cutt_pieces_job *job = p->job;
  const int passes = job->cut.passes;
  /* A range of them for each rank, so that neighbours in the files are one rank's. */
  p->first = share_of(p->cut->pieces, job->ranks->rank, job->ranks->size);
  p->items = share_of(p->cut->pieces, job->ranks->rank + 1, job->ranks->size) - p->first;
  if (p->items == 0) return true;
  bool good = true;
  for (int i = 0; i < BUFFERS && good; ++i)
    good = cuttMemoryAllocate(CUTT_BACKEND_CPU, (size_t)p->cut->piece_bytes,
                              &p->buffer[i / CUTT_PIPELINE_DEPTH][i % CUTT_PIPELINE_DEPTH]) == CUTT_SUCCESS;
  if (!good)
    cutt_cli_message("there is no memory for %d buffers of %lld bytes; --memory says how much may be used", BUFFERS,
                     (long long)p->cut->piece_bytes);
  p->direct.descriptor = -1;
  plan_order(p);
  const int readers = plan_reading(p, number == 0 && job->ranks->size == 1);
  const int64_t parts = (p->cut->piece_bytes + part_bytes - 1) / part_bytes;
  p->parts = (int)(parts < readers ? readers : parts < 1024 ? parts : 1024);
  if (p->cut->piece_bytes < 64 * readers) p->parts = 1;
  const cutt_pipeline pipeline = {.items = p->items,
                                  .parts = p->parts,
                                  .readers = readers,
                                  .read = read_piece,
                                  .work = permute_piece,
                                  .write = write_piece,
                                  .data = p,
                                  .progress = job->progress,
                                  .what = passes == 1   ? "permuting"
                                          : number == 0 ? "first pass"
                                                        : "second pass",
                                  .begin = (double)number / passes,
                                  .end = (double)(number + 1) / passes};
  cutt_flusher_start(&p->flusher,
                     number == passes - 1 && !job->output->stream && !p->out.zarr ? p->out.descriptor : -1);
  good = good && cutt_pipeline_run(&pipeline);
  cutt_flusher_stop(&p->flusher);
  cutt_direct_close(&p->direct);
  for (int i = 0; i < BUFFERS; ++i)
    cuttMemoryFree(CUTT_BACKEND_CPU, p->buffer[i / CUTT_PIPELINE_DEPTH][i % CUTT_PIPELINE_DEPTH]);
  cuttPlanDestroy(p->kept.plan);
  return good;
}

/* Threads that read a Zarr array: their chunks take no more than a quarter of the memory. */
static int readers_of(const cutt_pieces_job *job, size_t memory) {
  const size_t most = 4, each = cutt_zarr_thread_bytes(job->in_zarr), count = memory / 4 / (each ? each : 1);
  return (int)(count < 1 ? 1 : count < most ? count : most);
}

static double all_bytes(const cutt_pieces_job *job) {
  return (double)cutt_box_volume(job->problem.extents, job->problem.rank) * job->problem.elem_bytes;
}

int64_t cutt_pieces_most(cutt_pieces_job *job, size_t memory) {
  const int64_t least = job->problem.elem_bytes;
  size_t threads = 0;
  job->readers = job->in_zarr ? readers_of(job, memory) : 1;
  /* Of what is left for the program itself. */
  job->direct_bytes = memory / 32 < (size_t)8 << 20 ? (int64_t)(memory / 32) : (int64_t)8 << 20;
  if (job->in_zarr) threads += (size_t)job->readers * cutt_zarr_thread_bytes(job->in_zarr);
  if (job->out_zarr) threads += cutt_zarr_thread_bytes(job->out_zarr);
  int64_t most = threads < memory ? (int64_t)((memory - threads) / BUFFERS) : 0;
  /* Some for each rank, so that reading and writing overlap. */
  if (job->ranks->size > 1 && (double)most > all_bytes(job) / job->ranks->size / BUFFERS)
    most = (int64_t)(all_bytes(job) / job->ranks->size / BUFFERS);
  if (job->in_zarr || job->out_zarr) return most; /* which may be too little */
  return most > least ? most : least;
}

/* Of Zarr arrays, which have no other problem than that of their modes. */
static bool cut_in_chunks(cutt_pieces_job *job, int64_t most_bytes) {
  const cutt_cut_problem *c = &job->problem;
  int64_t out_chunk[CUTT_MAX_RANK] = {0}, least = 0;
  for (int i = 0; i < c->rank && job->out_zarr; ++i) out_chunk[c->perm[i]] = job->out_zarr->chunk[i];
  if (cutt_cut_in_chunks(c, job->in_zarr ? job->in_zarr->chunk : NULL, job->out_zarr ? out_chunk : NULL, most_bytes,
                         &job->cut, &least))
    return true;
  char needed[32];
  const double threads = (job->in_zarr ? (double)cutt_zarr_thread_bytes(job->in_zarr) : 0.0) +
                         (job->out_zarr ? (double)cutt_zarr_thread_bytes(job->out_zarr) : 0.0);
  cutt_cli_bytes(1.15 * (BUFFERS * (double)least + 4.0 / 3.0 * threads), needed, sizeof needed);
  cutt_cli_message(
      "%s: the chunks are too large for the memory that may be used: --memory %s would do, or smaller chunks",
      job->out_zarr ? "the output" : job->in_path, needed);
  return false;
}

bool cutt_pieces_cut(cutt_pieces_job *job, int64_t most_bytes) {
  if (job->in_zarr || job->out_zarr) return cut_in_chunks(job, most_bytes);
  job->cut = cutt_cut_find(&job->problem, most_bytes, job->ranks->size > 1 ? 1 : 2);
  return true;
}

const char *cutt_pieces_words(const cutt_pieces_job *job, char *buffer, size_t size) {
  const cutt_cut *cut = &job->cut;
  char all[32], read[32], piece[32], in[32], out[32];
  cutt_cli_bytes(cut->passes * all_bytes(job), all, sizeof all);
  cutt_cli_bytes(cut->read_bytes > 0.0 ? cut->read_bytes : cut->passes * all_bytes(job), read, sizeof read);
  cutt_cli_bytes((double)cut->pass[0].piece_bytes, piece, sizeof piece);
  cutt_cli_bytes((double)cut->pass[0].in_run, in, sizeof in);
  cutt_cli_bytes((double)cut->pass[cut->passes - 1].out_run, out, sizeof out);
  if (cut->passes == 1)
    snprintf(buffer, size, "one pass in %lld piece%s of %s; %s are read, %s at a time, and %s written, %s at a time",
             (long long)cut->pass[0].pieces, cut->pass[0].pieces == 1 ? "" : "s", piece, read, in, all, out);
  else
    snprintf(buffer, size,
             "two passes, by an intermediate file, in %lld pieces of %s and %lld; %s are read, %s at a time, and %s "
             "written, %s at a time",
             (long long)cut->pass[0].pieces, piece, (long long)cut->pass[1].pieces, all, in, all, out);
  return buffer;
}

/* What to do when there is no room for an intermediate file: the memory with which there is none, by doubling. */
static void advise_on_room(const cutt_pieces_job *job, char *advice, size_t size) {
  char enough[32];
  for (int64_t piece = 2 * job->cut.pass[0].piece_bytes; (double)piece < all_bytes(job); piece *= 2) {
    const cutt_cut cut = cutt_cut_find(&job->problem, piece, 2);
    if (cut.passes != 1) continue;
    cutt_cli_bytes(1.15 * BUFFERS * (double)piece, enough, sizeof enough);
    snprintf(advice, size, "make room, or give more memory: with %s one pass does", enough);
    return;
  }
  snprintf(advice, size, "make room, or write elsewhere");
}

bool cutt_pieces_permute(cutt_pieces_job *job) {
  const cutt_cut_problem *c = &job->problem;
  const int passes = job->cut.passes;
  pass first = {.job = job, .cut = &job->cut.pass[0]}, second = {.job = job, .cut = &job->cut.pass[1]};
  for (int i = 0; i < c->rank; ++i) {
    first.in_order[i] = i;
    first.out_order[i] = second.in_order[i] = second.out_order[i] = c->perm[i];
  }
  first.in = file_of(job, job->in_path, job->in_descriptor, job->in_start, first.in_order, NULL);
  first.in.zarr = job->in_zarr;
  cutt_box_file out = file_of(job, job->output->path, job->output->descriptor, job->out_start, first.out_order, NULL);
  out.zarr = job->out_zarr;
  if (passes == 1) {
    first.out = out;
    return run_pass(&first, 0);
  }
  char advice[256];
  advise_on_room(job, advice, sizeof advice);
  const int between = cutt_output_intermediate(job->output, (size_t)all_bytes(job), advice);
  if (between < 0) return false;
  first.out = second.in = file_of(job, "the intermediate file", between, 0, first.out_order, job->cut.chunk);
  second.out = out;
  const bool good = run_pass(&first, 0) && run_pass(&second, 1);
  close(between);
  return good;
}
