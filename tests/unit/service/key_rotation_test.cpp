#include "server/service/access/key_rotation.h"

#include "shared/bundle/project_keys.h"
#include "shared/bundle/server_keys.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;

namespace {

struct Rotation {
  World world;
  io::Path place = world.directory().parent_path();
  crypto::PrivateKey root = must(bundle::read_key_file(io::real_files(), place / "offline" / "root.key"));

  // As `keys rotate` makes them.
  io::Path make(const std::string& name, bool work = true, bool tls = true, int days = 30) {
    const Timestamp now = world.clock().now();
    must(bundle::create_server_keys(io::real_files(), place / name, root,
                                    {work, tls, {}, now, now + std::chrono::hours{24 * days}}));
    return place / name;
  }
  Result<TakenKeys> take(const io::Path& from) {
    return take_keys(io::real_files(), world.project(), from, world.clock().now());
  }
  protocol::ProjectDocument document() {
    return must(protocol::decode<protocol::ProjectDocument>(world.service().enrolment().project().payload));
  }
  static Bytes key_of(const protocol::SignedStatement& certificate) {
    return must(protocol::decode<protocol::KeyCertificate>(certificate.payload)).key;
  }
};

}  // namespace

TEST_CASE("new keys are taken, and the former one still vouches for what it granted") {
  Rotation at;
  std::vector<Bytes> keys = {Rotation::key_of(at.document().work_certificate)};
  CHECK_FALSE(at.document().former_work_certificates.has_value());
  const auto tls_before = must(io::real_files().read(at.world.project().tls_chain(), 1 << 20));
  for (const char* name : {"first", "second"}) {
    at.world.clock().advance(std::chrono::seconds{1});
    const TakenKeys taken = must(at.take(at.make(name)));
    CHECK(taken.work);
    CHECK(taken.tls);
    (void)must(at.take(at.place / name));  // again: nothing changes
    at.world.restart();
    keys.push_back(Rotation::key_of(at.document().work_certificate));
  }
  CHECK(must(io::real_files().read(at.world.project().tls_chain(), 1 << 20)) != tls_before);
  const auto former = at.document().former_work_certificates;
  REQUIRE(former.has_value());
  REQUIRE(former->size() == 2);
  CHECK(Rotation::key_of((*former)[0]) == keys[1]);
  CHECK(Rotation::key_of((*former)[1]) == keys[0]);
  // A client takes that document.
  const auto trust = crypto::check_project(at.world.service().enrolment().project(),
                                           crypto::fingerprint(at.root.public_key()), at.world.clock().now());
  CHECK(must(trust).work_key == keys[2]);

  // Revoked ones are not handed on.
  protocol::RevocationList list;
  list.project = bundle::project_id(at.root.public_key());
  list.issued_at = at.world.clock().now();
  list.keys = {{keys[1], "stolen"}};
  must(io::real_files().write(at.world.project().revocations(),
                              protocol::encode(crypto::sign_statement(protocol::StatementType::revocations,
                                                                      protocol::encode(list), at.root)),
                              io::Mode::normal));
  at.world.tick();
  REQUIRE(at.document().former_work_certificates->size() == 1);
  CHECK(Rotation::key_of(at.document().former_work_certificates->front()) == keys[0]);
  // And not taken again.
  CHECK(at.take(at.place / "first").error().kind == ErrorKind::untrusted);
}

TEST_CASE("only one of the two may be new") {
  Rotation at;
  const TakenKeys taken = must(at.take(at.make("tls", false, true)));
  CHECK_FALSE(taken.work);
  CHECK(taken.tls);
  at.world.restart();
  CHECK_FALSE(at.document().former_work_certificates.has_value());
}

TEST_CASE("keys that would not hold are not taken, and nothing changes") {
  Rotation at;
  Rotation other;
  const auto keys = [&] {
    std::string all;
    for (const auto& path : {at.world.project().work_key(), at.world.project().work_certificate(),
                             at.world.project().tls_key(), at.world.project().tls_chain()})
      all += must(io::real_files().read(path, 1 << 20));
    return all;
  };
  const std::string before = keys();
  const auto refused = [&](const io::Path& from) {
    const auto taken = at.take(from);
    REQUIRE_FALSE(taken.ok());
    CHECK(keys() == before);
    return taken.error().message;
  };
  says(refused(at.place / "nothing"), "keys rotate");
  says(refused(other.make("foreign")), "not signed by the key");
  says(refused(other.make("foreign-tls", false, true)), "does not belong to the project");
  says(refused(at.make("old", true, true, -1)), "ends before it begins");
  const io::Path mixed = at.make("mixed");
  std::filesystem::copy_file(at.make("another", false, true) / "tls.key", mixed / "tls.key",
                             std::filesystem::copy_options::overwrite_existing);
  says(refused(mixed), "another key");
  const io::Path open = at.make("open");
  std::filesystem::permissions(open / "work.key", std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  says(refused(open), "chmod 600");
}
