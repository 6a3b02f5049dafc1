#!/bin/bash
# Builds the libFuzzer programs (preset clang: ASan and UBSan) and runs each over a temporary copy of its corpus.
#
#   tests/fuzz/run.sh [SECONDS]     SECONDS: how long each runs, 60 unless given
#
# One line for each target: runs a second, findings. Inputs that were found, and the programs' output, stay in
# build/clang/fuzz-findings. TENON_FUZZ_BUILD names another build folder, TENON_FUZZ_ONLY one target.
# Exit codes: 0 nothing was found, 1 something was or a program did not run, 2 wrong command line.
set -euo pipefail
exec </dev/null
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
seconds=${1:-60}
if [ $# -gt 1 ] || ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
  printf 'usage: tests/fuzz/run.sh [SECONDS]\n' >&2
  exit 2
fi
build=${TENON_FUZZ_BUILD:-$root/build/clang}
findings=$build/fuzz-findings
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --preset clang -S "$root" -B "$build" >"$work/build.log" 2>&1 &&
  cmake --build "$build" --target fuzz_programs --parallel 2 >>"$work/build.log" 2>&1 || {
  tail -n 40 "$work/build.log" >&2
  printf 'the fuzz targets cannot be built\n' >&2
  exit 1
}

# fuzz TARGET CORPUS : one line; fails when something was found.
fuzz() {
  local target=$1 corpus=$2 code=0 found log=$findings/$1.log
  mkdir -p "$work/$target"
  cp "$corpus"/* "$work/$target/"
  rm -rf "${findings:?}/$target"
  mkdir -p "$findings/$target"
  "$build/bin/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$findings/$target/" "$work/$target" >"$log" 2>&1 || code=$?
  found=$(find "$findings/$target" -type f ! -name 'slow-unit-*' | wc -l)
  # A program that fails without leaving an input, or that did not run at all, is a finding, too.
  if [ "$found" -eq 0 ]; then
    [ "$code" -eq 0 ] && grep -q '^stat::number_of_executed_units' "$log" || found=1
  fi
  stat() { sed -n "s/^stat::$1: *//p" "$log" | tail -n 1; }
  printf '%-28s %9s runs  %7s runs/s  %s findings\n' "$target" "$(stat number_of_executed_units)" \
    "$(stat average_exec_per_sec)" "$found"
  [ "$found" -eq 0 ] || { grep -m 1 -E 'ERROR|SUMMARY|runtime error' "$log" || tail -n 3 "$log"; } >&2
  return "$((found > 0))"
}

failed=0
ran=0
mkdir -p "$findings"
while IFS=$'\t' read -r target corpus; do
  [ -z "${TENON_FUZZ_ONLY:-}" ] || [ "$target" = "$TENON_FUZZ_ONLY" ] || continue
  ran=$((ran + 1))
  fuzz "$target" "$corpus" || failed=$((failed + 1))
done <"$build/fuzz_programs.txt"
[ "$ran" -gt 0 ] || { printf 'no fuzz target was run\n' >&2; exit 1; }
if [ "$failed" -gt 0 ]; then
  printf 'findings in %d of %d targets: see %s\n' "$failed" "$ran" "$findings" >&2
  exit 1
fi
