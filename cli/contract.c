/* cutt contract PATTERN A.npy [B.npy] -o C.npy: C = alpha * A * B + beta * D, summed as the pattern says, from files to
 * file; or of one array, C = alpha * A + beta * D.
 *
 * As in transpose.c, the operands are mapped and the result goes straight into the mapping of the output. Letters are
 * axes in NumPy's order; an operand in Fortran order is only another set of strides. Elements in the other byte order
 * are the one thing that has to be copied first, since they are computed with. What does not fit in memory is done block
 * by block, by pieces/. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract_run.h"
#include "input.h"
#include "mapping.h"
#include "options.h"
#include "output.h"
#include "override.h"
#include "pieces/contract.h"
#include "pieces/memory.h"
#include "ranks.h"
#include "zarr_output.h"

static const char me[] = "contract";

/* The value of --alpha or --beta. */
typedef struct scalar {
  const char *text; /* as given, or NULL */
  double value[2];  /* real and imaginary part */
} scalar;

/* What the command line asks for. */
typedef struct contract_request {
  const char *pattern;
  char *out_path;
  const char *path[CUTT_CLI_TENSORS]; /* A, B, and D of --in or NULL */
  scalar alpha, beta;
  cuttContractionOptions_t options;
  const char *wisdom_path;
  cutt_zarr_choice zarr;
  size_t memory; /* 0: a share of what is free */
  bool force, json, quiet, verbose;
} contract_request;

/* An array: its file, and its elements in this machine's byte order. */
typedef struct array {
  cutt_input file;
  const cutt_cli_number *number;
  bool swapped;
  uint8_t *copy; /* in this machine's byte order, or NULL */
  const uint8_t *data;
} array;

/* ---------------------------------------------------------------------------------------------------------- scalars */

/* One number from *at, as strtod takes it but for the hexadecimal, and whether a 'j' follows. */
static bool read_term(const char **at, double *value, bool *imaginary) {
  const char *start = *at;
  const size_t sign = *start == '+' || *start == '-';
  char *end = NULL;
  *value = strtod(start, &end);
  if (isspace((unsigned char)*start) || memchr(start, 'x', (size_t)(end - start))) return false;
  if (end == start || end == start + sign) { /* no digits: a 'j' alone is the unit */
    if (start[sign] != 'j') return false;
    *value = *start == '-' ? -1.0 : 1.0;
    *at = start + sign;
  } else {
    *at = end;
  }
  *imaginary = **at == 'j' || **at == 'J';
  *at += *imaginary;
  return true;
}

/* "1.5", "2j", "1+2j", "(1-2j)", as Python has them. */
static bool read_complex(const char *text, double *value) {
  bool imaginary = false, second = false, good;
  const bool bracket = *text == '(';
  const char *at = text + bracket;
  value[0] = value[1] = 0.0;
  double number = 0.0;
  good = read_term(&at, &number, &imaginary);
  value[imaginary] = number;
  if (good && !imaginary && (*at == '+' || *at == '-')) {
    good = read_term(&at, &number, &second) && second;
    value[1] = number;
  }
  if (bracket) good = good && *at++ == ')';
  return good && !*at;
}

static bool read_scalar(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  scalar *s = field;
  s->text = text;
  if (read_complex(text, s->value)) return true;
  cutt_cli_misused(command, "--%s is '%s'; it must be a number as Python writes it, such as 1.5, -2e3, 2j or 1+2j",
                   option->name, text);
  return false;
}

/* Is it a scalar of the type? */
static bool check_scalar(const char *name, const scalar *s, const cutt_cli_number *number) {
  if (!s->text || number->complex || s->value[1] == 0.0) return true;
  cutt_cli_misused(me, "--%s is '%s', but the arrays are of dtype %s; for real arrays it must be a real number", name,
                   s->text, number->name);
  return false;
}

/* ---------------------------------------------------------------------------------------------------------- options */

static const cutt_cli_option options[] = {
    {"out", "C.npy", "the result, which appears whole or not at all", cutt_cli_read_text,
     offsetof(contract_request, out_path)},
    {"alpha", "X", "C = X * A * B (default: 1); complex numbers as Python writes them: 1.5, 2j, 1+2j", read_scalar,
     offsetof(contract_request, alpha)},
    {"in", "D.npy", "C = A * B + D, where D has the shape and the dtype of C", cutt_cli_read_text,
     offsetof(contract_request, path[CUTT_CLI_RESULT])},
    {"beta", "X", "with --in: C = A * B + X * D (default: 1)", read_scalar, offsetof(contract_request, beta)},
    {"threads", "N", "use N threads at most (default: OMP_NUM_THREADS, else all cores)", cutt_cli_read_threads,
     offsetof(contract_request, options.threads)},
    {"workspace", "SIZE",
     "need no more than SIZE bytes of memory beside the arrays, such as 400M or 1.5Gi; the work is then cut into "
     "blocks "
     "(default: as much as is fastest)",
     cutt_cli_read_bytes, offsetof(contract_request, options.workspace_limit)},
    {"backend", "NAME", "cpu, cuda, or auto for the GPU where there is one (default: auto)", cutt_cli_read_backend,
     offsetof(contract_request, options.backend)},
    {"provider", "NAME", "the BLAS library: one that 'cutt devices' lists, or a path (default: the fastest)",
     cutt_cli_read_text, offsetof(contract_request, options.provider)},
    {"algorithm", "NAME",
     "ttgt: permutations and matrix products; one-pass: kernels that read each array once, on the processor (default: "
     "the "
     "faster one)",
     cutt_cli_read_text, offsetof(contract_request, options.algorithm)},
    {"measure", NULL, "time the most promising ways and take the fastest, rather than predict it",
     cutt_cli_read_measure, offsetof(contract_request, options.choice)},
    {"wisdom", "FILE", "use the measured choices in FILE, and add to them; it is created when missing",
     cutt_cli_read_text, offsetof(contract_request, wisdom_path)},
    {"memory", "SIZE",
     "take no more than SIZE bytes of memory, such as 4G or 512Mi: arrays that need more are contracted block by block "
     "(default: half of what is free)",
     cutt_cli_read_memory, offsetof(contract_request, memory)},
    {"zarr", "VERSION", "C is a Zarr array of version 2 or 3, as it also is by the name C.zarr (default: 2)",
     cutt_zarr_read_format, offsetof(contract_request, zarr.format)},
    {"chunks", "LIST", "extents of a chunk of C (default: halves of the longest axis, to 16 MiB at most)",
     cutt_cli_read_text, offsetof(contract_request, zarr.chunks)},
    {"codec", "NAME", "none, blosc, zstd, gzip or zlib: how chunks of C are compressed (default: none)",
     cutt_cli_read_text, offsetof(contract_request, zarr.codec)},
    {"force", NULL, "replace C.npy when it exists", cutt_cli_read_flag, offsetof(contract_request, force)},
    {"json", NULL, "the plan and the times as one JSON object on stdout", cutt_cli_read_flag,
     offsetof(contract_request, json)},
    {"verbose", NULL, "say beforehand in how many blocks it will be done", cutt_cli_read_flag,
     offsetof(contract_request, verbose)},
    {"quiet", NULL, "no progress bar, no closing line, and no word on an environment override", cutt_cli_read_flag,
     offsetof(contract_request, quiet)},
};

static const cutt_cli_syntax syntax = {
    .command = me,
    .usage =
        "Usage: cutt contract PATTERN A.npy [B.npy] -o C.npy [OPTION]...\n"
        "Contract two arrays: C = np.einsum(PATTERN, A, B), by permutations and matrix products; or sum one, or take "
        "its\n"
        "diagonals: C = np.einsum(PATTERN, A), with patterns such as 'abb->a'.\n\n"
        "PATTERN names the axes of each array by letters, in NumPy's order (the last axis of a C-order array is the\n"
        "fastest): 'ab,bc->ac' is a matrix product. Letters that the result lacks are summed over. Without '->...' "
        "the\n"
        "result has the letters that are there once, in alphabetical order. The form 'D(a,c)+=L(a,b)*R(b,c)' says the\n"
        "same, with names of any length, in the same order of axes; 'L+(...)' conjugates an operand.\n",
    .options = options,
    .count = sizeof options / sizeof options[0],
    .letters = "ov",
    .remarks =
        "The arrays are .npy files of one dtype, f2, f4, f8, c8 or c16, in C or Fortran order and of any byte order "
        "(f2\n"
        "where the BLAS library has it), or Zarr arrays, and so is C. C is in C order. '-' is standard input or "
        "standard\n"
        "output, and FILE.npz:NAME an array of an archive.\n",
};

/* ----------------------------------------------------------------------------------------------------------- arrays */

static bool host_is_little(void) { return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__; }

static bool read_dtype(array *a) {
  const char *descr = a->file.npy.descr;
  const char order = strchr("<>|=", *descr) ? *descr : '=';
  const char *name = descr + (order == *descr);
  a->number = cutt_cli_number_find(name);
  if (!a->number) {
    cutt_cli_message("%s: is of dtype '%s'; it must be " CUTT_CLI_NUMBERS
                     ", of any byte order (a.astype('f8') makes one of them)",
                     a->file.path, descr);
    return false;
  }
  a->swapped = order == (host_is_little() ? '>' : '<');
  if (a->file.data) a->data = a->file.data + a->file.npy.data_start;
  if (a->file.zarr && a->swapped) a->file.zarr->word = a->number->word;
  return true;
}

static void swap_words(const uint8_t *from, uint8_t *to, size_t bytes, int word) {
  for (size_t i = 0; i < bytes; i += (size_t)word)
    for (int j = 0; j < word; ++j) to[i + (size_t)j] = from[i + (size_t)(word - 1 - j)];
}

/* Elements in the other byte order: a copy of them in this machine's. */
static bool swap_bytes(array *a) {
  const size_t bytes = (size_t)a->file.npy.data_bytes;
  if (!a->swapped || bytes == 0) return true;
  a->copy = malloc(bytes);
  if (!a->copy) {
    cutt_cli_message("%s: is in the other byte order, and there is no memory for its %zu bytes in this one",
                     a->file.path, bytes);
    return false;
  }
  swap_words(a->data, a->copy, bytes, a->number->word);
  a->data = a->copy;
  return true;
}

/* Opens the files and reads what they are. */
static bool open_arrays(const contract_request *request, array *arrays) {
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t) {
    if (!request->path[t]) continue;
    if (!cutt_input_open(&arrays[t].file, request->path[t], request->memory) || !read_dtype(&arrays[t])) return false;
    if (arrays[t].number == arrays[0].number) continue;
    cutt_cli_message("%s is of dtype '%s', and %s of '%s'; all arrays must be of the same", request->path[0],
                     arrays[0].file.npy.descr, request->path[t], arrays[t].file.npy.descr);
    return false;
  }
  return arrays[0].number; /* A is always there */
}

/* The array of --in has to be as the result will be. */
static bool check_initial(const cutt_cli_contraction *c, const array *initial) {
  const cutt_npy *npy = &initial->file.npy;
  const int rank = c->rank[CUTT_CLI_RESULT];
  bool same = npy->rank == rank;
  for (int i = 0; same && i < rank; ++i) same = npy->shape[i] == c->shape[CUTT_CLI_RESULT][i];
  if (same) return true;
  char found[256], wanted[256];
  cutt_cli_misused(me, "--in: %s is of shape %s; it must have the shape of the result, %s", initial->file.path,
                   cutt_cli_shape(npy->shape, npy->rank, found, sizeof found),
                   cutt_cli_shape(c->shape[CUTT_CLI_RESULT], rank, wanted, sizeof wanted));
  return false;
}

/* The contraction that the arrays and the options say; false after a message of wrong usage. */
static bool fill_contraction(const contract_request *request, const array *arrays, cutt_cli_contraction *c) {
  *c = (cutt_cli_contraction){.pattern = request->pattern,
                              .number = arrays[0].number,
                              .scaled = true,
                              .alpha = {request->alpha.value[0], request->alpha.value[1]},
                              .beta = {request->beta.value[0], request->beta.value[1]}};
  for (int t = 0; t < 2; ++t) {
    const cutt_npy *npy = &arrays[t].file.npy;
    c->name[t] = request->path[t];
    if (!c->name[t]) continue;
    c->rank[t] = npy->rank;
    memcpy(c->shape[t], npy->shape, sizeof c->shape[t]);
    cutt_cli_packed_strides(c->shape[t], c->rank[t], npy->fortran_order, c->strides[t]);
  }
  c->name[CUTT_CLI_RESULT] = request->out_path;
  return check_scalar("alpha", &request->alpha, c->number) && check_scalar("beta", &request->beta, c->number) &&
         cutt_cli_contraction_result(me, c);
}

/* ------------------------------------------------------------------------------------------------------- the command */

static void closing_line(const cutt_cli_contract_job *job, const cutt_blocks_job *blocks, double total) {
  const cutt_cli_contraction *c = job->contraction;
  const cuttContractionInfo_t *info = &job->info;
  char operands[CUTT_CLI_OPERANDS_TEXT], shape[256], time[32], all[32], size[32], threads[32] = "", share[64] = "";
  cutt_cli_contraction_operands(c, operands, sizeof operands);
  cutt_cli_shape(c->shape[CUTT_CLI_RESULT], c->rank[CUTT_CLI_RESULT], shape, sizeof shape);
  cutt_cli_duration(job->times.total, time, sizeof time);
  cutt_cli_duration(total, all, sizeof all);
  cutt_cli_bytes((double)info->workspace_bytes, size, sizeof size);
  if (blocks->steps > 0) {
    cutt_cli_message("%s -> %s of %s: %lld steps, %s, %.3g GFLOP/s; %s to disk", operands, shape, c->number->name,
                     (long long)blocks->steps, time,
                     job->times.total > 0.0 ? 1e-9 * info->flops / job->times.total : 0.0, all);
    return;
  }
  if (info->backend == CUTT_BACKEND_CPU)
    snprintf(threads, sizeof threads, ", %d thread%s", info->threads, info->threads == 1 ? "" : "s");
  if (job->times.total > 0.0 && (info->permutes_left || info->permutes_right || info->permutes_result))
    snprintf(share, sizeof share, " (%.1f%% of the time%s)", 100.0 * job->times.permute / job->times.total,
             job->predicted ? ", predicted" : "");
  cutt_cli_message("%s -> %s of %s: %s%s, %s, %.3g GFLOP/s; permuted: %s%s; workspace %s; %s with files", operands,
                   shape, c->number->name, info->provider ? info->provider : "no library", threads, time,
                   job->times.total > 0.0 ? 1e-9 * info->flops / job->times.total : 0.0, cutt_cli_permuted(info), share,
                   size, all);
}

static int print_json(const cutt_cli_contract_job *job, double total) {
  json_t *root = cutt_cli_contraction_json(job->plan, job->contraction);
  if (!root) return CUTT_CLI_FAILED;
  const double seconds = job->times.total;
  json_t *times = json_pack("{s:f, s:f, s:f, s:b, s:f, s:f}", "total", seconds, "permute", job->times.permute, "gemm",
                            job->times.gemm, "steps_predicted", job->predicted, "gflops",
                            seconds > 0.0 ? 1e-9 * job->info.flops / seconds : 0.0, "with_files", total);
  if (json_object_set_new(root, "times", times) != 0) {
    json_decref(root);
    return cutt_cli_failed("out of memory for the description");
  }
  return cutt_cli_print_json(root);
}

/* Brings everything into memory before the clock starts. */
static bool bring_in(array *arrays, const cutt_output *output, cutt_cli_contract_job *job) {
  double bytes = (double)output->bytes;
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t) bytes += (double)arrays[t].file.npy.data_bytes;
  if (cutt_mapping_fits_in_memory(bytes)) {
    for (int t = 0; t < CUTT_CLI_TENSORS; ++t)
      if (arrays[t].file.data && !cutt_input_populate(&arrays[t].file, &job->progress)) return false;
    if (!cutt_output_populate(output, &job->progress)) return false;
  }
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t)
    if (arrays[t].file.data && !swap_bytes(&arrays[t])) return false;
  return true;
}

/* The plan is made, and the output is there. */
static int fill_output(array *arrays, cutt_output *output, size_t header_bytes, cutt_cli_contract_job *job) {
  int64_t initial_strides[CUTT_MAX_RANK];
  if (!bring_in(arrays, output, job)) return CUTT_CLI_FAILED;
  job->result = output->data + header_bytes;
  for (int t = 0; t < 2; ++t) job->operand[t] = arrays[t].data;
  if (arrays[CUTT_CLI_RESULT].file.data) {
    const cutt_npy *npy = &arrays[CUTT_CLI_RESULT].file.npy;
    cutt_cli_packed_strides(npy->shape, npy->rank, npy->fortran_order, initial_strides);
    job->initial = arrays[CUTT_CLI_RESULT].data;
    job->initial_strides = initial_strides;
  }
  const int code = cutt_cli_contract_run(job);
  job->initial = job->initial_strides = NULL;
  cutt_cli_progress_clear(&job->progress);
  if (code != CUTT_CLI_DONE) return code;
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t)
    if (arrays[t].file.data && !cutt_input_unchanged(&arrays[t].file)) return CUTT_CLI_FAILED;
  return CUTT_CLI_DONE;
}

/* The contraction as blocks of files; all that is known before the output is there. */
static cutt_blocks_job blocks_job(const contract_request *request, const array *arrays, cutt_cli_contract_job *job) {
  cutt_blocks_job blocks = {
      .command = me, .contraction = job->contraction, .options = job->options, .progress = &job->progress};
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t)
    blocks.file[t] = (cutt_blocks_file){.path = request->path[t] ? arrays[t].file.path : NULL,
                                        .descriptor = arrays[t].file.descriptor,
                                        .zarr = arrays[t].file.zarr,
                                        .start = arrays[t].file.npy.data_start,
                                        .fortran_order = arrays[t].file.npy.fortran_order,
                                        .swapped = arrays[t].swapped};
  return blocks;
}

/* Is it done block by block, how, and is that what was asked for? `blocks->steps` is 0 where it is done in memory. On
 * false a message has been given. */
static bool choose_blocks(const contract_request *request, const array *arrays, cutt_cli_contract_job *job,
                          cutt_zarr *out_zarr, cutt_blocks_job *blocks) {
  const size_t most = request->memory ? request->memory : cutt_memory_free() / 2;
  double bytes = (double)job->bytes[CUTT_CLI_RESULT];
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t)
    bytes += (double)arrays[t].file.npy.data_bytes * (arrays[t].swapped ? 2.0 : 1.0);
  bool chunks = out_zarr;
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t) chunks = chunks || arrays[t].file.zarr;
  if (!chunks && bytes <= (double)most) return true;
  char words[256], size[32];
  if (request->options.backend != CUTT_BACKEND_AUTO && request->options.backend != CUTT_BACKEND_CPU) {
    cutt_cli_message(
        "--backend %s: the arrays take %s, %s, and blocks of them are contracted by the processor: --backend cpu",
        cutt_cli_backend_name(request->options.backend), cutt_cli_bytes(bytes, size, sizeof size),
        chunks ? "in chunks" : "more than the memory that may be used (see --memory)");
    return false;
  }
  if (request->options.choice == CUTT_MEASURE) {
    cutt_cli_message(
        "--measure: the arrays take %s, %s, and blocks of them leave no memory to time their contraction on; leave it "
        "out",
        cutt_cli_bytes(bytes, size, sizeof size),
        chunks ? "in chunks" : "more than the memory that may be used (see --memory)");
    return false;
  }
  job->options.backend = CUTT_BACKEND_CPU;
  *blocks = blocks_job(request, arrays, job);
  blocks->out_zarr = out_zarr;
  if (!cutt_blocks_cut(blocks, cutt_memory_for_buffers(request->memory))) return false;
  if (request->verbose || job->progress.enabled) cutt_cli_message("%s", cutt_blocks_words(blocks, words, sizeof words));
  return true;
}

static int fill_blocks(cutt_blocks_job *blocks, array *arrays, cutt_output *output, size_t header_bytes,
                       cutt_cli_contract_job *job) {
  const double began = cutt_cli_seconds();
  blocks->output = output;
  blocks->out_start = (int64_t)header_bytes;
  const int code = cutt_blocks_contract(blocks);
  cutt_cli_progress_clear(&job->progress);
  job->times.total = cutt_cli_seconds() - began;
  job->predicted = true;
  job->info.struct_size = sizeof job->info;
  cuttContractionGetInfo(job->plan, &job->info); /* for its operations; it is the whole contraction's */
  for (int t = 0; t < CUTT_CLI_TENSORS && code == CUTT_CLI_DONE; ++t)
    if (arrays[t].number && !cutt_input_unchanged(&arrays[t].file)) return CUTT_CLI_FAILED;
  return code;
}

/* The output for a result of this header. `zarr` has no folder yet, or is NULL. */
static bool open_output(const contract_request *request, cutt_output *output, cutt_npy *npy, cutt_zarr *zarr,
                        bool in_blocks) {
  uint8_t header[CUTT_NPY_HEADER_ROOM];
  char why[CUTT_ZARR_WHY];
  const size_t header_bytes = cutt_npy_write_header(npy, header);
  if (!zarr) {
    if (!(in_blocks ? cutt_output_open : cutt_output_create)(
            output, request->out_path, header_bytes + (size_t)npy->data_bytes, request->force, request->memory))
      return false;
    if (cutt_output_write_header(output, header, header_bytes)) return true;
    cutt_output_abandon(output);
    return false;
  }
  if (!cutt_output_open_folder(output, request->out_path, request->force)) return false;
  cutt_zarr_meta meta = zarr->meta;
  zarr->meta = (cutt_zarr_meta){.format = 0};
  cutt_zarr_close(zarr);
  const bool good = cutt_zarr_create(zarr, &meta, output->descriptor, true, why);
  cutt_zarr_meta_release(&meta);
  if (good) return true;
  cutt_cli_message("%s: %s", output->path, why);
  cutt_output_abandon(output);
  return false;
}

/* Plans again with what was or will be measured, now that it is known that all of it is done in memory. */
static int plan_measured(cutt_cli_contract_job *job) {
  if (job->options.choice != CUTT_MEASURE && !job->options.wisdom) return CUTT_CLI_DONE;
  cuttContractionPlanDestroy(job->plan);
  return cutt_cli_contraction_plan(me, job->contraction, &job->options, &job->plan);
}

/* Saves what was measured, before the result appears: a failure leaves it untouched. */
static bool save_wisdom(const contract_request *request, const cutt_cli_contract_job *job) {
  if (!request->wisdom_path || !(job->wisdom_is_new || request->options.choice == CUTT_MEASURE)) return true;
  if (cuttWisdomSave(job->options.wisdom, request->wisdom_path) == CUTT_SUCCESS) return true;
  cutt_cli_message("the wisdom file could not be written: %s", cuttLastError());
  return false;
}

static int write_output(const contract_request *request, array *arrays, cutt_cli_contract_job *job, cutt_npy *npy,
                        cutt_zarr *zarr, cutt_blocks_job *blocks) {
  for (int t = 0; t < 2; ++t) job->bytes[t] = arrays[t].file.npy.data_bytes;
  job->bytes[CUTT_CLI_RESULT] = npy->data_bytes;
  if (!choose_blocks(request, arrays, job, zarr, blocks)) return CUTT_CLI_FAILED;
  const bool in_blocks = blocks->steps > 0;
  cutt_output output;
  int code = in_blocks ? CUTT_CLI_DONE : plan_measured(job);
  if (code != CUTT_CLI_DONE) return code;
  if (!open_output(request, &output, npy, zarr, in_blocks)) return CUTT_CLI_FAILED;
  const size_t header_bytes = (size_t)npy->data_start;
  code = in_blocks ? fill_blocks(blocks, arrays, &output, header_bytes, job)
                   : fill_output(arrays, &output, header_bytes, job);
  if (code == CUTT_CLI_DONE && !save_wisdom(request, job)) code = CUTT_CLI_FAILED;
  if (code == CUTT_CLI_DONE) return cutt_output_commit(&output, &job->progress) ? CUTT_CLI_DONE : CUTT_CLI_FAILED;
  cutt_output_abandon(&output);
  return code;
}

/* Describes the result, which `to_zarr` makes a Zarr array, and writes it. */
static int make_output(const contract_request *request, array *arrays, cutt_cli_contract_job *job, bool to_zarr,
                       cutt_blocks_job *blocks) {
  const cutt_cli_contraction *c = job->contraction;
  cutt_npy npy = {.elem_bytes = c->number->bytes, .rank = c->rank[CUTT_CLI_RESULT]};
  snprintf(npy.descr, sizeof npy.descr, "%c%s", host_is_little() ? '<' : '>', c->number->name);
  memcpy(npy.shape, c->shape[CUTT_CLI_RESULT], sizeof npy.shape);
  uint8_t header[CUTT_NPY_HEADER_ROOM];
  cutt_npy_write_header(&npy, header); /* which counts the bytes */
  if (!to_zarr) return write_output(request, arrays, job, &npy, NULL, blocks);
  cutt_zarr_meta meta;
  cutt_zarr zarr;
  int code = cutt_zarr_choose(me, &request->zarr, NULL, NULL, &npy, request->memory, &meta);
  if (code != CUTT_CLI_DONE) return code;
  cutt_zarr_describe(&zarr, &meta);
  cutt_zarr_meta_release(&meta);
  code = write_output(request, arrays, job, &npy, &zarr, blocks);
  cutt_zarr_close(&zarr);
  return code;
}

/* From here on the files are open. */
static int contract(const contract_request *request, array *arrays, bool to_zarr) {
  const double began = cutt_cli_seconds();
  cutt_cli_contraction contraction;
  if (!fill_contraction(request, arrays, &contraction)) return CUTT_CLI_USAGE;
  cutt_cli_contract_job job = {.command = me,
                               .contraction = &contraction,
                               .options = request->options,
                               .may_fall_back = request->options.backend == CUTT_BACKEND_AUTO,
                               .timed = !request->quiet || request->json,
                               .quiet = request->quiet,
                               .progress = cutt_cli_progress_start(request->quiet)};
  if (!cutt_cli_find_backend(request->options.backend, &job.options.backend)) return CUTT_CLI_FAILED;
  /* Nothing is measured until it is known that all is well. */
  cuttContractionOptions_t predicted = job.options;
  predicted.choice = CUTT_PREDICT;
  int code = cutt_cli_contraction_plan(me, &contraction, &predicted, &job.plan);
  if (code != CUTT_CLI_DONE) return code;
  if (request->wisdom_path) {
    job.options.wisdom = cutt_cli_wisdom_open(request->wisdom_path, request->quiet, &job.wisdom_is_new);
    if (!job.options.wisdom) {
      cuttContractionPlanDestroy(job.plan);
      return CUTT_CLI_FAILED;
    }
  }
  if (arrays[CUTT_CLI_RESULT].number && !check_initial(&contraction, &arrays[CUTT_CLI_RESULT]))
    code = CUTT_CLI_USAGE;
  else if (!(to_zarr ? cutt_output_check_folder(request->out_path, request->force)
                     : cutt_output_check(request->out_path, request->path[0], request->force)))
    code = CUTT_CLI_FAILED;
  /* Once it is known that nothing else is wrong. */
  if (code == CUTT_CLI_DONE) cutt_cli_tell_override(&job.options, request->quiet);
  cutt_blocks_job blocks = {.steps = 0};
  if (code == CUTT_CLI_DONE) code = make_output(request, arrays, &job, to_zarr, &blocks);
  cutt_cli_progress_clear(&job.progress);
  const double total = cutt_cli_seconds() - began;
  if (code == CUTT_CLI_DONE && request->json) code = print_json(&job, total);
  if (code == CUTT_CLI_DONE && !request->quiet) closing_line(&job, &blocks, total);
  cuttContractionPlanDestroy(job.plan);
  cuttWisdomDestroy(job.options.wisdom);
  return code;
}

int cutt_cli_contract(int argc, char **argv) {
  contract_request request = {.alpha.value = {1.0, 0.0}, .options = CUTT_CONTRACTION_OPTIONS_INIT};
  int code;
  if (!cutt_cli_read_options(&syntax, argc, argv, &request, &code)) return code;
  if (argc - optind != 2 && argc - optind != 3)
    return cutt_cli_misused(me,
                            "%d operand%s given; there must be two or three: PATTERN, A.npy and, where the pattern "
                            "has a second operand, B.npy",
                            argc - optind, argc - optind == 1 ? " is" : "s are");
  if (!request.out_path) return cutt_cli_misused(me, "-o is missing; the result needs a file, such as -o C.npy");
  if (request.beta.text && !request.path[CUTT_CLI_RESULT])
    return cutt_cli_misused(me, "--beta is given without --in, whose array it multiplies");
  /* The sum of --in is asked for in so many words; without it there is nothing that '+=' could add to. */
  if (request.path[CUTT_CLI_RESULT] && !request.beta.text) request.beta.value[0] = 1.0;
  request.pattern = argv[optind];
  request.path[0] = argv[optind + 1];
  if (argc - optind == 3) request.path[1] = argv[optind + 2];
  int streams = 0;
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t) streams += request.path[t] && !strcmp(request.path[t], "-");
  if (streams > 1) return cutt_cli_misused(me, "'-', standard input, is given %d times; it can be one array", streams);
  if (request.json && cutt_output_is_stream(request.out_path))
    return cutt_cli_misused(me, "-o is '-' and --json is given; standard output can have one of them");
  cutt_ranks ranks;
  if (!cutt_ranks_find(&ranks)) return CUTT_CLI_FAILED;
  if (ranks.size > 1)
    return cutt_cli_failed(
        "there are %d ranks, and a contraction of files is done by one: start one (mpirun -n 1), or set CUTT_RANKS=off "
        "where each is to do all of it",
        ranks.size);
  bool to_zarr = false;
  if (!cutt_zarr_wanted(me, &request.zarr, request.out_path, &to_zarr)) return CUTT_CLI_USAGE;
  array arrays[CUTT_CLI_TENSORS] = {{.file.descriptor = -1}, {.file.descriptor = -1}, {.file.descriptor = -1}};
  code = CUTT_CLI_FAILED;
  if (open_arrays(&request, arrays)) code = contract(&request, arrays, to_zarr);
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t) {
    free(arrays[t].copy);
    cutt_input_close(&arrays[t].file);
  }
  return code;
}
