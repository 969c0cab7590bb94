/* What the emulator's own files share. */
#ifndef CUTT_TESTS_SIMT_STATE_H
#define CUTT_TESTS_SIMT_STATE_H

#include "runtime/cuda/kernels/device.h"
#include "simt/launch.h"

typedef enum simt_access { SIMT_GLOBAL_LOAD, SIMT_GLOBAL_STORE, SIMT_SHARED_LOAD, SIMT_SHARED_STORE } simt_access;

enum { SIMT_MOST_SITES = 4096 }; /* of a file of kernels */

/* counts.c. A lane's accesses are added one by one, those of its warp are put together and counted by flush. place: an
 * address, or the byte of shared memory. False: memory has run out. */
bool simt_counts_begin(const simt_launch *launch, simt_counts *counts);
void simt_counts_interval(void); /* another block, or the other side of a barrier */
void simt_counts_lane(uint32_t lane);
void simt_counts_turn(uint32_t number);
bool simt_counts_add(unsigned site, simt_access access, uint32_t bytes, uint64_t place);
void simt_counts_flush(void); /* another warp, or the warp has met */
void simt_counts_cleanup(void);

/* shadow.c: what is known of each byte of shared memory and of the output.
 * Reserves room and forgets all of an earlier launch; false: memory has run out. */
bool simt_shadow_begin(const simt_launch *launch);
void simt_shadow_block(void);    /* another block begins */
void simt_shadow_interval(void); /* all threads have met at a barrier */
/* Each of these notes an access of the current thread and returns NULL, or what is wrong with it. */
void simt_shadow_free(uint32_t from, uint32_t end); /* shared_may_be_blank of the block */
const char *simt_shadow_load(uint32_t at, uint32_t bytes);
const char *simt_shadow_store(uint32_t at, uint32_t bytes);
const char *simt_shadow_copy_starts(uint32_t at, uint32_t bytes);
void simt_shadow_copy_lands(uint32_t at, uint32_t bytes);
const char *simt_shadow_write(const unsigned char *p, uint32_t bytes); /* of the output */
void simt_shadow_forget(void);                                         /* after a launch that was cut short */
void simt_shadow_cleanup(void);

#endif
