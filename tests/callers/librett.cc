// A program for LibreTT's interface, in the manner of libraries of distributed tensors: the stream by reference, as a variable, a
// const one and a value; results by name; the header by both of its paths. Prints what is wrong; 0: nothing is.
#include <librett.h>
#include <librett/librett.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <utility>
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

// In the manner of blocks of a tensor in C's order: a rank without a sign, extents and axes of other integers, which are turned
// round, inverted permutations, and a status that is set later.
template <typename T>
const char *permute_block(T *from, T *to, const std::vector<unsigned long> &extent, const std::vector<unsigned> &axes,
                          cudaStream_t stream) {
  const std::size_t rank = extent.size();
  std::vector<int> size(extent.rbegin(), extent.rend()), order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[rank - 1 - i] = static_cast<int>(rank - 1 - axes[i]);
  librettResult status;
  librettHandle plan;
  status = librettPlan(&plan, static_cast<unsigned>(rank), size.data(), order.data(), sizeof(T), stream);
  if (!(status == LIBRETT_SUCCESS)) return "librettPlan failed";
  status = librettExecute(plan, from, to);
  if (!(status == LIBRETT_SUCCESS)) return "librettExecute failed";
  status = librettDestroy(plan);
  return status == LIBRETT_SUCCESS ? nullptr : "librettDestroy failed";
}

// In the manner of contractions that are made of transposes: a stream in a pair with what belongs to it, plain arrays, input
// that is not to be changed and loses its const, and results that nobody looks at.
template <typename T>
void transpose(std::pair<librett_gpuStream_t, int *> &queue, const T *src, T *dst, std::size_t count,
               const long *dims) {
  int perm[8], size[8];
  for (std::size_t i = 0; i < count; ++i) {
    perm[i] = static_cast<int>(count - 1 - i);
    size[i] = static_cast<int>(dims[i]);
  }
  librettHandle plan;
  librettPlan(&plan, static_cast<int>(count), size, perm, sizeof(T), queue.first);
  librettExecute(plan, reinterpret_cast<void *>(const_cast<T *>(src)), reinterpret_cast<void *>(dst));
  librettDestroy(plan);
}

template <typename T>
const char *blocks() {
  std::vector<T> in(120), out(120, T(-1));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(static_cast<int>(i));
  const char *wrong = permute_block(in.data(), out.data(), {4, 5, 6}, {1, 2, 0}, nullptr);
  for (std::size_t i = 0; !wrong && i < out.size(); ++i)
    if (out[i] != in[i % 4 * 30 + i / 24 * 6 + i / 4 % 6]) wrong = "an element of a block is wrong";
  if (wrong) return wrong;
  std::pair<librett_gpuStream_t, int *> queue(nullptr, nullptr);
  const long dims[3] = {4, 5, 6};
  std::fill(out.begin(), out.end(), T(-1));
  transpose<T>(queue, in.data(), out.data(), 3, dims);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i] != in[i / 30 + i / 6 % 5 * 4 + i % 6 * 20]) return "an element of a transpose is wrong";
  return nullptr;
}

const char *run() {
  librettInitialize();
  librett_gpuStream_t stream = nullptr;
  const char *wrong = permute<double>(stream);
  if (!wrong) wrong = permute<float>(0);
  if (!wrong) wrong = blocks<double>();
  if (!wrong) wrong = blocks<float>();
  if (!wrong) wrong = blocks<std::complex<double>>();
  if (!wrong) wrong = blocks<std::complex<float>>();
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
