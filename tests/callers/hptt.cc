// A program in C++ for HPTT's interface: plans by pointers and by vectors, with converted scalars, all methods, other pointers and
// scalars on a plan, the class by itself, OpenMP threads that share a plan, and exceptions. Prints what is wrong; 0: nothing is.
#include <hptt.h>
#include <hptt/hptt.h>

#include <cstdio>
#include <cstring>

namespace {

const int dim = 3, size[3] = {6, 11, 8}, perm[3] = {1, 2, 0};
const std::size_t volume = 6 * 11 * 8;
int failures = 0;

void expect(bool right, const char *what) {
  if (right) return;
  std::printf("hptt: %s\n", what);
  ++failures;
}

template <typename T>
std::vector<T> numbers(int start) {
  std::vector<T> list(volume);
  for (std::size_t i = 0; i < volume; ++i) list[i] = static_cast<T>(static_cast<float>(i) + static_cast<float>(start));
  return list;
}

// b[j, k, i] = alpha * a[i, j, k] + beta * before[j, k, i]; the first index has stride 1, or the last.
template <typename T>
bool is_right(const std::vector<T> &a, const std::vector<T> &before, const std::vector<T> &b, T alpha, T beta,
              bool row_major = false) {
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 11; ++j)
      for (std::size_t k = 0; k < 8; ++k) {
        const std::size_t from = row_major ? (i * 11 + j) * 8 + k : i + 6 * (j + 11 * k);
        const std::size_t to = row_major ? (j * 8 + k) * 6 + i : j + 11 * (k + 8 * i);
        if (b[to] != alpha * a[from] + beta * before[to]) return false;
      }
  return true;
}

template <typename T>
void all(const char *what) {
  const std::vector<T> a = numbers<T>(1), before = numbers<T>(1000);
  const std::vector<int> sizes(size, size + 3), perms(perm, perm + 3);
  std::vector<T> b = before;
  // The scalars are of another type: a caller's 1 and 0.
  auto plan = hptt::create_plan(perm, dim, 1, a.data(), size, NULL, 0, b.data(), NULL, hptt::ESTIMATE, 1, NULL, false);
  plan->execute();
  expect(is_right<T>(a, before, b, 1, 0), what);
  b = before;
  plan->setAlpha(2);
  plan->setBeta(4);
  plan->execute();
  expect(is_right<T>(a, before, b, 2, 4), "setAlpha, setBeta");
  std::vector<T> other = before;
  plan->setOutputPtr(other.data());
  plan->setInputPtr(before.data());
  plan->setNumThreads(2);
  plan->execute();
  expect(is_right<T>(before, before, other, 2, 4), "setInputPtr, setOutputPtr");
  expect(plan->getAlpha() == T(2) && plan->getBeta() == T(4) && plan->getNumThreads() == 2, "what was set");
  expect(plan->getInputPtr() == before.data() && plan->getOutputPtr() == other.data(), "the pointers that were set");

  b = before;
  auto rows = hptt::create_plan(perms, dim, T(3), a.data(), sizes, {}, T(1), b.data(), {}, hptt::ESTIMATE, 2, {}, true);
  rows->template execute_expert<true, true, false>();
  expect(is_right<T>(a, before, b, 3, 1, true), "vectors, row-major");

  b = before;
  hptt::create_plan(perm, dim, T(1), a.data(), size, nullptr, T(0), b.data(), nullptr, 4, 1)->execute();
  expect(is_right<T>(a, before, b, 1, 0), "a number of candidates");

  b = before;
  hptt::Transpose<T> own(size, perm, nullptr, nullptr, dim, a.data(), T(1), b.data(), T(0), hptt::ESTIMATE, 1);
  own.createPlan();
  hptt::Transpose<T> copy(own);
  copy.execute();
  expect(is_right<T>(a, before, b, 1, 0), "the class by itself");
}

void conjugation() {
  typedef hptt::FloatComplex T;
  const T a[4] = {T(1, 2), T(3, -4), T(5, 0), T(0, 6)};
  T b[4];
  const int square[2] = {2, 2}, turn[2] = {1, 0};
  auto plan = hptt::create_plan(turn, 2, T(0, 1), a, square, nullptr, T(0), b, nullptr, hptt::ESTIMATE, 1);
  plan->setConjA(true);
  plan->execute();
  expect(plan->getConjA() && b[0] == T(2, 1) && b[1] == T(0, 5) && b[2] == T(-4, 3) && b[3] == T(6, 0), "setConjA");
}

// Threads of the caller's own call the plan together; one does the work.
void shared_by_threads() {
  const std::vector<double> a = numbers<double>(1), before = numbers<double>(7);
  std::vector<double> b = before;
  const int ids[2] = {0, 1};
  auto plan =
      hptt::create_plan(perm, dim, 1.0, a.data(), size, nullptr, 1.0, b.data(), nullptr, hptt::ESTIMATE, 2, ids);
  expect(plan->getMasterThreadId() == 0, "the first thread");
#ifdef _OPENMP
#pragma omp parallel num_threads(2)
#endif
  plan->execute_expert<true, false, false>();
  expect(is_right<double>(a, before, b, 1, 1), "execute_expert in a parallel region");
  plan->resetThreadIds();
  plan->addThreadId(5);
  plan->addThreadId(3);
  expect(plan->getMasterThreadId() == 3, "addThreadId");
}

void exceptions() {
  float a[4] = {1, 2, 3, 4}, b[4] = {0, 0, 0, 0};
  const int square[2] = {2, 2}, twice[2] = {0, 0}, turn[2] = {1, 0};
  bool thrown = false;
  try {
    hptt::create_plan(twice, 2, 1.f, a, square, nullptr, 0.f, b, nullptr, hptt::ESTIMATE, 1);
  } catch (const std::invalid_argument &error) {
    thrown = std::strstr(error.what(), "perm[1] is 0") != nullptr;
  }
  expect(thrown, "a permutation that is none");
  thrown = false;
  auto plan = hptt::create_plan(turn, 2, 1.f, a, square, nullptr, 0.f, a, nullptr, hptt::ESTIMATE, 1);
  try {
    plan->execute();
  } catch (const std::invalid_argument &error) {
    thrown = std::strstr(error.what(), "overlap") != nullptr;
  }
  expect(thrown && a[1] == 2, "in place");
}

}  // namespace

int main() {
  all<float>("float");
  all<double>("double");
  all<hptt::FloatComplex>("complex float");
  all<hptt::DoubleComplex>("complex double");
  conjugation();
  shared_by_threads();
  exceptions();
  if (!failures) std::printf("hptt: correct\n");
  return failures != 0;
}
