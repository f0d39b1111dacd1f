// Uploads into the blob store: pieces at any offset, of any length, under the digest of something else, with
// restarts between them. A blob is only ever what its digest says, an upload never longer than allowed, and
// what is refused changes nothing.
#include <array>

#include "server/storage/file_blobs.h"
#include "shared/crypto/keys.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using storage::FileBlobs;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t bytes_max = 48;

void check(FileBlobs& blobs, const std::string& digest) {
  const auto state = blobs.upload_state(digest);
  CHECK_TRUE(state.ok() && state->offset >= 0 && state->offset <= bytes_max);
  CHECK_TRUE(state->complete == blobs.has(digest));
  if (!state->complete) return;
  const auto bytes = blobs.read(digest, bytes_max);
  CHECK_TRUE(bytes.ok() && crypto::sha256_hex(*bytes) == digest);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fs::path directory = fuzz::scratch("blobs");
  static const std::array<Bytes, 3> contents = {Bytes(), Bytes("grapes"), Bytes(40, 'w')};
  fs::remove_all(directory);
  auto blobs = std::make_unique<FileBlobs>(io::real_files(), directory);
  CHECK_TRUE(blobs->open().ok());
  fuzz::Dice dice(fuzz::text_of(data, size));
  while (dice.more()) {
    const Bytes& content = contents[static_cast<std::size_t>(dice.below(3))];
    const std::string digest = crypto::sha256_hex(content);
    const auto before = blobs->upload_state(digest);
    switch (dice.below(6)) {
      case 0: {  // as an honest client does
        const auto rest = std::string_view(content).substr(
            std::min<std::size_t>(content.size(), static_cast<std::size_t>(before->offset)));
        (void)blobs->append(digest, before->offset, rest.substr(0, static_cast<std::size_t>(dice.below(32))),
                            bytes_max);
        break;
      }
      case 1: {
        const std::int64_t offset = dice.below(256) - 100;
        const auto appended =
            blobs->append(digest, offset, dice.take(static_cast<std::size_t>(dice.below(64))), bytes_max);
        if (!appended.ok()) CHECK_TRUE(blobs->upload_state(digest)->offset == before->offset);
        if (appended.ok() && !before->complete) CHECK_TRUE(offset == before->offset);
        break;
      }
      case 2:
        if (blobs->finish(digest).ok()) CHECK_TRUE(blobs->has(digest));
        break;
      case 3:
        CHECK_TRUE(blobs->put(content).ok() && blobs->has(digest));
        break;
      case 4: {
        const std::string name(dice.take(8));
        CHECK_TRUE(!blobs->append(name, 0, content, bytes_max).ok() && !blobs->finish(name).ok() &&
                   !blobs->has(name));
        break;
      }
      default:
        blobs = std::make_unique<FileBlobs>(io::real_files(), directory);
        CHECK_TRUE(blobs->open().ok());
    }
    check(*blobs, digest);
  }
  fs::remove_all(directory);
  return 0;
}
