#include "server/service/access/addresses.h"

#include "shared/base/limits.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

constexpr Duration valid = std::chrono::seconds{limits::address_seconds};

Error no_digest() {
  return {ErrorKind::invalid, "expected a SHA-256 digest as 64 lower-case hex digits"};
}

Error no_addresses() {
  return {ErrorKind::not_found, "this project's blobs are had and sent through its server alone"};
}

}  // namespace

void Addresses::of_blob(HostId host, const std::string& digest, const Done<protocol::SignedStatement>& done) {
  if (!storage::BlobStore::is_digest(digest)) return done(no_digest());
  kernel_.on_pool([this, host, digest, done] {
    const Timestamp now = kernel_.clock().now();
    std::string address = kernel_.blobs().address(digest, valid);
    if (address.empty()) return done(no_addresses());
    const protocol::BlobAddress found{host, digest, std::move(address), now + valid};
    done(crypto::sign_statement(protocol::StatementType::blob_address, protocol::encode(found),
                                secrets_.work_key));
  });
}

void Addresses::of_upload(HostId host, const std::string& digest, std::int64_t bytes,
                          const Done<protocol::SignedStatement>& done) {
  if (!storage::BlobStore::is_digest(digest)) return done(no_digest());
  if (kernel_.blobs().address(digest, valid).empty()) return done(no_addresses());
  uploads_.open_account(host, digest, bytes, [this, host, digest, bytes, done](const Status& room) {
    if (!room.ok()) return done(room.error());
    kernel_.on_blob_pool([this, host, digest, bytes, done] {
      const Timestamp now = kernel_.clock().now();
      auto parts = kernel_.blobs().put_addresses(digest, bytes, valid, sender_of(host));
      if (!parts.ok() && parts.error().kind == ErrorKind::io)
        return done(Error{ErrorKind::unavailable, parts.error().message});
      if (!parts.ok()) return done(parts.error());
      const protocol::PutAddresses places{host, digest, bytes, std::move(*parts), now + valid};
      done(crypto::sign_statement(protocol::StatementType::put_addresses, protocol::encode(places),
                                  secrets_.work_key));
    });
  });
}

}  // namespace gleaner::service
