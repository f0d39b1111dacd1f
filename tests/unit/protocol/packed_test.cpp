// Messages as bytes (packer.h): the same messages, the same bounds.
#include "shared/protocol/packer.h"
#include "shared/protocol/unpacker.h"
#include "tests/catch.h"
#include "tests/unit/protocol/message_archives.h"

using namespace gleaner;
using namespace gleaner::protocol;

namespace {

constexpr std::uint64_t packed_seed = 20'261'126;

template <typename Message>
Bytes packed(const Message& message) {
  codec::Packer packer;
  visit(packer, message);
  return packer.take();
}

template <typename Message>
bool unpacks(std::string_view bytes, Message& message) {
  codec::Unpacker unpacker(bytes);
  visit(unpacker, message);
  return unpacker.complete();
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("every message survives as bytes, and no part of them is one", "",
                        codec::AllMessages) {
  INFO("seed " << packed_seed);
  Random random(packed_seed);
  for (int round = 0; round < 30; ++round) {
    const auto message = codec::random_message<TestType>(random);
    const Bytes bytes = packed(message);
    TestType back;
    REQUIRE(unpacks(bytes, back));
    REQUIRE(codec::same(back, message));
    TestType part;
    for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 50)
      REQUIRE_FALSE(unpacks(std::string_view(bytes).substr(0, size), part));
    REQUIRE_FALSE(unpacks(bytes + '\0', part));
  }
}

TEMPLATE_LIST_TEST_CASE("every bound of every field is kept in bytes", "", codec::AllMessages) {
  for (int faults = 0;; ++faults) {
    codec::Spoiler spoiler(faults);
    TestType message;
    visit(spoiler, message);
    TestType back;
    INFO("fault " << faults << " in " << spoiler.field());
    // Writers keep numbers within their bounds.
    CHECK(unpacks(packed(message), back) == (!spoiler.done() || spoiler.bad_number().has_value()));
    if (!spoiler.done()) break;
  }
}

TEST_CASE("a list that claims to be long takes no more memory than its bytes allow") {
  WorkReply reply;
  Bytes bytes = packed(reply);
  bytes[0] = '\x08';  // acknowledgements; what follows are zeros
  CHECK_FALSE(unpacks(bytes, reply));
  CHECK(reply.acknowledgements.size() <= 8);
}
