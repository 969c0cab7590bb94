/* Files as the library writes and reads them.
 *
 * A text never overwrites the old one: it is written to a new file in the same folder, synchronised to the disk and
 * renamed, so that a reader of the path finds the old text or the new one, whole, whatever happens meanwhile. Where the
 * file system has files without a name (O_TMPFILE), the new one has none until it is complete, so that a process that
 * is killed leaves nothing behind. linkat() cannot replace an existing file, so the new one is linked beside it and
 * renamed at once.
 *
 * Cancellation waits until the file is closed: a thread cancelled halfway would leave a descriptor, memory and a
 * temporary file behind. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_TMPFILE */
#endif
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

static int cancellation_off(void) {
  int before = PTHREAD_CANCEL_ENABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}

static void cancellation_back(int before) { pthread_setcancelstate(before, NULL); }

/* open, again after a signal: on a network file system it may be interrupted. */
static int open_file(const char *path, int flags, mode_t mode) {
  int file = -1;
  do file = open(path, flags | O_CLOEXEC, mode);
  while (file < 0 && errno == EINTR);
  return file;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

static const char *read_open(int file, cutt_file_take *take, void *context) {
  struct stat status;
  if (fstat(file, &status)) return "can't be examined";
  errno = 0;
  if (!S_ISREG(status.st_mode)) return "is not a regular file";
  for (;;) {
    char bytes[4096];
    const ssize_t got = read(file, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return "can't be read";
    if (got == 0 || !take(context, bytes, (size_t)got)) return NULL;
  }
}

const char *cutt_file_try(const char *path, cutt_file_take *take, void *context) {
  const int before = cancellation_off();
  const char *wrong = "can't be opened";
  const int file = open_file(path, O_RDONLY | O_NONBLOCK, 0); /* does not wait for the other end of a pipe */
  if (file >= 0) {
    wrong = read_open(file, take, context);
    const int error = errno;
    close(file);
    errno = error;
  }
  cancellation_back(before);
  return wrong;
}

cuttResult cutt_file_read(const char *argument, const char *path, cutt_file_take *take, void *context) {
  const char *wrong = cutt_file_try(path, take, context);
  if (!wrong) return CUTT_SUCCESS;
  return cutt_error(CUTT_INVALID_PARAMETER, "%s is \"%s\", which %s%s%s", argument, path, wrong, errno ? ": " : "",
                    errno ? strerror(errno) : "");
}

/* ---------------------------------------------------------------------------------------------------------- writing */

/* A file that is to replace another, or to be created where there is none. */
typedef struct new_file {
  const char *target; /* its final path; not a link */
  bool replaces;      /* the target exists */
  int descriptor;
  bool named;  /* it has the temporary name below */
  char *name;  /* buffer for a temporary name beside the target */
  size_t room; /* bytes of that buffer */
} new_file;

/* Looks for a free name beside the target: tries the next one as long as try_name fails with EEXIST. */
static bool find_name(new_file *f, bool (*try_name)(new_file *f)) {
  for (int i = 0; i < 1000; ++i) {
    snprintf(f->name, f->room, "%s.%ld-%d.tmp", f->target, (long)getpid(), i);
    f->named = try_name(f);
    if (f->named || errno != EEXIST) return f->named;
  }
  return false;
}

/* A replacement is private until it has the mode of the file that it replaces. */
static mode_t first_mode(const new_file *f) { return f->replaces ? 0600 : 0666; }

static bool create_named(new_file *f) {
  f->descriptor = open_file(f->name, O_WRONLY | O_CREAT | O_EXCL, first_mode(f));
  return f->descriptor >= 0;
}

/* The path in /proc by which a file without a name can be linked; this way takes no privilege. */
enum { LINK_BYTES = 32 };
static const char *own_link(const new_file *f, char path[LINK_BYTES]) {
  snprintf(path, LINK_BYTES, "/proc/self/fd/%d", f->descriptor);
  return path;
}

static bool link_named(new_file *f) {
  char own[LINK_BYTES];
  return linkat(AT_FDCWD, own_link(f, own), AT_FDCWD, f->name, AT_SYMLINK_FOLLOW) == 0;
}

/* The folder that path is in; path is cut off after it. */
static const char *folder_of(char *path) {
  char *slash = strrchr(path, '/');
  if (!slash) return ".";
  slash[slash == path] = 0;
  return path;
}

static bool create_nameless(new_file *f) {
  char own[LINK_BYTES];
  snprintf(f->name, f->room, "%s", f->target);
  f->descriptor = open_file(folder_of(f->name), O_WRONLY | O_TMPFILE, first_mode(f));
  if (f->descriptor < 0) return false;
  if (access(own_link(f, own), F_OK) == 0) return true;
  close(f->descriptor);
  f->descriptor = -1;
  return false;
}

/* malloc that sets errno, which not every allocator does. */
static void *allocate(size_t bytes) {
  void *memory = malloc(bytes);
  if (!memory) errno = ENOMEM;
  return memory;
}

/* Copies the target's POSIX access control list, if it has one. */
static bool take_access_list(const new_file *f) {
  static const char list[] = "system.posix_acl_access";
  const ssize_t size = getxattr(f->target, list, NULL, 0);
  const bool none = size < 0 && (errno == ENODATA || errno == EOPNOTSUPP);
  /* The new file may have inherited one from the folder. */
  if (none) return fremovexattr(f->descriptor, list) == 0 || errno == ENODATA || errno == EOPNOTSUPP;
  if (size < 0) return false;
  void *value = allocate((size_t)size + 1);
  if (!value) return false;
  const ssize_t got = getxattr(f->target, list, value, (size_t)size);
  const bool taken = got >= 0 && fsetxattr(f->descriptor, list, value, (size_t)got, 0) == 0;
  const int error = errno;
  free(value);
  errno = error;
  return taken;
}

/* Only what differs is changed: without privilege chown is refused even where it changes nothing. */
static const char *take_access(const new_file *f) {
  struct stat mine, theirs;
  if (!f->replaces) return NULL;
  if (stat(f->target, &theirs) || fstat(f->descriptor, &mine)) return "examined";
  if (theirs.st_uid != mine.st_uid && fchown(f->descriptor, theirs.st_uid, (gid_t)-1)) return "given to its owner";
  if (theirs.st_gid != mine.st_gid && fchown(f->descriptor, (uid_t)-1, theirs.st_gid)) return "given to its group";
  if (!take_access_list(f)) return "given its access list";
  return fchmod(f->descriptor, theirs.st_mode & 0777) ? "given its mode" : NULL;
}

/* NULL, or what could not be done with the new file; errno says why. discard() must follow in both cases. */
static const char *start(new_file *f) {
  f->room = strlen(f->target) + 64;
  f->name = allocate(f->room);
  f->descriptor = -1;
  f->named = false;
  if (!f->name || (!create_nameless(f) && !find_name(f, create_named))) return "created";
  return take_access(f);
}

static void discard(new_file *f) {
  const int error = errno;
  if (f->descriptor >= 0) close(f->descriptor);
  if (f->named) unlink(f->name);
  free(f->name);
  errno = error;
}

static bool write_all(int file, const char *text, size_t length) {
  while (length) {
    const ssize_t put = write(file, text, length);
    if (put < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    text += put;
    length -= (size_t)put;
  }
  return true;
}

static bool synchronise(int file) {
  int failed = 0;
  do failed = fsync(file);
  while (failed && errno == EINTR);
  return !failed;
}

/* So that the new name survives a power failure. Not every file system can synchronise a folder, so failing is no
 * error. */
static void sync_folder(new_file *f) {
  snprintf(f->name, f->room, "%s", f->target);
  const int folder = open_file(folder_of(f->name), O_RDONLY | O_DIRECTORY, 0);
  if (folder < 0) return;
  if (!synchronise(folder)) cutt_log(CUTT_LOG_DEBUG, "a folder could not be synchronised: %s", strerror(errno));
  close(folder);
}

/* Gives the complete file the target's name. */
static bool take_place(new_file *f) {
  char own[LINK_BYTES];
  if (!f->named) {
    if (linkat(AT_FDCWD, own_link(f, own), AT_FDCWD, f->target, AT_SYMLINK_FOLLOW) == 0) return true;
    if (errno != EEXIST || !find_name(f, link_named)) return false;
  }
  if (rename(f->name, f->target)) return false;
  f->named = false;
  return true;
}

static cuttResult replace(new_file *f, const char *text, size_t length) {
  const char *failed = start(f);
  if (!failed && !write_all(f->descriptor, text, length)) failed = "written";
  if (!failed && !synchronise(f->descriptor)) failed = "synchronised";
  if (!failed && !take_place(f)) failed = "given its name";
  if (!failed) sync_folder(f);
  discard(f);
  if (!failed) return CUTT_SUCCESS;
  return cutt_error(CUTT_INTERNAL_ERROR, "\"%s\" is as it was, because the new file for its place could not be %s: %s",
                    f->target, failed, strerror(errno));
}

/* The path without links, for free(); NULL when nothing is there. */
static cuttResult follow(const char *argument, const char *path, char **target) {
  struct stat status;
  *target = realpath(path, NULL);
  if (!*target) {
    if (errno == ENOENT) return CUTT_SUCCESS;
    return cutt_error(errno == ENOMEM ? CUTT_INTERNAL_ERROR : CUTT_INVALID_PARAMETER,
                      "%s is \"%s\", which can't be followed: %s", argument, path, strerror(errno));
  }
  if (!stat(*target, &status) && S_ISREG(status.st_mode)) return CUTT_SUCCESS;
  free(*target);
  *target = NULL;
  return cutt_error(CUTT_INVALID_PARAMETER, "%s is \"%s\", which is there and not a regular file", argument, path);
}

cuttResult cutt_file_writable(const char *argument, const char *path) {
  const int before = cancellation_off();
  char *target = NULL;
  cuttResult result = follow(argument, path, &target);
  if (!result) {
    new_file f = {.target = target ? target : path, .replaces = target != NULL};
    const char *failed = start(&f);
    discard(&f);
    if (failed)
      result = cutt_error(errno == ENOMEM ? CUTT_INTERNAL_ERROR : CUTT_INVALID_PARAMETER,
                          "%s is \"%s\", which can't be written: a new file for its place could not be %s: %s",
                          argument, path, failed, strerror(errno));
  }
  free(target);
  cancellation_back(before);
  return result;
}

cuttResult cutt_file_replace(const char *argument, const char *path, const char *text, size_t length) {
  const int before = cancellation_off();
  char *target = NULL;
  cuttResult result = follow(argument, path, &target);
  if (!result) {
    new_file f = {.target = target ? target : path, .replaces = target != NULL};
    result = replace(&f, text, length);
  }
  free(target);
  cancellation_back(before);
  return result;
}

/* The descriptor of a folder that is locked, or -1 with errno set. */
static int lock_folder(const char *path) {
  char *target = realpath(path, NULL), *name = target ? target : strdup(path);
  if (!name) return -1;
  const int folder = open_file(folder_of(name), O_RDONLY | O_DIRECTORY, 0);
  free(name);
  if (folder < 0) return -1;
  /* Not waited for in the kernel: whoever has the lock may be waiting for this process. */
  static const struct timespec pause = {.tv_nsec = 2000000};
  enum { TRIES = 15000 };
  int failed = -1;
  for (int i = 0; i < TRIES && failed; ++i) {
    failed = flock(folder, LOCK_EX | LOCK_NB);
    if (failed && errno != EWOULDBLOCK && errno != EINTR) break;
    if (failed) nanosleep(&pause, NULL);
  }
  if (!failed) return folder;
  const int error = errno;
  close(folder);
  errno = error;
  return -1;
}

cutt_file_guard cutt_file_lock(const char *path) {
  cutt_file_guard guard = {.cancellation = cancellation_off()};
  guard.folder = lock_folder(path);
  if (guard.folder < 0)
    cutt_log(CUTT_LOG_WARN, "\"%s\" is replaced without a lock on its folder: %s", path, strerror(errno));
  return guard;
}

void cutt_file_unlock(cutt_file_guard guard) {
  /* By name, since a child that was forked meanwhile has the descriptor, too. */
  if (guard.folder >= 0) flock(guard.folder, LOCK_UN);
  if (guard.folder >= 0) close(guard.folder);
  cancellation_back(guard.cancellation);
}

cuttResult cutt_file_make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    const bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
    const int error = errno;
    struct stat status;
    const bool there = made || (stat(path, &status) == 0 && S_ISDIR(status.st_mode));
    cuttResult result = CUTT_SUCCESS;
    if (!there) {
      result = cutt_error(CUTT_INTERNAL_ERROR, "the folder \"%s\" could not be created: %s", path, strerror(error));
    }
    *slash = '/';
    if (result) return result;
  }
  return CUTT_SUCCESS;
}
