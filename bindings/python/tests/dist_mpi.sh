#!/usr/bin/env bash
# Runs a program of cutt.dist on processes of an MPI: dist_mpi.sh PYTHON WORK KIND MPIEXEC PROGRAM RANKS..., with PYTHONPATH and
# CUTT_LIBRARY_DIR set; KIND is openmpi or mpich. Where PYTHON has no mpi4py, it is installed into a virtual environment below
# WORK: its wheel takes either MPI. Exit status 77, with the reason, where that can't be.
set -euo pipefail
python=$1 work=$2 kind=$3 mpiexec=$4 program=$5
here=$(cd "$(dirname "$0")" && pwd)
shift 5
skip() { echo "SKIPPED: $*"; exit 77; }

mkdir -p "$work"
if [[ $kind == mpich ]]; then
  export MPI4PY_MPIABI=mpich
  library=$({ ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | sed -n 's/.*=> \(.*libmpich\.so\.12\)$/\1/p' | head -n 1)
  if [[ -n $library ]]; then # Debian's name for what is libmpi.so.12 elsewhere
    mkdir -p "$work/mpich"
    ln -sf "$library" "$work/mpich/libmpi.so.12"
    export LD_LIBRARY_PATH=$work/mpich${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  fi
fi
# By the launcher, since an MPI may refuse to start without its own.
has() { timeout 60 "$mpiexec" -n 1 "$1" -W ignore -c 'import sys, numpy
from mpi4py import MPI
sys.exit(("mpich" if "MPICH" in MPI.Get_library_version() else "openmpi") != sys.argv[1])' "$kind" >>"$work/mpi4py.log" 2>&1; }
(
  flock 9 # tests may run side by side
  if [[ ! -e $work/ready ]] && has "$python"; then echo "$python" >"$work/ready"; fi
  if [[ ! -e $work/ready ]]; then
    rm -rf "$work/venv"
    bash "$here/venv.sh" "$python" "$work/venv" --system-site-packages >"$work/mpi4py.log" 2>&1 ||
      skip "$python can make no virtual environment (Debian: python3-venv)"
    "$work/venv/bin/python" -m pip --disable-pip-version-check --timeout 15 --retries 1 install -q --only-binary :all: 'mpi4py>=4.1' \
      >>"$work/mpi4py.log" 2>&1 || skip "mpi4py can't be installed: $(tail -n 1 "$work/mpi4py.log")"
    has "$work/venv/bin/python" && echo "$work/venv/bin/python" >"$work/ready" || skip "mpi4py does not run on this MPI: $(tail -n 1 "$work/mpi4py.log")"
  fi
) 9>"$work/lock" || exit $?
for ranks in "$@"; do
  timeout 280 "$mpiexec" -n "$ranks" "$(<"$work/ready")" -W ignore "$program"
done
