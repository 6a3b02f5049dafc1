#!/bin/bash
# g++ 12 destroys an aggregate temporary or the captures of a lambda wrongly when they stand inside a co_await
# expression: give them a name first. This finds them.
#
#   co_await.sh ROOT BUILD-DIRECTORY
#
# With clang-query-19 (package clang-tools-19) and a compile_commands.json it looks at the syntax tree of every compiled
# file that says co_await and of the headers it includes; otherwise, or with TENON_LINT_TEXT=1, at the text.
# Exit code 1: something found, or a file cannot be examined.
set -euo pipefail
root=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)

# says_co_await PATTERN… : files of the tree of these names.
says_co_await() {
  find "$root" \( -path "$root/.git" -o -path "$root/build*" \) -prune -o -type f \( "$@" \) \
    -exec grep -lw co_await {} + | sort
}

# by_text FILE… : each co_await up to the end of its expression; a lambda with captures, or Type{something}.
by_text() {
  perl -0777 -ne '
    s{//[^\n]*}{}g;
    while (/\bco_await\b([^;]*)/g) {
      my ($rest, $at) = ($1, pos() - length($1));
      $rest =~ s/\)\s*\{.*//s unless $rest =~ /\][^{]*\{/;  # if (co_await x) { …
      next unless $rest =~ /(?:^|[(,\s])\[[^\]\s][^\]]*\]\s*[({m]/ || $rest =~ /\b[A-Z]\w*(?:<[^;{}]*>)?\{\s*[^}\s]/;
      my $line = 1 + (substr($_, 0, $at) =~ tr/\n//);
      my ($first) = $rest =~ /^\s*([^\n]*)/;
      print "$ARGV:$line: co_await $first\n";
    }' "$@"
}

# by_tree FILE… : as the compiler sees it, with types and templates. Temporaries without a destructor are harmless.
by_tree() {
  local file output query error counts
  query=$(mktemp)
  trap 'rm -f "$query"' RETURN
  printf '%s\n' 'set bind-root false' 'set output diag' \
    'm coawaitExpr(forEachDescendant(lambdaExpr(hasAnyCapture(lambdaCapture())).bind("capturing lambda")))' \
    'm coawaitExpr(forEachDescendant(cxxBindTemporaryExpr(has(initListExpr())).bind("aggregate temporary")))' >"$query"
  for file in "$@"; do
    output=$(clang-query-19 -p "$build" --extra-arg=-Wno-everything -f "$query" "$file" 2>&1) || true
    # Two queries, two counts: anything less and the file was not understood.
    error=$(grep -m 1 -E '(^|: )(fatal )?error: ' <<<"$output" || true)
    counts=$(grep -cE '^[0-9]+ match(es)?\.' <<<"$output" || true)
    if [ -n "$error" ] || [ "$counts" -ne 2 ]; then
      printf '%s cannot be examined: %s\n' "$file" "${error:-$counts of 2 answers}"
      continue
    fi
    grep -F "$root/" <<<"$output" | grep -E 'note: "(capturing lambda|aggregate temporary)" binds here' || true
  done | sort -u
}

mapfile -t all < <(says_co_await -name '*.cpp' -o -name '*.hpp')
[ "${#all[@]}" -gt 10 ] || { printf 'only %d files below %s say co_await\n' "${#all[@]}" "$root" >&2; exit 1; }
if [ -z "${TENON_LINT_TEXT:-}" ] && command -v clang-query-19 >/dev/null && [ -f "$build/compile_commands.json" ]; then
  way="syntax trees"
  mapfile -t compiled < <(printf '%s\n' "${all[@]}" | while read -r file; do
    if grep -qF "\"$file\"" "$build/compile_commands.json"; then printf '%s\n' "$file"; fi
  done)
  if [ "${#compiled[@]}" -le 5 ]; then
    printf 'only %d of them are compiled in %s\n' "${#compiled[@]}" "$build" >&2
    exit 1
  fi
  examined=("${compiled[@]}")
  bad=$(by_tree "${compiled[@]}")
else
  way="text (clang-query-19 or compile_commands.json is missing)"
  examined=("${all[@]}")
  bad=$(by_text "${all[@]}")
fi

count=0
if [ -n "$bad" ]; then
  printf '%s\n' "$bad" >&2
  count=$(wc -l <<<"$bad")
fi
printf '%d files examined by %s: %d findings\n' "${#examined[@]}" "$way" "$count"
[ "$count" -eq 0 ]
