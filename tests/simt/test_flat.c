/* The kernels without tables, each by name under the emulator: the result, and what they are there for, which is accesses of 16
 * bytes (or words, of narrow elements) and no bank conflicts in a plain transpose. Random tiles are those of test_property_simt. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/count.h"
#include "gpu/flat.h"
#include "simt/engine.h"
#include "support/buffers.h"
#include "support/check.h"
#include "support/reference.h"

typedef struct flat_case {
  cutt_kernel kernel;
  cuttType_t type;
  int rank, perm[4];
  int64_t extents[4];
  int m, k;
  int64_t split_m, split_k;
  int threads, in_at, out_at; /* bytes from 16-byte alignment */
  int direct;                 /* a copy of runs */
  /* Of 32 words that are moved: requests of loads, of stores, and to shared memory, and its wavefronts; 0: not held. */
  double loads, stores, shared, wavefronts;
} flat_case;

#define SQUARE(chunk) 2, {1, 0}, {256, 256}, 1, 1, chunk, chunk, 256, 0, 0
static const flat_case cases[] = {
    {CUTT_KERNEL_flat_1w, CUTT_BYTES_1, SQUARE(128), 0, 0.25, 1, 2, 2},
    {CUTT_KERNEL_flat_2q, CUTT_BYTES_2, SQUARE(64), 0, 0.25, 0.25, 2, 2},
    {CUTT_KERNEL_flat_4w, CUTT_BYTES_4, SQUARE(64), 0, 0.25, 0.25, 2, 2},
    {CUTT_KERNEL_flat_8w, CUTT_BYTES_8, SQUARE(32), 0, 0.25, 0.25, 1, 2},
    {CUTT_KERNEL_flat_16, CUTT_BYTES_16, SQUARE(16), 0, 0.25, 0.25, 0.5, 2},
    {CUTT_KERNEL_flat_2w, CUTT_BYTES_2, 2, {1, 0}, {256, 256}, 1, 1, 64, 64, 128, 0, 4, 0, 0.25, 1, 2, 2},
    /* What words do not divide, several modes on both sides, tiles at edges, and few rows. */
    {CUTT_KERNEL_flat_1, CUTT_BYTES_1, 3, {2, 1, 0}, {19, 7, 23}, 2, 1, 0, 9, 64, 1, 3, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_2, CUTT_BYTES_2, 2, {1, 0}, {5, 50}, 1, 1, 0, 0, 96, 2, 6, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4, CUTT_BYTES_4, 4, {3, 2, 1, 0}, {5, 9, 11, 7}, 2, 2, 0, 5, 128, 4, 8, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_8, CUTT_BYTES_8, 3, {2, 0, 1}, {31, 6, 17}, 1, 1, 16, 16, 32, 8, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4w, CUTT_BYTES_4, 3, {1, 2, 0}, {128, 4, 60}, 1, 1, 0, 0, 256, 0, 0, 0, 0.25, 0, 0, 0},
    {CUTT_KERNEL_flat_2q, CUTT_BYTES_2, 2, {1, 0}, {2048, 16}, 1, 1, 512, 0, 256, 0, 0, 0, 0.25, 0.25, 0, 0},
    {CUTT_KERNEL_flat_1w, CUTT_BYTES_1, 3, {1, 0, 2}, {64, 100, 3}, 1, 1, 0, 48, 64, 0, 0, 0, 0, 0, 0, 0},
    /* Pixels: the side that is one range goes 16 bytes at a time, if its tiles begin there, and without bank conflicts where their
     * elements are an odd number; several modes, tiles at the edge, and a range that is aligned to words. */
    {CUTT_KERNEL_flat_in_1, CUTT_BYTES_1, 2, {1, 0}, {3, 2048}, 1, 1, 0, 512, 128, 0, 0, 0, 0.25, 1, 0, 0},
    {CUTT_KERNEL_flat_in_2, CUTT_BYTES_2, 3, {1, 0, 2}, {5, 1024, 2}, 1, 1, 0, 512, 256, 0, 0, 0, 0.25, 0.25, 0, 0},
    {CUTT_KERNEL_flat_in_2, CUTT_BYTES_2, 2, {1, 0}, {6, 1024}, 1, 1, 0, 512, 64, 0, 0, 0, 0.25, 0.25, 0, 0},
    {CUTT_KERNEL_flat_in_4, CUTT_BYTES_4, 2, {1, 0}, {3, 1024}, 1, 1, 0, 256, 256, 0, 0, 0, 0.25, 0.25, 1.25, 5},
    {CUTT_KERNEL_flat_in_8, CUTT_BYTES_8, 2, {1, 0}, {3, 1024}, 1, 1, 0, 128, 64, 0, 0, 0, 0.25, 0.25, 0.75, 3},
    {CUTT_KERNEL_flat_out_1, CUTT_BYTES_1, 2, {1, 0}, {2048, 3}, 1, 1, 512, 0, 128, 0, 0, 0, 0.5, 0.25, 0, 0},
    {CUTT_KERNEL_flat_out_2, CUTT_BYTES_2, 3, {2, 0, 1}, {1024, 2, 3}, 1, 1, 512, 0, 128, 0, 0, 0, 0.5, 0.25, 0, 0},
    {CUTT_KERNEL_flat_out_4, CUTT_BYTES_4, 2, {1, 0}, {1024, 3}, 1, 1, 256, 0, 256, 0, 0, 0, 0.25, 0.25, 1.25, 5},
    {CUTT_KERNEL_flat_out_8, CUTT_BYTES_8, 2, {1, 0}, {1024, 5}, 1, 1, 128, 0, 64, 0, 0, 0, 0.25, 0.25, 0.75, 3},
    {CUTT_KERNEL_flat_in_1, CUTT_BYTES_1, 4, {2, 1, 0, 3}, {3, 5, 100, 7}, 2, 1, 0, 36, 96, 4, 8, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_out_2, CUTT_BYTES_2, 4, {2, 1, 0, 3}, {100, 5, 3, 3}, 1, 2, 36, 0, 32, 4, 8, 0, 0, 0, 0, 0},
    /* Not aligned to words, of which the last tile ends in a part, and with one range for all. */
    {CUTT_KERNEL_flat_in_1, CUTT_BYTES_1, 2, {1, 0}, {3, 1001}, 1, 1, 0, 256, 64, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_in_1, CUTT_BYTES_1, 2, {1, 0}, {3, 2}, 1, 1, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_in_2, CUTT_BYTES_2, 2, {1, 0}, {3, 333}, 1, 1, 0, 64, 96, 4, 2, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_out_1, CUTT_BYTES_1, 2, {1, 0}, {1001, 3}, 1, 1, 256, 0, 64, 1, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_out_2, CUTT_BYTES_2, 2, {1, 0}, {333, 7}, 1, 1, 0, 0, 160, 2, 4, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_out_4, CUTT_BYTES_4, 2, {1, 0}, {333, 7}, 1, 1, 64, 0, 160, 4, 8, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_out_8, CUTT_BYTES_8, 2, {1, 0}, {333, 3}, 1, 1, 0, 0, 256, 8, 0, 0, 0, 0, 0, 0},
    /* Copies of runs, of which a warp takes several, or one, or a piece of one, with gaps between none of them. */
    {CUTT_KERNEL_flat_copy_16, CUTT_BYTES_4, 3, {0, 2, 1}, {64, 16, 64}, 1, 1, 0, 0, 256, 0, 0, 1, 0.25, 0.25, 0, 0},
    {CUTT_KERNEL_flat_copy_8, CUTT_BYTES_4, 4, {0, 3, 2, 1}, {6, 7, 5, 9}, 1, 1, 0, 0, 64, 0, 0, 1, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_copy_4, CUTT_BYTES_4, 3, {0, 2, 1}, {31, 16, 64}, 1, 1, 0, 0, 96, 0, 0, 1, 1.0323, 1.0323, 0, 0},
    {CUTT_KERNEL_flat_copy_4, CUTT_BYTES_4, 3, {0, 2, 1}, {17, 16, 64}, 1, 1, 0, 0, 96, 0, 0, 1, 1, 1, 0, 0},
    {CUTT_KERNEL_flat_copy_4,
     CUTT_BYTES_4,
     3,
     {0, 2, 1},
     {1027, 6, 64},
     1,
     1,
     0,
     0,
     128,
     4,
     8,
     1,
     1.0282,
     1.0282,
     0,
     0},
    {CUTT_KERNEL_flat_copy_8, CUTT_BYTES_8, 3, {0, 2, 1}, {129, 7, 64}, 1, 1, 0, 0, 256, 8, 0, 1, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_copy_2, CUTT_BYTES_2, 3, {0, 2, 1}, {509, 7, 64}, 1, 1, 0, 0, 128, 2, 6, 1, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_copy_2, CUTT_BYTES_2, 4, {0, 3, 1, 2}, {5, 7, 3, 64}, 1, 1, 0, 0, 64, 0, 0, 1, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_copy_1, CUTT_BYTES_1, 3, {0, 2, 1}, {1021, 5, 64}, 1, 1, 0, 0, 128, 0, 3, 1, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_copy_1, CUTT_BYTES_1, 3, {0, 2, 1}, {3, 50, 9}, 1, 1, 0, 0, 64, 1, 0, 1, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_copy_4, CUTT_BYTES_16, 3, {0, 2, 1}, {10, 16, 64}, 1, 1, 0, 0, 96, 4, 8, 1, 1, 1, 0, 0},
    /* Not aligned to elements: there are tables after all, but for copies. */
    {CUTT_KERNEL_tile_4, CUTT_BYTES_8, 2, {1, 0}, {40, 50}, 1, 1, 0, 0, 64, 0, 4, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_copy_2, CUTT_BYTES_4, 3, {0, 2, 1}, {64, 16, 6}, 1, 1, 0, 0, 64, 2, 0, 1, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4, CUTT_BYTES_4, 2, {1, 0}, {4, 100}, 1, 1, 0, 0, 64, 4, 0, 0, 0, 0, 0, 0},
};
/* Rows by asynchronous copies: no bank conflicts but those of lanes a line of the output apart, tiles at edges, rows with a gap behind them, and several modes on both sides. */
static const flat_case async_cases[] = {
    {CUTT_KERNEL_flat_4a, CUTT_BYTES_4, SQUARE(64), 0, 0.25, 0.25, 1.25, 3},
    {CUTT_KERNEL_flat_8a, CUTT_BYTES_8, SQUARE(32), 0, 0.25, 0.25, 0.75, 3},
    {CUTT_KERNEL_flat_2a, CUTT_BYTES_2, SQUARE(64), 0, 0.25, 0.25, 1.25, 2},
    {CUTT_KERNEL_flat_16a, CUTT_BYTES_16, SQUARE(16), 0, 0.25, 0.25, 0.5, 2},
    {CUTT_KERNEL_flat_2a, CUTT_BYTES_2, 2, {1, 0}, {400, 272}, 1, 1, 192, 80, 96, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_2a, CUTT_BYTES_2, 4, {3, 1, 2, 0}, {48, 4, 3, 16}, 1, 2, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_16a, CUTT_BYTES_16, 3, {1, 0, 2}, {50, 34, 3}, 1, 1, 24, 10, 64, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_16a, CUTT_BYTES_4, 4, {0, 3, 1, 2}, {4, 24, 6, 10}, 1, 1, 0, 0, 128, 0, 0, 0, 0, 0, 0, 0},
    /* Chunks of one line in pairs, of which one lacks its second. */
    {CUTT_KERNEL_flat_4a, CUTT_BYTES_4, 3, {2, 1, 0}, {600, 3, 136}, 1, 1, 32, 40, 64, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_8a, CUTT_BYTES_8, 2, {1, 0}, {128, 96}, 1, 1, 16, 32, 64, 0, 0, 0, 0.25, 0.25, 0, 0},
    {CUTT_KERNEL_flat_16a, CUTT_BYTES_16, 2, {1, 0}, {68, 40}, 1, 1, 8, 16, 32, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4a, CUTT_BYTES_4, 2, {1, 0}, {200, 136}, 1, 1, 96, 40, 64, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_8a, CUTT_BYTES_8, 2, {1, 0}, {200, 136}, 1, 1, 96, 40, 128, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4a, CUTT_BYTES_4, 4, {3, 1, 2, 0}, {48, 4, 3, 8}, 1, 2, 0, 0, 96, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_8a, CUTT_BYTES_8, 4, {3, 1, 0, 2}, {8, 6, 5, 20}, 2, 1, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4a, CUTT_BYTES_4, 3, {1, 0, 2}, {32, 200, 3}, 1, 1, 0, 0, 256, 0, 0, 0, 0, 0, 0, 0},
    /* Rows of half a line, of which two share one in shared memory: no more bank conflicts than others have. */
    {CUTT_KERNEL_flat_4a, CUTT_BYTES_4, 2, {1, 0}, {16, 512}, 1, 1, 0, 128, 128, 0, 0, 0, 0.25, 0.25, 1.25, 3},
    {CUTT_KERNEL_flat_8a, CUTT_BYTES_8, 2, {1, 0}, {8, 512}, 1, 1, 0, 128, 128, 0, 0, 0, 0.25, 0.25, 0.75, 3},
    {CUTT_KERNEL_flat_2a, CUTT_BYTES_2, 2, {1, 0}, {32, 512}, 1, 1, 0, 128, 128, 0, 0, 0, 0.25, 0.25, 1.25, 3},
    {CUTT_KERNEL_flat_16a, CUTT_BYTES_16, 2, {1, 0}, {4, 512}, 1, 1, 0, 64, 128, 0, 0, 0, 0.25, 0.25, 0.5, 2},
    {CUTT_KERNEL_flat_16a, CUTT_BYTES_16, 2, {1, 0}, {4, 38}, 1, 1, 0, 18, 32, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4a, CUTT_BYTES_4, 4, {3, 1, 2, 0}, {16, 4, 3, 24}, 1, 2, 0, 0, 96, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_8a, CUTT_BYTES_8, 3, {2, 1, 0}, {24, 3, 44}, 1, 1, 8, 20, 64, 0, 0, 0, 0, 0, 0, 0},
    /* Rows that would waste room, and tiles that would take too much. */
    {CUTT_KERNEL_flat_4w, CUTT_BYTES_4, 2, {1, 0}, {40, 136}, 1, 1, 0, 40, 64, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_8w, CUTT_BYTES_8, 2, {1, 0}, {96, 96}, 1, 1, 0, 0, 256, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_1w, CUTT_BYTES_1, SQUARE(128), 0, 0, 0, 0, 0},
    /* In windows: runs, or buffers, that begin inside of sectors on either side or on both; whole columns, which have no next tile;
     * several modes; the last tile of a run that is less than a sector, two such behind one another; chunks in pairs; short runs. */
    {CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 2, {1, 0}, {128, 100}, 1, 1, 32, 0, 64, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 2, {1, 0}, {200, 136}, 1, 1, 96, 40, 64, 4, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_2s, CUTT_BYTES_2, 2, {1, 0}, {256, 256}, 1, 1, 64, 64, 128, 0, 4, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_2s, CUTT_BYTES_2, 2, {1, 0}, {321, 275}, 1, 1, 128, 64, 256, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_2s, CUTT_BYTES_2, 3, {2, 1, 0}, {77, 5, 61}, 1, 2, 0, 3, 96, 2, 14, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 2, {1, 0}, {333, 199}, 1, 1, 64, 64, 256, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 2, {1, 0}, {101, 65}, 1, 1, 64, 16, 32, 12, 8, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 2, {1, 0}, {101, 131}, 1, 1, 0, 65, 160, 4, 4, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 4, {3, 1, 2, 0}, {48, 5, 3, 17}, 1, 2, 0, 3, 96, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 4, {3, 2, 1, 0}, {7, 5, 9, 21}, 2, 2, 0, 1, 96, 0, 8, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_8s, CUTT_BYTES_8, 2, {1, 0}, {157, 123}, 1, 1, 32, 32, 256, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_8s, CUTT_BYTES_8, 3, {1, 0, 2}, {33, 41, 3}, 1, 1, 0, 0, 64, 8, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_16s, CUTT_BYTES_16, 2, {1, 0}, {67, 45}, 1, 1, 16, 16, 64, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_16s, CUTT_BYTES_16, 3, {2, 1, 0}, {33, 3, 7}, 1, 2, 8, 2, 32, 0, 0, 0, 0, 0, 0, 0},
    /* Modes that M_m and M_k have in common, first in a column, between others and last; also where a window ends in the next tile. */
    {CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 4, {1, 3, 0, 2}, {9, 7, 5, 21}, 2, 2, 0, 4, 96, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 4, {3, 0, 2, 1}, {5, 9, 17, 6}, 2, 3, 0, 2, 64, 4, 8, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_8s, CUTT_BYTES_8, 4, {3, 1, 0, 2}, {5, 6, 9, 13}, 3, 2, 2, 0, 256, 0, 8, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_2s, CUTT_BYTES_2, 4, {0, 2, 1, 3}, {5, 33, 15, 9}, 2, 2, 8, 7, 128, 2, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_16s, CUTT_BYTES_16, 3, {0, 2, 1}, {3, 19, 23}, 2, 2, 8, 6, 128, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4, CUTT_BYTES_4, 2, {1, 0}, {45, 333}, 1, 1, 15, 64, 64, 0, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_1, CUTT_BYTES_1, 2, {1, 0}, {333, 199}, 1, 1, 64, 64, 256, 0, 0, 0, 0, 0, 0, 0},
};
enum { CASES = sizeof cases / sizeof *cases, ASYNC_CASES = sizeof async_cases / sizeof *async_cases };
static const cutt_device *device = &simt_h200;

static void held(const char *what, const flat_case *f, double expected, int64_t counted, int64_t written) {
  const double is = (double)counted * 32 / ((double)written / 4);
  if (expected > 0 && (is < expected * 0.999 || is > expected * 1.001))
    fail_msg("%s: %s of 32 words: %.3f, not %.3f", cutt_gpu_kernel_name[f->kernel], what, is, expected);
}

/* Sectors and requests as counted against the closed forms, of runs that begin anywhere in windows. */
static void hold_windows(const flat_case *f, const cutt_canonical *canonical, const cutt_candidate *candidate,
                         const simt_counts *counts) {
  cutt_gpu_tile tile;
  cutt_gpu_requests n;
  const char *why;
  assert_true(cutt_gpu_tile_derive(canonical, candidate, &tile, &why));
  cutt_gpu_count_requests(device, canonical, &tile, candidate, &n);
  const struct {
    const char *what;
    double predicted, exact, most;
  } held[] = {{"load sectors", n.load_sectors, (double)counts->load_sectors, 0.08},
              {"store sectors", n.store_sectors, (double)counts->store_sectors, 0.12},
              {"load requests", n.load_requests, (double)counts->load_requests, 0.1},
              {"store requests", n.store_requests, (double)counts->store_requests, 0.2}};
  for (size_t i = 0; i < sizeof held / sizeof *held; ++i) {
    if (fabs(held[i].predicted / held[i].exact - 1) > held[i].most)
      fail_msg("%s: %s %.0f, not %.0f", cutt_gpu_kernel_name[f->kernel], held[i].what, held[i].predicted,
               held[i].exact);
  }
}

static void run_batch(const flat_case *f, int64_t batch) {
  const test_problem problem = test_packed(f->type, f->rank, f->extents, f->perm);
  const cuttProblem_t view = test_problem_view(&problem);
  cutt_canonical canonical;
  assert_success(cutt_canonicalize(&view, &canonical));
  cutt_candidate candidate = simt_candidate(&canonical, f->split_m, f->split_k, f->threads, true, f->direct != 0);
  candidate.m = f->m;
  candidate.k = f->k;
  candidate.param[CUTT_GPU_PARAM_BATCH] = batch;
  candidate.method = cutt_gpu_method(&canonical, &candidate);
  const size_t bytes = (size_t)(canonical.volume * canonical.elem_bytes), room = (bytes + 32 + 127) / 128 * 128;
  unsigned char *from = aligned_alloc(128, room), *to = aligned_alloc(128, room), *expected = malloc(bytes);
  assert_true(from && to && expected);
  test_fill_bits(from, room, test_type_bytes(f->type), 7);
  memset(to, 0xEE, room);
  test_reference(&problem, from + f->in_at, expected);
  cutt_gpu_launch launch;
  const char *why = "";
  char error[768];
  if (!cutt_gpu_lay_out(device, &canonical, &candidate, cutt_gpu_alignment(from + f->in_at),
                        cutt_gpu_alignment(to + f->out_at), &launch, &why))
    fail_msg("%s: %s", cutt_gpu_kernel_name[f->kernel], why);
  assert_string_equal(cutt_gpu_kernel_name[launch.kernel], cutt_gpu_kernel_name[f->kernel]);
  const simt_launch asked = simt_launch_of(&launch, &canonical, from + f->in_at, to + f->out_at, true);
  simt_counts counts;
  int64_t written;
  memset(&counts, 0, sizeof counts);
  if (!simt_run(&asked, &written, &counts, error, sizeof error))
    fail_msg("%s: %s", cutt_gpu_kernel_name[f->kernel], error);
  assert_int_equal(written, bytes);
  assert_memory_equal(to + f->out_at, expected, bytes);
  const bool aligned = f->in_at % 16 == 0 && f->out_at % 16 == 0;
  if (aligned && strcmp(cutt_gpu_kernel_source[launch.kernel], "flat_windows") == 0)
    hold_windows(f, &canonical, &candidate, &counts);
  held("load requests", f, f->loads, counts.load_requests, written);
  held("store requests", f, f->stores, counts.store_requests, written);
  held("shared requests", f, f->shared, counts.shared[1].requests, written);
  held("wavefronts", f, f->wavefronts, counts.shared[1].wavefronts, written);
  free(from);
  free(to);
  free(expected);
}

static void run_case(const flat_case *f) { run_batch(f, 0); }

/* The same runs on both sides, in windows: one in a tile, or several, over one mode, over more, and with some left over; or a chunk of one. */
static void whole_runs(void **unused) {
  (void)unused;
  static const struct {
    flat_case f;
    int64_t batch;
  } runs[] = {
      {{CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 3, {0, 2, 1}, {139, 13, 11}, 1, 1, 0, 0, 256, 0, 0, 0, 0, 0, 0, 0}, 7},
      {{CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 3, {0, 2, 1}, {37, 13, 11}, 1, 1, 0, 0, 128, 0, 0, 0, 0, 0, 0, 0}, 11},
      {{CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 3, {0, 2, 1}, {37, 13, 11}, 1, 1, 0, 0, 128, 4, 8, 0, 0, 0, 0, 0}, 40},
      {{CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 3, {0, 2, 1}, {1605, 5, 3}, 1, 1, 0, 0, 256, 12, 4, 0, 0, 0, 0, 0}, 0},
      {{CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 3, {0, 2, 1}, {7605, 3, 2}, 1, 1, 0, 0, 256, 0, 0, 0, 0, 0, 0, 0}, 1},
      {{CUTT_KERNEL_flat_2s, CUTT_BYTES_2, 4, {0, 3, 2, 1}, {45, 6, 5, 7}, 1, 1, 0, 0, 256, 0, 0, 0, 0, 0, 0, 0}, 20},
      {{CUTT_KERNEL_flat_2s, CUTT_BYTES_2, 4, {0, 3, 2, 1}, {45, 6, 5, 7}, 1, 1, 0, 0, 96, 2, 6, 0, 0, 0, 0, 0}, 100},
      {{CUTT_KERNEL_flat_8s, CUTT_BYTES_8, 3, {0, 2, 1}, {73, 9, 10}, 1, 1, 0, 0, 256, 0, 0, 0, 0, 0, 0, 0}, 6},
      {{CUTT_KERNEL_flat_16s, CUTT_BYTES_16, 3, {0, 2, 1}, {9, 9, 10}, 1, 1, 0, 0, 128, 0, 0, 0, 0, 0, 0, 0}, 16},
      {{CUTT_KERNEL_flat_16s, CUTT_BYTES_16, 3, {0, 2, 1}, {9, 9, 10}, 1, 1, 0, 0, 128, 0, 0, 0, 0, 0, 0, 0}, 20},
      /* Chunks of runs, of which the last has less than a sector, or all but one element. */
      {{CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 3, {0, 2, 1}, {1605, 5, 3}, 1, 1, 400, 400, 256, 12, 4, 0, 0, 0, 0, 0}, 0},
      {{CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 3, {0, 2, 1}, {801, 5, 3}, 1, 1, 400, 400, 64, 0, 0, 0, 0, 0, 0, 0}, 0},
      {{CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 3, {0, 2, 1}, {805, 5, 3}, 1, 1, 403, 403, 96, 4, 8, 0, 0, 0, 0, 0}, 0},
      {{CUTT_KERNEL_flat_2s, CUTT_BYTES_2, 4, {0, 3, 2, 1}, {451, 3, 2, 4}, 1, 1, 64, 64, 128, 2, 6, 0, 0, 0, 0, 0}, 0},
      {{CUTT_KERNEL_flat_2s, CUTT_BYTES_2, 3, {0, 2, 1}, {455, 3, 4}, 1, 1, 57, 57, 128, 0, 2, 0, 0, 0, 0, 0}, 0},
      {{CUTT_KERNEL_flat_8s, CUTT_BYTES_8, 3, {0, 2, 1}, {273, 9, 10}, 1, 1, 100, 100, 256, 8, 0, 0, 0, 0, 0, 0}, 0},
      {{CUTT_KERNEL_flat_16s, CUTT_BYTES_16, 3, {0, 2, 1}, {59, 9, 10}, 1, 1, 20, 20, 128, 0, 0, 0, 0, 0, 0, 0}, 0},
  };
  cutt_device small = simt_h200;
  small.l2_bytes = 1;
  device = &small;
  for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) run_batch(&runs[i].f, runs[i].batch);
  /* Those that begin with sectors on both sides are left to tables. */
  static const int64_t aligned[] = {40, 9, 10};
  static const int perm[] = {0, 2, 1};
  const test_problem problem = test_packed(CUTT_BYTES_4, 3, aligned, perm);
  const cuttProblem_t view = test_problem_view(&problem);
  cutt_canonical canonical;
  const char *why = "";
  cutt_candidate c = {.m = 1, .k = 1, .threads = 128};
  c.param[CUTT_GPU_PARAM_STAGES] = c.param[CUTT_GPU_PARAM_BLOCK_TILES] = c.param[CUTT_GPU_PARAM_FLAT] = 1;
  c.param[CUTT_GPU_PARAM_BATCH] = 6;
  assert_success(cutt_canonicalize(&view, &canonical));
  c.method = cutt_gpu_method(&canonical, &c);
  assert_false(cutt_gpu_accept(&small, &canonical, &c, &why));
  assert_non_null(strstr(why, "inside of sectors"));
  device = &simt_h200;
}

/* Rows that have some columns in turns, in windows: chunks of them, of which the last has less than a sector, or one element, several in a
 * tile where they are whole, and over more than one mode. */
static void columns_in_turns(void **unused) {
  (void)unused;
  static const struct {
    flat_case f;
    int64_t batch;
  } turns[] = {
      {{CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 3, {1, 0, 2}, {3, 1203, 5}, 2, 1, 400, 400, 256, 0, 0, 0, 0, 0, 0, 0}, 0},
      {{CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 3, {1, 0, 2}, {3, 801, 4}, 2, 1, 400, 400, 64, 4, 8, 0, 0, 0, 0, 0}, 0},
      {{CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 4, {1, 0, 3, 2}, {3, 205, 5, 7}, 2, 1, 0, 0, 256, 0, 0, 0, 0, 0, 0, 0}, 4},
      {{CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 4, {1, 0, 3, 2}, {7, 75, 5, 7}, 2, 1, 0, 0, 128, 12, 4, 0, 0, 0, 0, 0}, 14},
      {{CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 2, {1, 0}, {5, 5003}, 2, 1, 504, 504, 256, 0, 0, 0, 0, 0, 0, 0}, 0},
      {{CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 4, {2, 1, 0, 3}, {3, 5, 331, 3}, 3, 1, 96, 96, 128, 0, 4, 0, 0, 0, 0, 0}, 0},
      {{CUTT_KERNEL_flat_4s, CUTT_BYTES_4, 3, {1, 0, 2}, {3, 1024, 3}, 2, 1, 512, 512, 256, 0, 0, 0, 0, 0, 0, 0}, 0},
      {{CUTT_KERNEL_flat_2s, CUTT_BYTES_2, 3, {1, 2, 0}, {3, 2005, 5}, 2, 1, 672, 672, 256, 0, 0, 0, 0, 0, 0, 0}, 0},
      {{CUTT_KERNEL_flat_2s, CUTT_BYTES_2, 3, {1, 0, 2}, {5, 131, 23}, 2, 1, 0, 0, 96, 2, 6, 0, 0, 0, 0, 0}, 6},
      {{CUTT_KERNEL_flat_8s, CUTT_BYTES_8, 3, {1, 0, 2}, {9, 273, 5}, 2, 1, 100, 100, 256, 8, 0, 0, 0, 0, 0, 0}, 0},
      {{CUTT_KERNEL_flat_8s, CUTT_BYTES_8, 3, {1, 0, 2}, {3, 77, 25}, 2, 1, 0, 0, 160, 0, 8, 0, 0, 0, 0, 0}, 5},
      {{CUTT_KERNEL_flat_16s, CUTT_BYTES_16, 3, {1, 0, 2}, {3, 59, 10}, 2, 1, 20, 20, 128, 0, 0, 0, 0, 0, 0, 0}, 0},
      {{CUTT_KERNEL_flat_16s, CUTT_BYTES_16, 3, {1, 0, 2}, {7, 9, 10}, 2, 1, 0, 0, 128, 0, 0, 0, 0, 0, 0, 0}, 4},
  };
  cutt_device small = simt_h200;
  small.l2_bytes = 1;
  device = &small;
  for (size_t i = 0; i < sizeof turns / sizeof *turns; ++i) run_batch(&turns[i].f, turns[i].batch);
  /* Listed where the modes before the output's first one are an odd number of columns, and chosen on an H200. */
  static const int perm[] = {1, 0, 2};
  for (int64_t columns = 3; columns <= 4; ++columns) {
    const int64_t extents[] = {columns, 5349, 2491};
    const test_problem problem = test_packed(CUTT_BYTES_4, 3, extents, perm);
    const cuttProblem_t view = test_problem_view(&problem);
    cutt_canonical canonical;
    cutt_candidate best;
    cutt_gpu_tile tile;
    const char *why = "";
    assert_success(cutt_canonicalize(&view, &canonical));
    assert_int_equal(cutt_gpu_enumerate(&simt_h200, CUTT_MODEL_IS_OWN, &canonical, &best, 1), 1);
    assert_true(cutt_gpu_tile_derive(&canonical, &best, &tile, &why));
    assert_int_equal(cutt_gpu_run_columns(&tile), columns == 3 ? 3 : 0);
  }
  device = &simt_h200;
}

/* Runs with gaps, backwards, or of one element: long ones in pieces, and others; where elements are turned round, and are not because of
 * what does not divide by 16 or 4 bytes; and elements that are not aligned, which go through shared memory. */
static const struct {
  cutt_kernel kernel;
  cuttType_t type;
  int rank;
  int64_t extents[3];    /* the output's first mode first */
  int in_step, out_step; /* of that mode; 0: it is repeated, which makes it the input's last, of two */
  int in_at, out_at, threads;
} steps[] = {
    {CUTT_KERNEL_flat_step_1, CUTT_BYTES_1, 2, {301, 7}, -1, 1, 0, 0, 64},
    {CUTT_KERNEL_flat_step_1, CUTT_BYTES_1, 3, {11, 50, 3}, 1, 2, 3, 1, 128},
    {CUTT_KERNEL_flat_step_2, CUTT_BYTES_2, 3, {13, 40, 5}, 3, 1, 2, 6, 256},
    {CUTT_KERNEL_flat_step_2, CUTT_BYTES_2, 2, {2048, 3}, -2, 3, 0, 0, 128},
    {CUTT_KERNEL_flat_step_4, CUTT_BYTES_4, 2, {1001, 3}, -1, 1, 4, 8, 256},
    {CUTT_KERNEL_flat_step_4, CUTT_BYTES_4, 2, {37, 41}, 0, 1, 0, 0, 64},
    {CUTT_KERNEL_flat_step_8, CUTT_BYTES_8, 2, {500, 5}, 0, 2, 8, 0, 128},
    {CUTT_KERNEL_flat_fill_1, CUTT_BYTES_1, 2, {124, 31}, 0, 1, 1, 4, 64},
    {CUTT_KERNEL_flat_fill_2, CUTT_BYTES_2, 2, {1030, 3}, 0, 1, 2, 8, 128},
    {CUTT_KERNEL_flat_fill_1v, CUTT_BYTES_1, 2, {2048, 3}, 0, 1, 3, 0, 256},
    {CUTT_KERNEL_flat_fill_2v, CUTT_BYTES_2, 2, {24, 31}, 0, 1, 0, 0, 64},
    {CUTT_KERNEL_flat_fill_4v, CUTT_BYTES_4, 2, {404, 5}, 0, 1, 4, 0, 128},
    {CUTT_KERNEL_flat_fill_8v, CUTT_BYTES_8, 2, {6, 40}, 0, 1, 8, 0, 96},
    {CUTT_KERNEL_flat_step_8, CUTT_BYTES_8, 3, {7, 9, 11}, -1, 1, 0, 8, 256},
    {CUTT_KERNEL_flat_step_16, CUTT_BYTES_16, 2, {333, 3}, 1, 2, 0, 0, 256},
    {CUTT_KERNEL_flat_step_16, CUTT_BYTES_16, 2, {30, 30}, -1, 1, 0, 0, 64},
    {CUTT_KERNEL_flat_back_4, CUTT_BYTES_1, 2, {412, 7}, -1, 1, 4, 8, 64},
    {CUTT_KERNEL_flat_back_4, CUTT_BYTES_2, 3, {6, 9, 5}, -1, 1, 0, 0, 128},
    {CUTT_KERNEL_flat_back_16, CUTT_BYTES_1, 2, {2048, 3}, -1, 1, 0, 0, 64},
    {CUTT_KERNEL_flat_back_16, CUTT_BYTES_2, 2, {24, 25}, -1, 1, 0, 0, 128},
    {CUTT_KERNEL_flat_back_16, CUTT_BYTES_4, 2, {1204, 3}, -1, 1, 0, 0, 256},
    {CUTT_KERNEL_flat_back_16, CUTT_BYTES_8, 3, {6, 7, 8}, -1, 1, 0, 0, 96},
    {CUTT_KERNEL_tile_8w, CUTT_BYTES_8, 2, {500, 3}, -1, 1, 4, 0, 128},
    {CUTT_KERNEL_tile_4, CUTT_BYTES_8, 2, {50, 20}, 1, 2, 0, 4, 128},
    {CUTT_KERNEL_tile_4, CUTT_BYTES_8, 2, {500, 3}, 0, 1, 4, 4, 128},
};
enum { STEPS = sizeof steps / sizeof *steps };

static test_problem stepped(int i) {
  static const int perm[] = {0, 1, 2}, turned[] = {1, 0};
  const bool repeated = steps[i].in_step == 0;
  const int in_step = repeated ? 1 : steps[i].in_step;
  int64_t extents[3] = {1, 1, 1}, in = 1, out = 1;
  for (int j = 0; j < steps[i].rank; ++j) extents[j] = steps[i].extents[(j + repeated) % steps[i].rank];
  test_problem p = test_packed(steps[i].type, steps[i].rank, extents, repeated ? turned : perm);
  p.in_strided = p.out_strided = true;
  for (int j = 0; j < p.rank; ++j) { /* with a gap behind each run of the output, so that modes do not fuse */
    const int step = j == 0 ? in_step : 1;
    p.in_strides[j] = repeated && j == 1 ? 0 : in * step;
    in *= extents[j] * abs(step);
    p.out_strides[j] = j == 0 ? steps[i].out_step : out;
    out = j == 0 ? extents[p.perm[0]] * steps[i].out_step + 16 : out * extents[p.perm[j]];
  }
  p.in_at = steps[i].in_at;
  p.out_at = steps[i].out_at;
  p.seed = (uint64_t)i + 1;
  return p;
}

static void stepped_runs(void **unused) {
  (void)unused;
  for (int i = 0; i < STEPS; ++i) {
    const test_problem p = stepped(i);
    const cuttProblem_t view = test_problem_view(&p);
    cutt_canonical canonical;
    assert_success(cutt_canonicalize(&view, &canonical));
    cutt_candidate c = {.m = steps[i].in_step != 0, .k = 1, .threads = steps[i].threads};
    c.param[CUTT_GPU_PARAM_STAGES] = c.param[CUTT_GPU_PARAM_BLOCK_TILES] = 1;
    c.param[CUTT_GPU_PARAM_FLAT] = c.param[CUTT_GPU_PARAM_DIRECT] = 1;
    c.method = cutt_gpu_method(&canonical, &c);
    cutt_gpu_launch launch;
    const char *why = "";
    bool ran;
    if (!cutt_gpu_lay_out(&simt_h200, &canonical, &c, (uint32_t)cutt_gpu_power((uint64_t)p.in_at | CUTT_GPU_ALIGNED),
                          (uint32_t)cutt_gpu_power((uint64_t)p.out_at | CUTT_GPU_ALIGNED), &launch, &why))
      fail_msg("steps %d: %s", i, why);
    if (launch.kernel != steps[i].kernel)
      fail_msg("steps %d: %s, not %s", i, cutt_gpu_kernel_name[launch.kernel], cutt_gpu_kernel_name[steps[i].kernel]);
    if (!test_try_candidate(&p, &c, &ran)) fail();
    if (!ran) fail_msg("steps %d: not accepted", i);
  }
}

static void each_kernel(void **unused) {
  (void)unused;
  for (int i = 0; i < CASES; ++i) run_case(&cases[i]);
  for (int k = CUTT_TABLE_KERNEL_COUNT; k < (int)CUTT_KERNEL_flat_add_f16; ++k) {
    int found = 0;
    for (int i = 0; i < CASES; ++i) found += cases[i].kernel == (cutt_kernel)k;
    for (int i = 0; i < STEPS; ++i) found += steps[i].kernel == (cutt_kernel)k;
    assert_true(found > 0);
  }
}

/* Of tensors that L2 does not hold, on a device that has them. */
static void asynchronous_rows(void **unused) {
  (void)unused;
  cutt_device small = simt_h200, old = simt_t4;
  bool used[CUTT_KERNEL_COUNT] = {false};
  small.l2_bytes = old.l2_bytes = 1;
  device = &small;
  for (int i = 0; i < ASYNC_CASES; ++i) run_case(&async_cases[i]);
  for (int i = 0; i < ASYNC_CASES; ++i) used[async_cases[i].kernel] = true;
  for (int k = CUTT_KERNEL_flat_2a; k < CUTT_KERNEL_COUNT; ++k) {
    const bool adds = strstr(cutt_gpu_kernel_name[k], "flat_add") != NULL; /* test_flat_sums */
    if (!used[k] && !adds) fail_msg("%s is not tested", cutt_gpu_kernel_name[k]);
  }
  device = &old; /* which has no such copies */
  const flat_case without = {CUTT_KERNEL_flat_4w, CUTT_BYTES_4, SQUARE(64), 0, 0.25, 0.25, 2, 2};
  run_case(&without);
  device = &simt_h200;
}

/* What a tile must be, in words. */
static void refusals(void **unused) {
  (void)unused;
  static const int64_t extents[] = {8, 9, 10, 11};
  static const int perm[] = {3, 2, 1, 0};
  static const struct {
    int m, k, threads;
    int64_t flat, stages, batch;
    const char *why;
  } rows[] = {{1, 1, 64, 1, 1, 0, NULL},
              {3, 2, 64, 1, 1, 0, NULL},
              {0, 2, 64, 1, 1, 0, "tiles of rows and columns"},
              {1, 1, 64, 1, 1, 4, "without a batch"},
              {1, 1, 512, 1, 1, 0, "up to 256 threads"},
              {1, 1, 64, 1, 2, 0, "one stage"},
              {1, 1, 64, 2, 1, 0, "one stage"}};
  const test_problem problem = test_packed(CUTT_BYTES_4, 4, extents, perm);
  const cuttProblem_t view = test_problem_view(&problem);
  cutt_canonical canonical;
  assert_success(cutt_canonicalize(&view, &canonical));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    cutt_candidate c;
    const char *why = NULL;
    memset(&c, 0, sizeof c);
    c.m = rows[i].m;
    c.k = rows[i].k;
    c.threads = rows[i].threads;
    c.param[CUTT_GPU_PARAM_STAGES] = rows[i].stages;
    c.param[CUTT_GPU_PARAM_BLOCK_TILES] = 1;
    c.param[CUTT_GPU_PARAM_BATCH] = rows[i].batch;
    c.param[CUTT_GPU_PARAM_FLAT] = rows[i].flat;
    c.method = cutt_gpu_method(&canonical, &c);
    assert_int_equal(cutt_gpu_accept(&simt_h200, &canonical, &c, &why), rows[i].why == NULL);
    if (rows[i].why) assert_non_null(strstr(why, rows[i].why));
  }
}

/* Runs of several modes one of which is backwards, and those with gaps, are not copied with tables, but go through shared memory; and what
 * computes is not copied element by element. */
static void refused_runs(void **unused) {
  (void)unused;
  static const int64_t extents[] = {19, 6, 11};
  static const int perm[] = {0, 1, 2};
  static const double two = 2;
  static const struct {
    int64_t in[3], out[3];
    int m, k, direct, flat;
    bool computes;
    const char *why;
  } rows[] = {{{1, -19, 114}, {1, 19, 120}, 2, 2, 0, 0, false, NULL},
              {{1, -19, 114}, {1, 19, 120}, 2, 2, 1, 0, false, "backwards"},
              {{1, -19, 114}, {1, 19, 120}, 1, 1, 1, 0, false, NULL},
              {{1, -19, 114}, {1, 19, 120}, 2, 2, 1, 1, false, "backwards"},
              {{-1, 19, 114}, {1, 19, 120}, 1, 1, 1, 0, false, "backwards"},
              {{-1, 19, 114}, {1, 19, 120}, 1, 1, 1, 1, false, NULL},
              {{-1, 19, 114}, {1, 19, 120}, 1, 1, 1, 1, true, "alpha"},
              {{2, 38, 228}, {1, 19, 120}, 1, 1, 1, 0, false, "gaps"},
              {{2, 38, 228}, {1, 19, 120}, 1, 1, 0, 0, false, NULL}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    test_problem problem = test_packed(rows[i].computes ? CUTT_F64 : CUTT_BYTES_8, 3, extents, perm);
    problem.in_strided = problem.out_strided = true;
    memcpy(problem.in_strides, rows[i].in, sizeof rows[i].in);
    memcpy(problem.out_strides, rows[i].out, sizeof rows[i].out);
    problem.conjugate = false;
    problem.has_alpha = rows[i].computes;
    memcpy(&problem.alpha, &two, sizeof two);
    const cuttProblem_t view = test_problem_view(&problem);
    cutt_canonical canonical;
    cutt_candidate c = {.m = rows[i].m, .k = rows[i].k, .threads = 64};
    const char *why = NULL;
    assert_success(cutt_canonicalize(&view, &canonical));
    c.param[CUTT_GPU_PARAM_STAGES] = c.param[CUTT_GPU_PARAM_BLOCK_TILES] = 1;
    c.param[CUTT_GPU_PARAM_DIRECT] = rows[i].direct;
    c.param[CUTT_GPU_PARAM_FLAT] = rows[i].flat;
    c.method = cutt_gpu_method(&canonical, &c);
    const bool taken = cutt_gpu_accept(&simt_h200, &canonical, &c, &why);
    if (taken != (rows[i].why == NULL)) fail_msg("row %zu: %s", i, why ? why : "taken");
    if (rows[i].why && !strstr(why, rows[i].why)) fail_msg("row %zu: %s", i, why);
  }
}

static int cleanup(void **unused) {
  (void)unused;
  test_try_cleanup();
  simt_cleanup();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_kernel),       cmocka_unit_test(stepped_runs),
                                     cmocka_unit_test(asynchronous_rows), cmocka_unit_test(whole_runs),
                                     cmocka_unit_test(columns_in_turns),  cmocka_unit_test(refusals),
                                     cmocka_unit_test(refused_runs)};
  test_use_engine(simt_engine(&simt_h200, "test_flat"));
  return cmocka_run_group_tests_name("kernels without tables", tests, NULL, cleanup);
}
