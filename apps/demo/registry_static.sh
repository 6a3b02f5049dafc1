# No registry process: the manifests list who there is. Read by demo.sh. What such a file has is said in traffic.sh.

registry_title="static, a list in the manifests"

registry_prepare() {
  local greeter=demo.Greeter
  registry_component="{ use: static, addresses: {"
  registry_component+=" north/$greeter: [\"${address[north-1]}\", \"${address[north-2]}\"],"
  registry_component+=" south/$greeter: [\"${address[south-1]}\"] } }"
  registry_command=()
  settled=2  # a list in a manifest does not change
}
