/* Libraries that are loaded at run time, whatever they are of. */
#ifndef CUTT_BLAS_LOAD_H
#define CUTT_BLAS_LOAD_H

#include "blas/find.h"

/* file is a path or a name for the loader's search. resident: only if it is in the process already. NULL: see the refusal,
 * which is set to nothing otherwise. */
void *cutt_library_open(const char *file, bool resident, cutt_refusal *refusal);

/* Sets *function, a pointer to a function, to the symbol of this name, or to NULL: false. */
bool cutt_library_find(void *handle, const char *name, void *function);

/* The file that a function is in, without links on the way; by the name that it was opened by where the loader does not tell. */
void cutt_library_path(void *function, const char *file, char *path, size_t size);

/* Can so many bytes be mapped now? There are libraries that, where they can't, end the process or try for ever. */
bool cutt_library_room(size_t bytes);

/* Words that something ("libblas.so was not loaded") was not done for want of so many bytes, and what the limit is. */
void cutt_library_no_room(const char *what, size_t bytes, cutt_refusal *refusal);

/* Is there a limit to what this process may map? */
bool cutt_library_limited(void);

#endif
