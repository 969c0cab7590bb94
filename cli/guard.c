/* What is left behind when a signal ends the program; see guard.h.
 *
 * A disk error under a mapping comes as SIGBUS. Its handler cannot jump back, for the thread that it strikes may be
 * one of many; it says what happened, removes the temporary and ends the program, all of it async-signal-safe. */
#include "guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli.h"

/* What the signal handlers need. Written with these signals blocked, or before they can come. */
static struct {
  char temporary[PATH_MAX]; /* "": none */
  char table[PATH_MAX];     /* likewise */
  struct {
    char message[PATH_MAX + 128];        /* what to say when this input fails */
    const volatile uint8_t *begin, *end; /* its mapping; end NULL: there is none */
  } input[CUTT_GUARD_INPUTS];
  const volatile uint8_t *output, *output_end; /* the output's */
} guarded;

static atomic_bool ending;

/* As readdir has it, without its allocation. Folders that are in each other: as many as an array has axes, and some. */
static void remove_at(int folder, const char *name, int depth) {
  enum { DEEPEST = 80 };
  char entries[1024] __attribute__((aligned(8)));
  if (unlinkat(folder, name, 0) == 0 || errno != EISDIR || depth == DEEPEST) return;
  const int own = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (own < 0) return;
  for (long bytes; (bytes = syscall(SYS_getdents64, own, entries, sizeof entries)) > 0;)
    for (long at = 0; at < bytes;) {
      const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);
      if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) remove_at(own, entry->d_name, depth + 1);
      at += entry->d_reclen;
    }
  close(own);
  unlinkat(folder, name, AT_REMOVEDIR);
}

/* A folder may change while it is being read, or get one more file by another thread: then again. */
void cutt_guard_remove(const char *path) {
  for (int i = 0; i < 100 && access(path, F_OK) == 0; ++i) remove_at(AT_FDCWD, path, 0);
}

void cutt_guard_pause_if_ending(void) {
  while (atomic_load(&ending)) pause();
}

static void remove_all(void) {
  atomic_store(&ending, true);
  if (guarded.temporary[0]) cutt_guard_remove(guarded.temporary);
  if (guarded.table[0]) unlink(guarded.table);
}

static void on_ending_signal(int number) {
  remove_all();
  signal(number, SIG_DFL); /* the caller of this program should see that it was ended by this signal */
  raise(number);
}

static void on_bus_error(int number, siginfo_t *info, void *context) {
  (void)context;
  /* Several threads may be struck at once; one of them speaks, and ends the program under the others. */
  static atomic_flag struck = ATOMIC_FLAG_INIT;
  while (atomic_flag_test_and_set(&struck)) pause();
  static const char output_message[] = "cutt: the output could not be written: the disk is full or failed\n";
  const volatile uint8_t *address = info->si_addr;
  const char *text = NULL;
  for (int i = 0; i < CUTT_GUARD_INPUTS; ++i)
    if (guarded.input[i].end && address >= guarded.input[i].begin && address < guarded.input[i].end)
      text = guarded.input[i].message;
  if (address >= guarded.output && address < guarded.output_end) text = output_message;
  remove_all();
  if (text) {
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* there is nobody left to tell */
    _exit(CUTT_CLI_FAILED);
  }
  signal(number, SIG_DFL); /* a fault of the program itself: let it show as one */
  atomic_flag_clear(&struck);
}

/* By default, and so that it can be noticed. */
static bool ends_the_program(int number) {
  static const int others[] = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGURG, SIGWINCH, SIGBUS};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i)
    if (others[i] == number) return false;
  return true;
}

void cutt_guard_start(void) {
  static bool installed = false;
  if (installed) return;
  installed = true;
  struct sigaction action = {0}, old;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = on_bus_error;
  sigaction(SIGBUS, &action, NULL);
  action.sa_flags = 0;
  action.sa_handler = on_ending_signal;
  sigfillset(&action.sa_mask);
  for (int number = 1; number <= SIGRTMAX; ++number) {
    /* What was ignored at the start (nohup) stays ignored, and what a sanitizer handles stays its own. */
    if (ends_the_program(number) && sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
      sigaction(number, &action, NULL);
  }
}

void cutt_guard_block_signals(sigset_t *before) {
  sigset_t blocked;
  sigfillset(&blocked);
  sigprocmask(SIG_BLOCK, &blocked, before);
}

void cutt_guard_input(const char *path, const uint8_t *data, size_t bytes) {
  int slot = 0;
  while (slot < CUTT_GUARD_INPUTS - 1 && guarded.input[slot].end) ++slot;
  snprintf(guarded.input[slot].message, sizeof guarded.input[slot].message,
           "cutt: %s: could not be read: it became shorter meanwhile, or the disk failed\n", path);
  guarded.input[slot].end = NULL;
  guarded.input[slot].begin = data;
  guarded.input[slot].end = data + bytes;
  cutt_guard_start();
}

void cutt_guard_release_input(const uint8_t *data) {
  for (int i = 0; i < CUTT_GUARD_INPUTS; ++i)
    if (guarded.input[i].begin == data) guarded.input[i].end = NULL;
}

void cutt_guard_output(const uint8_t *data, size_t bytes) {
  guarded.output = data;
  guarded.output_end = data ? data + bytes : NULL;
}

char *cutt_guard_temporary(void) { return guarded.temporary; }

char *cutt_guard_table(void) { return guarded.table; }
