#!/bin/bash
# Makes a bare Debian 12 able to build Tenon, and builds it. Quick and quiet when nothing has changed.
#
#   .ci/setup.sh [--slow] [PRESET [TARGET…]]
#
# Installs the packages of .ci/packages.txt (--slow: and of packages-slow.txt) that are missing; with PRESET, configures
# and builds build/PRESET: everything but what only slow tests need (--slow: that, too), or only TARGETs. Needs no
# terminal and no stdin.
# Exit codes: 0 ready, 1 something failed (the last lines say what and what to do), 2 wrong command line.
set -euo pipefail
exec </dev/null
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export HOME="${HOME:-/root}" LC_ALL=C.UTF-8

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

lists=("$root/.ci/packages.txt")
if [ "${1:-}" = --slow ]; then
  lists+=("$root/.ci/packages-slow.txt")
  shift
fi
case "${1:-}" in -*) printf 'usage: .ci/setup.sh [--slow] [PRESET [TARGET...]]\n' >&2; exit 2 ;; esac
preset=${1:-}
[ $# -gt 0 ] && shift
targets=("$@")
[ ${#lists[@]} -eq 1 ] || [ ${#targets[@]} -gt 0 ] || targets=(all slow_tests)

install_missing() {
  local wanted missing=() package as_root=() log
  mapfile -t wanted < <(sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "${lists[@]}")
  command -v dpkg-query >/dev/null || die "this is no Debian system. Install what ${lists[*]} name by your system's" \
    "means; then: cmake --preset release && ninja -C build/release"
  for package in "${wanted[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | head -c 9)" = installed ] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null && sudo -n true 2>/dev/null && as_root=(sudo -n) ||
      die "packages are missing and this user may not install them. Run as root: apt-get install ${missing[*]}"
  fi
  say "installing ${#missing[@]} packages: ${missing[*]}"
  log=$(mktemp)
  if ! { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q update &&
         "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends "${missing[@]}"
       } >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    rm -f "$log"
    die "apt-get failed (its words are above). Check the network and the apt sources, then run this again"
  fi
  rm -f "$log"
}

# Every program that a ThreadSanitizer build runs while building needs a fixed address layout on newer kernels.
launcher=()
[ "$preset" = tsan ] && setarch -R true 2>/dev/null && launcher=(setarch -R)

configure() {
  local build=$root/build/$preset log=$root/build/$preset/configure.log
  [ -e "$build/build.ninja" ] && [ "$build/build.ninja" -nt "$root/CMakePresets.json" ] && return
  mkdir -p "$build"
  say "configuring build/$preset"
  if ! (cd "$root" && "${launcher[@]}" cmake --preset "$preset") >"$log" 2>&1; then
    tail -n 25 "$log" >&2
    die "cmake could not configure build/$preset (its words are above, all of them in $log)"
  fi
  touch "$build/build.ninja"
}

# Prints a line every 15 s, because a build without a terminal is silent otherwise.
build() {
  local build=$root/build/$preset log=$root/build/$preset/build.log pid ticks=0 code=0 done_of
  "${launcher[@]}" ninja -C "$build" -j "$(nproc)" ${targets[@]+"${targets[@]}"} >"$log" 2>&1 &
  pid=$!
  trap 'kill "$pid" 2>/dev/null || true' INT TERM
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    ticks=$((ticks + 1))
    if [ $((ticks % 75)) -eq 0 ]; then
      done_of=$(grep -ao '^\[[0-9]*/[0-9]*\]' "$log" | tail -n 1 || true)
      say "building build/$preset ${done_of:-}"
    fi
  done
  wait "$pid" || code=$?
  trap - INT TERM
  if [ "$code" -ne 0 ]; then
    { grep -a -A 12 '^CMake Error' "$log" || grep -a -A 30 '^FAILED' "$log" || tail -n 30 "$log"; } |
      sed -n '1,80p' >&2
    die "build/$preset does not build (the first errors are above, everything is in $log)"
  fi
  grep -aq 'no work to do' "$log" || say "built build/$preset"
}

install_missing
if [ -n "$preset" ]; then
  configure
  build
fi
