/* Members of .npz archives, which are zip files: where one lies in the archive, stored or compressed. A reader of memory
 * of known size, which trusts nothing that it reads. */
#ifndef CUTT_CLI_ARCHIVE_H
#define CUTT_CLI_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CUTT_ARCHIVE_WHY = 1024 };

typedef struct cutt_archive_member {
  size_t offset;        /* of its bytes in the archive */
  size_t stored, whole; /* bytes that it takes there, and that it has */
  bool compressed;      /* by deflate */
  uint32_t crc;         /* of the whole */
} cutt_archive_member;

/* Is it the beginning of an archive? */
bool cutt_archive_is(const uint8_t *data, size_t bytes);

/* Finds the array `name`, the member "name.npy". On false `why`, of CUTT_ARCHIVE_WHY bytes, says what is wrong, or which
 * arrays there are. */
bool cutt_archive_find(const uint8_t *data, size_t bytes, const char *name, cutt_archive_member *member, char *why);

/* Writes the whole of a compressed member to a file. On false `why` says what is wrong: also that this build has no
 * library for it. */
bool cutt_archive_inflate(const uint8_t *data, const cutt_archive_member *member, int descriptor, char *why);

#endif
