/* The options of the subcommands, as data: a table says how each is written, what it does, and where its value goes.
 * Parsing, errors and --help follow from the table. */
#ifndef CUTT_CLI_OPTIONS_H
#define CUTT_CLI_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cutt.h"

typedef struct cutt_cli_option cutt_cli_option;

/* Reads the value of an option (NULL: it takes none) into its field. On false it has said which option, which value,
 * and what is allowed. */
typedef bool cutt_cli_reader(const char *command, const cutt_cli_option *option, const char *text, void *field);

/* A row without a reader is only there for the help: with a name, more words on an option that has a row above; with an
 * argument alone, an operand; with neither, a paragraph, or an empty line where `help` is "". */
struct cutt_cli_option {
  const char *name;      /* "threads" */
  const char *argument;  /* what the help calls its value: "N"; NULL: it takes none */
  const char *help;      /* one line, which is broken where it has to be */
  cutt_cli_reader *read; /* also says of what type the field is */
  size_t field;          /* where that is in what the subcommand asks for */
};

typedef struct cutt_cli_syntax {
  const char *command;            /* "bench contract" */
  const char *usage;              /* the help's beginning, lines and all */
  const cutt_cli_option *options; /* --help, -h is not among them: all have it */
  size_t count;
  const char *letters; /* the options that have a short form, by their first letters: "o" for --out; NULL: none */
  const char *remarks; /* the help's end; NULL: there is none */
} cutt_cli_syntax;

/* Reads all options into *request; argv is reordered so that operands come last, from optind. False: the subcommand is
 * done with *code, since the help was asked for and printed, or something is wrong and a message has been given. */
bool cutt_cli_read_options(const cutt_cli_syntax *syntax, int argc, char **argv, void *request, int *code);

/* ---------------------------------------------------------------------------------------------------------- readers */

cutt_cli_reader cutt_cli_read_flag;         /* bool: it was given */
cutt_cli_reader cutt_cli_read_text;         /* const char * */
cutt_cli_reader cutt_cli_read_threads;      /* int: from 1 to as many as the library takes */
cutt_cli_reader cutt_cli_read_case_seconds; /* double: of a case of a benchmark */
cutt_cli_reader cutt_cli_read_seed;         /* int64_t or uint64_t */
cutt_cli_reader cutt_cli_read_bytes;        /* size_t: "400M" */
cutt_cli_reader cutt_cli_read_memory;       /* size_t: likewise, and at least 1k */
cutt_cli_reader cutt_cli_read_backend;      /* cuttBackend_t: auto, cpu or cuda */
cutt_cli_reader cutt_cli_read_measure;      /* cuttChoice_t: it was given, CUTT_MEASURE */

/* ----------------------------------------------------------------------------------------------------------- values */

/* What readers are made of. Each reads the value of the option `name`; on false it has said what is wrong. */

/* A whole decimal number, low <= *value <= high. */
bool cutt_cli_parse_int(const char *command, const char *name, const char *text, int64_t low, int64_t high,
                        int64_t *value);
/* A number of things or bytes, which may end in k, M, G, T (1000s) or Ki, Mi, Gi, Ti (1024s): "400M", "1.5Gi". */
bool cutt_cli_parse_size(const char *command, const char *name, const char *text, int64_t low, int64_t high,
                         int64_t *value);
/* A floating-point number. */
bool cutt_cli_parse_double(const char *command, const char *name, const char *text, double low, double high,
                           double *value);
/* Whole numbers between commas: "2,0,1" or "2, 0, 1", at most max of them; the empty text is none. */
bool cutt_cli_parse_list(const char *command, const char *name, const char *text, int64_t low, int64_t high,
                         int64_t *list, int max, int *count);

/* The value of --axes as NumPy has it (negative ones count from the end), into 0 .. rank-1, each exactly once; text
 * NULL: reversed. */
bool cutt_cli_parse_axes(const char *command, const char *text, int rank, int *axes);

/* Axes that were given in some form, likewise; count must be rank. */
bool cutt_cli_check_axes(const char *command, const int64_t *list, int count, int rank, int *axes);

#endif
