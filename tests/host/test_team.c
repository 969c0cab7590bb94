/* Teams of threads: every member's work is done exactly once, also where the workers do not run. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "runtime/host/team.h"
#include "support/check.h"

enum { MEMBERS = 4 };

int __real_sem_wait(sem_t *semaphore);
int __real_sem_trywait(sem_t *semaphore);
int __wrap_sem_wait(sem_t *semaphore);
int __wrap_sem_trywait(sem_t *semaphore);

static pthread_t caller;
static atomic_bool held; /* the workers, as if they were given no processor */

static bool is_held(void) { return atomic_load(&held) && !pthread_equal(pthread_self(), caller); }

int __wrap_sem_trywait(sem_t *semaphore) {
  if (!is_held()) return __real_sem_trywait(semaphore);
  errno = EAGAIN;
  return -1;
}

/* Workers poll here, so that none sleeps in the semaphore itself, where a post would hand it the token. */
int __wrap_sem_wait(sem_t *semaphore) {
  if (pthread_equal(pthread_self(), caller)) return __real_sem_wait(semaphore);
  while (__wrap_sem_trywait(semaphore)) nanosleep(&(struct timespec){0, 50000}, NULL);
  return 0;
}

typedef struct count {
  atomic_int done[MEMBERS], by_caller, team;
} count;

static void work(void *what, int me, int team) {
  count *c = what;
  atomic_fetch_add(&c->done[me], 1);
  atomic_store(&c->team, team);
  if (pthread_equal(pthread_self(), caller)) atomic_fetch_add(&c->by_caller, 1);
}

static void run(count *c) {
  memset(c, 0, sizeof *c);
  cutt_team_run(MEMBERS, work, c);
  for (int i = 0; i < MEMBERS; ++i) assert_int_equal(atomic_load(&c->done[i]), i < atomic_load(&c->team));
}

static void each_member_once(void **state) {
  (void)state;
  count c;
  for (int i = 0; i < 3000; ++i) run(&c);
}

static void workers_that_do_not_run(void **state) {
  (void)state;
  count c;
  for (int i = 0; i < 20; ++i) {
    run(&c); /* makes them, the first time */
    atomic_store(&held, true);
    nanosleep(&(struct timespec){0, 5000000}, NULL); /* whoever has looked before that is through */
    run(&c);
    atomic_store(&held, false);
    assert_int_equal(atomic_load(&c.by_caller), atomic_load(&c.team));
  }
}

int main(void) {
  caller = pthread_self();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_member_once),
      cmocka_unit_test(workers_that_do_not_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
