/* cutt.h: tensor permutation, out[perm] = in, at close to memory bandwidth.
 *
 * Conventions, the paper's: the first mode of a tensor is its stride-1 mode (as in Fortran), and mode i of the output
 * is mode perm[i] of the input. Extents and strides are counted in elements. Every call returns a cuttResult_t; after a
 * failure cuttLastError() says, for the calling thread, which argument was wrong, its value, and what is allowed.
 * The library prints nothing unless the environment variable CUTT_LOG asks for it, and never ends the process. A call takes
 * at most 16 KB of the calling thread's stack, beside what CUDA's driver takes and what calls of the caller's take.
 *
 * Two interfaces:
 *   - the four calls of the cuTT paper (cuttPlan, cuttPlanMeasure, cuttExecute, cuttDestroy), for packed tensors;
 *   - the descriptor interface (cuttProblem_t, cuttPlanCreate, cuttPlanExecute, ...) for everything else.
 *
 * On a machine with an NVIDIA GPU that this build has kernels for, plans are for the GPU unless they ask for the CPU
 * (options.backend; or the environment variable CUTT_CUDA=0), and take pointers to memory that the GPU can reach: device,
 * managed or pinned memory. A plan is for the calling thread's current CUDA context. When it has none, it is for the context of
 * the stream that is named when planning, else for the primary context of the device that the CUDA run time has as current, if
 * the program uses a shared one, else of device 0. It is executed in that context (also from a thread that has none). CUDA is
 * found at run time; nothing of it has to be linked.
 *
 * What is for research on the library itself (plans by a candidate's number or by the paper's model, drawings, calibration)
 * is declared only where CUTT_EXPERIMENTAL is defined before this header is included. It may change in any version. The
 * library has it in any case, and structs have the same layout with the macro and without.
 *
 * The header compiles as C99 and as C++ and needs no CUDA header. Where the compiler finds cuda_runtime.h it is included, as
 * by the original library's header; not if CUTT_NO_CUDA_RUNTIME_H is defined.
 */
#ifndef CUTT_H
#define CUTT_H

#include <stddef.h>
#include <stdint.h>

/* Packages of CUDA have cuda_runtime.h without the compiler's headers that it includes: then it can't be. */
#if defined(__has_include) && !defined(CUTT_NO_CUDA_RUNTIME_H)
#if __has_include(<cuda_runtime.h>) && __has_include(<crt/host_config.h>)
#include <cuda_runtime.h>
#endif
#endif

#if defined(__GNUC__)
#define CUTT_API __attribute__((visibility("default")))
#else
#define CUTT_API
#endif

#define CUTT_VERSION_MAJOR 0
#define CUTT_VERSION_MINOR 1
#define CUTT_VERSION_PATCH 0

/* The largest rank that a problem may have. */
#define CUTT_MAX_RANK 64

#ifdef __cplusplus
extern "C" {
#endif

/* As in CUDA's own headers; repeated here so that no CUDA header is needed. */
#ifndef __DRIVER_TYPES_H__
struct CUstream_st;
typedef struct CUstream_st *cudaStream_t;
#endif

/* ---------------------------------------------------------------------------------------------- results and errors */

typedef enum cuttResult_t {
  CUTT_SUCCESS = 0,           /* done */
  CUTT_INVALID_PLAN = 1,      /* the plan or handle is not one that is alive */
  CUTT_INVALID_PARAMETER = 2, /* an argument is wrong; cuttLastError() names it */
  CUTT_INVALID_DEVICE = 3,    /* the plan belongs to another device, or the backend asked for is not usable here */
  CUTT_INTERNAL_ERROR = 4,    /* out of memory, or the system refused something; cuttLastError() says what */
  CUTT_UNDEFINED_ERROR = 5    /* anything else */
} cuttResult_t;

/* The name in the original library, of the same type. */
typedef cuttResult_t cuttResult;

/* "CUTT_SUCCESS" and so on; never NULL. */
CUTT_API const char *cuttResultName(cuttResult_t result);

/* The text of the calling thread's most recent failure, or "" if it has had none. It stays until that thread's next
 * failing call. Never NULL. */
CUTT_API const char *cuttLastError(void);

/* major * 10000 + minor * 100 + patch of the library that is loaded. */
CUTT_API int cuttVersion(void);

/* ------------------------------------------------------------------------------------------------- the paper's calls */

/* A plan of the paper's calls. */
typedef unsigned int cuttHandle;

/* Plans the permutation of a packed tensor, choosing the method by the model. For the calling thread's GPU where one is
 * usable, else for the CPU, as with CUTT_BACKEND_AUTO.
 * Planning again what has a plan that is alive (the same tensor and permutation, GPU context or number of threads, and stream)
 * gives that plan's handle again and costs next to nothing. A handle lives until it has been destroyed as often as it was
 * given. A program that never destroys a plan holds one for each different problem: some 8 KB for the 65536 or so that it executed
 * last. Of the others some 300 bytes are kept, and the next execution makes the plan again, as it was: there are 67108864 handles.
 * handle       receives the plan's handle
 * rank         number of modes, 1 .. CUTT_MAX_RANK
 * dim          rank extents of the input, stride-1 mode first, each >= 1
 * permutation  rank entries: output mode i is input mode permutation[i]
 * sizeofType   bytes of an element: 1, 2, 4, 8 or 16
 * stream       the stream to run in on a GPU (0: the default stream); 0 or cudaStreamPerThread for a CPU plan
 * Errors: CUTT_INVALID_PARAMETER, CUTT_INVALID_DEVICE, CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult cuttPlan(cuttHandle *handle, int rank, const int *dim, const int *permutation, size_t sizeofType,
                             cudaStream_t stream);

/* As cuttPlan, but the model's best 12 candidates are timed on idata -> odata: each runs once to warm up, and then they
 * run in rotation, round after round; those that have fallen behind leave, and the fastest run decides. Takes 2 seconds
 * at most, apart from the first run. On a GPU the timing is done in the stream (0: in one of the library's own) and waited
 * for. What has a measured plan that is alive is not measured again.
 * idata        the input to time on; only read
 * odata        the output, which is overwritten and not restored
 * Errors: CUTT_INVALID_PARAMETER (also idata or odata NULL, overlapping, or not the device's memory), CUTT_INVALID_DEVICE,
 * CUTT_INTERNAL_ERROR (also when no candidate could be run). */
CUTT_API cuttResult cuttPlanMeasure(cuttHandle *handle, int rank, const int *dim, const int *permutation,
                                    size_t sizeofType, cudaStream_t stream, const void *idata, void *odata);

/* Permutes idata into odata. The two may not overlap, unless they are equal and the permutation is the identity.
 * Safe from many threads at once on one handle; allocates nothing and takes no lock, unless more than 65536 plans are alive and
 * this one was not executed for long: then it is made again, which a capture of the stream does not disturb. On a GPU the call
 * starts the work in the plan's stream and does not wait for it.
 * handle       from cuttPlan or cuttPlanMeasure
 * idata        the first element of the input
 * odata        the first element of the output
 * Errors: CUTT_INVALID_PLAN (no plan that is alive has this handle); CUTT_INVALID_PARAMETER: NULL, overlap, or memory that
 * the plan's device can't reach; CUTT_INVALID_DEVICE: the current CUDA context is not the plan's, or there is none, a plan must
 * be made again, and it is not of the stream's or the default context; CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult cuttExecute(cuttHandle handle, const void *idata, void *odata);

/* odata = alpha * perm(idata) + beta * odata: what a fork of the original library has as cuttExecute with two arguments more;
 * in C++ it has that name here, too. The plan with these scalars is made at the first call and kept as cuttPermute's are.
 * alpha, beta  float for elements of 4 bytes, double for 8; NULL: 1 and 0. Both NULL: as cuttExecute
 * Errors: as cuttExecute; CUTT_INVALID_PARAMETER: a scalar is given, and the handle's elements are of another size. */
CUTT_API cuttResult cuttExecuteScaled(cuttHandle handle, const void *idata, void *odata, const void *alpha,
                                      const void *beta);

/* Gives the handle back; the plan is freed when it has been given back as often as it was given. No call with this handle may be
 * under way then; what a call has started on a GPU may.
 * Errors: CUTT_INVALID_PLAN. */
CUTT_API cuttResult cuttDestroy(cuttHandle handle);

/* For programs that call them, as later versions of the original library had it. There is nothing to set up or to shut down;
 * cuttFinalize frees the plans that cuttPermute has kept. Any number of times, from any thread. */
CUTT_API void cuttInitialize(void);
CUTT_API void cuttFinalize(void);

/* --------------------------------------------------------------------------------------------- descriptor interface */

/* Element types. CUTT_BYTES_n elements are moved and never computed on: any n-byte element will do. */
typedef enum cuttType {
  CUTT_BYTES_1 = 1,
  CUTT_BYTES_2 = 2,
  CUTT_BYTES_4 = 4,
  CUTT_BYTES_8 = 8,
  CUTT_BYTES_16 = 16,
  CUTT_F16 = 32,  /* IEEE half, computed in float */
  CUTT_BF16 = 33, /* bfloat16, computed in float */
  CUTT_F32 = 34,
  CUTT_F64 = 35,
  CUTT_C32 = 36, /* complex float, 8 bytes */
  CUTT_C64 = 37, /* complex double, 16 bytes */
  CUTT_I32 = 38, /* two's complement, arithmetic modulo 2^32 */
  CUTT_I64 = 39  /* two's complement, arithmetic modulo 2^64 */
} cuttType_t;

typedef enum cuttBackend {
  CUTT_BACKEND_AUTO = 0, /* the best that is usable here: a GPU, else the CPU */
  CUTT_BACKEND_CPU = 1,
  CUTT_BACKEND_CUDA = 2 /* NVIDIA GPUs, compute capability 7.0 and later */
} cuttBackend_t;

/* CUTT_MEASURE: the model's best candidates (12 at most) are timed in rotation, after a run of each to warm up. The first one
 * is run whatever the time limit. */
typedef enum cuttChoice {
  CUTT_PREDICT = 0, /* the candidate that the model predicts to be fastest */
  CUTT_MEASURE = 1  /* the fastest of those that are timed */
} cuttChoice_t;

#ifdef CUTT_EXPERIMENTAL
typedef enum cuttModel {
  CUTT_MODEL = 0,      /* the library's own: counts in closed form, and what they cost on the device */
  CUTT_MODEL_PAPER = 1 /* MWP-CWP as the paper has it (Eq. 10-13, Table I), for comparison; GPUs only */
} cuttModel_t;
#endif

/* What to compute: out = alpha * perm(in) + beta * out.
 *
 * Start from CUTT_PROBLEM_INIT, then fill in. Everything that a pointer points to is read during the call that takes
 * the problem and not kept. */
typedef struct cuttProblem {
  size_t struct_size;         /* sizeof(cuttProblem_t): lets the struct grow */
  int rank;                   /* 0 .. CUTT_MAX_RANK; 0 is one element */
  cuttType_t type;            /* the element type */
  const int64_t *extents;     /* rank extents of the input, each >= 0 (0: nothing to do) */
  const int *perm;            /* rank entries: output mode i is input mode perm[i] */
  const int64_t *in_strides;  /* rank strides of the input's modes, any sign, 0 repeats; NULL: packed, first mode 1 */
  const int64_t *out_strides; /* rank strides of the OUTPUT's modes, none may make elements overlap; NULL: packed */
  const void *alpha;          /* one scalar, see below; NULL: 1 */
  const void *beta;           /* one scalar; NULL or zero: out is written and never read */
  int conjugate;              /* not 0: the input is conjugated (CUTT_C32 and CUTT_C64 only) */
} cuttProblem_t;
/* The scalars are of the element's type, but float for CUTT_F16 and CUTT_BF16. With CUTT_BYTES_n there are none.
 *
 * Elements that are only moved keep every bit, whatever they are; so do those that are only conjugated, but for the sign
 * bit of the imaginary part, which is flipped. A factor of 1 multiplies nothing, and one whose imaginary part is 0 scales
 * the two parts of a complex number by themselves: infinities and the signs of zeros come out right. Every product and
 * every sum is rounded by itself, for CUTT_F16 and CUTT_BF16 to float and the result once more, to nearest: so there is
 * one right answer, but for which NaN a NaN is. A caller's rounding mode, and a flush of subnormal numbers to zero that it
 * asks for, are left as they are; moves and conjugation do not depend on them, and arithmetic does, each thread by its own.
 * Subnormal numbers of CUTT_F16 are floats like any other: they are never flushed. */

#define CUTT_PROBLEM_INIT                                                                                              \
  { sizeof(cuttProblem_t), 0, (cuttType_t)0, NULL, NULL, NULL, NULL, NULL, NULL, 0 }

/* Measured choices, of permutations and of contractions, kept to be used again: an object of its own, safe to share between
 * threads. */
typedef struct cuttWisdom *cuttWisdom_t;

/* How to plan. NULL where options are taken means CUTT_OPTIONS_INIT. */
typedef struct cuttOptions {
  size_t struct_size; /* sizeof(cuttOptions_t) */
  cuttBackend_t backend;
  int threads; /* CPU: most threads to use; 0: as OpenMP would (OMP_NUM_THREADS, else the cores allowed). GPU: unused */
  cuttChoice_t choice;
  /* CUTT_MEASURE: the time limit in seconds; 0: 2. */
  double measure_seconds;
  /* CUTT_MEASURE: the input to time on, or NULL for scratch memory of the library's own; and the output, which is overwritten
   * (with beta: added to) any number of times and not restored. Both or none. */
  const void *measure_in;
  void *measure_out;
  cuttWisdom_t wisdom;         /* looked up first; a measured choice is added to it. NULL: none */
  cudaStream_t measure_stream; /* CUTT_MEASURE on a GPU: the stream to time in; NULL: one of the library's own */
#ifdef CUTT_EXPERIMENTAL
  int candidate;     /* 0: choose. n > 0: the n-th that cuttPlanDescribe lists, whatever choice and wisdom say */
  cuttModel_t model; /* what predicts the candidates' times */
#else
  int reserved[2]; /* 0 */
#endif
  /* NULL: the device at hand. Else a plan to be described and not to be executed, for a device that need not be here: a
   * name (cuttDevicesDescribe lists them: "k20x", "h200", ...), or the path of a device file (cuttCalibrate), which has a
   * '/' or a '.'. */
  const char *device;
  /* 1: executions take pointers as they are, and nobody looks what memory they are of; on a GPU, neither which context is
   * current. So an execution is a single call of the driver. The caller vouches that the plan's device reaches each at that
   * very address, as it does what cudaMalloc and cudaMallocManaged give, and that the plan's context, which is alive, is
   * current, or none. What is wrong then is found by the device, if at all, and told by a later call of CUDA's. 0: all is
   * checked. */
  int trust_pointers;
} cuttOptions_t;

#ifdef CUTT_EXPERIMENTAL
#define CUTT_OPTIONS_INIT                                                                                              \
  { sizeof(cuttOptions_t), CUTT_BACKEND_AUTO, 0, CUTT_PREDICT, 0.0, NULL, NULL, NULL, NULL, 0, CUTT_MODEL, NULL, 0 }
#else
#define CUTT_OPTIONS_INIT                                                                                              \
  { sizeof(cuttOptions_t), CUTT_BACKEND_AUTO, 0, CUTT_PREDICT, 0.0, NULL, NULL, NULL, NULL, {0, 0}, NULL, 0 }
#endif

/* A plan: immutable, and alive until cuttPlanDestroy. */
typedef struct cuttPlanStruct *cuttPlan_t;

/* Plans a problem. *plan receives the plan, or NULL on failure.
 * Errors: CUTT_INVALID_PARAMETER (the text names the field), CUTT_INVALID_DEVICE (backend), CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttPlanCreate(cuttPlan_t *plan, const cuttProblem_t *problem, const cuttOptions_t *options);

/* Executes a plan: in and out point to element (0, ..., 0) of each tensor; no alignment is asked for, but on a GPU that
 * of the element type when alpha, beta or conjugate is used. The memory that the two span may not overlap, unless
 * in == out and the permutation with its strides is the identity. Gaps that strides leave need not be memory: of the input
 * no page is read that holds none of its elements, and of the output nothing is touched but its elements.
 * Any number of threads may execute one plan at once; nothing is allocated and no lock is taken. On the CPU stream is
 * NULL (or cudaStreamPerThread or cudaStreamLegacy), and the call returns when the result is there. On a GPU the call starts the work in the stream (NULL: the default
 * stream) and returns; it waits for nothing and may be captured into a CUDA graph.
 * Errors: CUTT_INVALID_PLAN; CUTT_INVALID_PARAMETER: NULL, overlap, or memory that the plan's device can't reach (host
 * memory that is not pinned for a GPU, a GPU's memory for the CPU); CUTT_INVALID_DEVICE: the current CUDA context is not
 * the plan's; CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttPlanExecute(cuttPlan_t plan, const void *in, void *out, cudaStream_t stream);

/* Executes a plan on count pairs of tensors by one call: in[i] to out[i], as cuttPlanExecute does, 0 <= i < count. For many
 * small tensors, such as the blocks of a block-sparse one. On the CPU the pairs are shared out among threads all together,
 * as many of options.threads as their size is worth, though the plan for one pair may have one thread. On a GPU some thousand
 * pairs are one launch, where compiler and driver are of CUDA 12.1 or later (else, a hundred or one); the arrays' addresses are
 * the launch's arguments, so that it may be captured like any other. With options.trust_pointers nothing is asked of the driver
 * for each pair, which takes longer than a small tensor. The first such call in a context loads the kernels for it.
 * The pairs are done in any order and at the same time: no out[i] may overlap another out[j] or another in[j], which is not
 * checked; inputs may be the same. The arrays may be changed or freed after the call. count may be 0, and in and out NULL then.
 * Nothing is allocated and, but for that first call, no lock is taken. Of a call that fails for its arguments nothing is done,
 * but that on a GPU other pairs than one whose memory the device can't reach may have been started.
 * Errors: as cuttPlanExecute, where in[i] or out[i] is named with its i; CUTT_INVALID_PARAMETER: count is negative, or in or
 * out is NULL. */
CUTT_API cuttResult_t cuttPlanExecuteBatch(cuttPlan_t plan, int64_t count, const void *const *in, void *const *out,
                                           cudaStream_t stream);

/* The same with a plan for each pair: plans[i] on in[i] and out[i]. The plans may be the same or different, for tensors of
 * any ranks, types and scalars, and are all for one backend. On the CPU, the options.threads of plans[0] holds for the call; on
 * a GPU there is a launch for each different plan.
 * Errors: as cuttPlanExecuteBatch, where plans[i] is named with its i. */
CUTT_API cuttResult_t cuttPlansExecute(int64_t count, const cuttPlan_t *plans, const void *const *in, void *const *out,
                                       cudaStream_t stream);

/* Frees a plan; NULL is allowed. No call with it may be under way; what a call has started on a GPU may.
 * Errors: CUTT_INVALID_PLAN. */
CUTT_API cuttResult_t cuttPlanDestroy(cuttPlan_t plan);

/* Plan, execute, destroy. Waits no more than cuttPlanExecute does: on a GPU, in the order of the stream. The plans of the last
 * problems, 64 at most, are kept: the next call with the same problem and options allocates nothing. Options besides backend
 * and threads, and ranks above 12, are planned anew each time.
 * Errors: as cuttPlanCreate and cuttPlanExecute. */
CUTT_API cuttResult_t cuttPermute(const cuttProblem_t *problem, const cuttOptions_t *options, const void *in, void *out,
                                  cudaStream_t stream);

/* Runs the plan once, uncounted, and then count times, as cuttPlanExecute does, and gives each run's seconds in
 * seconds[0 .. count-1]: by events in the stream on a GPU, by the clock on the CPU. Waits for all of them. With beta each
 * run adds to out again. count >= 1. The stream may not be one that is being captured. Errors: as cuttPlanExecute. */
CUTT_API cuttResult_t cuttPlanTime(cuttPlan_t plan, const void *in, void *out, cudaStream_t stream, int count,
                                   double *seconds);

/* ------------------------------------------------------------------------------------------------ a backend's memory */

/* Memory of a backend, for programs that would rather not call CUDA themselves (the program cutt is one). The backend is
 * given as for plans: CUTT_BACKEND_AUTO is the one that plans with it are for. On a GPU: device memory of the context that a
 * plan of the calling thread would be for, above.
 * Errors of all: CUTT_INVALID_PARAMETER, CUTT_INVALID_DEVICE, CUTT_INTERNAL_ERROR. */

/* *memory receives at least bytes bytes, at a multiple of 64 on the CPU and of 256 on a GPU, or NULL on failure. */
CUTT_API cuttResult_t cuttMemoryAllocate(cuttBackend_t backend, size_t bytes, void **memory);

/* Frees what cuttMemoryAllocate gave for the same backend; NULL is allowed. On a GPU it waits for the device. */
CUTT_API cuttResult_t cuttMemoryFree(cuttBackend_t backend, void *memory);

/* Copies bytes between the host and the backend's memory in any direction; done on return. In order with the GPU's
 * default stream, and so after what other streams that are not non-blocking have been given. */
CUTT_API cuttResult_t cuttMemoryCopy(cuttBackend_t backend, void *to, const void *from, size_t bytes);

/* Times a plain copy of bytes within the backend's memory by the vendor's own means (cuMemcpyDtoDAsync; memcpy), the
 * ceiling of a permutation. Counts as cuttPlanTime. to and from may not overlap, and bytes is their length. */
CUTT_API cuttResult_t cuttCopyTime(cuttBackend_t backend, void *to, const void *from, size_t bytes, cudaStream_t stream,
                                   int count, double *seconds);

/* ---------------------------------------------------------------------------------------------- what a plan is */

typedef struct cuttPlanInfo {
  size_t struct_size; /* set to sizeof(cuttPlanInfo_t) before the call */
  cuttBackend_t backend;
  const char *method; /* "Copy", "TiledCopy", "Tiled", "Packed" or "PackedSplit"; lives as long as the library */
  /* Instruction set or architecture, such as "avx512" or "sm_90"; likewise. With options.device the device's name, which
   * lives as long as the plan. */
  const char *isa;
  int threads;              /* threads that an execution uses; on a GPU, threads of a block */
  int fused_rank;           /* rank of the canonical problem */
  int fused_elem_bytes;     /* bytes of its elements */
  int64_t bytes_moved;      /* bytes that an execution must move: read + write, and read of out when beta is not 0 */
  double predicted_seconds; /* by the model */
  double measured_seconds;  /* by CUTT_MEASURE or wisdom; 0 when neither */
  double create_seconds;    /* what cuttPlanCreate took */
} cuttPlanInfo_t;

/* What was chosen, and what it is predicted to take.
 * plan   any plan, also one for a device that is only described
 * info   info->struct_size is set by the caller, all other fields by the call; those that this library does not know
 *        become 0
 * Errors: CUTT_INVALID_PLAN, CUTT_INVALID_PARAMETER (info is NULL or has a wrong struct_size). */
CUTT_API cuttResult_t cuttPlanGetInfo(cuttPlan_t plan, cuttPlanInfo_t *info);

typedef enum cuttFormat { CUTT_TEXT = 0, CUTT_JSON = 1 } cuttFormat_t;

/* Describes a plan: the problem, its canonical form, the candidates with what they are and their predicted times, the
 * choice, and what its time is made of. As text the first candidates, as JSON all.
 * Writes at most size bytes with the final 0 to buffer (which may be NULL when size is 0), and to *needed (which may be
 * NULL) the bytes that the whole text takes with its final 0. A text that did not fit is cut, and still CUTT_SUCCESS.
 * Errors: CUTT_INVALID_PLAN; CUTT_INVALID_PARAMETER: format, or buffer is NULL and size is not 0; CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttPlanDescribe(cuttPlan_t plan, cuttFormat_t format, char *buffer, size_t size, size_t *needed);

/* Describes the backends, instruction sets and GPUs of this machine, which are used, and why one is not. Buffer, size and needed
 * as above. Errors: CUTT_INVALID_PARAMETER. */
CUTT_API cuttResult_t cuttDevicesDescribe(cuttFormat_t format, char *buffer, size_t size, size_t *needed);

/* -------------------------------------------------------------------------------------------------------- wisdom */

/* Files merge: load several into one object and save it, or save to a file that is there. Of two entries for one problem the
 * faster one stays, and those of other machines are kept. */

/* *wisdom receives an empty object for options.wisdom, or NULL on failure; any number of threads may use it at once.
 * Errors: CUTT_INVALID_PARAMETER (wisdom is NULL), CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttWisdomCreate(cuttWisdom_t *wisdom);

/* Frees it; NULL is allowed. No call with it may be under way; plans that were made with it keep their choice. Nothing is
 * saved. Errors: CUTT_INVALID_PARAMETER (not alive). */
CUTT_API cuttResult_t cuttWisdomDestroy(cuttWisdom_t wisdom);

/* Adds what a file holds. Lines that are damaged, of another version or of another machine are passed over and counted;
 * the reason for the first of them is cuttLastError(), though the result is CUTT_SUCCESS. *used and *ignored (either may
 * be NULL) receive the counts.
 * Errors: CUTT_INVALID_PARAMETER (wisdom is not alive; path is NULL, missing or can't be read), CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttWisdomLoad(cuttWisdom_t wisdom, const char *path, size_t *used, size_t *ignored);

/* Adds all of it to what a file holds, or makes the file; one that is not wisdom's stays as it is. Lines that are damaged or
 * of another version go. Any number of processes may save to one file: each waits for the others and loses nothing of theirs,
 * but on file systems that have no locks for folders (NFS).
 * Whole or not at all: a new file in the folder of path is written, which then takes its name. A file that is there keeps its
 * owner, group, mode and access list; where that can't be, it stays as it is (CUTT_INTERNAL_ERROR).
 * Errors: CUTT_INVALID_PARAMETER (wisdom is not alive; path is NULL, not wisdom's or can't be written), CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttWisdomSave(cuttWisdom_t wisdom, const char *path);

/* -------------------------------------------------------------------------------------------------- experimental */

#ifdef CUTT_EXPERIMENTAL

typedef enum cuttDrawing { CUTT_DRAW_TEXT = 0, CUTT_DRAW_SVG = 1 } cuttDrawing_t;

/* Draws the tile of the plan's choice: the runs of input and of output memory that it covers, laid over the
 * sectors (GPU) or cache lines (CPU) that memory is moved in, and how much of each mode it takes. What a sector has beside
 * the tile is moved for nothing, and so it shows why small extents cost. As text (ASCII, no more than 100 columns unless
 * numbers are very long) or as an SVG image of its own. Buffer, size, needed and errors
 * as for cuttPlanDescribe. */
CUTT_API cuttResult_t cuttPlanDraw(cuttPlan_t plan, cuttDrawing_t format, char *buffer, size_t size, size_t *needed);

/* How to calibrate: to measure what the model has to know of the device at hand. Start from CUTT_CALIBRATION_INIT. */
typedef struct cuttCalibration {
  size_t struct_size; /* sizeof(cuttCalibration_t) */
  cuttBackend_t backend;
  double seconds;   /* time limit, about; 0: 60 */
  uint64_t seed;    /* of the random problems that are measured */
  int threads;      /* CPU: as in cuttOptions_t */
  const char *path; /* the device file to write; NULL: where plans look for it, see below */
  /* Or NULL. Called now and then with the share that is done (0 to 1) and what is under way; not 0 stops it. */
  int (*progress)(void *data, double done, const char *what);
  void *data;
} cuttCalibration_t;

#define CUTT_CALIBRATION_INIT                                                                                          \
  { sizeof(cuttCalibration_t), CUTT_BACKEND_AUTO, 0.0, 1, 0, NULL, NULL, NULL }

/* Measures bandwidths, latencies and the times of random problems' candidates, fits the model's parameters to them, and
 * writes a device file, whole or not at all, as cuttWisdomSave does. Plans that are made by processes started after that
 * use it, if it is in $XDG_DATA_HOME/cutt (else $HOME/.local/share/cutt) under the device's own name, or named by the
 * environment variable CUTT_CALIBRATION (0: no device file is used; one that can't be used: every plan for the device at
 * hand is CUTT_INVALID_PARAMETER).
 * A report goes to the buffer, as by cuttPlanDescribe: what was measured, the parameters, and how good the choice is on
 * problems that were held back. 64 KiB are enough for it.
 * Errors: CUTT_INVALID_PARAMETER, CUTT_INVALID_DEVICE, CUTT_INTERNAL_ERROR (also when stopped). */
CUTT_API cuttResult_t cuttCalibrate(const cuttCalibration_t *calibration, cuttFormat_t format, char *buffer,
                                    size_t size, size_t *needed);

#endif /* CUTT_EXPERIMENTAL */

#ifdef __cplusplus
}

/* As a fork of the original library has them. Measuring is without the scalars: they change little of what is fastest. */
inline cuttResult cuttExecute(cuttHandle handle, const void *idata, void *odata, const void *alpha,
                              const void *beta = NULL) {
  return cuttExecuteScaled(handle, idata, odata, alpha, beta);
}
inline cuttResult cuttPlanMeasure(cuttHandle *handle, int rank, const int *dim, const int *permutation,
                                  size_t sizeofType, cudaStream_t stream, const void *idata, void *odata, const void *,
                                  const void * = NULL) {
  return cuttPlanMeasure(handle, rank, dim, permutation, sizeofType, stream, idata, odata);
}
#endif

#endif
