// Headers of libraries that most files include, read once for all of them (GleanerTargets.cmake). No file may
// need it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#if FMT_VERSION / 10000 == 9 && !defined(__clang__)
// Every file with a log line would compile all of fmt's formatting again; version 9 has it in its library,
// but does not say so.
extern template void fmt::detail::vformat_to(buffer<char>&, string_view,
                                             basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);
#endif
