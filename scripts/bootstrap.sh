#!/usr/bin/env bash
# Makes sure that what cuTT's build needs is there: scripts/bootstrap.sh build|check
#   build   to build the library and the program, and to run the demo
#   check   that, and to run every test
# On Debian and Ubuntu, what is missing is installed (as root, or through sudo), after saying so. Elsewhere, and without sudo, it is named;
# that is an error only for what the build can't do without. Silent and quick when nothing is missing.
#
# Presence is asked of the thing itself (does the compiler compile? does pkg-config know the library?) and not of the
# package database, so that tools from other places count, and so that the same questions work on any system.
set -euo pipefail

say() { printf 'bootstrap: %s\n' "$*"; }
die() { printf 'bootstrap: %s\n' "$*" >&2; exit 1; }

[[ $# -eq 1 && ( $1 == build || $1 == check ) ]] || die "usage: $0 build|check"

have() { command -v "$1" >/dev/null 2>&1; }
have_compiler() { have "$1" && echo '#include <stdio.h>' | "$1" -E -x "$2" - >/dev/null 2>&1; }
have_cmake() {
  have cmake || return 1
  local version
  version=$(cmake --version | sed -n '1s/.* //p')
  [[ $(printf '%s\n3.22\n' "$version" | sort -V | head -n 1) == 3.22 ]]
}
have_library() { have pkg-config && pkg-config --exists "$1" 2>/dev/null; }
have_numpy() {
  local python
  for python in python3 /usr/bin/python3 /usr/local/bin/python3; do
    if have "$python" && "$python" -c 'import numpy' >/dev/null 2>&1; then return 0; fi
  done
  return 1
}
# Of any CPython that the package is for: its compiled module keeps to the limited API.
have_python_headers() {
  local python
  for python in python3 /usr/bin/python3 /usr/local/bin/python3; do
    if have "$python" && "$python" -c 'import os, sys, sysconfig
sys.exit(sys.version_info < (3, 9) or not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' \
      >/dev/null 2>&1; then return 0; fi
  done
  return 1
}
# Of the same Python, with the pip that it puts into them.
have_venv() {
  local python
  for python in python3 /usr/bin/python3 /usr/local/bin/python3; do
    if have "$python" && "$python" -c 'import numpy, venv, ensurepip' >/dev/null 2>&1; then return 0; fi
  done
  return 1
}
# Compiles and links an empty program with clang and one flag.
clang_links() {
  local result=0
  echo "$2" | clang -x c - "$1" -o /dev/null >/dev/null 2>&1 || result=1
  return $result
}
have_fuzzer() {
  clang_links -fsanitize=fuzzer,address 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n ? 0 : 0; }'
}
have_clang_openmp() { clang_links -fopenmp '#include <omp.h>
int main(void) { return omp_get_max_threads() < 1; }'; }

# Any library with the CBLAS interface that contractions would find: known to the loader, or in Debian's folders.
have_blas() {
  local file
  if { ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | grep -qE 'lib(openblas|blis|mkl_rt|cblas)\.so'; then return 0; fi
  for file in /usr/lib/*/openblas-*/libopenblas.so* /usr/lib/*/blis-*/libblis.so*; do
    if [[ -e $file ]]; then return 0; fi
  done
  return 1
}

# Both, which differ in all but their interface.
have_mpi() { have mpicc.openmpi && have mpicc.mpich; }
have_arm_compiler() { have_compiler aarch64-linux-gnu-gcc c; }
have_fortran() { have gfortran || have "${FC:-f95}" || have flang; }
have_clang_format() { have clang-format-14 || [[ $(clang-format --version 2>/dev/null) == *"version 14."* ]]; }

# need CHECK PACKAGE KIND TEXT: when the command CHECK fails, PACKAGE is missing. KIND `must`: nothing works without;
# `may`: a part of the program, or of `make check`, is left out without.
packages=() texts=() musts=()
need() {
  if ! eval "$1"; then
    packages+=("$2")
    texts+=("$4 (Debian: $2)")
    if [[ $3 == must ]]; then musts+=("$4"); fi
  fi
}
gather() {
  packages=() texts=() musts=()
  need "have_compiler '${CC:-cc}' c || have_compiler gcc c || have_compiler clang c" 'gcc libc6-dev' must 'a C compiler, GCC 11 or Clang 14 or later'
  need 'have make' make must 'make'
  need 'have ninja' ninja-build may 'Ninja, which builds faster than make'
  need have_cmake cmake must 'CMake 3.22 or later'
  need 'have pkg-config' pkg-config must 'pkg-config'
  need 'have_library jansson' libjansson-dev must 'the JSON library jansson'
  need 'have_library zlib' zlib1g-dev may 'zlib, for compressed archives of arrays'
  need 'have_library blosc && have_library libzstd' 'libblosc-dev libzstd-dev' may 'blosc and zstd, for compressed Zarr arrays'
  need 'have_library libpng' libpng-dev must 'libpng'
  need have_blas libopenblas0-openmp may 'a BLAS, to contract tensors on the processor'
  if [[ $1 == check ]]; then
    need 'have_library cmocka' libcmocka-dev must 'the test library cmocka'
    need have_numpy python3-numpy must 'Python 3 with NumPy'
    need have_python_headers python3-dev may "Python's headers, for its package"
    need have_venv python3-venv may 'virtual environments, to test the Python package'
    need 'have_compiler g++ c++ || have_compiler clang++ c++' g++ may 'a C++ compiler'
    need 'have clang' clang may 'clang'
    need have_fuzzer libclang-rt-dev may "clang's sanitizers and libFuzzer"
    need have_clang_openmp libomp-dev may "clang's OpenMP"
    need have_clang_format clang-format-14 may 'clang-format 14'
    need have_mpi 'openmpi-bin libopenmpi-dev mpich libmpich-dev' may 'Open MPI and MPICH, for tensors over processes'
    need have_fortran gfortran may 'a Fortran compiler'
    if [[ $(uname -m) != aarch64 ]]; then
      need have_arm_compiler 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross' may 'a cross compiler for 64-bit Arm'
      need 'have qemu-aarch64' qemu-user may 'QEMU for programs of 64-bit Arm'
    fi
    need 'have doxygen' doxygen may 'Doxygen, for the documentation'
  fi
}

gather "$1"
[[ ${#texts[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then as_root=(sudo); fi
if have apt-get && have dpkg-query && { [[ ${#as_root[@]} -eq 0 ]] || have sudo; }; then
  apt() {
    ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes apt-get -qq -o Dpkg::Use-Pty=0 "$@"
  }
  # shellcheck disable=SC2206 # an entry may name two packages
  wanted=(${packages[*]})
  missing=() unknown=()
  known() { [[ $(apt-cache policy "$1" 2>/dev/null) == *"Candidate: "[!\(]* ]]; }
  for package in "${wanted[@]}"; do known "$package" || unknown+=("$package"); done
  if [[ ${#unknown[@]} -gt 0 ]]; then
    say "reading the package lists (apt-get update)"
    apt update || say "apt-get update failed; going on with the lists that are here"
  fi
  for package in "${wanted[@]}"; do
    # Some releases have no such package (libclang-rt-dev on Ubuntu 22.04, where clang brings it).
    if known "$package"; then missing+=("$package"); fi
  done
  if [[ ${#missing[@]} -gt 0 ]]; then
    say "installing: ${missing[*]}"
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    if ! apt install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
      say "that failed; once more after apt-get update"
      apt update || say "apt-get update failed; going on with the lists that are here"
      # One that can't be had keeps no other from being installed: the check below says what that leaves out.
      for package in "${missing[@]}"; do
        apt install -y --no-install-recommends "$package" >"$log" 2>&1 || { cat "$log" >&2; say "apt-get could not install $package"; }
      done
    fi
  fi
  gather "$1"
fi

[[ ${#texts[@]} -gt 0 ]] || exit 0
say 'still missing here, to be installed by hand:'
for text in "${texts[@]}"; do say "  $text"; done
if [[ ${#musts[@]} -gt 0 ]]; then die "can't go on without what is missing"; fi
say "going on; what needs these is left out"
