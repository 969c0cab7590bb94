/* The backend that a test's plans are for, and its tensors in that backend's memory. */
#ifndef CUTT_TESTS_CONTRACT_DEVICE_H
#define CUTT_TESTS_CONTRACT_DEVICE_H

#include "support/buffers.h"

/* To be called first. The argument "cuda" is for the GPU at hand; a program that is linked with cuda/emulated.c has the stand-in
 * for the driver, whose launches the emulator runs. Returns -1, or the status to end with: 77 where there is no GPU. */
int test_device_open(int argc, char **argv);
/* Of what that returned, for a program that is about plans of a GPU alone: 77 also where they would be for the CPU. */
int test_device_only_gpu(int opened);
cuttBackend_t test_device(void);
void test_device_use(cuttBackend_t which);
/* Do executions take some thousand times as long as on a device? */
bool test_device_is_slow(void);
/* What the emulator has found in a launch: wrong addresses, barriers that are missing; "": nothing. */
const char *test_device_fault(void);

/* A buffer's zone as the device has it: where its element (0, ..., 0), which is at zero here, is there. On the CPU that is zero
 * itself. Elsewhere it is at the same place in 256 bytes, but for what an element has to be aligned to. */
void *test_device_take(int slot, const test_buffer *buffer, const unsigned char *zero, size_t element);
/* Copies a zone back, which is no longer in use there. */
void test_device_give_back(int slot, const test_buffer *buffer);

#endif
