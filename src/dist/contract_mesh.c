/* Meshes of ranks that multiply: which part of each label a rank has, and the layouts that follow for each tensor. */
#include <string.h>

#include "dist/contract.h"

int cutt_axis_parts(const cutt_mesh *mesh, int axis) {
  return mesh->axis[axis] < 0 ? mesh->copies : mesh->part[mesh->axis[axis]].parts;
}

int cutt_mesh_rank(const cutt_mesh *mesh, int position) { return mesh->ranks ? mesh->ranks[position] : position; }

void cutt_mesh_parts(const cutt_spread *s, const cutt_mesh *mesh, int position, int *at) {
  memset(at, 0, (size_t)s->labels * sizeof *at);
  for (int i = 0; i < mesh->axes; ++i) {
    const int parts = cutt_axis_parts(mesh, i);
    if (mesh->axis[i] >= 0) at[mesh->axis[i]] = position % parts;
    position /= parts;
  }
}

/* Do two ways to cut a mode give every part the same indices? */
static bool same_cut(const cutt_part *a, const cutt_part *b) {
  return a->parts == b->parts && (a->parts == 1 || a->block == b->block);
}

bool cutt_mesh_stands(const cutt_spread *s, const cutt_mesh *mesh, int tensor) {
  const cutt_layout *layout = &s->layout[tensor];
  int wanted[CUTT_MOST_LABELS], has[CUTT_MAX_RANK];
  if (tensor == CUTT_RIGHT && s->one) return true;
  for (int i = 0; i < layout->modes; ++i)
    if (!same_cut(&layout->part[i], &mesh->part[s->label[tensor][i]])) return false;
  /* All copies of the result have to be written. */
  if (tensor == CUTT_RESULT && layout->positions * layout->copies != mesh->positions) return false;
  for (int p = 0; p < mesh->positions; ++p) {
    const int place = s->place[tensor][cutt_mesh_rank(mesh, p)];
    if (place < 0) return false;
    cutt_mesh_parts(s, mesh, p, wanted);
    cutt_layout_parts(layout, place % layout->positions, has);
    for (int i = 0; i < layout->modes; ++i)
      if (layout->part[i].parts > 1 && has[i] != wanted[s->label[tensor][i]]) return false;
  }
  return true;
}

static bool is_partial(const cutt_spread *s, int label) { return label >= 0 && !s->times[CUTT_RESULT][label]; }

int cutt_mesh_partial(const cutt_spread *s, const cutt_mesh *mesh) {
  int partial = 1;
  for (int i = 0; i < mesh->axes; ++i)
    if (is_partial(s, mesh->axis[i])) partial *= cutt_axis_parts(mesh, i);
  return partial;
}

void cutt_mesh_list(const cutt_spread *s, const cutt_mesh *mesh, const int *label, int modes, int *ranks, int *copies) {
  /* How far a step along each axis goes in the list: first the modes in their order, then what the tensor has not. */
  int step[CUTT_MOST_AXES], next = 1;
  for (int i = 0; i < mesh->axes; ++i) step[i] = 0;
  for (int m = 0; m < modes; ++m)
    for (int i = 0; i < mesh->axes; ++i) {
      if (label[m] < 0 ? !is_partial(s, mesh->axis[i]) : mesh->axis[i] != label[m]) continue;
      step[i] = next;
      next *= cutt_axis_parts(mesh, i);
    }
  *copies = mesh->positions / next;
  for (int i = 0; i < mesh->axes; ++i) {
    if (step[i]) continue;
    step[i] = next;
    next *= cutt_axis_parts(mesh, i);
  }
  for (int p = 0; p < mesh->positions; ++p) {
    int at = 0;
    for (int i = 0, rest = p; i < mesh->axes; ++i) {
      at += rest % cutt_axis_parts(mesh, i) * step[i];
      rest /= cutt_axis_parts(mesh, i);
    }
    ranks[at] = cutt_mesh_rank(mesh, p);
  }
}

int64_t cutt_mesh_volume(const cutt_spread *s, const cutt_mesh *mesh, int tensor, const int *at) {
  int64_t volume = 1;
  for (int i = 0; i < s->modes[tensor]; ++i) {
    const int label = s->label[tensor][i];
    volume *= cutt_part_count(&mesh->part[label], at[label]);
  }
  return volume;
}
