/* Permutes a 3 x 5 x 4 tensor with the library under test and compares every element with the definition. In the
 * common subset of C99 and C++, so that both consumers are the same program. */
#include <cutt.h>
#include <stdio.h>

static int consume(void) {
  enum { A = 3, B = 5, C = 4 };
  float in[A * B * C], out[A * B * C];
  int dim[3] = {A, B, C}, permutation[3] = {2, 0, 1};
  int a, b, c, i;
  cuttHandle handle;
  for (i = 0; i < A * B * C; i++) {
    in[i] = (float)i;
    out[i] = -1;
  }
  if (cuttPlan(&handle, 3, dim, permutation, sizeof(float), 0) != CUTT_SUCCESS ||
      cuttExecute(handle, in, out) != CUTT_SUCCESS || cuttDestroy(handle) != CUTT_SUCCESS) {
    printf("consumer: %s\n", cuttLastError());
    return 1;
  }
  for (b = 0; b < B; b++) {
    for (a = 0; a < A; a++) {
      for (c = 0; c < C; c++) {
        if (out[c + C * (a + A * b)] != in[a + A * (b + B * c)]) {
          printf("consumer: element (%d, %d, %d) is wrong\n", c, a, b);
          return 1;
        }
      }
    }
  }
  i = cuttVersion();
  printf("consumer: correct, cuTT %d.%d.%d\n", i / 10000, i / 100 % 100, i % 100);
  return 0;
}
