/* Files as the library writes and reads them.
 *
 * A new text never goes where the old one is: it is written beside it, brought to the disk, and renamed, so that whoever
 * reads the path finds the old text or the new one, whole, whatever happens meanwhile. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* POSIX of 2008 with realpath */
#endif
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"

const char *cutt_file_try(const char *path, int *file) {
  /* Not to wait for the other end of a pipe, which is refused below. */
  *file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (*file < 0) return "can't be opened";
  struct stat status;
  const bool examined = fstat(*file, &status) == 0;
  if (examined && S_ISREG(status.st_mode)) return NULL;
  const int error = examined ? 0 : errno;
  close(*file);
  *file = -1;
  errno = error;
  return examined ? "is not a regular file" : "can't be examined";
}

cuttResult cutt_file_open(const char *argument, const char *path, int *file) {
  const char *wrong = cutt_file_try(path, file);
  if (!wrong) return CUTT_SUCCESS;
  return cutt_error(CUTT_INVALID_PARAMETER, "%s is \"%s\", which %s%s%s", argument, path, wrong, errno ? ": " : "",
                    errno ? strerror(errno) : "");
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

/* So that the new name survives a power failure; where folders can't be synchronised, the file is no worse for it. */
static void sync_folder(char *path) {
  char *slash = strrchr(path, '/');
  if (slash) slash[slash == path] = 0;
  const int folder = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  if (fsync(folder)) cutt_log(CUTT_LOG_DEBUG, "a folder could not be synchronised: %s", strerror(errno));
  close(folder);
}

/* Creates a file of a name that nobody has, beside target. name: at least strlen(target) + 64 bytes. -1: errno. */
static int create_beside(const char *target, char *name, size_t size) {
  for (int i = 0; i < 1000; ++i) {
    snprintf(name, size, "%s.%ld-%d.tmp", target, (long)getpid(), i);
    const int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

/* target: where path leads to, which is not a link. mode: of the file that is there, or 0. */
static cuttResult replace(const char *target, mode_t mode, const char *text, size_t length) {
  const size_t size = strlen(target) + 64;
  char *name = malloc(size);
  if (!name) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a file name", size);
  const char *failed = NULL;
  int error = 0;
  const int file = create_beside(target, name, size);
  if (file < 0) {
    failed = "created";
    error = errno;
  } else {
    if (mode && fchmod(file, mode & 0777)) {
      cutt_log(CUTT_LOG_WARN, "%s could not be given the mode of %s: %s", name, target, strerror(errno));
    }
    if (!write_all(file, text, length)) {
      failed = "written";
      error = errno;
    } else if (fsync(file)) {
      failed = "synchronised";
      error = errno;
    }
    if (close(file) && !failed) {
      failed = "closed";
      error = errno;
    }
    if (!failed && rename(name, target)) {
      failed = "renamed";
      error = errno;
    }
    if (failed) unlink(name);
  }
  cuttResult result = CUTT_SUCCESS;
  if (failed) {
    result = cutt_error(CUTT_INTERNAL_ERROR, "\"%s\" is as it was, because its temporary \"%s\" could not be %s: %s",
                        target, name, failed, strerror(error));
  } else {
    sync_folder(name);
  }
  free(name);
  return result;
}

/* Where path leads to, for free(), and its mode; NULL and 0 when nothing is there. */
static cuttResult follow(const char *argument, const char *path, char **target, mode_t *mode) {
  struct stat status;
  *mode = 0;
  *target = realpath(path, NULL);
  if (!*target) {
    if (errno == ENOENT) return CUTT_SUCCESS;
    return cutt_error(errno == ENOMEM ? CUTT_INTERNAL_ERROR : CUTT_INVALID_PARAMETER,
                      "%s is \"%s\", which can't be followed: %s", argument, path, strerror(errno));
  }
  if (stat(*target, &status) || !S_ISREG(status.st_mode)) {
    free(*target);
    *target = NULL;
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is \"%s\", which is there and not a regular file", argument, path);
  }
  *mode = status.st_mode;
  return CUTT_SUCCESS;
}

cuttResult cutt_file_writable(const char *argument, const char *path) {
  char *target = NULL;
  mode_t mode = 0;
  cuttResult result = follow(argument, path, &target, &mode);
  if (result) return result;
  char *folder = strdup(target ? target : path);
  free(target);
  if (!folder) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: the name of a folder");
  char *slash = strrchr(folder, '/');
  if (slash) slash[slash == folder] = 0;
  if (access(slash ? folder : ".", W_OK | X_OK)) {
    result = cutt_error(CUTT_INVALID_PARAMETER, "%s is \"%s\", and in its folder \"%s\" no file can be created: %s",
                        argument, path, slash ? folder : ".", strerror(errno));
  }
  free(folder);
  return result;
}

cuttResult cutt_file_replace(const char *argument, const char *path, const char *text, size_t length) {
  char *target = NULL;
  mode_t mode = 0;
  cuttResult result = follow(argument, path, &target, &mode);
  if (!result) result = replace(target ? target : path, mode, text, length);
  free(target);
  return result;
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
