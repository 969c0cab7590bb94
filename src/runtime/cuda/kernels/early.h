/* Of the language of device.h: kernels that begin before the last one in their stream has ended (cutt_grid's `early`).
 *
 *   wait_for_earlier(next)                     until that has ended, and all that it wrote can be read: by every thread, before it
 *                                              touches global memory. next: from then on the next kernel may begin likewise; else
 *                                              when the block has ended
 *
 * A block with nothing to do may end without it. Since what comes next begins when all others have come here, and each has waited, all
 * that came before the last kernel has ended for it, too. */
#ifndef CUTT_RUNTIME_CUDA_KERNELS_EARLY_H
#define CUTT_RUNTIME_CUDA_KERNELS_EARLY_H

#include "device.h"

#if defined(__CUDACC__)

#if __CUDA_ARCH__ >= 900
DEVICE void wait_for_earlier(bool next) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (next) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#else
DEVICE void wait_for_earlier(bool next) { (void)next; } /* no kernel begins early */
#endif

#endif

#endif
