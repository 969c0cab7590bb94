/* Predicted times (predict.h). */
#include "dist/predict.h"

#include <math.h>

#include "base/number.h"

static double predict_host(const cuttDistTransport_t *t, const cutt_exchange *x) {
  const cutt_flow *sent = &x->flow[CUTT_FROM], *received = &x->flow[CUTT_TO];
  const double message = t->message_seconds > 0 ? t->message_seconds : 5e-6;
  const double byte = t->byte_seconds > 0 ? t->byte_seconds : 2e-10;
  const double work = x->kept_seconds + sent->seconds + received->seconds;
  if (x->way == CUTT_WAY_DIRECT) return work + 2 * message;
  return work + 2 * message + message * (double)larger(sent->pieces, received->pieces) +
         byte * (double)larger(sent->bytes, received->bytes);
}

/* On a device the link works beside the kernels; what is packed first and unpacked last is not hidden. Between devices of a host
 * nobody says what the link is: it is taken for NVLink 4. */
static double predict_device(const cuttDistTransport_t *t, const cutt_device_part *d, const cutt_exchange *x) {
  const cutt_flow *sent = &x->flow[CUTT_FROM], *received = &x->flow[CUTT_TO];
  const bool known = t->exchange && t->byte_seconds > 0;
  const double byte = known ? t->byte_seconds : 1 / 360e9, round = known ? t->message_seconds : 20e-6;
  const double link = byte * (double)larger(sent->bytes, received->bytes), start = 20e-6;
  const double work = x->kept_seconds + sent->seconds + received->seconds;
  if (x->way == CUTT_WAY_DIRECT) return start + larger(link, work);
  if (d->way == CUTT_BY_HOST) return start + predict_host(t, x) + 2 * link;
  const double rounds = (double)larger(cutt_exchange_rounds(x), (int64_t)1);
  return start + larger(link + round * rounds, work) + (sent->seconds + received->seconds) / rounds;
}

double cutt_predict(const cuttDistTransport_t *transport, const cutt_device_part *device,
                    const cutt_exchange *exchange) {
  return device->runtime ? predict_device(transport, device, exchange) : predict_host(transport, exchange);
}

/* Packing the first piece and unpacking the last one goes on beside nothing, which takes some 4 bytes' worth of memory's time for
 * each byte of theirs; each round costs some 60 us. Between the two is the square root. */
int64_t cutt_predict_piece(int64_t bytes, int size) {
  enum { ALIGNMENT = 4096 };
  const double least = 1 << 20, most = (double)(512 << 20), scale = 60e-6 * 3.5e12 / 4;
  const double round = sqrt((double)bytes / size * scale), piece = round / (size > 1 ? size - 1 : 1);
  const double within = piece < least ? least : piece > most ? most : piece;
  return (int64_t)within / ALIGNMENT * ALIGNMENT;
}
