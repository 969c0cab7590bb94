// The callers of callers.h as C++, and those that only C++ has, with CUDA's headers or without (CALLER_CUDA). As nvcc
// compiles it, this is also what a .cu file of such a program is.
#include "headers.h"

// The callers come after the headers.
#include "callers.h"

#include <complex>
#include <map>
#include <memory>
#include <utility>
#include <vector>

extern "C" {
const char *CALLER(tensor)(void);
const char *CALLER(storage)(void);
const char *CALLER(layer)(void);
const char *CALLER(update)(void);
const char *CALLER(kept)(void);
}

namespace {

using integers = std::vector<int>;

// Modes of a row-major tensor, counted as the library does: the last is the first.
integers turned_extents(const integers &extents) { return integers(extents.rbegin(), extents.rend()); }

integers turned_axes(const integers &axes) {
  integers turned;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis)
    turned.push_back(static_cast<int>(axes.size()) - 1 - *axis);
  return turned;
}

// In the manner of a framework for arrays of tensors: the library is set up and shut down with the framework, tensors are
// templates with row-major extents, the result has the enum's own name, and the stream comes by reference.
struct framework {
  framework() { cuttInitialize(); }
  ~framework() { cuttFinalize(); }
};

template <typename T>
const char *permute_tensor(const T *from, T *to, const integers &extents, const integers &axes, cudaStream_t &stream) {
  integers dim = turned_extents(extents), permutation = turned_axes(axes);
  cuttHandle handle;
  cuttResult_t result;
  result = cuttPlan(&handle, dim.size(), dim.data(), permutation.data(), sizeof(T), stream);
  if (!(result == CUTT_SUCCESS)) return "cuttPlan failed";
  result = cuttExecute(handle, const_cast<T *>(from), to);
  if (!(result == CUTT_SUCCESS)) return "cuttExecute failed";
  result = cuttDestroy(handle);
  if (!(result == CUTT_SUCCESS)) return "cuttDestroy failed";
  return caller_verify(to, static_cast<int>(dim.size()), dim.data(), permutation.data(), sizeof(T));
}

template <typename T>
const char *try_tensor() {
  const integers extents{6, 21, 17}, axes{2, 0, 1}, dim = turned_extents(extents);
  caller_data data;
  const char *wrong = caller_open(&data, 3, dim.data(), sizeof(T));
  cudaStream_t stream = nullptr;
  if (!wrong)
    wrong = permute_tensor(static_cast<const T *>(data.in), static_cast<T *>(data.out), extents, axes, stream);
  caller_close(&data);
  return wrong;
}

// In the manner of a library whose tensors are views of storages: no result is looked at, sizes are narrowed on the way,
// and the result goes back to where the input was.
template <typename T>
const char *rearrange(caller_data *data, const std::vector<unsigned long> &shape, integers order) {
  integers sizes(shape.begin(), shape.end());
  cuttHandle handle;
  cuttPlan(&handle, order.size(), sizes.data(), order.data(), sizeof(T), 0);
  cuttExecute(handle, data->in, data->out);
  cuttDestroy(handle);
  const char *wrong = caller_copy(data->in, data->out, data->bytes);
  return wrong ? wrong : caller_verify(data->in, static_cast<int>(sizes.size()), sizes.data(), order.data(), sizeof(T));
}

template <typename T>
const char *try_storage() {
  const int dim[4] = {5, 4, 3, 16};
  caller_data data;
  const char *wrong = caller_open(&data, 4, dim, sizeof(T));
  if (!wrong) wrong = rearrange<T>(&data, {5, 4, 3, 16}, {1, 3, 0, 2});
  caller_close(&data);
  return wrong;
}

// In the manner of a layer of a neural network: plans kept by shape for as long as the layer lives, one plan for all the
// samples of a batch, and pointers computed sample by sample.
class layer {
 public:
  explicit layer(integers permutation) : permutation_{std::move(permutation)} {}
  layer(const layer &) = delete;
  layer &operator=(const layer &) = delete;
  ~layer() noexcept {
    for (const auto &plan : plans_) static_cast<void>(cuttDestroy(plan.second));
  }

  template <typename T>
  cuttResult run(const integers &shape, int samples, const T *in, T *out, cudaStream_t stream) {
    if (plans_.find(shape) == plans_.end()) {
      integers dim(shape), permutation(permutation_);
      cuttHandle handle{};
      const cuttResult planned =
          cuttPlan(&handle, static_cast<int>(dim.size()), dim.data(), permutation.data(), sizeof(T), stream);
      if (CUTT_SUCCESS != planned) return planned;
      plans_.emplace(shape, handle);
    }
    std::size_t step = 1;
    for (const int extent : shape) step *= static_cast<std::size_t>(extent);
    T *const start = const_cast<T *>(in);
    for (int i = 0; i < samples; ++i) {
      if (const auto executed = cuttExecute(plans_.at(shape), start + i * step, out + i * step)) return executed;
    }
    return CUTT_SUCCESS;
  }

 private:
  integers permutation_;
  std::map<integers, cuttHandle> plans_;
};

}  // namespace

const char *CALLER(tensor)(void) {
  const framework running;
  const char *wrong = try_tensor<float>();
  if (!wrong) wrong = try_tensor<double>();
  if (!wrong) wrong = try_tensor<int>();
  return wrong;
}

const char *CALLER(storage)(void) {
  const char *wrong = try_storage<std::complex<double>>();
  if (!wrong) wrong = try_storage<std::complex<float>>();
  if (!wrong) wrong = try_storage<short>();
  if (!wrong) wrong = try_storage<bool>();
  return wrong;
}

const char *CALLER(layer)(void) {
  const int dim[4] = {3, 20, 11, 4}, permutation[4] = {1, 2, 0, 3};  // with the batch
  caller_data data;
  const char *wrong = caller_open(&data, 4, dim, sizeof(float));
  if (!wrong) {
    const std::unique_ptr<layer> permute(new layer({1, 2, 0}));
    for (int pass = 0; pass < 2 && !wrong; ++pass) {
      const cuttResult result = permute->run({3, 20, 11}, 4, static_cast<const float *>(data.in),
                                             static_cast<float *>(data.out), cudaStream_t{});
      if (result != CUTT_SUCCESS) wrong = words_of(result);
    }
  }
  if (!wrong) wrong = caller_verify(data.out, 4, dim, permutation, sizeof(float));
  caller_close(&data);
  return wrong;
}

// In the manner of a binding for Python on a fork of the original: input and shapes are const, and two scalars by address at
// the end, which may be left out.
namespace {
template <typename T>
const char *try_update() {
  const int dim[3] = {7, 4, 9}, permutation[3] = {2, 0, 1};
  const T alpha = 2, beta = 1, none = 0, one = 1;
  caller_data data;
  const char *wrong = caller_open(&data, 3, dim, sizeof(T));
  std::vector<T> numbers(7 * 4 * 9);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<T>(i);
  if (!wrong) wrong = caller_copy(data.in, numbers.data(), data.bytes);
  const void *const in = data.in;
  cuttHandle plan = 0;
  if (!wrong && cuttPlanMeasure(&plan, 3, dim, permutation, sizeof(T), 0, in, data.out, &one, &none) != CUTT_SUCCESS)
    wrong = "cuttPlanMeasure failed";
  // out = 2 in, then out = 2 in + out, and at last out = 1 in + 1 out: 5 in.
  if (!wrong && (cuttExecute(plan, in, data.out, &alpha) || cuttExecute(plan, in, data.out, &alpha, &beta) ||
                 cuttExecute(plan, in, data.out, nullptr, &beta)))
    wrong = "cuttExecute failed";
  if (!wrong) wrong = caller_copy(numbers.data(), data.out, data.bytes);
  for (std::size_t i = 0; !wrong && i < numbers.size(); ++i) {
    const std::size_t from = i / 9 % 7 + 7 * (i / 63) + 28 * (i % 9);
    if (numbers[i] != static_cast<T>(5 * from)) wrong = "an element is wrong";
  }
  if (!wrong && cuttDestroy(plan)) wrong = "cuttDestroy failed";
  caller_close(&data);
  return wrong;
}
}  // namespace

const char *CALLER(update)(void) {
  const char *wrong = try_update<double>();
  return wrong ? wrong : try_update<float>();
}

// In the manner of operators that keep their plans: a handle that says "none" by a number, plans by their facts in a list of a
// fixed length, from which the oldest is destroyed, and permutations and shapes whose data are const.
namespace {
struct kept_plans {
  struct entry {
    integers dim, permutation;
    cuttHandle plan;
  };
  std::vector<entry> entries;
  ~kept_plans() {
    for (const entry &e : entries) cuttDestroy(e.plan);
  }
  bool find(const integers &dim, const integers &permutation, std::size_t bytes, cuttHandle *plan) {
    for (const entry &e : entries)
      if (e.dim == dim && e.permutation == permutation) return *plan = e.plan, true;
    if (entries.size() == 2) {
      if (cuttDestroy(entries.front().plan) != CUTT_SUCCESS) return false;
      entries.erase(entries.begin());
    }
    cuttHandle made = 0;
    const auto status = cuttPlan(&made, (int)dim.size(), dim.data(), permutation.data(), bytes, cudaStream_t());
    if (status != CUTT_SUCCESS || made == 0 || made == static_cast<cuttHandle>(-1)) return false;
    entries.push_back({dim, permutation, made});
    *plan = made;
    return true;
  }
};
}  // namespace

const char *CALLER(kept)(void) {
  kept_plans plans;
  const char *wrong = nullptr;
  for (int call = 0; call < 12 && !wrong; ++call) {
    const integers dim{3 + call % 3, 7, 5}, permutation{2, 0, 1};
    caller_data data;
    wrong = caller_open(&data, 3, dim.data(), 2);
    cuttHandle plan = 0;
    if (!wrong && !plans.find(dim, permutation, 2, &plan)) wrong = "a plan was not found";
    const void *const from = data.in;
    if (!wrong && cuttExecute(plan, from, data.out) != CUTT_SUCCESS) wrong = "cuttExecute failed";
    if (!wrong) wrong = caller_verify(data.out, 3, dim.data(), permutation.data(), 2);
    caller_close(&data);
  }
  return wrong;
}
