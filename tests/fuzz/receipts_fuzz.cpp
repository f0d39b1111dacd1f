// The receipts on a client's disk: steps that add acknowledgements as a server signed them, turn bytes over,
// cut files off, and write anything else among the lines and beside them. No receipt is called genuine that
// the project's work key did not sign for this host; what cannot be read is counted and left out.
#include <algorithm>
#include <vector>

#include "client/receipts/receipts.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_files.h"

using namespace gleaner;
using protocol::StatementType;

namespace {

// Keys whose secrets are known, so that runs repeat: PKCS#8 around 32 equal bytes (RFC 8410).
crypto::PrivateKey key_of(const char* base64) {
  const auto key = crypto::PrivateKey::from_pem(std::string("-----BEGIN PRIVATE KEY-----\n") + base64 +
                                                "\n-----END PRIVATE KEY-----\n");
  CHECK_TRUE(key.ok());
  return *key;
}

struct Server {
  crypto::PrivateKey root = key_of("MC4CAQAwBQYDK2VwBCIEIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB");
  crypto::PrivateKey work = key_of("MC4CAQAwBQYDK2VwBCIEIAICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC");
  crypto::PrivateKey other = key_of("MC4CAQAwBQYDK2VwBCIEIAMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMD");
  Timestamp now = from_microseconds(1'767'225'600'000'000);
  protocol::SignedStatement project;
  std::vector<protocol::Acknowledgement> contents;
  std::vector<protocol::SignedStatement> honest, forged;

  Server() {
    const Bytes root_key = root.public_key();
    protocol::KeyCertificate certificate;
    certificate.project = to_hex(crypto::fingerprint(root_key));
    certificate.key = work.public_key();
    certificate.name = "work";
    certificate.not_before = now - std::chrono::hours{1};
    certificate.not_after = now + std::chrono::hours{1};
    protocol::ProjectDocument document;
    document.project = certificate.project;
    document.name = "fuzz";
    document.root_key = root_key;
    document.work_certificate =
        crypto::sign_statement(StatementType::work_key_certificate, protocol::encode(certificate), root);
    project = crypto::sign_statement(StatementType::project, protocol::encode(document), work);
    for (int i = 0; i < 4; ++i) {
      protocol::Acknowledgement one;
      one.unit = UnitId{1 + i};
      one.host = HostId{i == 3 ? 2 : 1};  // the last is another host's
      one.range = {i, i + 2};
      one.digest = crypto::sha256_hex(std::to_string(i));
      one.items_accepted = 2;
      one.at = now;
      contents.push_back(one);
      honest.push_back(crypto::sign_statement(StatementType::acknowledgement, protocol::encode(one), work));
      forged.push_back(crypto::sign_statement(StatementType::acknowledgement, protocol::encode(one), other));
      forged.back().key = work.public_key();
    }
  }
};

void step(fuzz::Dice& dice, const Server& server, const state::ProjectDirectory& project,
          fuzz::MemoryFiles& files, receipts::Receipts& receipts) {
  const io::Path log = project.receipts() / "log";
  const auto which = static_cast<std::size_t>(dice.below(4));
  switch (dice.below(8)) {
    case 0:
    case 1: {
      protocol::Grant grant;
      grant.problem_name = std::string(dice.take(static_cast<std::size_t>(dice.below(8))));
      (void)receipts.add(server.honest[which], server.contents[which], grant);
      break;
    }
    case 2: {
      protocol::Grant grant;
      (void)receipts.add(server.forged[which], server.contents[which], grant);
      break;
    }
    case 3:
      files.files[log] += dice.take(static_cast<std::size_t>(dice.below(256)));
      break;
    case 4:
      if (Bytes& bytes = files.files[log]; !bytes.empty())
        bytes[(static_cast<std::size_t>(dice.below(256)) << 8 | static_cast<std::size_t>(dice.below(256))) %
              bytes.size()] ^= static_cast<char>(1 << dice.below(8));
      break;
    case 5: {
      Bytes& bytes = files.files[log];
      bytes.resize(bytes.size() * static_cast<std::size_t>(dice.below(256)) / 256);
      break;
    }
    case 6:
      files.files[project.receipts() / "totals"] = dice.take(static_cast<std::size_t>(dice.below(256)));
      break;
    default:
      files.files[project.receipts() / "keys" / (to_hex(server.work.public_key()) + ".json")] =
          dice.take(static_cast<std::size_t>(dice.below(256)));
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Server server;
  const state::ProjectDirectory project{"state/projects/0123456789abcdef"};
  fuzz::MemoryFiles files;
  fuzz::Dice dice(fuzz::text_of(data, size));
  auto receipts = std::make_unique<receipts::Receipts>(files, project);
  receipts->open();
  receipts->know_project(server.project);
  while (dice.more()) {
    if (dice.below(8) == 7) {  // the client starts again
      receipts = std::make_unique<receipts::Receipts>(files, project);
      receipts->open();
      receipts->know_project(server.project);
    }
    step(dice, server, project, files, *receipts);
    const auto sum = receipts->contribution(server.now);
    CHECK_TRUE(sum.total >= 0);
  }
  const auto book =
      receipts::read_receipts(files, project, crypto::fingerprint(server.root.public_key()), {HostId{1}});
  CHECK_TRUE(book.ok() && book->damaged >= 0);
  for (const auto& receipt : book->receipts) {
    if (receipt.verdict != receipts::Verdict::genuine) continue;
    CHECK_TRUE(receipt.acknowledgement.host == HostId{1});
    CHECK_TRUE(std::any_of(server.contents.begin(), server.contents.end(), [&](const auto& one) {
      return protocol::encode(one) == protocol::encode(receipt.acknowledgement);
    }));
  }
  return 0;
}
