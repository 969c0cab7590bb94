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
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef void copy_loop(char *restrict dst, const char *restrict src, size_t bytes);

/* Lines of 64 bytes, and the pages that the interleaved loops walk side by side. */
enum { LINE = 64, PAGE = 4096, PAGES = 4, BLOCK = PAGE * PAGES, LEAST_PER_THREAD = 4 * BLOCK };

static void copy_memcpy(char *restrict dst, const char *restrict src, size_t bytes) { memcpy(dst, src, bytes); }

/* The bytes of dst before its first whole line, at most `bytes`. */
static size_t head_of(const char *dst, size_t bytes) {
  size_t head = (size_t)(-(uintptr_t)dst & (LINE - 1));
  return head < bytes ? head : bytes;
}

/* Copies with whole non-temporal lines; what is before the first and after the last whole line goes by memcpy.
 * STREAM(offset) moves the line at that offset of dst and src. */
#define STREAM_LOOPS(suffix, attributes, STREAM, FENCE)                                                                \
  attributes static void copy_nt_##suffix(char *restrict dst, const char *restrict src, size_t bytes) {                \
    size_t at = head_of(dst, bytes);                                                                                   \
    memcpy(dst, src, at);                                                                                              \
    for (; at + LINE <= bytes; at += LINE) STREAM(at);                                                                 \
    FENCE;                                                                                                             \
    memcpy(dst + at, src + at, bytes - at);                                                                            \
  }                                                                                                                    \
  attributes static void copy_nt4_##suffix(char *restrict dst, const char *restrict src, size_t bytes) {               \
    size_t at = head_of(dst, bytes);                                                                                   \
    memcpy(dst, src, at);                                                                                              \
    for (; at + BLOCK <= bytes; at += BLOCK) {                                                                         \
      for (size_t line = at; line < at + PAGE; line += LINE) {                                                         \
        STREAM(line);                                                                                                  \
        STREAM(line + PAGE);                                                                                           \
        STREAM(line + 2 * PAGE);                                                                                       \
        STREAM(line + 3 * PAGE);                                                                                       \
      }                                                                                                                \
    }                                                                                                                  \
    for (; at + LINE <= bytes; at += LINE) STREAM(at);                                                                 \
    FENCE;                                                                                                             \
    memcpy(dst + at, src + at, bytes - at);                                                                            \
  }

#if defined(__x86_64__)

#define STREAM_SSE2(at)                                                                                                \
  do {                                                                                                                 \
    __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(src + (at)));                                          \
    __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(src + (at) + 16));                                     \
    __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(src + (at) + 32));                                     \
    __m128i d = _mm_loadu_si128((const __m128i *)(const void *)(src + (at) + 48));                                     \
    _mm_stream_si128((__m128i *)(void *)(dst + (at)), a);                                                              \
    _mm_stream_si128((__m128i *)(void *)(dst + (at) + 16), b);                                                         \
    _mm_stream_si128((__m128i *)(void *)(dst + (at) + 32), c);                                                         \
    _mm_stream_si128((__m128i *)(void *)(dst + (at) + 48), d);                                                         \
  } while (0)

#define STREAM_AVX(at)                                                                                                 \
  do {                                                                                                                 \
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(src + (at)));                                       \
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(src + (at) + 32));                                  \
    _mm256_stream_si256((__m256i *)(void *)(dst + (at)), a);                                                           \
    _mm256_stream_si256((__m256i *)(void *)(dst + (at) + 32), b);                                                      \
  } while (0)

#define STREAM_AVX512(at)                                                                                              \
  _mm512_stream_si512((__m512i *)(void *)(dst + (at)), _mm512_loadu_si512((const void *)(src + (at))))

STREAM_LOOPS(sse2, , STREAM_SSE2, _mm_sfence())
STREAM_LOOPS(avx, __attribute__((target("avx"))), STREAM_AVX, _mm_sfence())
STREAM_LOOPS(avx512, __attribute__((target("avx512f"))), STREAM_AVX512, _mm_sfence())

/* The microcoded copy: on CPUs with fast strings it skips the read of the output lines too. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the instruction writes there */
static void copy_string(char *restrict dst, const char *restrict src, size_t bytes) {
  __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(bytes) : : "memory");
}

#elif defined(__aarch64__)

#define STREAM_NEON(at)                                                                                                \
  __asm__ volatile(                                                                                                    \
      "ldnp q0, q1, [%1]\n\tldnp q2, q3, [%1, #32]\n\t"                                                                \
      "stnp q0, q1, [%0]\n\tstnp q2, q3, [%0, #32]"                                                                    \
      :                                                                                                                \
      : "r"(dst + (at)), "r"(src + (at))                                                                               \
      : "v0", "v1", "v2", "v3", "memory")

STREAM_LOOPS(neon, , STREAM_NEON, (void)0)

#endif

typedef struct copy_entry {
  const char *name;
  copy_loop *loop;
} copy_entry;

enum { MAX_LOOPS = 8 };

/* Fills list with the loops that this CPU can run, and returns how many. */
static int list_loops(copy_entry *list) {
  int count = 0;
  list[count++] = (copy_entry){"memcpy", copy_memcpy};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    list[count++] = (copy_entry){"nt-avx512", copy_nt_avx512};
    list[count++] = (copy_entry){"nt4-avx512", copy_nt4_avx512};
  }
  if (__builtin_cpu_supports("avx")) {
    list[count++] = (copy_entry){"nt-avx", copy_nt_avx};
    list[count++] = (copy_entry){"nt4-avx", copy_nt4_avx};
  } else {
    list[count++] = (copy_entry){"nt-sse2", copy_nt_sse2};
    list[count++] = (copy_entry){"nt4-sse2", copy_nt4_sse2};
  }
  list[count++] = (copy_entry){"rep-movsb", copy_string};
#elif defined(__aarch64__)
  list[count++] = (copy_entry){"nt-neon", copy_nt_neon};
  list[count++] = (copy_entry){"nt4-neon", copy_nt4_neon};
#endif
  return count;
}

int cutt_cli_copy_count(void) {
  copy_entry list[MAX_LOOPS];
  return list_loops(list);
}

const char *cutt_cli_copy_name(int which) {
  copy_entry list[MAX_LOOPS];
  int count = list_loops(list);
  return which >= 0 && which < count ? list[which].name : "none";
}

static copy_loop *find_loop(int which) {
  copy_entry list[MAX_LOOPS];
  int count = list_loops(list);
  return list[which >= 0 && which < count ? which : 0].loop;
}

static void run_loop(copy_loop *loop, void *dst, const void *src, size_t bytes, int threads) {
  /* A small copy is faster without a fork. */
  if ((size_t)threads > bytes / LEAST_PER_THREAD) threads = (int)(bytes / LEAST_PER_THREAD);
  if (threads <= 1) {
    loop(dst, src, bytes);
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
    if (end > begin) loop((char *)dst + begin, (const char *)src + begin, end - begin);
  }
}

void cutt_cli_copy_run(int which, void *dst, const void *src, size_t bytes, int threads) {
  run_loop(find_loop(which), dst, src, bytes, threads);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double cutt_cli_copy_seconds(int which, void *dst, const void *src, size_t bytes, int threads) {
  const double enough = 100e-6;
  copy_loop *loop = find_loop(which);
  for (long copies = 1;; copies *= 4) {
    double began = now();
    for (long i = 0; i < copies; ++i) run_loop(loop, dst, src, bytes, threads);
    double took = now() - began;
    if (took >= enough || copies >= 1L << 20) return took / (double)copies;
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
  int count = cutt_cli_copy_count();
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
