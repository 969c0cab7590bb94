/* Launches on the stand-in for the driver, run by the emulator: contractions in one pass, elementwise operations. */
#ifndef CUTT_TESTS_CUDA_EMULATED_H
#define CUTT_TESTS_CUDA_EMULATED_H

/* From now on launches are run; no fault has been found. */
void emulated_start(void);
const char *emulated_fault(void); /* the first one; "": none */

#endif
