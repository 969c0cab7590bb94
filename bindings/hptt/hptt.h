/* hptt.h: the interface of HPTT (High-Performance Tensor Transposition) on cuTT, for programs that are written for it: they
 * compile unchanged and link libhptt, which stands on libcutt. It is no part of HPTT. What a call does is out = alpha *
 * perm(in) + beta * out in host memory, by plans of the CPU.
 *
 *     auto plan = hptt::create_plan(perm, dim, alpha, A, sizeA, outerSizeA, beta, B, outerSizeB, hptt::ESTIMATE, threads);
 *     plan->execute();
 *
 * perm         mode i of B is mode perm[i] of A
 * sizeA        the extents of A; the first mode has stride 1, unless useRowMajor: then the last has, in all of the arrays
 * outerSizeA   the extents of the tensor that A is a part of, NULL or empty: those of A; outerSizeB: likewise of B's modes
 * numThreads   most threads to use; 0: as many as OpenMP would
 *
 * What differs: an argument that is wrong is an exception (std::invalid_argument) from C++, and from C, whose calls have no
 * result, a line on stderr and an output that is left alone; HPTT ends the process. MEASURE, PATIENT and CRAZY time for 2, 10
 * and 60 seconds at most, on memory of the library's own. */
#ifndef CUTT_HPTT_H
#define CUTT_HPTT_H

#ifndef __cplusplus
#include <stdbool.h>
#endif

#if defined(__GNUC__)
#define CUTT_HPTT_API __attribute__((visibility("default")))
#else
#define CUTT_HPTT_API
#endif

#ifdef __cplusplus
#include <complex>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif
#define CUTT_HPTT_OR_ZERO = 0
extern "C" {
#else
#define CUTT_HPTT_OR_ZERO
#endif

/* C's complex types, which C++ has as an extension. */
__extension__ typedef float _Complex cutt_hptt_c32;
__extension__ typedef double _Complex cutt_hptt_c64;

/* The four calls of C: plan, if the last 64 problems don't have this one, and execute. conjA: A is conjugated. */
CUTT_HPTT_API void sTensorTranspose(const int *perm, const int dim, const float alpha, const float *A, const int *sizeA,
                                    const int *outerSizeA, const float beta, float *B, const int *outerSizeB,
                                    const int numThreads, const int useRowMajor CUTT_HPTT_OR_ZERO);
CUTT_HPTT_API void dTensorTranspose(const int *perm, const int dim, const double alpha, const double *A,
                                    const int *sizeA, const int *outerSizeA, const double beta, double *B,
                                    const int *outerSizeB, const int numThreads,
                                    const int useRowMajor CUTT_HPTT_OR_ZERO);
CUTT_HPTT_API void cTensorTranspose(const int *perm, const int dim, const cutt_hptt_c32 alpha, bool conjA,
                                    const cutt_hptt_c32 *A, const int *sizeA, const int *outerSizeA,
                                    const cutt_hptt_c32 beta, cutt_hptt_c32 *B, const int *outerSizeB,
                                    const int numThreads, const int useRowMajor CUTT_HPTT_OR_ZERO);
CUTT_HPTT_API void zTensorTranspose(const int *perm, const int dim, const cutt_hptt_c64 alpha, bool conjA,
                                    const cutt_hptt_c64 *A, const int *sizeA, const int *outerSizeA,
                                    const cutt_hptt_c64 beta, cutt_hptt_c64 *B, const int *outerSizeB,
                                    const int numThreads, const int useRowMajor CUTT_HPTT_OR_ZERO);

/* ---------------------------------------------------------------- what the class below stands on; no part of HPTT's interface */

typedef struct cutt_hptt_problem {
  char type; /* 's', 'd', 'c' or 'z' */
  int dim;
  const int *perm, *size, *outer_a, *outer_b;
  const void *alpha, *beta;
  int row_major, conjugate, threads;
  double seconds; /* to measure for; 0: the model chooses */
} cutt_hptt_problem;
typedef struct cutt_hptt_plan cutt_hptt_plan;

/* 0, or what is wrong: 1 an argument, 2 anything else; cutt_hptt_error() then has the text. */
CUTT_HPTT_API int cutt_hptt_plan_create(cutt_hptt_plan **plan, const cutt_hptt_problem *problem);
CUTT_HPTT_API int cutt_hptt_plan_execute(const cutt_hptt_plan *plan, const void *A, void *B);
CUTT_HPTT_API void cutt_hptt_plan_print(const cutt_hptt_plan *plan); /* its description, to stdout */
CUTT_HPTT_API void cutt_hptt_plan_destroy(cutt_hptt_plan *plan);     /* NULL is allowed */
CUTT_HPTT_API const char *cutt_hptt_error(void);

#ifdef __cplusplus
}

namespace hptt {

enum SelectionMethod { ESTIMATE, MEASURE, PATIENT, CRAZY };

using FloatComplex = std::complex<float>;
using DoubleComplex = std::complex<double>;

inline char cutt_type(float) { return 's'; }
inline char cutt_type(double) { return 'd'; }
inline char cutt_type(FloatComplex) { return 'c'; }
inline char cutt_type(DoubleComplex) { return 'z'; }

/* A transposition, which may be executed any number of times, also with other pointers. What a setter changes, but for the
 * pointers, is planned anew at the next execution; between these, several threads may execute one object. */
template <typename floatType>
class Transpose {
 public:
  Transpose(const int *sizeA, const int *perm, const int *outerSizeA, const int *outerSizeB, const int dim,
            const floatType *A, const floatType alpha, floatType *B, const floatType beta,
            const SelectionMethod selectionMethod, const int numThreads, const int *threadIds = nullptr,
            const bool useRowMajor = false)
      : dim_(dim),
        size_(copy(sizeA, dim)),
        perm_(copy(perm, dim)),
        outer_a_(copy(outerSizeA, dim)),
        outer_b_(copy(outerSizeB, dim)),
        in_(A),
        out_(B),
        alpha_(alpha),
        beta_(beta),
        method_(selectionMethod),
        candidates_(0),
        threads_(numThreads),
        thread_ids_(copy(threadIds, numThreads)),
        row_major_(useRowMajor),
        conjugate_(false) {
    if (!threadIds)
      for (int i = 0; i < numThreads; ++i) thread_ids_.push_back(i);
  }
  Transpose(const Transpose &other) = default;
  Transpose &operator=(const Transpose &other) = default;

  bool getConjA() const noexcept { return conjugate_; }
  void setConjA(bool conjA) noexcept { change(conjugate_, conjA); }
  int getNumThreads() const noexcept { return threads_; }
  void setNumThreads(int numThreads) noexcept { change(threads_, numThreads); }
  floatType getAlpha() const noexcept { return alpha_; }
  void setAlpha(floatType alpha) noexcept { change(alpha_, alpha); }
  floatType getBeta() const noexcept { return beta_; }
  void setBeta(floatType beta) noexcept { change(beta_, beta); }
  const floatType *getInputPtr() const noexcept { return in_; }
  void setInputPtr(const floatType *A) noexcept { in_ = A; }
  floatType *getOutputPtr() const noexcept { return out_; }
  void setOutputPtr(floatType *B) noexcept { out_ = B; }
  /* Not 0: the choice is measured. */
  void setMaxAutotuningCandidates(int num) noexcept { change(candidates_, num); }

  /* The OpenMP threads that call execute_expert() with spawnThreads = false, of which the first does the work, by threads of the
   * library's own. */
  void resetThreadIds() noexcept { thread_ids_.clear(); }
  void addThreadId(int threadId) {
#ifdef _OPENMP
#pragma omp critical(cutt_hptt_thread_ids)
#endif
    {
      auto at = thread_ids_.begin();
      while (at != thread_ids_.end() && *at < threadId) ++at;
      thread_ids_.insert(at, threadId);
    }
  }
  void printThreadIds() const {
    for (const int id : thread_ids_) std::printf("%d, ", id);
    std::printf("\n");
  }
  int getMasterThreadId() const noexcept { return thread_ids_.empty() ? 0 : thread_ids_[0]; }

  void createPlan() {
    static const double seconds[] = {0, 2, 10, 60};
    cutt_hptt_problem p = cutt_hptt_problem();
    p.type = cutt_type(floatType());
    p.dim = dim_;
    p.size = size_.data();
    p.perm = perm_.data();
    p.outer_a = outer_a_.empty() ? nullptr : outer_a_.data();
    p.outer_b = outer_b_.empty() ? nullptr : outer_b_.data();
    p.alpha = &alpha_;
    p.beta = &beta_;
    p.row_major = row_major_;
    p.conjugate = conjugate_;
    p.threads = threads_;
    p.seconds = seconds[candidates_ != 0 && method_ == ESTIMATE ? MEASURE : method_];
    cutt_hptt_plan *made = nullptr;
    check(cutt_hptt_plan_create(&made, &p));
    plan_ = std::shared_ptr<cutt_hptt_plan>(made, cutt_hptt_plan_destroy);
  }

  void execute() {
    if (!plan_) createPlan();
    check(cutt_hptt_plan_execute(plan_.get(), in_, out_));
  }

  /* useStreamingStores and betaIsZero are the library's to decide. */
  template <bool useStreamingStores = true, bool spawnThreads = true, bool betaIsZero>
  void execute_expert() {
#ifdef _OPENMP
    if (!spawnThreads && omp_get_thread_num() != getMasterThreadId()) return;
#endif
    execute();
  }

  void print() {
    if (!plan_) createPlan();
    cutt_hptt_plan_print(plan_.get());
  }

 private:
  static std::vector<int> copy(const int *from, int count) {
    return from && count > 0 ? std::vector<int>(from, from + count) : std::vector<int>();
  }
  static void check(int wrong) {
    if (wrong == 1) throw std::invalid_argument(cutt_hptt_error());
    if (wrong) throw std::runtime_error(cutt_hptt_error());
  }
  template <typename Value>
  void change(Value &field, Value value) noexcept {
    field = value;
    plan_.reset();
  }

  int dim_;
  std::vector<int> size_, perm_, outer_a_, outer_b_;
  const floatType *in_;
  floatType *out_;
  floatType alpha_, beta_;
  SelectionMethod method_;
  int candidates_, threads_;
  std::vector<int> thread_ids_;
  bool row_major_, conjugate_;
  std::shared_ptr<cutt_hptt_plan> plan_;
};

/* By pointers and by vectors, with a method and with a number of candidates, for each of the four types: functions and no
 * templates, so that alpha and beta are converted to the pointers' type. */
#define CUTT_HPTT_CREATE_PLAN(type)                                                                                    \
  inline std::shared_ptr<Transpose<type>> create_plan(                                                                 \
      const int *perm, const int dim, const type alpha, const type *A, const int *sizeA, const int *outerSizeA,        \
      const type beta, type *B, const int *outerSizeB, const SelectionMethod selectionMethod, const int numThreads,    \
      const int *threadIds = nullptr, const bool useRowMajor = false) {                                                \
    auto plan = std::make_shared<Transpose<type>>(sizeA, perm, outerSizeA, outerSizeB, dim, A, alpha, B, beta,         \
                                                  selectionMethod, numThreads, threadIds, useRowMajor);                \
    plan->createPlan();                                                                                                \
    return plan;                                                                                                       \
  }                                                                                                                    \
  inline std::shared_ptr<Transpose<type>> create_plan(                                                                 \
      const int *perm, const int dim, const type alpha, const type *A, const int *sizeA, const int *outerSizeA,        \
      const type beta, type *B, const int *outerSizeB, const int maxAutotuningCandidates, const int numThreads,        \
      const int *threadIds = nullptr, const bool useRowMajor = false) {                                                \
    auto plan = std::make_shared<Transpose<type>>(sizeA, perm, outerSizeA, outerSizeB, dim, A, alpha, B, beta,         \
                                                  MEASURE, numThreads, threadIds, useRowMajor);                        \
    plan->setMaxAutotuningCandidates(maxAutotuningCandidates);                                                         \
    plan->createPlan();                                                                                                \
    return plan;                                                                                                       \
  }                                                                                                                    \
  inline std::shared_ptr<Transpose<type>> create_plan(                                                                 \
      const std::vector<int> &perm, const int dim, const type alpha, const type *A, const std::vector<int> &sizeA,     \
      const std::vector<int> &outerSizeA, const type beta, type *B, const std::vector<int> &outerSizeB,                \
      const SelectionMethod selectionMethod, const int numThreads, const std::vector<int> &threadIds = {},             \
      const bool useRowMajor = false) {                                                                                \
    return create_plan(perm.data(), dim, alpha, A, sizeA.data(), cutt_or_null(outerSizeA), beta, B,                    \
                       cutt_or_null(outerSizeB), selectionMethod, numThreads, cutt_or_null(threadIds), useRowMajor);   \
  }

inline const int *cutt_or_null(const std::vector<int> &list) { return list.empty() ? nullptr : list.data(); }

CUTT_HPTT_CREATE_PLAN(float)
CUTT_HPTT_CREATE_PLAN(double)
CUTT_HPTT_CREATE_PLAN(FloatComplex)
CUTT_HPTT_CREATE_PLAN(DoubleComplex)
#undef CUTT_HPTT_CREATE_PLAN

} /* namespace hptt */
#endif

#undef CUTT_HPTT_OR_ZERO
#endif
