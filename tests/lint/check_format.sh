#!/usr/bin/env bash
# Own C++ is formatted as .clang-format says (version 14, so that everybody's agrees).
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v clang-format-14 >/dev/null || { echo "clang-format-14 is missing: tools/setup test"; exit 1; }
find shared server client apps tools tests -name '*.cpp' -o -name '*.h' | xargs clang-format-14 --dry-run --Werror
