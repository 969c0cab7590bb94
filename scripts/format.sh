#!/usr/bin/env bash
# Lays out every C and C++ source with clang-format 14, or, with --check, says which files it would change.
# One version, since each lays out some things differently; where it isn't there, --check says so and passes.
set -euo pipefail
cd "$(dirname "$0")/.."

clang_format=
for candidate in clang-format-14 clang-format; do
  if [[ $("$candidate" --version 2>/dev/null) == *"version 14."* ]]; then
    clang_format=$candidate
    break
  fi
done
mapfile -t files < <(find include src cli bindings tests bench examples -name '*.[ch]' -o -name '*.cc' -o -name '*.hpp' | sort)

if [[ ${1:-} == --check ]]; then
  if [[ -z $clang_format ]]; then
    echo "format: clang-format 14 is not installed; the layout was not checked"
    exit 0
  fi
  # One process for all: most of the time of one is its start.
  if ! said=$("$clang_format" --dry-run --Werror "${files[@]}" 2>&1); then
    mapfile -t wrong < <(sed -nE 's/^([^:]+):[0-9]+:[0-9]+: error: code should be clang-formatted.*/\1/p' <<<"$said" | sort -u)
    if [[ ${#wrong[@]} -eq 0 ]]; then
      echo "format: clang-format failed: $said" >&2
      exit 1
    fi
    printf 'format: make format would change %s\n' "${wrong[@]}" >&2
    exit 1
  fi
  echo "format: ${#files[@]} files are laid out as .clang-format asks"
elif [[ -z $clang_format ]]; then
  echo "format: clang-format 14 is not installed (Debian, Ubuntu: apt-get install clang-format-14)" >&2
  exit 1
else
  "$clang_format" -i "${files[@]}"
fi
