/* The services of libcutt that libcutt_contract and libcutt_dist use, and nobody else: a table of functions.
 *
 * As archives the two are linked by name. As shared libraries they can't be, since libcutt.so hides all but its interface;
 * there plan/services_forward.c, in each of the others, defines functions of the same names that call through the table. So
 * the text of the last error, the log and the backends exist once in a process. The table is no public interface: libraries
 * of different versions refuse each other. */
#ifndef CUTT_PLAN_SERVICES_H
#define CUTT_PLAN_SERVICES_H

#include "base/clock.h"
#include "base/error.h"
#include "plan/arguments.h"
#include "plan/backend.h"
#include "plan/combine.h"
#include "plan/far.h"
#include "plan/problem.h"
#include "plan/race.h"
#include "runtime/host/scratch.h"
#include "runtime/host/team.h"
#include "store/wisdom.h"

/* X(type, name, parameters, arguments). */
#define CUTT_SERVICE_FUNCTIONS(X)                                                                                      \
  X(cuttResult, cutt_struct_read,                                                                                      \
    (void *own, size_t own_size, size_t first_size, const void *callers, const char *name),                            \
    (own, own_size, first_size, callers, name))                                                                        \
  X(cuttResult, cutt_info_check, (const void *info, size_t first_size, size_t own_size, const char *type),             \
    (info, first_size, own_size, type))                                                                                \
  X(cuttResult, cutt_overlap_check, (int rank, const int64_t *extent, const int64_t *stride, const char *name),        \
    (rank, extent, stride, name))                                                                                      \
  X(cuttResult, cutt_backend_select, (cuttBackend_t id, const char *argument, const cutt_backend **backend),           \
    (id, argument, backend))                                                                                           \
  X(const cutt_backend *, cutt_backend_of, (cuttBackend_t id), (id))                                                   \
  X(cuttResult, cutt_stream_check, (const cutt_backend *backend, cudaStream_t stream, const char *name),               \
    (backend, stream, name))                                                                                           \
  X(cuttResult, cutt_memory_look, (const cutt_backend *backend, const void *memory, const char *name),                 \
    (backend, memory, name))                                                                                           \
  X(cuttResult, cutt_description_check, (cuttFormat_t format, const char *buffer, size_t size),                        \
    (format, buffer, size))                                                                                            \
  X(cuttResult, cutt_plan_create_far,                                                                                  \
    (cuttPlan_t * plan, const cuttProblem_t *problem, const cuttOptions_t *options, bool far, int64_t whole_bytes,     \
     cutt_far_seconds *seconds),                                                                                       \
    (plan, problem, options, far, whole_bytes, seconds))                                                               \
  X(cuttResult, cutt_plan_combine,                                                                                     \
    (cuttPlan_t plan, const void *in, const void *second, int op, void *out, cudaStream_t stream),                     \
    (plan, in, second, op, out, stream))                                                                               \
  X(double, cutt_property_value, (const cutt_property *property, const cutt_target *target), (property, target))       \
  X(int, cutt_team_default, (void), ())                                                                                \
  X(void *, cutt_scratch_take, (void), ())                                                                             \
  X(int, cutt_race_run, (const cutt_race *race, cutt_racer *list, int count, int *raced, cuttResult *result),          \
    (race, list, count, raced, result))                                                                                \
  X(bool, cutt_wisdom_alive, (const struct cuttWisdom *wisdom), (wisdom))                                              \
  X(bool, cutt_wisdom_words_key,                                                                                       \
    (const cutt_backend *backend, const char *kind, const char *problem, char *key, size_t size),                      \
    (backend, kind, problem, key, size))                                                                               \
  X(bool, cutt_wisdom_find_words, (cuttWisdom_t wisdom, const char *key, char *words, size_t size, double *seconds),   \
    (wisdom, key, words, size, seconds))                                                                               \
  X(cuttResult, cutt_wisdom_add_words, (cuttWisdom_t wisdom, const char *key, const char *words, double seconds),      \
    (wisdom, key, words, seconds))                                                                                     \
  X(double, cutt_clock, (void), ())

#define CUTT_SERVICES_MEMBER(type, name, parameters, arguments) type(*name) parameters;
typedef struct cutt_services {
  CUTT_SERVICE_FUNCTIONS(CUTT_SERVICES_MEMBER)
  void (*cutt_info_write)(void *info, const void *own, size_t own_size);
  void (*cutt_team_run)(int threads, cutt_team_work *work, void *what);
  void (*cutt_scratch_give)(void *block);
  /* Those with arguments of any number, given a list of them, or their text. */
  cuttResult (*error)(cuttResult code, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
  void (*log)(cutt_log_level level, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
} cutt_services;
#undef CUTT_SERVICES_MEMBER

/* Exported, and not declared in cutt.h. Its name has the version, so that another one's can't be taken for it. */
#define CUTT_SERVICES_NAME_2(a, b, c) cuttServices_##a##_##b##_##c
#define CUTT_SERVICES_NAME_1(a, b, c) CUTT_SERVICES_NAME_2(a, b, c)
#define CUTT_SERVICES CUTT_SERVICES_NAME_1(CUTT_VERSION_MAJOR, CUTT_VERSION_MINOR, CUTT_VERSION_PATCH)
CUTT_API extern const cutt_services CUTT_SERVICES;

#endif
