#!/usr/bin/env bash
# Runs opt_einsum's own tests with cutt as the backend: opt_einsum.sh PYTHON WORK, with PYTHONPATH and CUTT_LIBRARY_DIR
# set. Where PYTHON has no opt_einsum and pytest, they are installed into a virtual environment below WORK. Exit status
# 77, with the reason, where that can't be.
set -euo pipefail
python=$1 work=$2
here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "SKIPPED: $*"; exit 77; }

has() { "$1" -c 'import numpy, opt_einsum.tests, pytest' >/dev/null 2>&1; }
if ! has "$python"; then
  venv=$work/opt_einsum
  if ! has "$venv/bin/python"; then
    rm -rf "$venv"
    mkdir -p "$work"
    bash "$here/venv.sh" "$python" "$venv" --system-site-packages >"$work/opt_einsum.log" 2>&1 ||
      skip "$python can make no virtual environment (Debian: python3-venv)"
    "$venv/bin/python" -m pip --disable-pip-version-check --timeout 15 --retries 1 install -q 'opt_einsum>=3.3' pytest \
      >>"$work/opt_einsum.log" 2>&1 || skip "opt_einsum can't be installed: $(tail -n 1 "$work/opt_einsum.log")"
    has "$venv/bin/python" || skip "opt_einsum's tests are not in its package"
  fi
  python=$venv/bin/python
fi
blas=$("$python" -c 'import cutt; print(any(p["backend"] == "cpu" for p in cutt.providers()["providers"]))')
[[ $blas == True ]] || skip "no BLAS with the CBLAS interface is here"
PYTHONPATH=$here:$PYTHONPATH exec "$python" -m pytest -q -rs -W ignore::RuntimeWarning -p opt_einsum_plugin \
  -p no:cacheprovider --rootdir "$work" --pyargs opt_einsum
