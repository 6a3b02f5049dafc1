#!/bin/bash
# Tenon in a minute.
#
#   apps/demo.sh [--registry NAME | --calls] [--build FOLDER] [PRESET]
#
#   --registry center     (default) two groups of servers that a client finds in a registry center, under steady load:
#                         its calls are shifted by a command, a server crashes and comes back, and so does the registry
#   --registry zookeeper  the same with ZooKeeper: one line of the manifests is another
#   --registry static     the same with a list in that line, but for the two steps that need a registry
#   --calls               two servers and a client with their addresses, calls in every form, and another serializer
#                         by changing one word of YAML
#   --build FOLDER        the programs of that build folder as they are
#   PRESET                else build/PRESET (release), made ready first: on a bare Debian 12 what is missing is
#                         installed and built. With "static" the plugins are inside the programs
#
# From any directory, with a terminal or without; ports are chosen, processes are ended by their ids. Exit codes: 0
# everything was shown and as it should be, 1 something was not (what, and where the logs are, is said last), 2 wrong
# command line.
set -euo pipefail
exec </dev/null
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
registry=
calls=
preset=release
build=

say() { printf '%s\n' "$*"; }
usage() {
  printf 'usage: apps/demo.sh [--registry NAME | --calls] [--build FOLDER] [PRESET]\nregistries:%s\n' \
    "$(registries)" >&2
  exit 2
}
# registries : those there is a file for.
registries() {
  local file name
  for file in "$root"/apps/demo/registry_*.sh; do
    name=${file##*/registry_}
    printf ' %s' "${name%.sh}"
  done
}

while [ $# -gt 0 ]; do
  case $1 in
    --registry | --build) [ $# -ge 2 ] || usage ;;&
    --registry) registry=$2 ;;
    --build) build=$(cd "$2" && pwd) || usage ;;
    --calls) calls=1 && shift && continue ;;
    -*) usage ;;
    *) preset=$1 && shift && continue ;;
  esac
  shift 2
done
[ -z "$calls" ] || [ -z "$registry" ] || usage
registry=${registry:-center}
case "$(registries) " in *" $registry "*) ;; *) usage ;; esac

. "$root/apps/demo/processes.sh"
if [ -n "$calls" ]; then
  . "$root/apps/demo/calls.sh"
else
  . "$root/apps/demo/registry_$registry.sh"
  . "$root/apps/demo/traffic.sh"
fi
if [ -z "$build" ]; then
  build=$root/build/$preset
  "$root/.ci/setup.sh" "$preset" tenon tenon-probe transport-tcp protocol-tenon serialize-pb cluster service-greeter \
    "${targets[@]}"
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/tenon-demo.XXXXXX")
reason=
interrupted=
# die REASON… : ends the demo; clean_up says why.
die() {
  reason=$*
  exit 1
}
clean_up() {
  local code=$?
  trap - EXIT ERR
  [ -z "${process[consumer]:-}" ] || stop consumer 10 || true  # it gives the terminal back
  end_all
  if [ "$code" -ne 0 ] && [ -z "$interrupted" ]; then
    { last_words
      printf '\ndemo: FAILED: %s\n' "$reason"
      [ ${#started[@]} -eq 0 ] || printf 'demo: manifests and logs are kept in %s\n' "$work"
    } >&2
    [ ${#started[@]} -eq 0 ] || exit "$code"
  fi
  rm -rf "$work"
  exit "$code"
}
trap clean_up EXIT
trap 'interrupted=1; exit 1' INT TERM HUP
set -E
trap 'reason="${BASH_SOURCE[0]##*/}:$LINENO: $BASH_COMMAND"' ERR
cd "$work"
export PATH=$build/bin:$PATH

# copy_manifest FROM TO : plugins are looked for in this build.
copy_manifest() { sed "s|search: \[.*\]|search: [\"$build/plugins\"]|" "$root/apps/examples/$1" >"$2"; }

demo
