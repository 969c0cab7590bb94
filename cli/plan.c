/* cutt plan: the canonical problem, every candidate with its predicted cost, the choice, and a drawing of its tile, for
 * a person or as JSON and SVG. With --contract it is about a contraction: plan_contract.c.
 *
 * What is printed is the library's own description. Shape and axes on the command line are NumPy's, as everywhere in
 * this program, while the description counts from the stride-1 mode; so both are stated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "describe.h"
#include "options.h"
#include "output.h"
#include "plan_contract.h"

static const char me[] = "plan";

typedef struct plan_request {
  const char *axes_text, *dtype, *wisdom_path, *svg_path;
  int64_t shape[CUTT_MAX_RANK];
  int axes[CUTT_MAX_RANK];
  int rank; /* -1: no shape yet */
  cuttType_t type;
  cuttOptions_t options;
  bool json, quiet, draw, force;
  cutt_cli_plan_contract contract;
} plan_request;

/* ---------------------------------------------------------------------------------------------------------- options */

/* One more --shape, into the request: the only one, or that of an operand. */
static bool read_shape(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  plan_request *request = field;
  cutt_cli_plan_contract *contract = &request->contract;
  const int operand = contract->shapes++ % 2;
  if (!cutt_cli_parse_list(command, option->name, text, 0, INT64_MAX, request->shape, CUTT_MAX_RANK, &request->rank))
    return false;
  contract->rank[operand] = request->rank;
  memcpy(contract->shape[operand], request->shape, sizeof request->shape);
  return true;
}

static bool read_model(const char *command, const cutt_cli_option *option, const char *text, void *field) {
  cuttModel_t *model = field;
  *model = !strcmp(text, "paper") ? CUTT_MODEL_PAPER : CUTT_MODEL;
  if (*model == CUTT_MODEL_PAPER || !strcmp(text, "own")) return true;
  cutt_cli_misused(command, "--%s is '%s'; it must be own or paper", option->name, text);
  return false;
}

static const cutt_cli_option options[] = {
    {"shape", "LIST", "the shape of the input array, in C order as NumPy gives it: 5,3,2,4", read_shape, 0},
    {"axes", "LIST", "axis i of the output is axis LIST[i] of the input (default: reversed)", cutt_cli_read_text,
     offsetof(plan_request, axes_text)},
    {"dtype", "DTYPE",
     "b1, i1, u1, i2, u2, f2, i4, u4, f4, i8, u8, f8, f16, c8, c16 (the number is bytes), or bytes1, bytes2, bytes4, "
     "bytes8, bytes16",
     cutt_cli_read_text, offsetof(plan_request, dtype)},
    {"threads", "N", "use N threads at most (default: OMP_NUM_THREADS, else all cores)", cutt_cli_read_threads,
     offsetof(plan_request, options.threads)},
    {"measure", NULL, "time the most promising candidates and take the fastest", cutt_cli_read_measure,
     offsetof(plan_request, options.choice)},
    {"wisdom", "FILE", "use the measured choices in FILE, and add to them; it is created when missing",
     cutt_cli_read_text, offsetof(plan_request, wisdom_path)},
    {"backend", "NAME", "cpu, cuda, or auto for the GPU where there is one (default: auto)", cutt_cli_read_backend,
     offsetof(plan_request, options.backend)},
    {"device", "NAME",
     "for a device that need not be here: one that 'cutt devices' lists (k20x ... b200), or a device file, whose name "
     "must have a '/' or a '.'",
     cutt_cli_read_text, offsetof(plan_request, options.device)},
    {"model", "NAME", "what predicts: own, or paper for the one of the cuTT paper, which is for GPUs (default: own)",
     read_model, offsetof(plan_request, options.model)},
    {"draw", NULL, "also draw the tile of the choice over the memory that it moves", cutt_cli_read_flag,
     offsetof(plan_request, draw)},
    {"svg", "FILE", "write that drawing to FILE as an image", cutt_cli_read_text, offsetof(plan_request, svg_path)},
    {"force", NULL, "replace FILE of --svg when it exists", cutt_cli_read_flag, offsetof(plan_request, force)},
    {"json", NULL, "as one JSON object", cutt_cli_read_flag, offsetof(plan_request, json)},
    {"quiet", NULL, "no message about unused lines of the wisdom file, or on an environment override",
     cutt_cli_read_flag, offsetof(plan_request, quiet)},
    {NULL, NULL, "A contraction takes --dtype (f2, f4, f8, c8 or c16), --threads, --backend and --json as above, and",
     NULL, 0},
    {"contract", "PATTERN", "such as 'ab,bc->ac', letters in NumPy's order; 'cutt contract --help' says more",
     cutt_cli_read_text, offsetof(plan_request, contract.pattern)},
    {"shape", "LIST", "for each operand: the shape of the left one, and that of the right one", NULL, 0},
    {"workspace", "SIZE", "the most bytes of workspace, such as 400M or 1.5Gi (default: no limit)", cutt_cli_read_bytes,
     offsetof(plan_request, contract.options.workspace_limit)},
    {"provider", "NAME", "the BLAS library: one that 'cutt devices' lists, or a path", cutt_cli_read_text,
     offsetof(plan_request, contract.options.provider)},
    {"algorithm", "NAME", "ttgt or one-pass (default: the faster one)", cutt_cli_read_text,
     offsetof(plan_request, contract.options.algorithm)},
};

static const cutt_cli_syntax syntax = {
    .command = me,
    .usage =
        "Usage: cutt plan --shape LIST [--axes LIST] --dtype DTYPE [OPTION]...\n"
        "       cutt plan --contract PATTERN --shape LIST --shape LIST --dtype DTYPE [OPTION]...\n"
        "Show how a permutation would be done: the problem in its simplest form, the candidates with their predicted\n"
        "cost, the choice, and what dominates its time; or how a contraction would: what is permuted, the matrix\n"
        "products, and their predicted times. Nothing is executed, and no array is read.\n",
    .options = options,
    .count = sizeof options / sizeof options[0],
};

/* By NumPy's names; the number is the bytes of an element. */
static bool read_dtype(const char *text, cuttType_t *type) {
  static const struct {
    const char *name;
    cuttType_t type;
  } types[] = {
      {"b1", CUTT_BYTES_1},     {"i1", CUTT_BYTES_1},     {"u1", CUTT_BYTES_1},     {"i2", CUTT_BYTES_2},
      {"u2", CUTT_BYTES_2},     {"f2", CUTT_F16},         {"i4", CUTT_I32},         {"u4", CUTT_BYTES_4},
      {"f4", CUTT_F32},         {"i8", CUTT_I64},         {"u8", CUTT_BYTES_8},     {"f8", CUTT_F64},
      {"f16", CUTT_BYTES_16},   {"c8", CUTT_C32},         {"c16", CUTT_C64},        {"bytes1", CUTT_BYTES_1},
      {"bytes2", CUTT_BYTES_2}, {"bytes4", CUTT_BYTES_4}, {"bytes8", CUTT_BYTES_8}, {"bytes16", CUTT_BYTES_16}};
  const char *name = text + (*text && strchr("<>|=", *text) ? 1 : 0);
  for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i)
    if (!strcmp(name, types[i].name)) {
      *type = types[i].type;
      return true;
    }
  cutt_cli_misused(me,
                   "--dtype is '%s'; it must be b1, i1, u1, i2, u2, f2, i4, u4, f4, i8, u8, f8, f16, c8, c16, or "
                   "bytes1, bytes2, bytes4, bytes8, bytes16",
                   text);
  return false;
}

/* An option that was given and makes no sense for contractions; NULL: there is none. */
static const char *only_for_permutations(const plan_request *request) {
  return request->axes_text                     ? "--axes"
         : request->options.device              ? "--device"
         : request->options.model != CUTT_MODEL ? "--model"
         : request->draw                        ? "--draw"
         : request->svg_path                    ? "--svg"
         : request->force                       ? "--force"
                                                : NULL;
}

/* An option that was given and makes no sense for permutations; NULL: there is none. */
static const char *only_for_contractions(const plan_request *request) {
  const cuttContractionOptions_t *of = &request->contract.options;
  return of->workspace_limit != CUTT_NO_LIMIT ? "--workspace"
         : of->provider                       ? "--provider"
         : of->algorithm                      ? "--algorithm"
                                              : NULL;
}

/* ------------------------------------------------------------------------------------------------------ description */

static cuttResult draw(void *of, int format, char *buffer, size_t size, size_t *needed) {
  return cuttPlanDraw(of, (cuttDrawing_t)format, buffer, size, needed);
}

static int write_svg(cuttPlan_t plan, const plan_request *request) {
  char *image = cutt_cli_described(draw, plan, CUTT_DRAW_SVG, "the plan");
  if (!image) return CUTT_CLI_FAILED;
  const size_t bytes = strlen(image);
  cutt_output output;
  bool good = cutt_output_create(&output, request->svg_path, bytes, request->force, 0);
  if (good) {
    memcpy(output.data, image, bytes);
    cutt_cli_progress progress = cutt_cli_progress_start(true);
    good = cutt_output_commit(&output, &progress);
  }
  free(image);
  return good ? CUTT_CLI_DONE : CUTT_CLI_FAILED;
}

static int print_text(cuttPlan_t plan, const plan_request *request) {
  char shape[512], axes[512], result[512], header[2048];
  int64_t list[CUTT_MAX_RANK] = {0}, moved[CUTT_MAX_RANK] = {0};
  for (int i = 0; i < request->rank; ++i) {
    list[i] = request->axes[i];
    moved[i] = request->shape[request->axes[i]];
  }
  cutt_cli_shape(request->shape, request->rank, shape, sizeof shape);
  cutt_cli_shape(list, request->rank, axes, sizeof axes);
  cutt_cli_shape(moved, request->rank, result, sizeof result);
  snprintf(header, sizeof header,
           "NumPy order: shape %s, axes %s -> shape %s, dtype %s, C order.\n"
           "Below, modes count from the fastest (stride-1) one: mode i is NumPy's axis %d-i.\n\n",
           shape, axes, result, request->dtype, request->rank - 1);
  char *description = cutt_cli_described(cutt_cli_describe_plan, plan, CUTT_TEXT, "the plan");
  if (!description) return CUTT_CLI_FAILED;
  int code = cutt_cli_print(header);
  if (!code) code = cutt_cli_print(description);
  free(description);
  if (code || !request->draw) return code;
  char *drawing = cutt_cli_described(draw, plan, CUTT_DRAW_TEXT, "the plan");
  if (!drawing) return CUTT_CLI_FAILED;
  code = cutt_cli_print("\n");
  if (!code) code = cutt_cli_print(drawing);
  free(drawing);
  return code;
}

/* The library's JSON object, with NumPy's view of the problem added under the key numpy. */
static int print_json(cuttPlan_t plan, const plan_request *request) {
  json_t *root = cutt_cli_described_json(cutt_cli_describe_plan, plan, "the plan");
  if (!root) return CUTT_CLI_FAILED;
  json_t *shape = json_array(), *axes = json_array();
  bool good = shape && axes;
  for (int i = 0; good && i < request->rank; ++i)
    good = json_array_append_new(shape, json_integer(request->shape[i])) == 0 &&
           json_array_append_new(axes, json_integer(request->axes[i])) == 0;
  if (good)
    good = json_object_set_new(
               root, "numpy", json_pack("{s:O, s:O, s:s}", "shape", shape, "axes", axes, "dtype", request->dtype)) == 0;
  json_decref(shape);
  json_decref(axes);
  if (good) return cutt_cli_print_json(root);
  json_decref(root);
  return cutt_cli_failed("out of memory for the description");
}

/* The library has refused the problem or the options, whose fields are this program's options by the same names. */
static int refused(void) {
  const char *said = cuttLastError(), field[] = "options->";
  if (!strncmp(said, "options->model is", 17))
    return cutt_cli_misused(me, "--model paper is for GPUs; on a processor it must be own, or name a GPU by --device");
  if (strncmp(said, field, strlen(field)) != 0) return cutt_cli_misused(me, "not a problem that can be done: %s", said);
  char text[2048] = "";
  size_t length = 0;
  while (*said && length + 3 < sizeof text) {
    if (!strncmp(said, field, strlen(field))) {
      text[length++] = '-';
      text[length++] = '-';
      said += strlen(field);
    } else {
      text[length++] = *said++;
    }
  }
  return cutt_cli_misused(me, "%s", text);
}

static int show_plan(const plan_request *request) {
  int64_t extents[CUTT_MAX_RANK] = {0};
  int perm[CUTT_MAX_RANK] = {0};
  const int rank = request->rank;
  for (int mode = 0; mode < rank; ++mode) {
    extents[mode] = request->shape[rank - 1 - mode];
    perm[mode] = rank - 1 - request->axes[rank - 1 - mode];
  }
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = rank;
  problem.type = request->type;
  problem.extents = extents;
  problem.perm = perm;
  cuttBackend_t backend;
  if (!request->options.device && !cutt_cli_find_backend(request->options.backend, &backend)) return CUTT_CLI_FAILED;
  cuttPlan_t plan = NULL;
  cuttResult result = cuttPlanCreate(&plan, &problem, &request->options);
  if (result == CUTT_INVALID_PARAMETER) return refused();
  if (result != CUTT_SUCCESS) return cutt_cli_failed("the permutation could not be planned: %s", cuttLastError());
  int code = request->svg_path ? write_svg(plan, request) : CUTT_CLI_DONE;
  if (!code) code = request->json ? print_json(plan, request) : print_text(plan, request);
  cuttPlanDestroy(plan);
  return code;
}

static int explain_contraction(const plan_request *request) {
  cutt_cli_plan_contract contract = request->contract;
  contract.dtype = request->dtype;
  contract.json = request->json;
  contract.quiet = request->quiet;
  contract.options.threads = request->options.threads;
  contract.options.backend = request->options.backend;
  contract.options.choice = request->options.choice;
  contract.options.wisdom = request->options.wisdom;
  return cutt_cli_plan_contraction(&contract);
}

static int show(const plan_request *request) {
  return request->contract.pattern ? explain_contraction(request) : show_plan(request);
}

static int show_with_wisdom(plan_request *request) {
  if (!request->wisdom_path) return show(request);
  bool is_new = false;
  request->options.wisdom = cutt_cli_wisdom_open(request->wisdom_path, request->quiet, &is_new);
  if (!request->options.wisdom) return CUTT_CLI_FAILED;
  int code = show(request);
  if (code == CUTT_CLI_DONE && (is_new || request->options.choice == CUTT_MEASURE) &&
      cuttWisdomSave(request->options.wisdom, request->wisdom_path) != CUTT_SUCCESS)
    code = cutt_cli_failed("the wisdom file could not be written: %s", cuttLastError());
  cuttWisdomDestroy(request->options.wisdom);
  return code;
}

/* What does not go together; false after a message. */
static bool check_options(const plan_request *request) {
  const char *device = request->options.device, *contract_option = only_for_contractions(request);
  if (contract_option) {
    cutt_cli_misused(me, "%s is for contractions; it needs --contract", contract_option);
  } else if (request->rank < 0) {
    cutt_cli_misused(me, "--shape is missing; it must be given, such as --shape 5,3,2,4");
  } else if (request->contract.shapes > 1) {
    cutt_cli_misused(me, "--shape is given %d times; a permutation has one, and a contraction needs --contract",
                     request->contract.shapes);
  } else if (!request->dtype) {
    cutt_cli_misused(me, "--dtype is missing; it must be given, such as --dtype f8");
  } else if (device && request->options.choice == CUTT_MEASURE) {
    cutt_cli_misused(me, "--device is '%s', and --measure is given: only the device at hand can be measured", device);
  } else if (device && request->wisdom_path) {
    cutt_cli_misused(me, "--device is '%s', and --wisdom is given: wisdom is of the device at hand", device);
  } else if (request->draw && request->json) {
    cutt_cli_misused(me, "--draw is for people, and --json is given; with it a drawing must go to a file: --svg FILE");
  } else if (request->force && !request->svg_path) {
    cutt_cli_misused(me, "--force is given without --svg, whose file it replaces");
  } else {
    return true;
  }
  return false;
}

int cutt_cli_plan(int argc, char **argv) {
  plan_request request = {.rank = -1, .options = CUTT_OPTIONS_INIT, .contract.options = CUTT_CONTRACTION_OPTIONS_INIT};
  int code;
  if (!cutt_cli_read_options(&syntax, argc, argv, &request, &code)) return code;
  if (optind < argc) return cutt_cli_misused(me, "'%s' is not an option; plan takes options only", argv[optind]);
  if (request.contract.pattern) {
    const char *option = only_for_permutations(&request);
    if (option) return cutt_cli_misused(me, "%s is for permutations, and --contract is given", option);
    return show_with_wisdom(&request);
  }
  if (!check_options(&request) || !read_dtype(request.dtype, &request.type)) return CUTT_CLI_USAGE;
  if (!cutt_cli_parse_axes(me, request.axes_text, request.rank, request.axes)) return CUTT_CLI_USAGE;
  if (request.svg_path && cutt_output_is_stream(request.svg_path))
    return cutt_cli_misused(me, "--svg is '-'; the drawing needs a file, since standard output has the plan");
  if (request.svg_path && !cutt_output_check(request.svg_path, "", request.force)) return CUTT_CLI_FAILED;
  return show_with_wisdom(&request);
}
