/* The C consumer: C99 is enough. */
#include "consumer.h"

int main(void) { return consume(); }
