/* The copy ceiling: the fastest of several copy loops on the caller's own buffers.
 *
 * No single loop is the fastest everywhere. memcpy wins while both buffers fit into a cache; beyond it, non-temporal
 * stores save the read of each output line before it is overwritten (a third of the traffic), and whether one stream or
 * four interleaved pages keep more memory banks busy depends on the machine. A percentage "of copy speed" would flatter
 * a permutation if it were held against a slow copy, so every loop is tried and the best one counts.
 *
 * The vector loops are compiled by target attributes and picked by what the CPU says at run time, so that the program
 * needs no flags for the machine that it is built on. */
#include "copy.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "cli.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* Lines of 64 bytes, and the pages that the interleaved loops walk side by side. */
enum { LINE = 64, PAGE = 4096, PAGES = 4, BLOCK = PAGE * PAGES, LEAST_PER_THREAD = 4 * BLOCK };

typedef void copy_loop(char *restrict dst, const char *restrict src, size_t bytes);

/* Copies lines by non-temporal stores: of `pages` pages that follow each other the first line of each, then the second
 * of each, and so on. dst is at the beginning of a line. */
typedef void store_lines(char *restrict dst, const char *restrict src, size_t lines, size_t pages);

static void copy_memcpy(char *restrict dst, const char *restrict src, size_t bytes) { memcpy(dst, src, bytes); }

#if defined(__x86_64__)

static void store_sse2(char *restrict dst, const char *restrict src, size_t lines, size_t pages) {
  for (size_t at = 0; at < lines * LINE; at += LINE)
    for (size_t line = at; line < at + pages * PAGE; line += PAGE)
      for (size_t part = line; part < line + LINE; part += sizeof(__m128i))
        _mm_stream_si128((__m128i *)(void *)(dst + part), _mm_loadu_si128((const __m128i *)(const void *)(src + part)));
}

__attribute__((target("avx"))) static void store_avx(char *restrict dst, const char *restrict src, size_t lines,
                                                     size_t pages) {
  for (size_t at = 0; at < lines * LINE; at += LINE)
    for (size_t line = at; line < at + pages * PAGE; line += PAGE)
      for (size_t part = line; part < line + LINE; part += sizeof(__m256i))
        _mm256_stream_si256((__m256i *)(void *)(dst + part),
                            _mm256_loadu_si256((const __m256i *)(const void *)(src + part)));
}

__attribute__((target("avx512f"))) static void store_avx512(char *restrict dst, const char *restrict src, size_t lines,
                                                            size_t pages) {
  for (size_t at = 0; at < lines * LINE; at += LINE)
    for (size_t line = at; line < at + pages * PAGE; line += PAGE)
      _mm512_stream_si512((__m512i *)(void *)(dst + line), _mm512_loadu_si512((const void *)(src + line)));
}

/* The microcoded copy: on CPUs with fast strings it skips the read of the output lines too. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the instruction writes there */
static void copy_string(char *restrict dst, const char *restrict src, size_t bytes) {
  __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(bytes) : : "memory");
}

static void wait_for_stores(void) { _mm_sfence(); }

#elif defined(__aarch64__)

static void store_neon(char *restrict dst, const char *restrict src, size_t lines, size_t pages) {
  for (size_t at = 0; at < lines * LINE; at += LINE)
    for (size_t line = at; line < at + pages * PAGE; line += PAGE)
      __asm__ volatile(
          "ldnp q0, q1, [%1]\n\tldnp q2, q3, [%1, #32]\n\t"
          "stnp q0, q1, [%0]\n\tstnp q2, q3, [%0, #32]"
          :
          : "r"(dst + line), "r"(src + line)
          : "v0", "v1", "v2", "v3", "memory");
}

static void wait_for_stores(void) {}

#else

static void wait_for_stores(void) {}

#endif

/* A loop: by itself, or by non-temporal stores, on so many pages at a time. */
typedef struct copy_entry {
  const char *name;
  copy_loop *loop;
  store_lines *store;
  size_t pages;
} copy_entry;

enum { MAX_LOOPS = 8 };

#if defined(__x86_64__) || defined(__aarch64__)
static void add_nontemporal(copy_entry *list, int *count, store_lines *store, const char *one,
                            const char *interleaved) {
  list[(*count)++] = (copy_entry){one, NULL, store, 1};
  list[(*count)++] = (copy_entry){interleaved, NULL, store, PAGES};
}
#endif

/* Fills list with the loops that this CPU can run, and returns how many. */
static int list_loops(copy_entry *list) {
  int count = 0;
  list[count++] = (copy_entry){"memcpy", copy_memcpy, NULL, 0};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) add_nontemporal(list, &count, store_avx512, "nt-avx512", "nt4-avx512");
  if (__builtin_cpu_supports("avx"))
    add_nontemporal(list, &count, store_avx, "nt-avx", "nt4-avx");
  else
    add_nontemporal(list, &count, store_sse2, "nt-sse2", "nt4-sse2");
  list[count++] = (copy_entry){"rep-movsb", copy_string, NULL, 0};
#elif defined(__aarch64__)
  add_nontemporal(list, &count, store_neon, "nt-neon", "nt4-neon");
#endif
  return count;
}

const char *cutt_cli_copy_name(int which) {
  copy_entry list[MAX_LOOPS];
  int count = list_loops(list);
  return which >= 0 && which < count ? list[which].name : "none";
}

static copy_entry find_loop(int which) {
  copy_entry list[MAX_LOOPS];
  int count = list_loops(list);
  return list[which >= 0 && which < count ? which : 0];
}

/* On one thread. What is before the first and after the last whole line of dst goes by memcpy. */
static void run_part(const copy_entry *entry, char *dst, const char *src, size_t bytes) {
  if (!entry->store) {
    entry->loop(dst, src, bytes);
    return;
  }
  const size_t head = (size_t)(-(uintptr_t)dst & (LINE - 1)), pages = entry->pages;
  size_t at = head < bytes ? head : bytes;
  memcpy(dst, src, at);
  for (; pages > 1 && at + pages * PAGE <= bytes; at += pages * PAGE)
    entry->store(dst + at, src + at, PAGE / LINE, pages);
  const size_t lines = (bytes - at) / LINE;
  entry->store(dst + at, src + at, lines, 1);
  at += lines * LINE;
  wait_for_stores();
  memcpy(dst + at, src + at, bytes - at);
}

static void run_loop(const copy_entry *entry, void *dst, const void *src, size_t bytes, int threads) {
  /* A small copy is faster without a fork. */
  if ((size_t)threads > bytes / LEAST_PER_THREAD) threads = (int)(bytes / LEAST_PER_THREAD);
  if (threads <= 1) {
    run_part(entry, dst, src, bytes);
    return;
  }
  /* Parts are whole blocks, so that no two threads write to one line. */
  size_t part = (bytes / (size_t)threads + BLOCK - 1) / BLOCK * BLOCK;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads)
#endif
  for (int thread = 0; thread < threads; ++thread) {
    size_t begin = part * (size_t)thread < bytes ? part * (size_t)thread : bytes;
    size_t end = thread + 1 < threads && bytes - begin > part ? begin + part : bytes;
    if (end > begin) run_part(entry, (char *)dst + begin, (const char *)src + begin, end - begin);
  }
}

/* OpenMP's threads poll for more work for as much as 15 ms after a loop, and would keep the cores from what is timed after a
 * copy, whose threads are others. So they are ended, and made again, by a loop that does nothing, before the next one. */
static void begin_threads(int threads) {
  int begun = 0;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : begun)
#endif
  for (int thread = 0; thread < threads; ++thread) ++begun;
  (void)begun;
}

static void end_threads(void) {
#ifdef _OPENMP
  omp_pause_resource_all(omp_pause_soft);
#endif
}

double cutt_cli_copy_seconds(int which, void *dst, const void *src, size_t bytes, int threads) {
  const double enough = 100e-6;
  const copy_entry entry = find_loop(which);
  if (threads > 1) begin_threads(threads);
  for (long copies = 1;; copies *= 4) {
    double began = cutt_cli_seconds();
    for (long i = 0; i < copies; ++i) run_loop(&entry, dst, src, bytes, threads);
    double took = cutt_cli_seconds() - began;
    if (took < enough && copies < 1L << 20) continue;
    if (threads > 1) end_threads();
    return took / (double)copies;
  }
}

/* The median of count numbers, which it sorts; they are few. */
static double median(double *list, int count) {
  for (int i = 1; i < count; ++i)
    for (int j = i; j > 0 && list[j] < list[j - 1]; --j) {
      double swap = list[j];
      list[j] = list[j - 1];
      list[j - 1] = swap;
    }
  return count % 2 ? list[count / 2] : 0.5 * (list[count / 2 - 1] + list[count / 2]);
}

int cutt_cli_copy_fastest(void *dst, const void *src, size_t bytes, int threads, int rounds, double *seconds) {
  enum { MAX_ROUNDS = 16 };
  double took[MAX_LOOPS][MAX_ROUNDS];
  copy_entry list[MAX_LOOPS];
  int count = list_loops(list);
  if (rounds < 1) rounds = 1;
  if (rounds > MAX_ROUNDS) rounds = MAX_ROUNDS;
  /* Round by round rather than loop by loop: when the machine's speed drifts, all loops drift alike. */
  for (int round = 0; round < rounds; ++round)
    for (int which = 0; which < count; ++which)
      took[which][round] = cutt_cli_copy_seconds(which, dst, src, bytes, threads);
  int best = 0;
  double best_seconds = 0;
  for (int which = 0; which < count; ++which) {
    double middle = median(took[which], rounds);
    if (which == 0 || middle < best_seconds) {
      best = which;
      best_seconds = middle;
    }
  }
  if (seconds) *seconds = best_seconds;
  return best;
}

double cutt_cli_copy_gbs(void *dst, const void *src, size_t bytes, int threads) {
  if (bytes == 0) return 0;
  double seconds = 0;
  cutt_cli_copy_fastest(dst, src, bytes, threads, 3, &seconds);
  return seconds > 0 ? 2e-9 * (double)bytes / seconds : 0;
}
