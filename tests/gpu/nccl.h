/* NCCL for the tests on GPUs: found at run time, declared here. */
#ifndef CUTT_TESTS_GPU_NCCL_H
#define CUTT_TESTS_GPU_NCCL_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct nccl_id {
  char bytes[128];
} nccl_id;
typedef void *nccl_comm;

typedef struct nccl_library {
  int (*get_id)(nccl_id *id);
  int (*init_rank)(nccl_comm *comm, int size, nccl_id id, int rank);
  int (*init_all)(nccl_comm *comms, int size, const int *devices);
  int (*destroy)(nccl_comm comm);
} nccl_library;

static inline bool nccl_open(nccl_library *nccl) {
  void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  static const char *const name[] = {"ncclGetUniqueId", "ncclCommInitRank", "ncclCommInitAll", "ncclCommDestroy"};
  void *member[] = {&nccl->get_id, &nccl->init_rank, &nccl->init_all, &nccl->destroy};
  for (int i = 0; i < 4; i++) {
    void *symbol = library ? dlsym(library, name[i]) : NULL;
    if (!symbol) {
      printf("skipped: no NCCL is here\n");
      return false;
    }
    memcpy(member[i], &symbol, sizeof symbol);
  }
  return true;
}

#endif
