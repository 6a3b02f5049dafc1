#!/bin/bash
# g++ 12 destroys an aggregate temporary or the captures of a lambda twice when they stand inside a co_await expression:
# give them a name first. This finds them.
#
#   co_await.sh ROOT BUILD-DIRECTORY
#
# With clang-query-19 (package clang-tools-19) it looks at the syntax tree of every compiled file that says co_await, and
# of the headers they include; without, or with TENON_LINT_TEXT=1, at the text. Exit code 1: found some, or cannot look.
set -euo pipefail
root=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)

mapfile -t files < <(grep -rlw co_await "$root" --include='*.cpp' --include='*.hpp' | grep -v "^$root/build" | sort)
[ "${#files[@]}" -gt 10 ] || { printf 'only %d files say co_await below %s\n' "${#files[@]}" "$root" >&2; exit 1; }

# by_text : from each co_await to the end of its expression: a lambda with captures, or Type{something}.
by_text() {
  perl -0777 -ne '
    my $text = $_;
    $text =~ s{//[^\n]*}{}g;
    while ($text =~ /\bco_await\b([^;]*)/g) {
      my ($after, $at) = ($1, pos($text) - length($1));
      $after =~ s/\)\s*\{.*//s;  # a body that follows: if (co_await x) {
      next unless $after =~ /(?:^|[(,\s])\[[^\]\s][^\]]*\]\s*[({m]/ || $after =~ /\b[A-Z]\w*(?:<[^;{}]*>)?\s*\{\s*[^}\s]/;
      my $line = 1 + (substr($text, 0, $at) =~ tr/\n//);
      my ($first) = $after =~ /^\s*([^\n]*)/;
      print "$ARGV:$line: co_await $first\n";
    }' "$@"
}

# by_tree : the same by the compiler that sees types and templates. Aggregates that own nothing (no destructor to run
# twice) are left alone.
by_tree() {
  local matcher commands="$build/co_await.query"
  cat >"$commands" <<'QUERY'
set bind-root false
set output diag
match coawaitExpr(isExpansionInFileMatching("TENON_ROOT/"), hasDescendant(lambdaExpr(hasAnyCapture(lambdaCapture())).bind("capturing lambda")))
match coawaitExpr(isExpansionInFileMatching("TENON_ROOT/"), hasDescendant(cxxBindTemporaryExpr(has(initListExpr())).bind("aggregate temporary")))
match coawaitExpr(isExpansionInFileMatching("TENON_ROOT/"), hasDescendant(materializeTemporaryExpr(hasDescendant(initListExpr(hasType(hasUnqualifiedDesugaredType(recordType(hasDeclaration(cxxRecordDecl(unless(hasAnyName("::x")), has(cxxDestructorDecl())))))))).bind("aggregate temporary"))))
QUERY
  sed -i "s|TENON_ROOT|$root|" "$commands"
  local file output
  for file in "${files[@]}"; do
    grep -qF "\"$file\"" "$build/compile_commands.json" || continue
    output=$(clang-query-19 -p "$build" --extra-arg=-Wno-everything -f "$commands" "$file" 2>&1) || true
    if grep -q ': error: ' <<<"$output" || ! grep -q 'match' <<<"$output"; then
      printf 'cannot be examined: %s\n%s\n' "$file" "$(head -5 <<<"$output")" >&2
      exit 1
    fi
    checked=$((checked + 1))
    grep -E 'note: "(capturing lambda|aggregate temporary)" binds here' <<<"$output" || true
  done
}
