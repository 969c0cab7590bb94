/* Input files; see input.h.
 *
 * A mapping rather than reads: the work goes straight from the page cache, and the tensor is never held in buffers of
 * this program. Its cost is that a file which becomes shorter, or a disk that fails, shows as a signal: guard.c has
 * the handler. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "archive.h"
#include "descriptor.h"
#include "guard.h"
#include "hdf5_input.h"
#include "mapping.h"
#include "spool.h"

/* ------------------------------------------------------------------------------------------------------ descriptors */

static bool refuse(const cutt_input *in, const char *why) {
  cutt_cli_message("%s: %s", in->path, why);
  return false;
}

/* Maps all of the descriptor's file. */
static bool map(cutt_input *in) {
  if (fstat(in->descriptor, &in->status) != 0) {
    cutt_cli_message("%s: can't be read: %s", in->path, strerror(errno));
    return false;
  }
  if (!S_ISREG(in->status.st_mode)) {
    cutt_cli_message("%s: is %s; the input must be an .npy file", in->path,
                     S_ISDIR(in->status.st_mode) ? "a folder, and no Zarr array" : "not a regular file");
    return false;
  }
  if (in->status.st_size == 0) return refuse(in, "is empty; the input must be an .npy file");
  in->bytes = (size_t)in->status.st_size;
  void *data = mmap(NULL, in->bytes, PROT_READ, MAP_PRIVATE, in->descriptor, 0);
  if (data == MAP_FAILED) {
    cutt_cli_message("%s: its %zu bytes can't be mapped into memory: %s", in->path, in->bytes, strerror(errno));
    return false;
  }
  in->data = data;
  cutt_guard_input(in->path, in->data, in->bytes);
  return true;
}

/* The array is in bytes begin .. end-1 of the file. */
static bool parse(cutt_input *in, size_t begin, size_t end) {
  char why[CUTT_NPY_WHY];
  if (!cutt_npy_parse(in->data + begin, end - begin, &in->npy, why) ||
      !cutt_npy_check_length(&in->npy, (int64_t)(end - begin), why))
    return refuse(in, why);
  in->npy.data_start += (int64_t)begin;
  return true;
}

/* ----------------------------------------------------------------------------------------------------- standard input */

/* As many bytes as there are, up to this many; -1: errno. */
static ssize_t read_fully(int descriptor, uint8_t *to, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = read(descriptor, to + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += (size_t)got;
  }
  return (ssize_t)done;
}

/* The header of a stream, which may be shorter than it should be; *bytes of it. */
static bool read_stream_header(cutt_input *in, uint8_t *buffer, size_t *bytes) {
  enum { FIXED = 12 };
  const ssize_t first = read_fully(STDIN_FILENO, buffer, FIXED);
  ssize_t more = 0;
  if (first == FIXED) {
    size_t length = (size_t)buffer[8] | (size_t)buffer[9] << 8;
    size_t whole = 10 + length;
    if (buffer[6] > 1) whole = FIXED + (length | (size_t)buffer[10] << 16 | (size_t)buffer[11] << 24);
    if (whole > FIXED + CUTT_NPY_MAX_HEADER) whole = FIXED; /* which will be refused */
    more = whole > FIXED ? read_fully(STDIN_FILENO, buffer + FIXED, whole - FIXED) : 0;
  }
  if (first < 0 || more < 0) {
    cutt_cli_message("%s: can't be read: %s", in->path, strerror(errno));
    return false;
  }
  *bytes = (size_t)(first + more);
  return *bytes > 0 || refuse(in, "is empty; the input must be an .npy file");
}

/* The elements, from the stream to where it is kept. */
static bool keep_elements(cutt_input *in, const cutt_npy *npy, uint8_t *buffer, size_t room) {
  char why[CUTT_NPY_WHY];
  for (int64_t done = 0; done < npy->data_bytes;) {
    const int64_t left = npy->data_bytes - done;
    const ssize_t got = read_fully(STDIN_FILENO, buffer, (uint64_t)left < room ? (size_t)left : room);
    if (got < 0) {
      cutt_cli_message("%s: can't be read: %s", in->path, strerror(errno));
      return false;
    }
    if (!cutt_descriptor_write(in->descriptor, buffer, (size_t)got, (off_t)(npy->data_start + done))) {
      cutt_cli_message("%s: could not be kept for a while: %s", in->path, strerror(errno));
      return false;
    }
    done += got;
    if ((size_t)got < room && done < npy->data_bytes) {
      cutt_npy_check_length(npy, npy->data_start + done, why);
      return refuse(in, why);
    }
  }
  return true;
}

static bool keep_stream(cutt_input *in, size_t memory) {
  const size_t room = CUTT_NPY_MAX_HEADER + 64;
  uint8_t *buffer = malloc(room);
  if (!buffer) return refuse(in, "there is no memory to read it with");
  char why[CUTT_NPY_WHY];
  size_t bytes = 0;
  cutt_npy npy;
  bool good = read_stream_header(in, buffer, &bytes);
  if (good && !cutt_npy_parse(buffer, bytes, &npy, why)) good = refuse(in, why);
  if (good) {
    in->descriptor = cutt_spool_create(in->path, (size_t)(npy.data_start + npy.data_bytes), memory);
    good = in->descriptor >= 0;
  }
  if (good && !cutt_descriptor_write(in->descriptor, buffer, bytes, 0))
    good = refuse(in, "could not be kept for a while");
  good = good && keep_elements(in, &npy, buffer, room);
  free(buffer);
  return good && map(in) && parse(in, 0, in->bytes);
}

static bool open_stream(cutt_input *in, size_t memory) {
  in->path = "standard input";
  struct stat status;
  if (fstat(STDIN_FILENO, &status) != 0) {
    cutt_cli_message("%s: can't be read: %s", in->path, strerror(errno));
    return false;
  }
  if (isatty(STDIN_FILENO)) return refuse(in, "is a terminal; the input must be an .npy file, from a pipe or by '<'");
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return keep_stream(in, memory);
  in->descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  const off_t begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (!map(in)) return false;
  if (begin < 0 || (size_t)begin >= in->bytes) return refuse(in, "is empty; the input must be an .npy file");
  return parse(in, (size_t)begin, in->bytes);
}

/* ------------------------------------------------------------------------------------------------------------ archives */

/* The whole of a compressed member takes the place of the archive. */
static bool inflate_member(cutt_input *in, const cutt_archive_member *member, size_t memory) {
  char why[CUTT_ARCHIVE_WHY];
  const int descriptor = cutt_spool_create(in->path, member->whole, memory);
  if (descriptor < 0) return false;
  const bool good = cutt_archive_inflate(in->data, member, descriptor, why);
  cutt_input_close(in);
  in->descriptor = descriptor;
  return good ? map(in) && parse(in, 0, in->bytes) : refuse(in, why);
}

static bool open_member(cutt_input *in, const char *name, size_t memory) {
  char why[CUTT_ARCHIVE_WHY];
  cutt_archive_member member;
  if (!cutt_archive_find(in->data, in->bytes, name, &member, why)) return refuse(in, why);
  if (member.compressed) return inflate_member(in, &member, memory);
  return parse(in, member.offset, member.offset + member.whole);
}

/* ---------------------------------------------------------------------------------------------------------- data sets */

/* Where the elements lie in the file as in an .npy file they are used there; else a copy takes its place. */
static bool open_data_set(cutt_input *in, const char *path, const char *name, size_t memory) {
  char why[CUTT_HDF5_WHY];
  cutt_hdf5 set;
  if (!cutt_hdf5_open(&set, path, name, why)) return refuse(in, why);
  const cutt_npy npy = set.npy;
  const int64_t offset = set.offset;
  bool good = true;
  if (offset < 0) {
    close(in->descriptor);
    in->descriptor = cutt_spool_create(in->path, (size_t)(npy.data_start + npy.data_bytes), memory);
    good = in->descriptor >= 0 && (cutt_hdf5_copy(&set, in->descriptor, why) || refuse(in, why));
  }
  cutt_hdf5_close(&set);
  if (!good || !map(in)) return false;
  if (offset < 0) return parse(in, 0, in->bytes);
  in->npy = npy;
  in->npy.data_start = offset;
  return cutt_npy_check_length(&in->npy, (int64_t)in->bytes, why) || refuse(in, why);
}

/* -------------------------------------------------------------------------------------------------------- Zarr arrays */

static bool open_zarr(cutt_input *in) {
  char why[CUTT_ZARR_WHY];
  in->zarr = malloc(sizeof *in->zarr);
  if (!in->zarr) return refuse(in, "there is no memory to read it with");
  if (!cutt_zarr_open(in->zarr, in->path, why)) return refuse(in, why);
  in->npy = in->zarr->meta.npy;
  return true;
}

/* A folder with the metadata of a Zarr array, or group, which is refused by what it is. */
static bool is_zarr(const cutt_input *in) {
  return faccessat(in->descriptor, ".zarray", F_OK, 0) == 0 || faccessat(in->descriptor, "zarr.json", F_OK, 0) == 0;
}

/* ----------------------------------------------------------------------------------------------------------------- all */

/* The colon of FILE.npz:NAME or FILE.h5:/NAME, where there is no file of all of this name; else NULL. */
static const char *find_colon(const char *path, bool *hdf5) {
  static const char *const endings[] = {".npz:", ".h5:", ".hdf5:"};
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; ++i) {
    const char *found = strstr(path, endings[i]);
    *hdf5 = i > 0;
    if (found && access(path, F_OK) != 0) return found + strlen(endings[i]) - 1;
  }
  return NULL;
}

bool cutt_input_open(cutt_input *in, const char *path, size_t memory) {
  memset(in, 0, sizeof *in);
  in->path = path;
  in->descriptor = -1;
  if (!strcmp(path, "-")) return open_stream(in, memory);
  bool hdf5 = false;
  const char *colon = find_colon(path, &hdf5);
  char *archive = colon ? strndup(path, (size_t)(colon - path)) : NULL;
  /* Nonblocking: a FIFO without a writer is refused below and not waited for. */
  in->descriptor = open(archive ? archive : path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (in->descriptor < 0) {
    cutt_cli_message("%s: can't be read: %s", path, strerror(errno));
    free(archive);
    return false;
  }
  const bool opened = archive && hdf5 && open_data_set(in, archive, colon + 1, memory);
  free(archive);
  if (colon && hdf5) return opened;
  if (is_zarr(in)) return fstat(in->descriptor, &in->status) == 0 && open_zarr(in);
  if (!map(in)) return false;
  if (colon || cutt_archive_is(in->data, in->bytes)) return open_member(in, colon ? colon + 1 : "", memory);
  return parse(in, 0, in->bytes);
}

void cutt_input_close(cutt_input *in) {
  if (in->data) {
    cutt_guard_release_input(in->data);
    munmap((void *)(uintptr_t)in->data, in->bytes);
  }
  if (in->descriptor >= 0) close(in->descriptor);
  if (in->zarr) cutt_zarr_close(in->zarr);
  free(in->zarr);
  in->zarr = NULL;
  in->data = NULL;
  in->descriptor = -1;
}

/* One that was cut within its last page reads as zeros there, without a signal, and one that was written to meanwhile
 * may have been read half old and half new. */
bool cutt_input_unchanged(const cutt_input *in) {
  struct stat now;
  if (in->zarr) return true; /* a chunk of another size is found when it is read */
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
