/* The naive kernels (naive.cu) as the build has compiled them, put into the program by the assembler. */
#include <stddef.h>

extern const unsigned char *const fuzz_image;

#ifdef FUZZ_IMAGE
__asm__(
    ".pushsection .rodata\n"
    ".balign 64\n"
    "fuzz_image_bytes:\n"
    ".incbin \"" FUZZ_IMAGE
    "\"\n"
    ".byte 0\n"
    ".popsection\n");
extern const unsigned char fuzz_image_bytes[];
const unsigned char *const fuzz_image = fuzz_image_bytes;
#else
const unsigned char *const fuzz_image = NULL;
#endif
