/* Tiled, Packed and PackedSplit: a tile goes from global to shared memory row by row and from there to global memory
 * column by column (section 2.1 and 2.2 of the paper), so that both sides see long runs.
 *
 * One engine serves the three, since a mode is only a digit of its tables (tables.h). Against the original: tiles of a
 * block overlap, being fetched by asynchronous copies `stages` - 1 tiles ahead of the one that is written; a thread keeps
 * its place in the rows, and then its place in the columns, so that little is computed per access; the pitch of rows is
 * the host's choice, so that a warp's reads of a column fall into different banks; elements below four bytes are read and
 * written as words.
 *
 * Rows that are not aligned to words (odd extents of narrow elements, sub-tensors) are read in the words that they touch;
 * so a row lies in shared memory as far behind a word's beginning as it does in global memory: its phase. */
#include "tables.h"

enum { BATCH = 4 }; /* independent accesses of a thread that are under way at once */

/* ------------------------------------------------------------------------------------------------------------ load */

#define DEFINE_LOAD_ROWS(bytes, type)                                                                                  \
  DEVICE void load_rows##bytes(const cutt_kernel_args *args, const unsigned char *in, const tile_now *now,             \
                               uint32_t stage_at, share s) {                                                           \
    const uint32_t accesses = now->row_bytes / bytes, rows = now->rows, step = s.across_step;                          \
    for (uint32_t access = s.along; access < accesses; access += s.along_step) {                                       \
      const unsigned char *const base = in + (now->in + access * bytes);                                               \
      uint32_t row = s.across, to = stage_at + row * args->pitch + access * bytes;                                     \
      uint32_t entry = args->rows_at + row * CUTT_ROW_ENTRY;                                                           \
      for (; row + (BATCH - 1) * step < rows; row += BATCH * step) {                                                   \
        const unsigned char *from[BATCH];                                                                              \
        UNROLL(BATCH)                                                                                                  \
        for (int i = 0; i < BATCH; ++i) {                                                                              \
          const word2 offset = shared_load8(entry);                                                                    \
          from[i] = base + join_words(offset.x, offset.y);                                                             \
          entry += step * CUTT_ROW_ENTRY;                                                                              \
        }                                                                                                              \
        if (has_async()) {                                                                                             \
          UNROLL(BATCH)                                                                                                \
          for (int i = 0; i < BATCH; ++i) {                                                                            \
            async_copy##bytes(to, from[i], args->near);                                                                \
            to += step * args->pitch;                                                                                  \
          }                                                                                                            \
        } else {                                                                                                       \
          type value[BATCH];                                                                                           \
          UNROLL(BATCH)                                                                                                \
          for (int i = 0; i < BATCH; ++i) value[i] = global_load##bytes(from[i]);                                      \
          UNROLL(BATCH)                                                                                                \
          for (int i = 0; i < BATCH; ++i) {                                                                            \
            shared_store##bytes(to, value[i]);                                                                         \
            to += step * args->pitch;                                                                                  \
          }                                                                                                            \
        }                                                                                                              \
      }                                                                                                                \
      for (; row < rows; row += step) {                                                                                \
        const word2 offset = shared_load8(entry);                                                                      \
        const unsigned char *const from = base + join_words(offset.x, offset.y);                                       \
        if (has_async()) {                                                                                             \
          async_copy##bytes(to, from, args->near);                                                                     \
        } else {                                                                                                       \
          shared_store##bytes(to, global_load##bytes(from));                                                           \
        }                                                                                                              \
        entry += step * CUTT_ROW_ENTRY;                                                                                \
        to += step * args->pitch;                                                                                      \
      }                                                                                                                \
    }                                                                                                                  \
  }
DEFINE_LOAD_ROWS(4, uint32_t)
DEFINE_LOAD_ROWS(8, word2)
DEFINE_LOAD_ROWS(16, word4)

/* Rows that begin at any byte, word by word. A word that reaches past the input's bytes is read byte by byte. */
DEVICE void load_rows_unaligned(const cutt_kernel_args *args, const unsigned char *in, const tile_now *now,
                                uint32_t stage_at, share s) {
  const unsigned char *const low = in + args->in_low, *const high = in + args->in_high;
  const uint32_t words = (now->row_bytes + 6) / 4;
  for (uint32_t word = s.along; word < words; word += s.along_step) {
    UNROLL(4)
    for (uint32_t row = s.across; row < now->rows; row += s.across_step) {
      const word2 offset = shared_load8(args->rows_at + row * CUTT_ROW_ENTRY);
      const unsigned char *const begin = in + (now->in + join_words(offset.x, offset.y));
      const uint32_t phase = (uint32_t)(uintptr_t)begin & 3;
      if (word * 4 >= phase + now->row_bytes) continue;
      const unsigned char *const from = begin - phase + word * 4;
      const uint32_t to = stage_at + row * args->pitch + word * 4;
      if (from >= low && from + 4 <= high) {
        if (has_async()) {
          async_copy4(to, from, args->near);
        } else {
          shared_store4(to, global_load4(from));
        }
      } else {
        for (uint32_t i = 0; i < 4; ++i) {
          if (from + i >= begin && from + i < begin + now->row_bytes) shared_store1(to + i, global_load1(from + i));
        }
      }
    }
  }
}

DEVICE void load_rows(const cutt_kernel_args *args, const unsigned char *in, const tile_now *now, uint32_t stage_at,
                      share s, bool unaligned) {
  if (unaligned && args->load_log2 == CUTT_LOAD_UNALIGNED) {
    load_rows_unaligned(args, in, now, stage_at, s);
  } else if (args->load_log2 == 4) {
    load_rows16(args, in, now, stage_at, s);
  } else if (args->load_log2 == 3) {
    load_rows8(args, in, now, stage_at, s);
  } else {
    load_rows4(args, in, now, stage_at, s);
  }
}

/* ----------------------------------------------------------------------------------------------------------- store */

typedef struct column_entry {
  int64_t global;
  uint32_t shared, phase;
} column_entry;

DEVICE column_entry read_column(uint32_t entry_at) {
  const word4 entry = shared_load16(entry_at);
  column_entry c;
  c.global = join_words(entry.x, entry.y);
  c.shared = entry.z;
  c.phase = entry.w;
  return c;
}

DEVICE uint32_t read_run(const cutt_kernel_args *args, uint32_t number) {
  return shared_load4(args->run_at + number * CUTT_RUN_ENTRY);
}

/* Stores a thread's accesses of all columns: `begin` is done once for each access, then `get` gives what to store for each
 * column c, for up to BATCH of them before `put` stores these. */
#define DEFINE_STORE_COLUMNS(name, bytes, type, accesses, begin, get, put)                                             \
  DEVICE void store_columns##name(const cutt_kernel_args *args, unsigned char *out, const tile_now *now,               \
                                  uint32_t stage_at, share s) {                                                        \
    const uint32_t columns = now->columns, step = s.across_step;                                                       \
    for (uint32_t access = s.along; access < (accesses); access += s.along_step) {                                     \
      unsigned char *const base = out + (now->out + access * bytes);                                                   \
      begin;                                                                                                           \
      uint32_t column = s.across, entry = args->columns_at + column * CUTT_COLUMN_ENTRY;                               \
      for (; column + (BATCH - 1) * step < columns; column += BATCH * step) {                                          \
        unsigned char *to[BATCH];                                                                                      \
        type value[BATCH];                                                                                             \
        UNROLL(BATCH)                                                                                                  \
        for (int i = 0; i < BATCH; ++i) {                                                                              \
          const column_entry c = read_column(entry);                                                                   \
          entry += step * CUTT_COLUMN_ENTRY;                                                                           \
          to[i] = base + c.global;                                                                                     \
          value[i] = get;                                                                                              \
        }                                                                                                              \
        UNROLL(BATCH)                                                                                                  \
        for (int i = 0; i < BATCH; ++i) put(to[i], value[i]);                                                          \
      }                                                                                                                \
      for (; column < columns; column += step) {                                                                       \
        const column_entry c = read_column(entry);                                                                     \
        entry += step * CUTT_COLUMN_ENTRY;                                                                             \
        put(base + c.global, get);                                                                                     \
      }                                                                                                                \
    }                                                                                                                  \
  }

/* Stored as they are loaded from shared memory. */
#define DEFINE_STORE_COLUMNS_WHOLE(bytes, type)                                                                        \
  DEFINE_STORE_COLUMNS(bytes, bytes, type, now->run, const uint32_t at = stage_at + read_run(args, access),            \
                       shared_load##bytes(at + c.shared), global_store##bytes)
DEFINE_STORE_COLUMNS_WHOLE(4, uint32_t)
DEFINE_STORE_COLUMNS_WHOLE(8, word2)
DEFINE_STORE_COLUMNS_WHOLE(16, word4)

/* Several loads from shared memory that are stored as one access: of one or two bytes to a word, of 4 or 8 bytes to 16. In
 * the usual tile, neighbouring lanes' accesses come from rows that are several apart, and would hit the same banks: so
 * groups of lanes begin with different ones of their loads, and each rotates its result at the end. */
typedef struct gather {
  uint32_t at[4];    /* where in shared memory, without the column's part of the address */
  uint32_t rotation; /* which load comes first */
} gather;

DEVICE uint32_t gather1(const gather *g, uint32_t shared) {
  const uint32_t word = (uint32_t)shared_load1(g->at[0] + shared) | (uint32_t)shared_load1(g->at[1] + shared) << 8 |
                        (uint32_t)shared_load1(g->at[2] + shared) << 16 |
                        (uint32_t)shared_load1(g->at[3] + shared) << 24;
  return rotate_left(word, 8 * g->rotation);
}
DEVICE uint32_t gather2(const gather *g, uint32_t shared) {
  const uint32_t word = (uint32_t)shared_load2(g->at[0] + shared) | (uint32_t)shared_load2(g->at[1] + shared) << 16;
  return rotate_left(word, 16 * g->rotation);
}

/* The `count` loads of an access; columns and rows are aligned to words. */
DEVICE gather gather_of(const cutt_kernel_args *args, uint32_t stage_at, uint32_t access, uint32_t count) {
  gather g;
  g.rotation = access / (32 / count) & (count - 1);
  UNROLL(4)
  for (uint32_t i = 0; i < 4; ++i) {
    g.at[i] = i < count ? stage_at + read_run(args, access * count + ((i + g.rotation) & (count - 1))) : 0;
  }
  return g;
}

/* The same from place `first` of the run on, where rows begin at any byte. phase: of the tile's first row, plus the
 * column's. */
DEVICE gather gather_of_unaligned(const cutt_kernel_args *args, uint32_t stage_at, uint32_t access, uint32_t first,
                                  uint32_t count, uint32_t phase) {
  gather g;
  g.rotation = access / (32 / count) & (count - 1);
  UNROLL(4)
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t entry = i < count ? read_run(args, first + ((i + g.rotation) & (count - 1))) : 0;
    g.at[i] = stage_at + (entry >> 2) + ((entry + phase) & 3);
  }
  return g;
}

#define DEFINE_STORE_COLUMNS_NARROW(bytes)                                                                             \
  DEFINE_STORE_COLUMNS(bytes, 4, uint32_t, now->run *bytes / 4,                                                        \
                       const gather g = gather_of(args, stage_at, access, 4 / bytes), gather##bytes(&g, c.shared),     \
                       global_store4)
DEFINE_STORE_COLUMNS_NARROW(1)
DEFINE_STORE_COLUMNS_NARROW(2)

/* Columns and rows that begin at any byte. `first`, of an access: the beginning of its word, in bytes from the column's.
 *
 * store_part: a word of which a column has only a part, load by load.
 * store_alike: an access of all columns of the thread, which begin at the same byte of a word and have all of this one; false,
 * with nothing done, if they do not.
 * store_each: the same, column by column. */
#define DEFINE_STORE_COLUMNS_UNALIGNED(bytes)                                                                          \
  DEVICE void store_part##bytes(const cutt_kernel_args *args, unsigned char *begin, int32_t first, int32_t run_bytes,  \
                                uint32_t shared_at, uint32_t phase) {                                                  \
    for (int32_t from = first; from < first + 4; from += bytes) {                                                      \
      if (from < 0 || from >= run_bytes) continue;                                                                     \
      const uint32_t entry = read_run(args, (uint32_t)from / bytes);                                                   \
      global_store##bytes(begin + from, shared_load##bytes(shared_at + (entry >> 2) + ((entry + phase) & 3)));         \
    }                                                                                                                  \
  }                                                                                                                    \
  DEVICE bool store_alike##bytes(const cutt_kernel_args *args, unsigned char *base, uint32_t columns, uint32_t access, \
                                 int32_t run_bytes, uint32_t stage_at, uint32_t phase, const share *s) {               \
    uint32_t column = s->across, entry = args->columns_at + column * CUTT_COLUMN_ENTRY;                                \
    const int32_t before = (int32_t)((uintptr_t)(base + read_column(entry).global) & 3);                               \
    const int32_t first = (int32_t)(access * 4) - before;                                                              \
    if (first < 0 || first + 4 > run_bytes) return false;                                                              \
    const gather g = gather_of_unaligned(args, stage_at, access, (uint32_t)first / bytes, 4 / bytes, phase);           \
    UNROLL(BATCH)                                                                                                      \
    for (; column < columns; column += s->across_step) {                                                               \
      const column_entry c = read_column(entry);                                                                       \
      global_store4(base + (c.global + first), gather##bytes(&g, c.shared));                                           \
      entry += s->across_step * CUTT_COLUMN_ENTRY;                                                                     \
    }                                                                                                                  \
    return true;                                                                                                       \
  }                                                                                                                    \
  DEVICE void store_each##bytes(const cutt_kernel_args *args, unsigned char *base, uint32_t columns, uint32_t access,  \
                                int32_t run_bytes, uint32_t stage_at, uint32_t phase, const share *s) {                \
    uint32_t entry = args->columns_at + s->across * CUTT_COLUMN_ENTRY;                                                 \
    for (uint32_t column = s->across; column < columns; column += s->across_step) {                                    \
      const column_entry c = read_column(entry);                                                                       \
      unsigned char *const begin = base + c.global;                                                                    \
      const int32_t first = (int32_t)(access * 4) - (int32_t)((uintptr_t)begin & 3);                                   \
      entry += s->across_step * CUTT_COLUMN_ENTRY;                                                                     \
      if (first >= run_bytes) continue;                                                                                \
      if (first >= 0 && first + 4 <= run_bytes) {                                                                      \
        const gather g =                                                                                               \
            gather_of_unaligned(args, stage_at, access, (uint32_t)first / bytes, 4 / bytes, phase + c.phase);          \
        global_store4(begin + first, gather##bytes(&g, c.shared));                                                     \
      } else {                                                                                                         \
        store_part##bytes(args, begin, first, run_bytes, stage_at + c.shared, phase + c.phase);                        \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  DEVICE void store_columns##bytes##u(const cutt_kernel_args *args, unsigned char *out, const tile_now *now,           \
                                      const unsigned char *in, uint32_t stage_at, share s) {                           \
    const int32_t run_bytes = (int32_t)(now->run * bytes);                                                             \
    const uint32_t phase = (uint32_t)(uintptr_t)(in + now->in), accesses = (uint32_t)(run_bytes + 6) / 4;              \
    unsigned char *const base = out + now->out;                                                                        \
    for (uint32_t access = s.along; access < accesses; access += s.along_step) {                                       \
      if (args->store_alike && s.across < now->columns &&                                                              \
          store_alike##bytes(args, base, now->columns, access, run_bytes, stage_at, phase, &s)) {                      \
        continue;                                                                                                      \
      }                                                                                                                \
      store_each##bytes(args, base, now->columns, access, run_bytes, stage_at, phase, &s);                             \
    }                                                                                                                  \
  }
DEFINE_STORE_COLUMNS_UNALIGNED(1)
DEFINE_STORE_COLUMNS_UNALIGNED(2)

/* Loads of 4 and 8 bytes, stored as 16: the rotation exchanges registers. */
DEVICE word4 gather4w(const gather *g, uint32_t shared) {
  const uint32_t a = shared_load4(g->at[0] + shared), b = shared_load4(g->at[1] + shared);
  const uint32_t c = shared_load4(g->at[2] + shared), d = shared_load4(g->at[3] + shared);
  const bool odd = g->rotation & 1, two = g->rotation & 2;
  const word4 once = {odd ? d : a, odd ? a : b, odd ? b : c, odd ? c : d};
  const word4 value = {two ? once.z : once.x, two ? once.w : once.y, two ? once.x : once.z, two ? once.y : once.w};
  return value;
}
DEVICE word4 gather8w(const gather *g, uint32_t shared) {
  const word2 a = shared_load8(g->at[0] + shared), b = shared_load8(g->at[1] + shared);
  const bool odd = g->rotation & 1;
  const word4 value = {odd ? b.x : a.x, odd ? b.y : a.y, odd ? a.x : b.x, odd ? a.y : b.y};
  return value;
}
DEVICE gather gather_of_8w(const cutt_kernel_args *args, uint32_t stage_at, uint32_t access) {
  gather g;
  g.rotation = access / 8 & 1; /* the banks serve 8-byte loads by half warps */
  g.at[0] = stage_at + read_run(args, access * 2 + g.rotation);
  g.at[1] = stage_at + read_run(args, access * 2 + (g.rotation ^ 1));
  g.at[2] = g.at[3] = 0;
  return g;
}

DEFINE_STORE_COLUMNS(4w, 16, word4, now->run / 4, const gather g = gather_of(args, stage_at, access, 4),
                     gather4w(&g, c.shared), global_store16)
DEFINE_STORE_COLUMNS(8w, 16, word4, now->run / 2, const gather g = gather_of_8w(args, stage_at, access),
                     gather8w(&g, c.shared), global_store16)

/* ------------------------------------------------------------------------------------------------- alpha and beta */

/* out = alpha * op(in) + beta * out, rounded as on the CPU: products and sums one by one. A factor of 1 leaves all bits of a
 * number as they are, and so does multiplying by 1; but for those of NaNs, which op alone keeps too. */
DEVICE uint32_t scale_float(const cutt_kernel_args *args, float x, float y, bool reads) {
  const float scaled = (float)args->alpha[0] * x;
  return float_to_bits(reads ? scaled + (float)args->beta[0] * y : scaled);
}

#define DEFINE_MULTIPLY(real, T)                                                                                       \
  typedef struct complex_##real {                                                                                      \
    T re, im;                                                                                                          \
  } complex_##real;                                                                                                    \
  DEVICE complex_##real multiply_##real(complex_##real v, const double *factor, uint32_t parts) {                      \
    const T re = (T)factor[0], im = (T)factor[1];                                                                      \
    complex_##real z = v;                                                                                              \
    if (parts == CUTT_PARTS_SCALED) {                                                                                  \
      z.re = re * v.re;                                                                                                \
      z.im = re * v.im;                                                                                                \
    } else if (parts == CUTT_PARTS_MIXED) {                                                                            \
      z.re = re * v.re - im * v.im;                                                                                    \
      z.im = re * v.im + im * v.re;                                                                                    \
    }                                                                                                                  \
    return z;                                                                                                          \
  }
DEFINE_MULTIPLY(float, float)
DEFINE_MULTIPLY(double, double)

DEVICE word2 scale_complex32(const cutt_kernel_args *args, word2 x, word2 y) {
  const complex_float v = {bits_to_float(x.x), bits_to_float(x.y ^ args->flip)};
  complex_float z = multiply_float(v, args->alpha, args->alpha_parts);
  if (args->reads_out) {
    const complex_float before = {bits_to_float(y.x), bits_to_float(y.y)};
    const complex_float added = multiply_float(before, args->beta, args->beta_parts);
    z.re += added.re;
    z.im += added.im;
  }
  const word2 bits = {float_to_bits(z.re), float_to_bits(z.im)};
  return bits;
}

DEVICE word4 scale_complex64(const cutt_kernel_args *args, word4 x, word4 y) {
  const word2 x_re = {x.x, x.y}, x_im = {x.z, x.w ^ args->flip}, y_re = {y.x, y.y}, y_im = {y.z, y.w};
  const complex_double v = {bits_to_double(x_re), bits_to_double(x_im)};
  complex_double z = multiply_double(v, args->alpha, args->alpha_parts);
  if (args->reads_out) {
    const complex_double before = {bits_to_double(y_re), bits_to_double(y_im)};
    const complex_double added = multiply_double(before, args->beta, args->beta_parts);
    z.re += added.re;
    z.im += added.im;
  }
  const word2 low = double_to_bits(z.re), high = double_to_bits(z.im);
  const word4 bits = {low.x, low.y, high.x, high.y};
  return bits;
}

DEVICE uint16_t scale_f16(const cutt_kernel_args *args, uint16_t x, uint16_t y) {
  const uint32_t z = scale_float(args, half_to_float(x), half_to_float(y), args->reads_out);
  return float_to_half(bits_to_float(z));
}
DEVICE uint16_t scale_bf16(const cutt_kernel_args *args, uint16_t x, uint16_t y) {
  const uint32_t z = scale_float(args, bfloat_to_float(x), bfloat_to_float(y), args->reads_out);
  return float_to_bfloat(bits_to_float(z));
}
DEVICE uint32_t scale_f32(const cutt_kernel_args *args, uint32_t x, uint32_t y) {
  return scale_float(args, bits_to_float(x), bits_to_float(y), args->reads_out);
}
DEVICE word2 scale_f64(const cutt_kernel_args *args, word2 x, word2 y) {
  const double scaled = args->alpha[0] * bits_to_double(x);
  return double_to_bits(args->reads_out ? scaled + args->beta[0] * bits_to_double(y) : scaled);
}
DEVICE word2 scale_c32(const cutt_kernel_args *args, word2 x, word2 y) { return scale_complex32(args, x, y); }
DEVICE word4 scale_c64(const cutt_kernel_args *args, word4 x, word4 y) { return scale_complex64(args, x, y); }
/* Unsigned arithmetic is the two's complement kind. */
DEVICE uint32_t scale_i32(const cutt_kernel_args *args, uint32_t x, uint32_t y) {
  const uint32_t scaled = (uint32_t)args->alpha_integer * x;
  return args->reads_out ? scaled + (uint32_t)args->beta_integer * y : scaled;
}
DEVICE word2 scale_i64(const cutt_kernel_args *args, word2 x, word2 y) {
  const uint64_t scaled = (uint64_t)args->alpha_integer * (uint64_t)join_words(x.x, x.y);
  const uint64_t added = (uint64_t)args->beta_integer * (uint64_t)join_words(y.x, y.y);
  return split_words((int64_t)(args->reads_out ? scaled + added : scaled));
}

/* Elements of the output. Of complex ones, only the two halves may be aligned; others have no halves. */
DEVICE uint16_t out_load2(const unsigned char *p, uint32_t halves) {
  (void)halves;
  return global_load2(p);
}
DEVICE void out_store2(unsigned char *p, uint16_t v, uint32_t halves) {
  (void)halves;
  global_store2(p, v);
}
DEVICE uint32_t out_load4(const unsigned char *p, uint32_t halves) {
  (void)halves;
  return global_load4(p);
}
DEVICE void out_store4(unsigned char *p, uint32_t v, uint32_t halves) {
  (void)halves;
  global_store4(p, v);
}
DEVICE word2 out_load8(const unsigned char *p, uint32_t halves) {
  if (!halves) return global_load8(p);
  const word2 v = {global_load4(p), global_load4(p + 4)};
  return v;
}
DEVICE void out_store8(unsigned char *p, word2 v, uint32_t halves) {
  if (!halves) {
    global_store8(p, v);
  } else {
    global_store4(p, v.x);
    global_store4(p + 4, v.y);
  }
}
DEVICE word4 out_load16(const unsigned char *p, uint32_t halves) {
  if (!halves) return global_load16(p);
  const word2 a = global_load8(p), b = global_load8(p + 8);
  const word4 v = {a.x, a.y, b.x, b.y};
  return v;
}
DEVICE void out_store16(unsigned char *p, word4 v, uint32_t halves) {
  if (!halves) {
    global_store16(p, v);
  } else {
    const word2 a = {v.x, v.y}, b = {v.z, v.w};
    global_store8(p, a);
    global_store8(p + 8, b);
  }
}

#define DEFINE_STORE_SCALED(name, bytes, type, phased)                                                                 \
  DEVICE void store_##name(const cutt_kernel_args *args, unsigned char *out, const tile_now *now,                      \
                           const unsigned char *in, uint32_t stage_at, share s) {                                      \
    const uint32_t phase = (uint32_t)(uintptr_t)(in + now->in);                                                        \
    const type zero = {0};                                                                                             \
    for (uint32_t access = s.along; access < now->run; access += s.along_step) {                                       \
      unsigned char *const base = out + (now->out + access * bytes);                                                   \
      const uint32_t entry = read_run(args, access);                                                                   \
      UNROLL(2)                                                                                                        \
      for (uint32_t column = s.across; column < now->columns; column += s.across_step) {                               \
        const column_entry c = read_column(args->columns_at + column * CUTT_COLUMN_ENTRY);                             \
        const uint32_t within = phased ? (entry >> 2) + ((entry + c.phase + phase) & 3) : entry;                       \
        unsigned char *const to = base + c.global;                                                                     \
        const type before = args->reads_out ? out_load##bytes(to, args->halves) : zero;                                \
        const type value = shared_load##bytes(stage_at + c.shared + within);                                           \
        out_store##bytes(to, name(args, value, before), args->halves);                                                 \
      }                                                                                                                \
    }                                                                                                                  \
  }
DEFINE_STORE_SCALED(scale_f16, 2, uint16_t, true)
DEFINE_STORE_SCALED(scale_bf16, 2, uint16_t, true)
DEFINE_STORE_SCALED(scale_f32, 4, uint32_t, false)
DEFINE_STORE_SCALED(scale_f64, 8, word2, false)
DEFINE_STORE_SCALED(scale_c32, 8, word2, false)
DEFINE_STORE_SCALED(scale_c64, 16, word4, false)
DEFINE_STORE_SCALED(scale_i32, 4, uint32_t, false)
DEFINE_STORE_SCALED(scale_i64, 8, word2, false)

/* --------------------------------------------------------------------------------------------------------- kernels */

/* The block's tiles, in a ring of `stages` slots in shared memory. A slot is written again only after the barrier that
 * follows its being read. A group of copies is committed for each tile, even past the last one, so that to wait for all but
 * the newest stages - 1 groups is to wait for the tile at hand. */
#define DEFINE_KERNEL(name, unaligned, phased, store)                                                                  \
  KERNEL(cutt_##name, CUTT_BLOCK_THREADS, CUTT_BLOCKS)                                                                 \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_kernel_args) args) {                                     \
    const uint32_t ahead = args.stages - 1;                                                                            \
    const uint32_t tiles = fill_tables(&args, phased);                                                                 \
    if (tiles == 0) return;                                                                                            \
    barrier();                                                                                                         \
    const share loads = share_of(args.load_along, args.load_rows);                                                     \
    const share stores = share_of(args.store_along, args.store_columns);                                               \
    uint32_t load_stage = 0, store_stage = 0;                                                                          \
    for (uint32_t i = 0; i < tiles + ahead; ++i) {                                                                     \
      if (i < tiles) {                                                                                                 \
        const tile_now now = read_tile(i * CUTT_TILE_ENTRY);                                                           \
        load_rows(&args, in, &now, args.stage_at + load_stage * args.stage_bytes, loads, unaligned);                   \
        load_stage = load_stage + 1 == args.stages ? 0 : load_stage + 1;                                               \
      }                                                                                                                \
      async_commit();                                                                                                  \
      if (i < ahead) continue;                                                                                         \
      async_wait(ahead);                                                                                               \
      barrier();                                                                                                       \
      const tile_now now = read_tile((i - ahead) * CUTT_TILE_ENTRY);                                                   \
      const uint32_t stage_at = args.stage_at + store_stage * args.stage_bytes;                                        \
      store_stage = store_stage + 1 == args.stages ? 0 : store_stage + 1;                                              \
      store;                                                                                                           \
      barrier();                                                                                                       \
    }                                                                                                                  \
  }
#define TILE_KERNEL(name, store) DEFINE_KERNEL(name, false, false, store(&args, out, &now, stage_at, stores))
#define TILE_KERNEL_UNALIGNED(name, store)                                                                             \
  DEFINE_KERNEL(name, true, true, store(&args, out, &now, in, stage_at, stores))
#define SCALE_KERNEL(name, phased)                                                                                     \
  DEFINE_KERNEL(name, phased, phased, store_##name(&args, out, &now, in, stage_at, stores))

TILE_KERNEL(tile_1, store_columns1)
TILE_KERNEL_UNALIGNED(tile_1u, store_columns1u)
TILE_KERNEL(tile_2, store_columns2)
TILE_KERNEL_UNALIGNED(tile_2u, store_columns2u)
TILE_KERNEL(tile_4, store_columns4)
TILE_KERNEL(tile_4w, store_columns4w)
TILE_KERNEL(tile_8, store_columns8)
TILE_KERNEL(tile_8w, store_columns8w)
TILE_KERNEL(tile_16, store_columns16)
SCALE_KERNEL(scale_f16, true)
SCALE_KERNEL(scale_bf16, true)
SCALE_KERNEL(scale_f32, false)
SCALE_KERNEL(scale_f64, false)
SCALE_KERNEL(scale_c32, false)
SCALE_KERNEL(scale_c64, false)
SCALE_KERNEL(scale_i32, false)
SCALE_KERNEL(scale_i64, false)
