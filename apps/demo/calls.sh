# Calls in every form to two servers at their addresses, in two serializers. Read by demo.sh.

targets=(greeter-client serialize-json)

# address_of NAME : where that server listens.
address_of() { sed -n 's/^listening on tcp //p' "$1.log"; }

# call TITLE : runs the client; both servers must have answered.
call() {
  local name pid count
  say ""
  say "== $1"
  grep -n 'address:\|serializer:' client.yaml | sed 's/^/client.yaml:/'
  greeter-client --manifest client.yaml 2 >answers 2>complaints || {
    cat answers complaints >&2
    die "a call failed; its words are above"
  }
  cat answers
  for name in server1 server2; do
    pid=${process[$name]}
    count=$(grep -cw "process $pid" answers || true)
    printf 'process %s answered %s calls\n' "$pid" "$count"
    [ "$count" -gt 0 ] || die "process $pid answered no call"
  done
}

demo() {
  local name pid code bad=
  say ""
  say "== two servers: tenon serve --manifest host.yaml, on ports the system chooses"
  copy_manifest greeter/host.yaml host.yaml
  for name in server1 server2; do start "$name" tenon serve --manifest host.yaml --listen tcp:127.0.0.1:0; done
  await_servers server1 server2
  for name in server1 server2; do
    printf 'process %s listens on %s\n' "${process[$name]}" "$(address_of "$name")"
  done

  copy_manifest greeter/client.yaml client.yaml
  sed -i "s|address: .*|address: \"$(address_of server1),$(address_of server2)\"|" client.yaml
  call "calls in all four forms, carried by protobuf"

  sed -i 's/serializer: protobuf/serializer: json/' client.yaml
  grep -q 'serializer: json' client.yaml || die "client.yaml has no \"serializer: protobuf\" to edit"
  call "the same programs and servers, carried by json: one word of client.yaml was edited"

  say ""
  say "== stopping the servers: SIGTERM, by process id"
  for name in server1 server2; do
    pid=${process[$name]}
    code=0
    stop "$name" 15 || code=$?
    printf 'process %s ended with exit code %s\n' "$pid" "$code"
    [ "$code" -eq 0 ] || bad+=" $name"
  done
  [ -z "$bad" ] || die "not well ended:$bad"
  say ""
  say "== done"
}
