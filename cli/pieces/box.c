/* Boxes of a tensor in a file; see box.h. */
#include "cli/pieces/box.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/pieces/pipeline.h"

/* The modes that make one stretch: those that are whole, and the next one. */
static int stretch_modes(const int64_t *tensor, const int64_t *box, int rank) {
  int mode = 0;
  while (mode < rank && box[mode] == tensor[mode]) ++mode;
  return mode < rank ? mode + 1 : rank;
}

int64_t cutt_box_run(const int64_t *tensor, const int64_t *box, int rank, int elem_bytes) {
  return cutt_box_volume(box, stretch_modes(tensor, box, rank)) * elem_bytes;
}

/* ------------------------------------------------------------------------------------------------------------ bytes */

/* One stretch; exactly one of `to` and `from` is there. */
static bool transfer(const cutt_box_file *file, int64_t offset, int64_t bytes, uint8_t *to, const uint8_t *from,
                     char *why) {
  while (bytes > 0) {
    const ssize_t moved = to ? pread(file->descriptor, to, (size_t)bytes, (off_t)offset)
                             : pwrite(file->descriptor, from, (size_t)bytes, (off_t)offset);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) {
      const char *error = moved < 0 ? strerror(errno) : NULL;
      if (to && !error)
        snprintf(why, CUTT_PIPELINE_WHY,
                 "%s: became shorter while it was read: it ends before byte %lld; no output is written", file->path,
                 (long long)offset);
      else
        snprintf(why, CUTT_PIPELINE_WHY, "%s: could not be %s at byte %lld: %s", file->path, to ? "read" : "written",
                 (long long)offset, error ? error : "nothing was written");
      return false;
    }
    if (to)
      to += moved;
    else
      from += moved;
    offset += moved;
    bytes -= moved;
  }
  return true;
}

static bool move_bytes(const cutt_box_file *file, int64_t offset, int64_t place, int64_t bytes, uint8_t *to,
                       const uint8_t *from, char *why) {
  /* What does not come that way comes the other way, or that says why not. */
  const int64_t done = to && file->direct ? cutt_direct_read(file->direct, offset, bytes, to + place) : 0;
  return transfer(file, offset + done, bytes - done, to ? to + place + done : NULL, from ? from + place : NULL, why);
}

/* ----------------------------------------------------------------------------------------------------------- packed */

/* A walk over the stretches of a box. */
typedef struct stretches {
  const cutt_box_file *file;
  const cutt_box *box;
  int first;   /* of the modes that are stepped along */
  int64_t run; /* bytes of a stretch */
  int64_t index[CUTT_MAX_RANK], strides[CUTT_MAX_RANK];
  int64_t offset; /* of the stretch in the file */
} stretches;

/* Stands at the stretch that byte `low` of the box is in. */
static stretches start_stretches(const cutt_box_file *file, const cutt_box *box, int64_t low) {
  stretches s = {.file = file, .box = box, .first = stretch_modes(file->extents, box->extents, file->rank)};
  s.run = cutt_box_volume(box->extents, s.first) * file->elem_bytes;
  s.offset = file->start;
  int64_t stride = file->elem_bytes, number = low / s.run;
  for (int i = 0; i < file->rank; ++i) {
    s.strides[i] = stride;
    stride *= file->extents[i];
    if (i >= s.first) {
      s.index[i] = number % box->extents[i];
      number /= box->extents[i];
    }
    s.offset += (box->origin[i] + s.index[i]) * s.strides[i];
  }
  return s;
}

static void next_stretch(stretches *s) {
  for (int i = s->first; i < s->file->rank; ++i) {
    s->offset += s->strides[i];
    if (++s->index[i] < s->box->extents[i]) break;
    s->offset -= s->index[i] * s->strides[i];
    s->index[i] = 0;
  }
}

static bool move_packed(const cutt_box_file *file, const cutt_box *box, int64_t low, int64_t high, uint8_t *to,
                        const uint8_t *from, char *why) {
  stretches s = start_stretches(file, box, low);
  for (int64_t at = low; at < high; next_stretch(&s)) {
    const int64_t within = at % s.run, bytes = s.run - within < high - at ? s.run - within : high - at;
    if (!move_bytes(file, s.offset + within, at, bytes, to, from, why)) return false;
    at += bytes;
  }
  return true;
}

void cutt_box_expect(const cutt_box_file *file, const cutt_box *box, int64_t low, int64_t high, int64_t bytes) {
  stretches s = start_stretches(file, box, low);
  for (int64_t at = low; at < high; next_stretch(&s)) {
    if (at % s.run == 0) posix_fadvise(file->descriptor, s.offset, bytes, POSIX_FADV_WILLNEED);
    at += s.run - at % s.run;
  }
}

/* ----------------------------------------------------------------------------------------------------------- chunks */

/* Of the chunk at walk->origin. */
static void place_chunk(cutt_box_walk *walk) {
  const cutt_box_file *file = walk->file;
  int64_t before = 1, after = file->elem_bytes; /* the tensor's faster modes, the chunk's slower ones */
  for (int i = 0; i < file->rank; ++i) {
    const int64_t left = file->extents[i] - walk->origin[i];
    walk->extents[i] = left < file->chunk[i] ? left : file->chunk[i];
  }
  walk->bytes = cutt_box_volume(walk->extents, file->rank) * file->elem_bytes;
  walk->offset = file->start;
  for (int i = 0; i < file->rank; ++i) before *= file->extents[i];
  /* Whole slabs of the slowest mode come first, within one those of the next, and so on. */
  for (int i = file->rank; i-- > 0;) {
    before /= file->extents[i];
    walk->offset += walk->origin[i] * before * after;
    after *= walk->extents[i];
  }
}

void cutt_box_walk_start(cutt_box_walk *walk, const cutt_box_file *file, const cutt_box *box) {
  walk->file = file;
  walk->box = box;
  memcpy(walk->origin, box->origin, sizeof walk->origin);
  walk->place = 0;
  place_chunk(walk);
}

bool cutt_box_walk_next(cutt_box_walk *walk) {
  const cutt_box *box = walk->box;
  walk->place += walk->bytes;
  for (int i = 0; i < walk->file->rank; ++i) {
    walk->origin[i] += walk->file->chunk[i];
    if (walk->origin[i] < box->origin[i] + box->extents[i]) {
      place_chunk(walk);
      return true;
    }
    walk->origin[i] = box->origin[i];
  }
  return false;
}

/* Chunks that follow each other in the file go as one. */
static bool move_chunks(const cutt_box_file *file, const cutt_box *box, int64_t low, int64_t high, uint8_t *to,
                        const uint8_t *from, char *why) {
  cutt_box_walk walk;
  int64_t offset = 0, place = 0, bytes = 0;
  cutt_box_walk_start(&walk, file, box);
  do {
    const int64_t begin = walk.place > low ? walk.place : low, last = walk.place + walk.bytes;
    const int64_t end = last < high ? last : high, at = walk.offset + begin - walk.place;
    if (begin >= end) continue;
    if (bytes > 0 && at == offset + bytes) {
      bytes += end - begin;
      continue;
    }
    if (bytes > 0 && !move_bytes(file, offset, place, bytes, to, from, why)) return false;
    offset = at;
    place = begin;
    bytes = end - begin;
  } while (walk.place + walk.bytes < high && cutt_box_walk_next(&walk));
  return bytes == 0 || move_bytes(file, offset, place, bytes, to, from, why);
}

/* -------------------------------------------------------------------------------------------------------------- all */

static bool is_packed(const cutt_box_file *file) {
  return memcmp(file->extents, file->chunk, (size_t)file->rank * sizeof file->extents[0]) == 0;
}

/* Of a Zarr array a range of the box's bytes stands for a range of its chunks, so that all ranges together are all. */
static bool move_zarr(const cutt_box_file *file, const cutt_box *box, int64_t low, int64_t high, uint8_t *to,
                      const uint8_t *from, char *why) {
  char reason[CUTT_ZARR_WHY];
  const cutt_box one = {.origin = {0}, .extents = {1}};
  const double bytes = (double)cutt_box_volume(box->extents, file->rank) * file->elem_bytes;
  if (file->rank == 0) box = &one; /* a scalar has a mode there */
  if (bytes == 0.0) return true;
  const int64_t count = cutt_zarr_count(file->zarr, box->origin, box->extents);
  const int64_t first = (int64_t)((double)low / bytes * (double)count);
  const int64_t last = (double)high >= bytes ? count : (int64_t)((double)high / bytes * (double)count);
  if (to ? cutt_zarr_read(file->zarr, box->origin, box->extents, first, last, to, reason)
         : cutt_zarr_write(file->zarr, box->origin, box->extents, first, last, from, reason))
    return true;
  snprintf(why, CUTT_PIPELINE_WHY, "%s: %s", file->path, reason);
  return false;
}

bool cutt_box_read(const cutt_box_file *file, const cutt_box *box, int64_t low, int64_t high, uint8_t *memory,
                   char *why) {
  if (file->zarr) return move_zarr(file, box, low, high, memory, NULL, why);
  return (is_packed(file) ? move_packed : move_chunks)(file, box, low, high, memory, NULL, why);
}

bool cutt_box_write(const cutt_box_file *file, const cutt_box *box, int64_t low, int64_t high, const uint8_t *memory,
                    char *why) {
  if (file->zarr) return move_zarr(file, box, low, high, NULL, memory, why);
  return (is_packed(file) ? move_packed : move_chunks)(file, box, low, high, NULL, memory, why);
}
