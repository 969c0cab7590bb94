/* A backend is one table of functions. Core knows this table and not the backends; nothing outside a backend's folder
 * knows which one it talks to.
 *
 *   canonical problem -> enumerate -> candidates with predicted seconds -> (choice, in core) -> prepare -> execute */
#ifndef CUTT_PLAN_BACKEND_H
#define CUTT_PLAN_BACKEND_H

#include "base/text.h"
#include "model/canonical.h"
#include "model/target.h"

typedef enum cutt_method {
  CUTT_METHOD_COPY,         /* contiguous on both sides */
  CUTT_METHOD_TILED_COPY,   /* first mode shared: runs are copied */
  CUTT_METHOD_TILED,        /* one mode on each side: a 2D transpose in tiles */
  CUTT_METHOD_PACKED,       /* several modes on a side, all of them whole */
  CUTT_METHOD_PACKED_SPLIT, /* as Packed, with the last mode of a side cut into chunks */
  CUTT_METHODS
} cutt_method;

extern const char *const cutt_method_name[CUTT_METHODS]; /* the paper's names: "Copy", "TiledCopy", ... */

/* One way to do a problem. m and k as in the paper: M_m is the first m modes of the input, M_k the first k modes of the
 * output; the last mode of each may be cut to chunks of split_m, split_k elements. The rest is the backend's own, and
 * small integers all the same, so that a candidate can be written to a file and read back. */
enum { CUTT_PARAMS = 6 };
typedef struct cutt_candidate {
  cutt_method method;
  int m, k;
  int64_t split_m, split_k;   /* 0: the last mode is whole */
  int threads;                /* of the processor; of a block on a GPU */
  int64_t param[CUTT_PARAMS]; /* named by the backend's param_name[]; unused ones are 0 */
  double seconds;             /* predicted */
} cutt_candidate;

enum { CUTT_MAX_CANDIDATES = 64, CUTT_MAX_THREADS = 4096 };

/* A candidate looked at closely, for people, and for fitting the model to measured times. Counts are of one execution. */
typedef struct cutt_explanation {
  cutt_price price;               /* sums up to the time that the backend's own model predicts */
  int64_t tile[CUTT_MAX_RANK];    /* extent of each canonical mode in a tile; 1 outside of it */
  int64_t row_length, rows;       /* runs of the input in a tile: elements, how many */
  int64_t column_length, columns; /* runs of the output */
  int64_t tiles;
  int64_t shared_bytes;             /* of a block; 0 where there is no such thing */
  int blocks_per_sm;                /* resident at once; 0 likewise */
  double occupancy;                 /* threads resident on an SM over the most that it takes; 0 likewise */
  double read_units, written_units; /* units of memory touched: sectors of 32 bytes on a GPU, lines of 64 on a CPU */
  double least_units;               /* the same, each side, if every unit were used whole */
  double partial_units;             /* of those written: that a tile, or a run past the caches, fills in part */
  double requests, wavefronts;      /* of warps to memory; of shared memory; 0 where there is no such thing */
  const char *unit;                 /* "sectors", "lines" */
  int unit_bytes;
  double copy_seconds; /* what a plain copy of the same bytes is predicted to take */
} cutt_explanation;

/* Something to be timed. */
typedef struct cutt_work {
  cuttResult (*run)(const void *what, cudaStream_t stream);
  const void *what;
} cutt_work;

typedef struct cutt_backend {
  const char *name; /* "cpu" */
  cuttBackend_t id;
  const char *id_name;           /* "CUTT_BACKEND_CPU" */
  bool has_streams;              /* takes a stream; without, one that is not NULL is refused */
  const char *const *param_name; /* CUTT_PARAMS entries, NULL for unused ones */

  /* Is it usable here? On false *why is a text for people ("libcuda.so.1 was not found"). */
  bool (*probe)(const char **why);
  /* Instruction set or architecture in use, by the calling thread where that differs: "avx512". Lives as long as the
   * library. */
  const char *(*isa)(void);
  /* Key of wisdom: identifies the machine or device for the purpose of timings; no spaces or line ends. */
  void (*device_key)(char *buffer, size_t size);
  /* For cuttDevicesDescribe: the device's facts; an object's members without braces for JSON, indented lines for text. */
  void (*describe_device)(cuttFormat_t format, cutt_text *text);

  /* What a description of its devices holds. */
  const cutt_schema *schema;
  /* The device that plans of the calling thread are for; after probe has said yes. Lives as long as the library. */
  const cutt_target *(*target)(void);
  /* A device that it can plan for without having it, by the name that people give it; NULL: none. The names, as a list for
   * people; NULL: there are none. */
  const cutt_target *(*target_named)(const char *name);
  const char *target_names;
  /* Calibration's part that is the backend's own: measures bandwidths, latencies and the like on the device at hand, and
   * sets those facts of *target (a copy of target()'s). progress (may be NULL) is told the share that is done, and stops it
   * by returning false. Takes about so many seconds, or a few. Errors: CUTT_INTERNAL_ERROR. */
  cuttResult (*measure_target)(cutt_target *target, double seconds, bool (*progress)(void *data, double done),
                               void *data);
  /* Bytes of a tensor that calibration draws its random problems by, in turn; what stands there more often is drawn more
   * often. Returns how many, at most max, at least 1, and not a multiple of three: every third problem is held back. NULL:
   * sizes that suit a GPU. */
  int (*training_sizes)(const cutt_target *target, int64_t *list, int max);
  /* What the paper's model predicts for a candidate, in seconds; 0: it is not one for the target. NULL: the backend does
   * not have that model. */
  double (*paper_seconds)(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate);

  /* Fills list (at most max) with candidates for the target, predicted seconds included, fastest predicted first; returns
   * how many, at least 1 where the elements are 2^40 bytes or less. The first is the same whatever max is; those that are far
   * behind it may be left out. A pure function of its arguments: no allocation, no device call.
   * threads: most threads to use, >= 1 (0: the backend's default). */
  int (*enumerate)(const cutt_target *target, cutt_model model, const cutt_canonical *canonical, int threads,
                   cutt_candidate *list, int max);
  /* What a candidate is and what its time is made of, by the backend's own model. */
  void (*explain)(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                  cutt_explanation *explanation);
  /* Is this candidate (read from a file, say) one that prepare would take? *why says why not. */
  bool (*accept)(const cutt_canonical *canonical, const cutt_candidate *candidate, const char **why);
  /* Everything that execution needs, immutable from then on. *prepared is freed by release. */
  cuttResult (*prepare)(const cutt_canonical *canonical, const cutt_candidate *candidate, void **prepared);
  /* in and out are the user's pointers; overlap and NULL have been checked. Allocates nothing, locks nothing. */
  cuttResult (*execute)(const void *prepared, const void *in, void *out, cudaStream_t stream);
  void (*release)(void *prepared);

  /* Does only this backend's device reach this memory, and the processor not? May be called for any address, at any
   * execution of another backend's plan once notice has said true. NULL: it has no such memory. */
  bool (*owns)(const void *pointer);
  /* Has the driver come into the process, whoever brought it? Called when another backend is planned for; never loads
   * it. NULL where owns is. */
  bool (*notice)(void);

  /* The public functions of these names. bytes may be 0; pointers are not NULL. */
  cuttResult (*memory_allocate)(size_t bytes, void **memory);
  cuttResult (*memory_free)(void *memory);
  cuttResult (*memory_copy)(void *to, const void *from, size_t bytes);
  /* Starts a copy within the backend's memory. */
  cuttResult (*copy)(void *to, const void *from, size_t bytes, cudaStream_t stream);

  /* Runs work count times and gives each run's seconds; waits for them. Does not warm up. */
  cuttResult (*time)(const cutt_work *work, cudaStream_t stream, int count, double *seconds);

  /* What measuring needs when the user gives none: memory of arbitrary contents, on a CPU first touched by so many
   * threads (0: those that plans take by default), and a stream (both NULL without has_streams). Work in the stream comes after what the default stream was given before. */
  cuttResult (*scratch_create)(size_t bytes, int threads, void **memory);
  void (*scratch_release)(void *memory);
  cuttResult (*stream_create)(cudaStream_t *stream);
  void (*stream_release)(cudaStream_t stream);
} cutt_backend;

/* The table of backends, in the order of preference, ended by NULL. Defined in src/backends.c, the one file that knows
 * them all. */
extern const cutt_backend *const cutt_backends[];

#endif
