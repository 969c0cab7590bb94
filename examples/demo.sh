#!/usr/bin/env bash
# What cuTT does, to see at once: examples/demo.sh CUTT_PROGRAM BUILD_FOLDER   (`make demo` calls it)
# A picture goes from interleaved channels to planes, then a batch of 256 of them, timed, and two contractions, timed.
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

title "2. A batch of 256 such pictures in float32, 236 MB: NHWC to NCHW"
"$build/examples/batch" "$image" 256 "$demo/batch-nhwc.npy"
echo
echo "  From file to file, with the program:"
run "$program" transpose "$demo/batch-nhwc.npy" "$demo/batch-nchw.npy" --axes 0,3,1,2 --force

for python in python3 /usr/bin/python3; do
  if "$python" -c 'import numpy' 2>/dev/null; then
    echo
    echo "  The same with NumPy, in memory, and a comparison of the results:"
    "$python" - "$demo/batch-nhwc.npy" "$demo/batch-nchw.npy" <<'END' | sed 's/^/    /'
import sys, time
import numpy as np
a, b = np.load(sys.argv[1]), np.load(sys.argv[2])
seconds = []
for _ in range(3):
    start = time.perf_counter()
    c = np.ascontiguousarray(np.transpose(a, (0, 3, 1, 2)))
    seconds.append(time.perf_counter() - start)
print("np.ascontiguousarray: %.3g ms, %.3g GB/s" % (min(seconds) * 1e3, 2e-9 * a.nbytes / min(seconds)))
same = c.dtype == b.dtype and c.shape == b.shape and c.tobytes() == b.tobytes()
print("cutt's file is %s NumPy's array, bit for bit" % ("equal to" if same else "NOT EQUAL TO"))
sys.exit(0 if same else 1)
END
    break
  fi
done

title "3. Contractions: two terms of coupled cluster, one thread"
status=0
said=$("$build/examples/ladder" 48 10 2>&1) || status=$?
printf '%s\n' "$said" | sed 's/^/    /'
[[ $status -eq 0 || $status -eq 77 ]] || exit 1 # 77: there is no BLAS
