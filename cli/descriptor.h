/* Bytes of files by their descriptors. */
#ifndef CUTT_CLI_DESCRIPTOR_H
#define CUTT_CLI_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Writes all of the bytes at a place. False: errno. */
bool cutt_descriptor_write(int descriptor, const void *from, size_t bytes, off_t offset);

/* Gives a file its length and its room on the disk; errno's value. */
int cutt_descriptor_take_room(int descriptor, size_t bytes);

#endif
