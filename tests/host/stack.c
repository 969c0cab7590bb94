#include "host/stack.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAINT = 0xa7, BELOW = 512 * 1024 };

typedef struct thread {
  void (*run)(void *data);
  void *data;
  unsigned char *frame; /* where the thread's own beginning ends */
} thread;

__attribute__((noinline)) static void *enter(void *argument) {
  thread *t = argument;
  t->frame = __builtin_frame_address(0);
  t->run(t->data);
  return NULL;
}

stack_marks stack_run(size_t bytes, void (*run)(void *data), void *data) {
  stack_marks marks = {false, true, 0, 0};
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char *memory =
      mmap(NULL, BELOW + page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return marks;
  unsigned char *guard = memory + BELOW, *stack = guard + page;
  memset(memory, PAINT, BELOW);
  memset(stack, PAINT, bytes);
  thread t = {run, data, NULL};
  pthread_attr_t attributes;
  pthread_t id;
  if (mprotect(guard, page, PROT_NONE) == 0 && pthread_attr_init(&attributes) == 0) {
    marks.ran = pthread_attr_setstack(&attributes, stack, bytes) == 0 &&
                pthread_create(&id, &attributes, enter, &t) == 0 && pthread_join(id, NULL) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (marks.ran) {
    const unsigned char *lowest = stack;
    while (lowest < t.frame && *lowest == PAINT) lowest++;
    marks.used = (size_t)(t.frame - lowest);
    marks.usable = (size_t)(t.frame - stack);
    for (size_t i = 0; i < BELOW; i++) marks.intact = marks.intact && memory[i] == PAINT;
  }
  munmap(memory, BELOW + page + bytes);
  return marks;
}

size_t stack_smallest(void) {
  long least = PTHREAD_STACK_MIN;
#ifdef _SC_THREAD_STACK_MIN
  if (sysconf(_SC_THREAD_STACK_MIN) > least) least = sysconf(_SC_THREAD_STACK_MIN);
#endif
  return ((size_t)least + 4095) / 4096 * 4096;
}
