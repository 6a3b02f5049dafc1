#!/bin/bash
# The demo's manifests with any two registries differ in one line, the same in all of them:
#   one_line.sh ROOT
set -euo pipefail
root=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/tenon-one-line.XXXXXX")
trap 'rm -rf "$work"' EXIT
build=$work

# Where the demo asks for a port, everybody gets the same ones.
free_port() { port=$((++last_port)); }
say() { :; }
die() {
  printf 'one_line: %s\n' "$*" >&2
  exit 1
}
copy_manifest() { cp "$root/apps/examples/$1" "$2"; }

registries=()
for file in "$root"/apps/demo/registry_*.sh; do
  name=${file##*/registry_}
  registries+=("${name%.sh}")
  mkdir "$work/${name%.sh}"
  (
    cd "$work/${name%.sh}"
    command() { true; }  # whether java is there matters to nobody here
    . "$file"
    . "$root/apps/demo/traffic.sh"
    say() { :; }
    last_port=20000
    write_manifests
    registry_prepare
    choose_registry  # dies when it is not one line
  )
done
[ ${#registries[@]} -ge 3 ] || die "there are only: ${registries[*]}"

for one in "${registries[@]}"; do
  for other in "${registries[@]}"; do
    [ "$one" != "$other" ] || continue
    for file in north-1 north-2 south-1 consumer; do
      changes=$(diff --unified=0 "$work/$one/$file.yaml" "$work/$other/$file.yaml" | sed '1,3d') || true
      [[ $changes =~ ^-"  main: { use: $one, "[^$'\n']*$'\n'\+"  main: { use: $other, "[^$'\n']*$ ]] ||
        die "$file.yaml differs between $one and $other in more or less than the registry's line:"$'\n'"$changes"
    done
  done
done
printf 'one line each between %s\n' "${registries[*]}"
