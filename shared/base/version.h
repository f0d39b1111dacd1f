// The version that all programs print; the same number as in CMakeLists.txt (checked by the lint test).
#pragma once

namespace gleaner {
inline constexpr const char* version_text = "0.1.0";
}
