#!/usr/bin/env bash
# No GPU kernel uses local memory: neither a stack frame nor spilled registers, in the reports that the build keeps of
# ptxas, one for each source and architecture; and every kernel of the list is in a report of each architecture.
#   tests/install/no_spills.sh FOLDER-OF-REPORTS HEADER-OF-A-LIST...
set -euo pipefail
reports=$1
shift

# The lists are macros: X(name) for each kernel, and nothing else looks like that but the macros' own X(X).
names() { grep -ohE '\bX\([a-z][a-z0-9_]*\)' "$1" | sed -E 's/X\((.*)\)/cutt_\1/' | grep -v '^cutt_name$'; }
wanted=$(
  for list; do
    names "$list"
    # Those that permute are there once more, for many executions by one launch.
    if grep -q _batched "$list"; then names "$list" | sed 's/$/_batched/'; fi
  done | sort -u
)
count=$(printf '%s\n' "$wanted" | wc -l)
[[ $count -ge 10 ]] || { echo "no_spills: only $count kernels were found in $*; has its layout changed?" >&2; exit 1; }

failed=0
archs=$(find "$reports" -name '*.sm_*.txt' | sed -E 's/.*\.(sm_[0-9]+)\.txt$/\1/' | sort -u)
[[ -n $archs ]] || { echo "no_spills: there are no reports in $reports" >&2; exit 1; }
for arch in $archs; do
  compiled=$(cat "$reports"/*."$arch".txt | sed -nE "s/.*Compiling entry function '([^']*)'.*/\1/p" | sort -u)
  if ! diff <(printf '%s\n' "$wanted") <(printf '%s\n' "$compiled") >&2; then
    echo "no_spills: $arch: < is in a list of kernels and was not compiled, > was compiled and is not in it" >&2
    failed=1
  fi
  # A function's name, then on the next line what it has on the stack and spills.
  if ! cat "$reports"/*."$arch".txt | awk -v arch="$arch" '
    /Function properties for/ { name = $NF; next }
    /bytes stack frame/ {
      seen++
      if ($0 !~ /^ *0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads/) {
        print "no_spills: " arch ": " name ":" $0; bad = 1
      }
    }
    END { if (seen == 0) { print "no_spills: " arch ": the reports say nothing"; bad = 1 } exit bad }' >&2; then
    failed=1
  fi
done
[[ $failed -eq 0 ]] || exit 1
echo "no_spills: $count kernels for" $archs "use no local memory"
