/* The indices of transposes of few rows: of each line of a block's output, and each pair of registers, which elements it takes from
 * where. */
#include "cpu/few.h"

#include <string.h>

enum { LOAD = 16, ROWS = 4 }; /* bytes of a row that a register has, and rows of it */
enum { MOST_BYTES = 48 };     /* of a column: those that fill most of a register are stored by themselves as quickly */

int cutt_cpu_few_registers(int64_t rows, int64_t w) {
  if (rows > CUTT_CPU_FEW_ROWS || rows * w > MOST_BYTES) return 0;
  return (int)((rows + ROWS - 1) / ROWS);
}

static size_t pairs_of(int registers) { return ((size_t)registers + 1) / 2; }

size_t cutt_cpu_few_bytes(int64_t rows, int64_t w) {
  const int registers = cutt_cpu_few_registers(rows, w);
  return (size_t)registers * pairs_of(registers) * (CUTT_CPU_LINE + sizeof(uint64_t));
}

void cutt_cpu_few_find(int64_t rows, int64_t w, void *memory, cutt_cpu_few *few) {
  const int64_t columns = LOAD / w, line = CUTT_CPU_LINE / w;
  const int registers = cutt_cpu_few_registers(rows, w);
  const int64_t pairs = (int64_t)pairs_of(registers);
  uint64_t *mask = memory;
  char *index = (char *)(mask + registers * pairs);
  memset(memory, 0, cutt_cpu_few_bytes(rows, w));
  for (int64_t i = 0; i < rows * columns; ++i) { /* of a block, in the output's order */
    const int64_t row = i % rows, column = i / rows, from = row / ROWS;
    const int64_t at = i / line * pairs + from / 2, element = i % line;
    const int64_t which = from % 2 * line + row % ROWS * columns + column;
    /* Its low bytes, which processors with AVX-512 have first. */
    memcpy(index + at * CUTT_CPU_LINE + element * w, &which, (size_t)w);
    mask[at] |= UINT64_C(1) << element;
  }
  *few = (cutt_cpu_few){.rows = rows, .registers = registers, .mask = mask, .index = index};
}
