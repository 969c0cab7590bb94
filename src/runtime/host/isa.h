/* The instruction sets that this build has code for, and which of them this machine runs. */
#ifndef CUTT_RUNTIME_HOST_ISA_H
#define CUTT_RUNTIME_HOST_ISA_H

#include <stdbool.h>

typedef struct cutt_isa {
  const char *name;
  int vector_bytes;    /* of the widest registers */
  bool byte_permutes;  /* permutes take any bytes of a register (of 16 bytes, where the widest have less than 64) */
  unsigned required;   /* features that it needs of the processor, as bits */
  const char *lacking; /* the text for a processor without them */
} cutt_isa;

/* Narrowest first; the last one has a NULL name. */
extern const cutt_isa cutt_isa_all[];

/* Can this machine run it? On false *why says why not. */
bool cutt_isa_usable(const cutt_isa *isa, const char **why);

/* The one in use, never NULL: the one that the environment variable CUTT_CPU_ISA names, else the widest that the
 * processor has. If the variable names none that is usable, *note (note may be NULL) says so, and no plan should be
 * made; else *note is NULL. */
const cutt_isa *cutt_isa_in_use(const char **note);

#endif
