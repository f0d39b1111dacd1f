// gleaner-unpack ARCHIVE DIGEST DIRECTORY: unpacks a bundle into a new directory if its bytes have the
// digest. A process of its own, so that the client neither keeps what libarchive needs in memory nor reads
// archives itself. Its exit status is the number of the ErrorKind (0: done); the message goes to standard
// error.
#include <cstdio>

#include "shared/archive/bundle_archive.h"

int main(int argc, char** argv) {
  using namespace gleaner;
  const Status done = argc == 4 ? archives::unpack_bundle(argv[1], argv[2], argv[3])
                                : Error{ErrorKind::invalid, "use: gleaner-unpack ARCHIVE DIGEST DIRECTORY"};
  if (done.ok()) return 0;
  std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return static_cast<int>(done.error().kind);
}
