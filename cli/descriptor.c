/* Bytes of files by their descriptors; see descriptor.h. */
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool cutt_descriptor_write(int descriptor, const void *from, size_t bytes, off_t offset) {
  const char *next = from;
  while (bytes > 0) {
    const ssize_t put = pwrite(descriptor, next, bytes, offset);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    next += put;
    bytes -= (size_t)put;
    offset += put;
  }
  return true;
}

int cutt_descriptor_take_room(int descriptor, size_t bytes) {
  if (ftruncate(descriptor, (off_t)bytes) != 0) return errno;
  int error = 0;
  do error = posix_fallocate(descriptor, 0, (off_t)bytes);
  while (error == EINTR);
  return error == EOPNOTSUPP || error == EINVAL ? 0 : error; /* a file system that can't: writing will tell */
}
