#!/usr/bin/env bash
# Installs to a prefix, moves the prefix, and builds and runs consumers against it: C and C++, by find_package and by
# pkg-config, shared and static, and Fortran: tests/install/install.sh CMAKE BUILD CONSUMER WORK CC CXX FC
# CXX and FC may be empty.
set -euo pipefail
cmake=$1 build=$2 consumer=$3 work=$4 cc=$5 cxx=$6 fc=$7
fail() { echo "install: $*" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work"
"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log" || { cat "$work/install.log"; fail "cmake --install failed"; }
# An installed tree must not know where it was put.
prefix=$work/moved
mv "$work/first" "$prefix"

one() { # one GLOB: exactly one file
  local found
  mapfile -t found < <(find "$prefix" -path "$prefix/$1")
  [[ ${#found[@]} -eq 1 ]] || fail "expected one $1 below the prefix, found ${#found[@]}"
  echo "${found[0]}"
}
one include/cutt.h >/dev/null
one include/cutt_contract.h >/dev/null
one include/cutt_dist.h >/dev/null
one include/cutt.hpp >/dev/null
one 'lib*/libcutt_contract.a' >/dev/null
one 'lib*/libcutt_contract.so' >/dev/null
one 'lib*/libcutt_dist.a' >/dev/null
one 'lib*/libcutt_dist.so' >/dev/null
one share/man/man1/cutt.1 >/dev/null
library=$(one 'lib*/libcutt.so')
libdir=$(dirname "$library")
[[ -e $libdir/libcutt.a ]] || fail "no libcutt.a beside $library"
# A build may take the archives apart and put all that is in them into its own: no two members are called alike, in one folder.
mkdir "$work/members"
members=0
for archive in libcutt libcutt_contract libcutt_dist; do
  (cd "$work/members" && ar x "$libdir/$archive.a")
  members=$((members + $(ar t "$libdir/$archive.a" | wc -l)))
done
[[ $(find "$work/members" -name '*.o' | wc -l) -eq $members ]] || fail "the archives have $members members, and not as many names"
ar cr "$work/taken.a" "$work"/members/*.o
"$cc" -I"$prefix/include" "$consumer/consumer.c" "$work/taken.a" -lm -lpthread -ldl -o "$work/taken" || fail "what is taken apart does not link"
"$cc" -shared -o "$work/libtaken.so" "$work"/members/*.o -lm -lpthread -ldl || fail "what is taken apart is no shared library"
soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[[ $soname =~ ^libcutt\.so\.[0-9]+$ ]] || fail "the SONAME is '$soname'"
[[ -e $libdir/$soname ]] || fail "no $soname beside $library"

# CUDA is found at run time or not at all: nothing of it may be linked.
for file in "$library" "$libdir/libcutt_contract.so" "$libdir/libcutt_dist.so" "$prefix/bin/cutt"; do
  if readelf -d "$file" | grep NEEDED | grep -iE 'cuda|nvidia|nvrtc|cublas|blas|blis|mkl|mpi'; then fail "$file needs a library of CUDA, a BLAS or MPI"; fi
done
# The consumers hand over host memory: with a GPU, plans would be for that.
export CUTT_CUDA=0

version=$("$prefix/bin/cutt" --version) || fail "the installed program does not run"
header_version=$(sed -n 's/^#define CUTT_VERSION_[A-Z]* //p' "$prefix/include/cutt.h" | paste -sd.)
[[ $version == *"$header_version"* ]] || fail "cutt --version says '$version', the header $header_version"

run() { # run NAME PROGRAM
  local said
  said=$(LD_LIBRARY_PATH=$libdir "$2") || fail "$1 does not run: $said"
  [[ $said == "consumer: correct, cuTT $header_version" ]] || fail "$1 said '$said'"
  local needed
  needed=$(readelf -d "$2" | grep NEEDED)
  if [[ $needed =~ cuda|nvidia ]]; then fail "$1 needs a library of CUDA"; fi
  if [[ $1 == *static* ]]; then
    if [[ $needed == *libcutt* ]]; then fail "$1 needs the shared library"; fi
  else
    [[ $needed == *libcutt* ]] || fail "$1 does not use the shared library"
  fi
  echo "install: $1 runs"
}

run taken-apart-static "$work/taken"

# By find_package. C++ alone, too: a project without C must not need C to be enabled.
for language in C CXX; do
  if [[ $language == C ]]; then compiler=$cc; else compiler=$cxx; fi
  [[ -n $compiler ]] || continue
  at=$work/cmake-$language
  if ! { "$cmake" -S "$consumer" -B "$at" -DCONSUMER_LANGUAGE=$language -DCMAKE_${language}_COMPILER="$compiler" \
    -DCMAKE_PREFIX_PATH="$prefix" -DCUTT_VERSION="$header_version" && "$cmake" --build "$at"; } >"$at.log" 2>&1; then
    cat "$at.log"
    fail "the $language consumer does not build with find_package"
  fi
  run "find_package-$language-shared" "$at/consumer_shared"
  run "find_package-$language-static" "$at/consumer_static"
done

# A component that there isn't is an error that says so; one without its language, too.
for component in nonsense fortran; do
  if "$cmake" -S "$consumer" -B "$work/component" -DCONSUMER_LANGUAGE=C -DCMAKE_C_COMPILER="$cc" -DCONSUMER_COMPONENT=$component \
    -DCMAKE_PREFIX_PATH="$prefix" >"$work/component.log" 2>&1; then
    fail "find_package takes the component $component in a project of C"
  fi
  grep -q "component.*$component" "$work/component.log" || { cat "$work/component.log"; fail "which component, is not said"; }
done

# MPI: by find_package, which compiles the adapter there, where there is one.
if command -v mpicc >/dev/null; then
  at=$work/cmake-mpi
  if ! { "$cmake" -S "$consumer" -B "$at" -DCONSUMER_LANGUAGE=C -DCMAKE_C_COMPILER="$cc" -DCONSUMER_COMPONENT=mpi \
    -DCMAKE_PREFIX_PATH="$prefix" -DCUTT_VERSION="$header_version" && "$cmake" --build "$at"; } >"$at.log" 2>&1; then
    cat "$at.log"
    fail "the consumer does not build with the component mpi"
  fi
  run find_package-mpi "$at/consumer_shared"
fi

# Fortran: by find_package, which compiles the modules there, and with those that are installed.
if [[ -n $fc ]]; then
  at=$work/cmake-Fortran
  if ! { "$cmake" -S "$consumer" -B "$at" -DCONSUMER_LANGUAGE=Fortran -DCMAKE_Fortran_COMPILER="$fc" \
    -DCMAKE_PREFIX_PATH="$prefix" -DCUTT_VERSION="$header_version" && "$cmake" --build "$at"; } >"$at.log" 2>&1; then
    cat "$at.log"
    fail "the Fortran consumer does not build with find_package"
  fi
  run find_package-Fortran "$at/consumer_shared"
  "$fc" -I"$prefix/include/cutt/fortran" "$consumer/consumer.f90" -o "$work/modules-Fortran" \
    -L"$libdir" -lcutt_fortran -lcutt_contract -lcutt
  run modules-Fortran "$work/modules-Fortran"
fi

# HPTT's and LibreTT's interfaces are where they replace no HPTT and no LibreTT, as prefixes of their own.
for file in include/hptt.h include/librett.h; do
  if [[ -e $prefix/$file ]]; then fail "$file is in the prefix itself"; fi
done
callers=$(dirname "$0")/../callers
hptt=$libdir/cutt/hptt
if [[ -n $cxx && -e $hptt ]]; then
  "$cxx" -std=c++11 -I"$hptt/include" "$callers/hptt.cc" -L"$hptt/lib" -lhptt -o "$work/hptt"
  said=$(LD_LIBRARY_PATH=$hptt/lib "$work/hptt") || fail "the program for HPTT does not run: $said"
  [[ $said == "hptt: correct" ]] || fail "the program for HPTT said '$said'"
  at=$work/cmake-librett
  if ! { "$cmake" -S "$consumer/librett" -B "$at" -DCMAKE_CXX_COMPILER="$cxx" -DSOURCE="$(realpath "$callers/librett.cc")" \
    -DCMAKE_PREFIX_PATH="$libdir/cutt/librett" && "$cmake" --build "$at"; } >"$at.log" 2>&1; then
    cat "$at.log"
    fail "the program for LibreTT does not build with find_package"
  fi
  said=$("$at/consumer_librett") || fail "the program for LibreTT does not run: $said"
  [[ $said == "librett: correct" ]] || fail "the program for LibreTT said '$said'"
  echo "install: programs for HPTT and LibreTT run"
fi

# By pkg-config.
export PKG_CONFIG_PATH=$libdir/pkgconfig
[[ $(pkg-config --modversion cutt) == "$header_version" ]] || fail "cutt.pc says $(pkg-config --modversion cutt)"
for language in C CXX; do
  if [[ $language == C ]]; then compiler=$cc source=consumer.c; else compiler=$cxx source=consumer.cc; fi
  [[ -n $compiler ]] || continue
  # shellcheck disable=SC2046 # flags are words
  "$compiler" "$consumer/$source" $(pkg-config --cflags --libs cutt_contract cutt_dist) -o "$work/pc-$language-shared"
  run "pkg-config-$language-shared" "$work/pc-$language-shared"
  # shellcheck disable=SC2046
  "$compiler" -DCUTT_EXPERIMENTAL "$consumer/$source" $(pkg-config --cflags --libs cutt_contract cutt_dist) -o "$work/pc-$language-experimental"
  run "pkg-config-$language-experimental" "$work/pc-$language-experimental"
  # The archive is named, since -lcutt prefers the shared library where both are.
  # shellcheck disable=SC2046
  "$compiler" "$consumer/$source" $(pkg-config --cflags cutt_contract cutt_dist) -o "$work/pc-$language-static" \
    $(pkg-config --static --libs cutt_contract cutt_dist | sed -E 's/-l(cutt[a-z_]*)/-l:lib\1.a/g')
  run "pkg-config-$language-static" "$work/pc-$language-static"
done

rm -rf "$work"
