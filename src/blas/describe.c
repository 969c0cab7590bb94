/* The libraries that multiply matrices on this machine, as text and as JSON. */
#include <string.h>

#include "base/error.h"
#include "blas/find.h"
#include "plan/services.h"

/* Floating-point operations per second in both types; 0: not measured. */
typedef struct speed {
  double f64, f32;
} speed;

/* The CPU's were measured when they were found; a GPU is measured now, the first time. */
static speed speed_of(const cutt_blas *blas) {
  speed is = {blas->flops, blas->flops_f32};
  if (blas->backend == CUTT_BACKEND_CUDA && !cutt_cublas_measure(blas, &is.f64, &is.f32)) is = (speed){0, 0};
  return is;
}

static const char *backend_name(cuttBackend_t backend) { return backend == CUTT_BACKEND_CUDA ? "cuda" : "cpu"; }

static void add_text(const cutt_blas *blas, bool is_default, cutt_text *text) {
  const bool gpu = blas->backend == CUTT_BACKEND_CUDA;
  const speed is = speed_of(blas);
  cutt_text_add(text, "\n%s: multiplies matrices on %s%s\n", blas->name, gpu ? "the GPU" : "the CPU",
                is_default ? ", the default" : "");
  cutt_text_add(text, "  library          %s\n", blas->path);
  if (*blas->version) cutt_text_add(text, "  version          %s\n", blas->version);
  if (*blas->kernels) cutt_text_add(text, "  kernels          for %s\n", blas->kernels);
  if (is.f64 > 0 || is.f32 > 0) {
    cutt_text_add(text, "  speed            %.1f GFLOP/s in f64, %.1f in f32, %s\n", is.f64 * 1e-9, is.f32 * 1e-9,
                  gpu ? "measured just now" : "on one core, measured just now");
  } else {
    cutt_text_add(text, "  speed            could not be measured\n");
  }
  if (*blas->environment_override) {
    cutt_text_add(text, "  faster with      %s in the environment: the processor has better kernels than it picked\n",
                  blas->environment_override);
  }
  if (blas->one_at_a_time) {
    cutt_text_add(text, "  threads          take turns: it does not say that it may be called from several at once\n");
  }
}

static void add_string(cutt_text *text, const char *key, const char *value) {
  cutt_text_add(text, ",\"%s\":", key);
  cutt_text_add_json(text, value);
}

static void add_json(const cutt_blas *blas, bool is_default, cutt_text *text) {
  const speed is = speed_of(blas);
  cutt_text_add(text, "{\"name\":");
  cutt_text_add_json(text, blas->name);
  add_string(text, "backend", backend_name(blas->backend));
  cutt_text_add(text, ",\"default\":%s", is_default ? "true" : "false");
  add_string(text, "path", blas->path);
  add_string(text, "version", blas->version);
  add_string(text, "kernels", blas->kernels);
  add_string(text, "environment_override", blas->environment_override);
  cutt_text_add(text, ",\"one_at_a_time\":%s,\"gflops_f64\":%.6g,\"gflops_f32\":%.6g}",
                blas->one_at_a_time ? "true" : "false", is.f64 * 1e-9, is.f32 * 1e-9);
}

static const cuttBackend_t backends[] = {CUTT_BACKEND_CPU, CUTT_BACKEND_CUDA};
enum { BACKENDS = sizeof backends / sizeof *backends };

static void describe_json(cutt_text *text) {
  const char *missing = NULL;
  bool first = true;
  cutt_text_add(text, "{\"providers\":[");
  for (int b = 0; b < BACKENDS; ++b) {
    const cutt_blas *const *list = cutt_blas_libraries(backends[b], &missing);
    for (int i = 0; list[i]; ++i) {
      if (!first) cutt_text_add(text, ",");
      add_json(list[i], i == 0, text);
      first = false;
    }
  }
  cutt_text_add(text, "],\"providers_missing\":{");
  for (int b = 0; b < BACKENDS; ++b) {
    cutt_blas_libraries(backends[b], &missing);
    cutt_text_add(text, "%s\"%s\":", b ? "," : "", backend_name(backends[b]));
    cutt_text_add_json(text, missing);
  }
  cutt_text_add(text, "}}\n");
}

static void describe_text(cutt_text *text) {
  for (int b = 0; b < BACKENDS; ++b) {
    const bool gpu = backends[b] == CUTT_BACKEND_CUDA;
    const char *missing = NULL;
    const cutt_blas *const *list = cutt_blas_libraries(backends[b], &missing);
    for (int i = 0; list[i]; ++i) add_text(list[i], i == 0, text);
    if (!list[0]) {
      cutt_text_add(text, "\nno library multiplies matrices on the %s, and nothing can be contracted there: %s%s\n",
                    gpu ? "GPU" : "CPU", gpu ? "" : "looked for ", missing);
    } else if (*missing) {
      cutt_text_add(text, "\nlooked for in vain, to multiply matrices: %s\n", missing);
    }
  }
}

cuttResult cuttProvidersDescribe(cuttFormat_t format, char *buffer, size_t size, size_t *needed) {
  const cuttResult result = cutt_description_check(format, buffer, size);
  if (result) return result;
  cutt_text text = cutt_text_start(buffer, size);
  if (format == CUTT_JSON) {
    describe_json(&text);
  } else {
    describe_text(&text);
  }
  if (needed) *needed = text.length + 1;
  return CUTT_SUCCESS;
}
