/* bench/data/talsh48.csv and tccg48.csv, compiled in. */
#ifndef CUTT_CLI_BENCH_CONTRACT_LISTS_H
#define CUTT_CLI_BENCH_CONTRACT_LISTS_H

/* Their lines, the headings first, ended by a null pointer. */
extern const char *const cutt_bench_talsh48[];
extern const char *const cutt_bench_tccg48[];

#endif
