#!/bin/bash
# Every installed header compiles without the tree, the contract suites included.
#
#   install_headers.sh PLACE COMPILER     PLACE: of install_layout.sh
set -euo pipefail
place=$1
compiler=$2
folder=$place/projects/headers
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
(cd "$place/moved/include" && find . -name '*.hpp' | sed 's|^\./||' | sort) >headers
[ "$(wc -l <headers)" -gt 40 ] || { printf 'only %d headers are installed\n' "$(wc -l <headers)" >&2; exit 1; }
# Suites and their fakes are made for one source file each.
grep -v '^tenon/contract/' headers | sed 's/.*/#include "&"/' >all.cpp
sources=all.cpp
while read -r header; do
  name=$(tr -c 'a-z\n' '_' <<<"$header").cpp
  printf '#include "%s"\n' "$header" >"$name"
  sources+=" $name"
done < <(grep '^tenon/contract/' headers)
cat >CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(headers LANGUAGES CXX)
find_package(tenon REQUIRED COMPONENTS protobuf)
find_package(GTest REQUIRED)
add_library(headers OBJECT $sources)
target_link_libraries(headers PRIVATE tenon::core tenon::protobuf GTest::gtest)
CMAKE
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
cmake -B build -DCMAKE_PREFIX_PATH="$place/moved" -DCMAKE_CXX_COMPILER="$compiler" "${launcher[@]}" >log
cmake --build build >>log 2>&1 || { cat log >&2; exit 1; }
printf '%d headers compiled\n' "$(wc -l <headers)"
