/* Compressed members of archives; see archive.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "archive.h"
#include "descriptor.h"

#ifdef CUTT_ZLIB

#include <stdlib.h>
#include <zlib.h>

enum { ROOM = 1 << 20 };

static bool refuse(char *why, const char *text) {
  snprintf(why, CUTT_ARCHIVE_WHY, "%s", text);
  return false;
}

static bool inflate_to(z_stream *z, const uint8_t *data, const cutt_archive_member *member, int descriptor,
                       uint8_t *buffer, char *why) {
  size_t taken = 0, given = 0;
  uLong crc = crc32(0, NULL, 0);
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    const size_t left = member->stored - taken, input = left < ROOM ? left : ROOM;
    /* zlib does not write there, though its older headers do not say so. */
    z->next_in = (Bytef *)(uintptr_t)(data + member->offset + taken);
    z->avail_in = (uInt)input;
    z->next_out = buffer;
    z->avail_out = ROOM;
    state = inflate(z, Z_NO_FLUSH);
    const size_t output = ROOM - z->avail_out, used = input - z->avail_in;
    if ((state != Z_OK && state != Z_STREAM_END) || output > member->whole - given || (used == 0 && output == 0))
      return refuse(why, "damaged: it can't be decompressed");
    if (!cutt_descriptor_write(descriptor, buffer, output, (off_t)given)) {
      snprintf(why, CUTT_ARCHIVE_WHY, "could not be kept for a while: %s", strerror(errno));
      return false;
    }
    crc = crc32(crc, buffer, (uInt)output);
    taken += used;
    given += output;
  }
  if (given != member->whole || crc != member->crc) return refuse(why, "damaged: its checksum is wrong");
  return true;
}

bool cutt_archive_inflate(const uint8_t *data, const cutt_archive_member *member, int descriptor, char *why) {
  z_stream z = {.zalloc = NULL};
  uint8_t *buffer = malloc(ROOM);
  /* Negative: a stream without zlib's own header. */
  const bool begun = buffer && inflateInit2(&z, -MAX_WBITS) == Z_OK;
  const bool good = begun ? inflate_to(&z, data, member, descriptor, buffer, why)
                          : refuse(why, "there is no memory to decompress it with");
  if (begun) inflateEnd(&z);
  free(buffer);
  return good;
}

#else

bool cutt_archive_inflate(const uint8_t *data, const cutt_archive_member *member, int descriptor, char *why) {
  (void)data;
  (void)member;
  (void)descriptor;
  snprintf(why, CUTT_ARCHIVE_WHY,
           "is compressed, and this build of the program has no zlib; np.savez writes archives that are not");
  return false;
}

#endif
