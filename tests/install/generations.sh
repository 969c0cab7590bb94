#!/usr/bin/env bash
# Device code asks for no architecture that the build takes for one with another: from one generation to the next a source has
# the same PTX; and the header that all sources include does not ask for what few of them use (cmake/CuttCuda.cmake).
#   tests/install/generations.sh "GENERATION ..." FOLDER-OF-DEVICE-CODE...
set -euo pipefail
generations=$1
shift
failed=0 count=0
while IFS=: read -r file line text; do
  count=$((count + 1))
  if [[ ! $text =~ ^__CUDA_ARCH__' '(\>=|\<)' '([0-9]+)0$ ]]; then
    echo "generations: $file:$line: $text: only __CUDA_ARCH__ >= N and __CUDA_ARCH__ < N can be checked" >&2
    failed=1
  elif [[ " $generations " != *" ${BASH_REMATCH[2]} "* ]]; then
    echo "generations: $file:$line: $text: ${BASH_REMATCH[2]} is not in cutt_cuda_generations, which has $generations" >&2
    failed=1
  elif [[ $file == */device.h && ${BASH_REMATCH[2]} -gt 75 ]]; then
    echo "generations: $file:$line: $text: every source would be compiled anew for this; ask in a header of its own, as async.h" >&2
    failed=1
  fi
done < <(grep -rnoE '__CUDA_ARCH[A-Z_]*__( *[<>=!]+ *[0-9]+)?' "$@")
[[ $count -gt 0 ]] || { echo "generations: nothing asks for __CUDA_ARCH__ in $*" >&2; exit 1; }
[[ $failed -eq 0 ]] || exit 1
echo "generations: $count questions for the architecture, all about one of $generations"
