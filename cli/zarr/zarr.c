/* Zarr arrays in folders; see zarr.h.
 *
 * A chunk is read and decompressed whole, and what a box has of it is copied to its place by a permutation of strides,
 * in whatever order it is stored. Chunks at the end of an axis are stored at full size. */
#include "cli/zarr/zarr.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/descriptor.h"
#include "cli/guard.h"

enum { KEY = 1500, MOST_METADATA = 16 << 20 }; /* a key has 64 numbers of 20 digits at most */

/* ----------------------------------------------------------------------------------------------------------- opening */

static int64_t read_fully(int descriptor, uint8_t *to, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = pread(descriptor, to + done, bytes - done, (off_t)done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += (size_t)got;
  }
  return (int64_t)done;
}

/* All of a small file, which the caller frees; NULL: errno. */
static char *read_text(int folder, const char *name, size_t *bytes) {
  struct stat status;
  char *text = NULL;
  const int descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return NULL;
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= MOST_METADATA) {
    text = malloc((size_t)status.st_size + 1);
    const int64_t got = text ? read_fully(descriptor, (uint8_t *)text, (size_t)status.st_size) : -1;
    *bytes = got > 0 ? (size_t)got : 0;
  } else {
    errno = EFBIG;
  }
  close(descriptor);
  return text;
}

static int open_folder(const char *path) { return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

bool cutt_zarr_is(const char *path) {
  const int folder = open_folder(path);
  size_t bytes = 0;
  if (folder < 0) return false;
  bool found = faccessat(folder, ".zarray", F_OK, 0) == 0;
  char *text = found ? NULL : read_text(folder, "zarr.json", &bytes);
  found = found || (text && cutt_zarr_meta_is_array(text, bytes));
  free(text);
  close(folder);
  return found;
}

/* What follows from the metadata. */
static void derive(cutt_zarr *zarr) {
  const cutt_zarr_meta *meta = &zarr->meta;
  const int rank = meta->npy.rank;
  int64_t stride = 1;
  zarr->rank = rank > 0 ? rank : 1;
  zarr->extents[0] = zarr->chunk[0] = zarr->strides[0] = 1;
  for (int mode = 0; mode < rank; ++mode) {
    zarr->extents[mode] = meta->npy.shape[rank - 1 - mode];
    zarr->chunk[mode] = meta->chunk[rank - 1 - mode];
  }
  for (int i = rank - 1; i >= 0; --i) {
    const int mode = rank - 1 - meta->order[i];
    zarr->strides[mode] = stride;
    stride *= zarr->chunk[mode];
  }
  zarr->chunk_bytes = cutt_zarr_chunk_bytes(meta);
}

bool cutt_zarr_open(cutt_zarr *zarr, const char *path, char *why) {
  memset(zarr, 0, sizeof *zarr);
  pthread_mutex_init(&zarr->lock, NULL);
  zarr->descriptor = open_folder(path);
  if (zarr->descriptor < 0) return cutt_zarr_refuse(why, "can't be read: %s", strerror(errno));
  int format = 3;
  size_t bytes = 0;
  char *text = read_text(zarr->descriptor, "zarr.json", &bytes);
  if (!text && errno == ENOENT) {
    format = 2;
    text = read_text(zarr->descriptor, ".zarray", &bytes);
  }
  if (!text) return cutt_zarr_refuse(why, "its metadata can't be read: %s", strerror(errno));
  char reason[CUTT_ZARR_WHY];
  const bool good = cutt_zarr_meta_parse(text, bytes, format, &zarr->meta, reason);
  free(text);
  if (!good) return cutt_zarr_refuse(why, "%s: %.480s", format == 3 ? "zarr.json" : ".zarray", reason);
  derive(zarr);
  if (format == 3) return true;
  text = read_text(zarr->descriptor, ".zattrs", &bytes); /* which need not be there */
  if (text) zarr->meta.attributes = json_loadb(text, bytes, 0, NULL);
  free(text);
  return true;
}

static bool write_text(int folder, const char *name, const char *text, char *why) {
  const int descriptor = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  bool good = descriptor >= 0 && cutt_descriptor_write(descriptor, text, strlen(text), 0);
  if (!good) cutt_zarr_refuse(why, "%s could not be written: %s", name, strerror(errno));
  if (descriptor >= 0) close(descriptor);
  return good;
}

void cutt_zarr_describe(cutt_zarr *zarr, const cutt_zarr_meta *meta) {
  memset(zarr, 0, sizeof *zarr);
  pthread_mutex_init(&zarr->lock, NULL);
  zarr->descriptor = -1;
  zarr->meta = *meta;
  json_incref(zarr->meta.fill_value);
  json_incref(zarr->meta.attributes);
  json_incref(zarr->meta.names);
  derive(zarr);
}

bool cutt_zarr_create(cutt_zarr *zarr, const cutt_zarr_meta *meta, int folder, bool write_metadata, char *why) {
  cutt_zarr_describe(zarr, meta);
  zarr->descriptor = fcntl(folder, F_DUPFD_CLOEXEC, 0);
  if (zarr->descriptor < 0) return cutt_zarr_refuse(why, "can't be written: %s", strerror(errno));
  if (!write_metadata) return true;
  char *text = cutt_zarr_meta_text(meta, why);
  bool good = text && write_text(folder, meta->format == 3 ? "zarr.json" : ".zarray", text, why);
  free(text);
  if (!good || meta->format == 3 || json_object_size(meta->attributes) == 0) return good;
  text = json_dumps(meta->attributes, JSON_INDENT(2));
  good = text ? write_text(folder, ".zattrs", text, why) : cutt_zarr_refuse(why, "out of memory for the attributes");
  free(text);
  return good;
}

void cutt_zarr_close(cutt_zarr *zarr) {
  cutt_zarr_meta_release(&zarr->meta);
  for (int i = 0; i < CUTT_ZARR_SCRATCH; ++i) free(zarr->scratch[i]);
  if (zarr->descriptor >= 0) close(zarr->descriptor);
  pthread_mutex_destroy(&zarr->lock);
  zarr->descriptor = -1;
}

/* ----------------------------------------------------------------------------------------------------------- scratch */

static size_t stored_room(const cutt_zarr *zarr) {
  return zarr->meta.codec.kind == CUTT_ZARR_NONE
             ? 0
             : cutt_zarr_codec_bound(&zarr->meta.codec, (size_t)zarr->chunk_bytes) + 4096;
}

size_t cutt_zarr_thread_bytes(const cutt_zarr *zarr) { return (size_t)zarr->chunk_bytes + stored_room(zarr); }

/* Memory for one chunk, and for a compressed one behind it. */
static uint8_t *take_scratch(cutt_zarr *zarr) {
  uint8_t *found = NULL;
  pthread_mutex_lock(&zarr->lock);
  for (int i = 0; i < CUTT_ZARR_SCRATCH && !found; ++i) {
    found = zarr->scratch[i];
    zarr->scratch[i] = NULL;
  }
  pthread_mutex_unlock(&zarr->lock);
  return found ? found : malloc(cutt_zarr_thread_bytes(zarr));
}

static void return_scratch(cutt_zarr *zarr, uint8_t *memory) {
  pthread_mutex_lock(&zarr->lock);
  for (int i = 0; i < CUTT_ZARR_SCRATCH && memory; ++i)
    if (!zarr->scratch[i]) {
      zarr->scratch[i] = memory;
      memory = NULL;
    }
  pthread_mutex_unlock(&zarr->lock);
  free(memory);
}

/* ------------------------------------------------------------------------------------------------------------ chunks */

/* A chunk, and what a box has of it. */
typedef struct part {
  int64_t index[CUTT_MAX_RANK];                         /* of the chunk, by modes */
  int64_t begin[CUTT_MAX_RANK], extents[CUTT_MAX_RANK]; /* of what is common, in the array */
  char key[KEY];
} part;

static int64_t first_index(const cutt_zarr *zarr, const int64_t *origin, int mode) {
  return origin[mode] / zarr->chunk[mode];
}

static int64_t count_of(const cutt_zarr *zarr, const int64_t *origin, const int64_t *extents, int mode) {
  return (origin[mode] + extents[mode] - 1) / zarr->chunk[mode] - first_index(zarr, origin, mode) + 1;
}

int64_t cutt_zarr_count(const cutt_zarr *zarr, const int64_t *origin, const int64_t *extents) {
  int64_t count = 1;
  for (int mode = 0; mode < zarr->rank; ++mode) count *= count_of(zarr, origin, extents, mode);
  return count;
}

/* "0.3.1", "c/0/3/1": from the slowest axis on. */
static void write_key(const cutt_zarr *zarr, part *p) {
  int length = 0;
  const cutt_zarr_meta *meta = &zarr->meta;
  if (meta->prefixed) length = snprintf(p->key, KEY, "c");
  for (int i = 0; i < meta->npy.rank; ++i) {
    if (length > 0) p->key[length++] = meta->separator;
    length += snprintf(p->key + length, KEY - (size_t)length, "%lld", (long long)p->index[meta->npy.rank - 1 - i]);
  }
  if (length == 0) snprintf(p->key, KEY, "0");
}

/* The chunk of this number among those of the box. */
static void find_part(const cutt_zarr *zarr, const int64_t *origin, const int64_t *extents, int64_t number, part *p) {
  for (int mode = 0; mode < zarr->rank; ++mode) {
    const int64_t chunk = zarr->chunk[mode], count = count_of(zarr, origin, extents, mode);
    const int64_t index = first_index(zarr, origin, mode) + number % count, end = origin[mode] + extents[mode];
    number /= count;
    p->index[mode] = index;
    p->begin[mode] = index * chunk > origin[mode] ? index * chunk : origin[mode];
    /* Not (index + 1) * chunk, which may be more than there can be. */
    p->extents[mode] = end - index * chunk < chunk ? end - p->begin[mode] : index * chunk - p->begin[mode] + chunk;
  }
  write_key(zarr, p);
}

/* Copies what is common to a chunk and a box, one way or the other. */
static bool copy_part(const cutt_zarr *zarr, const part *p, const int64_t *origin, const int64_t *extents,
                      uint8_t *chunk, uint8_t *memory, bool to_memory, char *why) {
  int64_t strides[CUTT_MAX_RANK], stride = 1, in_chunk = 0, in_memory = 0;
  int perm[CUTT_MAX_RANK];
  const int elem_bytes = zarr->meta.npy.elem_bytes;
  for (int mode = 0; mode < zarr->rank; ++mode) {
    perm[mode] = mode;
    strides[mode] = stride;
    stride *= extents[mode];
    in_chunk += (p->begin[mode] - p->index[mode] * zarr->chunk[mode]) * zarr->strides[mode];
    in_memory += (p->begin[mode] - origin[mode]) * strides[mode];
  }
  chunk += in_chunk * elem_bytes;
  memory += in_memory * elem_bytes;
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = zarr->rank;
  problem.type = (cuttType_t)elem_bytes;
  problem.extents = p->extents;
  problem.perm = perm;
  problem.in_strides = to_memory ? zarr->strides : strides;
  problem.out_strides = to_memory ? strides : zarr->strides;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  options.threads = 1; /* several do this at once */
  if (cuttPermute(&problem, &options, to_memory ? chunk : memory, to_memory ? memory : chunk, NULL) == CUTT_SUCCESS)
    return true;
  return cutt_zarr_refuse(why, "chunk %.200s could not be copied: %.200s", p->key, cuttLastError());
}

static void swap_words(const cutt_zarr *zarr, uint8_t *at) {
  const int word = zarr->word;
  for (uint8_t *end = at + zarr->chunk_bytes; word > 1 && at < end; at += word)
    for (int i = 0; i < word / 2; ++i) {
      const uint8_t byte = at[i];
      at[i] = at[word - 1 - i];
      at[word - 1 - i] = byte;
    }
}

static void fill_chunk(const cutt_zarr *zarr, uint8_t *chunk) {
  static const uint8_t zeros[16] = {0};
  const size_t bytes = (size_t)zarr->meta.npy.elem_bytes, all = (size_t)zarr->chunk_bytes;
  if (!memcmp(zarr->meta.fill, zeros, bytes)) {
    memset(chunk, 0, all);
    return;
  }
  memcpy(chunk, zarr->meta.fill, bytes);
  for (size_t done = bytes; done < all; done *= 2) memcpy(chunk + done, chunk, done < all - done ? done : all - done);
}

/* Is a chunk, as it is stored, all of the box? */
static bool is_all_of(const cutt_zarr *zarr, const part *p, const int64_t *extents) {
  int64_t stride = 1;
  for (int mode = 0; mode < zarr->rank; ++mode) {
    if (p->extents[mode] != zarr->chunk[mode] || extents[mode] != zarr->chunk[mode] || zarr->strides[mode] != stride)
      return false;
    stride *= zarr->chunk[mode];
  }
  return true;
}

/* ----------------------------------------------------------------------------------------------------------- reading */

/* A chunk, decompressed; `stored` is room for what it is compressed. */
static bool load_chunk(const cutt_zarr *zarr, const part *p, uint8_t *chunk, uint8_t *stored, char *why) {
  const bool plain = zarr->meta.codec.kind == CUTT_ZARR_NONE;
  const size_t room = plain ? (size_t)zarr->chunk_bytes : stored_room(zarr);
  struct stat status;
  const int descriptor = openat(zarr->descriptor, p->key, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0 && errno == ENOENT) {
    fill_chunk(zarr, chunk);
    return true;
  }
  int64_t got = descriptor >= 0 && fstat(descriptor, &status) == 0 ? 0 : -1;
  if (got == 0 &&
      (!S_ISREG(status.st_mode) || (uint64_t)status.st_size > room || (plain && status.st_size != zarr->chunk_bytes))) {
    cutt_zarr_refuse(why, "chunk %.200s is damaged: it is of %lld bytes, and %s%zu", p->key, (long long)status.st_size,
                     plain ? "must have " : "can't have more than ", room);
    close(descriptor);
    return false;
  }
  if (got == 0) got = read_fully(descriptor, plain ? chunk : stored, (size_t)status.st_size);
  const int error = errno;
  if (descriptor >= 0) close(descriptor);
  if (got < 0) return cutt_zarr_refuse(why, "chunk %.200s can't be read: %s", p->key, strerror(error));
  if (plain && got != zarr->chunk_bytes)
    return cutt_zarr_refuse(why, "chunk %.200s became shorter while it was read; no output is written", p->key);
  const char *wrong =
      plain ? NULL : cutt_zarr_decode(&zarr->meta.codec, stored, (size_t)got, chunk, (size_t)zarr->chunk_bytes);
  return !wrong || cutt_zarr_refuse(why, "chunk %.200s %s", p->key, wrong);
}

bool cutt_zarr_read(cutt_zarr *zarr, const int64_t *origin, const int64_t *extents, int64_t first, int64_t last,
                    uint8_t *memory, char *why) {
  if (first >= last) return true;
  uint8_t *scratch = take_scratch(zarr);
  part p;
  bool good =
      scratch || cutt_zarr_refuse(why, "there is no memory for a chunk of %lld bytes", (long long)zarr->chunk_bytes);
  for (int64_t i = first; i < last && good; ++i) {
    find_part(zarr, origin, extents, i, &p);
    const bool straight = is_all_of(zarr, &p, extents);
    uint8_t *chunk = straight ? memory : scratch;
    good = load_chunk(zarr, &p, chunk, scratch + zarr->chunk_bytes, why);
    if (good) swap_words(zarr, chunk);
    if (good && !straight) good = copy_part(zarr, &p, origin, extents, scratch, memory, true, why);
  }
  return_scratch(zarr, scratch);
  return good;
}

/* ----------------------------------------------------------------------------------------------------------- writing */

/* Keys with slashes are in folders, which come to be when they are needed. */
static int create_chunk(const cutt_zarr *zarr, part *p) {
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  cutt_guard_pause_if_ending();
  int descriptor = openat(zarr->descriptor, p->key, flags, 0666);
  if (descriptor < 0 && errno == ENOENT) {
    for (char *slash = strchr(p->key, '/'); slash; slash = strchr(slash + 1, '/')) {
      *slash = 0;
      const int made = mkdirat(zarr->descriptor, p->key, 0777), error = errno;
      *slash = '/';
      if (made != 0 && error != EEXIST) return -1;
    }
    descriptor = openat(zarr->descriptor, p->key, flags, 0666);
  }
  return descriptor;
}

static bool store_chunk(const cutt_zarr *zarr, part *p, const uint8_t *chunk, uint8_t *stored, char *why) {
  size_t bytes = (size_t)zarr->chunk_bytes;
  const uint8_t *from = chunk;
  if (zarr->meta.codec.kind != CUTT_ZARR_NONE) {
    const char *wrong = cutt_zarr_encode(&zarr->meta.codec, chunk, bytes, stored, &bytes);
    if (wrong) return cutt_zarr_refuse(why, "chunk %.200s %s", p->key, wrong);
    from = stored;
  }
  const int descriptor = create_chunk(zarr, p);
  bool good = descriptor >= 0 && cutt_descriptor_write(descriptor, from, bytes, 0);
  const int error = errno;
  /* So that the disk is not idle until the end. */
  if (good) sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
  if (descriptor >= 0 && close(descriptor) != 0 && good) good = false;
  return good ||
         cutt_zarr_refuse(why, "chunk %.200s could not be written: %s", p->key, strerror(error ? error : errno));
}

bool cutt_zarr_write(cutt_zarr *zarr, const int64_t *origin, const int64_t *extents, int64_t first, int64_t last,
                     const uint8_t *memory, char *why) {
  if (first >= last) return true;
  uint8_t *scratch = take_scratch(zarr);
  part p;
  bool good =
      scratch || cutt_zarr_refuse(why, "there is no memory for a chunk of %lld bytes", (long long)zarr->chunk_bytes);
  for (int64_t i = first; i < last && good; ++i) {
    find_part(zarr, origin, extents, i, &p);
    const uint8_t *chunk = memory;
    if (!is_all_of(zarr, &p, extents)) {
      chunk = scratch;
      if (memcmp(p.extents, zarr->chunk, (size_t)zarr->rank * sizeof p.extents[0]) != 0) fill_chunk(zarr, scratch);
      /* What is read from is only named without const. */
      good = copy_part(zarr, &p, origin, extents, scratch, (uint8_t *)(uintptr_t)memory, false, why);
    }
    good = good && store_chunk(zarr, &p, chunk, scratch + zarr->chunk_bytes, why);
  }
  return_scratch(zarr, scratch);
  return good;
}
