/* Wisdom and device files while the process is treated badly: system calls that are interrupted or do half of their
 * work, threads that are cancelled and processes that are killed in the middle, timers; and whose a file is afterwards.
 *
 * The linker sends the library's system calls through the functions below (-Wl,--wrap=read and so on). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cutt_contract.h"
#include "plan/backend.h"
#include "store/device_file.h"
#include "support/wisdom.h"

int __real_open(const char *path, int flags, mode_t mode);
int __real_open64(const char *path, int flags, mode_t mode);
ssize_t __real_read(int file, void *bytes, size_t count);
ssize_t __real_write(int file, const void *bytes, size_t count);
int __real_fsync(int file);
int __real_close(int file);
int __wrap_open(const char *path, int flags, mode_t mode);
int __wrap_open64(const char *path, int flags, mode_t mode);
ssize_t __wrap_read(int file, void *bytes, size_t count);
ssize_t __wrap_write(int file, const void *bytes, size_t count);
int __wrap_fsync(int file);
int __wrap_close(int file);

/* ------------------------------------------------------------------------------------------------ the system calls */

static struct {
  bool interrupting; /* every other call fails with EINTR, and the others do as little as they may */
  bool cancelling;   /* the calling thread is cancelled, which happens at the next point where that is looked for */
  long kill_at;      /* from 1: the process is killed behind this call; 0: never */
  long calls;
} fault;

/* Before a call: is it to fail? */
static bool interrupted(void) {
  fault.calls++;
  if (!fault.interrupting || fault.calls % 2 == 0) return false;
  errno = EINTR;
  return true;
}

static void after(void) {
  const int error = errno;
  if (fault.kill_at && fault.calls == fault.kill_at) raise(SIGKILL);
  if (fault.cancelling) pthread_cancel(pthread_self());
  errno = error;
}

int __wrap_open(const char *path, int flags, mode_t mode) {
  if (interrupted()) return -1;
  const int file = __real_open(path, flags, mode);
  after();
  return file;
}

int __wrap_open64(const char *path, int flags, mode_t mode) {
  if (interrupted()) return -1;
  const int file = __real_open64(path, flags, mode);
  after();
  return file;
}

ssize_t __wrap_read(int file, void *bytes, size_t count) {
  if (interrupted()) return -1;
  const ssize_t got = __real_read(file, bytes, fault.interrupting && count > 7 ? 7 : count);
  after();
  return got;
}

ssize_t __wrap_write(int file, const void *bytes, size_t count) {
  if (interrupted()) return -1;
  const ssize_t put = __real_write(file, bytes, fault.interrupting && count > 7 ? 7 : count);
  after();
  return put;
}

int __wrap_fsync(int file) {
  if (interrupted()) return -1;
  const int failed = __real_fsync(file);
  after();
  return failed;
}

/* Closed all the same, as Linux does it. */
int __wrap_close(int file) {
  const bool fails = interrupted();
  const int failed = __real_close(file);
  after();
  if (fails) errno = EINTR;
  return fails ? -1 : failed;
}

/* ------------------------------------------------------------------------------------------------ what is done to files */

static int reset(void **unused) {
  (void)unused;
  memset(&fault, 0, sizeof fault);
  unlink(wisdom_path);
  unlink(wisdom_other_path);
  return 0;
}

static const cutt_backend *cpu(void) {
  for (const cutt_backend *const *b = cutt_backends; *b; b++)
    if ((*b)->id == CUTT_BACKEND_CPU) return *b;
  return NULL;
}

static cuttResult save_device(const char *path) {
  return cutt_device_file_write(path, cpu()->schema, "some-device", cpu()->runtime->target(), NULL);
}

static cuttResult read_device(const char *path) {
  const cutt_backend *backend;
  cutt_target *target = NULL;
  char key[CUTT_DEVICE_KEY_BYTES];
  const cuttResult result = cutt_device_file_read(path, &backend, &target, key);
  if (!result) free(target);
  return result;
}

/* Entries of a folder, but the one of this name (NULL: all). */
static int others_in(const char *folder, const char *name) {
  int count = 0;
  DIR *open = opendir(folder);
  assert_non_null(open);
  for (struct dirent *entry = readdir(open); entry; entry = readdir(open)) {
    const char *other = strrchr(entry->d_name, '/') ? strrchr(entry->d_name, '/') + 1 : entry->d_name;
    count += strcmp(other, ".") != 0 && strcmp(other, "..") != 0 && (!name || strcmp(other, name) != 0);
  }
  closedir(open);
  return count;
}

static int open_descriptors(void) { return others_in("/proc/self/fd", NULL); }

static const char *own_name(const char *path) { return strrchr(path, '/') + 1; }

/* ------------------------------------------------------------------------------------------------ interruption */

static void interrupted_calls(void **unused) {
  (void)unused;
  cuttWisdom_t wisdom = wisdom_learned();
  fault.interrupting = true;
  assert_success(cuttWisdomSave(wisdom, wisdom_path));
  assert_success(cuttWisdomSave(wisdom, wisdom_path)); /* in the place of another */
  cuttWisdom_t read = wisdom_fresh();
  wisdom_assert_load(read, wisdom_path, WISDOM_PROBLEMS, 0);
  assert_success(save_device(wisdom_other_path));
  assert_success(read_device(wisdom_other_path));
  assert_true(fault.calls > 50);
  fault.interrupting = false;
  assert_success(cuttWisdomDestroy(read));
  assert_success(cuttWisdomDestroy(wisdom));
}

static atomic_long rings;
static void ring(int number) {
  (void)number;
  atomic_fetch_add_explicit(&rings, 1, memory_order_relaxed);
}

enum { ROWS = 300, COLUMNS = 500, THREADS = 4 };

/* A permutation that is worth several threads, and a contraction, where there is a BLAS. */
static void execute(void) {
  const int64_t extents[2] = {ROWS, COLUMNS}, left[2] = {20, COLUMNS}, right[2] = {COLUMNS, ROWS};
  const int perm[2] = {1, 0};
  double *in = malloc(sizeof(double) * ROWS * COLUMNS), *out = calloc(ROWS * COLUMNS, sizeof(double));
  double *ones = malloc(sizeof(double) * 20 * COLUMNS), *sums = malloc(sizeof(double) * 20 * ROWS);
  assert_true(in && out && ones && sums);
  for (int i = 0; i < ROWS * COLUMNS; i++) in[i] = i;
  for (int i = 0; i < 20 * COLUMNS; i++) ones[i] = 1;
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 2;
  problem.type = CUTT_F64;
  problem.extents = extents;
  problem.perm = perm;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  options.threads = THREADS;
  assert_success(cuttPermute(&problem, &options, in, out, NULL));
  for (size_t i = 0; i < ROWS; i++)
    for (size_t j = 0; j < COLUMNS; j++) assert_true(out[j + COLUMNS * i] == in[i + ROWS * j]);
  cuttContraction_t contraction = CUTT_CONTRACTION_INIT;
  contraction.pattern = "ij,jk->ik";
  contraction.type = CUTT_F64;
  contraction.left_rank = contraction.right_rank = contraction.result_rank = 2;
  contraction.left_extents = left;
  contraction.right_extents = right;
  cuttContractionOptions_t more = CUTT_CONTRACTION_OPTIONS_INIT;
  more.backend = CUTT_BACKEND_CPU;
  more.threads = THREADS;
  const cuttResult result = cuttContract(&contraction, &more, ones, out, sums, NULL);
  if (result != CUTT_INVALID_DEVICE) {
    assert_success(result);
    for (int k = 0; k < ROWS; k++) assert_near(sums[20 * k], COLUMNS * (k + ROWS * (COLUMNS - 1) / 2.0));
  }
  free(in);
  free(out);
  free(ones);
  free(sums);
}

static int set_timer(int number, const struct itimerval *interval) {
  return number == SIGALRM ? setitimer(ITIMER_REAL, interval, NULL) : setitimer(ITIMER_PROF, interval, NULL);
}

/* Plans that are made, measured and executed, on several threads and on one, and files, while a timer strikes without end
 * and system calls are not started again. */
static void timers(void **unused) {
  (void)unused;
  const int numbers[] = {SIGALRM, SIGPROF};
  struct sigaction action = {.sa_handler = ring}, before;
  const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  cuttWisdom_t wisdom = wisdom_fresh();
  for (int kind = 0; kind < 2; kind++) {
    atomic_store(&rings, 0);
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(numbers[kind], &action, &before), 0);
    assert_int_equal(set_timer(numbers[kind], &often), 0);
    for (int turn = 0; turn < 500 && (turn < 5 || atomic_load(&rings) < 100); turn++) {
      for (int i = 0; i < WISDOM_PROBLEMS; i++) {
        wisdom_learn(wisdom, i);
        assert_true(wisdom_knows(wisdom, i));
      }
      execute();
      assert_success(cuttWisdomSave(wisdom, wisdom_path));
      assert_success(cuttWisdomLoad(wisdom, wisdom_path, NULL, NULL));
      assert_success(save_device(wisdom_other_path));
      assert_success(read_device(wisdom_other_path));
    }
    set_timer(numbers[kind], &never);
    sigaction(numbers[kind], &before, NULL);
    assert_true(atomic_load(&rings) > 0);
  }
  assert_success(cuttWisdomDestroy(wisdom));
}

/* ------------------------------------------------------------------------------------------------ cancellation */

typedef struct work {
  cuttResult (*run)(cuttWisdom_t wisdom);
  cuttWisdom_t wisdom;
  bool came_back;
  cuttResult result;
} work;

static cuttResult load(cuttWisdom_t wisdom) { return cuttWisdomLoad(wisdom, wisdom_path, NULL, NULL); }
static cuttResult save(cuttWisdom_t wisdom) { return cuttWisdomSave(wisdom, wisdom_path); }
static cuttResult read_one(cuttWisdom_t wisdom) {
  (void)wisdom;
  return read_device(wisdom_other_path);
}
static cuttResult write_one(cuttWisdom_t wisdom) {
  (void)wisdom;
  return save_device(wisdom_other_path);
}
static cuttResult load_missing(cuttWisdom_t wisdom) {
  return cuttWisdomLoad(wisdom, "/there/is/no/such/file", NULL, NULL) == CUTT_INVALID_PARAMETER ? CUTT_SUCCESS
                                                                                                : CUTT_INTERNAL_ERROR;
}

static void *be_cancelled(void *argument) {
  work *w = argument;
  fault.cancelling = true;
  w->result = w->run(w->wisdom);
  w->came_back = true;
  fault.cancelling = false;
  pthread_cancel(pthread_self());
  pthread_testcancel(); /* still possible, and possible again */
  return NULL;
}

static cuttResult plan_first(cuttWisdom_t wisdom) {
  pthread_cancel(pthread_self());
  return cuttPlanDestroy(wisdom_plan(wisdom, 0, CUTT_PREDICT));
}

/* The first plan of a process reads what the system says of the processor. Must be the first test. */
static void cancelled_first_plan(void **unused) {
  (void)unused;
  work w = {.run = plan_first, .wisdom = wisdom_fresh()};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, be_cancelled, &w), 0);
  pthread_join(thread, NULL);
  fault.cancelling = false;
  assert_true(w.came_back);
  assert_int_equal(w.result, CUTT_SUCCESS);
  assert_success(cuttWisdomDestroy(w.wisdom));
}

static void cancelled_threads(void **unused) {
  (void)unused;
  static cuttResult (*const runs[])(cuttWisdom_t) = {save, load, write_one, read_one, load_missing};
  cuttWisdom_t wisdom = wisdom_learned();
  setenv("CUTT_LOG", "debug", 1); /* lines of the log are written with locks held */
  const int quiet = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDERR_FILENO);
  const int descriptors = open_descriptors();
  int failed = -1;
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    for (int turn = 0; turn < 3; turn++) {
      work w = {.run = runs[i], .wisdom = wisdom};
      pthread_t thread;
      void *end = NULL;
      pthread_create(&thread, NULL, be_cancelled, &w);
      pthread_join(thread, &end);
      fault.cancelling = false;
      if (!w.came_back || w.result != CUTT_SUCCESS || end != PTHREAD_CANCELED) failed = (int)i;
    }
  }
  const int left = open_descriptors();
  dup2(quiet, STDERR_FILENO);
  close(quiet);
  close(nowhere);
  unsetenv("CUTT_LOG");
  assert_int_equal(failed, -1);
  assert_int_equal(left, descriptors);
  unlink(wisdom_other_path);
  assert_int_equal(others_in(wisdom_folder, own_name(wisdom_path)), 0);
  assert_success(cuttWisdomDestroy(wisdom));
}

/* ------------------------------------------------------------------------------------------------ killing */

static bool has_nameless_files(void) {
  const int file = open(wisdom_folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  return file >= 0 && access("/proc/self/fd", X_OK) == 0;
}

/* Killed behind each system call in turn: the old file or the new one is there, and nothing else. */
static void killed(void **unused) {
  (void)unused;
  if (!has_nameless_files()) {
    print_message("skipped: the file system has no files without a name (O_TMPFILE)\n");
    skip();
  }
  cuttWisdom_t wisdom = wisdom_learned();
  for (int there = 0; there < 2; there++) {
    if (there) assert_success(cuttWisdomSave(wisdom, wisdom_path));
    bool done = false;
    for (long at = 1; !done && at < 100; at++) {
      const pid_t child = fork();
      assert_true(child >= 0);
      if (child == 0) {
        fault.calls = 0;
        fault.kill_at = at;
        _exit(cuttWisdomSave(wisdom, wisdom_path) == CUTT_SUCCESS ? 0 : 1);
      }
      int status = 0;
      assert_int_equal(waitpid(child, &status, 0), child);
      done = WIFEXITED(status);
      assert_true(done ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL);
      assert_int_equal(others_in(wisdom_folder, own_name(wisdom_path)), 0);
      if (there || access(wisdom_path, F_OK) == 0) {
        cuttWisdom_t read = wisdom_fresh();
        wisdom_assert_load(read, wisdom_path, WISDOM_PROBLEMS, 0);
        assert_success(cuttWisdomDestroy(read));
      }
      if (!there) unlink(wisdom_path);
    }
    assert_true(done);
  }
  assert_success(cuttWisdomDestroy(wisdom));
}

/* ------------------------------------------------------------------------------------------------ whose a file is */

static struct stat status_of(const char *path) {
  struct stat status = {.st_mode = 0};
  assert_int_equal(stat(path, &status), 0);
  return status;
}

static void mode_is_kept(void **unused) {
  (void)unused;
  cuttWisdom_t wisdom = wisdom_learned();
  const mode_t before = umask(022);
  assert_success(cuttWisdomSave(wisdom, wisdom_path));
  assert_int_equal(status_of(wisdom_path).st_mode & 07777, 0644); /* of a new one: by the umask */
  const mode_t modes[] = {0600, 0640, 0666, 0400, 0755};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    assert_int_equal(chmod(wisdom_path, modes[i]), 0);
    assert_success(cuttWisdomSave(wisdom, wisdom_path));
    assert_int_equal(status_of(wisdom_path).st_mode & 07777, modes[i]);
  }
  umask(before);
  assert_success(cuttWisdomDestroy(wisdom));
}

static void access_list_is_kept(void **unused) {
  (void)unused;
  /* Version 2; the owner, user 12345, the group, the mask, others; each a tag, what it may do, and who. */
  static const unsigned char list[] = {2, 0,    0,    0,    1,    0,    6,    0, 0xff, 0xff, 0xff, 0xff, 2,    0,    4,
                                       0, 0x39, 0x30, 0,    0,    4,    0,    0, 0,    0xff, 0xff, 0xff, 0xff, 0x10, 0,
                                       4, 0,    0xff, 0xff, 0xff, 0xff, 0x20, 0, 0,    0,    0xff, 0xff, 0xff, 0xff};
  static const char name[] = "system.posix_acl_access";
  unsigned char found[256];
  cuttWisdom_t wisdom = wisdom_learned();
  assert_success(cuttWisdomSave(wisdom, wisdom_path));
  if (setxattr(wisdom_path, name, list, sizeof list, 0) != 0) {
    print_message("skipped: the file system has no access lists: %s\n", strerror(errno));
    assert_success(cuttWisdomDestroy(wisdom));
    skip();
  }
  const mode_t mode = status_of(wisdom_path).st_mode;
  assert_success(cuttWisdomSave(wisdom, wisdom_path));
  assert_int_equal(getxattr(wisdom_path, name, found, sizeof found), sizeof list);
  assert_memory_equal(found, list, sizeof list);
  assert_int_equal(status_of(wisdom_path).st_mode, mode);
  /* What a folder gives to new files is not what the old one had. */
  assert_int_equal(removexattr(wisdom_path, name), 0);
  assert_int_equal(chmod(wisdom_path, 0600), 0);
  assert_int_equal(setxattr(wisdom_folder, "system.posix_acl_default", list, sizeof list, 0), 0);
  assert_success(cuttWisdomSave(wisdom, wisdom_path));
  assert_int_equal(removexattr(wisdom_folder, "system.posix_acl_default"), 0);
  assert_true(getxattr(wisdom_path, name, found, sizeof found) < 0);
  assert_int_equal(status_of(wisdom_path).st_mode & 07777, 0600);
  assert_success(cuttWisdomDestroy(wisdom));
}

static void need_root(void) {
  if (geteuid() == 0) return;
  print_message("skipped: only root can give files to others\n");
  skip();
}

static void owner_is_kept(void **unused) {
  (void)unused;
  need_root();
  cuttWisdom_t wisdom = wisdom_learned();
  assert_success(cuttWisdomSave(wisdom, wisdom_path));
  assert_int_equal(chmod(wisdom_path, 0600), 0);
  if (chown(wisdom_path, 12345, 23456) != 0) {
    print_message("skipped: this root can't give files to others: %s\n", strerror(errno));
    assert_success(cuttWisdomDestroy(wisdom));
    skip();
  }
  assert_success(cuttWisdomSave(wisdom, wisdom_path));
  const struct stat status = status_of(wisdom_path);
  assert_int_equal(status.st_mode & 07777, 0600);
  assert_int_equal(status.st_uid, 12345);
  assert_int_equal(status.st_gid, 23456);
  assert_success(cuttWisdomDestroy(wisdom));
}

/* Somebody else's file, in a folder where everybody may write: kept, and the error says why. */
static void owner_that_cannot_be_kept(void **unused) {
  (void)unused;
  need_root();
  cuttWisdom_t wisdom = wisdom_learned();
  assert_success(cuttWisdomSave(wisdom, wisdom_path));
  const struct stat before = status_of(wisdom_path);
  assert_int_equal(chmod(wisdom_folder, 0777), 0);
  assert_int_equal(chmod(wisdom_path, 0666), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (setgid(12345) || setuid(12345)) _exit(77);
    if (cuttWisdomSave(wisdom, wisdom_path) != CUTT_INTERNAL_ERROR) _exit(1);
    _exit(strstr(cuttLastError(), "owner") && strstr(cuttLastError(), wisdom_path) ? 0 : 2);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(chmod(wisdom_folder, 0700), 0);
  assert_success(cuttWisdomDestroy(wisdom));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
    print_message("skipped: this root can't become somebody else\n");
    skip();
  }
  assert_int_equal(status, 0);
  const struct stat left = status_of(wisdom_path);
  assert_int_equal(left.st_ino, before.st_ino);
  assert_int_equal(others_in(wisdom_folder, own_name(wisdom_path)), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(cancelled_first_plan, reset, reset),
      cmocka_unit_test_setup_teardown(interrupted_calls, reset, reset),
      cmocka_unit_test_setup_teardown(timers, reset, reset),
      cmocka_unit_test_setup_teardown(cancelled_threads, reset, reset),
      cmocka_unit_test_setup_teardown(killed, reset, reset),
      cmocka_unit_test_setup_teardown(mode_is_kept, reset, reset),
      cmocka_unit_test_setup_teardown(access_list_is_kept, reset, reset),
      cmocka_unit_test_setup_teardown(owner_is_kept, reset, reset),
      cmocka_unit_test_setup_teardown(owner_that_cannot_be_kept, reset, reset),
  };
  return cmocka_run_group_tests_name("files", tests, wisdom_open_folder, wisdom_close_folder);
}
