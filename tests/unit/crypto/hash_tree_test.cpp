// One signature over many statements: each can be checked alone, and nothing else passes for one of them.
#include "shared/crypto/hash_tree.h"

#include <set>

#include "shared/crypto/statements.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::crypto;
using protocol::StatementType;

namespace {

std::vector<std::string> texts(std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back("text " + std::to_string(i));
  return all;
}

std::vector<protocol::SignedStatement> statements(std::size_t count, const PrivateKey& key) {
  std::vector<UnsignedStatement> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back({i % 2 == 0 ? StatementType::acknowledgement : StatementType::grant,
                   "{\"number\":" + std::to_string(i) + "}"});
  return sign_statements(std::move(all), key);
}

}  // namespace

TEST_CASE("a hash tree is RFC 6962's: its published roots") {
  // RFC 6962's test vectors, as in the certificate transparency project: leaves "", 0x00, 0x10, 0x2021.
  const std::vector<std::string> leaves = {"", std::string(1, '\0'), "\x10", "\x20\x21"};
  const char* roots[] = {"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                         "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
                         "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
                         "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"};
  for (std::size_t count = 1; count <= leaves.size(); ++count) {
    const auto part = std::vector(leaves.begin(), leaves.begin() + static_cast<std::ptrdiff_t>(count));
    CHECK(to_hex(hash_tree(part).root) == roots[count - 1]);
  }
}

TEST_CASE("every text of a tree leads to its root, and no other does") {
  for (std::size_t count = 1; count <= 130; ++count) {
    const auto all = texts(count);
    const HashTree tree = hash_tree(all);
    REQUIRE(tree.proofs.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(root_of(all[i], tree.proofs[i]).value() == tree.root);
      CHECK(root_of("another text", tree.proofs[i]).value() != tree.root);
      CHECK(tree.proofs[i].size() <= 8 * 33);
      if (count > 1) CHECK(root_of(all[(i + 1) % count], tree.proofs[i]).value() != tree.root);
    }
  }
  const HashTree tree = hash_tree(texts(5));
  CHECK(!root_of("text 0", tree.proofs[0].substr(1)).ok());
  CHECK(!root_of("text 0", "X" + tree.proofs[0].substr(1)).ok());
}

TEST_CASE("one signature covers many statements, each of which is checked alone") {
  const PrivateKey key = PrivateKey::generate();
  for (const std::size_t count : {0U, 1U, 2U, 3U, 64U, 128U}) {
    const auto all = statements(count, key);
    REQUIRE(all.size() == count);
    std::set<std::string> signatures;
    for (const auto& statement : all) {
      CHECK(check_signature(statement, statement.type).ok());
      CHECK(statement.key == key.public_key());
      CHECK(statement.proof.has_value() == (count > 1));
      signatures.insert(statement.signature);
    }
    CHECK(signatures.size() == std::min<std::size_t>(count, 1));
  }
}

TEST_CASE("a statement that was changed, or takes another's proof, is not believed") {
  const PrivateKey key = PrivateKey::generate();
  const auto all = statements(5, key);
  auto forged = all[0];
  forged.payload += " ";
  CHECK(check_signature(forged, forged.type).error().kind == ErrorKind::untrusted);
  forged = all[0];
  forged.proof = all[2].proof;
  CHECK(!check_signature(forged, forged.type).ok());
  forged = all[0];
  forged.proof.reset();
  CHECK(!check_signature(forged, forged.type).ok());
  forged = all[0];
  forged.proof = "L";
  CHECK(!check_signature(forged, forged.type).ok());
  forged = all[0];
  forged.type = StatementType::grant;  // the type is among the bytes that are hashed
  CHECK(!check_signature(forged, forged.type).ok());
  forged = all[0];
  forged.proof = Bytes();  // a tree of one: another root
  CHECK(!check_signature(forged, forged.type).ok());
}

TEST_CASE("an inner node of the tree is no statement") {
  const PrivateKey key = PrivateKey::generate();
  const auto all = statements(4, key);
  // Whoever could present the two digests of a node as a text would need a leaf with its digest.
  auto forged = all[0];
  forged.payload = all[0].proof->substr(1, 32) + all[1].proof->substr(1, 32);
  forged.proof = all[0].proof->substr(33);
  CHECK(!check_signature(forged, forged.type).ok());
}

TEST_CASE("one signature covers what several receivers are told, and none can guess what the others are") {
  const PrivateKey key = PrivateKey::generate();
  std::vector<std::vector<UnsignedStatement>> receivers;
  for (const std::size_t count : {1U, 0U, 2U, 5U}) {
    receivers.emplace_back();
    for (std::size_t i = 0; i < count; ++i)
      receivers.back().push_back(
          {StatementType::grant, "{\"number\":" + std::to_string(10 * count + i) + "}"});
  }
  const auto told = receivers;
  const auto all = sign_for_many(receivers, key);
  REQUIRE(all.size() == told.size());
  std::set<std::string> signatures, leaves;
  std::size_t statements = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    REQUIRE(all[i].size() == told[i].size());
    for (std::size_t j = 0; j < all[i].size(); ++j) {
      CHECK(all[i][j].payload == told[i][j].payload);
      CHECK(check_signature(all[i][j], StatementType::grant).ok());
      signatures.insert(all[i][j].signature);
      leaves.insert(sha256(std::string(1, '\0') + "gleaner-1\ngrant\n" + all[i][j].payload));
      ++statements;
    }
  }
  CHECK(signatures.size() == 1);
  CHECK(leaves.size() == statements);
  // No step of a proof is the digest of a statement, which whoever guessed its text could compare; the first
  // is of a text that is another one each time.
  std::set<std::string> first_steps;
  for (const auto& of_one : all) {
    for (const auto& statement : of_one) {
      first_steps.insert(statement.proof->substr(1, 32));
      for (std::size_t step = 0; step < statement.proof->size(); step += 33)
        CHECK(!leaves.contains(statement.proof->substr(step + 1, 32)));
    }
  }
  CHECK(first_steps.size() == statements);
  const auto again = sign_for_many(receivers, key);
  for (const auto& statement : again[2]) CHECK(!first_steps.contains(statement.proof->substr(1, 32)));
  CHECK(sign_for_many({{}, {}}, key).size() == 2);
}
