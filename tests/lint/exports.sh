#!/bin/bash
# What our shared libraries export: a plugin its constant and nothing else that could meet another plugin's, the
# libraries only names of namespace tenon (and the Asio that tenon_spi holds for everybody).
#
#   exports.sh PLUGIN-DIRECTORY LIBRARY-DIRECTORY
#
# Weak symbols (inline functions, vtables and types of headers) are exported by the thousand and merge by design; they
# must at least not be somebody else's library, linked in by accident.
set -euo pipefail
plugins=$1
libraries=$2
for tool in nm c++filt; do
  command -v "$tool" >/dev/null || { printf '%s is missing (binutils)\n' "$tool" >&2; exit 1; }
done

failures=0
fail() {
  printf '%s\n' "$1" >&2
  failures=$((failures + 1))
}

checked=0
for file in "$plugins"/*.so; do
  [ -f "$file" ] || continue
  strong=$(nm -D --defined-only "$file" | awk '$2 ~ /^[A-TX-Z]$/ { print $3 }')
  [[ $strong =~ ^tenon_plugin_abi[0-9]+$ ]] ||
    fail "${file##*/} exports more than its constant: $(tr '\n' ' ' <<<"$strong" | cut -c 1-300)"
  case ${file##*/} in service-*) checked=$((checked + 1)); continue ;; esac  # those have namespaces of their own
  strangers=$(nm -DC --defined-only "$file" | awk '$2 ~ /^[VWuw]$/' | cut -d ' ' -f 3- |
              sed -E 's/^(typeinfo( name)? for|vtable for|guard variable for|non-virtual thunk to) //' |
              grep -vE '(^|[^[:alnum:]_:])(std|boost|tenon|__gnu_cxx|__cxxabiv1|google|fmt|spdlog|bench)::' |
              grep -vE '^operator (new|delete)' || true)
  [ -z "$strangers" ] || fail "${file##*/} exports what is not its own: $(head -n 5 <<<"$strangers" | tr '\n' ' ')"
  checked=$((checked + 1))
done

for library in spi core; do
  file=$libraries/libtenon_$library.so
  [ -f "$file" ] || { fail "$file is not built"; continue; }
  strangers=$(nm -DC --defined-only "$file" | awk '$2 ~ /^[A-TX-Z]$/' | cut -d ' ' -f 3- |
              sed -E -e 's/^(typeinfo( name)? for|vtable for|guard variable for|non-virtual thunk to) //' \
                  -e 's/^TLS (init|wrapper) function for //' |
              grep -vE '(^|[^[:alnum:]_:])(tenon|boost::asio|boost::system)::|^boost_asio_' || true)
  [ -z "$strangers" ] || fail "${file##*/} exports names of others: $(head -n 5 <<<"$strangers" | tr '\n' ' ')"
  checked=$((checked + 1))
done

[ "$checked" -gt 2 ] || fail "there is no plugin in $plugins"
printf '%d files checked, %d failures\n' "$checked" "$failures"
[ "$failures" -eq 0 ]
