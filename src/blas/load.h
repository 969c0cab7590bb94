/* Loading libraries at run time. */
#ifndef CUTT_BLAS_LOAD_H
#define CUTT_BLAS_LOAD_H

#include "blas/find.h"

/* file: a path, or a name that the loader searches. resident: only if the process has it already. NULL: see the refusal,
 * which is cleared otherwise. */
void *cutt_library_open(const char *file, bool resident, cutt_refusal *refusal);

/* Sets *function, which is a pointer to a function, to the symbol of this name; false, and NULL: there is none. */
bool cutt_library_find(void *handle, const char *name, void *function);

/* The path of the file that a function is in, with links resolved; `file` where the loader does not tell. */
void cutt_library_path(void *function, const char *file, char *path, size_t size);

/* Can so many bytes be mapped now? Some libraries end the process or try for ever where they can't. */
bool cutt_library_room(size_t bytes);

/* Words a refusal: what was not done ("libblas.so was not loaded"), how many bytes it may take, and what the limit is. */
void cutt_library_no_room(const char *what, size_t bytes, cutt_refusal *refusal);

/* Is there a limit to what the process may map? */
bool cutt_library_limited(void);

#endif
