#!/bin/bash
# Fails when what plugins see of spi changed while the ABI number did not: compares tenon_spi with that of the commit in
# spi/abi_baseline, the first one with this number, by libabigail's abidiff.
#
#   abi.sh SOURCE-DIRECTORY BUILD-DIRECTORY CXX
#
# Additions are fine. After raising TENON_ABI (spi/include/tenon/plugin.hpp) write the new number and, once it has one,
# the commit into spi/abi_baseline.
set -euo pipefail
source=$1
build=$2/abi
cxx=$3
die() { printf '%s\n' "$*" >&2; exit 1; }
command -v abidiff >/dev/null || die "abidiff is missing (package abigail-tools)"

number_of() { sed -n 's/^#define TENON_ABI \([0-9]*\)$/\1/p' "$1/spi/include/tenon/plugin.hpp"; }
read -r baseline commit <"$source/spi/abi_baseline" || die "spi/abi_baseline: expected NUMBER COMMIT"
current=$(number_of "$source")
if [ "$current" -gt "$baseline" ]; then
  printf 'the ABI number is %s, the baseline has %s: nothing to compare with yet\n' "$current" "$baseline"
  exit 0
fi
[ "$current" = "$baseline" ] || die "spi/abi_baseline has number $baseline, plugin.hpp $current"

rm -rf "$build"
mkdir -p "$build/then"
git -C "$source" archive "$commit" spi | tar -x -C "$build/then" ||
  die "commit $commit of spi/abi_baseline cannot be read; is this a shallow clone?"
[ "$(number_of "$build/then")" = "$baseline" ] || die "commit $commit does not have ABI number $baseline"

# As spi/CMakeLists.txt does it, with debug information and quickly.
library() {  # SPI-DIRECTORY OUTPUT
  local objects=() file object
  mkdir -p "$2"
  for file in "$1"/src/*.cpp; do
    object=$2/$(basename "$file" .cpp).o
    objects+=("$object")
    printf '%s\0%s\0' "$file" "$object"
  done | xargs -0 -n 2 -P 2 sh -c '"$0" -std=c++20 -g -O0 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden \
    -DBOOST_ASIO_SEPARATE_COMPILATION -DBOOST_ASIO_DYN_LINK -DBOOST_DLL_USE_STD_FS -I"$1"/include -c "$2" -o "$3"' \
    "$cxx" "$1"
  "$cxx" -shared -o "$2/libtenon_spi.so" "$2"/*.o -lpthread
}
library "$build/then/spi" "$build/old"
library "$source/spi" "$build/new"
printf '[suppress_type]\n  type_kind = class\n  name_not_regexp = ^tenon::\n' >"$build/suppressions"
if ! abidiff --no-added-syms --suppressions "$build/suppressions" "$build/old/libtenon_spi.so" \
     "$build/new/libtenon_spi.so" >"$build/report"; then
  head -n 60 "$build/report" >&2
  die "the ABI of spi changed: raise TENON_ABI and write the new number into spi/abi_baseline (whole report: " \
    "$build/report)"
fi
printf 'the ABI is that of number %s, commit %s\n' "$baseline" "$commit"
