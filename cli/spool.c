/* Where a stream is kept whole; see spool.h. */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli.h"
#include "descriptor.h"
#include "guard.h"
#include "pieces/memory.h"

/* In a folder; -1: errno. */
static int create_file(const char *folder) {
  const int nameless = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (nameless >= 0) return nameless;
  char name[PATH_MAX];
  if (snprintf(name, sizeof name, "%s/.cutt.XXXXXX", folder) >= (int)sizeof name) {
    errno = ENAMETOOLONG;
    return -1;
  }
  sigset_t before;
  cutt_guard_block_signals(&before); /* so that the name does not stay behind */
  const int descriptor = mkostemp(name, O_CLOEXEC);
  const int error = errno;
  if (descriptor >= 0) unlink(name);
  sigprocmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return descriptor;
}

int cutt_spool_create(const char *name, size_t bytes, size_t memory) {
  const size_t most = memory ? memory / 2 : cutt_memory_free() / 4;
  const char *folder = getenv("TMPDIR");
  if (!folder || !*folder) folder = "/var/tmp";
  int descriptor = bytes <= most ? memfd_create("cutt", MFD_CLOEXEC) : -1;
  const bool in_memory = descriptor >= 0;
  if (!in_memory) descriptor = create_file(folder);
  const int error = descriptor < 0 ? errno : cutt_descriptor_take_room(descriptor, bytes);
  if (!error) return descriptor;
  if (descriptor >= 0) close(descriptor);
  if (in_memory)
    cutt_cli_message("%s: there is no memory for its %zu bytes: %s", name, bytes, strerror(error));
  else
    cutt_cli_message("%s: there is no room for its %zu bytes in %s: %s; TMPDIR may name another folder", name, bytes,
                     folder, strerror(error));
  return -1;
}
