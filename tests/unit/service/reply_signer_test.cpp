// Replies that wait together share a signature; each is whole, and can be checked alone.
#include "server/service/work/reply_signer.h"

#include <latch>
#include <map>
#include <mutex>
#include <set>

#include "shared/crypto/keys.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using protocol::StatementType;

namespace {

std::vector<crypto::UnsignedStatement> statements(const std::string& of, std::size_t count) {
  std::vector<crypto::UnsignedStatement> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back({StatementType::grant, "{\"of\":\"" + of + "\",\"number\":" + std::to_string(i) + "}"});
  return all;
}

}  // namespace

TEST_CASE("replies that wait together share a signature, as far as they are small") {
  World world;
  service::Kernel& kernel = world.service().kernel();
  const auto key = crypto::PrivateKey::generate();
  service::ReplySigner signer(kernel, key);
  std::mutex mutex;
  std::map<std::string, std::vector<protocol::SignedStatement>> told;
  constexpr int small = 40;
  std::latch over(small + 2), go(1);
  const auto ask = [&](const std::string& of, std::size_t count) {
    signer.sign(statements(of, count), [&, of](std::vector<protocol::SignedStatement> all) {
      {
        const std::lock_guard lock(mutex);
        told[of] = std::move(all);
      }
      over.count_down();
    });
  };
  // No thread of the pool is free before all have asked.
  constexpr int more_than_threads = 1000;
  for (int i = 0; i < more_than_threads; ++i) kernel.on_pool([&go] { go.wait(); });
  for (int i = 0; i < small; ++i) ask(std::to_string(i), i % 3 == 0 ? 1 : 2);
  ask("large", 40);
  ask("nothing", 0);
  go.count_down();
  over.wait();

  REQUIRE(told.size() == small + 2);
  CHECK(told.at("nothing").empty());
  CHECK(told.at("large").size() == 40);
  std::map<std::string, std::set<std::string>> sharing;  // by signature
  for (const auto& [of, all] : told) {
    const auto wanted = statements(of, all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(all[i].payload == wanted[i].payload);
      CHECK(all[i].key == key.public_key());
      CHECK(crypto::check_signature(all[i], StatementType::grant).ok());
      CHECK(all[i].signature == all.front().signature);
      sharing[all[i].signature].insert(of);
    }
  }
  CHECK(sharing.at(told.at("large").front().signature) == std::set<std::string>{"large"});
  CHECK(sharing.size() == 1 + 3);  // 16, 16 and 8
  for (const auto& [signature, replies] : sharing) CHECK(replies.size() <= 16);
}

TEST_CASE("a reply that waits alone is signed as ever") {
  World world;
  const auto key = crypto::PrivateKey::generate();
  service::ReplySigner signer(world.service().kernel(), key);
  std::latch over(1);
  std::vector<protocol::SignedStatement> told;
  signer.sign(statements("one", 1), [&](std::vector<protocol::SignedStatement> all) {
    told = std::move(all);
    over.count_down();
  });
  over.wait();
  REQUIRE(told.size() == 1);
  CHECK(!told.front().proof);
  CHECK(crypto::check_signature(told.front(), StatementType::grant).ok());
}
