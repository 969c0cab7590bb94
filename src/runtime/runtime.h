/* A runtime: the services of one kind of device, as a table of functions. It knows nothing of permutations. */
#ifndef CUTT_RUNTIME_RUNTIME_H
#define CUTT_RUNTIME_RUNTIME_H

#include "base/text.h"
#include "cutt.h"
#include "model/target.h"

/* Something to be timed. */
typedef struct cutt_work {
  cuttResult (*run)(const void *what, cudaStream_t stream);
  const void *what;
} cutt_work;

/* A context of the device: memory, streams, events and kernels belong to one. It is the same where both fields are. */
typedef struct cutt_context {
  void *handle;              /* NULL: none */
  unsigned long long number; /* never given twice; 0 where the driver does not number its contexts */
} cutt_context;

/* Work in a context, from enter to leave; its fields are the runtime's own. */
typedef struct cutt_scope {
  void *context; /* current meanwhile, never NULL */
  bool pushed;   /* to be taken back */
  int mode;      /* of the thread, to be put back; -1: it was not changed */
} cutt_scope;

/* Memory of a device as another process gets to it: plain bytes. */
typedef struct cutt_shared_memory {
  unsigned char handle[64];
  uint64_t base, offset; /* of the allocation, where it was made; and how far behind it the memory is */
  uint64_t id;           /* of the allocation, never given twice in a process */
} cutt_shared_memory;

/* A point in a stream. */
typedef struct cutt_event cutt_event;

/* Kernels that are used together, each by its key: the image that has it, and its name there. Lives as long as the library. */
typedef struct cutt_kernel_list {
  int count;
  const char *const *image, *const *name; /* "tile", "cutt_tile_1" */
} cutt_kernel_list;

/* The kernels of a list in a context: the beginning of the runtime's own struct. Lives as long as the library, also when the
 * context does not. */
typedef struct cutt_kernels {
  const cutt_kernel_list *list;
  const cutt_target *target; /* the context's device */
} cutt_kernels;

/* What a launch is given. early: the kernel waits itself for what was put into the stream before it, so that it may begin before that has
 * ended. */
typedef struct cutt_grid {
  uint32_t blocks, threads, shared_bytes; /* threads of a block; dynamic shared memory of a block */
  bool early;
} cutt_grid;

typedef struct cutt_runtime {
  bool has_streams; /* takes a stream; without, one that is not NULL is refused */

  /* Is it usable here? On false *why is a text for people ("libcuda.so.1 was not found"). */
  bool (*probe)(const char **why);
  /* Instruction set or architecture in use, by the calling thread where that differs: "avx512". Lives as long as the
   * library. */
  const char *(*isa)(void);
  /* Key of wisdom: identifies the machine or device for the purpose of timings; no spaces or line ends. */
  void (*device_key)(char *buffer, size_t size);
  /* For cuttDevicesDescribe: the device's properties; an object's members without braces for JSON, indented lines for text. */
  void (*describe_device)(cuttFormat_t format, cutt_text *text);

  /* The device that plans of the calling thread are for; after probe has said yes. Lives as long as the library. */
  const cutt_target *(*target)(void);
  /* A device that can be planned for without having it, by the name that people give it; NULL: none. The names, as a list for
   * people; NULL: there are none. */
  const cutt_target *(*target_named)(const char *name);
  const char *target_names;
  /* Calibration's part that is the device's own: measures bandwidths, latencies and the like on the device at hand, and
   * sets those properties of *target (a copy of target()'s). progress (may be NULL) is told the share that is done, and stops
   * it by returning false. Takes about so many seconds, or a few. Errors: CUTT_INTERNAL_ERROR. */
  cuttResult (*measure_target)(cutt_target *target, double seconds, bool (*progress)(void *data, double done),
                               void *data);

  /* Does only this kind of device reach this memory, and the processor not? May be called for any address, at any
   * execution of another backend's plan once driver_loaded has said true. NULL: it has no such memory. */
  bool (*is_device_pointer)(const void *pointer);
  /* Has the driver come into the process, whoever brought it? Called when another backend is planned for; never loads
   * it. NULL where is_device_pointer is. */
  bool (*driver_loaded)(void);

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

  /* What follows is NULL without has_streams: all is then in one memory, and done in the order of the calls. Unless it says
   * otherwise, a service works in the calling thread's current context or, if there is none, the default one; errors are
   * CUTT_INVALID_DEVICE for what the device or the context is not up to, and CUTT_INTERNAL_ERROR for all else that the driver
   * says. Calls between enter and leave cost the least. */

  /* The version of the driver, as it numbers itself: 12080 for 12.8. 0: it can't be used, and *why says why. */
  int (*driver_version)(const char **why);

  /* Enters the calling thread's context, and makes the default one current for the time if there is none. Until leave, the
   * thread may also make calls that a capture under way in another stream forbids. On an error there is nothing to leave. */
  cuttResult (*enter)(cutt_scope *scope);
  /* The same for work in a stream: a thread that has no context enters the stream's. */
  cuttResult (*enter_stream)(cudaStream_t stream, cutt_scope *scope);
  /* The same for a context that is known, whichever is current. */
  cuttResult (*enter_context)(const cutt_context *context, cutt_scope *scope);
  void (*leave)(const cutt_scope *scope);
  /* The context that is current in the calling thread; .handle is NULL if there is none. Valid until it is destroyed. */
  cuttResult (*context)(cutt_context *context);

  /* Where kernels of the current context find what a user's pointer is to: *at. target: the runtime's, of the current context.
   * name: of the argument, for the error's text. Never waits; allowed in a capture. Errors: CUTT_INVALID_PARAMETER: memory
   * that the device can't reach. */
  cuttResult (*reach)(const cutt_target *target, const void *pointer, const char *name, void **at);

  /* Memory that is taken and given back in order with the stream's work, without a wait; where the driver can't do that, as by
   * memory_allocate and memory_free. bytes may be 0. A failure to free goes to the log. */
  cuttResult (*stream_allocate)(size_t bytes, cudaStream_t stream, void **memory);
  void (*stream_free)(void *memory, cudaStream_t stream);
  /* Start to set so many bytes, or words of 4 bytes at a multiple of 4, at an address that reach has given. */
  cuttResult (*fill_bytes)(void *memory, unsigned char value, size_t bytes, cudaStream_t stream);
  cuttResult (*fill_words)(void *memory, uint32_t value, size_t words, cudaStream_t stream);

  /* A stream that waits for no other, the default one included; stream_release ends it, when what it was given is done. */
  cuttResult (*side_stream_create)(cudaStream_t *stream);
  /* The same, and its kernels start before those of others that have not started. */
  cuttResult (*urgent_stream_create)(cudaStream_t *stream);
  cuttResult (*stream_synchronize)(cudaStream_t stream);
  /* Work that the stream is given from now on comes after what the event was last recorded behind. */
  cuttResult (*stream_wait)(cudaStream_t stream, const cutt_event *event);
  /* Is what is started in the stream recorded for a graph instead of being done? */
  cuttResult (*stream_is_captured)(cudaStream_t stream, bool *captured);

  /* timed: for event_seconds. The event may be destroyed before it is reached. */
  cuttResult (*event_create)(bool timed, cutt_event **event);
  void (*event_destroy)(cutt_event *event);
  cuttResult (*event_record)(cutt_event *event, cudaStream_t stream);
  /* Of two that were recorded in one stream, one after the other: waits for the second, and says how long it took. */
  cuttResult (*event_seconds)(cutt_event *from, cutt_event *to, double *seconds);

  /* Waits until an event is reached; asks whether it is. */
  cuttResult (*event_wait)(cutt_event *event);
  cuttResult (*event_reached)(const cutt_event *event, bool *reached);

  /* Lets the current context's kernels reach the memory of another context's device, for good. */
  cuttResult (*peer_enable)(const cutt_context *peer);
  /* Memory that other processes of the host may open: all of its allocation. Opened memory is closed by its base. */
  cuttResult (*share)(const void *memory, cutt_shared_memory *shared);
  cuttResult (*shared_open)(const cutt_shared_memory *shared, void **base);
  void (*shared_close)(void *base);
  /* The same for events, which are not timed; opened ones are destroyed like any other. */
  cuttResult (*shared_event_create)(cutt_event **event);
  cuttResult (*event_share)(const cutt_event *event, unsigned char handle[64]);
  cuttResult (*event_open)(const unsigned char handle[64], cutt_event **event);
  /* Host memory that the device copies from and to by itself. A failure to free goes to the log. */
  cuttResult (*pinned_allocate)(size_t bytes, void **memory);
  void (*pinned_free)(void *memory);
  /* Starts a copy between any two memories that the driver knows, also of two devices. */
  cuttResult (*copy_start)(void *to, const void *from, size_t bytes, cudaStream_t stream);

  /* Finds the kernels of a list for the context, and at first use loads them, so that a launch does not, and lets each have all
   * of the shared memory that a block may have. Takes a lock. */
  cuttResult (*kernels_find)(const cutt_kernel_list *list, const cutt_kernels **kernels);
  /* The most bytes of parameters that kernels of the library have, all together: 4096 or more; 0: the driver at hand does not
   * take those that have lists as parameters. */
  int (*parameter_bytes)(void);
  /* Enters the kernels' context: it is made current if the calling thread has none. Allowed in a capture, as launch is. Errors:
   * CUTT_INVALID_DEVICE: another one is current, or it has been destroyed. On an error there is nothing to leave. */
  cuttResult (*kernels_enter)(const cutt_kernels *kernels, cutt_scope *scope);
  /* Starts kernel number `which` of the list, in the kernels' context, which is entered. parameters: addresses of the kernel's
   * arguments, which are copied. Errors: CUTT_INVALID_PARAMETER: the stream is another context's, or the current context is;
   * CUTT_INVALID_DEVICE: there is no current context. */
  cuttResult (*launch)(const cutt_kernels *kernels, int which, const cutt_grid *grid, void **parameters,
                       cudaStream_t stream);
  /* Starts the driver's own copy from and to what reach has given, in the kernels' context as launch does, also in a capture. */
  cuttResult (*copy_reached)(const cutt_kernels *kernels, void *to, const void *from, size_t bytes,
                             cudaStream_t stream);
} cutt_runtime;

#endif
