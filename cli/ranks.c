/* Ranks by their launcher's environment and a table of them; see ranks.h. */
#include "ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "descriptor.h"
#include "guard.h"

/* How far a rank is. */
enum { ABSENT, JOINED, READY, WORKED, FINISHED, FAILED };

/* What a rank says of itself. On another machine half of it may be new, which `sum` tells. */
typedef struct record {
  int64_t phase, number;
  uint64_t request;
  char temporary[PATH_MAX];
  uint64_t sum;
} record;

static const off_t room = 8192;            /* from one record to the next */
static const off_t locks = (off_t)1 << 40; /* the first of the bytes that are locked, behind all records */

/* ------------------------------------------------------------------------------------------------------- environment */

/* A whole number in the environment; -1: there is none. */
static long number_of(const char *variable) {
  const char *text = variable ? getenv(variable) : NULL;
  char *end = NULL;
  if (!text || !*text) return -1;
  const long number = strtol(text, &end, 10);
  return *end || number < 0 || number > INT_MAX ? -1 : number;
}

/* What somebody says who starts ranks by other means: "3/8" or "off". */
static bool read_own(cutt_ranks *ranks, const char *text) {
  if (!strcmp(text, "off") || !strcmp(text, "0")) return true;
  char *end = NULL;
  const long rank = strtol(text, &end, 10), size = *end == '/' ? strtol(end + 1, &end, 10) : 0;
  if (*end || rank < 0 || rank >= size || size > 1 << 20) {
    cutt_cli_message("CUTT_RANKS is '%s'; it must be 'off', or this process's rank and their number, such as 3/8",
                     text);
    return false;
  }
  ranks->rank = (int)rank;
  ranks->size = ranks->near = (int)size;
  return true;
}

static void read_launcher(cutt_ranks *ranks) {
  /* In a batch script Slurm also sets a rank, but no number of tasks of a step. */
  static const char *const launchers[][3] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
      {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"},
      {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
      {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", NULL}};
  for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; ++i) {
    const long rank = number_of(launchers[i][0]), size = number_of(launchers[i][1]), near = number_of(launchers[i][2]);
    if (rank < 0 || rank >= size || size > 1 << 20) continue;
    ranks->rank = (int)rank;
    ranks->size = (int)size;
    ranks->near = near > 0 && near <= size ? (int)near : (int)size;
    return;
  }
}

bool cutt_ranks_find(cutt_ranks *ranks) {
  *ranks = (cutt_ranks){.size = 1, .near = 1, .wait = 60.0, .descriptor = -1};
  const char *own = getenv("CUTT_RANKS");
  if (own && *own && !read_own(ranks, own)) return false;
  if (!own || !*own) read_launcher(ranks);
  const char *wait = getenv("CUTT_RANKS_WAIT");
  if (wait && *wait) {
    char *end = NULL;
    ranks->wait = strtod(wait, &end);
    if (*end || !(ranks->wait >= 0.0 && ranks->wait <= 1e6)) {
      cutt_cli_message("CUTT_RANKS_WAIT is '%s'; it must be a number of seconds from 0 to 1000000", wait);
      return false;
    }
  }
  if (ranks->size > 1) cutt_cli_speak_as(ranks->rank);
  return true;
}

int cutt_ranks_threads(const cutt_ranks *ranks) {
  cpu_set_t set;
  const char *threads = getenv("OMP_NUM_THREADS");
  if (ranks->size == 1 || (threads && *threads) || sched_getaffinity(0, sizeof set, &set) != 0) return 0;
  const int count = CPU_COUNT(&set);
  /* Fewer than there are: the launcher has shared them out. */
  if (count < sysconf(_SC_NPROCESSORS_ONLN)) return count;
  return count / ranks->near > 1 ? count / ranks->near : 1;
}

/* --------------------------------------------------------------------------------------------------------- the table */

static uint64_t sum_of(const record *r) {
  const uint8_t *bytes = (const uint8_t *)r;
  uint64_t sum = 14695981039346656037U;
  for (size_t i = 0; i < offsetof(record, sum); ++i) sum = (sum ^ bytes[i]) * 1099511628211U;
  return sum;
}

/* An open file shows what others on the network have written when it is opened; its name may have gone. */
static int open_again(const cutt_ranks *ranks) {
  const int descriptor = open(ranks->path, O_RDONLY | O_CLOEXEC);
  struct stat mine, there;
  if (descriptor >= 0 && fstat(ranks->descriptor, &mine) == 0 && fstat(descriptor, &there) == 0 &&
      mine.st_ino == there.st_ino)
    return descriptor;
  if (descriptor >= 0) close(descriptor);
  return -1;
}

/* ABSENT while it is not there, or not whole. */
static void read_record(const cutt_ranks *ranks, int descriptor, int rank, record *r) {
  const ssize_t got = pread(descriptor >= 0 ? descriptor : ranks->descriptor, r, sizeof *r, rank * room);
  if (got != (ssize_t)sizeof *r || r->sum != sum_of(r)) memset(r, 0, sizeof *r);
}

static bool write_record(const cutt_ranks *ranks, int64_t phase, const char *temporary, int64_t number) {
  record r;
  memset(&r, 0, sizeof r);
  r.phase = phase;
  r.number = number;
  r.request = ranks->request;
  snprintf(r.temporary, sizeof r.temporary, "%s", temporary);
  r.sum = sum_of(&r);
  if (cutt_descriptor_write(ranks->descriptor, &r, sizeof r, ranks->rank * room) && fdatasync(ranks->descriptor) == 0)
    return true;
  cutt_cli_message("%s: could not be written: %s", ranks->path, strerror(errno));
  return false;
}

/* Goes on from what this rank has said before. */
static bool write_phase(const cutt_ranks *ranks, int64_t phase) {
  record r;
  read_record(ranks, -1, ranks->rank, &r);
  return write_record(ranks, phase, r.temporary, r.number);
}

static struct flock lock_of(int rank) {
  return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = locks + rank, .l_len = 1};
}

static bool take_lock(int descriptor, int rank) {
  struct flock lock = lock_of(rank);
  return fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

/* Does another process hold it? */
static bool is_alive(int descriptor, int rank) {
  struct flock lock = lock_of(rank);
  return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static void pause_for(double seconds) {
  const struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  nanosleep(&time, NULL);
}

static void forget(cutt_ranks *ranks) {
  if (ranks->descriptor >= 0) close(ranks->descriptor);
  ranks->descriptor = -1;
}

/* ------------------------------------------------------------------------------------------------------------ joining */

static bool is_there(const cutt_ranks *ranks) {
  struct stat mine, there;
  return fstat(ranks->descriptor, &mine) == 0 && stat(ranks->path, &there) == 0 && mine.st_ino == there.st_ino &&
         mine.st_dev == there.st_dev;
}

/* A table that is there already: of a run that goes on, or one that was killed. True: it has gone. */
static bool clear_away(const cutt_ranks *ranks) {
  const int old = open(ranks->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (old < 0 && errno == ENOENT) return true;
  const bool alive = old >= 0 && is_alive(old, 0), gone = old >= 0 && !alive && unlink(ranks->path) == 0;
  if (alive)
    cutt_cli_message("%s: another run writes the same output", ranks->path);
  else if (!gone)
    cutt_cli_message("%s: is in the way: %s", ranks->path, strerror(errno));
  if (old >= 0) close(old);
  return gone;
}

static bool create_table(cutt_ranks *ranks) {
  enum { TRIES = 100 };
  for (int i = 0; i < TRIES; ++i) {
    ranks->descriptor = open(ranks->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (ranks->descriptor < 0 && errno == EEXIST) {
      if (clear_away(ranks)) continue;
      return false;
    }
    if (ranks->descriptor < 0) break;
    if (take_lock(ranks->descriptor, 0)) {
      if (is_there(ranks)) return write_record(ranks, JOINED, "", 0);
    } else if (errno != EAGAIN && errno != EACCES) {
      cutt_cli_message("%s: can't be locked, which ranks need: %s; write elsewhere, or by one rank", ranks->path,
                       strerror(errno));
      unlink(ranks->path);
      return false;
    }
    forget(ranks); /* somebody took it for an old one */
  }
  cutt_cli_message("%s: can't be created: %s", ranks->path, strerror(errno));
  return false;
}

static bool join_table(cutt_ranks *ranks) {
  for (double pause = 1e-3; cutt_cli_seconds() - ranks->began <= ranks->wait;
       pause = pause < 0.05 ? 2 * pause : pause) {
    ranks->descriptor = open(ranks->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    record first = {0};
    if (ranks->descriptor >= 0 && is_alive(ranks->descriptor, 0)) read_record(ranks, -1, 0, &first);
    if (first.phase == ABSENT) {
      forget(ranks);
      pause_for(pause);
      continue;
    }
    if (!take_lock(ranks->descriptor, ranks->rank)) {
      cutt_cli_message("%s: another process is this rank: another run writes the same output", ranks->path);
      return false;
    }
    if (!write_record(ranks, JOINED, "", 0)) return false;
    if (first.request == ranks->request) return true;
    cutt_cli_message("rank 0 was asked for something else, or its input is another; all ranks must do the same");
    return false;
  }
  cutt_cli_message(
      "rank 0 of %d did not begin to write this output within %.3g s (CUTT_RANKS_WAIT); where the ranks are not meant "
      "to "
      "share the work, set CUTT_RANKS=off",
      ranks->size, ranks->wait);
  return false;
}

bool cutt_ranks_begin(cutt_ranks *ranks, const char *out, uint64_t request) {
  const char *slash = strrchr(out, '/');
  const int folder = slash ? (int)(slash - out) + 1 : 0;
  ranks->request = request;
  ranks->began = cutt_cli_seconds();
  if (snprintf(ranks->path, sizeof ranks->path, "%.*s.%.200s.ranks", folder, out, out + folder) >= PATH_MAX) {
    cutt_cli_message("%s: the path is longer than %d bytes", out, PATH_MAX - 1);
    return false;
  }
  if (ranks->rank > 0) {
    if (join_table(ranks)) return true;
    if (ranks->descriptor >= 0) cutt_ranks_end(ranks, false);
    return false;
  }
  cutt_guard_start();
  if (!create_table(ranks)) {
    forget(ranks);
    return false;
  }
  snprintf(cutt_guard_table(), PATH_MAX, "%s", ranks->path);
  return true;
}

/* ------------------------------------------------------------------------------------------------------------ meeting */

bool cutt_ranks_say(cutt_ranks *ranks, const char *temporary, int64_t number) {
  return write_record(ranks, READY, temporary, number);
}

static bool look(cutt_ranks *ranks, char *why, int size) {
  const int descriptor = open_again(ranks);
  bool well = true;
  record each, first;
  for (int i = 0; i < ranks->size && well; ++i) {
    if (i == ranks->rank) continue;
    read_record(ranks, descriptor, i, &each);
    /* In this order: who has written has its lock. */
    const bool joined = each.phase != ABSENT || i == 0;
    well = each.phase != FAILED && (!joined || is_alive(ranks->descriptor, i));
    if (well) continue;
    read_record(ranks, descriptor, 0, &first); /* after it has finished, all go */
    well = first.phase == FINISHED;
    snprintf(why, (size_t)size, "rank %d %s; no output is written", i,
             each.phase == FAILED ? "failed" : "has ended before all was done");
  }
  if (descriptor >= 0) close(descriptor);
  return well;
}

bool cutt_ranks_well(cutt_ranks *ranks, char *why, int size) {
  const double often = 0.2, now = cutt_cli_seconds();
  if (ranks->size == 1 || now - ranks->looked < often) return true;
  ranks->looked = now;
  return look(ranks, why, size);
}

/* Waits until rank 0 is that far. */
static bool wait_for_first(cutt_ranks *ranks, int64_t phase, record *first) {
  char why[256];
  for (double pause = 1e-3;; pause = pause < 0.05 ? 2 * pause : pause) {
    const int descriptor = open_again(ranks);
    read_record(ranks, descriptor, 0, first);
    if (descriptor >= 0) close(descriptor);
    if (first->phase >= phase && first->phase != FAILED) return true;
    if (!look(ranks, why, sizeof why)) {
      cutt_cli_message("%s", why);
      return false;
    }
    pause_for(pause);
  }
}

bool cutt_ranks_hear(cutt_ranks *ranks, char *temporary, int64_t *number) {
  record first;
  if (!wait_for_first(ranks, READY, &first)) return false;
  snprintf(temporary, PATH_MAX, "%s", first.temporary);
  *number = first.number;
  return true;
}

/* How many are not that far; *absent is one that is not even there, or -1. */
static int count_behind(const cutt_ranks *ranks, int *absent) {
  const int descriptor = open_again(ranks);
  int behind = 0;
  record each;
  *absent = -1;
  for (int i = 1; i < ranks->size; ++i) {
    read_record(ranks, descriptor, i, &each);
    behind += each.phase < WORKED;
    if (each.phase == ABSENT) *absent = i;
  }
  if (descriptor >= 0) close(descriptor);
  return behind;
}

bool cutt_ranks_meet(cutt_ranks *ranks) {
  record first;
  char why[256];
  int absent = -1;
  if (!write_phase(ranks, WORKED)) return false;
  if (ranks->rank > 0) return wait_for_first(ranks, FINISHED, &first);
  for (double pause = 1e-3; count_behind(ranks, &absent) > 0; pause = pause < 0.05 ? 2 * pause : pause) {
    if (!look(ranks, why, sizeof why)) {
      cutt_cli_message("%s", why);
      return false;
    }
    if (absent >= 0 && cutt_cli_seconds() - ranks->began > ranks->wait) {
      cutt_cli_message(
          "rank %d of %d did not arrive within %.3g s (CUTT_RANKS_WAIT); no output is written. Where the ranks are not "
          "meant to share the work, set CUTT_RANKS=off",
          absent, ranks->size, ranks->wait);
      return false;
    }
    pause_for(pause);
  }
  /* A rank that was killed since is noticed too: nothing is finished without all. */
  if (look(ranks, why, sizeof why)) return true;
  cutt_cli_message("%s", why);
  return false;
}

/* ---------------------------------------------------------------------------------------------------------------- end */

/* What rank 0 would have removed. */
static void clean_up_for_first(const cutt_ranks *ranks) {
  record first;
  read_record(ranks, -1, 0, &first);
  if (first.phase == FINISHED || is_alive(ranks->descriptor, 0)) return;
  if (first.temporary[0]) cutt_guard_remove(first.temporary);
  if (is_there(ranks)) unlink(ranks->path);
}

void cutt_ranks_end(cutt_ranks *ranks, bool good) {
  const double patience = 10.0, began = cutt_cli_seconds();
  if (ranks->descriptor < 0) return;
  if (ranks->rank > 0) {
    if (!good) {
      clean_up_for_first(ranks);
      write_phase(ranks, FAILED);
    }
    forget(ranks);
    return;
  }
  write_phase(ranks, good ? FINISHED : FAILED);
  /* So that on a network nobody finds the table gone before it is known how it ended. */
  for (int i = 1; i < ranks->size && good;) {
    if (!is_alive(ranks->descriptor, i) || cutt_cli_seconds() - began > patience)
      ++i;
    else
      pause_for(2e-3);
  }
  unlink(ranks->path);
  *cutt_guard_table() = 0;
  forget(ranks);
}
