#!/bin/bash
# Sets up, builds and tests Tenon. From any directory, without a terminal, on a bare Debian 12.
#
#   tests/run.sh        the fast tier: release build, `ctest -L fast`
#   tests/run.sh all    besides: slow tests, the fast tests under ASan+UBSan and under TSan, fast tests and demo with
#                       the plugins linked into the programs, and a clang 19 build
#
# Exit codes: 0 everything passed, 1 something failed (named at the end), 2 wrong command line.
set -euo pipefail
exec </dev/null
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tier=${1:-fast}
if [ $# -gt 1 ] || { [ "$tier" != fast ] && [ "$tier" != all ]; }; then
  printf 'usage: tests/run.sh [fast|all]\n' >&2
  exit 2
fi

failed=()
summary=()
# step NAME COMMAND… : runs it, notes its time and whether it failed.
step() {
  local name=$1 start=$SECONDS code=0
  shift
  printf '\n== %s\n' "$name"
  "$@" || code=$?
  local took=$((SECONDS - start))
  if [ "$code" -eq 0 ]; then
    summary+=("$(printf 'ok      %4d s  %s' "$took" "$name")")
  else
    summary+=("$(printf 'FAILED  %4d s  %s' "$took" "$name")")
    failed+=("$name")
  fi
  return "$code"
}

# test_of PRESET LABEL : no test at all is a failure, too.
test_of() {
  local launcher=()
  [ "$1" = tsan ] && setarch -R true 2>/dev/null && launcher=(setarch -R)
  "${launcher[@]}" ctest --test-dir "$root/build/$1" -L "$2" --output-on-failure --no-tests=error -j 2
}

# build_and_test PRESET [SETUP-OPTIONS…] : the fast tests of that build.
build_and_test() {
  local preset=$1
  shift
  step "build $preset" "$root/.ci/setup.sh" "$@" "$preset" && step "fast tests, $preset" test_of "$preset" fast
}

slow_too=()
[ "$tier" = fast ] || slow_too=(--slow)
build_and_test release "${slow_too[@]}" || true
if [ "$tier" = all ]; then
  [ ${#failed[@]} -gt 0 ] || step "slow tests, release" test_of release slow || true
  build_and_test asan || true
  build_and_test tsan || true
  build_and_test static && step "demo, static" "$root/apps/demo.sh" static || true
  build_and_test clang || true
fi

printf '\n== tests/run.sh %s: %d s\n' "$tier" "$SECONDS"
printf '%s\n' "${summary[@]}"
if [ ${#failed[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${failed[0]}" "${failed[@]:1}" >&2
  exit 1
fi
printf 'passed\n'
