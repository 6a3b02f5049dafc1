# Tenon's own registry center for the demo, on loopback; what operators write is kept in the work folder. Read by
# demo.sh. What such a file has is said in traffic.sh.

registry_title="registry center"

registry_prepare() {
  free_port
  registry_port=$port
  registry_component="{ use: center, server: \"127.0.0.1:$registry_port\" }"
  registry_command=(tenon center --listen "127.0.0.1:$registry_port" --store center-store --lease 2s)
}

registry_answers() {
  timeout 5 tenon registry ls --registry "center://127.0.0.1:$registry_port" >/dev/null 2>&1
}
