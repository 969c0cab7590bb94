// A program for LibreTT's interface, in the manner of libraries of distributed tensors: the stream by reference, as a variable, a
// const one and a value; results by name; the header by both of its paths. Prints what is wrong; 0: nothing is.
#include <librett.h>
#include <librett/librett.h>

#include <cstdio>
#include <vector>

namespace {

template <typename T>
const char *permute(const librett_gpuStream_t &stream) {
  const std::vector<int> extent{5, 8, 3};
  std::vector<int> order{2, 0, 1};
  std::vector<T> in(120), out(120, T(-1));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i);
  librettHandle plan;
  librettResult status = librettPlan(&plan, 3, extent.data(), order.data(), sizeof(T), stream);
  if (status != LIBRETT_SUCCESS) return "librettPlan failed";
  const T *from = in.data();
  status = librettExecute(plan, from, out.data());
  if (status != LIBRETT_SUCCESS) return "librettExecute failed";
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i] != static_cast<T>(i / 3 % 5 + 5 * (i / 15) + 40 * (i % 3))) return "an element is wrong";
  if (librettDestroy(plan) != LIBRETT_SUCCESS) return "librettDestroy failed";
  return librettDestroy(plan) == LIBRETT_INVALID_PLAN ? nullptr : "a plan was destroyed twice";
}

const char *run() {
  librettInitialize();
  librett_gpuStream_t stream = nullptr;
  const char *wrong = permute<double>(stream);
  if (!wrong) wrong = permute<float>(0);
  int dim[2] = {4, 6}, turn[2] = {1, 0};
  double in[24] = {0}, out[24];
  librettHandle plan;
  if (!wrong && librettPlanMeasure(&plan, 2, dim, turn, 8, stream, in, out) != LIBRETT_SUCCESS)
    wrong = "librettPlanMeasure failed";
  if (!wrong && librettDestroy(plan) != LIBRETT_SUCCESS) wrong = "librettDestroy failed";
  turn[0] = 0;
  if (!wrong && librettPlan(&plan, 2, dim, turn, 8, stream) != LIBRETT_INVALID_PARAMETER)
    wrong = "a mode was there twice";
  librettFinalize();
  return wrong;
}

}  // namespace

int main() {
  const char *wrong = run();
  std::printf("librett: %s\n", wrong ? wrong : "correct");
  return wrong != nullptr;
}
