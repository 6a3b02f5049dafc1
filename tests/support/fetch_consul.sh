#!/bin/sh
# Puts a Consul agent at BUILD-FOLDER/consul-agent/usr/bin/consul and prints that path.
#
#   fetch_consul.sh BUILD-FOLDER
#
# A `consul` that is on the PATH is used as it is. Otherwise the package of Debian 11, the last release that had one, is
# downloaded from the archives this machine's own apt sources name and unpacked below BUILD-FOLDER. The system's apt
# state is neither read nor changed: lists, cache and status live in BUILD-FOLDER/consul-agent/apt.
# Why there is none is also in BUILD-FOLDER/consul-agent/usr/bin/missing.txt, for tests that skip.
# Exit codes: 0 there is an agent; 77 it cannot be had here (no apt, no network), with a sentence on stderr; 2 usage.
set -u
suite=bullseye
unavailable=77

[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: fetch_consul.sh BUILD-FOLDER" >&2; exit 2; }
home=$(cd "$1" && pwd)/consul-agent
agent=$home/usr/bin/consul

give_up() {
  echo "$1; put a consul on the PATH, or run this where the package archive can be reached" >"$home/usr/bin/missing.txt"
  echo "fetch_consul: there is no Consul agent: $(cat "$home/usr/bin/missing.txt")" >&2
  exit $unavailable
}

works() { "$1" version >/dev/null 2>&1; }

mkdir -p "$home/usr/bin" || exit 2
if works "$agent"; then echo "$agent"; exit 0; fi
found=$(command -v consul || true)
if [ -n "$found" ] && works "$found"; then
  ln -sf "$found" "$agent" && echo "$agent" && exit 0
fi
for tool in apt-get dpkg-deb; do
  command -v $tool >/dev/null || give_up "$tool is not installed"
done

apt=$home/apt
mkdir -p "$apt/etc/sources.list.d" "$apt/lists/partial" "$apt/archives/partial" || exit 2
: >"$apt/status"

# The machine's sources with the suite replaced. Archives of security and updates spell suites differently and are not
# needed: the package is in the release itself.
codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
[ -n "$codename" ] || give_up "/etc/os-release names no release"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
signed=""
[ -r $keyring ] && signed="[signed-by=$keyring] "
{
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -r "$file" ] && sed -n 's/^URIs:[[:space:]]*//p' "$file" | tr ' ' '\n'
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    # deb [options] URI SUITE …
    [ -r "$file" ] || continue
    sed -nE "s/^deb[[:space:]]+(\[[^]]*\][[:space:]]+)?([^ ]+)[[:space:]]+$codename[[:space:]].*/\2/p" "$file"
  done
} | grep . | grep -v security | sort -u | sed "s|.*|deb $signed& $suite main|" >"$apt/etc/sources.list"
[ -s "$apt/etc/sources.list" ] || give_up "this machine has no apt sources"

# quiet SECONDS COMMAND… : with apt's state in $apt; what it says goes to its log.
quiet() {
  timeout "$@" \
    -o Dir::Etc::sourcelist="$apt/etc/sources.list" -o Dir::Etc::sourceparts="$apt/etc/sources.list.d" \
    -o Dir::State="$apt" -o Dir::State::lists="$apt/lists" -o Dir::State::status="$apt/status" \
    -o Dir::Cache="$apt" -o Dir::Cache::archives="$apt/archives" \
    -o Acquire::Languages=none -o Acquire::Check-Valid-Until=false -o Acquire::Retries=1 \
    -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o APT::Sandbox::User=root \
    >"$apt/log" 2>&1
}
quiet 60 apt-get update || give_up "the package lists of $suite cannot be read ($(tail -1 "$apt/log"))"
(cd "$apt/archives" && quiet 120 apt-get download consul) \
  || give_up "its package cannot be downloaded ($(tail -1 "$apt/log"))"
dpkg-deb -x "$apt"/archives/consul_*.deb "$home" || give_up "its package cannot be unpacked"
works "$agent" || give_up "the agent of $suite does not run on this machine"
echo "$agent"
