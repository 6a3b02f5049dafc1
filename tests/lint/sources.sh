#!/bin/bash
# What every file of the tree keeps to: see each check. Prints file:line and the reason; exit code 1: something found.
#
#   sources.sh ROOT
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$1"

failures=0
# report REASON LINES : LINES, one "file:line: text" each, must be empty.
report() {
  local line
  [ -n "$2" ] || return 0
  while IFS= read -r line; do
    printf '%s\n    <- %s\n' "$line" "$1" >&2
    failures=$((failures + 1))
  done <<<"$2"
}
# listed NAME-PATTERN… : files of the tree, without build folders and version control.
listed() {
  local names=() pattern
  for pattern in "$@"; do names+=(-o -name "$pattern"); done
  find . \( -path ./.git -o -path './build*' \) -prune -o -type f \( "${names[@]:1}" \) -print | sed 's|^\./||' | sort
}
# matches PATTERN FILE… : "file:line:text"; nothing found is no failure, a grep that cannot run is.
matches() {
  local status=0
  grep -nHIE -e "$@" || status=$?
  [ "$status" -le 1 ]
}

sources=$(listed '*.cpp' '*.hpp' '*.cc' '*.h' '*.proto' '*.sh' '*.cmake' CMakeLists.txt)
texts=$(listed '*' | grep -v '^tests/fuzz/corpus/')
mapfile -t sources <<<"$sources"
mapfile -t texts <<<"$texts"
[ "${#sources[@]}" -gt 100 ] || { printf 'only %d sources below %s\n' "${#sources[@]}" "$1" >&2; exit 1; }

# A file can be read in one sitting, without a wide screen.
too_long=$(for file in "${sources[@]}"; do
  lines=$(wc -l <"$file")
  [ "$lines" -le 400 ] || printf '%s: %d lines\n' "$file" "$lines"
done)
report "more than 400 lines" "$too_long"
too_wide=$(matches '^.{121,}$' "${sources[@]}")
report "more than 120 columns" "$too_wide"

# The tree builds anywhere, from what it says it needs. (The words are taken apart so that this file passes, too.)
machine_path='(^|[^A-Za-z0-9_.~/})-])/(wo''rk|ho''me|ro''ot)(/|$|[^A-Za-z0-9_.-])'
absolute=$(matches "$machine_path" "${texts[@]}")
report "a path of one machine" "$absolute"
hosts='pyp''i\.|pythonhos''ted|npm''js|crates''\.io|proxy\.gol''ang|rubyg''ems|repo\.mav''en|repo1\.mav''en'
hosts+='|center\.con''an|artif''actory|pkg\.de''v|deb\.deb''ian|ports\.ubu''ntu'
registry=$(matches "$hosts" "${texts[@]}")
report "a package registry's host" "$registry"
outside=$(matches '\.\./sha''red' "${texts[@]}")
report "reads what lies outside the tree" "$outside"

# Core and the contract know no plugin by name, except core/src/defaults.hpp. The names are those the plugins install.
mapfile -t plugins < <(listed plugin.cpp | grep -vE '^(apps|tests|core|spi)/')
files=$(sed -nE 's/.*\.name = "([^"]+)".*/\1/p' "${plugins[@]}")
components=$(grep -hoE 'add<[^>]*>\("[^"]+"' "${plugins[@]}" | sed -E 's/.*\("(.*)"/\1/' | sort -u)
[ "$(wc -w <<<"$components")" -ge 8 ] || { printf 'found only these components: %s\n' "$components" >&2; exit 1; }
# A component's name as a whole literal, a plugin's file name inside any. "default" and "cluster" are common words, and
# "tenon" is the project, too.
whole=$(grep -vxE 'default|tenon' <<<"$components" | paste -sd '|')
inside=$(grep -vx cluster <<<"$files" | paste -sd '|')
named=$(for file in "${sources[@]}"; do
  case $file in
    core/src/defaults.hpp) continue ;;
    core/*.cpp | core/*.hpp | spi/*.cpp | spi/*.hpp) ;;
    *) continue ;;
  esac
  # Comments may give examples.
  sed -E 's@(^|[[:space:]])//.*@@' "$file" | { grep -nE "\"($whole)\"|\"[^\"]*($inside)[^\"]*\"" || true; } |
    { grep -v '"protobuf", "libprotobuf"' || true; } | sed "s|^|$file:|"  # there it is the library
done)
report "names a plugin" "$named"

printf '%d sources, %d files checked, %d failures; names: %s\n' "${#sources[@]}" "${#texts[@]}" "$failures" \
  "$(paste -sd ' ' <<<"$components")"
[ "$failures" -eq 0 ]
