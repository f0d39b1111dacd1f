// A relay is gone: who was under it brings the project itself what that gave.
#include "tests/unit/service/relay_tree.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;
using protocol::CommitStatus;

namespace {

// What a host of the relay has in hand, and brings.
struct Brought {
  protocol::Grant grant;
  protocol::CommitRequest commit;
};

Brought bring(Tree& tree, const TreeChild& child) {
  auto reply = tree.work(child);
  if (reply.grants.empty()) {
    tree.speak_all();
    reply = tree.work(child);
  }
  Brought brought;
  brought.grant = tree.granted(reply, child);
  brought.commit = tree.result(child, brought.grant, brought.grant.range);
  brought.commit.given = protocol::GivenUnit{reply.grants.front(), reply.leases->front()};
  return brought;
}

protocol::Acknowledgement told(Tree& tree, const TreeChild& child, const protocol::CommitRequest& commit) {
  return must(tree.world.commit(child.id, commit));
}

}  // namespace

TEST_CASE(
    "what a relay gave is taken from its host itself, once, however late, and whoever brings it again") {
  Tree tree;
  const TreeChild& child = tree.children[0];
  const auto brought = bring(tree, child);
  const bool late = GENERATE(false, true);
  if (late) {
    tree.world.clock().advance(std::chrono::hours{24 * 90});
    tree.world.tick();
  }
  const auto size = brought.grant.range.size();
  const auto answer = told(tree, child, brought.commit);
  CHECK(answer.reason.empty());
  CHECK(answer.status == CommitStatus::accepted);
  CHECK(answer.host == child.id);
  CHECK(answer.unit == brought.grant.unit);
  CHECK(answer.items_accepted == size);
  CHECK(tree.world.show(tree.problem).accepted == size);
  tree.world.restart();
  const auto again = told(tree, child, brought.commit);
  CHECK(again.status == CommitStatus::accepted);
  CHECK(again.unit == brought.grant.unit);
  CHECK(again.items_accepted == size);
  CHECK(tree.world.show(tree.problem).accepted == size);
  if (late) return;
  // The relay is there after all.
  auto through = brought.commit;
  through.given.reset();
  static_cast<void>(tree.work(child, {through}, 0));
  tree.finish();
  CHECK(told(tree, child, brought.commit).items_accepted == size);
}

TEST_CASE("what a relay passed up before it went is answered as then") {
  Tree tree;
  const TreeChild& child = tree.children[0];
  const auto brought = bring(tree, child);
  auto through = brought.commit;
  through.given.reset();
  static_cast<void>(tree.work(child, {through}, 0));
  tree.finish();
  const auto answer = told(tree, child, brought.commit);
  CHECK(answer.status == CommitStatus::accepted);
  CHECK(answer.unit == brought.grant.unit);
  CHECK(answer.items_accepted == brought.grant.range.size());
}

TEST_CASE("what no relay gave to who brings it is refused, and says why") {
  Tree tree;
  const TreeChild &child = tree.children[0], &other = tree.children[1];
  const auto brought = bring(tree, child);
  const auto refused = [&](const TreeChild& by, const protocol::CommitRequest& commit, const char* why) {
    const auto answer = told(tree, by, commit);
    CHECK(answer.status == CommitStatus::refused);
    CHECK_THAT(answer.reason, Catch::Contains(why));
    CHECK(answer.host == by.id);
  };
  refused(other, brought.commit, "brought by the host that signed");
  auto commit = tree.result(other, brought.grant, brought.grant.range);
  commit.given = brought.commit.given;
  refused(other, commit, "gave something else");

  auto wider = brought.grant;
  wider.range.end += 1;
  commit = tree.result(child, wider, wider.range);
  commit.given = brought.commit.given;
  refused(child, commit, "gave something else");

  commit = brought.commit;
  commit.delivery.reset();
  refused(child, commit, "by the host that signed");

  // The relay's key is nobody else's, and the project's is not the relay's.
  const auto stranger = crypto::PrivateKey::generate();
  commit = brought.commit;
  commit.given->grant =
      crypto::sign_statement(protocol::StatementType::relay_grant, commit.given->grant.payload, stranger);
  refused(child, commit, "");
  commit = brought.commit;
  auto lease = must(protocol::decode<protocol::Grant>(commit.given->lease.statements.back().payload));
  lease.range.end += 100;
  auto& above = commit.given->lease.statements.back();
  const auto context = above.context;
  above = crypto::sign_statement(protocol::StatementType::grant, protocol::encode(lease), tree.lab.key);
  above.context = context;
  auto part = must(protocol::decode<protocol::RelayGrant>(commit.given->grant.payload));
  part.parent = crypto::sha256_hex(above.payload);
  commit.given->grant =
      crypto::sign_statement(protocol::StatementType::relay_grant, protocol::encode(part), tree.lab.key);
  refused(child, commit, "");

  CHECK(must(tree.world.commit(tree.relay, brought.commit)).status == CommitStatus::refused);
  CHECK(tree.world.show(tree.problem).accepted == 0);
  CHECK(told(tree, child, brought.commit).status == CommitStatus::accepted);
}
