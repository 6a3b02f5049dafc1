#!/bin/bash
# `tenon new` as its reader uses it: writes a project into an empty folder, then runs the commands of its README with
# the warnings of a strict author, and makes a call through the running plugin.
#
#   new_project.sh PLACE COMPILER plugin KIND | service [--proto]     PLACE: of install_layout.sh
set -euo pipefail
place=$1
compiler=$2
shift 2
prefix=$place/moved
tenon=$prefix/bin/tenon
folder=$place/projects/$(tr -cd 'a-z' <<<"$*")
die() {
  printf 'new_project: %s\n' "$*" >&2
  exit 1
}
unset LD_LIBRARY_PATH

rm -rf "$folder"
mkdir -p "$folder"
name=hello
[ "$*" = 'plugin filter' ] || name=two-Words-2
"$tenon" new "$@" "$name" --into "$folder" >/dev/null
cd "$folder/$name"
left=$(grep -rnE '@[A-Za-z]+@' . | grep -vE '@(CMAKE_CURRENT_BINARY_DIR|TENON_INSTALLED_PLUGIN_DIR)@' || true)
[ -z "$left" ] || die "words were not filled in: $left"

for command in 'cmake -B build ' 'cmake --build build' 'ctest --test-dir build' \
  'tenon serve --manifest build/manifest.yaml'; do
  grep -qF -- "$command" README.md || die "README.md does not say: $command"
done
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
run() { "$@" >log 2>&1 || { cat log >&2; die "failed: $*"; }; }
run cmake -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" "${launcher[@]}" \
  -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror"
run cmake --build build
run ctest --test-dir build --output-on-failure --no-tests=error

# The stock host runs it on a port of the system's choice.
[ -f build/manifest.yaml ] || die "there is no build/manifest.yaml"
run "$tenon" check build/manifest.yaml
"$tenon" serve --manifest build/manifest.yaml --listen tcp:127.0.0.1:0 >served 2>complaints &
server=$!
trap 'kill -KILL "$server" 2>/dev/null || true' EXIT
address=
for _ in $(seq 200); do
  address=$(sed -n 's/^listening on tcp //p' served)
  [ -z "$address" ] || break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.05
done
[ -n "$address" ] || { cat complaints >&2; die "tenon serve does not listen"; }

# The call its README shows, at the port that was chosen. Plugins of the client are used by a manifest with that port.
sed "s/127\.0\.0\.1:4080/$address/" build/manifest.yaml >build/client.yaml
call=$(sed -n 's/^tenon call //p' README.md)
call=${call//tcp:127.0.0.1:4080/tcp:$address}
call=${call//build\/manifest.yaml/build/client.yaml}
[ -n "$call" ] || die "README.md shows no call"
answer=$(eval "\"\$tenon\" call $call") || die "failed: tenon call $call"
case "$*" in
  'plugin filter')
    [ "$(tr -d ' \n' <<<"$answer")" = '{"value":"42"}' ] || die "answered: $answer"
    grep -q 'call 1, bench.Echo/Add: answered' complaints || { cat complaints >&2; die "the filter saw no call"; }
    ;;
  plugin\ *) [ "$(tr -d ' \n' <<<"$answer")" = '{"value":"42"}' ] || die "answered: $answer" ;;
  service*) grep -q 'Good day, Ada' <<<"$answer" || die "answered: $answer" ;;
esac

kill -TERM "$server"
code=0
wait "$server" || code=$?
trap - EXIT
[ "$code" -eq 0 ] || { cat complaints >&2; die "tenon serve ended with code $code"; }
printf 'tenon new %s: built, tested, served, called: %s\n' "$*" "$answer"
