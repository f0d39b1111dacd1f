// The systems of donated PCs as they are before anybody installs more: what a kernel finds on each of them.
// A sandbox shows a kernel no other library of the computer (runtime_files.h), and `app check` holds kernels
// against each system. Figures:
//
//   glibc       version of the package libc6 (Debian, Ubuntu) or glibc (Fedora); the newest symbols of a
//               GNU C library are those of its own version. Ubuntu 22.04: libc6 2.35.
//   libstdcxx   by the GCC of the package libstdc++6 or libstdc++, and the table of GLIBCXX_ versions in
//               "ABI Policy and Guidelines" of its manual: GCC 12: 3.4.30 (Debian 12, Ubuntu 22.04), GCC 14:
//               3.4.33 (Debian 13, Ubuntu 24.04, Fedora 40).
//
// `strings -a libc.so.6 | grep -x 'GLIBC_2[.0-9]*' | sort -V | tail -n 1` on such a computer tells the same.
// Alpine (3.20) has musl in place of the GNU C library: only static programs, and those of musl, start there.
#pragma once

#include <array>

namespace gleaner::sandbox {

struct System {
  const char* name;
  const char* glibc;      // GNU C library: its newest symbols are GLIBC_ this
  const char* libstdcxx;  // GNU C++ library: GLIBCXX_ this
  bool client = true;     // does the client run there? Else an author need not care, and is only told
};

inline constexpr std::array systems{
    System{"Debian 12", "2.36", "3.4.30"}, System{"Debian 13", "2.41", "3.4.33"},
    System{"Ubuntu 24.04", "2.39", "3.4.33"}, System{"Fedora 40", "2.39", "3.4.33"},
    System{"Ubuntu 22.04", "2.35", "3.4.30", false}};
inline constexpr const char* musl_system = "Alpine";

// The libraries that all of them have but Alpine: those of the packages libc6, libgcc-s1, libstdc++6 and
// zlib1g on Debian, glibc, libgcc, libstdc++ and zlib on Fedora. The package managers themselves need these.
// Loaders come first. Since glibc 2.34 names are looked up without further libraries (NEWS of 2.34,
// libnss_files).
inline constexpr std::array promised_libraries{"ld-linux-x86-64.so.2",
                                               "ld-linux-aarch64.so.1",
                                               "libc.so.6",
                                               "libm.so.6",
                                               "libmvec.so.1",
                                               "libpthread.so.0",
                                               "libdl.so.2",
                                               "librt.so.1",
                                               "libutil.so.1",
                                               "libresolv.so.2",
                                               "libanl.so.1",
                                               "libgcc_s.so.1",
                                               "libstdc++.so.6",
                                               "libz.so.1"};

}  // namespace gleaner::sandbox
