/* Folders of outputs that a run could not remove, since it was killed. */
#ifndef CUTT_CLI_LEFTOVER_H
#define CUTT_CLI_LEFTOVER_H

/* The output NAME is ".NAME.xxxxxx" until it is complete: so many bytes of its name, and so many letters and digits. */
enum { CUTT_LEFTOVER_NAME = 200, CUTT_LEFTOVER_LETTERS = 6 };

/* Says in a folder which process makes it. Where that can't be said the folder stays if the process is killed, which is no error. */
void cutt_leftover_mark(int folder);
void cutt_leftover_unmark(int folder);

/* Removes the folders beside `path` that processes were making of it which are gone for certain: of this boot of the machine and this
 * namespace of processes, and no longer there. */
void cutt_leftover_remove(const char *path);

#endif
