/* Tensors with gaps in which there is no memory: rows in mappings of their own, each of which ends at a page that can't be
 * touched or begins after one. Every candidate, with every instruction set, reads pages that hold elements of the input
 * and no others, and touches nothing of the output but its elements. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/tile.h"
#include "runtime/host/isa.h"
#include "support/buffers.h"
#include "support/check.h"
#include "support/engine.h"
#include "support/reference.h"

/* What is under way, for the parent of the process that dies of it. */
static char *under_way;
enum { TEXT = 4096 };

__attribute__((format(printf, 1, 2))) static void give_up(const char *format, ...) {
  va_list list;
  va_start(list, format);
  const size_t length = strlen(under_way);
  vsnprintf(under_way + length, TEXT - length, format, list);
  va_end(list);
  _exit(1);
}

/* ------------------------------------------------------------------------------------------------------ the memory */

/* Pages, of which only those that hold elements can be touched. */
enum { PAGES = 700 };
typedef struct arena {
  unsigned char *base;
  int used[PAGES], count; /* the pages with elements */
} arena;

static struct {
  arena in, out;
  unsigned char *expected; /* of the output's arena, all of it */
} memory;

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static unsigned char *reserve(int protection) {
  void *map = mmap(NULL, PAGES * page_bytes(), protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) give_up("no memory for %d pages", PAGES);
  return map;
}

static void memory_make(void) {
  memory.in.base = reserve(PROT_NONE);
  memory.out.base = reserve(PROT_NONE);
  memory.expected = reserve(PROT_READ | PROT_WRITE);
}

enum place { AT_END, AT_START, AMID, PLACES };

/* Lays a tensor into an arena: its last byte is the last of a page, its first byte the first, or neither. The offset of
 * element (0, ..., 0). */
static size_t lay(arena *a, cuttType_t type, int rank, const int64_t *extents, const int64_t *strides, enum place at,
                  uint64_t seed) {
  const size_t page = page_bytes();
  const int64_t bytes = (int64_t)test_type_bytes(type);
  int64_t low = 0, high = bytes, index[CUTT_MAX_RANK] = {0}, offset = 0, volume = 1;
  for (int i = 0; i < rank; i++) {
    *(strides[i] < 0 ? &low : &high) += (extents[i] - 1) * strides[i] * bytes;
    volume *= extents[i];
  }
  const size_t span = (size_t)(high - low), lead = at == AT_END     ? page - 1 - (span - 1) % page
                                                   : at == AT_START ? 0
                                                                    : test_mix(seed) % page;
  if (span + lead > PAGES * page) give_up(": it does not fit %d pages", PAGES);
  const size_t origin = lead + (size_t)-low;
  bool holds[PAGES] = {false};
  for (int64_t n = 0; n < volume; n++) {
    const size_t byte = origin + (size_t)(offset * bytes);
    holds[byte / page] = holds[(byte + (size_t)bytes - 1) / page] = true;
    for (int i = 0; i < rank; i++) {
      offset += strides[i];
      if (++index[i] < extents[i]) break;
      offset -= strides[i] * extents[i];
      index[i] = 0;
    }
  }
  a->count = 0;
  if (mprotect(a->base, PAGES * page, PROT_NONE)) give_up(": mprotect fails");
  for (int i = 0; i < PAGES; i++) {
    if (!holds[i]) continue;
    if (mprotect(a->base + (size_t)i * page, page, PROT_READ | PROT_WRITE)) give_up(": mprotect fails");
    a->used[a->count++] = i;
  }
  return origin;
}

static void fill(const arena *a, unsigned char *base, uint64_t seed) {
  const size_t page = page_bytes();
  for (int i = 0; i < a->count; i++) test_fill_bits(base + (size_t)a->used[i] * page, page, 8, seed + (uint64_t)i);
}

static bool as_expected(const arena *a) {
  const size_t page = page_bytes();
  for (int i = 0; i < a->count; i++) {
    const size_t at = (size_t)a->used[i] * page;
    if (memcmp(a->base + at, memory.expected + at, page) != 0) return false;
  }
  return true;
}

/* ----------------------------------------------------------------------------------------------------- one problem */

static void run_all(const test_problem *p, enum place in_at, enum place out_at) {
  int64_t out_extents[CUTT_MAX_RANK];
  for (int i = 0; i < p->rank; i++) out_extents[i] = p->extents[p->perm[i]];
  const size_t in = lay(&memory.in, p->type, p->rank, p->extents, p->in_strides, in_at, p->seed);
  const size_t out = lay(&memory.out, p->type, p->rank, out_extents, p->out_strides, out_at, p->seed + 1);
  const test_memory m = {.problem = p, .in = memory.in.base + in, .out = memory.out.base + out};
  fill(&memory.in, memory.in.base, 1);
  fill(&memory.out, memory.expected, 1000);
  test_reference(p, m.in, memory.expected + out);

  const cuttProblem_t view = test_problem_view(p);
  cutt_canonical canonical;
  cutt_candidate list[CUTT_MAX_CANDIDATES];
  if (cutt_canonicalize(&view, &canonical) != CUTT_SUCCESS) give_up(": %s", cuttLastError());
  const int count = test_engine_cpu.enumerate(&canonical, 1, list, CUTT_MAX_CANDIDATES);
  if (count < 1) give_up(": no candidate");
  enum { SHAPES = 12 };
  test_rng rng = {p->seed};
  const size_t length = strlen(under_way);
  for (int i = 0; i < 2 * count + SHAPES; i++) { /* all that the model lists, past the caches too, and random ones */
    cutt_candidate candidate = i < 2 * count ? list[i / 2] : test_engine_cpu.shape(&rng, &canonical, 1);
    const char *why = "";
    char error[512];
    candidate.threads = 1;
    if (i < 2 * count && i % 2) candidate.param[CUTT_CPU_PARAM_NON_TEMPORAL] ^= 1;
    if (i >= 2 * count && i % 4 == 0) candidate.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_WINDOW;
    if (!test_engine_cpu.accept(&canonical, &candidate, &why)) continue;
    under_way[length] = 0;
    size_t n = length + (size_t)snprintf(under_way + length, TEXT - length, ": m %d, k %d, split_m %d, split_k %d",
                                         candidate.m, candidate.k, (int)candidate.split_m, (int)candidate.split_k);
    for (int j = 0; j < 4; j++)
      n += (size_t)snprintf(under_way + n, TEXT - n, ", %s %d", test_engine_cpu.param_name(j), (int)candidate.param[j]);
    fill(&memory.out, memory.out.base, 1000);
    if (!test_engine_cpu.run(&canonical, &candidate, 0, &m, error, sizeof error)) give_up(": %s", error);
    test_same_nans(p, memory.expected + out, memory.out.base + out);
    if (!as_expected(&memory.out)) give_up(": wrong");
  }
}

static void run(const test_problem *p, enum place in_at, enum place out_at) {
  static const char *const place_name[] = {"at the end of a page", "at the start of a page", "amid a page"};
  const size_t length = strlen(under_way); /* of the instruction set */
  char line[TEXT / 2];
  test_problem_print(p, line, sizeof line);
  snprintf(under_way + length, TEXT - length, "%s; input %s, output %s", line, place_name[in_at], place_name[out_at]);
  run_all(p, in_at, out_at);
  under_way[length] = 0;
}

/* -------------------------------------------------------------------------------------------------------- problems */

static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};
enum { TYPES = 5 };

/* Is this one of the problems that are taken? */
static bool sampled(int turn) { return test_taken(turn, test_part()); }

/* Matrices, each row on a page of its own, where it ends or begins with the page: short rows of every length, and as many
 * as it takes for all register widths. */
static void matrices(void) {
  static const int64_t rows[] = {1, 3, 17, 70};
  int turn = 0;
  for (int64_t length = 1; length <= 130; length++) {
    for (int t = 0; t < TYPES; t++) {
      for (int r = 0; r < 4; r++) {
        const int64_t extents[2] = {length, rows[r]};
        const int perm[2] = {1, 0};
        if (!sampled(++turn)) continue;
        test_problem p = test_packed(types[t], 2, extents, perm);
        p.in_strided = true;
        p.in_strides[1] = (2 + turn % 2) * (int64_t)(page_bytes() / test_type_bytes(types[t]));
        p.seed = (uint64_t)turn;
        run(&p, turn % 5 ? AT_END : AT_START, (enum place)(turn % PLACES));
      }
    }
  }
}

/* Nested strides: the first `near` modes (by order) with small gaps, the others with gaps of a page and more, now and then
 * such that all is at the same places of pages. Returns the bytes that they span. */
static int64_t draw_strides(test_rng *rng, const int *order, int rank, int near, const int64_t *extents, int64_t bytes,
                            int64_t *strides) {
  const int64_t page = (int64_t)page_bytes() / bytes;
  const bool in_step = test_chance(rng, 30);
  int64_t span = 1;
  for (int i = 0; i < rank; i++) {
    int64_t stride = span + (test_chance(rng, 40) ? test_random_in(rng, 1, 5) : 0);
    if (i == 0) stride = test_chance(rng, 85) ? 1 : 2;
    if (i >= near) stride = span + test_random_in(rng, page - 3, test_chance(rng, 50) ? page + 64 / bytes : 2 * page);
    if (i >= near && in_step) stride = (stride + page - 1) / page * page;
    strides[order[i]] = test_chance(rng, 15) ? -stride : stride;
    span += (extents[order[i]] - 1) * stride;
  }
  return span * bytes;
}

/* Random tensors with one or two modes that go from page to page in the input, or in the output, or both. False when what
 * was drawn does not fit. */
static bool draw(test_rng *rng, test_problem *p) {
  static const cuttType_t computed[] = {CUTT_F16, CUTT_F32, CUTT_F64, CUTT_C64};
  const bool computes = test_chance(rng, 20); /* beta reads the output */
  const cuttType_t type = computes ? computed[test_random_in(rng, 0, 3)] : types[test_random_in(rng, 0, TYPES - 1)];
  const int64_t bytes = (int64_t)test_type_bytes(type), most = (PAGES - 2) * (int64_t)page_bytes();
  const int rank = (int)test_random_in(rng, 2, 5);
  int64_t extents[5], out_extents[5];
  int perm[5], order[5];
  for (int i = 0; i < rank; i++) {
    perm[i] = order[i] = i;
    extents[i] = test_random_in(rng, 1 + test_chance(rng, 80), test_chance(rng, 60) ? 9 : 70);
  }
  test_shuffle(rng, perm, rank);
  if (test_chance(rng, 20)) test_shuffle(rng, order, rank);
  *p = test_packed(type, rank, extents, perm);
  p->seed = test_random(rng) >> 1;
  if (computes) {
    p->has_alpha = p->has_beta = true;
    p->alpha = test_random_scalar(rng, type);
    p->beta = test_random_scalar(rng, type);
  }
  if (test_volume(p) > 20000) return false;
  const int far = rank > 2 && test_chance(rng, 40) ? 2 : 1;
  p->in_strided = true;
  if (draw_strides(rng, order, rank, rank - far, extents, bytes, p->in_strides) > most) return false;
  if (test_chance(rng, 30)) {
    for (int i = 0; i < rank; i++) {
      out_extents[i] = extents[perm[i]];
      order[i] = i;
    }
    p->out_strided = true;
    if (draw_strides(rng, order, rank, rank - 1, out_extents, bytes, p->out_strides) > most) return false;
  }
  return true;
}

static void random_tensors(void) {
  test_rng rng = {20240612};
  test_problem p;
  const double part = test_part() < 0.3 ? 1 : test_part(); /* under sanitizers they are few already */
  for (int i = test_scaled(test_scale() < 1 ? 10000 : 20000); i > 0; i--) {
    if (!draw(&rng, &p)) continue;
    const enum place in_at = (enum place)test_random_in(&rng, 0, 2), out_at = (enum place)test_random_in(&rng, 0, 2);
    if (test_taken(i, part)) run(&p, in_at, out_at);
  }
}

/* Tensors without gaps, the narrow kind, which end or begin at pages that can't be touched. */
static void dense_tensors(void) {
  static const int perms[][3] = {{1, 0, 2}, {2, 1, 0}, {2, 0, 1}, {1, 2, 0}};
  int turn = 0;
  for (int64_t length = 1; length <= 40; length++) {
    for (int t = 0; t < TYPES; t++) {
      const int64_t extents[3] = {length, 1 + turn % 7, 19};
      if (!sampled(++turn)) continue;
      test_problem p = test_packed(types[t], 3, extents, perms[turn % 4]);
      p.seed = (uint64_t)turn;
      run(&p, (enum place)(turn / 2 % 2), (enum place)(turn / 4 % 2));
    }
  }
}

/* ------------------------------------------------------------------------------------------------------------ tests */

/* In a process of its own for each instruction set, so that a crash there is a failure here. */
static void everywhere(void (*problems)(void)) {
  for (const cutt_isa *isa = cutt_isa_all; isa->name; ++isa) {
    const char *why;
    if (!cutt_isa_usable(isa, &why)) continue;
    under_way[0] = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      signal(SIGSEGV, SIG_DFL);
      signal(SIGBUS, SIG_DFL);
      setenv("CUTT_CPU_ISA", isa->name, 1);
      snprintf(under_way, TEXT, "%s: ", isa->name);
      memory_make();
      problems();
      _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) fail_msg("signal %d in %s", WTERMSIG(status), under_way);
    if (WEXITSTATUS(status) != 0) fail_msg("status %d in %s", WEXITSTATUS(status), under_way);
  }
}

static void rows_on_pages_of_their_own(void **unused) {
  (void)unused;
  everywhere(matrices);
}

static void tensors_with_gaps_of_pages(void **unused) {
  (void)unused;
  everywhere(random_tensors);
}

static void tensors_between_unmapped_pages(void **unused) {
  (void)unused;
  everywhere(dense_tensors);
}

int main(void) {
  under_way = mmap(NULL, TEXT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if ((void *)under_way == MAP_FAILED) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_on_pages_of_their_own),
      cmocka_unit_test(tensors_with_gaps_of_pages),
      cmocka_unit_test(tensors_between_unmapped_pages),
  };
  return cmocka_run_group_tests_name("gaps", tests, NULL, NULL);
}
