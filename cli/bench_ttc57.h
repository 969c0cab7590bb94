/* bench/data/ttc57.csv, compiled in. */
#ifndef CUTT_CLI_BENCH_TTC57_H
#define CUTT_CLI_BENCH_TTC57_H

/* Its lines, the heading first, ended by a null pointer. */
extern const char *const cutt_bench_ttc57[];

#endif
