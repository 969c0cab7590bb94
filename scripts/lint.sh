#!/usr/bin/env bash
# clang-tidy over the library and the program: scripts/lint.sh [FILE...]; the checks are in .clang-tidy.
# The compile commands come from a clang configuration of its own, since clang-tidy is clang and reads its flags.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v clang-tidy >/dev/null || { echo "lint: clang-tidy is not installed" >&2; exit 1; }
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
cmake --preset lint >/dev/null
if [[ $# -gt 0 ]]; then files=("$@"); else mapfile -t files < <(find src cli -name '*.c' | sort); fi
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$jobs" clang-tidy -p build-lint --quiet
echo "lint: ${#files[@]} files, nothing found"
