/* What killed runs leave (leftover.h). */
#include "leftover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "cli.h"
#include "guard.h"

static const char mark[] = ".cutt-unfinished";

enum { TEXT_BYTES = 256 };

/* The machine since it was started, and the namespace that numbers of processes are of. */
static bool describe_place(char place[TEXT_BYTES]) {
  char boot[64] = "", namespace[64] = "";
  const int descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  const ssize_t got = descriptor < 0 ? -1 : read(descriptor, boot, sizeof boot - 1);
  if (descriptor >= 0) close(descriptor);
  boot[strcspn(boot, "\n")] = 0;
  if (got < 36 || readlink("/proc/self/ns/pid", namespace, sizeof namespace - 1) <= 0) return false;
  snprintf(place, TEXT_BYTES, "%s %s", boot, namespace);
  return true;
}

void cutt_leftover_mark(int folder) {
  char place[TEXT_BYTES], text[TEXT_BYTES + 64];
  if (!describe_place(place)) return;
  const int descriptor = openat(folder, mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return;
  const int length = snprintf(text, sizeof text, "cutt %s %ld\n", place, (long)getpid());
  const bool written = write(descriptor, text, (size_t)length) == length;
  close(descriptor);
  if (!written) cutt_leftover_unmark(folder);
}

void cutt_leftover_unmark(int folder) { unlinkat(folder, mark, 0); }

/* Does the folder's mark name a process that is gone? */
static bool is_left(int folder) {
  char place[TEXT_BYTES], text[TEXT_BYTES + 64] = "", begin[TEXT_BYTES + 16];
  const int descriptor = openat(folder, mark, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  const ssize_t got = descriptor < 0 ? -1 : read(descriptor, text, sizeof text - 1);
  if (descriptor >= 0) close(descriptor);
  if (got <= 0 || text[got - 1] != '\n' || !describe_place(place)) return false;
  snprintf(begin, sizeof begin, "cutt %s ", place);
  if (strncmp(text, begin, strlen(begin)) != 0) return false;
  char *end = NULL;
  const long number = strtol(text + strlen(begin), &end, 10);
  return *end == '\n' && number > 0 && number <= INT_MAX && kill((pid_t)number, 0) != 0 && errno == ESRCH;
}

/* ".NAME." and some letters and digits. */
static bool is_name_of(const char *entry, const char *name) {
  char begin[256];
  const int length = snprintf(begin, sizeof begin, ".%.*s.", CUTT_LEFTOVER_NAME, name);
  const char *rest = entry + length;
  if (strncmp(entry, begin, (size_t)length) != 0 || strlen(rest) != CUTT_LEFTOVER_LETTERS) return false;
  return strspn(rest, "abcdefghijklmnopqrstuvwxyz0123456789") == CUTT_LEFTOVER_LETTERS;
}

void cutt_leftover_remove(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  char there[PATH_MAX];
  if (snprintf(there, sizeof there, "%.*s", (int)(name - path), path) >= PATH_MAX) return;
  DIR *folder = opendir(*there ? there : ".");
  for (const struct dirent *entry; folder && (entry = readdir(folder));) {
    if (!is_name_of(entry->d_name, name)) continue;
    const int own = openat(dirfd(folder), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const bool left = own >= 0 && is_left(own);
    if (own >= 0) close(own);
    if (!left || snprintf(there, sizeof there, "%.*s%s", (int)(name - path), path, entry->d_name) >= PATH_MAX) continue;
    cutt_guard_remove(there);
    cutt_cli_message("%s: was left by a run that had been killed, and is removed", there);
  }
  if (folder) closedir(folder);
}
