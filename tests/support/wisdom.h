/* What the programs about wisdom share: a few problems to learn, a folder for files, and files with changes made to
 * them. */
#ifndef CUTT_TESTS_WISDOM_H
#define CUTT_TESTS_WISDOM_H

#include "support/check.h"

enum {
  WISDOM_PROBLEMS = 4, /* they differ in everything that a key may hold */
  WISDOM_CHECKSUM = 17 /* bytes before an entry's text: 16 digits and a space */
};

/* A folder of the program's own, and two files in it; set by wisdom_open_folder, a group's set-up. The tear-down fails if
 * anything else is left in it. */
extern char wisdom_folder[64], wisdom_path[128], wisdom_other_path[128];
int wisdom_open_folder(void **unused);
int wisdom_close_folder(void **unused);
int wisdom_empty_folder(void **unused); /* a test's set-up: the two files are not there */

cuttWisdom_t wisdom_fresh(void);   /* empty */
cuttWisdom_t wisdom_learned(void); /* with all problems */
cuttPlan_t wisdom_plan(cuttWisdom_t wisdom, int number, cuttChoice_t choice);
void wisdom_learn(cuttWisdom_t wisdom, int number);
/* Does wisdom know the problem? Executes a plan made with it, which must be right either way. */
bool wisdom_knows(cuttWisdom_t wisdom, int number);
/* Loads, and holds the counts to these. */
void wisdom_assert_load(cuttWisdom_t wisdom, const char *name, size_t used, size_t ignored);

/* A file's bytes, followed by a 0; to be freed. */
char *wisdom_read_file(const char *name, size_t *size);
void wisdom_write_file(const char *name, const void *text, size_t size);
/* The bytes of wisdom_path after all problems were saved to it; to be freed. */
char *wisdom_saved(size_t *size);

/* Is the line that begins here an entry? Others are the header, comments or blank. */
bool wisdom_is_entry(const char *line);
/* A copy of a file's text in which fix was called for every entry's text (behind the checksum), with the checksums made
 * right again; to be freed. */
char *wisdom_edited(const char *text, void (*fix)(char *entry, size_t room, void *context), void *context);
/* For fix: puts a text in the place of length bytes at `at`. */
void wisdom_put(char *entry, size_t room, char *at, size_t length, const char *text);

#endif
