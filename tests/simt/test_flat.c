/* The kernels without tables, each by name under the emulator: the result, and what they are there for, which is accesses of 16
 * bytes (or words, of narrow elements) and no bank conflicts in a plain transpose. Random tiles are those of test_property_simt. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
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
  cutt_candidate candidate;
  memset(&candidate, 0, sizeof candidate);
  candidate.m = f->m;
  candidate.k = f->k;
  candidate.split_m = f->split_m;
  candidate.split_k = f->split_k;
  candidate.threads = f->threads;
  candidate.param[CUTT_GPU_PARAM_STAGES] = candidate.param[CUTT_GPU_PARAM_BLOCK_TILES] = 1;
  candidate.param[CUTT_GPU_PARAM_FLAT] = 1;
  candidate.param[CUTT_GPU_PARAM_DIRECT] = f->direct;
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

static void each_kernel(void **unused) {
  (void)unused;
  for (int i = 0; i < CASES; ++i) run_case(&cases[i]);
  for (int k = CUTT_TABLE_KERNEL_COUNT; k < (int)CUTT_KERNEL_flat_add_f16; ++k) {
    int found = 0;
    for (int i = 0; i < CASES; ++i) found += cases[i].kernel == (cutt_kernel)k;
    assert_true(found > 0);
  }
}

/* Each kernel with alpha and beta: name ending, extents, and what makes it that kernel. Extents are of bytes in the first mode
 * where it is one that both sides have. */
typedef struct sum_case {
  const char *kernel; /* with %s for the type */
  int rank, perm[4];
  int64_t extents[4];
  int64_t split_m, split_k;
  bool of_bytes;             /* the first extent is in bytes */
  int direct, in_at, out_at; /* -1: aligned to elements alone */
  uint32_t joined;
  int64_t widest; /* bytes of an element that it is for; negative: of the narrowest; 0: all */
} sum_case;
static const sum_case sum_cases[] = {
    {"add_%s", 3, {2, 1, 0}, {7, 9, 11}, 3, 4, false, 0, 0, 0, 0, 0},
    {"add_%s", 2, {1, 0}, {64, 96}, 48, 0, false, 0, 0, -1, 0, 0},
    {"add_%sw", 2, {1, 0}, {64, 96}, 48, 32, false, 0, 0, 0, 0, -4},
    {"add_%sw", 3, {1, 2, 0}, {16, 48, 8}, 0, 16, false, 0, 0, 0, 0, -4},
    {"add_%sw", 2, {1, 0}, {64, 96}, 48, 32, false, 0, 0, 4, 0, 2},
    {"add_%sv", 2, {1, 0}, {64, 96}, 48, 32, false, 0, 0, 0, 0, 2},
    {"add_%sv", 3, {1, 2, 0}, {16, 480, 8}, 0, 160, false, 0, 0, 0, 0, 2},
    {"add_%sv", 2, {1, 0}, {1600, 16}, 400, 0, false, 0, 0, 0, 0, 2},
    {"add_%sq", 3, {0, 2, 1}, {16, 24, 20}, 16, 0, true, 0, 0, 0, 0, 0},
    {"add_%sq", 3, {0, 2, 1}, {16, 3, 333}, 0, 64, true, 0, 0, 0, CUTT_FLAT_ROWS, 0},
    {"add_%sq", 3, {0, 2, 1}, {16, 333, 3}, 64, 0, true, 0, 0, 0, CUTT_FLAT_COLUMNS, 0},
    {"add_%sq", 4, {0, 2, 1, 3}, {16, 3, 20, 5}, 0, 0, true, 0, 0, 0, CUTT_FLAT_ROWS, 0},
    /* One side is one range: columns that 16 bytes, or words, divide, tiles and ranges that end in a part of one, several modes,
     * and buffers that are aligned to elements alone. */
    {"in_add_%s", 2, {1, 0}, {3, 256}, 0, 64, false, 0, 0, 0, CUTT_FLAT_ROWS, 0},
    {"in_add_%s", 3, {1, 0, 2}, {3, 48, 5}, 0, 0, false, 0, 0, 0, CUTT_FLAT_ROWS, 0},
    {"in_add_%s", 2, {1, 0}, {5, 3000}, 0, 1000, false, 0, 8, 0, CUTT_FLAT_ROWS, 0},
    {"in_add_%s", 2, {1, 0}, {6, 96}, 0, 64, false, 0, 0, 0, CUTT_FLAT_ROWS, 2},
    {"in_add_%s", 2, {1, 0}, {2, 96}, 0, 64, false, 0, 0, 0, CUTT_FLAT_ROWS, 4},
    {"in_add_%sw", 2, {1, 0}, {3, 250}, 0, 64, false, 0, 4, 4, CUTT_FLAT_ROWS, 2},
    {"add_%s", 2, {1, 0}, {3, 333}, 0, 64, false, 0, 0, 0, CUTT_FLAT_ROWS, 0},
    {"add_%s", 2, {1, 0}, {3, 200}, 0, 0, false, 0, 0, -1, CUTT_FLAT_ROWS, 0},
    {"out_add_%s", 2, {1, 0}, {256, 3}, 64, 0, false, 0, 0, 0, CUTT_FLAT_COLUMNS, 0},
    {"out_add_%s", 2, {1, 0}, {333, 3}, 64, 0, false, 0, 0, 0, CUTT_FLAT_COLUMNS, 0},
    {"out_add_%s", 2, {1, 0}, {2000, 5}, 0, 0, false, 0, 4, 0, CUTT_FLAT_COLUMNS, 4},
    {"add_%s", 2, {1, 0}, {2000, 5}, 400, 0, false, 0, 0, 8, CUTT_FLAT_COLUMNS, 0},
    {"add_%s", 3, {1, 0, 2}, {200, 3, 5}, 0, 0, false, 0, -1, -1, CUTT_FLAT_COLUMNS, 0},
    {"sum_%s", 3, {0, 2, 1}, {24, 20, 7}, 0, 0, true, 1, 0, 0, 0, 0},
    {"sum_%s", 3, {0, 2, 1}, {2104, 20, 7}, 0, 0, true, 1, 8, 0, 0, 8},
    {"sum_%s", 3, {0, 2, 1}, {1032, 20, 7}, 0, 0, true, 1, 4, 8, 0, 4},
    {"sum_%ss", 3, {0, 2, 1}, {514, 20, 7}, 0, 0, true, 1, 2, 0, 0, 2},
    {"sum_%ss", 4, {0, 2, 3, 1}, {10, 20, 7, 3}, 0, 0, true, 1, 0, 2, 0, 2},
    {"sum_%sv", 3, {0, 2, 1}, {48, 20, 8}, 0, 0, true, 1, 0, 0, 0, 0},
    {"sum_%sv", 1, {0}, {4096}, 256, 256, false, 1, 0, 0, 0, 0}};
static const struct {
  const char *name;
  cuttType_t type;
} sum_types[] = {{"f16", CUTT_F16}, {"bf16", CUTT_BF16}, {"f32", CUTT_F32}, {"i32", CUTT_I32},
                 {"f64", CUTT_F64}, {"c32", CUTT_C32},   {"i64", CUTT_I64}, {"c64", CUTT_C64}};
static const sum_case async_sums[] = {{"add_%sa", 2, {1, 0}, {128, 96}, 32, 32, false, 0, 0, 0, 0, 0},
                                      {"add_%sa", 2, {1, 0}, {200, 136}, 96, 72, false, 0, 0, 0, 0, 8},
                                      {"add_%sa", 2, {1, 0}, {50, 34}, 24, 10, false, 0, 0, 0, 0, -16},
                                      {"add_%sa", 3, {1, 0, 2}, {48, 72, 3}, 0, 0, false, 0, 0, 0, 0, 0},
                                      {"add_%sa", 2, {1, 0}, {288, 40}, 32, 8, false, 0, 0, 0, 0, 0},
                                      {"add_%sa", 2, {1, 0}, {16, 96}, 0, 32, false, 0, 0, 0, 0, 4},
                                      {"add_%sa", 2, {1, 0}, {8, 96}, 0, 32, false, 0, 0, 0, 0, -8},
                                      {"add_%sw", 2, {1, 0}, {40, 96}, 20, 32, false, 0, 0, 0, 0, 8},
                                      {"add_%sqa", 3, {0, 2, 1}, {16, 96, 40}, 24, 0, true, 0, 0, 0, 0, 0}};
enum { ASYNC_SUMS = sizeof async_sums / sizeof *async_sums };
enum { SUM_CASES = sizeof sum_cases / sizeof *sum_cases, SUM_TYPES = sizeof sum_types / sizeof *sum_types };

static test_scalar number_of(cuttType_t type, int n) {
  test_scalar s = {.raw = {0}};
  if (type == CUTT_I32) {
    s.i32 = n;
  } else if (type == CUTT_I64) {
    s.i64 = n;
  } else if (type == CUTT_F64 || type == CUTT_C64) {
    s.f64[0] = n + 0.25;
    s.f64[1] = n - 0.5; /* of complex numbers */
  } else {
    s.f32[0] = (float)n + 0.25F;
    s.f32[1] = (float)n - 0.5F;
  }
  return s;
}

static bool of_kernel(const cutt_gpu_launch *launch, const sum_case *f, const char *type) {
  char name[64];
  size_t at = (size_t)snprintf(name, sizeof name, "cutt_flat_");
  for (const char *k = f->kernel; *k; ++k) {
    if (k[0] == '%') {
      at += (size_t)snprintf(name + at, sizeof name - at, "%s", type);
      ++k;
    } else {
      name[at++] = *k;
      name[at] = 0;
    }
  }
  return strcmp(cutt_gpu_kernel_name[launch->kernel], name) == 0;
}

/* alpha and beta, alpha alone, conjugated, and beta times what is not the output, which is not read then; true: by the kernel of the
 * case. */
enum { APART = 3 };
static bool run_sum(const sum_case *f, int t, int variant, bool *used) {
  const cuttType_t type = sum_types[t].type;
  const int64_t width = (int64_t)test_type_bytes(type);
  int64_t extents[4];
  memcpy(extents, f->extents, sizeof extents);
  if (f->of_bytes) extents[0] /= width;
  test_problem problem = test_packed(type, f->rank, extents, f->perm);
  problem.has_alpha = true;
  problem.alpha = number_of(type, 3);
  problem.has_beta = variant == 0 || variant == APART;
  problem.beta = number_of(type, -2);
  problem.conjugate = variant == 2;
  const cuttProblem_t view = test_problem_view(&problem);
  cutt_canonical canonical;
  cutt_candidate candidate;
  cutt_gpu_launch launch;
  const char *why = "";
  char error[768];
  assert_success(cutt_canonicalize(&view, &canonical));
  memset(&candidate, 0, sizeof candidate);
  candidate.m = candidate.k = 1;
  candidate.split_m = f->split_m;
  candidate.split_k = f->split_k;
  candidate.threads = 64;
  candidate.param[CUTT_GPU_PARAM_STAGES] = candidate.param[CUTT_GPU_PARAM_BLOCK_TILES] = 1;
  candidate.param[CUTT_GPU_PARAM_FLAT] = 1;
  candidate.param[CUTT_GPU_PARAM_DIRECT] = f->direct;
  candidate.method = cutt_gpu_method(&canonical, &candidate);
  const size_t bytes = (size_t)(canonical.volume * canonical.elem_bytes), room = (bytes + 32 + 15) / 16 * 16;
  unsigned char *from = aligned_alloc(16, room), *to = aligned_alloc(16, room), *expected = malloc(bytes);
  unsigned char *second = aligned_alloc(16, room);
  assert_true(from && to && expected && second);
  const size_t in_at = f->in_at < 0 ? (size_t)width % 16 : (size_t)f->in_at,
               out_at = f->out_at < 0 ? (size_t)width % 16 : (size_t)f->out_at;
  test_fill_numbers(from, room, type, 7);
  test_fill_numbers(to, room, type, 8);
  memcpy(expected, to + out_at, bytes);
  test_reference(&problem, from + in_at, expected);
  if (!cutt_gpu_lay_out(device, &canonical, &candidate, cutt_gpu_alignment(from + in_at),
                        cutt_gpu_alignment(to + out_at), &launch, &why))
    fail_msg("%s of %s: %s", f->kernel, sum_types[t].name, why);
  /* Elements of 16 bytes are as wide as any, whatever a case is there for. */
  if (width < 16) assert_int_equal(launch.flat.joined, f->joined);
  simt_launch asked = simt_launch_of(&launch, &canonical, from + in_at, to + out_at, true);
  if (variant == APART) {
    memcpy(second, to, room);
    memset(to, 0xff, room);
    launch.flat.second = launch.args.second = (int64_t)((uintptr_t)second - (uintptr_t)to);
    asked.reads_out = false;
    asked.read_third = (simt_span){second + out_at, bytes};
  }
  int64_t written;
  if (!simt_run(&asked, &written, NULL, error, sizeof error))
    fail_msg("%s of %s: %s", f->kernel, sum_types[t].name, error);
  assert_int_equal(written, bytes);
  assert_memory_equal(to + out_at, expected, bytes);
  free(from);
  free(to);
  free(expected);
  free(second);
  used[launch.kernel] = true;
  return of_kernel(&launch, f, sum_types[t].name);
}

static void alpha_and_beta(void **unused) {
  (void)unused;
  bool used[CUTT_KERNEL_COUNT] = {false};
  for (int t = 0; t < SUM_TYPES; ++t) {
    const cuttType_t type = sum_types[t].type;
    const bool is_complex = type == CUTT_C32 || type == CUTT_C64;
    for (int i = 0; i < SUM_CASES; ++i) {
      const int64_t width = (int64_t)test_type_bytes(type);
      if (sum_cases[i].of_bytes && sum_cases[i].extents[0] < 2 * width) continue;
      if (sum_cases[i].widest > 0 && sum_cases[i].widest < width) continue;
      if (sum_cases[i].widest < 0 && -sum_cases[i].widest > width) continue;
      for (int variant = 0; variant <= APART; ++variant) {
        if (variant == 2 && !is_complex) continue;
        /* Elements of 16 bytes are as wide as any, whatever a case is there for. */
        if (!run_sum(&sum_cases[i], t, variant, used) && type != CUTT_C64)
          fail_msg("%s of %s is done by another kernel", sum_cases[i].kernel, sum_types[t].name);
      }
    }
  }
  for (int k = CUTT_KERNEL_flat_add_f16; k < (int)CUTT_KERNEL_flat_2a; ++k) {
    if (!used[k]) fail_msg("%s is not tested", cutt_gpu_kernel_name[k]);
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
  for (int t = 0; t < SUM_TYPES; ++t) {
    const cuttType_t type = sum_types[t].type;
    const int64_t width = (int64_t)test_type_bytes(type);
    const bool is_complex = type == CUTT_C32 || type == CUTT_C64;
    for (int i = 0; i < ASYNC_SUMS; ++i) {
      if (async_sums[i].of_bytes ? width == 16 : width < 4) continue; /* 16 bytes together; elements alone */
      if (async_sums[i].widest > 0 && async_sums[i].widest < width) continue;
      if (async_sums[i].widest < 0 && -async_sums[i].widest > width) continue;
      for (int variant = 0; variant <= APART; ++variant) {
        if (variant == 2 && !is_complex) continue;
        if (!run_sum(&async_sums[i], t, variant, used))
          fail_msg("%s of %s is done by another kernel", async_sums[i].kernel, sum_types[t].name);
      }
    }
  }
  for (int k = CUTT_KERNEL_flat_2a; k < CUTT_KERNEL_COUNT; ++k) {
    if (!used[k]) fail_msg("%s is not tested", cutt_gpu_kernel_name[k]);
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

/* With tables and without, and of copies: the first block writes the end of the output, the last one its beginning. */
static void the_end_first(void **unused) {
  (void)unused;
  enum { BYTES = 256 * 256 * 4 };
  static const struct { int perm[2], flat, direct; } ways[] = {{{1, 0}, 0, 0}, {{1, 0}, 1, 0}, {{0, 1}, 1, 1}};
  static const int64_t extents[] = {256, 256};
  unsigned char *from = aligned_alloc(16, BYTES), *to = aligned_alloc(16, BYTES);
  assert_true(from && to);
  memset(from, 1, BYTES);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
    const test_problem problem = test_packed(CUTT_BYTES_4, 2, extents, ways[i].perm);
    const cuttProblem_t view = test_problem_view(&problem);
    cutt_canonical canonical;
    cutt_candidate candidate;
    cutt_gpu_launch launch;
    const char *why = "";
    char error[768];
    assert_success(cutt_canonicalize(&view, &canonical));
    memset(&candidate, 0, sizeof candidate);
    candidate.m = candidate.k = 1;
    if (!ways[i].direct) candidate.split_m = candidate.split_k = 32;
    candidate.threads = 64;
    candidate.param[CUTT_GPU_PARAM_STAGES] = candidate.param[CUTT_GPU_PARAM_BLOCK_TILES] = 1;
    candidate.param[CUTT_GPU_PARAM_FLAT] = ways[i].flat;
    candidate.param[CUTT_GPU_PARAM_DIRECT] = ways[i].direct;
    candidate.method = cutt_gpu_method(&canonical, &candidate);
    if (!cutt_gpu_lay_out(&simt_h200, &canonical, &candidate, 16, 16, &launch, &why)) fail_msg("%s", why);
    assert_true(launch.blocks > 1);
    const uint32_t ends[] = {0, launch.blocks - 1};
    for (int end = 0; end < 2; ++end) {
      simt_launch asked = simt_launch_of(&launch, &canonical, from, to, true);
      int64_t written;
      asked.only = &ends[end];
      asked.only_count = 1;
      memset(to, 0, BYTES);
      if (!simt_run(&asked, &written, NULL, error, sizeof error)) fail_msg("%s", error);
      assert_int_equal(to[end == 0 ? BYTES - 1 : 0], 1);
      assert_int_equal(to[end == 0 ? 0 : BYTES - 1], 0);
    }
  }
  free(from);
  free(to);
}

/* Rows and columns of one mode each, in chunks, by a kernel without tables. */
static cutt_candidate flat_candidate(const cutt_canonical *c, int64_t split_m, int64_t split_k, int threads) {
  cutt_candidate q;
  memset(&q, 0, sizeof q);
  q.m = q.k = 1;
  q.split_m = split_m;
  q.split_k = split_k;
  q.threads = threads;
  q.param[CUTT_GPU_PARAM_STAGES] = q.param[CUTT_GPU_PARAM_BLOCK_TILES] = 1;
  q.param[CUTT_GPU_PARAM_FLAT] = 1;
  q.method = cutt_gpu_method(c, &q);
  return q;
}

/* Of a square of 4-byte elements, transposed in tiles of 32 x 32. */
static bool next_early(int64_t extent, int threads, bool flat) {
  const int64_t extents[] = {extent, extent};
  const int perm[] = {1, 0};
  const test_problem problem = test_packed(CUTT_BYTES_4, 2, extents, perm);
  const cuttProblem_t view = test_problem_view(&problem);
  cutt_canonical canonical;
  cutt_candidate candidate;
  cutt_gpu_launch launch;
  const char *why = "";
  assert_success(cutt_canonicalize(&view, &canonical));
  memset(&candidate, 0, sizeof candidate);
  candidate.m = candidate.k = 1;
  candidate.split_m = candidate.split_k = 32;
  candidate.threads = threads;
  candidate.param[CUTT_GPU_PARAM_STAGES] = candidate.param[CUTT_GPU_PARAM_BLOCK_TILES] = 1;
  candidate.param[CUTT_GPU_PARAM_FLAT] = flat;
  candidate.method = cutt_gpu_method(&canonical, &candidate);
  if (!cutt_gpu_lay_out(&simt_h200, &canonical, &candidate, 16, 16, &launch, &why)) fail_msg("%s", why);
  assert_int_equal(launch.without_tables, flat);
  return flat ? launch.flat.next_early : launch.args.next_early;
}

/* The next kernel may begin early where this one leaves as much room as it has, or next to none. */
static void room_for_the_next(void **unused) {
  (void)unused;
  assert_true(next_early(256, 64, true));
  assert_true(next_early(1024, 64, true));  /* 1024 blocks of the 2112 that there is room for */
  assert_false(next_early(1152, 64, true)); /* 1296 */
  assert_true(next_early(1312, 64, true));  /* 1681 */
  assert_true(next_early(4096, 64, true));
  assert_true(next_early(256, 512, false));
  assert_false(next_early(384, 512, false)); /* 144 of 264 */
  assert_true(next_early(480, 512, false));
}

/* Of tiles by asynchronous copies as many blocks fit on an SM as ask for twice what keeps memory busy, 96 KB on an H200; of windows, as
 * many as there is room for. */
static void few_at_once(void **unused) {
  (void)unused;
  static const struct {
    int64_t extent, split_m, split_k;
    cutt_kernel kernel;
    int blocks;
  } tiles[] = {{256, 32, 64, CUTT_KERNEL_flat_4a, 12},
               {256, 64, 64, CUTT_KERNEL_flat_4a, 6},
               {384, 128, 96, CUTT_KERNEL_flat_4a, 2},
               {257, 32, 64, CUTT_KERNEL_flat_4s, 16}};
  static const int perm[] = {1, 0};
  cutt_device small = simt_h200;
  small.l2_bytes = 1;
  for (size_t i = 0; i < sizeof tiles / sizeof *tiles; ++i) {
    const int64_t extents[] = {tiles[i].extent, tiles[i].extent};
    const test_problem problem = test_packed(CUTT_BYTES_4, 2, extents, perm);
    const cuttProblem_t view = test_problem_view(&problem);
    cutt_canonical canonical;
    cutt_gpu_launch launch;
    const char *why = "";
    assert_success(cutt_canonicalize(&view, &canonical));
    const cutt_candidate candidate = flat_candidate(&canonical, tiles[i].split_m, tiles[i].split_k, 64);
    if (!cutt_gpu_lay_out(&small, &canonical, &candidate, 16, 16, &launch, &why)) fail_msg("%s", why);
    assert_int_equal(launch.kernel, tiles[i].kernel);
    assert_int_equal(small.sm_shared / ((int)launch.shared_bytes + small.reserved_shared), tiles[i].blocks);
  }
}

/* Of a tile that has whole runs, the next one continues those of the output, and the one after all of these those of the input.
 * Asynchronous copies have eight lanes side by side, also where these do not divide a run, which stores have all of then. */
static void order_and_lanes(void **unused) {
  (void)unused;
  static const int64_t extents[] = {32, 5, 7, 3, 112};
  static const int perm[] = {4, 3, 2, 1, 0};
  const test_problem problem = test_packed(CUTT_BYTES_4, 5, extents, perm);
  const cuttProblem_t view = test_problem_view(&problem);
  cutt_device small = simt_h200;
  cutt_canonical canonical;
  cutt_gpu_launch launch;
  const char *why = "";
  small.l2_bytes = 1;
  assert_success(cutt_canonicalize(&view, &canonical));
  const cutt_candidate candidate = flat_candidate(&canonical, 0, 0, 256);
  if (!cutt_gpu_lay_out(&small, &canonical, &candidate, 16, 16, &launch, &why)) fail_msg("%s", why);
  assert_int_equal(launch.kernel, CUTT_KERNEL_flat_4a);
  const cutt_flat_args *const args = &launch.flat;
  assert_int_equal(args->grid_modes, 5);
  assert_int_equal(args->grid[0].extent.by, 1); /* chunks: there are none */
  assert_int_equal(args->grid[1].extent.by, 1);
  assert_int_equal(args->grid[2].out, 112 * 4);
  assert_int_equal(args->grid[3].in, 32 * 4);
  assert_int_equal(args->grid[4].in, 32 * 5 * 4);
  assert_int_equal(args->loads.along.by, 8);   /* of 40 */
  assert_int_equal(args->stores.along.by, 28); /* of 28 */
  assert_int_equal(args->stores.along_step, 28);
}

/* Two lines of a column are stored side by side, or all of it where two do not divide it, unless too many threads would be left over; one line
 * where the output is read. Of rows that begin with lines the next line is fetched, too. */
static void lanes_of_columns(void **unused) {
  (void)unused;
  static const struct {
    int64_t rows, columns;
    int threads;
    bool added;
    uint32_t along, across, line_alone;
  } ways[] = {{32, 64, 64, false, 8, 8, 0},    {64, 64, 128, false, 16, 8, 0},   {96, 64, 128, false, 24, 5, 0},
              {96, 64, 256, true, 24, 10, 0},  {128, 64, 256, false, 16, 16, 0}, {128, 64, 256, true, 8, 32, 0},
              {48, 56, 128, false, 12, 10, 1}, {216, 32, 64, false, 54, 1, 0},   {176, 48, 64, false, 16, 4, 1}};
  static const int perm[] = {1, 0};
  static const float one = 1;
  cutt_device small = simt_h200;
  small.l2_bytes = 1;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
    const int64_t extents[] = {ways[i].columns, ways[i].rows};
    const test_problem problem = test_packed(ways[i].added ? CUTT_F32 : CUTT_BYTES_4, 2, extents, perm);
    cuttProblem_t view = test_problem_view(&problem);
    cutt_canonical canonical;
    cutt_gpu_launch launch;
    const char *why = "";
    if (ways[i].added) view.beta = &one;
    assert_success(cutt_canonicalize(&view, &canonical));
    const cutt_candidate candidate = flat_candidate(&canonical, 0, 0, ways[i].threads);
    if (!cutt_gpu_lay_out(&small, &canonical, &candidate, 16, 16, &launch, &why)) fail_msg("%s", why);
    assert_int_equal(launch.kernel, ways[i].added ? CUTT_KERNEL_flat_add_f32a : CUTT_KERNEL_flat_4a);
    assert_int_equal(launch.flat.stores.along.by, ways[i].along);
    assert_int_equal(launch.flat.stores.across.by, ways[i].across);
    assert_int_equal(launch.flat.line_alone, ways[i].line_alone);
  }
}

/* Two chunks of a line of the input, then along the output, also where the chunks are an odd number; in windows those of 2 KB of it. */
static void chunks_in_groups(void **unused) {
  (void)unused;
  static const struct {
    int64_t extent, split;
    uint32_t chunks, group, groups;
    cutt_kernel kernel;
  } ways[] = {{608, 32, 19, 2, 10, CUTT_KERNEL_flat_4a}, {576, 32, 18, 2, 9, CUTT_KERNEL_flat_4a},
              {96, 32, 0, 1, 3, CUTT_KERNEL_flat_4a},    {1216, 64, 0, 1, 19, CUTT_KERNEL_flat_4a},
              {217, 32, 7, 7, 1, CUTT_KERNEL_flat_4s},   {1217, 64, 20, 7, 3, CUTT_KERNEL_flat_4s},
              {1217, 304, 5, 2, 3, CUTT_KERNEL_flat_4s}};
  static const int perm[] = {1, 0};
  cutt_device small = simt_h200;
  small.l2_bytes = 1;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
    const int64_t extents[] = {ways[i].extent, 160};
    const test_problem problem = test_packed(CUTT_BYTES_4, 2, extents, perm);
    const cuttProblem_t view = test_problem_view(&problem);
    cutt_canonical canonical;
    cutt_gpu_launch launch;
    const char *why = "";
    assert_success(cutt_canonicalize(&view, &canonical));
    const cutt_candidate candidate = flat_candidate(&canonical, ways[i].split, 40, 64);
    if (!cutt_gpu_lay_out(&small, &canonical, &candidate, 16, 16, &launch, &why)) fail_msg("%s", why);
    assert_int_equal(launch.kernel, ways[i].kernel);
    const cutt_flat_digit *const grid = ways[i].kernel == CUTT_KERNEL_flat_4s ? launch.windows.grid : launch.flat.grid;
    assert_int_equal(launch.flat.row_chunks, ways[i].chunks);
    assert_int_equal(launch.flat.row_group.by, ways[i].group);
    assert_int_equal(grid[1].extent.by, ways[i].groups);
    assert_int_equal(launch.blocks, ways[i].groups * 4 * ways[i].group);
  }
}

/* Whole columns that begin inside of sectors: those behind one another in the output, and then chunks of rows. */
static void whole_columns_first(void **unused) {
  (void)unused;
  static const int64_t extents[] = {330, 13, 159};
  static const int perm[] = {2, 1, 0};
  const test_problem problem = test_packed(CUTT_BYTES_4, 3, extents, perm);
  const cuttProblem_t view = test_problem_view(&problem);
  cutt_device small = simt_h200;
  cutt_canonical canonical;
  cutt_gpu_launch launch;
  const char *why = "";
  small.l2_bytes = 1;
  assert_success(cutt_canonicalize(&view, &canonical));
  for (int cut = 0; cut < 2; ++cut) {
    const cutt_candidate candidate = flat_candidate(&canonical, 64, cut ? 80 : 0, 128);
    if (!cutt_gpu_lay_out(&small, &canonical, &candidate, 16, 16, &launch, &why)) fail_msg("%s", why);
    assert_int_equal(launch.kernel, CUTT_KERNEL_flat_4s);
    assert_int_equal(launch.windows.whole, !cut);
    assert_int_equal(launch.windows.grid[0].extent.by, cut ? 2 : 13);
    assert_int_equal(launch.windows.grid[0].out, cut ? 80 * 4 : 159 * 4);
    assert_int_equal(launch.windows.grid[1].extent.by, 1); /* all six chunks are a group */
    assert_int_equal(launch.flat.grid_modes, cut ? 3 : 2);
  }
}

static int cleanup(void **unused) {
  (void)unused;
  simt_cleanup();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_kernel),      cmocka_unit_test(alpha_and_beta),      cmocka_unit_test(asynchronous_rows),
      cmocka_unit_test(the_end_first),    cmocka_unit_test(order_and_lanes),     cmocka_unit_test(lanes_of_columns),
      cmocka_unit_test(chunks_in_groups), cmocka_unit_test(whole_columns_first), cmocka_unit_test(room_for_the_next),
      cmocka_unit_test(whole_runs),       cmocka_unit_test(columns_in_turns),    cmocka_unit_test(few_at_once),
      cmocka_unit_test(refusals)};
  return cmocka_run_group_tests_name("kernels without tables", tests, NULL, cleanup);
}
