#!/bin/bash
# The three benchmark sets on the CPU, 4- and 8-byte elements, on one thread and on all: figures for docs/performance.md.
# (On a GPU: bench/device.sh.)
#
#     bench/run.sh [PROGRAM [OPTION...]]        PROGRAM: build/cutt; OPTIONs go to each `cutt bench`
#
# JSON and tables go to a folder `bench` beside the program; the summaries are printed. About ten minutes as it is;
# `bench/run.sh build/cutt --volume 1M` is a quick look, and `--volume paper --samples 500` the paper's own.
set -euo pipefail

program=${1:-build/cutt}
shift || true
if [[ ! -x $program ]]; then
  echo "bench/run.sh: $program is not a program; build it first (make), or name it as the first argument" >&2
  exit 2
fi
folder=$(dirname "$program")/bench
mkdir -p "$folder"

all=$(nproc)
threads=(1)
if ((all > 1)); then threads+=("$all"); fi

options_of() { # set 3 has its own cases: --samples is not for it
  local set=$1
  shift
  while (($#)); do
    if [[ $set == set3 && $1 == --samples ]]; then
      shift
    elif [[ $set != set3 || $1 != --samples=* ]]; then
      printf '%s\n' "$1"
    fi
    shift || true
  done
}

failed=0
for count in "${threads[@]}"; do
  for set in set1 set2 set3; do
    mapfile -t options < <(options_of "$set" "$@")
    for dtype in f4 f8; do
      name=$folder/$set-$dtype-$count
      if ! "$program" bench "$set" --backend cpu --dtype "$dtype" --threads "$count" --json "$name.json" --force "${options[@]}" \
        >"$name.txt"; then
        failed=1
      fi
      # From the first empty line on, the table of cases is over.
      sed -n '/^$/,$p' "$name.txt"
    done
  done
done
echo
echo "tables and JSON: $folder/set*-f*-*.{txt,json}"
exit "$failed"
