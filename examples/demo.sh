#!/usr/bin/env bash
# What cuTT does, to see at once: examples/demo.sh CUTT_PROGRAM BUILD_FOLDER   (`make demo` calls it)
# A picture goes from interleaved channels to planes; then a volume and feature maps, timed beside NumPy, or without it a batch
# of pictures beside plain loops; and two contractions, timed.
set -euo pipefail

[[ $# -eq 2 ]] || { echo "usage: $0 CUTT_PROGRAM BUILD_FOLDER" >&2; exit 2; }
program=$1 build=$2
examples=$(dirname "$0")
demo=$build/demo
image=$examples/data/grace_hopper.npy

bold='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then bold=$'\033[1m' plain=$'\033[0m'; fi
title() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
# Shows a command as one would type it, and runs it; what it says on stderr belongs to the show.
run() {
  printf '  $ %s\n' "$*"
  { "$@" 2>&1 >&3 | sed 's/^/  /'; } 3>&1
}

mkdir -p "$demo"
trap 'rm -f "$demo"/batch-*.npy' EXIT

title "1. A picture: height x width x channel (HWC) to channel x height x width (CHW)"
run "$program" transpose "$image" "$demo/grace_hopper-chw.npy" --axes 2,0,1 --force
echo
if [[ -x $build/examples/show ]]; then
  "$build/examples/show" "$image" "$demo/grace_hopper-chw.npy" "$demo"
else
  echo "  (no viewer: install libpng-dev, and build again, to see the picture)"
fi

python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import numpy' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [[ -n $python ]]; then
  title "2. What one waits for with NumPy"
  compiled=1
  [[ -e $build/lib/_calls.abi3.so ]] || compiled=0 # without Python's headers: calls take longer, their work does not
  PYTHONPATH=$examples/../bindings/python CUTT_LIBRARY_DIR=$build/lib CUTT_COMPILED=$compiled PYTHONDONTWRITEBYTECODE=1 \
    "$python" "$examples/volume.py" | sed 's/^/  /'
else
  title "2. A batch of 256 such pictures in float32, 236 MB: NHWC to NCHW (no Python with NumPy is here to compare with)"
  "$build/examples/batch" "$image" 256 "$demo/batch-nhwc.npy"
  echo
  echo "  From file to file, with the program:"
  run "$program" transpose "$demo/batch-nhwc.npy" "$demo/batch-nchw.npy" --axes 0,3,1,2 --force
fi

title "3. Contractions: two terms of coupled cluster, one thread"
status=0
said=$("$build/examples/ladder" 48 10 2>&1) || status=$?
printf '%s\n' "$said" | sed 's/^/    /'
[[ $status -eq 0 || $status -eq 77 ]] || exit 1 # 77: there is no BLAS
