/* What is left behind when a signal ends the program; see guard.h.
 *
 * A disk error under a mapping comes as SIGBUS. Its handler cannot jump back, for the thread that it strikes may be
 * one of many; it says what happened, removes the temporary and ends the program, all of it async-signal-safe. */
#include "guard.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* What the signal handlers need. Written with these signals blocked, or before they can come. */
static struct {
  char temporary[PATH_MAX]; /* "": none */
  struct {
    char message[PATH_MAX + 128];        /* what to say when this input fails */
    const volatile uint8_t *begin, *end; /* its mapping; end NULL: there is none */
  } input[CUTT_GUARD_INPUTS];
  const volatile uint8_t *output, *output_end; /* the output's */
} guarded;

static void on_ending_signal(int number) {
  if (guarded.temporary[0]) unlink(guarded.temporary);
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
  if (guarded.temporary[0]) unlink(guarded.temporary);
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
