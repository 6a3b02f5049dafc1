#!/usr/bin/env bash
# The speed gate: Tenon against a raw epoll echo on this machine, through the real plugin boundary.
#
#   bench-gate [ROUNDS [SECONDS]]      defaults: 5 rounds, 1 s a measurement (10 measurements a round)
#
# Every round measures raw and Tenon one after the other, so that whatever else the machine does hits both; ratios are
# medians over rounds of (Tenon / raw of the same round). Then Tenon with layers that only hand calls on, a filter
# around the call and three around each attempt, against Tenon without. Wants a release build. Exit codes: 0 every
# gate holds, 1 one does not or a measurement failed, 2 wrong command line or programs are missing. Programs are taken
# from the folder of this script, or from $TENON_BIN.
set -euo pipefail

usage() { sed -n '2,11p' "$0" | sed 's/^# \{0,1\}//'; }
case "${1:-}" in -h | --help) usage; exit 0 ;; esac
rounds=${1:-5}
seconds=${2:-1}
warmup=0.3
if ! [[ $rounds =~ ^[1-9][0-9]*$ && $seconds =~ ^[0-9]+(\.[0-9]+)?$ ]]; then
  usage >&2
  exit 2
fi

bin=${TENON_BIN:-$(cd "$(dirname "$0")" && pwd)}
for program in tenon raw_epoll_server raw_epoll_client; do
  if ! [[ -x $bin/$program ]]; then
    echo "bench-gate: $bin/$program is missing; build it first" >&2
    exit 2
  fi
done

work=$(mktemp -d)
servers=()
cleanup() {
  for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${servers[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap cleanup EXIT

# start NAME COMMAND…: runs a server in the background and leaves its port in port_of[NAME].
declare -A port_of
start() {
  local name=$1
  shift
  "$@" >"$work/$name.ready" 2>"$work/$name.log" &
  servers+=($!)
  for _ in $(seq 200); do
    port_of[$name]=$(sed -n 's/^listening on tcp .*:\([0-9]*\)$/\1/p' "$work/$name.ready")
    [[ -n ${port_of[$name]} ]] && return
    sleep 0.05
  done
  echo "bench-gate: server $name did not become ready: $(cat "$work/$name.log")" >&2
  exit 1
}

# figure NAME: a member of the JSON object on stdin.
figure() { sed -n "s/.*\"$1\":\\([0-9.]*\\).*/\\1/p"; }

# raw MODE CONCURRENCY MEMBER
raw() {
  timeout 60 "$bin/raw_epoll_client" --mode "$1" --port "${port_of[$1]}" --concurrency "$2" --size 100 \
    --warmup $warmup --seconds "$seconds" | figure "$3"
}
# tenon MODE CONCURRENCY MEMBER; a failed call fails the gate.
tenon() {
  timeout 60 "$bin/tenon" bench --address "tcp:127.0.0.1:${port_of[tenon]}" --mode "$1" --concurrency "$2" --size 100 \
    --warmup $warmup --seconds "$seconds" --timeout 10s --json | figure "$3"
}

# layered MODE CONCURRENCY MEMBER: the same through a filter and three pass-through endpoints.
layered() {
  timeout 60 "$bin/tenon" bench --manifest "$work/layered.yaml" --mode "$1" --concurrency "$2" --size 100 \
    --warmup $warmup --seconds "$seconds" --timeout 10s --json | figure "$3"
}

median() { sort -g | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

start raw "$bin/raw_epoll_server" --mode raw
start pb "$bin/raw_epoll_server" --mode pb
start tenon "$bin/tenon" serve --listen tcp:127.0.0.1:0 --load bench-echo

cat >"$work/layered.yaml" <<END
application: bench-layered
plugins: { load: [transport-tcp, protocol-tenon, serialize-pb, registry-static, cluster, bench-pass] }
client:
  references:
    echo:
      { service: bench.Echo, address: "127.0.0.1:${port_of[tenon]}", transport: tcp,
        filters: [pass], attempt_filters: [pass, pass, pass] }
END

# pair GATE: two figures of one round, the first to be compared with.
pair() {
  local gate=$1 theirs=$2 ours=$3
  echo "$theirs" >>"$work/$gate.raw"
  echo "$ours" >>"$work/$gate.tenon"
  awk -v raw="$theirs" -v tenon="$ours" 'BEGIN { if (!(raw > 0 && tenon > 0)) exit 1; print tenon / raw }' \
    >>"$work/$gate.ratio" || {
    echo "bench-gate: $gate: no figure in round $round (\"$theirs\" and \"$ours\")" >&2
    exit 1
  }
}
# compare GATE RAW-MODE TENON-MODE CONCURRENCY MEMBER: one pair of measurements.
compare() {
  local theirs ours
  theirs=$(raw "$2" "$4" "$5")
  ours=$(tenon "$3" "$4" "$5")
  pair "$1" "$theirs" "$ours"
  last_tenon=$ours
}

for round in $(seq "$rounds"); do
  echo "bench-gate: round $round of $rounds" >&2
  compare one-coroutine raw coroutine 1 p50_us
  pair layered-one "$last_tenon" "$(layered coroutine 1 p50_us)"
  compare one-sync raw sync 1 p50_us
  compare hundred pb coroutine 100 qps
  pair layered-hundred "$last_tenon" "$(layered coroutine 100 qps)"
  compare ten-thousand pb coroutine 10000 qps
done

failed=0
# verdict GATE TEXT UNIT most|least LIMIT [FIRST]
verdict() {
  local raw_median tenon_median ratio word
  raw_median=$(median <"$work/$1.raw")
  tenon_median=$(median <"$work/$1.tenon")
  ratio=$(median <"$work/$1.ratio")
  word=$(awk -v r="$ratio" -v limit="$5" -v kind="$4" \
    'BEGIN { print (kind == "most" ? r <= limit : r >= limit) ? "ok" : "FAILED" }')
  [[ $word == ok ]] || failed=1
  printf '%-52s %5s %12.1f  tenon %12.1f %-8s ratio %5.2f  (at %s %s)  %s\n' \
    "$2" "${6:-raw}" "$raw_median" "$tenon_median" "$3" "$ratio" "$4" "$5" "$word"
}
verdict one-coroutine "1 outstanding, 100 B, coroutine" "us p50" most 1.4
verdict one-sync "1 outstanding, 100 B, synchronous" "us p50" most 1.4
verdict hundred "100 outstanding, 100 B protobuf, one connection" "calls/s" least 0.6
verdict ten-thousand "10000 outstanding, 100 B protobuf, one connection" "calls/s" least 0.4
verdict layered-one "1 outstanding, a filter and 3 endpoints more" "us p50" most 1.33 plain
verdict layered-hundred "100 outstanding, a filter and 3 endpoints more" "calls/s" least 0.75 plain
exit $failed
