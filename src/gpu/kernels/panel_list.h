/* The kernels that multiply panels, by name: cutt_<name>, for one type each. They take (const unsigned char *left, unsigned char
 * *result, cutt_panel_args args, const unsigned char *right), and panel_args.h says what. */
#ifndef CUTT_GPU_KERNELS_PANEL_LIST_H
#define CUTT_GPU_KERNELS_PANEL_LIST_H

#define CUTT_PANEL_KERNELS(X) X(panel_f32) X(panel_f64)

#endif
