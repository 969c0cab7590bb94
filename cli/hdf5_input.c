/* Data sets of HDF5 files; see hdf5_input.h. */
#include "hdf5_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "descriptor.h"

#ifdef CUTT_HDF5

#include <hdf5.h>

static bool refuse(char *why, const char *what, const char *text) {
  snprintf(why, CUTT_HDF5_WHY, "%s%s", what, text);
  return false;
}

/* ------------------------------------------------------------------------------------------------------------- types */

static char order_of(hid_t type) {
  if (H5Tget_size(type) == 1) return '|';
  return H5Tget_order(type) == H5T_ORDER_BE ? '>' : '<';
}

/* Of 2, 4 or 8 bytes as IEEE 754 has them. */
static bool is_ieee(hid_t type) {
  static const size_t exponent[9] = {0, 0, 5, 0, 8, 0, 0, 0, 11};
  size_t sign, at, bits, mantissa_at, mantissa;
  const size_t size = H5Tget_size(type);
  if (H5Tget_class(type) != H5T_FLOAT || size > 8 || exponent[size] == 0 ||
      H5Tget_fields(type, &sign, &at, &bits, &mantissa_at, &mantissa) < 0)
    return false;
  return bits == exponent[size] && sign == 8 * size - 1 && mantissa_at == 0 && at == mantissa &&
         mantissa + bits + 1 == 8 * size;
}

/* Two numbers, as h5py writes complex ones. */
static bool is_complex(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return false;
  const hid_t real = H5Tget_member_type(type, 0), imaginary = H5Tget_member_type(type, 1);
  char *names[2] = {H5Tget_member_name(type, 0), H5Tget_member_name(type, 1)};
  const bool same = is_ieee(real) && H5Tequal(real, imaginary) > 0 && names[0] && !strcmp(names[0], "r") && names[1] &&
                    !strcmp(names[1], "i") && H5Tget_member_offset(type, 1) == H5Tget_size(real) &&
                    H5Tget_size(type) == 2 * H5Tget_size(real);
  for (int i = 0; i < 2; ++i) H5free_memory(names[i]);
  H5Tclose(real);
  H5Tclose(imaginary);
  return same;
}

/* NumPy's name of a type; false: it has none. */
static bool name_type(hid_t type, char *name) {
  const H5T_class_t kind = H5Tget_class(type);
  const size_t size = H5Tget_size(type);
  char letter = 0;
  hid_t ordered = type;
  if (kind == H5T_INTEGER && H5Tget_precision(type) == 8 * size)
    letter = H5Tget_sign(type) == H5T_SGN_NONE ? 'u' : 'i';
  else if (is_ieee(type))
    letter = 'f';
  else if (is_complex(type))
    letter = 'c', ordered = H5Tget_member_type(type, 0);
  else if (kind == H5T_ENUM && size == 1 && H5Tget_nmembers(type) == 2)
    letter = 'b'; /* as h5py writes truth */
  else if (kind == H5T_STRING && H5Tis_variable_str(type) == 0)
    letter = 'S';
  if (!letter) return false;
  snprintf(name, CUTT_NPY_DESCR, "%c%c%zu", letter == 'S' ? '|' : order_of(ordered), letter, size);
  if (ordered != type) H5Tclose(ordered);
  return true;
}

/* -------------------------------------------------------------------------------------------------------------- sets */

/* Rank, shape and type, checked as those of an .npy file are. */
static bool describe(cutt_hdf5 *set, char *why) {
  const hid_t space = H5Dget_space(set->set);
  const int rank = H5Sget_simple_extent_ndims(space);
  hsize_t extents[H5S_MAX_RANK] = {0};
  const bool simple = rank >= 0 && rank <= CUTT_NPY_MAX_RANK && H5Sget_simple_extent_type(space) != H5S_NULL &&
                      H5Sget_simple_extent_dims(space, extents, NULL) >= 0;
  H5Sclose(space);
  if (!simple) return refuse(why, "the data set has no ", "shape that can be read");
  if (!name_type(set->type, set->npy.descr))
    return refuse(why, "the data set is of a type that ", "is no number, truth value or string of a fixed length");
  set->npy.rank = rank;
  int64_t volume = 1;
  for (int i = 0; i < rank; ++i) {
    set->npy.shape[i] = (int64_t)extents[i];
    if (extents[i] > INT64_MAX || __builtin_mul_overflow(volume, (int64_t)(extents[i] ? extents[i] : 1), &volume) ||
        volume > INT64_MAX / 64)
      return refuse(why, "the data set has more ", "elements than can be counted");
  }
  set->npy.elem_bytes = (int)H5Tget_size(set->type);
  const size_t bytes = cutt_npy_write_header(&set->npy, set->header);
  return cutt_npy_parse(set->header, bytes, &set->npy, why);
}

/* Where all elements lie in one stretch, as they are. */
static int64_t find_offset(const cutt_hdf5 *set) {
  const hid_t list = H5Dget_create_plist(set->set);
  const bool plain =
      H5Pget_layout(list) == H5D_CONTIGUOUS && H5Pget_nfilters(list) == 0 && H5Pget_external_count(list) == 0;
  H5Pclose(list);
  const haddr_t offset = plain ? H5Dget_offset(set->set) : HADDR_UNDEF;
  return offset == HADDR_UNDEF ? -1 : (int64_t)offset;
}

bool cutt_hdf5_open(cutt_hdf5 *set, const char *path, const char *name, char *why) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  memset(set, 0, sizeof *set);
  set->set = set->type = -1;
  set->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  bool good = set->file >= 0 || refuse(why, "can't be opened as an HDF5 file", "");
  if (good) set->set = H5Dopen2(set->file, *name ? name : "/", H5P_DEFAULT);
  good = good && (set->set >= 0 || refuse(why, "the file has no data set ", name));
  if (good) set->type = H5Dget_type(set->set);
  good = good && describe(set, why);
  if (good)
    set->offset = find_offset(set);
  else
    cutt_hdf5_close(set);
  return good;
}

void cutt_hdf5_close(cutt_hdf5 *set) {
  if (set->type >= 0) H5Tclose(set->type);
  if (set->set >= 0) H5Dclose(set->set);
  if (set->file >= 0) H5Fclose(set->file);
  set->type = set->set = set->file = -1;
}

/* ----------------------------------------------------------------------------------------------------------- copying */

/* Ranges of axis `axis`, with all of the later axes, for each index of the earlier ones: the elements of each follow each
 * other in the .npy file. */
static bool copy_slabs(const cutt_hdf5 *set, int axis, int64_t most, uint8_t *buffer, int descriptor, char *why) {
  const cutt_npy *npy = &set->npy;
  hsize_t start[H5S_MAX_RANK] = {0}, count[H5S_MAX_RANK];
  for (int i = 0; i < npy->rank; ++i) count[i] = i < axis ? 1 : (hsize_t)npy->shape[i];
  const hid_t space = H5Dget_space(set->set);
  bool good = true;
  for (int64_t done = 0; good && done < npy->data_bytes;) {
    int64_t bytes = npy->elem_bytes;
    if (npy->rank > 0) {
      const hsize_t left = (hsize_t)npy->shape[axis] - start[axis];
      count[axis] = left < (hsize_t)most ? left : (hsize_t)most;
      good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0;
    }
    for (int i = axis; i < npy->rank; ++i) bytes *= (int64_t)count[i];
    const hid_t memory = H5Screate_simple(npy->rank, count, NULL);
    good = good && H5Dread(set->set, set->type, memory, space, H5P_DEFAULT, buffer) >= 0;
    H5Sclose(memory);
    if (!good)
      refuse(why, "could not be read: ", "HDF5's library refused; the file may be damaged, or a filter missing");
    if (good && !cutt_descriptor_write(descriptor, buffer, (size_t)bytes, (off_t)(npy->data_start + done)))
      good = refuse(why, "could not be kept for a while: ", strerror(errno));
    done += bytes;
    if (npy->rank == 0) break;
    start[axis] += count[axis];
    for (int i = axis; i > 0 && start[i] == (hsize_t)npy->shape[i]; --i) {
      start[i] = 0;
      ++start[i - 1];
    }
  }
  H5Sclose(space);
  return good;
}

bool cutt_hdf5_copy(const cutt_hdf5 *set, int descriptor, char *why) {
  const cutt_npy *npy = &set->npy;
  const int64_t room = (int64_t)16 << 20;
  int axis = npy->rank;
  int64_t row = npy->elem_bytes; /* bytes of one index of `axis` */
  if (!cutt_descriptor_write(descriptor, set->header, (size_t)npy->data_start, 0))
    return refuse(why, "could not be kept for a while: ", strerror(errno));
  if (npy->data_bytes == 0) return true;
  while (axis > 1 && row <= room / npy->shape[axis - 1]) row *= npy->shape[--axis];
  if (axis > 0) --axis;
  uint8_t *buffer = malloc((size_t)(row > room ? row : room));
  if (!buffer) return refuse(why, "there is no memory to read it ", "with");
  const bool good = copy_slabs(set, axis, room / row, buffer, descriptor, why);
  free(buffer);
  return good;
}

#else

bool cutt_hdf5_open(cutt_hdf5 *set, const char *path, const char *name, char *why) {
  (void)path;
  (void)name;
  memset(set, 0, sizeof *set);
  snprintf(why, CUTT_HDF5_WHY, "is in an HDF5 file, and the program was built without HDF5's library");
  return false;
}

bool cutt_hdf5_copy(const cutt_hdf5 *set, int descriptor, char *why) {
  (void)set;
  (void)descriptor;
  (void)why;
  return false;
}

void cutt_hdf5_close(cutt_hdf5 *set) { (void)set; }

#endif
