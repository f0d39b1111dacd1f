// What comes over the link: frames are the same however the bytes are cut into pieces, and take no more
// memory than what was received; bodies that are taken are written again as they came.
#include <algorithm>
#include <vector>

#include "server/link/frame.h"
#include "server/link/messages.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::link;

namespace {

struct Got {
  std::uint64_t id;
  Kind kind;
  Bytes body;
  friend bool operator==(const Got&, const Got&) = default;
};

std::vector<Got> read(std::string_view bytes, std::size_t piece, bool& fine) {
  FrameReader reader;
  std::vector<Got> all;
  fine = true;
  while (!bytes.empty() && fine) {
    const auto part = bytes.substr(0, piece);
    std::copy(part.begin(), part.end(), reader.room(piece));
    reader.received(part.size());
    bytes.remove_prefix(part.size());
    fine = reader.take([&](const Frame& frame) {
                   all.push_back({frame.id, frame.kind, Bytes(frame.body)});
                 })
               .ok();
  }
  return all;
}

template <typename Message>
void check(std::string_view bytes) {
  if (const auto message = unpack<Message>(bytes); message.ok()) {
    const Bytes again = pack(*message);
    const auto second = unpack<Message>(again);
    CHECK_TRUE(second.ok() && pack(*second) == again);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  bool fine = true, fine_too = true;
  const auto whole = read(text, std::max<std::size_t>(text.size(), 1), fine);
  const auto pieces = read(text, 7, fine_too);
  CHECK_TRUE(fine == fine_too && whole == pieces);
  Bytes written;
  for (const Got& each : whole) append_frame(written, each.id, each.kind, each.body);
  CHECK_TRUE(text.starts_with(written));
  check<Hello>(text);
  check<Caller>(text);
  check<WhoAnswer>(text);
  check<PlaceCall>(text);
  check<PlaceAnswer>(text);
  check<WorkCall>(text);
  check<HeartbeatCall>(text);
  check<FailureCall>(text);
  check<WorkAnswer>(text);
  check<BlobCall>(text);
  check<BlobAnswer>(text);
  check<http::Request>(text);
  check<http::Response>(text);
  check<protocol::HeartbeatReply>(text);
  (void)unpack_error(text);
  return 0;
}
