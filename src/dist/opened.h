/* Memory of devices that is another process's, opened in this one. What has been opened is kept, since opening takes long. */
#ifndef CUTT_DIST_OPENED_H
#define CUTT_DIST_OPENED_H

#include "runtime/runtime.h"

typedef struct cutt_opened cutt_opened;

/* For so many ranks, in the current context. Errors: CUTT_INTERNAL_ERROR. */
cuttResult cutt_opened_make(const cutt_runtime *runtime, int size, cutt_opened **opened);
/* Closes all; NULL is allowed. */
void cutt_opened_free(cutt_opened *opened);

/* A few bytes of this process's, for others to try whether they can open them. */
const void *cutt_opened_sample(const cutt_opened *opened);

/* Where a peer's memory is here: *at. Opens it at the first time, and then closes what has been used least if there is no room;
 * allocates nothing. Errors: the runtime's. */
cuttResult cutt_opened_find(cutt_opened *opened, int peer, const cutt_shared_memory *shared, unsigned char **at);

#endif
