/* The instruction sets that this build has code for, and which of them this machine runs. */
#ifndef CUTT_RUNTIME_HOST_ISA_H
#define CUTT_RUNTIME_HOST_ISA_H

#include <stdbool.h>

typedef struct cutt_isa {
  const char *name;
  int vector_bytes;    /* of the widest registers */
  unsigned required;   /* features of the processor that it takes, as bits */
  const char *lacking; /* for people: that they are not there */
} cutt_isa;

/* Narrowest first; ended by a NULL name. */
extern const cutt_isa cutt_isa_all[];

/* Can this machine run it? On false *why says why not. */
bool cutt_isa_usable(const cutt_isa *isa, const char **why);

/* The one in use: that which the environment variable CUTT_CPU_ISA names, else the widest that the processor has. If it
 * names one that this build or this machine does not have, *note (may be NULL) says so, and no plan should be made; else
 * *note is NULL. Never NULL. */
const cutt_isa *cutt_isa_in_use(const char **note);

#endif
