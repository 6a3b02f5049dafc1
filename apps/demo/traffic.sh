# The demo with a registry: two groups of servers, a consumer under steady load, and what happens to them. Read by
# demo.sh, after the file of a registry, registry_NAME.sh, which has
#
#   registry_title       what it is called
#   registry_prepare     says what is missing; writes its files, and sets
#     registry_command     what starts it, also again on the data it left
#     registry_component   how a manifest names it
#   registry_answers     succeeds when it is ready for clients
#
# The manifests (apps/examples/traffic) load the plugins of all registries, so that another one is another line.

targets=(traffic-client registry-center registry-static registry-zk)

rate=200       # calls a second
tolerance=5    # points that a share may be off, in one second
patience=20    # seconds until shares must be what they should be

# say LINE : the consumer draws on the terminal while it runs, so it also writes there for us.
say() {
  if [ -n "${process[consumer]:-}" ] && runs consumer; then
    printf '%s\n' "$*" >&"$lines"
  else
    printf '%s\n' "$*"
  fi
}
# act TITLE COMMAND… : what happens now, and what a reader would type. Shares are looked at from here on.
act() {
  act=$1
  shift
  say ""
  say "== $act"
  say "   \$ $*"
  begun=$(wc -l <shares.log)
}

start_consumer() {
  mkfifo lines
  exec {lines}<>lines
  ${tied[@]+"${tied[@]}"} traffic-client --manifest consumer.yaml --rate "$rate" --seconds 300 --log shares.log \
    <lines 2>consumer.log &
  process[consumer]=$!
  started+=(consumer)
}

# shares_were SECONDS NAME=PERCENT… : in each of the last SECONDS, all of them since the act began.
shares_were() {
  local seconds=$1
  shift
  # The second in which the act began is half the one, half the other.
  tail -n "+$((begun + 2))" shares.log | tail -n "$seconds" |
    awk -v seconds="$seconds" -v wanted="$*" -v tolerance="$tolerance" '
      BEGIN {
        count = split(wanted, words, " ")
        for (i = 1; i <= count; i++) { split(words[i], pair, "="); percent[pair[1]] = pair[2] }
      }
      {
        split("", answers)
        for (i = 4; i < NF; i += 2) answers[$i] = $(i + 1)
        for (name in answers) if (!(name in percent)) bad = 1
        for (name in percent) {
          off = ($2 > 0 ? 100 * answers[name] / $2 : 0) - percent[name]
          if (percent[name] == 0 ? off != 0 : off > tolerance || off < -tolerance) bad = 1
        }
      }
      END { exit (NR != seconds || bad) }'
}
# expect SECONDS NAME=PERCENT… : the shares become so, and stay so for so long.
expect() {
  local seconds=$1
  shift
  if await consumer "$patience" shares_were "$seconds" "$@"; then
    say "   -> for $seconds s: $* (% of the calls, +-$tolerance)"
    return
  fi
  runs consumer || die "after \"$act\" the consumer has ended"
  die "$patience s after \"$act\" the shares are not $*, but (second, answers, failures, each one's answers):" \
    "$(tail -n 1 shares.log)"
}

# provider NAME GROUP : writes its manifest.
provider() {
  copy_manifest traffic/provider.yaml "$1.yaml"
  free_port
  sed -i -e "s|north-1|$1|" -e "s|group: north|group: $2|" -e "s|127.0.0.1:4091|127.0.0.1:$port|" \
    -e "s|main: {.*|main: $registry_component|" "$1.yaml"
}

# run COMMAND… : one that a reader could type, and what it says.
run() {
  local line code=0
  "$@" >said 2>&1 || code=$?
  { printf '$ %s\n' "$*"; cat said; } >>command.log
  [ "$code" -eq 0 ] || die "exit code $code of: $*"
  while IFS= read -r line; do say "   $line"; done <said
}

demo() {
  local name code=0 bad=
  local both=(north-1=50 north-2=50) shifted=(north-1=41.7 north-2=41.7 south-1=16.7)
  registry_prepare
  provider north-1 north
  provider north-2 north
  provider south-1 south
  copy_manifest traffic/consumer.yaml consumer.yaml
  sed -i "s|main: {.*|main: $registry_component|" consumer.yaml
  cp "$root/apps/examples/traffic/five-to-one.json" .
  : >shares.log
  started=(command)

  say "in $work, with $build/bin in PATH:"
  act "the registry: $registry_title" "${registry_command[*]}"
  start registry "${registry_command[@]}"
  await registry 30 registry_answers || die "$registry_title does not answer within 30 s"

  act "three providers of demo.Greeter: two in group north, one in group south" \
    "tenon serve --manifest north-1.yaml      # and north-2.yaml, south-1.yaml"
  for name in north-1 north-2 south-1; do start "$name" tenon serve --manifest "$name.yaml"; done
  await_servers north-1 north-2 south-1

  act "a consumer of group north, $rate calls a second" \
    "traffic-client --manifest consumer.yaml --rate $rate"
  start_consumer
  expect 3 "${both[@]}"

  act "a command for all consumers of north: a sixth of their calls to south" \
    "tenon command set north five-to-one.json --manifest consumer.yaml"
  run tenon command set north five-to-one.json --manifest consumer.yaml
  expect 4 "${shifted[@]}"

  act "a provider crashes: its share goes to the other one of its group" "kill -KILL ${process[north-1]}"
  kill_hard north-1
  expect 4 north-1=0 north-2=83.3 south-1=16.7
  act "and is started again" "tenon serve --manifest north-1.yaml"
  start north-1 tenon serve --manifest north-1.yaml
  await_servers north-1
  expect 3 "${shifted[@]}"

  act "the registry crashes: calls go on" "kill -KILL ${process[registry]}"
  kill_hard registry
  expect 6 "${shifted[@]}"
  act "and is started again" "${registry_command[*]}"
  start registry "${registry_command[@]}"
  await registry 30 registry_answers || die "$registry_title does not answer within 30 s"
  expect 2 "${shifted[@]}"

  act "the command is deleted: all calls to north again" "tenon command delete north --manifest consumer.yaml"
  run tenon command delete north --manifest consumer.yaml
  expect 3 "${both[@]}" south-1=0

  act "the end" "kill -TERM ${process[*]}"
  stop consumer 10 || code=$?
  for name in north-1 north-2 south-1; do stop "$name" 15 || bad+=" $name"; done
  stop registry 10 || true  # a JVM ends with 143
  [ "$code" -eq 0 ] || die "the consumer ended with code $code: a call failed"
  [ -z "$bad" ] || die "not well ended:$bad"
}
