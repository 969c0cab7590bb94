/* Handles whose plans were set aside, against the fake driver: made again in their context, also in a capture. */
#include <stdatomic.h>

#include "cuda/fixture.h"
#include "plan/handles.h"

enum { BYTES = 4 * 5 * 4 };
static const int dim[2] = {4, 5}, swapped[2] = {1, 0};

/* Plans others until no plan but the last is ready. */
static void set_all_aside(void) {
  const uint32_t most = atomic_exchange(&cutt_handles_most_ready, 1);
  for (int i = 0; i < 20; ++i) {
    const int other[2] = {6, 7 + i};
    cuttHandle handle = 0;
    assert_success(cuttPlan(&handle, 2, other, swapped, 4, NULL));
    assert_success(cuttDestroy(handle));
  }
  atomic_store(&cutt_handles_most_ready, most);
}

static bool is_set_aside(cuttHandle handle) {
  cutt_held held;
  assert_success(cutt_handle_hold(handle, &held));
  const bool is = !held.plan;
  cutt_handle_release(&held);
  return is;
}

static void made_again_in_its_context(void **unused) {
  (void)unused;
  struct CUctx_st *own = fake->context_create(0), *sibling = fake->context_create(0);
  cuttHandle handle = 0;
  fake->context_set(own);
  void *in = fixture_device_memory(BYTES), *out = fixture_device_memory(BYTES);
  assert_success(cuttPlan(&handle, 2, dim, swapped, 4, NULL));
  fake->context_set(sibling);
  set_all_aside();
  assert_true(is_set_aside(handle));
  assert_result(CUTT_INVALID_DEVICE, cuttExecute(handle, in, out), "handle", "context");
  fake->context_set(own);
  set_all_aside();
  assert_true(is_set_aside(handle));
  assert_success(cuttExecute(handle, in, out));
  assert_ptr_equal(fake->last.context, own);
  assert_false(is_set_aside(handle));
  assert_success(cuttDestroy(handle));
  fixture_free(in);
  fixture_free(out);
  fake->context_destroy(own);
  fake->context_destroy(sibling);
}

/* Nothing that a capture forbids is called, and a graph needs nothing of the plan. */
static void made_again_in_a_capture(void **unused) {
  (void)unused;
  struct CUctx_st *own = fake->context_create(0);
  struct CUstream_st stream = {.context = own};
  cuttHandle handle = 0;
  fake->context_set(own);
  void *in = fixture_device_memory(BYTES), *out = fixture_device_memory(BYTES);
  assert_success(cuttPlan(&handle, 2, dim, swapped, 4, &stream));
  assert_success(cuttExecute(handle, in, out));
  set_all_aside();
  set_all_aside(); /* it was executed, and so passed over once */
  assert_true(is_set_aside(handle));
  fake->forget();
  atomic_store(&stream.capturing, true);
  atomic_store(&fake->capture_is_on, 1);
  assert_success(cuttExecute(handle, in, out));
  assert_int_equal(fixture_heavy_calls(), 0);
  assert_ptr_equal(fake->last.stream, &stream);
  atomic_store(&fake->capture_is_on, 0);
  /* A thread without a context executes it in the stream's, which is its own. */
  set_all_aside();
  set_all_aside();
  assert_true(is_set_aside(handle));
  fake->context_set(NULL);
  assert_success(cuttExecute(handle, in, out));
  assert_ptr_equal(fake->last.context, own);
  fake->context_set(own);
  assert_success(cuttDestroy(handle));
  fixture_free(in);
  fixture_free(out);
  fake->context_destroy(own);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(made_again_in_its_context, fixture_start, fixture_end),
      cmocka_unit_test_setup_teardown(made_again_in_a_capture, fixture_start, fixture_end),
  };
  return cmocka_run_group_tests_name("cuda_handles", tests, fixture_open, NULL);
}
