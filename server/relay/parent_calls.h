// The way of a relay to its parent (service/core/parent.h), over connections that are kept: as many as there
// are calls at a time. A thread renews what ends: the project's document each hour and when the parent named
// a newer revocation list, the certificate of this relay when half of its time is over, the parent's own (if
// it is a relay, too) with the document, and at once when it shows another TLS key. What is renewed is
// stored. Thread-safe.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/relay/directory.h"
#include "server/relay/relay_blobs.h"
#include "server/service/core/parent.h"
#include "shared/base/clock.h"
#include "shared/io/http_client.h"
#include "shared/transport/link_meter.h"
#include "shared/transport/server_call.h"

namespace gleaner::relay {

class ParentCalls final : public service::Parent {
 public:
  // `log` hears what is wrong, and what was renewed.
  ParentCalls(io::Files& files, RelayDirectory directory, Membership membership, const Clock& clock,
              std::function<void(const std::string&)> log);
  ~ParentCalls() override;  // stop()
  // Waits for a new certificate if this relay's has ended, as far as the parent is heard: with an old one its
  // hosts would refuse what it grants.
  void start();
  // Waits for a call of the thread that is under way.
  void stop();

  [[nodiscard]] protocol::SignedStatement project() override;
  [[nodiscard]] protocol::SignedStatement certificate() override;
  [[nodiscard]] std::string place() override;
  [[nodiscard]] Timestamp heard_at() override;
  [[nodiscard]] Result<protocol::EnrolmentNonce> nonce() override;
  // What the parent has against this relay itself is `unavailable` to those under it.
  [[nodiscard]] Result<protocol::RelayHostReply> join(const protocol::EnrolRequest& request) override;
  [[nodiscard]] Status left(HostId host) override;
  [[nodiscard]] Result<protocol::SignedStatement> certificate_of(HostId relay) override;

  // Joins again a project that does not know this relay (join.h). `name`: the relay's.
  [[nodiscard]] Result<Membership> join_again(const RelayKeys& keys, const std::string& name);

  // A part of a blob, for RelayBlobs.
  [[nodiscard]] Result<BlobPiece> blob(const std::string& digest, std::int64_t offset,
                                       std::int64_t bytes_max);

  // For calls of others to the same parent: where it is with this relay's token, and a client that trusts
  // what these calls trust, for one thread.
  [[nodiscard]] transport::Server server() const;
  [[nodiscard]] std::unique_ptr<io::HttpClient> make_client();
  // How fast the way to the parent is, by all these calls and those of make_client(); else 0.
  [[nodiscard]] protocol::HostSpeeds link() const;
  // A reply named this list; what was an answer of the parent's at all is worth a note of when.
  void heard(std::int64_t revocations);
  // Fetches the project's document now. Hosts that get what a new work key signed must find that key in the
  // document that this relay shows, so the document comes first. Waits for a renewal that is under way.
  [[nodiscard]] Status fetch_document();

 private:
  class Line;
  // One connection for one call.
  [[nodiscard]] transport::Answer call(io::HttpRequest request);
  void run();
  // Asks for what is due. Whether all of it came.
  [[nodiscard]] bool renew();
  [[nodiscard]] Status renew_certificate(Timestamp now);
  [[nodiscard]] Membership membership() const;
  void obey(const Membership& membership, Timestamp now);
  void want_document();

  io::Files& files_;
  const RelayDirectory directory_;
  const Clock& clock_;
  const std::function<void(const std::string&)> log_;
  const std::shared_ptr<io::PinnedTlsKey> pinned_ = std::make_shared<io::PinnedTlsKey>();
  const std::shared_ptr<io::RefusedTlsKeys> refused_ = std::make_shared<io::RefusedTlsKeys>();
  const std::shared_ptr<transport::LinkMeter> meter_ = std::make_shared<transport::LinkMeter>();
  const transport::Server server_;

  std::mutex renewing_;       // one renewal of what the membership holds at a time
  mutable std::mutex mutex_;  // guards what follows; never held during a call
  Membership membership_;
  std::vector<std::unique_ptr<io::HttpClient>> idle_;
  Timestamp heard_;
  std::condition_variable wake_;
  bool wanted_ = true;  // the document, at once: it may be old
  bool stopped_ = false;
  SteadyTime document_due_{};
  std::thread thread_;
};

}  // namespace gleaner::relay
