/* What planning knows of a device: its properties, and what things cost there.
 *
 * The time of a candidate is made of terms, each the count of one kind of event times what one of them costs: a value of
 * the model's parameters, with a physical unit. The terms are in three groups. Those of the first, what memory does, and
 * those of the second, what processors do, go on at the same time, and what is smaller hides behind what is larger, but
 * for what collides; those of the third come on top:
 *
 *   seconds = (memory^4 + work^4)^(1/4) + rest,   each a sum of part[i] * value[first + i]
 *
 * part[i] is the count, times the seconds that one unit of the parameter is on the device (1 for "s"; one over the
 * bandwidth for "B"; one over the clock of all SMs for "cycles"). A model whose terms are all of the third group is a plain
 * sum. Since the whole is homogeneous in the values, it is the sum over all terms of value times derivative (Euler): so it
 * says by itself which term dominates, and the values can be fitted to measured times by least squares, linear step by
 * linear step (model/fit.h), on any device (`cutt calibrate`). */
#ifndef CUTT_MODEL_TARGET_H
#define CUTT_MODEL_TARGET_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CUTT_TERMS = 48, CUTT_PARAMETERS = 120 };

/* What a value of the model means. */
typedef struct cutt_parameter {
  const char *name; /* "memory.lines": a word of a description file */
  const char *unit;
  const char *what; /* for a person */
} cutt_parameter;

/* A candidate's time, taken apart. */
typedef struct cutt_breakdown {
  int first, count; /* the parameters that it is made of; count <= CUTT_TERMS */
  int memory, work; /* so many terms are of the first group, and the next ones of the second */
  double part[CUTT_TERMS];
} cutt_breakdown;

/* A device as planning knows it: the beginning of a backend's own struct. Immutable. */
struct cutt_runtime;
typedef struct cutt_target {
  char name[96];
  const struct cutt_runtime *runtime; /* by which methods reach the device; NULL: by none, or it is only described */
  const double *value;                /* of the model's parameters; NULL: the backend's own */
  const char *source;                 /* the file that the values come from; NULL: the backend's own */
  const char *unused;                 /* why there is a file for it that they do not come from; NULL: there is none */
  bool refused; /* because of that: the user has asked for that file, so nothing is planned without */
} cutt_target;

/* The values that hold for the target: its own, or those built in. */
static inline const double *cutt_target_values(const cutt_target *target, const double *built_in) {
  return target->value ? target->value : built_in;
}

/* A number in a backend's description of a device. */
typedef enum cutt_property_kind { CUTT_PROPERTY_INT, CUTT_PROPERTY_INT64, CUTT_PROPERTY_REAL } cutt_property_kind;
typedef struct cutt_property {
  const char *name, *unit, *what;
  cutt_property_kind kind;
  size_t offset;      /* in the backend's struct */
  double least, most; /* that are allowed */
} cutt_property;

/* The field of a target that a property is in, how long it is, and its value as a number. */
void *cutt_property_field(const cutt_property *property, cutt_target *target);
size_t cutt_property_bytes(const cutt_property *property);
double cutt_property_value(const cutt_property *property, const cutt_target *target);

/* All that a description file holds of a backend's devices. */
typedef struct cutt_schema {
  const char *backend; /* its name */
  size_t bytes;        /* of its struct, which begins with a cutt_target */
  const cutt_property *properties;
  int property_count;
  const cutt_parameter *parameters;
  const double *value;                                  /* built in: of the parameters */
  const double *(*value_of)(const cutt_target *target); /* built in for a device at hand; NULL: the same for all */
  int parameter_count;                                  /* <= CUTT_PARAMETERS */
} cutt_schema;

/* which model predicts the times of candidates. */
typedef enum cutt_model { CUTT_MODEL_IS_OWN, CUTT_MODEL_IS_PAPER } cutt_model;

/* Seconds of memory's and of processors' terms together: (memory^4 + work^4)^(1/4). */
static inline double cutt_breakdown_overlap(double memory, double work) {
  const double m = memory * memory, w = work * work;
  return sqrt(sqrt(m * m + w * w));
}

/* The whole time, in seconds. */
double cutt_breakdown_seconds(const cutt_breakdown *breakdown, const double *value);

/* The same, as the sum of slope[i] * value[first + i], slope being the derivatives; returns the whole. */
double cutt_breakdown_slopes(const cutt_breakdown *breakdown, const double *value, double slope[CUTT_TERMS]);

#endif
