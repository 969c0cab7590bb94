/* Members of .npz archives; see archive.h. Sizes and places of 64 bits (zip64) are read, since NumPy always writes them. */
#include "archive.h"

#include <stdio.h>
#include <string.h>

enum {
  LOCAL = 0x04034b50,   /* signatures: of a member, */
  CENTRAL = 0x02014b50, /* of its entry in the directory, */
  END = 0x06054b50,     /* of the end of that, */
  END64 = 0x06064b50,   /* of the end that has 64 bits, */
  LOCATOR = 0x07064b50, /* and of where that is */
  LOCAL_BYTES = 30,
  CENTRAL_BYTES = 46,
  END_BYTES = 22,
  END64_BYTES = 56,
  LOCATOR_BYTES = 20
};

typedef struct directory {
  const uint8_t *data;
  size_t bytes;
  size_t begin, end; /* of the entries */
} directory;

static uint64_t number(const uint8_t *at, int bytes) {
  uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i) value = value << 8 | at[i];
  return value;
}

static bool refuse(char *why, const char *text) {
  snprintf(why, CUTT_ARCHIVE_WHY, "%s", text);
  return false;
}

bool cutt_archive_is(const uint8_t *data, size_t bytes) { return bytes >= 4 && number(data, 4) == LOCAL; }

static bool find_directory(directory *d, char *why) {
  static const char damaged[] = "damaged: an archive whose directory is not where it should be";
  const size_t longest = END_BYTES + 65535;
  if (d->bytes < END_BYTES) return refuse(why, damaged);
  size_t at = d->bytes - END_BYTES;
  const size_t first = d->bytes > longest ? d->bytes - longest : 0;
  while (number(d->data + at, 4) != END) {
    if (at == first) return refuse(why, "damaged: an archive without a directory; was it cut off?");
    --at;
  }
  uint64_t bytes = number(d->data + at + 12, 4), begin = number(d->data + at + 16, 4);
  if (at >= LOCATOR_BYTES && number(d->data + at - LOCATOR_BYTES, 4) == LOCATOR) {
    const uint64_t end64 = number(d->data + at - LOCATOR_BYTES + 8, 8);
    if (at < END64_BYTES || end64 > at - END64_BYTES || number(d->data + end64, 4) != END64)
      return refuse(why, damaged);
    bytes = number(d->data + end64 + 40, 8);
    begin = number(d->data + end64 + 48, 8);
  }
  if (begin > at || bytes > at - begin) return refuse(why, damaged);
  d->begin = (size_t)begin;
  d->end = (size_t)(begin + bytes);
  return true;
}

/* The fields of an entry that are in 64 bits in its extra part when they are all ones in 32. */
static bool read_wide(const uint8_t *extra, size_t bytes, uint64_t *fields[3]) {
  for (size_t at = 0; at + 4 <= bytes;) {
    const size_t length = (size_t)number(extra + at + 2, 2);
    if (length > bytes - at - 4) return false;
    if (number(extra + at, 2) == 1) {
      size_t place = at + 4;
      for (int i = 0; i < 3; ++i) {
        if (*fields[i] != 0xffffffff) continue;
        if (place + 8 > at + 4 + length) return false;
        *fields[i] = number(extra + place, 8);
        place += 8;
      }
      return true;
    }
    at += 4 + length;
  }
  return *fields[0] != 0xffffffff && *fields[1] != 0xffffffff && *fields[2] != 0xffffffff;
}

static bool read_member(const directory *d, const uint8_t *entry, cutt_archive_member *member, char *why) {
  uint64_t whole = number(entry + 24, 4), stored = number(entry + 20, 4), local = number(entry + 42, 4);
  uint64_t *fields[3] = {&whole, &stored, &local};
  const uint64_t name = number(entry + 28, 2), method = number(entry + 10, 2);
  if (number(entry + 8, 2) & 1) return refuse(why, "is encrypted; the arrays of an archive must not be");
  if (method != 0 && method != 8) return refuse(why, "is compressed in a way other than deflate, NumPy's");
  if (!read_wide(entry + CENTRAL_BYTES + name, (size_t)number(entry + 30, 2), fields) || local > d->begin ||
      d->begin - local < LOCAL_BYTES || number(d->data + local, 4) != LOCAL)
    return refuse(why, "damaged: an archive with an entry for what is not there");
  const uint64_t begin = local + LOCAL_BYTES + number(d->data + local + 26, 2) + number(d->data + local + 28, 2);
  if (begin > d->begin || stored > d->begin - begin || (method == 0 && stored != whole))
    return refuse(why, "damaged: an archive with a member that is longer than there is room for");
  *member = (cutt_archive_member){.offset = (size_t)begin,
                                  .stored = (size_t)stored,
                                  .whole = (size_t)whole,
                                  .compressed = method == 8,
                                  .crc = (uint32_t)number(entry + 16, 4)};
  return true;
}

/* Length of an entry's name without ".npy". */
static size_t array_name(const uint8_t *entry) {
  const size_t length = (size_t)number(entry + 28, 2);
  const char *name = (const char *)entry + CENTRAL_BYTES;
  return length >= 4 && !memcmp(name + length - 4, ".npy", 4) ? length - 4 : length;
}

bool cutt_archive_find(const uint8_t *data, size_t bytes, const char *name, cutt_archive_member *member, char *why) {
  directory d = {.data = data, .bytes = bytes};
  char list[512] = "";
  if (!find_directory(&d, why)) return false;
  for (size_t at = d.begin; at < d.end;) {
    const uint8_t *entry = data + at;
    if (d.end - at < CENTRAL_BYTES || number(entry, 4) != CENTRAL)
      return refuse(why, "damaged: an archive with something else in its directory");
    const size_t extra = (size_t)(number(entry + 28, 2) + number(entry + 30, 2) + number(entry + 32, 2));
    if (extra > d.end - at - CENTRAL_BYTES) return refuse(why, "damaged: an archive whose directory is cut off");
    const size_t length = array_name(entry), all = (size_t)number(entry + 28, 2), asked = strlen(name);
    const char *found = (const char *)entry + CENTRAL_BYTES;
    if ((asked == length || asked == all) && !memcmp(found, name, asked)) return read_member(&d, entry, member, why);
    const size_t listed = strlen(list);
    snprintf(list + listed, sizeof list - listed, "%s%.*s", listed ? ", " : "", (int)(length < 64 ? length : 64),
             found);
    for (char *c = list + listed; *c; ++c)
      if (*c < ' ' || *c > '~') *c = '?';
    at += CENTRAL_BYTES + extra;
  }
  if (*name)
    snprintf(why, CUTT_ARCHIVE_WHY, "the archive has no array '%.64s'; it has %s", name, *list ? list : "none");
  else
    snprintf(why, CUTT_ARCHIVE_WHY, "is an archive; name one of its arrays after a colon, FILE.npz:NAME: it has %s",
             *list ? list : "none");
  return false;
}
