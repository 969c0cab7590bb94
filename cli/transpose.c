/* cutt transpose IN.npy OUT.npy: out = np.ascontiguousarray(np.transpose(in, axes)), from file to file.
 *
 * The input is mapped, and the result is permuted straight into the mapping of the output: the tensor is never held in
 * buffers of this program, and a Fortran-order input costs nothing extra, since it is only another set of strides. Where
 * the two do not fit in memory, pieces/ does it through buffers.
 *
 * Order of axes: NumPy counts from the slowest of a C-order array, the library from the stride-1 mode. A C-order array
 * of n axes is therefore the library's tensor with the axes reversed: axis a is mode n-1-a. In Fortran order axis a is
 * mode a. Output is always C order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "guard.h"
#include "input.h"
#include "mapping.h"
#include "options.h"
#include "output.h"
#include "permute.h"
#include "pieces/memory.h"
#include "pieces/permute.h"
#include "ranks.h"
#include "zarr_output.h"

static const char me[] = "transpose";

/* What the command line asks for. */
typedef struct transpose_request {
  const char *in_path;
  char *out_path;
  const char *axes, *spec; /* as given, or NULL */
  const char *wisdom_path;
  cuttOptions_t options;
  cutt_zarr_choice zarr;
  size_t memory; /* 0: a share of what is free */
  bool force, quiet, verbose;
} transpose_request;

static const cutt_cli_option options[] = {
    {"axes", "LIST", "axis i of OUT is axis LIST[i] of IN: 2,0,1; -1 is the last one", cutt_cli_read_text,
     offsetof(transpose_request, axes)},
    {"spec", "SPEC", "the same with a letter for each axis: 'abc->cab'", cutt_cli_read_text,
     offsetof(transpose_request, spec)},
    {"threads", "N", "use N threads at most (default: OMP_NUM_THREADS, else all cores)", cutt_cli_read_threads,
     offsetof(transpose_request, options.threads)},
    {"measure", NULL, "time the most promising candidates and take the fastest, rather than predict it",
     cutt_cli_read_measure, offsetof(transpose_request, options.choice)},
    {"wisdom", "FILE", "use the measured choices in FILE, and add to them; it is created when missing",
     cutt_cli_read_text, offsetof(transpose_request, wisdom_path)},
    {"backend", "NAME", "cpu, cuda, or auto for the GPU where there is one (default: auto)", cutt_cli_read_backend,
     offsetof(transpose_request, options.backend)},
    {"memory", "SIZE",
     "take no more than SIZE bytes of memory, such as 4G or 512Mi: arrays that need more go through in pieces "
     "(default: "
     "half of what is free)",
     cutt_cli_read_memory, offsetof(transpose_request, memory)},
    {"zarr", "VERSION",
     "OUT is a Zarr array of version 2 or 3, as it also is by the name OUT.zarr (default: IN's, or 2)",
     cutt_zarr_read_format, offsetof(transpose_request, zarr.format)},
    {"chunks", "LIST", "extents of a chunk of OUT (default: IN's; else halves of the longest axis, to 16 MiB at most)",
     cutt_cli_read_text, offsetof(transpose_request, zarr.chunks)},
    {"codec", "NAME", "none, blosc, zstd, gzip or zlib: how chunks of OUT are compressed (default: IN's, or none)",
     cutt_cli_read_text, offsetof(transpose_request, zarr.codec)},
    {"force", NULL, "replace OUT when it exists", cutt_cli_read_flag, offsetof(transpose_request, force)},
    {"verbose", NULL, "say beforehand how many bytes will be moved, in how many pieces and passes", cutt_cli_read_flag,
     offsetof(transpose_request, verbose)},
    {"quiet", NULL, "no progress bar and no closing line", cutt_cli_read_flag, offsetof(transpose_request, quiet)},
};

static const cutt_cli_syntax syntax = {
    .command = me,
    .usage =
        "Usage: cutt transpose IN.npy OUT.npy [--axes LIST | --spec SPEC] [OPTION]...\n"
        "Permute the axes of an array: OUT = np.ascontiguousarray(np.transpose(IN, axes)), bit for bit.\n"
        "Without --axes or --spec the axes are reversed, as np.transpose does.\n",
    .options = options,
    .count = sizeof options / sizeof options[0],
    .letters = "v",
    .remarks =
        "IN is an .npy file of version 1.0, 2.0 or 3.0 with elements of 1, 2, 4, 8 or 16 bytes, in C or Fortran\n"
        "order and of any byte order (elements are moved, never changed); or FILE.npz:NAME, FILE.h5:/NAME, or the "
        "folder\n"
        "of a Zarr array. OUT.zarr is one, too. OUT appears whole or not at all. '-' is standard input or standard "
        "output.\n",
};

/* ------------------------------------------------------------------------------------------------------- axes */

/* "abc->cab" to axes. Letters name the axes of an array of this rank. */
static bool read_spec(const char *spec, int rank, int64_t *axes) {
  const char *arrow = strstr(spec, "->");
  if (!arrow) {
    cutt_cli_misused(me, "--spec is '%s'; it must have the input's axes, '->', and the output's, such as 'abc->cab'",
                     spec);
    return false;
  }
  size_t left = (size_t)(arrow - spec), right = strlen(arrow + 2);
  for (const char *at = spec; *at; ++at) {
    if (at == arrow || at == arrow + 1) continue;
    bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
    const char *side = at < arrow ? spec : arrow + 2;
    if (!letter) {
      cutt_cli_misused(me, "--spec is '%s', where '%c' is wrong; each axis is one letter, a-z or A-Z", spec, *at);
      return false;
    }
    if (memchr(side, *at, (size_t)(at - side))) {
      cutt_cli_misused(me, "--spec is '%s', where '%c' is twice on one side; each axis must be there once", spec, *at);
      return false;
    }
    side = at < arrow ? arrow + 2 : spec;
    if (!memchr(side, *at, at < arrow ? right : left)) {
      cutt_cli_misused(me, "--spec is '%s', where '%c' is missing in the %s; both sides must have the same letters",
                       spec, *at, at < arrow ? "output" : "input");
      return false;
    }
  }
  if (left != (size_t)rank) {
    cutt_cli_misused(me, "--spec is '%s', which has %zu axes, but the array has %d", spec, left, rank);
    return false;
  }
  for (size_t i = 0; i < right; ++i) axes[i] = (const char *)memchr(spec, arrow[2 + i], left) - spec;
  return true;
}

/* axes[i]: the input's axis that the output's axis i is, in NumPy's order. */
static bool find_axes(const transpose_request *request, int rank, int *axes) {
  int64_t list[CUTT_MAX_RANK];
  if (!request->spec) return cutt_cli_parse_axes(me, request->axes, rank, axes);
  return read_spec(request->spec, rank, list) && cutt_cli_check_axes(me, list, rank, rank, axes);
}

/* ------------------------------------------------------------------------------------------------------- the command */

static void closing_line(const cutt_cli_permute_job *job, const cutt_pieces_job *pieces, const cutt_npy *in,
                         const cutt_npy *out, double total) {
  char from[256], to[256], time[32], all[32], threads[32] = "", copy[64] = "";
  cutt_cli_shape(in->shape, in->rank, from, sizeof from);
  cutt_cli_shape(out->shape, out->rank, to, sizeof to);
  cutt_cli_duration(job->seconds, time, sizeof time);
  cutt_cli_duration(total, all, sizeof all);
  if (job->bytes == 0) {
    cutt_cli_message("%s -> %s of %s: nothing to permute, no elements; %s in all", from, to, in->descr, all);
    return;
  }
  if (pieces->cut.passes > 0) {
    const double rate = job->seconds > 0.0 ? 2e-9 * (double)job->bytes / job->seconds : 0.0;
    const long long count = (long long)pieces->cut.pass[0].pieces + (long long)pieces->cut.pass[1].pieces;
    cutt_cli_message("%s -> %s of %s: %lld piece%s, %s, %s, %.3g GB/s; %s to disk", from, to, in->descr, count,
                     count == 1 ? "" : "s", pieces->cut.passes == 1 ? "one pass" : "two passes", time, rate, all);
    return;
  }
  double gbs = job->seconds > 0.0 ? 2e-9 * (double)job->bytes / job->seconds : 0.0;
  if (job->copy_gbs > 0.0)
    snprintf(copy, sizeof copy, ", %.0f%% of copy speed (%.3g GB/s)", 100.0 * gbs / job->copy_gbs, job->copy_gbs);
  if (job->backend == CUTT_BACKEND_CPU)
    snprintf(threads, sizeof threads, ", %d thread%s", job->info.threads, job->info.threads == 1 ? "" : "s");
  cutt_cli_message("%s -> %s of %s: %s (%s%s), %s, %.3g GB/s%s; %s with files", from, to, in->descr, job->info.method,
                   job->info.isa, threads, time, gbs, copy, all);
}

static void fill_job(cutt_cli_permute_job *job, const cutt_input *in, const int *axes) {
  const cutt_npy *npy = &in->npy;
  int rank = npy->rank;
  job->rank = rank;
  job->elem_bytes = npy->elem_bytes;
  job->bytes = npy->data_bytes;
  if (in->data) job->in = in->data + npy->data_start;
  int64_t stride = 1;
  for (int mode = 0; mode < rank; ++mode) {
    job->extents[mode] = npy->shape[npy->fortran_order ? mode : rank - 1 - mode];
    job->strides[mode] = stride;
    stride *= job->extents[mode];
    int axis = axes[rank - 1 - mode];
    job->perm[mode] = npy->fortran_order ? axis : rank - 1 - axis;
  }
}

/* What all of the work shares, in memory or in pieces. */
typedef struct work {
  const transpose_request *request;
  const cutt_input *in;
  cutt_ranks *ranks;
  cutt_npy out_npy;
  uint8_t header[CUTT_NPY_HEADER_ROOM];
  size_t header_bytes;
  cutt_cli_permute_job job;
  cutt_pieces_job pieces; /* cut.passes is 0 where it is done in memory */
  int64_t most_bytes;     /* of a piece */
  bool to_zarr;           /* the output is a Zarr array, of this metadata */
  cutt_zarr_meta meta;
  cutt_zarr zarr;
  cutt_output output;
} work;

/* Saves what was measured, before OUT appears: a failure leaves it untouched. */
static bool save_wisdom(const work *w, bool is_new) {
  const transpose_request *request = w->request;
  cuttWisdom_t wisdom = w->job.options.wisdom;
  const char *path = request->wisdom_path;
  if (!path || w->ranks->rank > 0 || !(is_new || request->options.choice == CUTT_MEASURE)) return true;
  if (cuttWisdomSave(wisdom, path) == CUTT_SUCCESS) return true;
  cutt_cli_message("the wisdom file could not be written: %s", cuttLastError());
  return false;
}

static bool permute_in_memory(work *w) {
  cutt_cli_permute_job *job = &w->job;
  job->out = w->output.data + w->header_bytes;
  if (cutt_mapping_fits_in_memory(2.0 * (double)job->bytes) &&
      !(cutt_input_populate(w->in, &job->progress) && cutt_output_populate(&w->output, &job->progress)))
    return false;
  return cutt_cli_permute(job);
}

static bool permute_in_pieces(work *w) {
  const double began = cutt_cli_seconds();
  w->pieces.output = &w->output;
  w->pieces.out_start = (int64_t)w->header_bytes;
  w->pieces.options = w->job.options;
  w->pieces.options.backend = CUTT_BACKEND_CPU;
  w->pieces.progress = &w->job.progress;
  if (!cutt_pieces_permute(&w->pieces)) return false;
  w->job.seconds = cutt_cli_seconds() - began;
  return true;
}

/* As the array is: neighbours stay two modes where there are chunks of them. */
static cutt_cut_problem problem_of_modes(const cutt_cli_permute_job *job) {
  cutt_cut_problem problem = {.rank = job->rank > 0 ? job->rank : 1, .elem_bytes = job->elem_bytes, .extents = {1}};
  for (int i = 0; i < job->rank; ++i) {
    problem.extents[i] = job->extents[i];
    problem.perm[i] = job->perm[i];
  }
  return problem;
}

/* Is it done in pieces, how, and is that what was asked for? On false a message has been given. */
static bool choose_pieces(work *w) {
  const transpose_request *request = w->request;
  cutt_cli_permute_job *job = &w->job;
  const size_t near = (size_t)w->ranks->near;
  const size_t most = request->memory ? request->memory : cutt_memory_free() / 2 / near;
  const bool chunks = w->in->zarr || w->to_zarr;
  if (w->ranks->size == 1 && !chunks && 2.0 * (double)job->bytes <= (double)most) return true;
  if (job->bytes == 0) return true;
  char words[256], size[32];
  if (request->options.backend != CUTT_BACKEND_AUTO && request->options.backend != CUTT_BACKEND_CPU) {
    cutt_cli_message(
        "--backend %s: the two arrays take %s, %s, and arrays in pieces are permuted by the processor: --backend cpu",
        cutt_cli_backend_name(request->options.backend), cutt_cli_bytes(2.0 * (double)job->bytes, size, sizeof size),
        chunks               ? "chunks are read and written piece by piece"
        : w->ranks->size > 1 ? "which ranks do in pieces"
                             : "more than the memory that may be used (see --memory)");
    return false;
  }
  job->backend = CUTT_BACKEND_CPU;
  cutt_pieces_job *pieces = &w->pieces;
  pieces->problem = chunks ? problem_of_modes(job) : cutt_cut_fuse(job->rank, job->elem_bytes, job->extents, job->perm);
  pieces->in_path = w->in->path;
  pieces->in_descriptor = w->in->descriptor;
  pieces->in_start = w->in->npy.data_start;
  pieces->ranks = w->ranks;
  pieces->in_zarr = w->in->zarr;
  pieces->out_zarr = w->to_zarr ? &w->zarr : NULL;
  if (w->ranks->rank == 0)
    w->most_bytes = cutt_pieces_most(pieces, cutt_memory_for_buffers(request->memory) / (request->memory ? 1 : near));
  if (!cutt_pieces_cut(pieces, w->most_bytes)) return false;
  if (w->ranks->rank == 0 && (request->verbose || job->progress.enabled))
    cutt_cli_message("%s", cutt_pieces_words(pieces, words, sizeof words));
  return true;
}

/* Of ranks the first makes the file, and says its name and how the work is cut. */
static bool open_output(work *w, const char *temporary) {
  const transpose_request *request = w->request;
  const size_t bytes = w->header_bytes + (size_t)w->job.bytes;
  if (w->ranks->rank > 0) return cutt_output_open_shared(&w->output, request->out_path, temporary, bytes);
  if (w->to_zarr) return cutt_output_open_folder(&w->output, request->out_path, request->force);
  if (w->ranks->size > 1) return cutt_output_open_named(&w->output, request->out_path, bytes, request->force);
  return (w->pieces.cut.passes > 0 ? cutt_output_open : cutt_output_create)(&w->output, request->out_path, bytes,
                                                                            request->force, request->memory);
}

static bool write_header(work *w) {
  char why[CUTT_ZARR_WHY];
  if (!w->to_zarr) return w->ranks->rank > 0 || cutt_output_write_header(&w->output, w->header, w->header_bytes);
  cutt_zarr_close(&w->zarr); /* it had no folder */
  if (cutt_zarr_create(&w->zarr, &w->meta, w->output.descriptor, w->ranks->rank == 0, why)) return true;
  cutt_cli_message("%s: %s", w->output.path, why);
  return false;
}

static bool fill_output(work *w) {
  cutt_ranks *ranks = w->ranks;
  if (!write_header(w)) return false;
  if (ranks->size > 1 && ranks->rank == 0 && !cutt_ranks_say(ranks, cutt_guard_temporary(), w->most_bytes))
    return false;
  if (w->pieces.cut.passes > 0) return permute_in_pieces(w);
  return w->job.bytes == 0 || permute_in_memory(w);
}

/* All but opening and closing what the work needs. */
static bool fill_and_commit(work *w, const char *temporary, bool wisdom_is_new) {
  cutt_cli_progress *progress = &w->job.progress;
  if (!open_output(w, temporary)) return false;
  bool good = fill_output(w);
  cutt_cli_progress_clear(progress);
  good = good && cutt_input_unchanged(w->in) && save_wisdom(w, wisdom_is_new);
  if (w->ranks->size > 1) good = good && cutt_output_flush(&w->output, progress) && cutt_ranks_meet(w->ranks);
  if (good && w->ranks->rank == 0) return cutt_output_commit(&w->output, progress);
  cutt_output_abandon(&w->output);
  return good;
}

/* The work is described; what ranks share is there. */
static bool plan_and_do(work *w, double began) {
  const transpose_request *request = w->request;
  char temporary[PATH_MAX] = "";
  if (w->ranks->rank > 0 && !cutt_ranks_hear(w->ranks, temporary, &w->most_bytes)) return false;
  if (!choose_pieces(w)) return false;
  bool wisdom_is_new = false;
  if (request->wisdom_path) {
    w->job.options.wisdom = cutt_cli_wisdom_open(request->wisdom_path, request->quiet, &wisdom_is_new);
    if (!w->job.options.wisdom) return false;
  }
  const bool good = fill_and_commit(w, temporary, wisdom_is_new);
  cutt_cli_progress_clear(&w->job.progress);
  if (good && !request->quiet && w->ranks->rank == 0)
    closing_line(&w->job, &w->pieces, &w->in->npy, &w->out_npy, cutt_cli_seconds() - began);
  cuttWisdomDestroy(w->job.options.wisdom);
  return good;
}

/* A number that says what is to be done with which input. */
static uint64_t number_of_request(const work *w, const int *axes) {
  const cutt_npy *npy = &w->in->npy;
  uint64_t number = 1;
  const int64_t values[] = {w->ranks->size,        npy->rank,
                            npy->elem_bytes,       npy->fortran_order,
                            w->in->status.st_size, w->in->status.st_mtim.tv_sec,
                            w->request->force};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) number = number * 1000003 + (uint64_t)values[i];
  for (int i = 0; i < npy->rank; ++i)
    number = (number * 1000003 + (uint64_t)npy->shape[i]) * 1000003 + (uint64_t)axes[i];
  return number;
}

/* The output as a Zarr array, before there is a folder for it; an exit code. */
static int describe_zarr(work *w, const int *axes) {
  const cutt_zarr_meta *from = w->in->zarr && w->in->npy.rank > 0 ? &w->in->zarr->meta : NULL;
  const int code = cutt_zarr_choose(me, &w->request->zarr, from, axes, &w->out_npy, w->request->memory, &w->meta);
  if (code != CUTT_CLI_DONE) return code;
  cutt_zarr_describe(&w->zarr, &w->meta);
  return CUTT_CLI_DONE;
}

static int transpose_by_axes(work *w, const int *axes) {
  const transpose_request *request = w->request;
  const double began = cutt_cli_seconds();
  if (!cutt_cli_find_backend(request->options.backend, &w->job.backend)) return CUTT_CLI_FAILED;
  for (int i = 0; i < w->in->npy.rank; ++i) w->out_npy.shape[i] = w->in->npy.shape[axes[i]];
  if (w->out_npy.rank == 0) { /* as np.ascontiguousarray: a scalar comes out as one element on one axis */
    w->out_npy.rank = 1;
    w->out_npy.shape[0] = 1;
  }
  w->header_bytes = cutt_npy_write_header(&w->out_npy, w->header);
  fill_job(&w->job, w->in, axes);
  const int code = w->to_zarr ? describe_zarr(w, axes) : CUTT_CLI_DONE;
  if (code != CUTT_CLI_DONE) return code;
  cutt_ranks *ranks = w->ranks;
  if (ranks->size > 1 && !cutt_ranks_begin(ranks, request->out_path, number_of_request(w, axes)))
    return CUTT_CLI_FAILED;
  const bool good = plan_and_do(w, began);
  if (ranks->size > 1) cutt_ranks_end(ranks, good);
  return good ? CUTT_CLI_DONE : CUTT_CLI_FAILED;
}

/* From here on the input is open and its header read. */
static int transpose(const transpose_request *request, const cutt_input *in, cutt_ranks *ranks, bool to_zarr) {
  int axes[CUTT_MAX_RANK];
  if (!find_axes(request, in->npy.rank, axes)) return CUTT_CLI_USAGE;
  if (!(to_zarr ? cutt_output_check_folder(request->out_path, request->force)
                : cutt_output_check(request->out_path, request->in_path, request->force)))
    return CUTT_CLI_FAILED;
  work w = {
      .request = request, .in = in, .ranks = ranks, .out_npy = in->npy, .to_zarr = to_zarr, .zarr.descriptor = -1};
  w.job = (cutt_cli_permute_job){.options = request->options,
                                 .quiet = request->quiet,
                                 .progress = cutt_cli_progress_start(request->quiet || ranks->rank > 0)};
  if (!w.job.options.threads) w.job.options.threads = cutt_ranks_threads(ranks);
  const int code = transpose_by_axes(&w, axes);
  if (to_zarr) {
    cutt_zarr_close(&w.zarr);
    cutt_zarr_meta_release(&w.meta);
  }
  return code;
}

int cutt_cli_transpose(int argc, char **argv) {
  transpose_request request = {.options = CUTT_OPTIONS_INIT};
  int code;
  if (!cutt_cli_read_options(&syntax, argc, argv, &request, &code)) return code;
  if (request.axes && request.spec)
    return cutt_cli_misused(me, "--axes and --spec say the same thing; give one of them");
  if (argc - optind != 2)
    return cutt_cli_misused(me, "%d file name%s given; there must be two, IN.npy and OUT.npy", argc - optind,
                            argc - optind == 1 ? " is" : "s are");
  request.in_path = argv[optind];
  request.out_path = argv[optind + 1];
  cutt_ranks ranks;
  if (!cutt_ranks_find(&ranks)) return CUTT_CLI_FAILED;
  if (ranks.size > 1 && (!strcmp(request.in_path, "-") || cutt_output_is_stream(request.out_path)))
    return cutt_cli_misused(me, "'-' is given, and there are %d ranks, which share a file by its name", ranks.size);
  bool to_zarr = false;
  if (!cutt_zarr_wanted(me, &request.zarr, request.out_path, &to_zarr)) return CUTT_CLI_USAGE;
  cutt_input in;
  code = cutt_input_open(&in, request.in_path, request.memory) ? transpose(&request, &in, &ranks, to_zarr)
                                                               : CUTT_CLI_FAILED;
  cutt_input_close(&in);
  return code;
}
