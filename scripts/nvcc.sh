#!/bin/sh
# Runs nvcc and keeps what it says: scripts/nvcc.sh REPORT NVCC ARGUMENT...
# The report (registers, spills and stack of each kernel, as ptxas lists them) is shown only where something is wrong.
report=$1
shift
if "$@" >"$report" 2>&1; then
  grep -i 'warning' "$report" >&2
  exit 0
fi
cat "$report" >&2
exit 1
