#!/usr/bin/env bash
# clang-tidy with the short list of .clang-tidy over what the release build compiled as one piece of the modules that decide;
# GLEANER_TIDY=all takes every file of every module (slow).
#
#   check_tidy.sh BUILD_DIRECTORY
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "$0")/../.."
command -v clang-tidy-14 >/dev/null || { echo "clang-tidy-14 is missing: tools/setup test"; exit 1; }
if [[ ${GLEANER_TIDY:-} == all ]]; then
  what="every module"
  files=$(find shared server client apps tools -name '*.cpp' ! -name '*bench*')
else
  what="the modules that decide"
  files=$(cd "$build" && find "$PWD"/{shared,server/policy,client/policy} -path '*/Unity/*.cxx')
fi
[[ -n $files ]] || { echo "nothing to look at in $build: build it with the preset \"release\""; exit 1; }
# Flags are g++'s: those that clang does not know are no finding. Its precompiled headers cannot be read: they are read as text.
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
sed -E 's/ -include [^ ]*cmake_pch\.hxx//; s/ -Winvalid-pch//' "$build/compile_commands.json" >"$commands/compile_commands.json"
found=$(xargs -P 2 -n 1 nice clang-tidy-14 -p "$commands" --quiet <<<"$files" 2>&1) || true
# Findings, and nothing else: clang 14 does not know all flags of g++, nor all of C++20.
if grep -E -A3 '(error|warning):.*\[(bugprone|cert|misc|modernize|performance|readability)-' <<<"$found"; then exit 1; fi
# It must have looked: a piece with nothing to say says how many warnings of system headers it hid.
looked=$(grep -c 'warnings.* generated' <<<"$found") || true
((looked >= $(wc -l <<<"$files"))) || { echo "$found"; echo "clang-tidy-14 looked at $looked pieces only"; exit 1; }
echo "tidy: $what are clean ($(wc -l <<<"$files") pieces)"
