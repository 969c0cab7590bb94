// The C++ consumer: the C interface, and the owners of cutt.hpp.
#include "consumer.h"

#include <cutt.hpp>

static int refused() {
  try {
    cutt::plan plan((cuttProblem_t()));
  } catch (const cutt::error &error) {
    return error.result() == CUTT_INVALID_PARAMETER ? 0 : 1;
  }
  return 1;
}

int main() { return refused() || consume(); }
