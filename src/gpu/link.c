/* Times over a link (link.h).
 *
 * A write travels as one packet for each cache line that it touches: a header, and the line's sectors that are touched. So what
 * counts is where the runs that a tile writes begin and end: a run of 10 doubles that begins anywhere makes 1.6 packets, and
 * moves at two thirds of the speed of whole lines. Where requests begin with lines that is all; else those that meet in a line make
 * a packet each. Measured between two H200 (docs/dist.md). */
#include "gpu/link.h"

#include "base/number.h"
#include "gpu/access.h"
#include "gpu/count.h"
#include "gpu/terms.h"

static const double packet_bytes = 29; /* of a packet, beside its sectors */

/* Bytes per second, each way, of the NVLink of a generation's largest boards: the data sheets'. */
static double link_bandwidth(const cutt_device *d) {
  return d->major >= 10 ? 900e9 : d->major == 9 ? 450e9 : d->major == 8 ? 300e9 : d->major == 7 ? 150e9 : 80e9;
}

/* Of whole lines and of others, by their bytes. What is added to comes over the link first. */
static double seconds_of(const cutt_device *d, const cutt_canonical *c, double sectors, double packets) {
  const bool reads = c->scale.active && c->scale.reads_out;
  return (reads ? 2 : 1) * (sectors + packets * packet_bytes) / link_bandwidth(d);
}

double cutt_gpu_least_link_seconds(const cutt_device *d, const cutt_canonical *c) {
  const double bytes = (double)c->volume * c->elem_bytes;
  return seconds_of(d, c, bytes, bytes / LINE);
}

double cutt_gpu_link_seconds(const cutt_device *d, const cutt_canonical *c, const cutt_gpu_tile *tile,
                             const cutt_gpu_counts *n, const cutt_candidate *candidate) {
  const double bytes = (double)c->volume * c->elem_bytes;
  double sectors = n->written_sectors, parts = n->written_lines;
  const char *why;
  cutt_gpu_access access;
  cutt_gpu_requests requests;
  double cuts = 0; /* sectors of two requests */
  const bool lines = cutt_gpu_access_choose(c, tile, candidate->param[CUTT_GPU_PARAM_DIRECT] != 0, CUTT_GPU_ALIGNED,
                                            CUTT_GPU_ALIGNED, &access, &why) &&
                     access.lines;
  if (!lines) {
    cutt_gpu_count_requests(d, c, tile, candidate, &requests);
    cuts = larger(0, requests.store_sectors - requests.tile_store_sectors);
  }
  if (tile->beside > 0) { /* no packet is of two columns */
    sectors = partial(n->column_bytes, n->out_align, cutt_gpu_sector(d));
    parts = partial(n->column_bytes, n->out_align, LINE);
  }
  return seconds_of(d, c, bytes * (1 + sectors) + cuts * cutt_gpu_sector(d), bytes * (1 + parts) / LINE + cuts);
}
