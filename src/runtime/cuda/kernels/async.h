/* Of the language of device.h: copies from global to shared memory that do not wait.
 *
 *   has_async()                                are there copies that do not wait (sm_80 and later)? a constant
 *   async_copy4, 8, 16(at, p, near)            global to shared, landed only after ...; near: what lies around p in
 *                                              memory will be wanted soon, and L2 may fetch it at once
 *   async_copy4_part(at, p, n)                 the same of the first n (1 to 3) of 4 bytes, of which no more are read; what becomes of the
 *                                              others in shared memory is open
 *   async_copy16_line(at, p)                   the same of 16 bytes, of whose line alone the rest will be wanted soon
 *   async_copy16_if(there, at, p)              the same of 16 bytes where `there`: what it is given is worked out in any case, which takes
 *                                              fewer instructions than a branch
 *   async_commit() async_wait(n)               ... waiting until at most n (0 .. 3) of the groups committed are pending */
#ifndef CUTT_RUNTIME_CUDA_KERNELS_ASYNC_H
#define CUTT_RUNTIME_CUDA_KERNELS_ASYNC_H

#include "device.h"

#if defined(__CUDACC__)

#if __CUDA_ARCH__ >= 800
DEVICE bool has_async(void) { return true; }
#define DEVICE_ASYNC_COPY(bytes, cache, hint)                                                                          \
  asm volatile("cp.async." cache ".shared.global" hint " [%0], [%1], " #bytes ";" ::"r"(to), "l"(p) : "memory")
#define DEVICE_ASYNC(bytes, cache)                                                                                     \
  DEVICE void async_copy##bytes(uint32_t at, const void *p, bool near) {                                               \
    const uint32_t to = (uint32_t)__cvta_generic_to_shared((char *)cutt_shared_memory + at);                           \
    if (near) {                                                                                                        \
      DEVICE_ASYNC_COPY(bytes, cache, ".L2::256B");                                                                    \
    } else {                                                                                                           \
      DEVICE_ASYNC_COPY(bytes, cache, "");                                                                             \
    }                                                                                                                  \
  }
DEVICE_ASYNC(4, "ca")
DEVICE_ASYNC(8, "ca")
DEVICE_ASYNC(16, "cg")
DEVICE void async_copy16_line(uint32_t at, const void *p) {
  const uint32_t to = (uint32_t)__cvta_generic_to_shared((char *)cutt_shared_memory + at);
  DEVICE_ASYNC_COPY(16, "cg", ".L2::128B");
}
#undef DEVICE_ASYNC
#undef DEVICE_ASYNC_COPY
DEVICE void async_copy4_part(uint32_t at, const void *p, uint32_t n) {
  const uint32_t to = (uint32_t)__cvta_generic_to_shared((char *)cutt_shared_memory + at);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(p), "r"(n) : "memory");
}
DEVICE void async_copy16_if(bool there, uint32_t at, const void *p) {
  const uint32_t to = (uint32_t)__cvta_generic_to_shared((char *)cutt_shared_memory + at);
  asm volatile(
      "{\n .reg .pred there;\n setp.ne.u32 there, %2, 0;\n @there cp.async.cg.shared.global [%0], [%1], 16;\n}" ::"r"(
          to),
      "l"(p), "r"((uint32_t)there)
      : "memory");
}
DEVICE void async_commit(void) { asm volatile("cp.async.commit_group;" ::: "memory"); }
DEVICE void async_wait(uint32_t pending) {
  switch (pending) {
    case 0:
      asm volatile("cp.async.wait_group 0;" ::: "memory");
      break;
    case 1:
      asm volatile("cp.async.wait_group 1;" ::: "memory");
      break;
    case 2:
      asm volatile("cp.async.wait_group 2;" ::: "memory");
      break;
    default:
      asm volatile("cp.async.wait_group 3;" ::: "memory");
  }
}
#else
DEVICE bool has_async(void) { return false; }
DEVICE void async_copy4(uint32_t at, const void *p, bool near) { shared_store4(at, global_load4(p)), (void)near; }
DEVICE void async_copy8(uint32_t at, const void *p, bool near) { shared_store8(at, global_load8(p)), (void)near; }
DEVICE void async_copy16(uint32_t at, const void *p, bool near) { shared_store16(at, global_load16(p)), (void)near; }
DEVICE void async_copy16_line(uint32_t at, const void *p) { shared_store16(at, global_load16(p)); }
DEVICE void async_copy4_part(uint32_t at, const void *p, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) shared_store1(at + i, global_load1((const char *)p + i));
}
DEVICE void async_copy16_if(bool there, uint32_t at, const void *p) {
  if (there) shared_store16(at, global_load16(p));
}
DEVICE void async_commit(void) {}
DEVICE void async_wait(uint32_t pending) { (void)pending; }
#endif

#endif

#endif
