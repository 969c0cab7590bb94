#!/usr/bin/env bash
# Packs the build folder into Debian packages, unpacks these into a folder, and builds and runs a consumer against it:
#   tests/install/deb.sh CMAKE CPACK BUILD CONSUMER WORK CC
# Skipped (77) where Debian's tools are not there, or know nothing of a library that was linked. Where there is lintian, it
# has no error and no warning.
set -euo pipefail
cmake=$1 cpack=$2 build=$3 consumer=$4 work=$5 cc=$6
fail() { echo "deb: $*" >&2; exit 1; }
skip() { echo "deb: skipped: $*"; exit 77; }
for tool in dpkg-deb dpkg-shlibdeps; do command -v $tool >/dev/null || skip "there is no $tool"; done
[[ -e $build/CPackConfig.cmake ]] || skip "this build has no packages (no gzip)"

rm -rf "$work"
mkdir -p "$work"
# The packages and all that leads to them go to the work folder, and nothing is rebuilt: with this generator's name CPack
# does not ask for it.
if ! (cd "$work" && "$cpack" --config "$build/CPackConfig.cmake" -B "$work" -D CPACK_CMAKE_GENERATOR=Ninja) >"$work/cpack.log" 2>&1; then
  if grep -q 'no dependency information found' "$work/cpack.log"; then skip "a library that was linked is of no package"; fi
  cat "$work/cpack.log"
  fail "cpack failed"
fi

root=$work/root
for name in libcutt0 libcutt-dev cutt; do
  package=$(find "$work" -maxdepth 1 -name "${name}_*.deb")
  [[ -n $package ]] || fail "there is no package $name"
  dpkg-deb -x "$package" "$root"
  dpkg-deb -I "$package" >"$work/$name.info"
  for file in copyright changelog.gz; do
    [[ -s $root/usr/share/doc/$name/$file ]] || fail "$name has no $file"
  done
done
grep -q 'Recommends: libopenblas0 | libblis4 | libmkl-rt' "$work/libcutt0.info" || fail "libcutt0 recommends no BLAS"
grep -q 'Depends:.*libc6' "$work/libcutt0.info" || fail "libcutt0 does not depend on libc"
grep -qE 'Depends: libcutt0 \(= [0-9.]+\)' "$work/libcutt-dev.info" || fail "libcutt-dev does not depend on libcutt0"
grep -q 'Depends:.*libjansson4' "$work/cutt.info" || fail "cutt does not depend on libjansson"
[[ -s $root/usr/share/man/man1/cutt.1.gz ]] || fail "there is no manual"
for file in include/cutt.h include/cutt_contract.h include/cutt_dist.h include/cutt.hpp share/cutt/fortran/cutt.f90; do
  [[ -s $root/usr/$file ]] || fail "libcutt-dev has no $file"
done

export CUTT_CUDA=0
version=$("$root/usr/bin/cutt" --version) || fail "the program does not run"
if ! { "$cmake" -S "$consumer" -B "$work/consumer" -DCONSUMER_LANGUAGE=C -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_PREFIX_PATH="$root/usr" && "$cmake" --build "$work/consumer"; } >"$work/consumer.log" 2>&1; then
  cat "$work/consumer.log"
  fail "the consumer does not build"
fi
libdir=$(dirname "$(find "$root" -name libcutt.so)")
for program in consumer_shared consumer_static; do
  said=$(LD_LIBRARY_PATH=$libdir "$work/consumer/$program") || fail "$program: $said"
  [[ $said == "consumer: correct, cuTT "* && $version == *"${said##* }"* ]] || fail "$program said '$said', cutt '$version'"
done

if command -v lintian >/dev/null; then
  # Only a build that is configured for /usr (make deb) has its libraries in the folder of the architecture.
  lintian "$work"/*.deb >"$work/lintian.log" 2>/dev/null || true
  if grep -E '^[EW]:' "$work/lintian.log" | grep -v pkg-config-unavailable-for-cross-compilation; then fail "lintian finds fault"; fi
  lintian=", lintian finds no fault"
fi
rm -rf "$work"
echo "deb: 3 packages${lintian:-}, and a consumer runs"
