# The demo: two groups of servers, a consumer under steady load, and what happens to them. Read by demo.sh, after the
# file of a registry, registry_NAME.sh, which has
#
#   registry_title       what it is called
#   registry_prepare     says what is missing; writes its files, and sets
#     registry_command     what starts it, also again on the data it left; (): there is no process
#     registry_component   how a manifest names it; `address` has those of the providers
#   registry_answers     succeeds when its process is ready for clients
#
# The manifests (apps/examples/traffic) load the plugins of all registries, so that another one is another line.

targets=(traffic-client registry-center registry-static registry-zk)

declare -A address=()  # name of a provider: where it listens
rate=200       # calls a second
settled=3      # seconds that shares must then stay so, if not said otherwise
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

# write_manifests : those of the providers and of the consumer, as the examples have them, but for names and ports.
write_manifests() {
  local name
  for name in north-1 north-2 south-1; do
    copy_manifest traffic/provider.yaml "$name.yaml"
    free_port
    address[$name]=127.0.0.1:$port
    sed -i -e "s|north-1|$name|" -e "s|group: north|group: ${name%-*}|" -e "s|127.0.0.1:4091|${address[$name]}|" \
      "$name.yaml"
  done
  copy_manifest traffic/consumer.yaml consumer.yaml
}
# choose_registry : edits one line, the same one in all of them, and shows it.
choose_registry() {
  local file change edit=
  for file in north-1 north-2 south-1 consumer; do
    cp "$file.yaml" "$file.before"
    sed -i "s|^  main: {.*|  main: $registry_component|" "$file.yaml"
    change=$(diff --unified=0 "$file.before" "$file.yaml" | sed '1,3d') || true
    [ "$(wc -l <<<"$change")" -eq 2 ] || die "another registry is not one line of $file.yaml, but: $change"
    [ "${edit:=$change}" = "$change" ] || die "another registry is not the same line of $file.yaml as of the others"
    rm "$file.before"
  done
  say "   one line of each manifest (north-1.yaml, north-2.yaml, south-1.yaml, consumer.yaml) was edited:"
  while IFS= read -r line; do say "   $line"; done <<<"$edit"
}
# start_registry : and waits until it answers.
start_registry() {
  start registry "${registry_command[@]}"
  await registry 30 registry_answers || die "$registry_title does not answer within 30 s"
}

# run COMMAND… : one that a reader could type, and what it says.
run() {
  local line code=0
  "$@" >said 2>&1 || code=$?
  { printf '$ %s\n' "$*"; cat said; } >>command.log
  [ "$code" -eq 0 ] || die "exit code $code of: $*"
  while IFS= read -r line; do say "   $line"; done <said
}

# crash PROVIDER OTHERS… : it is killed, and comes back. OTHERS: the shares meanwhile; else they are `shares`.
crash() {
  local name=$1
  shift
  act "a provider crashes: its share goes to the other one of its group" "kill -KILL ${process[$name]}"
  kill_hard "$name"
  expect "$settled" "$name=0" "$@"
  act "and is started again" "tenon serve --manifest $name.yaml"
  start "$name" tenon serve --manifest "$name.yaml"
  await_servers "$name"
  expect "$settled" "${shares[@]}"
}

# with_registry : what only a registry can do.
with_registry() {
  act "a command for all consumers of north: a sixth of their calls to south" \
    "tenon command set north five-to-one.json --manifest consumer.yaml"
  run tenon command set north five-to-one.json --manifest consumer.yaml
  shares=(north-1=41.7 north-2=41.7 south-1=16.7)
  expect 4 "${shares[@]}"

  crash north-1 north-2=83.3 south-1=16.7

  act "the registry crashes: calls go on" "kill -KILL ${process[registry]}"
  kill_hard registry
  expect 6 "${shares[@]}"
  act "and is started again" "${registry_command[*]}"
  start_registry
  expect 2 "${shares[@]}"

  act "the command is deleted: all calls to north again" "tenon command delete north --manifest consumer.yaml"
  run tenon command delete north --manifest consumer.yaml
  shares=(north-1=50 north-2=50)
  expect 3 "${shares[@]}" south-1=0
}

# without_registry : what is left of it.
without_registry() {
  say ""
  say "== two steps need a registry and are left out (--registry center has them)"
  say "   a command that shifts calls to south: a list in a manifest carries no commands"
  say "   a crash of the registry: there is no process that could"
  crash north-1 north-2=100
}

demo() {
  local name code=0 bad= shares=(north-1=50 north-2=50)
  write_manifests
  registry_prepare
  cp "$root/apps/examples/traffic/five-to-one.json" .
  : >shares.log
  started=(command)

  say "in $work, with $build/bin in PATH:"
  if [ ${#registry_command[@]} -gt 0 ]; then
    act "the registry: $registry_title" "${registry_command[*]}"
    start_registry
  else
    say ""
    say "== the registry: $registry_title"
  fi
  choose_registry

  act "three providers of demo.Greeter: two in group north, one in group south" \
    "tenon serve --manifest north-1.yaml      # and north-2.yaml, south-1.yaml"
  for name in north-1 north-2 south-1; do start "$name" tenon serve --manifest "$name.yaml"; done
  await_servers north-1 north-2 south-1

  act "a consumer of group north, $rate calls a second" \
    "traffic-client --manifest consumer.yaml --rate $rate"
  start_consumer
  expect "$settled" "${shares[@]}"

  if [ ${#registry_command[@]} -gt 0 ]; then with_registry; else without_registry; fi

  act "the end" "kill -TERM ${process[*]}"
  stop consumer 10 || code=$?
  for name in north-1 north-2 south-1; do stop "$name" 15 || bad+=" $name"; done
  [ -z "${process[registry]:-}" ] || stop registry 10 || true  # a JVM ends with 143
  [ "$code" -eq 0 ] || die "the consumer ended with code $code: a call failed"
  [ -z "$bad" ] || die "not well ended:$bad"
}
