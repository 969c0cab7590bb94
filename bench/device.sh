#!/bin/bash
# Everything on a machine with a GPU: build for the GPU at hand, and then, the most useful first,
#
#     tests         the GPU's
#     bench         the benchmark sets at the paper's volumes beside a copy on the device, and PyTorch where it is there
#     peers         set 3, layouts, small tensors, batches and calls beside cuTENSOR and PyTorch
#     sanitizer     a sample of the tests under compute-sanitizer
#     contractions  beside the matrix product alone, and PyTorch
#     figures       the model's choices beside measured ones, before and after a calibration
#
# Ends within 9 minutes, whatever hangs. Each part has a share of that time, and what the parts before it have left over: what
# does not fit is named at the end, with the call that does it. Such calls add to what FOLDER has.
#
#     bench/device.sh [OPTION...] FOLDER
#
#     --build DIR    use what was built in DIR (also on another machine) and build nothing
#     --lib DIR      look there for shared libraries that the machine lacks, such as libjansson.so.4, libcmocka.so.0
#     --seconds N    end after N seconds (default: 530)
#     --volume N     of `cutt bench`, elements of a tensor (default: paper)
#     --only PART,...  these parts and no others; they have all of the time
#     --from PART      this part and those after it
#     --bench-only     all parts but tests and sanitizer
#     --figures-only   as --only figures
#     --contract-only  as --only contractions, and their tests first
#     --ranks N      tensors over N GPUs, and nothing else: their tests (peer access, NCCL, CUDA's IPC, MPI by mpirun, a rank that
#                    is killed), times beside a plain all-to-all of NCCL, and contractions beside one GPU's
#     --fuzz         a million random problems against a naive kernel, and nothing else; a minute or two
#     --samples N    of the figures, see `cutt bench --help` (default: 2)
#     --seed S       of the figures, and of --fuzz (default: 2017)
#     --commit C     of which commit the sources are, for gpu-run.txt and the last line of --fuzz (default: what git says)
#     --candidates   also time every candidate of every case (cutt bench --all-candidates): takes minutes more
#
# FOLDER receives (and build-device, without --build, what is built):
#     set1-f4.json ... set3-f8.json   the benches, see `man cutt`
#     calibrated.device               what `cutt calibrate` found
#     figures-f8.json, figures-f4.json  `cutt bench figures` with the parameters that the library comes with, and
#     figures-f8-calibrated.json, ...   with those of calibrated.device, on the same cases
#     contract-tccg48-f8.json ...     `cutt bench contract`, set by set: contractions beside the matrix product alone
#     contract-torch.json             the contractions of tccg48 with torch.einsum, cuTENSOR as for the peers, and libcutt_contract, taking turns
#     networks.json                   networks of tensors with opt_einsum and PyTorch, taking turns
#     peers.json                      set 3, layouts, small tensors, batches and calls beside a copy, cuTENSOR where it is
#                                     found (CUTENSOR names another) and PyTorch, with and without beta
#     torch.json                      the cases of the benches with PyTorch, a copy and libcutt, taking turns
#     device.log                      all that was printed
#     part-tests.txt ...              what failed or was not run of each part, and of which commit
#     gpu-run.txt                     when all parts have been run at one commit, by one call or several without --seconds: commit,
#                                     date, card, outcome. It is bench/gpu-run.txt then, too, to be committed: `make check` says
#                                     how old it is, and scripts/release_notes.sh reads it
# Exit status: 0 when every step that could run was good, 1 when one failed, 2 for wrong usage. A step that can't run
# says why, and is not a failure.
#
# Building needs cmake, a C compiler, nvcc and jansson; tests need cmocka too. Where those are missing, build elsewhere:
#     cmake -S . -B build -DCUTT_CUDA_ARCHS=90 && cmake --build build
# carry the repository with that folder, and give --build build. The test programs are run directly, not by ctest, whose
# files would name the paths of the machine that built them.
set -uo pipefail
root=$(realpath "$(dirname "$0")/..") || exit 2

usage() {
  echo "bench/device.sh: $1 (bench/device.sh --help explains)" >&2
  exit 2
}

build='' lib='' seconds=530 shorter=no volume=paper samples=2 contractions=60 ranks=0 seed=2017 commit='' only='' candidates=() folder=''
# The parts, and how many of 530 seconds each has.
parts=(tests bench peers sanitizer contractions figures)
declare -A share=([tests]=80 [bench]=70 [peers]=110 [sanitizer]=85 [contractions]=100 [figures]=85)
need_part() { [[ " ${!share[*]} " == *" $1 "* ]] || usage "$2 names '$1'; the parts are ${parts[*]}"; }
while (($#)); do
  case $1 in
  --build | --lib | --seconds | --volume | --samples | --ranks | --seed | --commit | --only | --from)
    (($# > 1)) || usage "$1 needs a value"
    case $1 in
    --build) build=$2 ;;
    --lib) lib=$2 ;;
    --seconds) seconds=$2 shorter=yes ;;
    --volume) volume=$2 ;;
    --samples) samples=$2 ;;
    --ranks) ranks=$2 only=ranks ;;
    --seed) seed=$2 ;;
    --commit) commit=$2 ;;
    --only)
      for part in ${2//,/ }; do need_part "$part" --only; done
      IFS=, read -r -a parts <<<"$2"
      ;;
    --from)
      need_part "$2" --from
      while [[ ${parts[0]} != "$2" ]]; do parts=("${parts[@]:1}"); done
      ;;
    esac
    shift
    ;;
  --bench-only) parts=(bench peers contractions figures) ;;
  --figures-only) parts=(figures) ;;
  --contract-only) parts=(contractions) only=contract ;;
  --fuzz) only=fuzz ;;
  --candidates) candidates=(--all-candidates) ;;
  -h | --help)
    sed -n '2,/^set -uo/{/^#/!d;s/^# \{0,1\}//;p;}' "$root/bench/device.sh"
    exit 0
    ;;
  -*) usage "unknown option $1" ;;
  *)
    [[ -z $folder ]] || usage "there may be one folder; '$folder' and '$1' are two"
    folder=$1
    ;;
  esac
  shift
done
[[ -n $folder ]] || usage "a folder for the results is missing"
((${#parts[@]})) || usage "--only names no part"
[[ $seconds =~ ^[1-9][0-9]*$ ]] || usage "--seconds is '$seconds'; it must be a whole number"
[[ $ranks =~ ^[0-9]+$ && ($only != ranks || $ranks -ge 2) ]] || usage "--ranks is '$ranks'; it must be 2 or more"
[[ -z $build || -d $build ]] || usage "--build: '$build' is not a folder"
[[ -z $lib || -d $lib ]] || usage "--lib: '$lib' is not a folder"
mkdir -p "$folder" || exit 2
if [[ -n $lib ]]; then
  lib=$(realpath "$lib")
  export LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
# Libraries built on another machine look for each other where they lay there.
if [[ -n $build && -d $build/lib ]]; then
  export LD_LIBRARY_PATH=$(realpath "$build/lib")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi

cutensor=() # where the comparisons find it, if not where the system does
if [[ -n ${CUTENSOR:-} ]]; then cutensor=(--cutensor "$CUTENSOR"); fi

deadline=$((SECONDS + seconds)) part='' part_ends=$deadline failed=() skipped=() rest=()

left() { echo $((part_ends - SECONDS)); }
cannot() {
  echo "$1: not run: $2"
  skipped+=("$1: $2")
}
# no_time NAME WHY: of this part something is left for another call.
no_time() {
  cannot "$1" "$2"
  if [[ -n $part && " ${rest[*]} " != *" $part "* ]]; then rest+=("$part"); fi
}

# step NAME SECONDS COMMAND...: runs it for that long at most, and never past the end of its part; then it is interrupted, upon
# which `cutt bench` writes what it has. Exit status 77 is "nothing to do here".
step() {
  local name=$1 limit=$2 status began=$SECONDS short=no
  shift 2
  if (($(left) < 5)); then
    no_time "$name" "no time is left"
    return 0
  fi
  if ((limit > $(left))); then limit=$(left) short=yes; fi
  echo
  echo "== $name"
  timeout --signal=INT --kill-after=5 "$limit" "$@"
  status=$?
  echo "== $name: exit status $status after $((SECONDS - began)) s"
  case $status in
  0) ;;
  77) skipped+=("$name: it says that there is nothing to run on") ;;
  124 | 137)
    if [[ $short == yes ]]; then no_time "$name" "all but the first $limit s"; else failed+=("$name (ended after $limit s)"); fi
    ;;
  *) failed+=("$name (exit status $status)") ;;
  esac
  return "$status"
}

# --------------------------------------------------------------------------------------------------- the machine, build

tell_machine() {
  uname -srm
  if ! command -v nvidia-smi >/dev/null; then
    echo "nvidia-smi: not found; the GPU's name and architecture are left to the library"
  else
    nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total,clocks.max.sm,clocks.max.mem \
      --format=csv
  fi
}

# shellcheck disable=SC2317 # it is called, by another shell
build_here() {
  local tool arch generator=() with_tests=OFF
  for tool in cmake cc; do
    command -v "$tool" >/dev/null && continue
    echo "there is no $tool; --build takes a folder from elsewhere"
    return 77
  done
  arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d '. \r')
  if [[ ! $arch =~ ^[0-9]+$ ]]; then
    echo "nvidia-smi does not tell the GPU's architecture; --build takes a folder from elsewhere"
    return 77
  fi
  if command -v ninja >/dev/null; then generator=(-G Ninja); fi
  if pkg-config --exists cmocka 2>/dev/null; then with_tests=ON; fi
  cmake -S "$root" -B "$1" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DCUTT_CUDA=ON "-DCUTT_CUDA_ARCHS=$arch" \
    "-DCUTT_BUILD_TESTS=$with_tests" && cmake --build "$1" -j "$(nproc)"
}
export -f build_here
export root

# ----------------------------------------------------------------------------------------------------------- the tests

run_contraction_tests() {
  local name path
  if [[ -x $build/tests/contract/test_contract ]]; then
    CUTT_TEST_SCALE=${CUTT_TEST_SCALE:-0.1} step "test contract" 120 "$build/tests/contract/test_contract" \
      "$root/bench/data" cuda
  else
    cannot "test contract" "it is not there (without cmocka no tests are built)"
  fi
  for name in elementwise reduce moved parts measured; do
    path=$build/tests/contract/test_$name
    if [[ -x $path ]]; then
      CUTT_TEST_SCALE=${CUTT_TEST_SCALE:-0.2} step "test $name" 60 "$path" cuda
    else
      cannot "test $name" "$path is not there (without cmocka no tests are built)"
    fi
  done
}

# The fast ones first: what they find would spoil the rest.
run_tests() {
  local name path
  run_contraction_tests
  for name in probe memory streams batch property large; do
    path=$build/tests/gpu/test_gpu_$name
    if [[ ! -x $path ]]; then
      cannot "test $name" "$path is not there (without cmocka no tests are built)"
      continue
    fi
    CUTT_TEST_SCALE=${CUTT_TEST_SCALE:-0.2} step "test $name" 60 "$path"
  done
}

# First that the checks notice what is wrong, and then all of it, within the time that is left.
run_fuzz() {
  local path=$build/tests/gpu/fuzz_gpu
  if [[ ! -x $path ]]; then
    cannot fuzz "$path is not there (without cmocka no tests are built)"
    return
  fi
  step "fuzz: spoiled results" 60 "$path" --plant --problems 2000 --seed "$seed"
  step fuzz "$(left)" "$path" --problems 1000000 --seconds $(($(left) - 10)) --seed "$seed" --commit "$commit"
}

# ------------------------------------------------------------------------------------------------ tensors over ranks

# Without NVLink multicast, which point-to-point messages do not use.
run_ranks() {
  local tests=$build/tests/dist program=$build/bench/dist_gpu mode megabytes rounds kind
  export NCCL_NVLS_ENABLE=0 CUTT_TEST_SCALE=${CUTT_TEST_SCALE:-0.5}
  if [[ -x $tests/test_dist_gpu ]]; then
    step "ranks: threads" 120 "$tests/test_dist_gpu" threads
    step "ranks: processes" 150 "$tests/test_dist_gpu" processes "$ranks"
    step "ranks: contractions" 60 "$tests/test_dist_contract_gpu" "$ranks"
  else
    cannot "ranks: tests" "$tests/test_dist_gpu is not there (without cmocka no tests are built)"
  fi
  if [[ -x $build/examples/gpus ]]; then step "ranks: an example" 60 "$build/examples/gpus"; fi
  for kind in openmpi any; do
    if [[ ! -x $tests/test_dist_mpi_$kind ]] || ! command -v mpirun >/dev/null; then continue; fi
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
      step "ranks: MPI" 90 mpirun -n "$ranks" --oversubscribe --mca btl_vader_single_copy_mechanism none --mca plm_rsh_agent /bin/false \
      "$tests/test_dist_mpi_$kind" gpu
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
      step "ranks: contractions, MPI" 60 mpirun -n "$ranks" --oversubscribe --mca btl_vader_single_copy_mechanism none \
      --mca plm_rsh_agent /bin/false "$tests/test_dist_contract_mpi_$kind" gpu
    break
  done
  if [[ ! -x $program ]]; then
    program=$folder/dist_gpu
    step "ranks: build" 60 gcc -O2 "-I$root/include" -I/usr/local/cuda/include "$root/bench/dist_gpu.c" "-L$build/lib" -lcutt_dist -lcutt \
      -L/usr/local/cuda/lib64 -lcudart -lnccl -lpthread "-Wl,-rpath,$build/lib" -o "$program" || return
  fi
  for megabytes in 256 8192; do
    rounds=$((megabytes > 1000 ? 3 : 5))
    for mode in threads processes; do
      step "ranks: $megabytes MiB, $mode" 120 "$program" "$mode" "$ranks" "$megabytes" "$rounds"
    done
  done
  program=$build/bench/dist_contract_gpu
  if [[ ! -x $program ]]; then
    program=$folder/dist_contract_gpu
    step "ranks: build, contractions" 60 gcc -O2 -fopenmp "-I$root/include" -I/usr/local/cuda/include "$root/bench/dist_contract_gpu.c" \
      -Wl,--wrap=cuttDistPlanExecute -Wl,--wrap=cuttContractionExecute "$build/lib/libcutt_dist.a" "$build/lib/libcutt_contract.a" \
      "$build/lib/libcutt.a" -L/usr/local/cuda/lib64 -lcudart -lnccl -lpthread -ldl -lm -o "$program" || return
  fi
  step "ranks: products" 120 "$program" products "$ranks"
  step "ranks: CCSD's terms" 120 "$program" ccsd "$ranks" 24
}

# --------------------------------------------------------------------------------------------------------- the benches

# Is there a program, and a GPU that it can use?
program=''
can_bench() {
  local why
  program=$build/cutt
  if [[ ! -x $program ]]; then
    cannot bench "$program is not there (without jansson the program is not built)"
    return 1
  fi
  step devices 60 "$program" devices || return 1
  if ! why=$("$program" plan --backend cuda --shape 2,2 --dtype f4 2>&1); then
    cannot bench "$why"
    return 1
  fi
}

benches=()
run_bench() {
  local set dtype json limit=$((${#candidates[@]} ? 300 : 45))
  for set in set1 set2 set3; do
    for dtype in f8 f4; do
      json=$folder/$set-$dtype.json
      rm -f "$json"
      step "bench $set $dtype" "$limit" "$program" bench "$set" --backend cuda --dtype "$dtype" --volume "$volume" \
        "${candidates[@]}" --quiet --json "$json" --force
      if [[ -s $json ]]; then benches+=("$json"); fi
    done
  done
  compare_with_torch
}

# ------------------------------------------------------------------------------------------------------ the contractions

# cuBLAS may come with the toolkit or with Python's packages, where the loader does not look.
find_cublas() {
  local file
  if [[ -n ${CUTT_CUBLAS:-} ]] || ldconfig -p 2>/dev/null | grep -q 'libcublas\.so\.'; then return; fi
  for file in /usr/local/cuda/lib64/libcublas.so.[0-9]* \
    "$(python3 -c 'import nvidia; print(list(nvidia.__path__)[0])' 2>/dev/null)"/*/lib/libcublas.so.[0-9]*; do
    if [[ -e $file ]]; then
      export CUTT_CUBLAS=$file LD_LIBRARY_PATH=$(dirname "$file")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
      return
    fi
  done
}

run_contractions() {
  if [[ $only == contract ]]; then run_contraction_tests; fi
  run_contraction_set tccg48 f8
  compare_contractions
  compare_networks
  run_contraction_set tccg48 f4
  for set in talsh48 random; do
    run_contraction_set "$set" f8
    run_contraction_set "$set" f4
  done
}

run_contraction_set() {
  local json=$folder/contract-$1-$2.json count=()
  if [[ $1 == random ]]; then count=(--volume paper --samples "$contractions"); fi
  rm -f "$json"
  step "bench contract $1 $2" 60 "$program" bench contract --set "$1" --backend cuda --dtype "$2" \
    "${count[@]}" --quiet --json "$json" --force
}

compare_contractions() {
  local cases
  if [[ -z $python || ! -e $build/lib/libcutt_contract.so ]]; then
    cannot "contract PyTorch" "no python3 here imports torch, or there is no libcutt_contract.so"
    return
  fi
  cases=$(mktemp)
  "$program" bench contract --set tccg48 --list >"$cases"
  step "contract PyTorch" 90 "$python" "$root/bench/contract_peers.py" "$cases" --backend cuda --dtype f8 \
    --seconds 0.2 --lib "$build/lib/libcutt_contract.so" --program "$program" "${cutensor[@]}" \
    --json "$folder/contract-torch.json" --force
  rm -f "$cases"
}

compare_networks() {
  if [[ -z $python || ! -e $build/lib/_calls.abi3.so ]] || ! "$python" -c 'import opt_einsum' 2>/dev/null; then
    cannot networks "no python3 here imports torch and opt_einsum, or there is no _calls.abi3.so"
    return
  fi
  step networks 60 "$python" "$root/bench/networks.py" --device cuda --libraries "$build/lib" --json "$folder/networks.json"
}

# --------------------------------------------------------------------------------------------------------- the figures

# Results are not checked: the tests do that for every candidate. Volumes are a quarter of the paper's, which still is
# several times what the caches hold, since every candidate runs a dozen times.
figures=()
run_figures() {
  local dtype device=$folder/calibrated.device
  for dtype in f8 f4; do run_figure "$dtype" '' 0; done
  rm -f "$device"
  step calibrate 90 "$program" calibrate --backend cuda --seconds 40 --out "$device" --quiet
  for dtype in f8 f4; do
    if [[ -s $device ]]; then
      run_figure "$dtype" -calibrated "$device"
    else
      cannot "figures $dtype-calibrated" "${device##*/} was not written"
    fi
  done
}

run_figure() {
  local json=$folder/figures-$1$2.json
  rm -f "$json"
  CUTT_CALIBRATION=$3 step "figures $1$2" 75 "$program" bench figures --backend cuda \
    --dtype "$1" --volume 48M --samples "$samples" --seed "$seed" --no-check --quiet --json "$json" --force
  if [[ -s $json ]]; then figures+=("$json"); fi
}

tell_figures() {
  "$python" - "${figures[@]}" <<'END'
import json, pathlib, sys

print("figures: quality of the choice, time of the fastest candidate over its own")
print("%-22s %6s   %-22s   %s" % ("", "cases", "predicted: mean worst hits", "the paper's model"))
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        all_cases = json.load(file)["summary"].get("choices", {}).get("all")
    if not all_cases:
        continue
    line = "%-22s %6d" % (pathlib.Path(path).stem, all_cases["compared"])
    for quality in (all_cases["quality"].get(name) for name in ("predicted", "paper")):
        if quality:
            line += "   %11.3f %6.3f %6.0f%%" % (quality["mean"], quality["worst"], 100 * quality["hits"])
    print(line)
END
}

# ------------------------------------------------------------------------------------------------------------- PyTorch

python=''
find_torch() {
  local name
  for name in python3 python; do
    if command -v "$name" >/dev/null && "$name" -c 'import torch' 2>/dev/null; then
      python=$name
      break
    fi
  done
}

compare_with_torch() {
  local library=()
  if ((${#benches[@]} == 0)); then
    cannot PyTorch "there are no benches to compare with"
  elif [[ -z $python ]]; then
    cannot PyTorch "no python3 here imports torch"
  else
    if [[ -e $build/lib/libcutt.so ]]; then library=(--lib "$build/lib/libcutt.so"); fi
    step PyTorch 75 "$python" "$root/bench/peers_gpu.py" "${benches[@]}" "${library[@]}" --cutensor none --seconds 60 \
      --json "$folder/torch.json" --force
  fi
}

run_peers() {
  local cases
  if [[ -z $python || ! -e $build/lib/libcutt.so ]]; then
    cannot peers "no python3 here imports torch, or there is no libcutt.so"
    return
  fi
  # Beside the cases' time, what starting, batches and calls take.
  cases=$(($(left) > 45 ? $(left) - 30 : 15))
  step peers 150 "$python" "$root/bench/peers_gpu.py" --lib "$build/lib/libcutt.so" --program "$program" "${cutensor[@]}" \
    --sets set3,layouts --cases "$root/bench/data/small.csv" --dtypes f4,f8,f2 --beta --measured --batch 10000 --calls \
    --seconds $((cases < 90 ? cases : 90)) --json "$folder/peers.json" --force
}

# ------------------------------------------------------------------------------------------------------- the sanitizer

# A sample of the property tests: under the sanitizer everything takes a hundred times as long.
sanitize() {
  local tool=$1 limit=$2 scale=$3 path=$build/tests/gpu/test_gpu_property found failures=${#failed[@]}
  found=$(mktemp)
  shift 3
  if [[ ! -x $path ]]; then
    cannot "sanitizer $tool" "$path is not there"
    return
  fi
  CUTT_TEST_SCALE=$scale step "sanitizer $tool" "$limit" "$sanitizer" --tool "$tool" --error-exitcode 1 \
    --log-file "$found" "$@" "$path"
  local status=$?
  cat "$found"
  # A sample that was cut short is still a sample.
  if ((status == 124)) && ((${#failed[@]} > failures)) && ! grep -qE '^=+ *(Error|Warning|Invalid|Program hit)|hazard' "$found"; then
    unset 'failed[-1]'
    skipped+=("sanitizer $tool: the rest of its sample; it found nothing in $limit s")
  fi
  rm -f "$found"
}
sanitize_all() {
  sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
  if [[ -z $sanitizer ]]; then
    cannot sanitizer "there is no compute-sanitizer"
    return
  fi
  # Of the part's time each has some, and what those before it have left over.
  local all
  all=$(left)
  sanitize memcheck $((all * 35 / 100)) 0.002
  sanitize synccheck $((all * 20 / 100)) 0.001
  sanitize initcheck $((all * 20 / 100)) 0.001
  # By far the slowest: without the problems that have the most candidates, and ended before it comes to those of megabytes,
  # one of which takes longer than the tests allow a problem.
  all=$(left)
  CUTT_TEST_SKIP='many_*' sanitize racecheck $((all < 100 ? all : 100)) 0.001
}

# ----------------------------------------------------------------------------------------------------------- the result

tell_result() {
  local line
  echo
  echo "== summary after $((seconds - (deadline - SECONDS))) s"
  if [[ -z $python ]] && command -v python3 >/dev/null; then python=python3; fi
  if [[ -z $python ]]; then
    echo "(no python3: the table at the end of each bench above has its figures)"
  else
    if ((${#benches[@]})); then "$python" "$root/bench/peers_gpu.py" --summary "${benches[@]}" --json "$folder/torch.json"; fi
    if ((${#figures[@]})); then tell_figures; fi
  fi
  for line in "${skipped[@]}"; do echo "not run  $line"; done
  for line in "${failed[@]}"; do echo "FAILED   $line"; done
  if ((${#rest[@]})); then
    echo "the rest: bench/device.sh --only $(IFS=,; echo "${rest[*]}") and the other options of this call"
  fi
  if ((${#failed[@]})); then return 1; fi
  echo "nothing failed"
}

# What came of a part: record_part NAME FAILURES-BEFORE NOT-RUN-BEFORE
record_part() {
  local line
  {
    echo "commit: $commit"
    for line in "${failed[@]:$2}"; do echo "failed: $line"; done
    for line in "${skipped[@]:$3}"; do echo "not run: $line"; done
  } >"$folder/part-$1.txt"
}

# The last full run, in a file of the repository. What is left out of one for want of time or tools is told, not hidden.
record_run() {
  local card outcome="nothing failed" name files=()
  card=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
  for name in tests bench peers sanitizer contractions figures; do
    grep -qsx "commit: $commit" "$folder/part-$name.txt" || return
    files+=("$folder/part-$name.txt")
  done
  if grep -q '^failed: ' "${files[@]}"; then outcome="FAILED: $(sed -n 's/^failed: //p' "${files[@]}" | paste -s -d ';' | sed 's/;/; /g')"; fi
  {
    echo "commit: $commit"
    echo "date: $(date -u +%F)"
    echo "card: $card"
    echo "outcome: $outcome"
    grep -h '^not run: ' "${files[@]}"
  } >"$folder/gpu-run.txt"
  cp "$folder/gpu-run.txt" "$root/bench/gpu-run.txt" 2>/dev/null || echo "bench/gpu-run.txt can't be written: copy $folder/gpu-run.txt"
}

run_part() {
  case $1 in
  tests) run_tests ;;
  bench) run_bench ;;
  peers) run_peers ;;
  sanitizer) sanitize_all ;;
  contractions) run_contractions ;;
  figures) run_figures ;;
  esac
}

# Each has its share of what is left, and so what those before it did not need. Nothing is recorded where there is no GPU.
run_parts() {
  local shares name failures leftovers usable=0
  find_cublas
  find_torch
  if can_bench; then usable=1; fi
  while ((${#parts[@]})); do
    part=${parts[0]} shares=0
    for name in "${parts[@]}"; do shares=$((shares + share[$name])); done
    part_ends=$deadline
    part_ends=$((SECONDS + $(left) * share[$part] / shares))
    failures=${#failed[@]} leftovers=${#skipped[@]}
    if ((usable)) || [[ $part == tests || $part == sanitizer ]]; then
      run_part "$part"
    else
      cannot "$part" "it takes the program, and a GPU that this can use"
    fi
    if [[ $shorter == no ]] && ((usable)); then record_part "$part" "$failures" "$leftovers"; fi
    parts=("${parts[@]:1}")
  done
  part_ends=$deadline
  if [[ $shorter == no ]] && ((usable)); then record_run; fi
}

main() {
  tell_machine
  if [[ -z $commit ]]; then commit=$(git -C "$root" describe --always --dirty --exclude='*' 2>/dev/null || echo unknown); fi
  if [[ -z $build ]]; then
    build=$root/build-device
    # shellcheck disable=SC2016 # for the other shell
    step build 240 bash -c 'build_here "$1"' bash "$build"
  fi
  if [[ $only == fuzz ]]; then
    run_fuzz
    tell_result
    return
  fi
  if [[ $only == ranks ]]; then
    run_ranks
    tell_result
    return
  fi
  run_parts
  tell_result
}

main 2>&1 | tee "$folder/device.log"
exit "${PIPESTATUS[0]}"
