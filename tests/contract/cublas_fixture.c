/* The set-up of tests with stand-ins for cuBLAS (cublas_fixture.h). */
#include "contract/cublas_fixture.h"

#include <dlfcn.h>
#include <string.h>

#include "runtime/cuda/state.h"

fake_cublas_t *cublas_fake;
fake_cublas_lt_t *cublas_lt;
const cutt_blas *cublas;
bool cublas_old;

int cublas_open(void **unused) {
  if (fixture_open(unused)) return -1;
  if (cutt_blas_find(CUTT_BACKEND_CUDA, NULL, "p", CUTT_F64, &cublas)) {
    print_error("%s\n", cuttLastError());
    return -1;
  }
  void *library = dlopen(cublas->path, RTLD_NOW | RTLD_NOLOAD);
  cublas_fake = fake_cublas_of(library);
  if (!cublas_fake) {
    print_error("%s is not the stand-in\n", cublas->path);
    return -1;
  }
  cublas_old = !dlsym(library, "cublasGemmEx_64");
  fake_cublas_lt_function *function = NULL;
  void *symbol = dlsym(library, "fake_cublas_lt");
  memcpy(&function, &symbol, sizeof function);
  cublas_lt = function ? function() : NULL;
  return 0;
}

static void start_lt(void) {
  static const double slow = 30e-6;
  cublas_lt->version = 0;
  cublas_lt->count = 0;
  cublas_lt->fail_list = cublas_lt->fail_multiply = cublas_lt->fail_create = cublas_lt->fail_handle = 0;
  cublas_lt->fills_workspace = false;
  atomic_store(&cublas_lt->products, 0);
  for (int i = 0; i < FAKE_LT_MOST; ++i) {
    cublas_lt->workspace[i] = 0;
    cublas_lt->state[i] = 0;
    cublas_lt->config[i] = i;
    cublas_lt->aligned[i] = 0;
    cublas_lt->seconds[i] = slow;
  }
}

int cublas_start(void **unused) {
  fixture_start(unused);
  atomic_store(&cublas_fake->fail_create, 0);
  atomic_store(&cublas_fake->fail_gemm, 0);
  atomic_store(&cublas_fake->only_remember, false);
  atomic_store(&cublas_fake->calls, 0);
  cublas_fake->seconds = 0;
  if (cublas_lt) start_lt();
  return 0;
}

/* Each handle that is kept has an event; nothing else may be left. */
int cublas_finish(void **unused) {
  (void)unused;
  atomic_store(&fake->fail, -1);
  fake->context_set(NULL);
  assert_int_equal(atomic_load(&fake->alive_events), atomic_load(&cublas_fake->alive));
  assert_int_equal(atomic_load(&fake->alive_memory), 0);
  assert_int_equal(atomic_load(&fake->alive_streams), 0);
  assert_int_equal(atomic_load(&fake->depth), 0);
  assert_int_equal(atomic_load(&cublas_fake->faults), 0);
  if (cublas_lt) assert_int_equal(atomic_load(&cublas_lt->alive), 0);
  if (cublas_lt) assert_int_equal(atomic_load(&cublas_lt->faults), 0);
  return 0;
}

cudaStream_t cublas_stream(void) {
  cudaStream_t stream = NULL;
  cutt_cuda_scope scope;
  assert_success(cutt_cuda_enter(&scope));
  assert_int_equal(scope.cu->stream_create(&stream, CUTT_CU_STREAM_NON_BLOCKING), 0);
  cutt_cuda_leave(&scope);
  return stream;
}

void cublas_end_stream(cudaStream_t stream) {
  cutt_cuda_scope scope;
  assert_success(cutt_cuda_enter(&scope));
  assert_int_equal(scope.cu->stream_destroy(stream), 0);
  cutt_cuda_leave(&scope);
}
