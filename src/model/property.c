/* The properties of a device, by their place in its struct (target.h). */
#include <string.h>

#include "model/target.h"

void *cutt_property_field(const cutt_property *property, cutt_target *target) {
  return (char *)target + property->offset;
}

size_t cutt_property_bytes(const cutt_property *property) {
  return property->kind == CUTT_PROPERTY_INT     ? sizeof(int)
         : property->kind == CUTT_PROPERTY_INT64 ? sizeof(int64_t)
                                                 : sizeof(double);
}

double cutt_property_value(const cutt_property *property, const cutt_target *target) {
  const void *at = (const char *)target + property->offset;
  int whole = 0;
  int64_t wide = 0;
  double real = 0;
  memcpy(property->kind == CUTT_PROPERTY_INT     ? (void *)&whole
         : property->kind == CUTT_PROPERTY_INT64 ? (void *)&wide
                                                 : (void *)&real,
         at, cutt_property_bytes(property));
  return property->kind == CUTT_PROPERTY_INT ? whole : property->kind == CUTT_PROPERTY_INT64 ? (double)wide : real;
}
