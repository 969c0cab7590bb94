/* Input files; see input.h.
 *
 * A mapping rather than reads: the work goes straight from the page cache, and the tensor is never held in buffers of
 * this program. Its cost is that a file which becomes shorter, or a disk that fails, shows as a signal: guard.c has
 * the handler. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guard.h"
#include "mapping.h"

bool cutt_input_open(cutt_input *in, const char *path) {
  memset(in, 0, sizeof *in);
  in->path = path;
  char why[CUTT_NPY_WHY];
  /* Nonblocking: a FIFO without a writer is refused below and not waited for. */
  in->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (in->descriptor < 0 || fstat(in->descriptor, &in->status) != 0) {
    cutt_cli_message("%s: can't be read: %s", path, strerror(errno));
    return false;
  }
  if (!S_ISREG(in->status.st_mode)) {
    cutt_cli_message("%s: is %s; the input must be an .npy file", path,
                     S_ISDIR(in->status.st_mode) ? "a folder" : "not a regular file");
    return false;
  }
  if (in->status.st_size == 0) {
    cutt_cli_message("%s: is empty; the input must be an .npy file", path);
    return false;
  }
  in->bytes = (size_t)in->status.st_size;
  void *data = mmap(NULL, in->bytes, PROT_READ, MAP_PRIVATE, in->descriptor, 0);
  if (data == MAP_FAILED) {
    cutt_cli_message("%s: its %zu bytes can't be mapped into memory: %s", path, in->bytes, strerror(errno));
    return false;
  }
  in->data = data;
  cutt_guard_input(path, in->data, in->bytes);
  if (!cutt_npy_parse(in->data, in->bytes, &in->npy, why) ||
      !cutt_npy_check_length(&in->npy, (int64_t)in->bytes, why)) {
    cutt_cli_message("%s: %s", path, why);
    return false;
  }
  return true;
}

void cutt_input_close(cutt_input *in) {
  if (in->data) {
    cutt_guard_release_input(in->data);
    munmap((void *)(uintptr_t)in->data, in->bytes);
  }
  if (in->descriptor >= 0) close(in->descriptor);
  in->data = NULL;
  in->descriptor = -1;
}

/* One that was cut within its last page reads as zeros there, without a signal, and one that was written to meanwhile
 * may have been read half old and half new. */
bool cutt_input_unchanged(const cutt_input *in) {
  struct stat now;
  if (fstat(in->descriptor, &now) != 0) {
    cutt_cli_message("%s: can't be read: %s", in->path, strerror(errno));
    return false;
  }
  if (now.st_size == in->status.st_size && now.st_mtim.tv_sec == in->status.st_mtim.tv_sec &&
      now.st_mtim.tv_nsec == in->status.st_mtim.tv_nsec)
    return true;
  cutt_cli_message("%s: was changed while it was read (%lld bytes, then %lld); no output is written", in->path,
                   (long long)in->status.st_size, (long long)now.st_size);
  return false;
}

bool cutt_input_populate(const cutt_input *in, cutt_cli_progress *progress) {
  if (in->npy.data_bytes == 0 ||
      cutt_mapping_populate(in->data + in->npy.data_start, (size_t)in->npy.data_bytes, false, "reading", progress))
    return true;
  cutt_cli_progress_clear(progress);
  cutt_cli_message("%s: could not be read: it became shorter meanwhile, or the disk failed", in->path);
  return false;
}
