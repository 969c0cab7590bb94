/* What an execution is predicted to take: permutations by libcutt's model, messages by what the transport says of itself. */
#ifndef CUTT_DIST_PREDICT_H
#define CUTT_DIST_PREDICT_H

#include "dist/device.h"

/* Seconds of this rank's part of an exchange. */
double cutt_predict(const cuttDistTransport_t *transport, const cutt_device_part *device,
                    const cutt_exchange *exchange);

/* Most bytes of a piece where the caller leaves it to the library, and messages of a device's memory go in rounds.
 * bytes: of the tensor. All ranks have to say the same. */
int64_t cutt_predict_piece(const cutt_device_part *device, int64_t bytes, int size);

#endif
