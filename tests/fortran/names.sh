#!/usr/bin/env bash
# The Fortran module has an interface for each function of the headers, and its constants have the headers' values:
#   tests/fortran/names.sh LEAST-FUNCTIONS cutt_raw.f90 HEADER...
set -euo pipefail
least=$1 module=$2
shift 2
declared=$(cat "$@" | grep -oE '^CUTT_API [^(]*\(' | grep -oE '[A-Za-z0-9_]+\($' | tr -d '(' | sort)
bound=$(grep -oE "name='[A-Za-z]+'" "$module" | sed "s/name='\(.*\)'/\1/" | sort)
if ! diff <(printf '%s\n' "$declared") <(printf '%s\n' "$bound") >&2; then
  echo "names: < is declared in a header and not in $(basename "$module"), > the other way round" >&2
  exit 1
fi
constants() { grep -oE '\bCUTT_[A-Z0-9_]+ = [0-9]+' | sort -u; }
values=$(cat "$@" | constants)
if ! diff <(printf '%s\n' "$values") <(grep -v '^ *!' "$module" | constants | grep -v '^CUTT_MAX_RANK ') >&2; then
  echo "names: < is in a header, > in $(basename "$module")" >&2
  exit 1
fi
count=$(printf '%s\n' "$declared" | wc -l)
[[ $count -ge $least ]] || { echo "names: only $count functions were found; has the layout of the headers changed?" >&2; exit 1; }
echo "names: $count functions and $(printf '%s\n' "$values" | wc -l) constants are the headers'"
