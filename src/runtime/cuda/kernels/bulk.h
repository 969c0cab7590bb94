/* Of the language of device.h: copies of many bytes from global to shared memory that one thread asks for, and nobody carries out.
 *
 *   has_bulk()                                 are there any (sm_90 and later)? a constant
 *   bulk_begin(at)                             by one thread, before others use these 8 bytes of shared memory, a counter: a barrier() has to follow
 *   bulk_copy(at, to, p, bytes)                by any lanes of a warp: the bytes, `to` and p are multiples of 16
 *   bulk_commit(at)                            by that warp, whole: so much is asked for in this turn
 *   bulk_wait(at, odd)                         by any thread: till all that was asked for in a turn has landed; odd: in the second, the fourth ...
 *   bulk_after_stores()                        by a thread that has written to shared memory itself what is later copied over, before the barrier() in between */
#ifndef CUTT_RUNTIME_CUDA_KERNELS_BULK_H
#define CUTT_RUNTIME_CUDA_KERNELS_BULK_H

#include "device.h"

#if defined(__CUDACC__)

#if __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ >= 12 /* whose PTX has them */
DEVICE bool has_bulk(void) { return true; }
DEVICE uint32_t bulk_shared(uint32_t at) { return (uint32_t)__cvta_generic_to_shared((char *)cutt_shared_memory + at); }
DEVICE void bulk_after_stores(void) { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
DEVICE void bulk_begin(uint32_t at) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bulk_shared(at)) : "memory");
  bulk_after_stores();
}
DEVICE void bulk_copy(uint32_t at, uint32_t to, const void *p, uint32_t bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bulk_shared(at)), "r"(bytes)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(bulk_shared(to)),
      "l"(__cvta_generic_to_global(p)), "r"(bytes), "r"(bulk_shared(at))
      : "memory");
}
DEVICE void bulk_commit(uint32_t at) {
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    asm volatile("{\n .reg .b64 state;\n mbarrier.arrive.shared::cta.b64 state, [%0];\n}" ::"r"(bulk_shared(at))
                 : "memory");
}
DEVICE void bulk_wait(uint32_t at, bool odd) {
  asm volatile(
      "{\n .reg .pred there;\nagain:\n mbarrier.try_wait.parity.shared::cta.b64 there, [%0], %1;\n @!there bra "
      "again;\n}" ::"r"(bulk_shared(at)),
      "r"((uint32_t)odd)
      : "memory");
}
#else
DEVICE bool has_bulk(void) { return false; }
DEVICE void bulk_after_stores(void) {}
DEVICE void bulk_begin(uint32_t at) { (void)at; }
DEVICE void bulk_copy(uint32_t at, uint32_t to, const void *p, uint32_t bytes) {
  (void)at, (void)to, (void)p, (void)bytes;
}
DEVICE void bulk_commit(uint32_t at) { (void)at; }
DEVICE void bulk_wait(uint32_t at, bool odd) { (void)at, (void)odd; }
#endif

#endif

#endif
