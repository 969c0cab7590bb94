/* Cases in a child process (child.h). */
#include "host/child.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

void test_in_child(bool (*body)(void *context), void *context, int seconds, const char *name) {
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm((unsigned)seconds); /* ends a child that hangs, whatever it waits for */
    const bool good = body(context);
    fflush(NULL);
    _exit(good ? 0 : 1);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) fail_msg("%s: hung for %d s", name, seconds);
  if (WIFSIGNALED(status)) fail_msg("%s: %s", name, strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status)) fail_msg("%s: exit status %d", name, WEXITSTATUS(status));
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
