/* Where a stream is kept whole: memory where there is enough of it, else a file without a name in $TMPDIR or /var/tmp.
 * Either is a descriptor that can be mapped, read and written at any place, and is gone when it is closed. */
#ifndef CUTT_CLI_SPOOL_H
#define CUTT_CLI_SPOOL_H

#include <stddef.h>

/* Room for `bytes` of what `name` says, in messages. memory is what --memory gives, or 0. -1 after a message. */
int cutt_spool_create(const char *name, size_t bytes, size_t memory);

#endif
