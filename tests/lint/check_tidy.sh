#!/usr/bin/env bash
# clang-tidy with the short list of .clang-tidy over the rooms that decide; GLEANER_TIDY=all takes every room (slow).
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v clang-tidy-14 >/dev/null || { echo "clang-tidy-14 is missing: tools/setup test"; exit 1; }
rooms=(shared/base server/policy client/policy)
[[ ${GLEANER_TIDY:-} == all ]] && rooms=(shared server client apps tools)
find "${rooms[@]}" -name '*.cpp' | xargs -P 2 -n 4 clang-tidy-14 -p "$1" --quiet 2>&1 | grep -E 'error:|warning:' && exit 1
echo "tidy: ${rooms[*]} are clean"
