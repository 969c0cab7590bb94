#!/usr/bin/env bash
# Makes a virtual environment with pip: venv.sh PYTHON WHERE [OPTION...], options as `python -m venv` takes them.
# Python installs pip anew into each of them, which takes four seconds of the processor, and the tests make nine. So where CUTT_PIP_SEED
# names a folder, one is made there in that way, and the others get a copy of its pip.
set -euo pipefail
python=$1 where=$2 seed=${CUTT_PIP_SEED:-}
shift 2

if [[ -z $seed ]] || ! command -v flock >/dev/null; then exec "$python" -m venv "$@" "$where"; fi
mkdir -p "$seed"
exec 9>"$seed/lock"
flock 9 # tests run side by side; held to the end, since another Python makes the folder anew
if [[ $(cat "$seed/made" 2>/dev/null) != "$python" ]]; then
  rm -rf "$seed/venv" "$seed/made"
  "$python" -m venv "$seed/venv"
  echo "$python" >"$seed/made"
fi

packages() { "$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }
"$python" -m venv --without-pip "$@" "$where"
cp -r "$(packages "$seed/venv")"/{pip,pip-*.dist-info} "$(packages "$where")"
