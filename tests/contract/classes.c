/* All patterns. Which modes are the same is a partition of the l + r positions: as a sequence of numbers, one in which a
 * number is at most one more than the largest before it. */
#include "classes.h"

#include <string.h>

enum { MOST = 16 };

typedef struct walk {
  bool (*visit)(const test_class *class, void *context);
  void *context;
  test_class class;
  char text[3 * MOST];
} walk;

/* The result: all sequences of different labels, with those that are there already. at: the end of the text. */
static bool extend_result(walk *w, int labels, unsigned used, char *at) {
  *at = 0;
  w->class.text = w->text;
  if (!w->visit(&w->class, w->context)) return false;
  ++w->class.number;
  for (int label = 0; label < labels; ++label) {
    if (used >> label & 1) continue;
    *at = (char)('a' + label);
    ++w->class.result;
    if (!extend_result(w, labels, used | 1u << label, at + 1)) return false;
    --w->class.result;
  }
  return true;
}

static bool extend_operands(walk *w, int position, int labels) {
  if (position == w->class.left + w->class.right) {
    char *arrow = w->text + position + 1; /* after the comma */
    memcpy(arrow, "->", 2);
    w->class.result = 0;
    return extend_result(w, labels, 0, arrow + 2);
  }
  for (int label = 0; label <= labels; ++label) {
    w->text[position + (position >= w->class.left)] = (char)('a' + label);
    if (!extend_operands(w, position + 1, labels + (label == labels))) return false;
  }
  return true;
}

long test_classes(int max_rank, bool (*visit)(const test_class *class, void *context), void *context) {
  walk w;
  memset(&w, 0, sizeof w);
  w.visit = visit;
  w.context = context;
  for (w.class.left = 0; w.class.left <= max_rank; ++w.class.left) {
    for (w.class.right = 0; w.class.right <= max_rank; ++w.class.right) {
      memset(w.text, 0, sizeof w.text);
      w.text[w.class.left] = ',';
      if (!extend_operands(&w, 0, 0)) return w.class.number;
    }
  }
  return w.class.number;
}
