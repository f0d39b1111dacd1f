// Receipts: kept, counted, checked; bounded; damage and forgery are detected.
#include "client/receipts/receipts.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "shared/base/encoding.h"
#include "shared/crypto/statements.h"
#include "shared/json/text.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"

namespace gleaner::receipts {
namespace {

constexpr std::int64_t day = std::int64_t{86400} * 1'000'000;

struct Book {
  io::Files& files = io::real_files();
  state::ProjectDirectory state{std::filesystem::temp_directory_path() /
                                ("gleaner-receipts-" + std::to_string(::getpid()))};
  Receipts receipts{files, state};
  crypto::PrivateKey root = crypto::PrivateKey::generate();
  crypto::PrivateKey work = crypto::PrivateKey::generate();
  Timestamp now = FakeClock().now();
  protocol::Grant grant;

  Book() {
    std::filesystem::remove_all(state.root);
    grant.problem_name = "scene \"D\"";
    receipts.open();
    receipts.know_project(project());
  }
  ~Book() { std::filesystem::remove_all(state.root); }
  Bytes fingerprint() const { return *from_hex(crypto::sha256_hex(root.public_key())); }
  protocol::SignedStatement project() const {
    const std::string id = crypto::sha256_hex(root.public_key());
    protocol::KeyCertificate certificate{id, work.public_key(), "work", now - std::chrono::hours{1},
                                         now + std::chrono::hours{24 * 365}};
    protocol::ProjectDocument document;
    document.project = id;
    document.name = "Room";
    document.root_key = root.public_key();
    document.work_certificate = crypto::sign_statement(protocol::StatementType::work_key_certificate,
                                                       protocol::encode(certificate), root);
    document.issued_at = now;
    return crypto::sign_statement(protocol::StatementType::project, protocol::encode(document), work);
  }
  protocol::SignedStatement sign(std::int64_t items, Timestamp at, const crypto::PrivateKey& key) const {
    protocol::Acknowledgement said;
    said.unit = UnitId{5};
    said.host = HostId{7};
    said.range = {10, 10 + items};
    said.digest = std::string(64, 'a');
    said.status = protocol::CommitStatus::accepted;
    said.items_accepted = items;
    said.at = at;
    return crypto::sign_statement(protocol::StatementType::acknowledgement, protocol::encode(said), key);
  }
  void add(std::int64_t items, Timestamp at, const crypto::PrivateKey* key = nullptr) {
    const auto statement = sign(items, at, key == nullptr ? work : *key);
    const auto said = protocol::decode<protocol::Acknowledgement>(statement.payload);
    REQUIRE(said.ok());
    const Status added = receipts.add(statement, *said, grant);
    INFO((added.ok() ? "" : added.error().message));
    REQUIRE(added.ok());
  }
  ReceiptBook read() const {
    auto book = read_receipts(files, state, fingerprint(), {HostId{7}});
    REQUIRE(book.ok());
    return std::move(book).value();
  }
};

TEST_CASE("Receipts are counted by day, and over restarts") {
  Book book;
  const auto at = [&](std::int64_t days_ago) {
    return from_microseconds(to_microseconds(book.now) - days_ago * day);
  };
  book.add(1, at(30));
  book.add(10, at(6));
  book.add(100, at(7));
  book.add(1000, book.now);
  const auto check = [&](const Receipts& receipts) {
    const Contribution sum = receipts.contribution(book.now);
    CHECK(sum.today == 1000);
    CHECK(sum.week == 1010);
    CHECK(sum.total == 1111);
  };
  check(book.receipts);
  Receipts again(book.files, book.state);
  again.open();
  check(again);
  const ReceiptBook read = book.read();
  REQUIRE(read.receipts.size() == 4);
  for (const Receipt& receipt : read.receipts) CHECK(receipt.problem == "scene \"D\"");
  CHECK(read.receipts[3].verdict == Verdict::genuine);
  CHECK(read.receipts[0].verdict == Verdict::forged);  // before its key was certified
}

TEST_CASE("What another key signed, or somebody changed, is not genuine") {
  Book book;
  const auto other = crypto::PrivateKey::generate();
  book.add(5, book.now, &other);
  book.add(6, book.now);
  const io::Path log = book.state.receipts() / "log";
  auto text = book.files.read(log, 1 << 20);
  REQUIRE(text.ok());
  REQUIRE(book.read().receipts.size() == 2);
  CHECK(book.read().receipts[0].verdict == Verdict::forged);
  CHECK(book.read().receipts[1].verdict == Verdict::genuine);
  // One more item, in the statement's own bytes.
  const std::string lines(text->begin(), text->end());
  const std::size_t last = lines.rfind('\n', lines.size() - 2) + 1;
  json::Value line = json::parse_or_null(lines.substr(last));
  const auto payload = from_base64url(line["statement"]["payload"].string());
  REQUIRE(payload.has_value());
  std::string changed(payload->begin(), payload->end());
  const auto items = changed.find("\"items_accepted\":6");
  REQUIRE(items != std::string::npos);
  changed.replace(items, 18, "\"items_accepted\":9");
  line["statement"]["payload"] = to_base64url(changed);
  const std::string raised = lines.substr(0, last) + json::write(line) + "\n";
  REQUIRE(book.files.write(log, raised, io::Mode::secret).ok());
  CHECK(book.read().receipts[1].verdict == Verdict::forged);
  REQUIRE(book.files.remove_all(book.state.receipts() / "keys").ok());
  CHECK(book.read().receipts[1].verdict == Verdict::unknown_key);
}

TEST_CASE("A line that a kill cut off is left out, and what follows is whole") {
  Book book;
  book.add(1, book.now);
  const io::Path log = book.state.receipts() / "log";
  std::ofstream(log, std::ios::app) << "{\"problem\":\"cut";
  Receipts again(book.files, book.state);
  again.open();
  again.know_project(book.project());
  const auto statement = book.sign(2, book.now, book.work);
  REQUIRE(
      again.add(statement, *protocol::decode<protocol::Acknowledgement>(statement.payload), book.grant).ok());
  const ReceiptBook read = book.read();
  CHECK(read.damaged == 1);
  REQUIRE(read.receipts.size() == 2);
  CHECK(read.receipts[1].acknowledgement.items_accepted == 2);
}

TEST_CASE("Their space is bounded, their sum is not lost") {
  Book book;
  book.grant.problem_name = std::string(200'000, 'x');
  for (int i = 0; i < 60; ++i) book.add(1, book.now);
  std::int64_t bytes = 0;
  const auto names = book.files.list(book.state.receipts());
  REQUIRE(names.ok());
  for (const std::string& name : *names)
    if (name.starts_with("log")) bytes += *book.files.size(book.state.receipts() / name);
  CHECK(bytes <= Receipts::files_max * Receipts::log_bytes_max);
  Receipts again(book.files, book.state);
  again.open();
  CHECK(again.contribution(book.now).total == 60);
  CHECK(again.contribution(book.now).today == 60);
  CHECK(book.read().receipts.size() < 60);
}

}  // namespace
}  // namespace gleaner::receipts
