/* cutt.hpp: owners for the objects of cutt.h and cutt_contract.h in C++11 and later: a plan is destroyed with its variable,
 * and a failure is an exception with the library's text. Everything else is the C interface: problems and options are its
 * structures, and all of its calls take what get() gives.
 *
 *     cutt::plan plan(problem);        // or plan(problem, options); throws cutt::error
 *     plan.execute(in, out);           // any number of times, from any number of threads
 *
 * Owners are moved and not copied. Contractions need libcutt_contract to be linked; the rest does not. */
#ifndef CUTT_HPP
#define CUTT_HPP

#include <stdexcept>
#include <string>

#include "cutt.h"
#include "cutt_contract.h"

namespace cutt {

/* What went wrong: what() is the text of cuttLastError(). */
class error : public std::runtime_error {
 public:
  explicit error(cuttResult_t result) : std::runtime_error(cuttLastError()), result_(result) {}
  cuttResult_t result() const noexcept { return result_; }

 private:
  cuttResult_t result_;
};

/* For any call of the C interface: throws unless it succeeded. */
inline void check(cuttResult_t result) {
  if (result != CUTT_SUCCESS) throw error(result);
}

/* The sole owner of a handle of the C interface, or of none. */
template <typename Handle, cuttResult_t (*Destroy)(Handle)>
class owner {
 public:
  owner() noexcept : handle_(nullptr) {}
  explicit owner(Handle handle) noexcept : handle_(handle) {}
  owner(owner &&other) noexcept : handle_(other.release()) {}
  owner &operator=(owner &&other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  owner(const owner &) = delete;
  owner &operator=(const owner &) = delete;
  ~owner() { reset(); }

  Handle get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  Handle release() noexcept {
    const Handle handle = handle_;
    handle_ = nullptr;
    return handle;
  }
  void reset(Handle handle = nullptr) noexcept {
    if (handle_) Destroy(handle_);
    handle_ = handle;
  }

 private:
  Handle handle_;
};

/* A text of the library, whole: describe(function, arguments...), such as describe(cuttDevicesDescribe, CUTT_JSON). */
template <typename Function, typename... Arguments>
std::string describe(Function function, Arguments... arguments) {
  size_t needed = 0;
  check(function(arguments..., nullptr, 0, &needed));
  std::string text(needed, '\0');
  check(function(arguments..., &text[0], text.size(), &needed));
  text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
  return text;
}

class wisdom : public owner<cuttWisdom_t, cuttWisdomDestroy> {
 public:
  wisdom() {
    cuttWisdom_t handle = nullptr;
    check(cuttWisdomCreate(&handle));
    reset(handle);
  }
  void load(const std::string &path) { check(cuttWisdomLoad(get(), path.c_str(), nullptr, nullptr)); }
  void save(const std::string &path) const { check(cuttWisdomSave(get(), path.c_str())); }
};

class plan : public owner<cuttPlan_t, cuttPlanDestroy> {
 public:
  plan() noexcept {}
  explicit plan(const cuttProblem_t &problem) { create(problem, nullptr); }
  plan(const cuttProblem_t &problem, const cuttOptions_t &options) { create(problem, &options); }

  void execute(const void *in, void *out, cudaStream_t stream = nullptr) const {
    check(cuttPlanExecute(get(), in, out, stream));
  }
  /* count pairs of tensors by one call: in[i] to out[i]. */
  void execute_batch(int64_t count, const void *const *in, void *const *out, cudaStream_t stream = nullptr) const {
    check(cuttPlanExecuteBatch(get(), count, in, out, stream));
  }
  cuttPlanInfo_t info() const {
    cuttPlanInfo_t info = cuttPlanInfo_t();
    info.struct_size = sizeof info;
    check(cuttPlanGetInfo(get(), &info));
    return info;
  }
  std::string describe(cuttFormat_t format = CUTT_TEXT) const {
    return cutt::describe(cuttPlanDescribe, get(), format);
  }

 private:
  void create(const cuttProblem_t &problem, const cuttOptions_t *options) {
    cuttPlan_t handle = nullptr;
    check(cuttPlanCreate(&handle, &problem, options));
    reset(handle);
  }
};

class contraction_plan : public owner<cuttContractionPlan_t, cuttContractionPlanDestroy> {
 public:
  contraction_plan() noexcept {}
  explicit contraction_plan(const cuttContraction_t &contraction) { create(contraction, nullptr); }
  contraction_plan(const cuttContraction_t &contraction, const cuttContractionOptions_t &options) {
    create(contraction, &options);
  }

  /* Without a workspace the library takes and frees what it needs. */
  void execute(const void *left, const void *right, void *result, void *workspace = nullptr, size_t bytes = 0,
               cudaStream_t stream = nullptr) const {
    check(cuttContractionExecute(get(), left, right, result, workspace, bytes, stream));
  }
  size_t workspace() const {
    size_t bytes = 0;
    check(cuttContractionWorkspace(get(), &bytes));
    return bytes;
  }
  std::string describe(cuttFormat_t format = CUTT_TEXT) const {
    return cutt::describe(cuttContractionDescribe, get(), format);
  }

 private:
  void create(const cuttContraction_t &contraction, const cuttContractionOptions_t *options) {
    cuttContractionPlan_t handle = nullptr;
    check(cuttContractionPlanCreate(&handle, &contraction, options));
    reset(handle);
  }
};

} /* namespace cutt */

#endif
