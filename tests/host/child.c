/* Cases in a child process (child.h). */
#include "host/child.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

bool test_child_passes(bool (*body)(void *context), void *context, int seconds, char *how, size_t size) {
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    /* cmocka's handlers would go on with the next test, here too. */
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
    alarm((unsigned)seconds); /* ends a child that hangs, whatever it waits for */
    const bool good = body(context);
    fflush(NULL);
    _exit(good ? 0 : 1);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    snprintf(how, size, "hung for %d s", seconds);
  else if (WIFSIGNALED(status))
    snprintf(how, size, "signal %d, %s", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else
    snprintf(how, size, "exit status %d", WEXITSTATUS(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void test_in_child(bool (*body)(void *context), void *context, int seconds, const char *name) {
  char how[128];
  if (!test_child_passes(body, context, seconds, how, sizeof how)) fail_msg("%s: %s", name, how);
}

bool test_sanitized(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return true;
#else
  return false;
#endif
#else
  return false;
#endif
}
