/* Memory of the stand-in for the CUDA driver, its copies included. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cuda/fake_state.h"

static struct {
  unsigned long long from, to;
  enum fake_memory kind;
  int device;
  bool own;
  unsigned long long id;
} map[512];

static unsigned long long next_buffer = 1;

/* With the lock held. */
static int look_up(unsigned long long address) {
  for (int i = 0; i < (int)(sizeof map / sizeof *map); ++i) {
    if (map[i].kind != FAKE_FREE && address >= map[i].from && address < map[i].to) return i;
  }
  return -1;
}

void fake_memory_enter(void *memory, size_t bytes, enum fake_memory kind, int device) {
  pthread_mutex_lock(&fake_lock);
  const unsigned long long from = (uintptr_t)memory;
  int place = look_up(from);
  for (int i = 0; place < 0 && i < (int)(sizeof map / sizeof *map); ++i) {
    if (map[i].kind == FAKE_FREE) place = i;
  }
  if (place < 0) abort();
  map[place].from = from;
  map[place].to = from + bytes;
  map[place].kind = kind;
  map[place].device = device;
  map[place].own = false;
  map[place].id = next_buffer++;
  pthread_mutex_unlock(&fake_lock);
}

static cutt_cu_result query(void *value, int attribute, unsigned long long address) {
  pthread_mutex_lock(&fake_lock);
  const int i = look_up(address);
  const enum fake_memory kind = i < 0 ? FAKE_FREE : map[i].kind;
  const int device = i < 0 ? -1 : map[i].device;
  const unsigned long long id = i < 0 ? 0 : map[i].id;
  pthread_mutex_unlock(&fake_lock);
  if (kind == FAKE_FREE) return CUTT_CU_INVALID_VALUE;
  switch (attribute) {
    case CUTT_CU_POINTER_MEMORY_TYPE:
      *(unsigned *)value = kind == FAKE_PINNED ? CUTT_CU_MEMORY_HOST : CUTT_CU_MEMORY_DEVICE;
      return CUTT_CU_SUCCESS;
    case CUTT_CU_POINTER_DEVICE_POINTER:
      if (!fake_current()) return CUTT_CU_INVALID_CONTEXT;
      if (kind == FAKE_DEVICE && device != fake_current()->device && !atomic_load(&fake_driver.peers)) {
        return CUTT_CU_INVALID_VALUE;
      }
      *(unsigned long long *)value = address;
      return CUTT_CU_SUCCESS;
    case CUTT_CU_POINTER_BUFFER_ID:
      *(unsigned long long *)value = id;
      return CUTT_CU_SUCCESS;
    case CUTT_CU_POINTER_IS_MANAGED:
      *(int *)value = kind == FAKE_MANAGED;
      return CUTT_CU_SUCCESS;
    case CUTT_CU_POINTER_DEVICE_ORDINAL:
      *(int *)value = device;
      return CUTT_CU_SUCCESS;
    default:
      return CUTT_CU_INVALID_VALUE;
  }
}

FAKE_PUBLIC cutt_cu_result cuPointerGetAttribute(void *value, int attribute, cutt_cu_address pointer) {
  FAKE_BEGIN(pointer_get_attribute);
  return query(value, attribute, pointer);
}

/* As the real one: no error for what is not known, but zeros. */
FAKE_PUBLIC cutt_cu_result cuPointerGetAttributes(unsigned count, int *attributes, void **values,
                                                  cutt_cu_address pointer) {
  FAKE_BEGIN(pointer_get_attributes);
  for (unsigned i = 0; i < count; ++i) {
    if (!query(values[i], attributes[i], pointer)) continue;
    memset(values[i], 0, attributes[i] == CUTT_CU_POINTER_DEVICE_POINTER ? sizeof(cutt_cu_address) : sizeof(int));
  }
  return CUTT_CU_SUCCESS;
}

/* Of memory that is mapped for several devices only. */
FAKE_PUBLIC cutt_cu_result cuMemGetAccess(unsigned long long *flags, const cutt_cu_location *location,
                                          cutt_cu_address pointer) {
  FAKE_BEGIN(mem_get_access);
  pthread_mutex_lock(&fake_lock);
  const int i = look_up(pointer);
  pthread_mutex_unlock(&fake_lock);
  if (i < 0 || map[i].kind != FAKE_DEVICE || location->type != CUTT_CU_LOCATION_DEVICE) return CUTT_CU_INVALID_VALUE;
  *flags = location->id == map[i].device ? 3 : (unsigned long long)atomic_load(&fake_driver.access);
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuMemGetInfo_v2(size_t *unused, size_t *all) {
  FAKE_BEGIN(mem_get_info);
  FAKE_NEEDS_CONTEXT;
  *unused = fake_driver.free_bytes;
  *all = fake_driver.free_bytes;
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuMemGetAddressRange_v2(cutt_cu_address *base, size_t *bytes, cutt_cu_address pointer) {
  FAKE_BEGIN(mem_get_address_range);
  pthread_mutex_lock(&fake_lock);
  const int i = look_up(pointer);
  if (i >= 0) {
    *base = map[i].from;
    *bytes = (size_t)(map[i].to - map[i].from);
  }
  pthread_mutex_unlock(&fake_lock);
  return i < 0 ? CUTT_CU_NOT_FOUND : CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  FAKE_BEGIN(mem_host_alloc);
  FAKE_NEEDS_CONTEXT;
  fake_unsafe();
  if (flags & ~(unsigned)CUTT_CU_HOST_PORTABLE) return CUTT_CU_INVALID_VALUE;
  *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!*memory) return 2;
  fake_memory_enter(*memory, bytes, FAKE_PINNED, fake_current()->device);
  atomic_fetch_add(&fake_driver.alive_pinned, 1);
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuMemFreeHost(void *memory) {
  FAKE_BEGIN(mem_free_host);
  FAKE_NEEDS_CONTEXT;
  fake_unsafe();
  fake_memory_enter(memory, 1, FAKE_FREE, 0);
  free(memory);
  atomic_fetch_sub(&fake_driver.alive_pinned, 1);
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuCtxEnablePeerAccess(cutt_cu_context peer, unsigned flags) {
  FAKE_BEGIN(ctx_enable_peer_access);
  FAKE_NEEDS_CONTEXT;
  if (flags || !peer->alive || peer == fake_current()) return CUTT_CU_INVALID_CONTEXT;
  atomic_fetch_add(&fake_driver.enabled, 1);
  return atomic_load(&fake_driver.peers) ? CUTT_CU_SUCCESS : FAKE_NO_PEERS;
}

FAKE_PUBLIC cutt_cu_result cuIpcGetMemHandle(cutt_cu_ipc_handle *handle, cutt_cu_address memory) {
  FAKE_BEGIN(ipc_get_mem_handle);
  FAKE_NEEDS_CONTEXT;
  pthread_mutex_lock(&fake_lock);
  const int i = look_up(memory);
  const bool whole = i >= 0 && map[i].from == memory && map[i].kind == FAKE_DEVICE;
  pthread_mutex_unlock(&fake_lock);
  if (!whole) return CUTT_CU_INVALID_VALUE;
  memset(handle, 0x33, sizeof *handle);
  memcpy(handle->reserved, &memory, sizeof memory);
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuIpcOpenMemHandle_v2(cutt_cu_address *memory, cutt_cu_ipc_handle handle, unsigned flags) {
  FAKE_BEGIN(ipc_open_mem_handle);
  FAKE_NEEDS_CONTEXT;
  fake_unsafe();
  if (flags != CUTT_CU_IPC_ENABLE_PEER_ACCESS || handle.reserved[sizeof handle.reserved - 1] != 0x33)
    return CUTT_CU_INVALID_VALUE;
  if (!atomic_load(&fake_driver.opens)) return FAKE_NO_PEERS;
  memcpy(memory, handle.reserved, sizeof *memory);
  atomic_fetch_add(&fake_driver.alive_opened, 1);
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuIpcCloseMemHandle(cutt_cu_address memory) {
  FAKE_BEGIN(ipc_close_mem_handle);
  FAKE_NEEDS_CONTEXT;
  (void)memory;
  fake_unsafe();
  atomic_fetch_sub(&fake_driver.alive_opened, 1);
  return CUTT_CU_SUCCESS;
}

/* What is large is mapped by itself, before a page that can't be touched: it is what communicators measure with, of which no byte is
 * touched, and AddressSanitizer would fill a note of each eight bytes, when it is allocated and when it is freed. */
enum { PAGE = 64 << 10, LARGE_BYTES = 32 << 20 }; /* PAGE: no system has larger ones */

static size_t mapped(unsigned long long bytes) { return (size_t)(bytes + PAGE - 1) / PAGE * PAGE + PAGE; }

static void *make_memory(size_t bytes) {
  if (bytes < LARGE_BYTES) return aligned_alloc(256, (bytes + 255) / 256 * 256);
  const size_t all = mapped(bytes);
  unsigned char *made = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return NULL;
  if (!mprotect(made + all - PAGE, PAGE, PROT_NONE)) return made;
  munmap(made, all);
  return NULL;
}

static void free_memory(unsigned long long from, unsigned long long to) {
  void *const memory = (void *)(uintptr_t)from;
  if (to - from < LARGE_BYTES)
    free(memory);
  else
    munmap(memory, mapped(to - from));
}

static cutt_cu_result take_memory(cutt_cu_address *memory, size_t bytes) {
  if (!bytes) return CUTT_CU_INVALID_VALUE;
  if (bytes > (size_t)1 << 40) return 2;
  void *made = make_memory(bytes);
  if (!made) return 2;
  fake_memory_enter(made, bytes, FAKE_DEVICE, fake_current()->device);
  pthread_mutex_lock(&fake_lock);
  map[look_up((uintptr_t)made)].own = true;
  pthread_mutex_unlock(&fake_lock);
  atomic_fetch_add(&fake_driver.alive_memory, 1);
  *memory = (uintptr_t)made;
  return CUTT_CU_SUCCESS;
}

static cutt_cu_result give_memory(cutt_cu_address memory) {
  pthread_mutex_lock(&fake_lock);
  const int i = look_up(memory);
  const bool own = i >= 0 && map[i].own && map[i].from == memory;
  if (own) map[i].kind = FAKE_FREE;
  const unsigned long long to = own ? map[i].to : 0;
  pthread_mutex_unlock(&fake_lock);
  if (!own) return CUTT_CU_INVALID_VALUE;
  atomic_fetch_sub(&fake_driver.alive_memory, 1);
  free_memory(memory, to);
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuMemAlloc_v2(cutt_cu_address *memory, size_t bytes) {
  FAKE_BEGIN(mem_alloc);
  FAKE_NEEDS_CONTEXT;
  fake_unsafe();
  return take_memory(memory, bytes);
}

FAKE_PUBLIC cutt_cu_result cuMemFree_v2(cutt_cu_address memory) {
  FAKE_BEGIN(mem_free);
  FAKE_NEEDS_CONTEXT;
  fake_unsafe();
  fake_late_finish_all(fake_current());
  return give_memory(memory);
}

FAKE_PUBLIC cutt_cu_result cuMemcpy(cutt_cu_address to, cutt_cu_address from, size_t bytes) {
  FAKE_BEGIN(memcpy);
  FAKE_NEEDS_CONTEXT;
  fake_unsafe();
  memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
  return CUTT_CU_SUCCESS;
}

typedef struct late_copy {
  void *to;
  const void *from;
  size_t bytes;
} late_copy;

static void run_copy(void *data) {
  const late_copy *c = data;
  memcpy(c->to, c->from, c->bytes);
}

static void copy_and_free(void *data) {
  const late_copy *c = data;
  void *own = NULL;
  memcpy(c->to, c->from, c->bytes);
  memcpy(&own, &c->from, sizeof own);
  free(own);
}

/* Of memory that is not the driver's, the host's bytes are taken at once, and the host waits for those that it gets. */
static void copy_later(late_copy c, cudaStream_t stream) {
  pthread_mutex_lock(&fake_lock);
  const bool from_here = look_up((uintptr_t)c.from) < 0, to_here = look_up((uintptr_t)c.to) < 0;
  pthread_mutex_unlock(&fake_lock);
  if (from_here) {
    void *own = malloc(c.bytes + 1);
    if (!own) abort();
    memcpy(own, c.from, c.bytes);
    c.from = own;
  }
  fake_late_do(stream, from_here ? copy_and_free : run_copy, &c, sizeof c);
  if (to_here) fake_late_finish(stream);
}

static cutt_cu_result copy_async(cutt_cu_address to, cutt_cu_address from, size_t bytes, cudaStream_t stream) {
  if (!fake_driver.copies_nothing)
    copy_later((late_copy){(void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes}, stream);
  pthread_mutex_lock(&fake_lock);
  fake_stream_of(stream)->clock += fake_driver.copy_seconds;
  pthread_mutex_unlock(&fake_lock);
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuMemcpyAsync(cutt_cu_address to, cutt_cu_address from, size_t bytes, cudaStream_t stream) {
  FAKE_BEGIN(memcpy_async);
  FAKE_NEEDS_CONTEXT;
  if (stream && stream->context != fake_current()) return CUTT_CU_INVALID_HANDLE;
  return copy_async(to, from, bytes, stream);
}

FAKE_PUBLIC cutt_cu_result cuMemcpyDtoDAsync_v2(cutt_cu_address to, cutt_cu_address from, size_t bytes,
                                                cudaStream_t stream) {
  FAKE_BEGIN(memcpy_dtod_async);
  FAKE_NEEDS_CONTEXT;
  return copy_async(to, from, bytes, stream);
}

/* At once, also where streams are late. */
FAKE_PUBLIC cutt_cu_result cuMemAllocAsync(cutt_cu_address *memory, size_t bytes, cudaStream_t stream) {
  FAKE_BEGIN(mem_alloc_async);
  FAKE_NEEDS_CONTEXT;
  if (stream && stream->context != fake_current()) return CUTT_CU_INVALID_HANDLE;
  return take_memory(memory, bytes);
}

FAKE_PUBLIC cutt_cu_result cuMemFreeAsync(cutt_cu_address memory, cudaStream_t stream) {
  FAKE_BEGIN(mem_free_async);
  FAKE_NEEDS_CONTEXT;
  if (stream && stream->context != fake_current()) return CUTT_CU_INVALID_HANDLE;
  fake_late_finish(stream);
  return give_memory(memory);
}

typedef struct late_fill {
  cutt_cu_address memory;
  size_t pitch, width, height;
  unsigned value;
  bool words;
} late_fill;

static void run_fill(void *data) {
  const late_fill f = *(const late_fill *)data; /* which no store may change */
  for (size_t row = 0; row < f.height; ++row) {
    unsigned char *at = (unsigned char *)(uintptr_t)(f.memory + row * f.pitch);
    if (!f.words) memset(at, (int)f.value, f.width);
    for (size_t i = 0; i < f.width && f.words; ++i) memcpy(at + 4 * i, &f.value, 4);
  }
}

FAKE_PUBLIC cutt_cu_result cuMemsetD8Async(cutt_cu_address memory, unsigned char value, size_t bytes,
                                           cudaStream_t stream) {
  FAKE_BEGIN(memset_d8_async);
  FAKE_NEEDS_CONTEXT;
  if (stream && stream->context != fake_current()) return CUTT_CU_INVALID_HANDLE;
  fake_late_do(stream, run_fill, &(late_fill){memory, 0, bytes, 1, value, false}, sizeof(late_fill));
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuMemsetD2D32Async(cutt_cu_address memory, size_t pitch, unsigned value, size_t width,
                                              size_t height, cudaStream_t stream) {
  FAKE_BEGIN(memset_d2d32_async);
  FAKE_NEEDS_CONTEXT;
  if (stream && stream->context != fake_current()) return CUTT_CU_INVALID_HANDLE;
  if (memory % 4 || (height > 1 && (pitch % 4 || pitch < 4 * width))) return CUTT_CU_INVALID_VALUE;
  fake_late_do(stream, run_fill, &(late_fill){memory, pitch, width, height, value, true}, sizeof(late_fill));
  return CUTT_CU_SUCCESS;
}

void fake_memory_sweep(void) {
  pthread_mutex_lock(&fake_lock);
  for (size_t i = 0; i < sizeof map / sizeof *map; ++i) {
    if (map[i].kind == FAKE_FREE || !map[i].own) continue;
    free_memory(map[i].from, map[i].to);
    map[i].kind = FAKE_FREE;
  }
  pthread_mutex_unlock(&fake_lock);
  atomic_store(&fake_driver.alive_memory, 0);
  atomic_store(&fake_driver.alive_pinned, 0);
  atomic_store(&fake_driver.alive_opened, 0);
}
