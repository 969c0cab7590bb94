/* Predicted times (predict.h). */
#include "dist/predict.h"

#include <math.h>

#include "base/number.h"

/* By how much the receiver's permutation takes longer than the sender's by processors: the short runs of the one are written to
 * memory, those of the other to a room that a cache still holds, and predicted times know of neither. On an AMD EPYC (Zen 5) all of
 * an execution took 1.0 to 1.5 times as long where they were equal (docs/dist.md). */
static const double UNPACKING = 1.3;

static double predict_host(const cuttDistTransport_t *t, const cutt_exchange *x, double unpacking) {
  const cutt_flow *sent = &x->flow[CUTT_FROM], *received = &x->flow[CUTT_TO];
  const double message = t->message_seconds > 0 ? t->message_seconds : 5e-6;
  const double byte = t->byte_seconds > 0 ? t->byte_seconds : 2e-10;
  const double work = x->kept_seconds + sent->seconds + received->seconds * (x->way == CUTT_WAY_UNPACK ? unpacking : 1);
  if (x->way == CUTT_WAY_DIRECT) return work + 2 * message;
  return work + 2 * message + message * (double)larger(sent->messages, received->messages) +
         byte * (double)larger(sent->bytes, received->bytes);
}

/* What goes on side by side: what is shorter hides behind what is longer, but for what collides. */
static double together(double a, double b) {
  const double x = a * a, y = b * b;
  return sqrt(sqrt(x * x + y * y));
}

/* Processes copy to or from slots: where slots are filled what lies in one run is unpacked, too, and else it is packed. */
static double through_slots(const cutt_device_part *d, const cutt_exchange *x, int side) {
  const bool opened = d->way == CUTT_BY_COPIES && !d->shared, filled = x->flow[CUTT_TO].through_bytes > 0;
  return opened && filled == (side == CUTT_TO) ? x->flow[side].all_seconds : x->flow[side].seconds;
}

/* On a device links work beside the kernels; what is packed first and unpacked last is not hidden. Between devices of a host nobody
 * says what the link is: copies are taken for those over NVLink 4. Constants are measured on two H200 (docs/dist.md). */
static double predict_device(const cuttDistTransport_t *t, const cutt_device_part *d, const cutt_exchange *x) {
  const cutt_flow *sent = &x->flow[CUTT_FROM], *received = &x->flow[CUTT_TO];
  const double bytes = (double)larger(sent->bytes, received->bytes);
  const bool fetches = d->way == CUTT_BY_COPIES && !d->shared && received->through_bytes == 0; /* from opened memory */
  const double copy_byte = fetches ? 1 / 350e9 : 1 / 372e9;
  const double agreements = 3 * t->gather_seconds;
  if (x->way == CUTT_WAY_DIRECT)
    return 30e-6 + agreements + together(sent->link_seconds, x->kept_seconds + sent->seconds) + 0.23 * x->kept_seconds;
  if (d->way == CUTT_BY_HOST) return 20e-6 + predict_host(t, x, 1) + (d->pinned_messages ? 2 * bytes * copy_byte : 0);
  const bool copies = d->way == CUTT_BY_COPIES;
  const double byte = copies || !(t->byte_seconds > 0) ? copy_byte : t->byte_seconds;
  const double round = copies ? 12e-6 : t->message_seconds > 0 ? t->message_seconds : 90e-6;
  const double packing = through_slots(d, x, CUTT_FROM), unpacking = through_slots(d, x, CUTT_TO);
  const double work = x->kept_seconds + packing + unpacking;
  const double rounds = (double)larger(cutt_exchange_rounds(x), (int64_t)1);
  const double links = bytes * byte + round * rounds, ends = (packing + unpacking) / rounds;
  /* Copies take turns with little at memory; NCCL's kernels collide with more. */
  const double middle = copies ? larger(links, work) : together(links, work);
  return 20e-6 + agreements + middle + ends;
}

double cutt_predict(const cuttDistTransport_t *transport, const cutt_device_part *device,
                    const cutt_exchange *exchange) {
  return device->runtime ? predict_device(transport, device, exchange) : predict_host(transport, exchange, UNPACKING);
}

/* Packing the first piece and unpacking the last one goes on beside nothing, which takes some 4 bytes' worth of memory's time for
 * each byte of theirs; each round costs some time, too. Between the two is the square root. */
int64_t cutt_predict_piece(const cutt_device_part *d, int64_t bytes, int size) {
  enum { ALIGNMENT = 4096 };
  const double per_round = d->way == CUTT_BY_COPIES ? 12e-6 : d->comm->known ? 30e-6 : 60e-6;
  const double least = 1 << 20, most = (double)(512 << 20), scale = per_round * 3.5e12 / 4;
  const double round = sqrt((double)bytes / size * scale), piece = round / (size > 1 ? size - 1 : 1);
  const double within = piece < least ? least : piece > most ? most : piece;
  return (int64_t)within / ALIGNMENT * ALIGNMENT;
}
