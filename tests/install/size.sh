#!/usr/bin/env bash
# The library stays under 12.5 MB with the GPU kernels of all architectures: tests/install/size.sh FILE...
set -euo pipefail
most=$((12500 * 1000))
for file in "$@"; do
  bytes=$(stat -Lc %s "$file")
  echo "size: $(basename "$file") has $bytes bytes"
  if [[ $bytes -gt $most ]]; then
    echo "size: that is more than $most" >&2
    exit 1
  fi
done
