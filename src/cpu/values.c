/* What each event of the CPU cost model takes on the cores that were measured: the model's parameters (cost.h) with their names and
 * built-in values, for data in L2, in the last-level cache and in memory. */
#include "cpu/cost.h"

#define NAMED(level, where)                                                                                            \
  {level ".lines", "ns", "a line that must move, " where}, {level ".waste", "ns", "a line read again, " where},        \
      {level ".runs", "ns", "an input run, " where}, {level ".parts", "ns", "an output line written in part, " where}, \
      {level ".flushes", "ns", "an output run of a tile, " where},                                                     \
      {level ".staged", "ns", "a line through the staging buffer, " where},                                            \
      {level ".loads", "ns", "16 bytes loaded by a transpose, " where},                                                \
      {level ".whole", "ns", "16 bytes loaded by a transpose with the rest of their line, " where},                    \
      {level ".vectors", "ns", "a register stored by a transpose, " where},                                            \
      {level ".blocks", "ns", "a call of a transpose, " where}, {level ".pieces", "ns", "a gathered run, " where},     \
      {level ".piece_lines", "ns", "64 bytes of gathered runs, " where}, {level ".tiles", "ns", "a tile, " where},     \
      {level ".reloads_l2", "ns", "a line again from L2, " where},                                                     \
      {level ".reloads", "ns", "a line again from beyond L2, " where},                                                 \
      {level ".windows", "ns", "a window read, " where},                                                               \
      {level ".windows_near", "ns", "a window read behind that of the vector before, " where},                         \
      {level ".spread", "ns", "a line, for each doubling of input runs beyond 16, " where},                            \
      {level ".pages", "ns", "a line of a tile of more than 64 input runs, " where},                                   \
      {level ".along", "ns", "an output line of a transpose along rows, " where},                                      \
      {level ".stretches", "ns", "an input run of it, " where},                                                        \
      {level ".along_ahead", "ns", "an output line of a transpose along rows that prefetches, " where},                \
      {level ".stretches_ahead", "ns", "an input run of it, " where},                                                  \
      {level ".along_near", "ns", "an output line of a transpose along rows that prefetches along them, " where},      \
      {level ".stretches_near", "ns", "an input run of it, " where},                                                   \
      {level ".along_bytes", "ns",                                                                                     \
       "an output line of a transpose of bytes along rows that prefetches the next, " where},                          \
      {level ".stretches_bytes", "ns", "an input run of it, " where},                                                  \
      {level ".ends", "ns", "an output run of it that begins and ends within lines, " where},                          \
      {level ".joined", "ns", "a gathered line that is not staged, " where},                                           \
      {level ".joined_near", "ns", "the same with its input prefetched into L1, " where},                              \
      {level ".joins", "ns", "a gathered run that is not staged, " where},                                             \
      {level ".to_l1", "ns", "a line prefetched into L1, " where},                                                     \
      {level ".to_l2", "ns", "a line prefetched into L2, " where},                                                     \
      {level ".short_rows", "ns", "a row of a transpose along rows, as it lacks of 256 bytes, " where},                \
      {level ".columns", "ns", "an output run of a tile of it, " where},                                               \
      {level ".large", "ns", "a line of another tile that L2 may not keep, " where},                                   \
      {level ".paged", "ns", "a line of a copy, four pages at a time, " where},                                        \
      {level ".streamed", "ns", "a line of a copy, line after line, " where},                                          \
      {level ".start", "ns", "an execution, " where}, {                                                                \
    level ".fork", "ns", "waking and joining threads, " where                                                          \
  }
const cutt_parameter cutt_cpu_parameters[CUTT_CPU_LEVELS * CUTT_CPU_COUNTS] = {
    NAMED("l2", "data in L2"), NAMED("l3", "data in the last-level cache"), NAMED("memory", "data in memory")};

/* An Intel Xeon with AVX-512 (2 MiB of L2, 480 MiB of L3): by the choices among 37,000 candidates of 1,260 random problems of 50 to
 * 200 MB, 19,000 of 570 in the last-level cache and 8,300 of 370 in L2, fitted as Zen 4's below; loads
 * in memory a little above the fit, and a copy's two walks as before; windows that follow one another, beyond L2, by pictures. */
const double cutt_cpu_values[CUTT_CPU_LEVELS * CUTT_CPU_COUNTS] = {
    /* lines waste runs parts flushes staged loads whole vectors blocks pieces piece_lines tiles reloads_l2 reloads windows windows_near
       spread pages along stretches along_ahead stretches_ahead along_near stretches_near along_bytes stretches_bytes ends joined joined_near joins to_l1 to_l2 short_rows
       columns large paged streamed start fork */
    /* clang-format off */
    0.278, 0.808, 0.355, 3, 2.79, 0.169, 0.259, 0.259, 0.264, 5.2, 0.154, 0.264, 9.59, 0.312, 0, 1.49, 0.529, 0.006, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.436, 0, 0, 30, 3000,
    1.5, 6.99, 0.291, 6, 8.08, 0.35, 0.28, 0.28, 0.035, 4.78, 0.112, 0, 10.2, 0.142, 0.331, 0.715, 0.4, 0.099, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.432, 0, 0, 0, 2.15, 0, 0, 30, 3000,
    1.69, 20, 2.2, 15, 4.1, 0.68, 0.13, 0.13, 0.62, 0.11, 0.126, 0, 2.4, 0.017, 0, 0.81, 0.42, 0.14, 0.3, 1.27, 3.8, 1.02, 3.6, 0.7, 6.3, 0.3, 2, 1, 1.1, 1.61, 0.77, 0.48, 0, 1.34, 2, 0, 0, 1, 30, 3000,
    /* clang-format on */
};

/* An AMD EPYC (Zen 4): of the choices among 45,000 candidates of 1,200 random problems in memory, with those of 120 that are added to and of 120
 * with AVX2; in the last-level cache among 29,000 of 1,240, and in L2 among 73,000 of 3,200, half of them views of arrays: what is predicted to be
 * the fastest takes the least time over the fastest that was measured, in the mean over problems, with candidates that are predicted alike
 * sharing a choice; and times of good candidates come out about right. A copy's two walks as measured, what a walk takes that prefetches into
 * L1 by choices among floats that the others had left, and into L2 by those of 135 problems of floats and doubles. */
static const double zen_values[CUTT_CPU_LEVELS * CUTT_CPU_COUNTS] = {
    /* clang-format off */
    0.1, 0.64, 0.46, 0, 3.2, 1.3, 0.38, 0.25, 0.34, 6.5, 0.24, 0.6, 26, 0.56, 0, 1.8, 0.86, 0.021, 0.049, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 28, 3000,
    0.081, 0.76, 0.59, 0, 4.2, 1.5, 0.41, 0.28, 0.27, 12, 0.25, 0.99, 27, 0.79, 0.045, 1.7, 0.81, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.65, 0, 0, 0, 0, 0, 0, 30, 3000,
    0.3, 9.9, 5.1, 35, 10, 1.8, 0.63, 0.63, 0.11, 6.3, 0.35, 0, 41, 0.52, 0.2, 2.5, 1.2, 0, 0, 4.4, 7.7, 1.7, 15, 6.6, 4.2, 2.3, 1, 0.071, 2.3, 3.1, 2.8, 1.2, 0, 3.5, 2.5, 0.43, 3.6, 2.4, 30, 3000,
    /* clang-format on */
};

/* An AMD EPYC (Zen 3, AVX2): in memory by the choices among 3,700 candidates of 270 random problems of 1 to 8 bytes, in the last-level
 * cache among 1,400 of 120, from what a calibration had found, as Zen 4's above; in L2 a fit chose no better than Zen 4's. */
static const double zen3_values[CUTT_CPU_LEVELS * CUTT_CPU_COUNTS] = {
    /* clang-format off */
    0.1, 0.64, 0.46, 0, 3.2, 1.1, 0.33, 0.33, 0.42, 11, 0.25, 0.96, 14, 0.56, 0, 2, 1.1, 0.043, 0.049, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 30, 3000,
    0.093, 1.7, 1.2, 0, 3.6, 1.1, 0.49, 0.49, 0.41, 270, 0.31, 2.1, 23, 0.013, 0.02, 1.4, 1.1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.98, 0, 0, 0, 0.44, 0, 0, 30, 3000,
    0, 24, 3.7, 11, 15, 3.4, 0.45, 0.45, 0.32, 13, 0.26, 0.034, 37, 0.54, 0.38, 1.3, 1, 0, 0.097, 8.4, 1.1, 5.4, 83, 6.9, 0, 13, 55, 810, 3.8, 4.3, 6.5, 1.8, 2.8, 31, 1, 0.6, 3.6, 2.4, 30, 3000,
    /* clang-format on */
};

/* An AMD EPYC (Zen 5): in memory from times of 19,000 candidates of 447 random problems, the ends of walks along rows from these measured
 * again since they prefetch, of a copy from its two walks; in the last-level cache of candidates with and without prefetch for 286 of 0.5 to
 * 4 MB. In L2 Zen 4's of before 2026-12-01: the choice among 15,000 candidates of 494 problems is at 0.949 of the fastest by these and 0.930 by the
 * values of the Xeon then, and a fit chose no better when it was held back; but windows that follow one another, at all levels, by pictures of 2
 * to 8 channels. Lines again from L2, and short rows and lines from beyond L2 in memory, by the choices among 15,000 candidates of 543 problems
 * there and 9,000 of 257 in the last-level cache, the other values as they were. */
static const double zen5_values[CUTT_CPU_LEVELS * CUTT_CPU_COUNTS] = {
    /* clang-format off */
    0.1, 0.64, 0.46, 0, 3.2, 1.1, 0.33, 0.33, 0.42, 11, 0.25, 0.96, 14, 0.56, 0, 2, 0.8, 0.043, 0.049, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 30, 3000,
    0.3, 0, 0.98, 0.3, 6.4, 0.22, 0.275, 0.275, 0.273, 16, 0.272, 0.51, 5.5, 0.6, 1, 1, 0.65, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1.3, 0, 0, 0, 0, 0, 0, 30, 3000,
    0.66, 9.6, 3.6, 18, 6.4, 1.06, 0.2, 0.2, 0.33, 6.8, 0.29, 0.032, 59, 0.9, 1.5, 1.22, 0.9, 0.084, 0, 2.7, 3, 0.41, 20, 0.56, 3.3, 0.56, 3.3, 5, 0.74, 0.087, 3.5, 0.19, 1, 5, 3.7, 0.67, 0.9, 0, 30, 3000,
    /* clang-format on */
};

const double *cutt_cpu_values_of(cutt_cpu_core core) {
  static const double *const values[CUTT_CPU_CORES] = {[CUTT_CPU_CORE_OTHER] = cutt_cpu_values,
                                                       [CUTT_CPU_CORE_ZEN] = zen_values,
                                                       [CUTT_CPU_CORE_ZEN3] = zen3_values,
                                                       [CUTT_CPU_CORE_ZEN5] = zen5_values};
  return values[core < CUTT_CPU_CORES ? core : CUTT_CPU_CORE_OTHER];
}
