#!/bin/bash
# Tenon in a minute: two server processes, one client, then another serializer by changing one word of YAML.
#
#   apps/demo.sh [PRESET]     release unless said otherwise; with "static" the plugins are inside the programs
#
# On a bare Debian 12 it installs what is missing and builds build/PRESET first. From any directory, without a
# terminal; ports are chosen by the system. Exit codes: 0 everything was shown, 1 something went wrong (said last).
set -euo pipefail
exec </dev/null
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=${1:-release}
build=$root/build/$preset

say() { printf '\n== %s\n' "$*"; }
die() { printf 'demo: %s\n' "$*" >&2; exit 1; }

"$root/.ci/setup.sh" "$preset" tenon tenon-probe greeter-client service-greeter transport-tcp protocol-tenon \
  serialize-pb serialize-json cluster

work=$(mktemp -d)
servers=()
# Only processes that this script started, by their ids.
clean_up() {
  local pid
  for pid in ${servers[@]+"${servers[@]}"}; do kill -KILL "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# copy_manifest FROM TO : plugins are looked for in this build.
copy_manifest() { sed "s|search: \[.*\]|search: [\"$build/plugins\"]|" "$1" >"$2"; }

say "two servers: tenon serve --manifest host.yaml, on ports the system chooses"
copy_manifest "$root/apps/examples/greeter/host.yaml" "$work/host.yaml"
addresses=()
for number in 1 2; do
  "$build/bin/tenon" serve --manifest "$work/host.yaml" --listen tcp:127.0.0.1:0 \
    >"$work/server$number.out" 2>"$work/server$number.err" &
  servers+=($!)
done
for number in 1 2; do
  pid=${servers[$((number - 1))]}
  for _ in $(seq 150); do
    grep -q '^listening on' "$work/server$number.out" && break
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  address=$(sed -n 's/^listening on tcp //p' "$work/server$number.out")
  if [ -z "$address" ]; then
    cat "$work/server$number.err" >&2
    die "server $number (process $pid) did not start listening; its words are above"
  fi
  addresses+=("$address")
  printf 'process %s listens on %s\n' "$pid" "$address"
done

# call TITLE : runs the client; both servers must have answered.
call() {
  local pid count
  say "$1"
  grep -n 'address:\|serializer:' "$work/client.yaml" | sed 's/^/client.yaml:/'
  "$build/bin/greeter-client" --manifest "$work/client.yaml" 2 >"$work/answers" 2>"$work/complaints" || {
    cat "$work/answers" "$work/complaints" >&2
    die "a call failed; its words are above"
  }
  cat "$work/answers"
  for pid in "${servers[@]}"; do
    count=$(grep -cw "process $pid" "$work/answers" || true)
    printf 'process %s answered %s calls\n' "$pid" "$count"
    [ "$count" -gt 0 ] || die "process $pid answered no call"
  done
}

copy_manifest "$root/apps/examples/greeter/client.yaml" "$work/client.yaml"
sed -i "s|address: .*|address: \"${addresses[0]},${addresses[1]}\"|" "$work/client.yaml"
call "calls in all four forms, carried by protobuf"

sed -i 's/serializer: protobuf/serializer: json/' "$work/client.yaml"
grep -q 'serializer: json' "$work/client.yaml" || die "client.yaml has no \"serializer: protobuf\" to edit"
call "the same programs and servers, carried by json: one word of client.yaml was edited"

say "stopping the servers: SIGTERM, by process id"
for number in 1 2; do kill -TERM "${servers[$((number - 1))]}"; done
bad=0
for number in 1 2; do
  pid=${servers[$((number - 1))]}
  code=0
  for _ in $(seq 150); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
  kill -0 "$pid" 2>/dev/null && { kill -KILL "$pid"; printf 'process %s did not end within 15 s\n' "$pid"; }
  wait "$pid" || code=$?
  printf 'process %s ended with exit code %s\n' "$pid" "$code"
  [ "$code" -eq 0 ] || { bad=1; cat "$work/server$number.err" >&2; }
done
servers=()
[ "$bad" -eq 0 ] || die "a server did not end well"
say "done"
