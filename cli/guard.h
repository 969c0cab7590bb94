/* What is left behind when a signal ends the program, or a file fails that is mapped into memory: a message, and no
 * temporary file. The program has one output at a time, and so has this. */
#ifndef CUTT_CLI_GUARD_H
#define CUTT_CLI_GUARD_H

#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* From here on signals that end the program remove the temporary first. */
void cutt_guard_start(void);

/* The name of the temporary, "" for none, in memory of PATH_MAX bytes. It is there before the file is, and changes only
 * with signals blocked, or where it does not matter which a signal finds. */
char *cutt_guard_temporary(void);

/* Likewise the name of the ranks' table (ranks.h). */
char *cutt_guard_table(void);

/* Removes a file, or a folder with all that is in it; a signal handler may call it. */
void cutt_guard_remove(const char *path);

/* Does not return once a signal has come that ends the program: for threads that make files in a folder, which would
 * stay behind. */
void cutt_guard_pause_if_ending(void);

/* Blocks all signals; *before is what to set again. */
void cutt_guard_block_signals(sigset_t *before);

/* While a mapped input is read: a file that becomes shorter, or a disk that fails, ends the program through SIGBUS with
 * a message about the file `path`. As many inputs at once as there are operands of a contraction; release takes the one
 * at `data` back. */
enum { CUTT_GUARD_INPUTS = 3 };
void cutt_guard_input(const char *path, const uint8_t *data, size_t bytes);
void cutt_guard_release_input(const uint8_t *data);

/* The same for the mapping of the output; data NULL: there is none any more. */
void cutt_guard_output(const uint8_t *data, size_t bytes);

#endif
