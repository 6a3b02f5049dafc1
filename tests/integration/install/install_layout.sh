#!/bin/bash
# Installs a build, moves it to another place, and looks at it there: everything is where it belongs, programs start,
# nothing remembers where it was built.
#
#   install_layout.sh SOURCE BUILD PLACE     the moved install is PLACE/moved
set -euo pipefail
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
place=$3
unset LD_LIBRARY_PATH

failures=0
fail() {
  printf '%s\n' "$1" >&2
  failures=$((failures + 1))
}

# A former run leaves its projects, so that they need not be built again when nothing has changed.
rm -rf "$place/first" "$place/moved" "$place/staged"
mkdir -p "$place"
cmake --install "$build" --prefix "$place/first" --strip >"$place/install.log"
mv "$place/first" "$place/moved"
prefix=$place/moved

for file in bin/tenon bin/tenon-probe bin/protoc-gen-tenon lib/libtenon_spi.so lib/libtenon_core.so \
  lib/libtenon_protobuf.so lib/tenon/plugins/transport-tcp.so lib/tenon/plugins/protocol-tenon.so \
  lib/tenon/plugins/serialize-pb.so lib/tenon/plugins/cluster.so lib/tenon/plugins/bench-echo.so \
  lib/cmake/tenon/tenonConfig.cmake lib/cmake/tenon/tenonConfigVersion.cmake lib/cmake/tenon/tenonTargets.cmake \
  lib/cmake/tenon/TenonFunctions.cmake include/tenon/plugin.hpp include/tenon/app.hpp include/tenon/protobuf.hpp \
  include/tenon/contract/balancer_contract.hpp include/tenon/contract/support/scripted_endpoint.hpp \
  share/tenon/examples/greeter/greeter.proto share/doc/tenon/LICENSE; do
  [ -f "$prefix/$file" ] || fail "$file is missing"
done
for plugin in "$prefix"/lib/tenon/plugins/*; do
  case ${plugin##*/} in
    service-greeter.so | service-user.so | test-* | filter-forward.so)
      fail "${plugin##*/} is an example's or a test's"
      ;;
  esac
done

# Nothing remembers the tree, the build folder or the first prefix. Programs of a debug build may (assertions do).
looked_at=-a
! grep -q 'TENON_BUILD_TYPE "Debug"' "$prefix/lib/cmake/tenon/tenonConfig.cmake" || looked_at=-I
for path in "$source/" "$build" "$place/first"; do
  found=$(grep -rlF "$looked_at" -e "$path" "$prefix" || true)
  [ -z "$found" ] || fail "these name $path: $found"
done
while read -r file; do
  libraries=$(readelf -dW "$file" 2>/dev/null | sed -nE 's/.*\((RUNPATH|RPATH)\).*\[(.*)\]/\2/p')
  case $libraries in
    '' | '$ORIGIN'*) ;;
    *) fail "$file looks for libraries in $libraries" ;;
  esac
  if ldd "$file" 2>/dev/null | grep -q 'not found'; then fail "$file: $(ldd "$file" | grep 'not found')"; fi
done < <(find "$prefix/bin" "$prefix/lib" -type f \( -perm -u+x -o -name '*.so*' \))

# The moved programs find their libraries, the probe and the plugins.
"$prefix/bin/tenon" --version >/dev/null || fail "tenon does not start"
listed=$("$prefix/bin/tenon" plugins)
grep -q "^$prefix/lib/tenon/plugins/transport-tcp.so" <<<"$listed" || fail "tenon does not find its plugins: $listed"
! grep -q 'REFUSED' <<<"$listed" || fail "an installed plugin is refused: $listed"

# A package builder stages: DESTDIR, and the same files.
DESTDIR=$place/staged cmake --install "$build" --prefix /opt/tenon --strip >/dev/null
difference=$(diff <(cd "$prefix" && find . | sort) <(cd "$place/staged/opt/tenon" && find . | sort) || true)
[ -z "$difference" ] || fail "DESTDIR installs something else: $difference"
rm -rf "$place/staged"

printf '%d files installed, %d failures\n' "$(find "$prefix" -type f | wc -l)" "$failures"
[ "$failures" -eq 0 ]
