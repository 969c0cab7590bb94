#!/usr/bin/env bash
# Builds and runs the tests, stage by stage: scripts/check.sh [--long] STAGE...
#   format   the layout of the sources
#   release  the optimised build, every test
#   asan     clang, AddressSanitizer and UndefinedBehaviorSanitizer, every test, with kernels of the first instruction set and of the
#            widest that is here
#   tsan     clang, ThreadSanitizer, the tests that use threads and no others, kernels of one instruction set
#   neon     the library for 64-bit Arm, by a cross compiler, and a part of the property tests under QEMU
#   arrays   the Python package with arrays of PyTorch, JAX and the newest NumPy, and the program with Zarr arrays of the package
#            zarr, from the registry of packages
#   fuzz     each libFuzzer target of the asan build for FUZZ_SECONDS (5, or 600 with --long)
# --long registers the long tests in the release stage, and has kernels of all instruction sets in the asan stage. It takes an hour on
# two cores, and ends with a line for the table in CONTRIBUTING.md. From the environment: JOBS, WERROR=ON, CMAKE_FLAGS, FUZZ_SECONDS.
# All stages run even if one fails; the closing summary names those that did, and the exit status is 1.
#
# A stage whose tools aren't there is left out, and so are tests that this machine can't run; the last lines say which and
# why. scripts/bootstrap.sh installs tools.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
long=OFF fuzz_seconds=${FUZZ_SECONDS:-5}
if [[ ${1:-} == --long ]]; then
  long=ON fuzz_seconds=${FUZZ_SECONDS:-600}
  shift
fi

# A BLAS may have OpenMP's threads: while they spin, nothing else gets on.
export OMP_WAIT_POLICY=passive

stages=("$@") summary=() left_out=() failures=0 fuzz_inputs=0 release_log=/dev/null fetching=''
# What runs in the background is not ended by a ^C.
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
title() { printf '\n==== %s ====\n' "$*"; }

# By Ninja, if it is there. Where it is not, a line for each target that is built, and none for each file: make starts a process for
# every line.
CMAKE_GENERATOR=$(scripts/generator.sh)
export CMAKE_GENERATOR
terse=''
if [[ $CMAKE_GENERATOR == *Makefiles ]]; then terse=-DCMAKE_RULE_MESSAGES=OFF; fi

# configure_and_build PRESET FLAG...
# The others take the GPU's kernels that the release stage has compiled, if it was one of the stages.
configure_and_build() {
  local preset=$1
  shift
  # shellcheck disable=SC2086 # CMAKE_FLAGS is a list of words
  cmake --preset "$preset" $terse -DCUTT_WERROR="${WERROR:-OFF}" -DCUTT_CUDA_CUBINS="$cubins" "$@" ${CMAKE_FLAGS:-} &&
    cmake --build "${folder[$preset]}" --target "$target" -j "$jobs"
}
cubins='' target=all
declare -A folder=([release]=build [asan]=build-asan [tsan]=build-tsan)

ctest=(ctest)
# run_tests FOLDER CTEST-OPTION... : with the whole output of every test, and without the number that ctest puts before
# each line of it, so that cmocka's own closing lines can be read (and searched) as cmocka writes them.
run_tests() {
  local where=$1 log=$1/check.log
  shift
  "${ctest[@]}" --test-dir "$where" --parallel "$((jobs + 1))" --verbose --no-tests=error --timeout 900 "$@" 2>&1 | sed -u -E 's/^[0-9]+: //' | tee "$log"
  local status=${PIPESTATUS[0]}
  note=$(grep -E '^[0-9]+% tests passed' "$log" | tail -n 1)
  local passed
  passed=$(sed -n -E 's/^\[  PASSED  \] ([0-9]+) test.*/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
  note+=" (ctest); $passed cmocka tests passed"
  note_skipped "$where"
  return "$status"
}

# note_skipped FOLDER: the tests that said they can't be run here, with what they gave as the reason; and those within programs.
note_skipped() {
  local log=$1/check.log test
  while read -r test; do
    left_out+=("$stage, $test: $(awk -v start="\"$test\" start time:" '
      index($0, start) == 1 { on = 1; next }
      on && /^<end of output>/ { exit }
      on && NF && (!said || tolower($0) ~ /skipped|not run|left out/) { said = 1; reason = $0 }
      END { print reason }' "$1/Testing/Temporary/LastTest.log" | sed -E 's/^[^:]*(SKIPPED|skipped|not run): *//')")
  done < <(sed -n -E 's/^[[:space:]]+[0-9]+ - (.*) \(Skipped\)$/\1/p' "$log")
  test=$(sed -n -E 's/^\[  SKIPPED \] ([a-z_0-9]+)$/\1/p' "$log" | sort -u | paste -s -d ' ')
  if [[ -n $test ]]; then left_out+=("$stage, parts of tests: $test"); fi
}

# can_clang FLAG...: clang is there and links a program with these flags. Sets missing when not.
can_clang() {
  if ! command -v clang >/dev/null 2>&1; then
    missing="clang is not installed"
  elif ! echo 'int main(void) { return 0; }' | clang "$@" -x c - -o /dev/null >/dev/null 2>&1; then
    missing="clang has no run time for $*"
  fi
  [[ -z $missing ]]
}

stage_format() { scripts/format.sh --check; }

stage_release() {
  configure_and_build release -DCUTT_BUILD_TESTS=ON -DCUTT_LONG_TESTS=$long || return 1
  cubins=$PWD/build/src/kernels release_log=build/check.log
  if [[ " ${stages[*]} " == *" arrays "* ]]; then fetch_arrays; fi
  run_tests build
}

export UBSAN_OPTIONS=print_stacktrace=1

stage_asan() {
  can_clang -fsanitize=address,undefined || return 77
  # Compiling the kernels takes longest here. They are one source, so that the first instruction set and the widest of this processor
  # will do; what those between touch the release stage holds to guard bytes and unmapped pages. With --long, all.
  local isas=''
  if [[ $long == OFF && $(uname -m) == x86_64 ]]; then
    isas='sse2;avx2'
    if grep -qw avx512vl /proc/cpuinfo; then isas='sse2;avx512'; fi
    if grep -qw avx512vbmi /proc/cpuinfo; then isas+=';avx512vbmi'; fi
  fi
  configure_and_build asan -DCUTT_CPU_ISAS="$isas" || return 1
  # Allocations that can't succeed must return NULL, as they do without the sanitizer: tests ask for that. And clang 14 guesses
  # where a loaded library's thread-local storage begins: a wrong guess (one place in 256) ends its search for leaks with a
  # signal 11, and the program with it.
  # The kernels trap where they would have undefined behaviour: that has a stack, too.
  ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=1:intercept_tls_get_addr=0:handle_sigill=1 run_tests build-asan
}

# Without OpenMP, which only the program's benchmarks use: its barriers would look like races.
stage_tsan() {
  can_clang -fsanitize=thread || return 77
  local -x TSAN_OPTIONS=halt_on_error=1
  # The sanitizer's layout of memory does not fit every kernel's address randomisation.
  local ctest=(ctest)
  if setarch "$(uname -m)" -R true 2>/dev/null; then ctest=(setarch "$(uname -m)" -R ctest); fi
  local target=threads_tests
  configure_and_build tsan || return 1
  run_tests build-tsan -L threads
}

# Debian's cross compiler, and QEMU for programs; where the processor is one of these, the release stage has done it.
stage_neon() {
  if [[ $(uname -m) == aarch64 ]]; then missing="this processor is a 64-bit Arm: the stage release has tested it"; fi
  command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 || missing="there is no aarch64-linux-gnu-gcc (Debian: gcc-aarch64-linux-gnu)"
  command -v qemu-aarch64 >/dev/null 2>&1 || missing="there is no qemu-aarch64 (Debian: qemu-user)"
  if [[ -n $missing ]]; then return 77; fi
  if ! echo '#include <stdio.h>' | aarch64-linux-gnu-gcc -E -x c - >/dev/null 2>&1; then
    missing="aarch64-linux-gnu-gcc has no C library (Debian: libc6-dev-arm64-cross)"
    return 77
  fi
  cmake -S tests/cross -B build-neon $terse -DCMAKE_TOOLCHAIN_FILE=aarch64.cmake -DCUTT_WERROR="${WERROR:-OFF}" &&
    cmake --build build-neon -j "$jobs" && run_tests build-neon
}

# The packages, in virtual environments of their own, so that one that can't be had does not take the others along. PyTorch comes from
# the index that has it for the processor alone: the usual one has it with libraries for GPUs, a gigabyte and more.
arrays=(numpy jax torch zarr)

# fetch_arrays: begins to fetch them, once, in the background: waiting for them takes no processor from the tests of the release stage.
fetch_arrays() {
  local python name
  python=$(sed -n 's/^CUTT_PYTHON:[A-Z]*=//p' build/CMakeCache.txt 2>/dev/null)
  if [[ -n $fetching || -z $python ]]; then return; fi
  for name in "${arrays[@]}"; do
    rm -f "build/python-$name.fetched"
    fetch_with "$name" "$python" >"build/python-$name.log" 2>&1 &
    fetching+=" $!"
  done
}

# fetch_with NAME PYTHON: leaves build/python-NAME.fetched if the package can be had; else its last line says why not.
fetch_with() {
  local name=$1 python=$2 where=build/python-$1 log=build/python-$1.install index=()
  if [[ $name == torch ]]; then index=(--index-url https://download.pytorch.org/whl/cpu); fi
  if ! "$where/bin/python" -c "import numpy, $name" >/dev/null 2>&1; then
    rm -rf "$where"
    if ! CUTT_PIP_SEED=$PWD/build/python-pip bindings/python/tests/venv.sh "$python" "$where" >"$log" 2>&1 ||
      ! may_install "$where" "$name" "$log" ${index[@]+"${index[@]}"} ||
      ! { "$where/bin/python" -c "import numpy" >/dev/null 2>&1 || may_install "$where" numpy "$log"; }; then
      tail -n 1 "$log" | grep . || echo "not within five minutes"
      return
    fi
  fi
  : >"build/python-$name.fetched"
}

stage_arrays() {
  local name log status count=0 result=0 running=()
  if [[ -e build/lib/libcutt_contract.so ]]; then fetch_arrays; fi
  if [[ -z $fetching ]]; then
    missing="it uses the library and the Python that the stage release has found"
    return 77
  fi
  # shellcheck disable=SC2086 # a list of processes
  wait $fetching
  for name in "${arrays[@]}"; do
    log=build/python-$name.log
    if [[ ! -e build/python-$name.fetched ]]; then
      left_out+=("arrays, $name: not installed: $(tail -n 1 "$log")")
      continue
    fi
    while (($(jobs -rp | wc -l) >= jobs)); do wait -n; done
    rm -f "build/python-$name.status"
    arrays_with "$name" >"$log" 2>&1 &
    running+=("$name")
  done
  wait
  for name in ${running[@]+"${running[@]}"}; do
    log=build/python-$name.log status=$(cat "build/python-$name.status" 2>/dev/null || echo 1)
    echo "-- $name"
    cat "$log"
    count=$((count + 1))
    if [[ $status != 0 ]]; then result=1; fi
    note+="${note:+; }$name: $(sed -nE 's/^python: //p; /^[0-9]+ passed, /p' "$log" | paste -s -d ' ')"
  done
  if ((count == 0)); then
    missing="no registry of packages can be reached, or it has none of them"
    return 77
  fi
  return $result
}

# arrays_with NAME: its exit status goes to build/python-NAME.status.
arrays_with() {
  local name=$1
  local test=(bindings/python/tests/run.py test_libraries test_borders test_gradients test_dist)
  if [[ $name == zarr ]]; then test=(tests/cli/test_zarr.py WithPackage); fi
  CUTT_LIBRARY_DIR=$PWD/build/lib PYTHONPATH=$PWD/bindings/python PYTHONDONTWRITEBYTECODE=1 CUTT_CALIBRATION=0 CUTT_CUDA=0 \
    CUTT_PROGRAM=$PWD/build/cutt timeout 600 "build/python-$name/bin/python" "${test[@]}"
  echo $? >"build/python-$name.status"
}

# may_install FOLDER NAME LOG INDEX...: NAME into a virtual environment, if it comes within five minutes, beside the tests, and is no
# larger than 300 MB with all that it needs.
may_install() {
  local where=$1 name=$2 log=$3 bytes
  shift 3
  local pip=("$where/bin/python" -m pip --disable-pip-version-check)
  timeout 300 "${pip[@]}" --timeout 15 --retries 0 download -q --only-binary :all: --dest "$where/packages" "$@" "$name" >"$log" 2>&1 || return 1
  bytes=$(du -sb "$where/packages" | cut -f 1)
  if ((bytes > 300 << 20)); then
    echo "it is $((bytes >> 20)) MB" >"$log"
    return 1
  fi
  "${pip[@]}" install -q --no-index --find-links "$where/packages" "$name" >"$log" 2>&1 && rm -rf "$where/packages"
}

# fuzz TARGET NAME LOG: its exit status goes to LOG.status.
fuzz() {
  local seeds=()
  if [[ -d tests/fuzz/seeds/$2 ]]; then seeds=("tests/fuzz/seeds/$2"); fi
  ASAN_OPTIONS=allocator_may_return_null=1 "$1" -max_total_time="$fuzz_seconds" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="build-asan/corpus/$2-" \
    "build-asan/corpus/$2" ${seeds[@]+"${seeds[@]}"} >"$3" 2>&1
  echo $? >"$3.status"
}

stage_fuzz() {
  local -x CUTT_CUDA=0 # the targets hand over host memory
  can_clang -fsanitize=address,undefined || return 77
  configure_and_build asan || return 1
  local target name log logs=() count=0 result=0
  for target in build-asan/fuzz/fuzz_*; do
    [[ -x $target && -f $target ]] || continue
    name=$(basename "$target")
    count=$((count + 1))
    echo "-- $name for $fuzz_seconds s"
    mkdir -p "build-asan/corpus/$name"
    log=build-asan/corpus/$name.log
    rm -f "$log.status"
    while (($(jobs -rp | wc -l) >= jobs)); do wait -n; done
    fuzz "$target" "$name" "$log" &
    logs+=("$log")
  done
  wait
  for log in ${logs[@]+"${logs[@]}"}; do
    name=$(basename "$log" .log)
    if [[ $(cat "$log.status") == 0 ]]; then
      echo "-- $name"
      grep '^stat::' "$log"
      fuzz_inputs=$((fuzz_inputs + $(sed -n 's/^stat::number_of_executed_units: *//p' "$log")))
    else
      result=1
      grep -v '^"' "$log" | tail -n 80
      echo "-- $name FAILED; the input is build-asan/corpus/$name-*, and all that it said is in $log"
    fi
  done
  note="$count targets, $fuzz_seconds s each, $fuzz_inputs inputs"
  if [[ $count -eq 0 ]]; then
    echo "no fuzz targets were built"
    return 1
  fi
  return $result
}

# processor: seconds of it that processes of this script took which have ended; 0 where the system does not tell.
processor() {
  local stat=()
  read -ra stat 2>/dev/null </proc/$$/stat
  echo $(((${stat[15]:-0} + ${stat[16]:-0}) / $(getconf CLK_TCK)))
}

for stage in "$@"; do
  note='' missing=''
  title "$stage"
  start=$SECONDS used=$(processor)
  "stage_$stage"
  case $? in
    0) verdict=passed ;;
    77) verdict="LEFT OUT" note=$missing left_out+=("$stage, all of it: $missing") ;;
    *) verdict=FAILED failures=$((failures + 1)) ;;
  esac
  used=$(($(processor) - used))
  summary+=("$(printf '%-8s %-8s %4d s, %4d s of processor  %s' "$stage" "$verdict" $((SECONDS - start)) "$used" "$note")")
done

# add_up PATTERN: the sum of the numbers that a pattern of sed finds in what the release stage said.
add_up() { sed -n -E "s/$1/\\1/p" "$release_log" | awk '{ n += $1 } END { printf "%d", n }'; }

# A long run in a line of the table in CONTRIBUTING.md: what the CPU did in the release stage, and the fuzzers.
long_run() {
  local processor commit
  processor=$(sed -n 's/^model name[[:space:]]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1)
  commit=$(git describe --always --dirty --exclude='*' 2>/dev/null)
  echo "| date | commit | processor | cores | problems | executions | contractions | fuzzed inputs | minutes |"
  printf '| %s ' "$(date -u +%F)" "${commit:-unknown}" "${processor:-$(uname -m)}" "$(nproc)" \
    "$(add_up '^cpu: ([0-9]+) problems, [0-9]+ executions compared.*')" \
    "$(add_up '^cpu: [0-9]+ problems, ([0-9]+) executions compared.*')" \
    "$(add_up '^cpu: ([0-9]+) contractions compared.*')" "$fuzz_inputs" $((SECONDS / 60))
  echo "|"
}

# What bench/device.sh has left of the last full run on a GPU, and how many commits have come since.
gpu_run() {
  local commit since=''
  if [[ ! -s bench/gpu-run.txt ]]; then
    echo "GPU: no full run is recorded (bench/device.sh, on a machine with a GPU)"
    return
  fi
  commit=$(sed -n 's/^commit: *//p' bench/gpu-run.txt)
  since=$(git rev-list --count "${commit%-dirty}..HEAD" 2>/dev/null)
  echo "GPU: the last full run was ${since:-an unknown number of} commits ago: $commit, $(sed -n 's/^date: *//p' bench/gpu-run.txt)," \
    "$(sed -n 's/^card: *//p' bench/gpu-run.txt), $(sed -n 's/^outcome: *//p' bench/gpu-run.txt)"
}

title summary
printf '%s\n' "${summary[@]}"
printf '%-17s %4d s, %4d s of processor\n' all "$SECONDS" "$(processor)"
gpu_run
if [[ $long == ON ]]; then
  echo
  long_run
  echo
fi
if [[ ${#left_out[@]} -gt 0 ]]; then
  echo "left out:"
  printf '  %s\n' "${left_out[@]}"
fi
if [[ $failures -gt 0 ]]; then
  echo "check: $failures of $# stages FAILED"
  exit 1
fi
if [[ ${#left_out[@]} -gt 0 ]]; then
  echo "check: all passed; ${#left_out[@]} left out, above"
else
  echo "check: all passed"
fi
