// gleaner-unpack ARCHIVE DIGEST DIRECTORY: unpacks a bundle into a new directory if its bytes have the
// digest. A process of its own, so that the client neither keeps what libarchive needs in memory nor reads
// archives itself. Its exit status is the number of the ErrorKind (0: done); the message goes to standard
// error.
#include "shared/archive/bundle_archive.h"
#include "shared/terminal/print.h"
#include "shared/terminal/run.h"

int main(int argc, char** argv) {
  using namespace gleaner;
  const auto unpack = [&] {
    const Status done = argc == 4 ? archives::unpack_bundle(argv[1], argv[2], argv[3])
                                  : Error{ErrorKind::invalid, "use: gleaner-unpack ARCHIVE DIGEST DIRECTORY"};
    if (done.ok()) return 0;
    terminal::print(stderr, "{}\n", done.error().message);
    return static_cast<int>(done.error().kind);
  };
  return terminal::run("gleaner-unpack", unpack, static_cast<int>(ErrorKind::io));
}
