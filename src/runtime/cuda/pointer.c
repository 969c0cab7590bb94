/* What memory a pointer is to.
 *
 * The driver keeps a map of the addresses that it knows: memory of devices, managed memory, and host memory that has
 * been pinned. What it does not know is plain host memory. Asking is a look into that map, legal at any time, in a
 * capture too, since no stream is involved. */
#include "runtime/cuda/pointer.h"

#include "base/error.h"

/* The cases that are wrong, or rare. type: 0 for what the driver does not know. */
static cuttResult judge(const cutt_cu *cu, const cutt_cuda_gpu *gpu, const void *pointer, const char *name,
                        unsigned type, cutt_cu_address *address) {
  *address = (uintptr_t)pointer;
  const char *device = gpu->properties.base.name;
  if (type == CUTT_CU_MEMORY_DEVICE) {
    int ordinal = -1;
    const cutt_cu_result error =
        cu->pointer_get_attribute(&ordinal, CUTT_CU_POINTER_DEVICE_ORDINAL, (uintptr_t)pointer);
    if (!error && ordinal == gpu->handle) return CUTT_SUCCESS; /* mapped by hand: some drivers give no address */
    /* Another device's memory, mapped by hand for this one too. */
    unsigned long long access = 0;
    const cutt_cu_location here = {CUTT_CU_LOCATION_DEVICE, gpu->handle};
    if (!cu->mem_get_access(&access, &here, (uintptr_t)pointer) && access == CUTT_CU_ACCESS_READ_AND_WRITE)
      return CUTT_SUCCESS;
    return cutt_error(
        CUTT_INVALID_PARAMETER,
        "%s is %p, which is memory of device %d that device %d, %s, can't reach: peer access has not been "
        "enabled",
        name, pointer, ordinal, gpu->handle, device);
  }
  if (type == 0 && gpu->reads_host_pages) return CUTT_SUCCESS;
  return cutt_error(CUTT_INVALID_PARAMETER,
                    "%s is %p, which is host memory%s, and the plan is for a GPU, %s; it must be device, managed or "
                    "pinned memory",
                    name, pointer, type == 0 ? " that is not pinned" : " that the GPU has no address for", device);
}

cuttResult cutt_cuda_reach(const cutt_cu *cu, const cutt_cuda_gpu *gpu, const void *pointer, const char *name,
                           cutt_cu_address *address) {
  unsigned type = 0;
  cutt_cu_address found = 0;
  int attributes[] = {CUTT_CU_POINTER_MEMORY_TYPE, CUTT_CU_POINTER_DEVICE_POINTER};
  void *values[] = {&type, &found};
  const cutt_cu_result error = cu->pointer_get_attributes(2, attributes, values, (uintptr_t)pointer);
  if (!error && type != 0 && found != 0) {
    *address = found;
    return CUTT_SUCCESS;
  }
  if (error && error != CUTT_CU_INVALID_VALUE) {
    return cutt_cuda_failed(cu, error, "asking what memory %s, %p, is", name, pointer);
  }
  return judge(cu, gpu, pointer, name, error ? 0 : type, address);
}

bool cutt_cuda_is_device_pointer(const void *pointer) {
  cutt_cu_pointer_query *query = cutt_cuda_pointer_query();
  if (!query) return false;
  unsigned type = 0;
  int managed = 0;
  return query(&type, CUTT_CU_POINTER_MEMORY_TYPE, (uintptr_t)pointer) == CUTT_CU_SUCCESS &&
         type == CUTT_CU_MEMORY_DEVICE &&
         query(&managed, CUTT_CU_POINTER_IS_MANAGED, (uintptr_t)pointer) == CUTT_CU_SUCCESS && !managed;
}
