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
} cutt_runtime;

#endif
