/* The lists of cases in bench/data, compiled in so that the program needs no files beside it. */
#ifndef CUTT_CLI_BENCH_LISTS_H
#define CUTT_CLI_BENCH_LISTS_H

/* The lines of ttc57.csv (set 3 of the paper, the 57 tensors of the TTC compiler), everyday.csv, layouts.csv,
 * talsh48.csv and tccg48.csv (the contractions of TAL-SH and of the TCCG benchmark): the headings first, ended by a null pointer. */
extern const char *const cutt_bench_ttc57[];
extern const char *const cutt_bench_everyday_list[];
extern const char *const cutt_bench_layouts_list[];
extern const char *const cutt_bench_talsh48[];
extern const char *const cutt_bench_tccg48[];

#endif
