/* Teams of threads (team.h).
 *
 * Each worker sleeps on its own semaphore. A caller takes idle workers by one atomic exchange each, gives them the work
 * and waits until each is done, so that several callers can have teams at the same time and never wait for each other.
 * Before it sleeps, a worker polls for new work for some microseconds, since executions often follow each other; not
 * longer, since the program's other threads may need the core. A caller that has done its own share does those that no
 * worker has begun, so that on a busy machine it waits for nobody who is not running. */
#include "runtime/host/team.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "runtime/host/scratch.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum {
  WORKERS = 1024, /* at most */
  /* About what waking a thread takes: to poll for longer than that in vain would be worse than sleeping. */
  SPIN_NS = 20 * 1000,
  /* How many teams do without a new thread after one could not be made. */
  PATIENCE = 1000
};

typedef struct worker {
  sem_t start, done;
  atomic_bool taken;
  /* Written by the thread that has taken the worker, before it posts start. */
  cutt_team_work *work;
  void *what;
  int me, team;
  struct worker *next; /* in the same team */
} worker;

static struct {
  _Atomic(worker *) worker[WORKERS];
  atomic_int count;       /* of the workers, which are the first entries */
  pthread_mutex_t making; /* held by the thread that makes a worker; others only try it */
  atomic_int patience;    /* > 0: a thread could not be made, and so many teams do without a new one */
  atomic_bool alone;      /* this is the child of a fork, which has none of its parent's threads */
} pool = {.making = PTHREAD_MUTEX_INITIALIZER};

/* ------------------------------------------------------------------------------------------------------- what OpenMP says */

/* Weak, so that they are NULL if the program is linked with no OpenMP. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
extern int omp_get_max_threads(void) __attribute__((weak));
extern int omp_in_parallel(void) __attribute__((weak));
extern int omp_get_num_places(void) __attribute__((weak));
extern int omp_get_place_num_procs(int place) __attribute__((weak));
extern void omp_get_place_proc_ids(int place, int *ids) __attribute__((weak));
#pragma GCC diagnostic pop

/* Adds the processors of OpenMP's places. They are asked for since a thread that OpenMP has bound may use one processor
 * only, and the threads that it makes inherit that. */
static bool add_places(cpu_set_t *set) {
  if (!omp_get_num_places || !omp_get_place_num_procs || !omp_get_place_proc_ids) return false;
  const int places = omp_get_num_places();
  bool any = false;
  for (int place = 0; place < places; ++place) {
    enum { MOST = 256 };
    int id[MOST];
    const int count = omp_get_place_num_procs(place);
    if (count < 1 || count > MOST) continue;
    omp_get_place_proc_ids(place, id);
    for (int i = 0; i < count; ++i) {
      if (id[i] < 0 || id[i] >= CPU_SETSIZE) continue;
      CPU_SET((size_t)id[i], set);
      any = true;
    }
  }
  return any;
}

/* The processors for workers: OpenMP's places, else those of the calling thread and of the process's first thread.
 * false: they do not fit into the set, and a worker inherits those of the thread that makes it. */
static bool find_processors(cpu_set_t *set) {
  CPU_ZERO(set);
  if (add_places(set)) return true;
  cpu_set_t first;
  if (sched_getaffinity(0, sizeof *set, set)) return false;
  if (!sched_getaffinity(getpid(), sizeof first, &first)) CPU_OR(set, set, &first);
  return true;
}

static pthread_once_t default_once = PTHREAD_ONCE_INIT;
static int default_threads; /* without OpenMP; written by find_default only */

static void find_default(void) {
  cpu_set_t set;
  const char *text = getenv("OMP_NUM_THREADS");
  char *end = NULL;
  const long asked = text ? strtol(text, &end, 10) : 0;
  if (text && end != text && asked >= 1 && asked <= WORKERS) {
    default_threads = (int)asked;
    return;
  }
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  default_threads = sched_getaffinity(0, sizeof set, &set) ? (online > 0 ? (int)online : 1) : CPU_COUNT(&set);
  if (default_threads > WORKERS) default_threads = WORKERS;
}

int cutt_team_default(void) {
  if (omp_get_max_threads) {
    const int threads = omp_get_max_threads();
    return larger(1, smaller(threads, WORKERS));
  }
  pthread_once(&default_once, find_default);
  return default_threads;
}

/* ----------------------------------------------------------------------------------------------------------------- waiting */

static void relax(void) {
#if defined(__SSE2__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void wait_for(sem_t *semaphore) {
  const int64_t until = now_ns() + SPIN_NS;
  do {
    for (int i = 0; i < 16; ++i) {
      if (!sem_trywait(semaphore)) return;
      relax();
    }
  } while (now_ns() < until);
  while (sem_wait(semaphore)) {
    if (errno != EINTR) return; /* the semaphore is valid, so there is no other error */
  }
}

/* ----------------------------------------------------------------------------------------------------------------- workers */

static void *live(void *argument) {
  worker *w = argument;
  for (;;) {
    wait_for(&w->start);
    w->work(w->what, w->me, w->team);
    sem_post(&w->done);
  }
  return NULL;
}

/* In the child of a fork, which has none of the parent's workers. */
static void forget_workers(void) {
  if (atomic_load(&pool.count) > 0) atomic_store(&pool.alone, true);
}

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static void watch_forks(void) { pthread_atfork(NULL, NULL, forget_workers); }

/* Starts a worker's thread, with all signals blocked: they are for the program's own threads. */
static int start(worker *w) {
  pthread_t thread;
  pthread_attr_t attributes;
  cpu_set_t processors;
  sigset_t all, before;
  int error = pthread_attr_init(&attributes);
  if (error) return error;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (find_processors(&processors)) pthread_attr_setaffinity_np(&attributes, sizeof processors, &processors);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  error = pthread_create(&thread, &attributes, live, w);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (!error) pthread_setname_np(thread, "cutt");
  return error;
}

/* A new worker, marked as taken, and scratch for it. NULL: out of memory or threads. */
static worker *make_worker(int number) {
  pthread_once(&fork_once, watch_forks);
  if (!cutt_scratch_reserve(number + 2)) return NULL; /* for the workers before it, a caller and itself */
  worker *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (w == MAP_FAILED) return NULL;
  sem_init(&w->start, 0, 0);
  sem_init(&w->done, 0, 0);
  atomic_init(&w->taken, true);
  if (!start(w)) return w;
  munmap(w, sizeof *w);
  return NULL;
}

/* Makes one more worker, unless there are `wanted` already. NULL: none was made. */
static worker *grow(int wanted) {
  if (atomic_load_explicit(&pool.patience, memory_order_relaxed) > 0) {
    atomic_fetch_sub_explicit(&pool.patience, 1, memory_order_relaxed);
    return NULL;
  }
  if (pthread_mutex_trylock(&pool.making)) return NULL;
  worker *made = NULL;
  const int count = atomic_load(&pool.count);
  if (count < wanted && count < WORKERS) {
    made = make_worker(count);
    if (made) {
      atomic_store(&pool.worker[count], made);
      atomic_store(&pool.count, count + 1);
    } else {
      atomic_store(&pool.patience, PATIENCE);
    }
  }
  pthread_mutex_unlock(&pool.making);
  return made;
}

/* -------------------------------------------------------------------------------------------------------------------- teams */

/* Takes up to `most` idle or new workers, as a list. */
static worker *take_workers(int most, int *taken) {
  worker *list = NULL;
  const int count = atomic_load(&pool.count);
  *taken = 0;
  for (int i = 0; i < count && *taken < most; ++i) {
    worker *w = atomic_load(&pool.worker[i]);
    if (atomic_load_explicit(&w->taken, memory_order_relaxed) || atomic_exchange(&w->taken, true)) continue;
    w->next = list;
    list = w;
    ++*taken;
  }
  /* New ones are made up to the number of processors; teams that run at the same time share these. */
  const int limit = larger(most, cutt_team_default() - 1);
  while (*taken < most) {
    worker *w = grow(limit);
    if (!w) break;
    w->next = list;
    list = w;
    ++*taken;
  }
  return list;
}

void cutt_team_run(int threads, cutt_team_work *work, void *what) {
  int others = 0, cancel = 0;
  worker *list = NULL;
  if (threads > 1 && !atomic_load(&pool.alone) && !(omp_in_parallel && omp_in_parallel()))
    list = take_workers(threads - 1, &others);
  if (!list) {
    work(what, 0, 1);
    return;
  }
  /* A caller that is cancelled while it waits would leave workers behind that write to freed memory. */
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  int me = 0;
  for (worker *w = list; w; w = w->next) {
    w->work = work;
    w->what = what;
    w->me = ++me;
    w->team = others + 1;
    sem_post(&w->start);
  }
  work(what, 0, others + 1);
  while (list) {
    worker *w = list;
    if (sem_trywait(&w->start)) {
      wait_for(&w->done);
    } else {
      work(what, w->me, others + 1); /* it has not begun: other threads have its processor */
    }
    list = w->next;
    atomic_store(&w->taken, false);
  }
  pthread_setcancelstate(cancel, NULL);
}
