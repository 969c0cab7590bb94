/* The device of a plan of a contraction: which it is, and the streams and events that order panels and products. */
#include "dist/contract.h"
#include "plan/services.h"

cuttResult cutt_spread_select(cutt_spread *s, const struct cuttDistCommStruct *comm) {
  cutt_device_part part = {.runtime = NULL};
  const cuttDistOptions_t moves = {
      .backend = s->options.backend, .direct = s->options.direct, .trust_arguments = 1}; /* as they will be made */
  const cuttResult result = cutt_device_select(&part, comm, &moves);
  if (result) return result;
  s->options.backend = part.backend;
  s->runtime = part.runtime;
  s->way = part.way;
  return CUTT_SUCCESS;
}

enum { EVENTS = 7 };

static void list_events(cutt_contract_device *d, cutt_event **event[EVENTS]) {
  event[0] = &d->begun;
  event[1] = &d->sent;
  event[2] = &d->ended;
  for (int i = 0; i < 2; ++i) {
    event[3 + i] = &d->moved[i];
    event[5 + i] = &d->multiplied[i];
  }
}

/* Messages come before kernels that have not started: what is computed is long, and waits for them. */
cuttResult cutt_contract_device_make(cutt_contract_device *d, const cutt_runtime *runtime, bool panels) {
  cutt_event **event[EVENTS];
  cutt_scope scope;
  cuttResult result = runtime->enter(&scope);
  if (result) return result;
  d->runtime = runtime;
  list_events(d, event);
  result = runtime->context(&d->context);
  for (int i = 0; i < EVENTS && !result; ++i) result = runtime->event_create(false, event[i]);
  if (!result && panels) result = runtime->urgent_stream_create(&d->side);
  runtime->leave(&scope);
  return result;
}

void cutt_contract_device_free(cutt_contract_device *d) {
  cutt_event **event[EVENTS];
  if (!d->runtime) return;
  list_events(d, event);
  for (int i = 0; i < EVENTS; ++i)
    if (*event[i]) d->runtime->event_destroy(*event[i]);
  if (d->side) d->runtime->stream_release(d->side);
}

cuttResult cutt_contract_device_enter(const cutt_contract_device *d, cudaStream_t stream, cutt_scope *scope) {
  const cutt_device_part part = {.runtime = d->runtime, .context = d->context};
  return cutt_device_enter(&part, stream, scope);
}
