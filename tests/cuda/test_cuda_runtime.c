/* The CUDA runtime's services by its table, against the fake driver: contexts, pointers, memory in order with a stream, streams
 * and events, kernels. */
#include <stdlib.h>
#include <string.h>

#include "cuda/fixture.h"
#include "plan/backend.h"

static const cutt_runtime *cuda(void) { return cutt_cuda_backend.runtime; }

static void contexts(void **unused) {
  (void)unused;
  const char *why = NULL;
  cutt_scope scope;
  cutt_context none, inside, own;
  assert_int_equal(cuda()->driver_version(&why), 12080);
  assert_null(why);
  assert_success(cuda()->context(&none));
  assert_null(none.handle);
  assert_success(cuda()->enter(&scope));
  assert_int_equal(atomic_load(&fake->depth), 1);
  assert_success(cuda()->context(&inside));
  assert_non_null(inside.handle);
  assert_ptr_equal(inside.handle, scope.context);
  cuda()->leave(&scope);
  assert_int_equal(atomic_load(&fake->depth), 0);
  /* The caller's own stays the caller's. */
  struct CUctx_st *callers = fake->context_create(0);
  fake->context_set(callers);
  assert_success(cuda()->enter(&scope));
  assert_success(cuda()->context(&own));
  assert_ptr_equal(own.handle, callers);
  assert_int_equal(own.number, callers->id);
  assert_true(own.number != inside.number);
  cuda()->leave(&scope);
  assert_success(cuda()->context(&own));
  assert_ptr_equal(own.handle, callers);
  fake->context_destroy(callers);
  fake->context_set(NULL);
  /* Errors, with nothing to leave. */
  fake->forget();
  atomic_store(&fake->fail_at, 1);
  atomic_store(&fake->fail, FAKE_ctx_get_current);
  assert_result(CUTT_INTERNAL_ERROR, cuda()->enter(&scope), "current context", "a failure on request");
  fake->forget();
  assert_int_equal(setenv("CUTT_CUDA", "0", 1), 0);
  assert_int_equal(cuda()->driver_version(&why), 0);
  assert_non_null(strstr(why, "CUTT_CUDA"));
  assert_int_equal(unsetenv("CUTT_CUDA"), 0);
}

static void pointers(void **unused) {
  (void)unused;
  cutt_scope scope;
  int here = 0;
  void *at = NULL, *memory = fixture_device_memory(64);
  assert_success(cuda()->enter(&scope));
  fake->forget();
  assert_success(cuda()->reach(cuda()->target(), memory, "left", &at));
  assert_ptr_equal(at, memory);
  assert_result(CUTT_INVALID_PARAMETER, cuda()->reach(cuda()->target(), &here, "left", &at), "left is", "host memory",
                "NVIDIA H200");
  assert_int_equal(fixture_heavy_calls(), 0);
  cuda()->leave(&scope);
  fixture_free(memory);
}

static void memory_in_a_stream(void **unused) {
  (void)unused;
  cutt_scope scope;
  cudaStream_t stream = NULL;
  void *memory = NULL;
  assert_success(cuda()->enter(&scope));
  assert_success(cuda()->side_stream_create(&stream));
  fake->forget();
  assert_success(cuda()->stream_allocate(64, stream, &memory));
  assert_non_null(memory);
  assert_int_equal(fixture_calls(FAKE_mem_alloc_async), 1);
  assert_success(cuda()->fill_bytes(memory, 0xa5, 64, stream));
  assert_success(cuda()->fill_words((char *)memory + 8, 0x01020304, 3, stream));
  assert_int_equal(fixture_heavy_calls(), 0); /* nothing waits */
  unsigned char expected[64];
  const uint32_t words[] = {0x01020304, 0x01020304, 0x01020304};
  memset(expected, 0xa5, sizeof expected);
  memcpy(expected + 8, words, sizeof words);
  assert_memory_equal(memory, expected, sizeof expected);
  assert_result(CUTT_INTERNAL_ERROR, cuda()->fill_words((char *)memory + 1, 0, 1, stream), "filling 1 words");
  cuda()->stream_free(memory, stream);
  assert_int_equal(fixture_calls(FAKE_mem_free_async), 1);
  fake->forget();
  atomic_store(&fake->fail_at, 1);
  atomic_store(&fake->fail, FAKE_mem_alloc_async);
  assert_result(CUTT_INTERNAL_ERROR, cuda()->stream_allocate(4096, stream, &memory), "4096 bytes");
  assert_null(memory);
  fake->forget();
  cuda()->stream_release(stream);
  cuda()->leave(&scope);
}

static void streams_and_events(void **unused) {
  (void)unused;
  cutt_scope scope;
  cudaStream_t stream = NULL, side = NULL;
  cutt_event *from = NULL, *to = NULL, *order = NULL;
  double seconds = 0;
  bool captured = true;
  assert_success(cuda()->enter(&scope));
  assert_success(cuda()->side_stream_create(&stream));
  assert_success(cuda()->side_stream_create(&side));
  assert_success(cuda()->event_create(true, &from));
  assert_success(cuda()->event_create(true, &to));
  assert_success(cuda()->event_create(false, &order));
  assert_success(cuda()->event_record(from, stream));
  stream->clock += 0.25;
  side->clock += 2;
  assert_success(cuda()->event_record(order, side));
  assert_success(cuda()->stream_wait(stream, order));
  assert_success(cuda()->event_record(to, stream));
  assert_success(cuda()->event_seconds(from, to, &seconds));
  assert_true(seconds > 1.999 && seconds < 2.001); /* the other stream's work is waited for */
  assert_success(cuda()->stream_synchronize(stream));
  assert_success(cuda()->stream_is_captured(stream, &captured));
  assert_false(captured);
  atomic_store(&stream->capturing, true);
  assert_success(cuda()->stream_is_captured(stream, &captured));
  assert_true(captured);
  atomic_store(&stream->capturing, false);
  static const int failing[] = {FAKE_event_create, FAKE_stream_create, FAKE_event_record, FAKE_stream_wait_event,
                                FAKE_stream_is_capturing};
  for (size_t i = 0; i < sizeof failing / sizeof *failing; ++i) {
    cudaStream_t no_stream = side;
    cutt_event *no_event = order;
    fake->forget();
    atomic_store(&fake->fail_at, 1);
    atomic_store(&fake->fail, failing[i]);
    const cuttResult result = i == 0   ? cuda()->event_create(true, &no_event)
                              : i == 1 ? cuda()->side_stream_create(&no_stream)
                              : i == 2 ? cuda()->event_record(to, stream)
                              : i == 3 ? cuda()->stream_wait(stream, order)
                                       : cuda()->stream_is_captured(stream, &captured);
    assert_result(CUTT_INTERNAL_ERROR, result, "a failure on request");
    assert_int_equal(atomic_load(&fake->failed), 1);
    if (i == 0) assert_null(no_event);
    if (i == 1) assert_null(no_stream);
  }
  fake->forget();
  cuda()->event_destroy(from);
  cuda()->event_destroy(to);
  cuda()->event_destroy(order);
  cuda()->stream_release(side);
  cuda()->stream_release(stream);
  cuda()->leave(&scope);
}

/* A list of a caller's own: one fake image has them all. */
static void kernels_by_key(void **unused) {
  (void)unused;
  static const char *const image[] = {"mine", "mine"}, *const name[] = {"cutt_first", "cutt_second"};
  static const cutt_kernel_list list = {2, image, name};
  const cutt_kernels *kernels = NULL, *again = NULL;
  const cutt_grid grid = {7, 64, 1024, false};
  uint64_t in = 1, out = 2;
  int more = 3;
  void *parameters[] = {&in, &out, &more};
  cutt_scope scope;
  struct CUctx_st *own = fake->context_create(0), *other = fake->context_create(0);
  fake->context_set(own);
  fake->forget();
  atomic_store(&fake->fail_at, 2);
  atomic_store(&fake->fail, FAKE_module_get_function);
  assert_result(CUTT_INTERNAL_ERROR, cuda()->kernels_find(&list, &kernels), "looking for kernel cutt_second");
  assert_null(kernels);
  assert_int_equal(atomic_load(&own->modules), 0); /* given back, as nothing of it is in use */
  fake->forget();
  assert_success(cuda()->kernels_find(&list, &kernels));
  assert_ptr_equal(kernels->list, &list);
  assert_ptr_equal(kernels->target, cuda()->target());
  assert_int_equal(atomic_load(&own->modules), 1);
  assert_success(cuda()->kernels_find(&list, &again));
  assert_ptr_equal(again, kernels);
  assert_int_equal(fixture_calls(FAKE_module_get_function), 2);
  assert_success(cuda()->kernels_enter(kernels, &scope));
  assert_success(cuda()->launch(kernels, 1, &grid, parameters, NULL));
  cuda()->leave(&scope);
  assert_string_equal(fake->last.kernel, "cutt_second");
  assert_int_equal(fake->last.blocks, 7);
  assert_int_equal(fake->last.threads, 64);
  assert_int_equal(fake->last.shared_bytes, 1024);
  fake->context_set(NULL);
  assert_success(cuda()->kernels_enter(kernels, &scope));
  assert_int_equal(atomic_load(&fake->depth), 1);
  cuda()->leave(&scope);
  assert_int_equal(atomic_load(&fake->depth), 0);
  fake->context_set(other);
  assert_result(CUTT_INVALID_DEVICE, cuda()->kernels_enter(kernels, &scope), "the plan is for context");
  assert_success(cuda()->kernels_find(&list, &again)); /* another context's are others */
  assert_ptr_not_equal(again, kernels);
  fake->context_destroy(own);
  fake->context_destroy(other);
}

/* What a runtime without streams does not have. */
static void the_host_has_none(void **unused) {
  (void)unused;
  const cutt_runtime *host = cutt_cpu_backend.runtime;
  assert_false(host->has_streams);
  assert_null(host->enter);
  assert_null(host->reach);
  assert_null(host->stream_allocate);
  assert_null(host->event_create);
  assert_null(host->kernels_find);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_start, fixture_end)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(contexts),           TEST(pointers),       TEST(memory_in_a_stream),
                                     TEST(streams_and_events), TEST(kernels_by_key), TEST(the_host_has_none)};
  return cmocka_run_group_tests_name("cuda_runtime", tests, fixture_open, NULL);
}
