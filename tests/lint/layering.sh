#!/bin/bash
# Plugins as the loader sees them: each needs tenon_spi, but neither core nor another plugin, and exports its constant.
#
#   layering.sh PLUGIN-DIRECTORY PLUGIN…     PLUGIN: names without .so that must be among them
set -euo pipefail
directory=$1
shift
for tool in readelf nm; do
  command -v "$tool" >/dev/null || { printf '%s is missing (binutils)\n' "$tool" >&2; exit 1; }
done

failures=0
fail() {
  printf '%s\n' "$1" >&2
  failures=$((failures + 1))
}
for plugin in "$@"; do
  [ -f "$directory/$plugin.so" ] || fail "$plugin.so is not built"
done

checked=0
for file in "$directory"/*.so; do
  [ -f "$file" ] || continue
  name=${file##*/}
  needed=$(readelf -dW "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  grep -q '^libtenon_spi\.so' <<<"$needed" || fail "$name does not link tenon_spi"
  while read -r library; do
    case $library in
      libtenon_core*) fail "$name links $library: a plugin knows the contract, not the machine" ;;
      *) [ ! -e "$directory/${library%%.so*}.so" ] || fail "$name links another plugin: $library" ;;
    esac
  done <<<"$needed"
  # The loader's entry point, defined here and not merely referred to.
  nm -D --defined-only "$file" | grep -q ' tenon_plugin_abi[0-9]*$' || fail "$name does not export its constant"
  checked=$((checked + 1))
done

[ "$checked" -gt 0 ] || fail "there is no plugin in $directory"
printf '%d plugins checked, %d failures\n' "$checked" "$failures"
[ "$failures" -eq 0 ]
