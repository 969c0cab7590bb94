// The C++ consumer.
#include "consumer.h"

int main() { return consume(); }
