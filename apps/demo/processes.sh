# The demo's processes: started in the work folder, watched, and ended by their ids. Read by demo.sh.

declare -A process=()  # name: the id of one that should be running
started=()             # names in the order of their first start
ports=()               # given away by free_port
# Where util-linux is new enough, what was started ends with this script, however that ends.
tied=()
setpriv --pdeathsig KILL true 2>/dev/null && tied=(setpriv --pdeathsig KILL)

# start NAME COMMAND… : in the background. NAME.log gets what it says; what its forerunner said is in NAME.before.log.
start() {
  local name=$1
  shift
  [ ! -e "$work/$name.log" ] || mv "$work/$name.log" "$work/$name.before.log"
  ${tied[@]+"${tied[@]}"} "$@" >"$work/$name.log" 2>&1 &
  process[$name]=$!
  case " ${started[*]-} " in *" $name "*) ;; *) started+=("$name") ;; esac
}

runs() { kill -0 "${process[$1]}" 2>/dev/null; }

# await NAME SECONDS CHECK… : until CHECK succeeds. Fails when process NAME has ended, or the time is over.
await() {
  local name=$1 until=$((SECONDS + $2))
  shift 2
  until "$@"; do
    runs "$name" && [ "$SECONDS" -lt "$until" ] || return 1
    sleep 0.1
  done
}

listening() { grep -q '^listening on' "$work/$1.log"; }
# await_servers NAME… : until all of them listen, and are announced where their manifests say.
await_servers() {
  local name
  for name in "$@"; do
    await "$name" 30 listening "$name" && continue
    runs "$name" || die "$name (process ${process[$name]}) ended before it listened"
    die "$name (process ${process[$name]}) did not listen within 30 s"
  done
}

# kill_hard NAME : what a crash looks like to others.
kill_hard() {
  kill -KILL "${process[$1]}"
  wait "${process[$1]}" 2>/dev/null || true
  unset "process[$1]"
}

# stop NAME SECONDS : SIGTERM, and waits so long. Its exit code.
stop() {
  local pid=${process[$1]} code=0 until=$((SECONDS + $2))
  kill -TERM "$pid" 2>/dev/null || true
  while runs "$1"; do
    sleep 0.1
    [ "$SECONDS" -lt "$until" ] && continue
    printf '%s (process %s) did not end within %s s\n' "$1" "$pid" "$2" >&2
    kill -KILL "$pid" 2>/dev/null || true
    break
  done
  wait "$pid" 2>/dev/null || code=$?
  unset "process[$1]"
  return "$code"
}

# free_port : sets `port` to a TCP port nobody has now. It is below those that outgoing connections get, so that it
# stays free while its owner is restarted.
free_port() {
  local _
  for _ in $(seq 1000); do
    port=$((15000 + RANDOM % 15000))
    case " ${ports[*]-} " in *" $port "*) continue ;; esac
    grep -qis "$(printf ':%04X ' "$port")" /proc/net/tcp /proc/net/tcp6 && continue
    ports+=("$port")
    return
  done
  die "there is no free port from 15000 to 30000"
}

# last_words : the ends of all logs.
last_words() {
  local name log
  for name in ${started[@]+"${started[@]}"}; do
    for log in "$work/$name.before.log" "$work/$name.log"; do
      [ -s "$log" ] || continue
      printf -- '-- %s:\n' "${log##*/}"
      tail -n 8 "$log" | cut -c 1-400 | sed 's/^/   /'
    done
  done
}

# end_all : whatever still runs, at once.
end_all() {
  local name
  for name in "${!process[@]}"; do kill -KILL "${process[$name]}" 2>/dev/null || true; done
  for name in "${!process[@]}"; do wait "${process[$name]}" 2>/dev/null || true; done
  process=()
}
