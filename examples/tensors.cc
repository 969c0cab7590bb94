// Permutation and contraction in C++: a plan is destroyed with its variable, a failure is an exception with the library's text,
// and threads share a plan. Without a BLAS on the machine it permutes only, says so, and ends with 77.
//
// Convention: the first mode is the one with stride 1.
#include <cutt.hpp>

#include <cstdio>
#include <thread>
#include <vector>

namespace {

// images[n][h][w][c], as C counts: from channels last to channels first, on the CPU.
cutt::plan channels_first(int64_t c, int64_t w, int64_t h) {
  const int64_t extents[] = {c, w, h};
  const int perm[] = {1, 2, 0};
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 3;
  problem.type = CUTT_F32;
  problem.extents = extents;
  problem.perm = perm;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;  // the vectors are in the host's memory
  options.threads = 1;                 // the caller has threads of its own
  return cutt::plan(problem, options);
}

void permute() {
  const std::size_t c = 3, w = 224, h = 224, images = 8, image = c * w * h;
  std::vector<float> in(images * image), out(images * image);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);

  const cutt::plan plan = channels_first(c, w, h);
  std::vector<std::thread> threads;
  for (std::size_t n = 0; n < images; ++n)
    threads.emplace_back([&, n] { plan.execute(&in[n * image], &out[n * image]); });
  for (std::thread &thread : threads) thread.join();

  std::size_t wrong = 0;
  for (std::size_t n = 0; n < images; ++n)
    for (std::size_t i = 0; i < image; ++i) wrong += out[n * image + i / c + i % c * w * h] != in[n * image + i];
  std::printf("%zu images by %s: %zu elements are wrong\n", images, plan.info().method, wrong);
  if (wrong) throw std::logic_error("a permutation is wrong");
}

// d(i, j) = sum over k of a(i, k) b(k, j)
void contract() {
  const int64_t left[] = {2, 3}, right[] = {3, 2};
  const std::vector<double> a{1, 2, 3, 4, 5, 6}, b{1, 0, 2, 0, 1, 0};
  std::vector<double> d(4);
  cuttContraction_t contraction = CUTT_CONTRACTION_INIT;
  contraction.pattern = "ik,kj->ij";
  contraction.type = CUTT_F64;
  contraction.left_rank = contraction.right_rank = contraction.result_rank = 2;
  contraction.left_extents = left;
  contraction.right_extents = right;
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  cutt::contraction_plan(contraction, options).execute(a.data(), b.data(), d.data());
  std::printf("contracted: %g %g %g %g\n", d[0], d[1], d[2], d[3]);
  if (d != std::vector<double>{11, 14, 3, 4}) throw std::logic_error("a contraction is wrong");
}

}  // namespace

int main() {
  try {
    channels_first(3, 224, -1);
  } catch (const cutt::error &error) {
    std::printf("refused: %s\n", error.what());  // extents[2] is -1; ...
  }
  try {
    permute();
    contract();
  } catch (const cutt::error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.result() == CUTT_INVALID_DEVICE ? 77 : 1;  // 77: no BLAS
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
