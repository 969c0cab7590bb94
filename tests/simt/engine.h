/* The plans of GPUs, executed by the emulator: an engine of the tests (support/engine.h). */
#ifndef CUTT_TESTS_SIMT_ENGINE_H
#define CUTT_TESTS_SIMT_ENGINE_H

#include "gpu/launch.h"
#include "simt/launch.h"
#include "support/engine.h"

/* Devices as the library would describe them. */
extern const cutt_device simt_h200, simt_a100, simt_t4;

/* The engine for plans made for a device. One at a time: asking for another changes the first too. */
const test_engine *simt_engine(const cutt_device *device, const char *program);

/* A candidate whose tiles have one mode of each side, in chunks of so many (0: whole), and a block one tile: with tables, without (flat), or a
 * copy of runs (direct). */
cutt_candidate simt_candidate(const cutt_canonical *canonical, int64_t split_m, int64_t split_k, int threads, bool flat,
                              bool direct);

/* A plan's launch on buffers, as the emulator takes it. Its args point into *launch. */
simt_launch simt_launch_of(const cutt_gpu_launch *launch, const cutt_canonical *canonical, const unsigned char *in,
                           unsigned char *out, bool async);

/* Modes of simt_engine's run. */
enum { SIMT_WITHOUT_ASYNC = 1, SIMT_SECOND_APART = 2 };

/* The launch of a kernel by its name, as a driver is given it: args are cutt_kernel_args, cutt_flat_args or cutt_flat_window_args if it has no tables, or
 * those of a contraction in one pass or an elementwise operation. .kernel, .flat_kernel, .window_kernel, .pass_kernel, .multiply_kernel,
 * .panel_kernel, .small_kernel, .staged_kernel, .stretch_kernel and .sum_kernel are NULL if there is none of this name. */
simt_launch simt_launch_named(const char *name, const void *args, const cutt_pairs *pairs);

/* Sets the kernel of a contraction in one pass, or of an elementwise operation, and its args, in a launch. False: there is none of this name. */
bool simt_pass_named(const char *name, const void *args, simt_launch *launch);

#endif
