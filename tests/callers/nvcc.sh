#!/usr/bin/env bash
# The C++ callers as nvcc compiles them, since much of what uses the library is in .cu files; nothing is run:
# tests/callers/nvcc.sh NVCC INCLUDE SOURCE WORK FLAGS (one word, may be empty)
# Skipped (exit status 77) where nvcc can't compile an empty file: it refuses host compilers that it doesn't know.
set -euo pipefail
nvcc=$1 include=$2 source=$3 work=$4
read -ra flags <<<"$5"

mkdir -p "$work"
echo 'int main() { return 0; }' >"$work/empty.cu"
if ! "$nvcc" ${flags[@]+"${flags[@]}"} -c "$work/empty.cu" -o "$work/empty.o" >"$work/empty.log" 2>&1; then
  echo "nvcc: it compiles nothing here:"
  cat "$work/empty.log"
  exit 77
fi
for cuda in 0 1 2; do # headers.h: without CUDA's headers (nvcc includes them itself), with them before, with them after
  "$nvcc" ${flags[@]+"${flags[@]}"} -std=c++17 -Xcompiler -Wall -I "$include" -DCALLER_CUDA=$cuda -DCALLER_VARIANT=nvcc \
    -x cu -c "$source" -o "$work/callers.o"
done
rm -rf "$work"
echo "nvcc: callers.cc compiles"
