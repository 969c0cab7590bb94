/* The demo's viewer: show BEFORE.npy AFTER.npy FOLDER
 *
 * BEFORE is a colour image as cameras and PNG files have it (height, width, channel: R G B R G B ... in memory), AFTER
 * the same image as neural networks want it (channel, height, width: all R, then all G, then all B). Draws the memory of
 * each, byte by byte in memory order, in the terminal and to PNG files in FOLDER; and checks that every byte of the one
 * is where it belongs in the other.
 *
 * In the terminal: half blocks in 24-bit colour where it has them, the 256-colour palette where not, and letters and
 * numbers when the output is no terminal at all. */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"

typedef struct color {
  int r, g, b;
} color;

typedef enum depth { PLAIN, PALETTE, TRUE_COLOR } depth;

/* A picture to draw: pixel(x, y) of width x height. */
typedef struct picture {
  const uint8_t *data;
  int width, height;
  color (*pixel)(const struct picture *picture, int x, int y);
} picture;

/* What the memory of a height x width x 3 array looks like when each byte is a grey pixel. */
static color interleaved_pixel(const picture *p, int x, int y) {
  const int value = p->data[(size_t)y * (size_t)p->width + (size_t)x];
  return (color){value, value, value};
}

/* Three planes of height x (width / 3) side by side, each in the colour of its channel. */
static color plane_pixel(const picture *p, int x, int y) {
  const int width = p->width / 3, channel = x / width;
  const int value = p->data[((size_t)channel * (size_t)p->height + (size_t)y) * (size_t)width + (size_t)(x % width)];
  /* A little of the others: pure blue is too dark to be seen. */
  const int rest = value * 2 / 5;
  return (color){channel == 0 ? value : rest, channel == 1 ? value : rest, channel == 2 ? value : rest};
}

/* ------------------------------------------------------------------------------------------------------- terminal */

static depth terminal_depth(void) {
  const char *term = getenv("TERM"), *more = getenv("COLORTERM"), *none = getenv("NO_COLOR");
  if (!isatty(STDOUT_FILENO) || (none && *none) || !term || strcmp(term, "dumb") == 0) return PLAIN;
  if ((more && (strstr(more, "truecolor") || strstr(more, "24bit"))) || strstr(term, "direct")) return TRUE_COLOR;
  return strstr(term, "256color") ? PALETTE : PLAIN;
}

static void set_color(depth d, int ground, color c) {
  if (d == TRUE_COLOR)
    printf("\033[%d;2;%d;%d;%dm", ground, c.r, c.g, c.b);
  else
    printf("\033[%d;5;%dm", ground,
           16 + 36 * ((c.r * 5 + 127) / 255) + 6 * ((c.g * 5 + 127) / 255) + (c.b * 5 + 127) / 255);
}

static int brightness(color c) { return c.r > c.g ? (c.r > c.b ? c.r : c.b) : c.g > c.b ? c.g : c.b; }

/* The picture in `columns` x `rows` characters; nearest pixels, so that nothing is smoothed away. */
static void draw(const picture *p, int columns, int rows, depth d) {
  static const char ramp[] = " .:-=+*#%@";
  for (int row = 0; row < rows; ++row) {
    printf("    ");
    for (int column = 0; column < columns; ++column) {
      const int x = (int)(((long)column * 2 + 1) * p->width / (2L * columns));
      const color upper = p->pixel(p, x, (row * 4 + 1) * p->height / (4 * rows));
      const color lower = p->pixel(p, x, (row * 4 + 3) * p->height / (4 * rows));
      if (d == PLAIN) {
        putchar(ramp[(brightness(upper) + brightness(lower)) * (int)(sizeof ramp - 2) / 510]);
      } else {
        set_color(d, 38, upper);
        set_color(d, 48, lower);
        fputs("\u2580", stdout);
      }
    }
    puts(d == PLAIN ? "" : "\033[0m");
  }
}

/* The first bytes of memory from `start`, as numbers; letter(i) is the channel of byte i. */
static void draw_bytes(const uint8_t *data, size_t start, size_t channel_step, depth d) {
  enum { BYTES = 15 };
  static const char letters[] = "RGB";
  printf("    byte %6zu ...  ", start);
  for (size_t i = start; i < start + BYTES; ++i) {
    const int value = data[i], channel = (int)(i / channel_step % 3);
    const color ink = {channel == 0 ? 255 : 110, channel == 1 ? 230 : 110, channel == 2 ? 255 : 110};
    if (d != PLAIN) set_color(d, 38, ink);
    printf("%c%-4d", letters[channel], value);
  }
  puts(d == PLAIN ? "" : "\033[0m");
}

/* ------------------------------------------------------------------------------------------------------- PNG */

static bool write_png(const picture *p, const char *folder, const char *name) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return false;
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)p->width,
                     .height = (png_uint_32)p->height,
                     .format = PNG_FORMAT_RGB};
  png_byte *pixels = malloc(PNG_IMAGE_SIZE(image));
  bool good = pixels != NULL;
  for (int y = 0; good && y < p->height; ++y)
    for (int x = 0; x < p->width; ++x) {
      const color c = p->pixel(p, x, y);
      png_byte *pixel = pixels + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
      pixel[0] = (png_byte)c.r;
      pixel[1] = (png_byte)c.g;
      pixel[2] = (png_byte)c.b;
    }
  if (good) good = png_image_write_to_file(&image, path, 0, pixels, 0, NULL) != 0;
  free(pixels);
  if (good)
    printf("    drawn in full: %s\n", path);
  else
    fprintf(stderr, "%s: can't be written: %s\n", path, image.message[0] ? image.message : "out of memory");
  return good;
}

/* ------------------------------------------------------------------------------------------------------- the rest */

/* after[c][y][x] == before[y][x][c] everywhere. */
static bool same_image(const array *before, const array *after) {
  const int64_t height = before->npy.shape[0], width = before->npy.shape[1];
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < 3; ++c)
        if (before->data[(y * width + x) * 3 + c] != after->data[(c * height + y) * width + x]) return false;
  return true;
}

static bool is_image(const array *a, int channel_axis, const char *path) {
  const cutt_npy *npy = &a->npy;
  bool good = npy->rank == 3 && npy->elem_bytes == 1 && !npy->fortran_order && npy->shape[channel_axis] == 3;
  for (int i = 0; good && i < 3; ++i) good = npy->shape[i] >= 1 && npy->shape[i] <= 10000;
  if (!good) fprintf(stderr, "%s: is not a colour image of bytes with its channels on axis %d\n", path, channel_axis);
  return good && npy->volume >= 1024;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: show BEFORE.npy AFTER.npy FOLDER\n");
    return 2;
  }
  array before = {0}, after = {0};
  bool good = array_read(argv[1], &before) && array_read(argv[2], &after) && is_image(&before, 2, argv[1]) &&
              is_image(&after, 0, argv[2]);
  if (good) {
    const int height = (int)before.npy.shape[0], width = (int)before.npy.shape[1];
    const picture memory = {before.data, width * 3, height, interleaved_pixel};
    const picture planes = {after.data, width * 3, height, plane_pixel};
    const size_t start = (size_t)(height / 2) * (size_t)width * 3 + (size_t)width / 2 * 3;
    const depth d = terminal_depth();
    enum { COLUMNS = 72, ROWS = 17 };

    printf("  BEFORE: shape (%d, %d, 3), the channels of each pixel side by side. Its memory, one byte a dot:\n",
           height, width);
    draw(&memory, COLUMNS, ROWS, d);
    draw_bytes(before.data, start, 1, d);
    good = write_png(&memory, argv[3], "before.png");
    printf("\n  AFTER: shape (3, %d, %d), one plane for each channel: red, green, blue\n", height, width);
    draw(&planes, COLUMNS, ROWS, d);
    draw_bytes(after.data, start / 3, (size_t)width * (size_t)height, d);
    good = write_png(&planes, argv[3], "after.png") && good;
    if (same_image(&before, &after)) {
      printf("\n  Checked: all %lld bytes are where they belong.\n", (long long)before.npy.volume);
    } else {
      fprintf(stderr, "WRONG: the two files are not the same image\n");
      good = false;
    }
  }
  free(before.file);
  free(after.file);
  return good ? 0 : 1;
}
