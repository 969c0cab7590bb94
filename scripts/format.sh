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
  wrong=()
  for file in "${files[@]}"; do
    cmp -s "$file" <("$clang_format" "$file") || wrong+=("$file")
  done
  if [[ ${#wrong[@]} -gt 0 ]]; then
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
