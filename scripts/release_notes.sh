#!/usr/bin/env bash
# Prints the notes of a release: scripts/release_notes.sh [VERSION], by default the first of CHANGELOG.md. What CHANGELOG.md says
# of it, and on what it was tested last: the long run (CONTRIBUTING.md) and the full run on a GPU (bench/gpu-run.txt).
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:-$(sed -n 's/^## \[\([^]]*\)\].*/\1/p' CHANGELOG.md | head -n 1)}
notes=$(awk -v heading="## [$version]" 'index($0, heading) == 1 { on = 1; print; next } on && /^## / { exit } on' CHANGELOG.md)
if [[ -z $notes ]]; then
  echo "$0: CHANGELOG.md has no version $version" >&2
  exit 1
fi
printf '%s\n\n### Tested\n\n' "$notes"

long=$(awk '/^### The last long run/ { on = 1; next } on && /^#/ { exit } on && /^\| [0-9]/ { print }' CONTRIBUTING.md)
if [[ -n $long ]]; then
  echo "$long" | awk -F ' *[|] *' '{ printf "- CPU: %s, commit %s: %s problems, %s contractions, %s fuzzed inputs on %s.\n", $2, $3, $6, $8, $9, $4 }'
else
  echo "- CPU: no long run is recorded."
fi
if [[ -s bench/gpu-run.txt ]]; then
  sed -n 's/^\(commit\|date\|card\|outcome\): *//p' bench/gpu-run.txt | paste -s -d , | sed 's/,/, /g; s/^/- GPU: commit /; s/$/./'
else
  echo "- GPU: no full run is recorded."
fi
