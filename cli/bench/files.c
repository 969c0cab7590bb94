/* The files that benchmarks write; see files.h. */
#include "files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

FILE *cutt_bench_file_open(const char *option, const char *path, bool force) {
  if (!strcmp(path, "-")) return stdout;
  struct stat status;
  if (!force && stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    cutt_cli_message("%s: %s exists; --force replaces it", option, path);
    return NULL;
  }
  FILE *file = fopen(path, "w");
  if (!file) cutt_cli_message("%s: %s can't be written: %s", option, path, strerror(errno));
  return file;
}

bool cutt_bench_file_close(FILE *file) {
  if (!file) return true;
  if (file == stdout) return fflush(file) == 0;
  bool good = !ferror(file);
  return fclose(file) == 0 && good;
}

bool cutt_bench_dump(FILE *file, const char *before, json_t *value, const char *after) {
  if (!value) {
    errno = ENOMEM;
    return false;
  }
  bool done =
      fputs(before, file) != EOF && json_dumpf(value, file, JSON_REAL_PRECISION(6)) == 0 && fputs(after, file) != EOF;
  json_decref(value);
  return done;
}
