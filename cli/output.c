/* The output file; see output.h.
 *
 * Where the file system has files without a name (O_TMPFILE), the file has none until it is complete, so that nothing
 * is left of it however the program ends, SIGKILL included. It gets its name by a link, which never replaces a file:
 * what is wanted without --force. With it, where there is a file, it gets a name beside that and is renamed at once.
 * Elsewhere it has that other name from the beginning, and signals that end the program remove it.
 *
 * Why a mapping: the permutation writes in an order that only memory allows, and straight into the page cache,
 * without a second buffer of the size of the tensor. Its cost is that disk errors come as signals: room is therefore
 * allocated beforehand, and SIGBUS has a handler (guard.h). */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli.h"
#include "descriptor.h"
#include "guard.h"
#include "leftover.h"
#include "mapping.h"
#include "spool.h"
#include "zarr/zarr.h"

/* ------------------------------------------------------------------------------------------------------- checking */

/* Length of the folder part of path, its last slash included; 0 when it has none. */
static size_t folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool check_folder(const char *path) {
  char folder[PATH_MAX];
  size_t length = folder_length(path);
  if (length >= sizeof folder) {
    cutt_cli_message("%s: the path is longer than %d bytes", path, PATH_MAX - 1);
    return false;
  }
  snprintf(folder, sizeof folder, "%.*s", (int)length, path);
  if (length == 0) snprintf(folder, sizeof folder, ".");
  struct stat status;
  if (stat(folder, &status) != 0) {
    cutt_cli_message("%s: its folder can't be used: %s: %s", path, folder, strerror(errno));
    return false;
  }
  if (!S_ISDIR(status.st_mode)) {
    cutt_cli_message("%s: %s is not a folder", path, folder);
    return false;
  }
  if (access(folder, W_OK | X_OK) != 0) {
    cutt_cli_message("%s: files can't be created in its folder %s: %s", path, folder, strerror(errno));
    return false;
  }
  return true;
}

bool cutt_output_is_stream(const char *path) { return !strcmp(path, "-"); }

bool cutt_output_check(const char *path, const char *input, bool force) {
  struct stat status, input_status;
  if (cutt_output_is_stream(path)) {
    if (!isatty(STDOUT_FILENO)) return true;
    cutt_cli_message("standard output: is a terminal; the output needs a pipe, or a file by '>'");
    return false;
  }
  if (!*path) {
    cutt_cli_message("the name of the output is empty");
    return false;
  }
  if (lstat(path, &status) != 0) {
    if (errno != ENOENT) {
      cutt_cli_message("%s: can't be created: %s", path, strerror(errno));
      return false;
    }
    if (path[strlen(path) - 1] == '/') {
      cutt_cli_message("%s: is the name of a folder; the output needs a file's name", path);
      return false;
    }
    return check_folder(path);
  }
  if (S_ISLNK(status.st_mode) && stat(path, &status) != 0) {
    cutt_cli_message("%s: is a symbolic link to something that can't be used: %s; remove it first", path,
                     strerror(errno));
    return false;
  }
  if (S_ISDIR(status.st_mode)) {
    cutt_cli_message("%s: is a folder; the output needs a file's name", path);
    return false;
  }
  if (!S_ISREG(status.st_mode)) {
    cutt_cli_message("%s: is not a regular file and can't be replaced by one", path);
    return false;
  }
  bool same =
      stat(input, &input_status) == 0 && input_status.st_dev == status.st_dev && input_status.st_ino == status.st_ino;
  if (!force) {
    if (same)
      cutt_cli_message("%s: is the input itself; --force replaces it by the result", path);
    else
      cutt_cli_message("%s: exists; --force replaces it", path);
    return false;
  }
  if (access(path, W_OK) != 0 && (errno == EPERM || errno == EROFS)) { /* else its own mode is no obstacle */
    cutt_cli_message("%s: can't be replaced: %s", path, strerror(errno));
    return false;
  }
  char *resolved = realpath(path, NULL);
  bool good = check_folder(resolved ? resolved : path);
  free(resolved);
  return good;
}

/* ------------------------------------------------------------------------------------------------------- creating */

/* A name ".NAME.xxxxxx" beside the destination, into memory of PATH_MAX bytes. False: errno. */
static bool make_name(const cutt_output *output, char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  const size_t folder = folder_length(output->path);
  unsigned char random[CUTT_LEFTOVER_LETTERS];
  char suffix[sizeof random + 1] = "";
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return false;
  for (size_t j = 0; j < sizeof random; ++j) suffix[j] = letters[random[j] % (sizeof letters - 1)];
  const int length = snprintf(name, PATH_MAX, "%.*s.%.*s.%s", (int)folder, output->path, CUTT_LEFTOVER_NAME,
                              output->path + folder, suffix);
  if (length >= 0 && (size_t)length < PATH_MAX) return true;
  errno = ENAMETOOLONG;
  return false;
}

enum { TRIES = 100 }; /* of names that somebody may have */

/* Looks for a name beside the destination that nobody has, until try_name does not fail because somebody has it. It is
 * guarded before it can be there. False: errno. The caller has the signals blocked. */
static bool find_name(cutt_output *output, bool (*try_name)(cutt_output *output)) {
  char *const temporary = cutt_guard_temporary();
  for (int i = 0; i < TRIES; ++i) {
    if (!make_name(output, temporary)) break;
    if (try_name(output)) return true;
    if (errno != EEXIST) break;
  }
  temporary[0] = 0;
  return false;
}

/* One that replaces another is nobody else's to read until it has that one's mode. */
static mode_t first_mode(const cutt_output *output) { return output->exists ? 0600 : 0666; }

static bool open_named(cutt_output *output) {
  output->descriptor = open(cutt_guard_temporary(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, first_mode(output));
  return output->descriptor >= 0;
}

/* A file without a name is given one by way of this path, which takes /proc and no privilege. */
static bool link_to(const cutt_output *output, const char *name) {
  char own[32];
  snprintf(own, sizeof own, "/proc/self/fd/%d", output->descriptor);
  return (name ? linkat(AT_FDCWD, own, AT_FDCWD, name, AT_SYMLINK_FOLLOW) : access(own, F_OK)) == 0;
}

/* A file that has no name, in the folder of the destination; -1: errno. */
static int create_nameless(const cutt_output *output, mode_t mode) {
  const size_t folder = folder_length(output->path);
  char *path = folder ? strndup(output->path, folder) : strdup(".");
  const int descriptor = path ? open(path, O_RDWR | O_TMPFILE | O_CLOEXEC, mode) : -1;
  const int error = errno;
  free(path);
  errno = error;
  return descriptor;
}

static bool open_nameless(cutt_output *output) {
  output->descriptor = create_nameless(output, first_mode(output));
  if (output->descriptor < 0) return false;
  if (link_to(output, NULL)) return true;
  close(output->descriptor);
  output->descriptor = -1;
  return false;
}

static bool open_new(cutt_output *output, bool named) {
  if (!named && open_nameless(output)) return true;
  sigset_t before;
  cutt_guard_block_signals(&before);
  bool opened = find_name(output, open_named);
  int error = errno;
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (!opened) cutt_cli_message("%s: a new file can't be created beside it: %s", output->path, strerror(error));
  return opened;
}

/* The list of who may do what, where there is one beside the nine bits. */
static bool take_access_list(const cutt_output *output) {
  static const char list[] = "system.posix_acl_access";
  ssize_t size = getxattr(output->path, list, NULL, 0);
  bool none = size < 0 && (errno == ENODATA || errno == EOPNOTSUPP);
  /* The folder may have given it one. */
  if (none) return fremovexattr(output->descriptor, list) == 0 || errno == ENODATA || errno == EOPNOTSUPP;
  void *value = size < 0 ? NULL : malloc((size_t)size + 1);
  if (!value) return false;
  size = getxattr(output->path, list, value, (size_t)size);
  bool taken = size >= 0 && fsetxattr(output->descriptor, list, value, (size_t)size, 0) == 0;
  free(value);
  return taken;
}

/* Whose the file is that is replaced, and who may do what with it, holds for the new one. */
static bool take_access(const cutt_output *output) {
  struct stat mine, theirs;
  int descriptor = output->descriptor;
  if (stat(output->path, &theirs) != 0) return true; /* it has gone: there is nobody to keep it for */
  if (fstat(descriptor, &mine) != 0) {
    cutt_cli_message("%s: the new file can't be examined: %s", output->path, strerror(errno));
    return false;
  }
  /* What is not its own is changed only: without privilege that is refused, even to what it is. */
  if ((theirs.st_uid != mine.st_uid && fchown(descriptor, theirs.st_uid, (gid_t)-1) != 0) ||
      (theirs.st_gid != mine.st_gid && fchown(descriptor, (uid_t)-1, theirs.st_gid) != 0)) {
    cutt_cli_message(
        "%s: belongs to user %ld and group %ld, and the new file can't be given to them: %s; remove it first, or "
        "write elsewhere",
        output->path, (long)theirs.st_uid, (long)theirs.st_gid, strerror(errno));
    return false;
  }
  if (!take_access_list(output) || fchmod(descriptor, theirs.st_mode & 0777) != 0) {
    cutt_cli_message(
        "%s: the new file can't be given its mode %03o and access list: %s; remove it first, or write elsewhere",
        output->path, (unsigned)theirs.st_mode & 0777U, strerror(errno));
    return false;
  }
  return true;
}

static bool allocate(cutt_output *output) {
  const int error = cutt_descriptor_take_room(output->descriptor, output->bytes);
  if (!error) return true;
  cutt_cli_message("%s: there is no room for its %zu bytes: %s", output->path, output->bytes, strerror(error));
  return false;
}

static bool open_file(cutt_output *output, const char *path, size_t bytes, bool force, bool named) {
  *output = (cutt_output){.descriptor = -1, .bytes = bytes, .replace = force};
  /* A symbolic link stays, and what it points to is replaced. */
  struct stat status;
  output->exists = force && stat(path, &status) == 0;
  output->path = output->exists ? realpath(path, NULL) : strdup(path);
  if (!output->path) {
    cutt_cli_message("%s: can't be resolved: %s", path, strerror(errno));
    return false;
  }
  cutt_guard_start();
  if (open_new(output, named) && (!output->exists || take_access(output)) && allocate(output)) return true;
  cutt_output_abandon(output);
  return false;
}

bool cutt_output_open(cutt_output *output, const char *path, size_t bytes, bool force, size_t memory) {
  if (!cutt_output_is_stream(path)) return open_file(output, path, bytes, force, false);
  *output = (cutt_output){.bytes = bytes, .stream = true, .path = strdup("standard output"), .descriptor = -1};
  if (output->path) output->descriptor = cutt_spool_create(output->path, bytes, memory);
  if (output->descriptor >= 0) return true;
  cutt_output_abandon(output);
  return false;
}

bool cutt_output_open_named(cutt_output *output, const char *path, size_t bytes, bool force) {
  return open_file(output, path, bytes, force, true);
}

bool cutt_output_open_shared(cutt_output *output, const char *path, const char *temporary, size_t bytes) {
  *output = (cutt_output){.bytes = bytes, .path = strdup(path), .descriptor = open(temporary, O_RDWR | O_CLOEXEC)};
  if (output->descriptor < 0 && errno == EISDIR) {
    output->folder = true;
    output->descriptor = open(temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  if (output->path && output->descriptor >= 0) return true;
  cutt_cli_message("%s: the new file that rank 0 has made for it, %s, can't be opened: %s", path, temporary,
                   strerror(errno));
  cutt_output_abandon(output);
  return false;
}

/* ------------------------------------------------------------------------------------------------------- folders */

bool cutt_output_check_folder(const char *path, bool force) {
  struct stat status;
  char *resolved = realpath(path, NULL);
  bool good = false;
  if (lstat(path, &status) != 0 || !resolved)
    good = check_folder(path);
  else if (!cutt_zarr_is(path))
    cutt_cli_message("%s: exists, and is no Zarr array, which is all that a Zarr array replaces", path);
  else if (!force)
    cutt_cli_message("%s: exists; --force replaces it", path);
  else
    good = check_folder(resolved);
  free(resolved);
  return good;
}

static bool make_folder(cutt_output *output) {
  return mkdir(cutt_guard_temporary(), output->exists ? 0700 : 0777) == 0;
}

bool cutt_output_open_folder(cutt_output *output, const char *path, bool force) {
  struct stat status;
  *output = (cutt_output){.descriptor = -1, .replace = force, .folder = true};
  output->exists = force && stat(path, &status) == 0;
  output->path = output->exists ? realpath(path, NULL) : strdup(path);
  if (!output->path) {
    cutt_cli_message("%s: can't be resolved: %s", path, strerror(errno));
    return false;
  }
  cutt_leftover_remove(output->path);
  cutt_guard_start();
  sigset_t before;
  cutt_guard_block_signals(&before);
  const bool made = find_name(output, make_folder);
  if (made) output->descriptor = open(cutt_guard_temporary(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int error = errno;
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (output->descriptor < 0)
    cutt_cli_message("%s: a new folder can't be created beside it: %s", path, strerror(error));
  else if (!output->exists || take_access(output)) {
    cutt_leftover_mark(output->descriptor);
    return true;
  }
  cutt_output_abandon(output);
  return false;
}

/* Where there is one it is exchanged for the new one, which has no moment without either, and removed. */
static int rename_folder(const cutt_output *output) {
  char *const temporary = cutt_guard_temporary();
  if (renameat2(AT_FDCWD, temporary, AT_FDCWD, output->path, RENAME_NOREPLACE) == 0) return 0;
  if (errno == EEXIST && output->replace && cutt_zarr_is(output->path)) {
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, output->path, RENAME_EXCHANGE) != 0) return -1;
    cutt_guard_remove(temporary);
    return 0;
  }
  if ((errno != EINVAL && errno != ENOSYS) || access(output->path, F_OK) == 0) return -1;
  return rename(temporary, output->path); /* a file system without these, and nothing to replace */
}

bool cutt_output_create(cutt_output *output, const char *path, size_t bytes, bool force, size_t memory) {
  if (!cutt_output_open(output, path, bytes, force, memory)) return false;
  void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, output->descriptor, 0);
  if (data != MAP_FAILED) {
    output->data = data;
    cutt_guard_output(output->data, bytes);
    return true;
  }
  cutt_cli_message("%s: its %zu bytes can't be mapped into memory: %s", path, bytes, strerror(errno));
  cutt_output_abandon(output);
  return false;
}

bool cutt_output_write_header(const cutt_output *output, const uint8_t *header, size_t bytes) {
  if (output->data) {
    memcpy(output->data, header, bytes);
    return true;
  }
  if (pwrite(output->descriptor, header, bytes, 0) == (ssize_t)bytes) return true;
  cutt_cli_message("%s: could not be written: %s", output->path, strerror(errno));
  return false;
}

/* One that has a name only until it is open. */
static int create_and_unlink(const cutt_output *output) {
  char name[PATH_MAX];
  int descriptor = -1, error = 0;
  sigset_t before;
  cutt_guard_block_signals(&before);
  for (int i = 0; i < TRIES && descriptor < 0 && make_name(output, name); ++i) {
    descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    error = errno;
    if (descriptor >= 0) unlink(name);
    if (error != EEXIST) break;
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return descriptor;
}

int cutt_output_intermediate(const cutt_output *output, size_t bytes, const char *advice) {
  if (output->stream) return cutt_spool_create("the intermediate file", bytes, 1);
  int descriptor = create_nameless(output, 0600);
  if (descriptor < 0) descriptor = create_and_unlink(output);
  const int error = descriptor < 0 ? errno : cutt_descriptor_take_room(descriptor, bytes);
  if (!error) return descriptor;
  cutt_cli_message("%s: there is no room beside it for the intermediate file of %zu bytes: %s; %s", output->path, bytes,
                   strerror(error), advice);
  if (descriptor >= 0) close(descriptor);
  return -1;
}

bool cutt_output_populate(const cutt_output *output, cutt_cli_progress *progress) {
  if (cutt_mapping_populate(output->data, output->bytes, true, "making room", progress)) return true;
  cutt_cli_progress_clear(progress);
  cutt_cli_message("%s: could not be written: the disk is full or failed", output->path);
  return false;
}

/* ------------------------------------------------------------------------------------------------------- finishing */

static void release(cutt_output *output) {
  cutt_guard_output(NULL, 0);
  if (output->data) munmap(output->data, output->bytes);
  if (output->descriptor >= 0) close(output->descriptor);
  free(output->path);
  memset(output, 0, sizeof *output);
  output->descriptor = -1;
}

void cutt_output_abandon(cutt_output *output) {
  char *const temporary = cutt_guard_temporary();
  if (temporary[0]) cutt_guard_remove(temporary);
  temporary[0] = 0;
  release(output);
}

/* Gives the temporary the name of the destination. Without `replace` a file that came to be there meanwhile is left
 * alone: the kernel decides, so that there is no moment between looking and renaming. */
static int rename_temporary(const cutt_output *output) {
  const char *const temporary = cutt_guard_temporary();
  if (output->replace) return rename(temporary, output->path);
  if (renameat2(AT_FDCWD, temporary, AT_FDCWD, output->path, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  /* A file system without RENAME_NOREPLACE; a hard link never replaces either. */
  if (link(temporary, output->path) == 0) return unlink(temporary);
  if (errno == EEXIST) return -1;
  /* Nor hard links: look, then rename. */
  if (access(output->path, F_OK) == 0) {
    errno = EEXIST;
    return -1;
  }
  return rename(temporary, output->path);
}

static bool link_named(cutt_output *output) { return link_to(output, cutt_guard_temporary()); }

static int take_name(cutt_output *output) {
  if (output->folder) return rename_folder(output);
  if (*cutt_guard_temporary()) return rename_temporary(output);
  if (link_to(output, output->path)) return 0;
  if (errno != EEXIST || !output->replace || !find_name(output, link_named)) return -1;
  return rename_temporary(output);
}

static bool start_writing(const cutt_output *output, size_t from, size_t bytes) {
  return sync_file_range(output->descriptor, (off_t)from, (off_t)bytes, SYNC_FILE_RANGE_WRITE) == 0;
}

/* Writes the file to disk. Errors of writing through a mapping show here and nowhere else. */
static bool write_to_disk(cutt_output *output, cutt_cli_progress *progress) {
  if (output->folder) {
    cutt_cli_progress_show(progress, "writing to disk", 0.0);
    return syncfs(output->descriptor) == 0; /* all files at once, however many there are */
  }
  /* In blocks first, for the sake of the progress bar; the next one is handed to the disk before one is waited for. */
  const size_t block = (size_t)64 << 20;
  for (size_t done = 0; output->bytes > block && done < output->bytes; done += block) {
    cutt_cli_progress_show(progress, "writing to disk", (double)done / (double)output->bytes);
    const size_t rest = output->bytes - done, length = rest < block ? rest : block, next = rest - length;
    if ((next == 0 || start_writing(output, done + length, next < block ? next : block)) &&
        sync_file_range(output->descriptor, (off_t)done, (off_t)length,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) == 0)
      continue;
    if (errno != EINVAL && errno != ENOSYS && errno != ESPIPE && errno != EOPNOTSUPP) return false;
    break; /* not on this file system: all at once, then */
  }
  return (!output->data || msync(output->data, output->bytes, MS_SYNC) == 0) && fsync(output->descriptor) == 0;
}

/* Gives standard output everything. */
static bool write_to_stream(cutt_output *output, cutt_cli_progress *progress) {
  const size_t block = (size_t)1 << 20;
  uint8_t *buffer = malloc(block);
  bool good = buffer;
  for (size_t done = 0; good && done < output->bytes;) {
    cutt_cli_progress_show(progress, "writing", (double)done / (double)output->bytes);
    const size_t left = output->bytes - done;
    const ssize_t got = pread(output->descriptor, buffer, left < block ? left : block, (off_t)done);
    if (got < 0 && errno == EINTR) continue;
    good = got > 0;
    for (ssize_t put = 0; good && put < got;) {
      const ssize_t more = write(STDOUT_FILENO, buffer + put, (size_t)(got - put));
      good = more >= 0 || errno == EINTR;
      if (more > 0) put += more;
    }
    if (good) done += (size_t)got;
  }
  const int error = errno;
  free(buffer);
  cutt_cli_progress_clear(progress);
  if (!good) cutt_cli_message("%s: could not be written: %s", output->path, strerror(error));
  cutt_output_abandon(output);
  return good;
}

bool cutt_output_flush(cutt_output *output, cutt_cli_progress *progress) {
  const bool written = write_to_disk(output, progress);
  const int error = errno;
  cutt_cli_progress_clear(progress);
  if (!written) cutt_cli_message("%s: could not be written to disk: %s", output->path, strerror(error));
  return written;
}

bool cutt_output_commit(cutt_output *output, cutt_cli_progress *progress) {
  if (output->stream) return write_to_stream(output, progress);
  if (!cutt_output_flush(output, progress)) {
    cutt_output_abandon(output);
    return false;
  }
  if (output->replace && !take_access(output)) { /* once more: it may have changed, or have come to be there */
    cutt_output_abandon(output);
    return false;
  }
  sigset_t before;
  cutt_guard_block_signals(&before);
  if (output->folder) cutt_leftover_unmark(output->descriptor);
  bool renamed = take_name(output) == 0;
  int error = errno;
  if (renamed) *cutt_guard_temporary() = 0;
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (!renamed) {
    if (error == EEXIST)
      cutt_cli_message("%s: was created by someone else meanwhile and is left alone; --force replaces it",
                       output->path);
    else
      cutt_cli_message("%s: the finished result could not be given this name: %s", output->path, strerror(error));
    cutt_output_abandon(output);
    return false;
  }
  release(output);
  return true;
}
