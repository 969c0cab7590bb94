/* The CPU backend's table, the only name of src/cpu that the rest of the library sees. */
#ifndef CUTT_CPU_CPU_H
#define CUTT_CPU_CPU_H

#include "plan/backend.h"

#endif
