#!/usr/bin/env bash
# A shared library exports exactly the functions that its header declares, and the archive keeps every other name of its
# own below cutt_: tests/install/symbols.sh NM HEADER SHARED ARCHIVE [SERVICES]
# SERVICES: one name more that is exported, the table of functions for libraries that come with this one.
set -euo pipefail
nm=$1 header=$2 shared=$3 archive=$4 services=${5:-}

declared=$(grep -oE '^CUTT_API [^(]*\(' "$header" | grep -oE '[A-Za-z0-9_]+\($' | tr -d '(' | sort -u)
if [[ -n $services ]]; then declared=$(printf '%s\n%s\n' "$declared" "$services" | sort -u); fi
# .gomp_...: the lock of a reduction, which clang wants all libraries of a process to share.
exported=$("$nm" -D --defined-only "$shared" | awk '{ print $NF }' | grep -v '^\.gomp_' | sort -u)
if ! diff <(printf '%s\n' "$declared") <(printf '%s\n' "$exported") >&2; then
  echo "symbols: < is declared in $(basename "$header") and not exported, > is exported and not declared" >&2
  exit 1
fi
count=$(printf '%s\n' "$declared" | wc -l)
if [[ $count -lt 4 ]]; then
  echo "symbols: only $count functions were found in $header; has its layout changed?" >&2
  exit 1
fi

stray=$("$nm" --extern-only --defined-only "$archive" | awk 'NF == 3 && $3 !~ /^(cutt_|cutt[A-Z]|\.gomp_)/ { print $3 }' | sort -u)
if [[ -n $stray ]]; then
  printf 'symbols: these names in the archive can collide with a program that links it:\n%s\n' "$stray" >&2
  exit 1
fi
echo "symbols: the $count functions of $(basename "$header") are exported, and nothing else"
