#!/usr/bin/env bash
# bench/device.sh on a machine that only seems to have a GPU: programs that say their names and wait. That parts have their shares,
# what did not fit is done by a second call, and what is recorded: device_run.sh ROOT WORK
set -euo pipefail
root=$1 work=$2
fail() { echo "device_run: $*" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work/build/tests/gpu" "$work/build/tests/contract" "$work/build/lib" "$work/bin" "$work/bench"
cp "$root/bench/device.sh" "$work/bench"
cat >"$work/bin/python3" <<'END'
#!/usr/bin/env bash
wait=0.01
for argument; do
  case ${last:-} in --json | --out | --log-file) echo '{}' >"$argument" ;; esac
  last=$argument
done
case "$(basename "$0") $*" in
*peers_gpu.py*--sets*) wait=${STAND_IN_PEERS:-$wait} ;;
compute-sanitizer*) exit "${STAND_IN_SANITIZER:-0}" ;;
nvidia-smi*=name*noheader*) echo "no GPU" ;;
esac
sleep "$wait"
END
chmod +x "$work/bin/python3"
for name in compute-sanitizer nvidia-smi; do cp "$work/bin/python3" "$work/bin/$name"; done
for name in cutt tests/gpu/test_gpu_{probe,memory,streams,batch,property,large} tests/contract/test_{contract,elementwise,reduce,moved}; do
  cp "$work/bin/python3" "$work/build/$name"
done
touch "$work/build/lib/libcutt.so" "$work/build/lib/libcutt_contract.so"

# call OPTION...: what it says goes to the file said.
call() {
  PATH=$work/bin:$PATH bash "$work/bench/device.sh" --build "$work/build" --commit abc "$@" "$work/out" >"$work/said" 2>&1
}
said() { grep -qE "$1" "$work/said" || { cat "$work/said"; fail "nothing says $1"; }; }
recorded() { grep -qx "$1" "$work/bench/gpu-run.txt" || { cat "$work/bench/gpu-run.txt"; fail "$1 is not recorded"; }; }

# Too slow for its share: the parts behind it are done all the same, and it is no failure.
STAND_IN_PEERS=60 call --seconds 24 --from peers || fail "a part without the time for all of it is a failure"
said '^not run  peers: all but the first [0-9]+ s$'
said '^the rest: bench/device.sh --only peers[, ]' # and what a busy machine had no second for
said '^== figures f4-calibrated: exit status 0 '
if grep -q 'test property' "$work/said"; then fail "tests were run, and asked for was what comes after them"; fi
[[ ! -e $work/bench/gpu-run.txt ]] || fail "a part of a run is recorded as all of it"

# All of it by two calls.
call --only tests,bench,peers || fail "the first half"
[[ ! -e $work/bench/gpu-run.txt ]] || fail "half of a run is recorded as all of it"
call --only sanitizer,contractions,figures || fail "the second half"
recorded "commit: abc"
recorded "card: no GPU"
recorded "outcome: nothing failed"

# Another call of a part takes the place of what there was of it.
if STAND_IN_SANITIZER=3 call --only sanitizer; then fail "a failure is none"; fi
recorded "outcome: FAILED: sanitizer memcheck (exit status 3); .*racecheck (exit status 3)"
call --only sanitizer || fail "the sanitizer again"
recorded "outcome: nothing failed"

if call --only tests,test; then fail "there is no part 'test'"; fi
said "names 'test'; the parts are tests"
echo "device_run: shares, two calls, a failure and its mend"
