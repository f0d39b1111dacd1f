// The systems of donated PCs on which the client runs, as they are before anybody installs more. `app check`
// holds kernels against each. Not listed: Ubuntu 22.04 (GNU C library 2.35) and Alpine (musl), for which
// there is no client. Sources: packages libc6 and libstdc++6, glibc and libstdc++ of these releases.
#pragma once

#include <array>

namespace gleaner::local {

struct System {
  const char* name;
  const char* glibc;      // GNU C library: its newest symbols are GLIBC_ this
  const char* libstdcxx;  // GNU C++ library: GLIBCXX_ this
};

inline constexpr std::array systems{
    System{"Debian 12", "2.36", "3.4.30"}, System{"Debian 13", "2.41", "3.4.33"},
    System{"Ubuntu 24.04", "2.39", "3.4.33"}, System{"Fedora 40", "2.39", "3.4.33"}};

}  // namespace gleaner::local
