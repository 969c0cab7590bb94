/* How much memory this process may take. */
#ifndef CUTT_CLI_PIECES_MEMORY_H
#define CUTT_CLI_PIECES_MEMORY_H

#include <stddef.h>

/* Bytes that programs can still take here without swapping, by what the system says, the limits of control groups and
 * of address space included. */
size_t cutt_memory_free(void);

/* The bytes for buffers: of what --memory says, or, where that is 0, of half of what is free. Something is left for the
 * program itself. */
size_t cutt_memory_for_buffers(size_t asked);

#endif
