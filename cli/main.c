/* The program `cutt`: finds the subcommand and hands over. What a subcommand does is in the file of its name; this file
 * knows only the table of them. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

typedef struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
} command;

static const command commands[] = {
    {"transpose", cutt_cli_transpose, "permute the axes of the array in an .npy file"},
    {"contract", cutt_cli_contract, "contract the arrays in two .npy files, as np.einsum does"},
    {"plan", cutt_cli_plan, "show how a permutation or a contraction would be done, and its predicted cost"},
    {"bench", cutt_cli_bench, "measure sets of permutations, or of contractions, beside copies and matrix products"},
    {"calibrate", cutt_cli_calibrate, "measure this machine, so that plans fit it better"},
    {"devices", cutt_cli_devices, "list the backends and instruction sets that are usable here, and why one is not"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int print_help(void) {
  char text[2048];
  int length =
      snprintf(text, sizeof text,
               "Usage: cutt COMMAND [OPTION]... [ARGUMENT]...\n"
               "Permute dense tensors at close to the speed of a plain copy, and contract them at close to that\n"
               "of matrix products.\n\nCommands:\n");
  for (int i = 0; i < COMMANDS && length < (int)sizeof text; ++i)
    length +=
        snprintf(text + length, sizeof text - (size_t)length, "  %-10s  %s\n", commands[i].name, commands[i].summary);
  if (length < (int)sizeof text)
    snprintf(text + length, sizeof text - (size_t)length,
             "\nOptions:\n"
             "  -h, --help  this help; 'cutt COMMAND --help' explains a command\n"
             "  --version   the version of the program and of the library\n"
             "\nExamples:\n"
             "  cutt transpose image-hwc.npy image-chw.npy --axes 2,0,1\n"
             "  cutt contract 'abc,cd->abd' left.npy right.npy -o result.npy\n"
             "  cutt plan --shape 5,3,2,4 --axes 3,2,1,0 --dtype f8\n"
             "\nExit codes: 0 done, 1 failed, 2 wrong usage.\n");
  return cutt_cli_print(text);
}

static int print_version(void) {
  char text[128];
  int version = cuttVersion();
  snprintf(text, sizeof text, "cutt %d.%d.%d (library %d.%d.%d)\n", CUTT_VERSION_MAJOR, CUTT_VERSION_MINOR,
           CUTT_VERSION_PATCH, version / 10000, version / 100 % 100, version % 100);
  return cutt_cli_print(text);
}

static const command *find_command(const char *name) {
  for (int i = 0; i < COMMANDS; ++i)
    if (!strcmp(commands[i].name, name)) return &commands[i];
  return NULL;
}

/* Says what there is instead of `word`, which is neither a command nor an option. */
static int unknown_word(const char *word) {
  const char *words[COMMANDS + 3];
  char list[128] = "";
  for (int i = 0; i < COMMANDS; ++i) {
    words[i] = commands[i].name;
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", commands[i].name);
  }
  words[COMMANDS] = "--help";
  words[COMMANDS + 1] = "--version";
  words[COMMANDS + 2] = "help";
  const char *nearest = cutt_cli_nearest(word, words, COMMANDS + 3);
  const char *kind = word[0] == '-' ? "option" : "command";
  if (nearest)
    return cutt_cli_misused(NULL, "unknown %s '%s'; did you mean '%s'? The commands are %s", kind, word, nearest, list);
  return cutt_cli_misused(NULL, "unknown %s '%s'; the commands are %s", kind, word, list);
}

int main(int argc, char **argv) {
  /* A write past a file-size limit, or to a pipe that nobody reads, is then an error code with a message, rather than
   * a death that leaves temporary files behind. */
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);

  if (argc < 2)
    return cutt_cli_misused(NULL,
                            "no command given; there are transpose, contract, plan, bench, calibrate and devices");
  const char *word = argv[1];
  if (!strcmp(word, "--help") || !strcmp(word, "-h")) return print_help();
  if (!strcmp(word, "--version")) return print_version();
  if (!strcmp(word, "help")) {
    if (argc == 2) return print_help();
    const command *topic = find_command(argv[2]);
    if (!topic) return unknown_word(argv[2]);
    char help[] = "--help";
    char *arguments[] = {argv[2], help, NULL};
    return topic->run(2, arguments);
  }
  const command *found = find_command(word);
  return found ? found->run(argc - 1, argv + 1) : unknown_word(word);
}
