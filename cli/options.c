/* Options by a table; see options.h. getopt_long does the parsing; the messages and the help are this file's. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { MOST_OPTIONS = 64, FIRST_CODE = 256, HELP_WIDTH = 116 };

/* The short form of an option; 0: it has none. */
static int letter_of(const cutt_cli_syntax *syntax, const cutt_cli_option *option) {
  return syntax->letters && strchr(syntax->letters, option->name[0]) ? option->name[0] : 0;
}

/* ---------------------------------------------------------------------------------------------------------- parsing */

/* The table as getopt_long wants it. An option's code is its letter, or its place in the table. */
typedef struct forms {
  struct option list[MOST_OPTIONS + 2];
  char letters[2 * MOST_OPTIONS + 4];
  int count;
} forms;

static forms forms_of(const cutt_cli_syntax *syntax) {
  forms f = {.letters = ":h"};
  char *end = f.letters + strlen(f.letters);
  for (size_t i = 0; i < syntax->count && f.count < MOST_OPTIONS; ++i) {
    const cutt_cli_option *each = &syntax->options[i];
    if (!each->read) continue;
    const int letter = letter_of(syntax, each), has_argument = each->argument ? required_argument : no_argument;
    f.list[f.count++] = (struct option){each->name, has_argument, NULL, letter ? letter : FIRST_CODE + (int)i};
    if (!letter) continue;
    *end++ = (char)letter;
    if (each->argument) *end++ = ':';
  }
  f.list[f.count++] = (struct option){"help", no_argument, NULL, 'h'};
  return f;
}

static const cutt_cli_option *find_option(const cutt_cli_syntax *syntax, int code) {
  if (code >= FIRST_CODE) return &syntax->options[code - FIRST_CODE];
  for (size_t i = 0; i < syntax->count; ++i)
    if (syntax->options[i].read && letter_of(syntax, &syntax->options[i]) == code) return &syntax->options[i];
  return NULL;
}

/* Says that argument is no option here, with the nearest one. */
static void unknown_option(const char *command, const char *argument, const forms *f) {
  const char *words[MOST_OPTIONS + 1];
  char word[64], list[512] = "";
  for (int i = 0; i < f->count; ++i) {
    const size_t length = strlen(list);
    words[i] = f->list[i].name;
    snprintf(list + length, sizeof list - length, "%s--%s", i ? ", " : "", words[i]);
  }
  /* "--tread=2": the name alone. */
  snprintf(word, sizeof word, "%s", argument + strspn(argument, "-"));
  word[strcspn(word, "=")] = 0;
  const char *nearest = cutt_cli_nearest(word, words, (size_t)f->count);
  if (nearest)
    cutt_cli_misused(command, "unknown option '%s'; did you mean '--%s'?", argument, nearest);
  else
    cutt_cli_misused(command, "unknown option '%s'; the options are %s", argument, list);
}

/* Words what getopt_long has refused, by ':' for a value that is missing, or by '?'. */
static void refuse(const char *command, int refusal, char **argv, const forms *f) {
  /* After a long option getopt stands behind it, and optopt is its code, or 0 when it is unknown. After an unknown
   * letter optopt is that letter, and getopt may still stand before a cluster of them. */
  const char *argument = argv[optind - 1];
  bool known = false;
  for (int i = 0; i < f->count; ++i) known = known || f->list[i].val == optopt;
  if (refusal == ':') {
    cutt_cli_misused(command, "option '%s' needs a value", argument);
  } else if (optopt == 0) {
    unknown_option(command, argument, f);
  } else if (known) {
    cutt_cli_misused(command, "option '%.*s' takes no value", (int)strcspn(argument, "="), argument);
  } else {
    const char letter[3] = {'-', (char)optopt, 0};
    unknown_option(command, letter, f);
  }
}

/* ------------------------------------------------------------------------------------------------------------- help */

/* How an option or an operand is written: "  -o, --out C.npy". */
static const char *form_of(const cutt_cli_syntax *syntax, const cutt_cli_option *option, char *buffer, size_t size) {
  const char *argument = option->argument ? option->argument : "";
  const int letter = option->name ? letter_of(syntax, option) : 0;
  char shorter[8] = "";
  if (letter) snprintf(shorter, sizeof shorter, "-%c, ", letter);
  if (option->name)
    snprintf(buffer, size, "  %s--%s%s%s", shorter, option->name, *argument ? " " : "", argument);
  else
    snprintf(buffer, size, "  %s", argument);
  return buffer;
}

/* Writes text from a column on, where the line stands, in lines of HELP_WIDTH. */
static void write_wrapped(FILE *stream, const char *text, size_t column) {
  size_t at = column;
  for (const char *word = text; *word;) {
    const size_t length = strcspn(word, " ");
    if (at > column && at + 1 + length > HELP_WIDTH) {
      fprintf(stream, "\n%*s", (int)column, "");
      at = column;
    }
    fprintf(stream, "%s%.*s", at > column ? " " : "", (int)length, word);
    at += length + (at > column);
    word += length + (word[length] == ' ');
  }
  fputc('\n', stream);
}

static void write_help(FILE *stream, const cutt_cli_syntax *syntax) {
  static const char help[] = "  -h, --help";
  char form[64];
  size_t column = strlen(help);
  for (size_t i = 0; i < syntax->count; ++i) {
    const size_t length = strlen(form_of(syntax, &syntax->options[i], form, sizeof form));
    if (length > column) column = length;
  }
  column += 2;
  fprintf(stream, "%s\n", syntax->usage);
  for (size_t i = 0; i < syntax->count; ++i) {
    const cutt_cli_option *each = &syntax->options[i];
    if (each->name || each->argument) {
      fprintf(stream, "%-*s", (int)column, form_of(syntax, each, form, sizeof form));
      write_wrapped(stream, each->help, column);
    } else {
      fputc('\n', stream);
      if (*each->help) write_wrapped(stream, each->help, 0);
      if (*each->help) fputc('\n', stream);
    }
  }
  fprintf(stream, "%-*sthis help\n", (int)column, help);
  if (syntax->remarks) fprintf(stream, "\n%s", syntax->remarks);
}

static int print_help(const cutt_cli_syntax *syntax) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  if (stream) write_help(stream, syntax);
  const bool written = stream && fclose(stream) == 0;
  const int code = written ? cutt_cli_print(text) : cutt_cli_failed("out of memory for the help");
  free(text);
  return code;
}

/* -------------------------------------------------------------------------------------------------------------- all */

bool cutt_cli_read_options(const cutt_cli_syntax *syntax, int argc, char **argv, void *request, int *code) {
  const forms f = forms_of(syntax);
  opterr = 0;
  for (int found; (found = getopt_long(argc, argv, f.letters, f.list, NULL)) != -1;) {
    if (found == 'h') {
      *code = print_help(syntax);
      return false;
    }
    *code = CUTT_CLI_USAGE;
    if (found == '?' || found == ':') {
      refuse(syntax->command, found, argv, &f);
      return false;
    }
    const cutt_cli_option *option = find_option(syntax, found);
    if (!option->read(syntax->command, option, optarg, (char *)request + option->field)) return false;
  }
  *code = CUTT_CLI_DONE;
  return true;
}
