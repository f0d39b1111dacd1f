// Outgoing HTTPS as one interface. The real one (libcurl, one handle, connection kept) trusts a server if one
// of those vouches for it that its maker named (Vouchers). Errors are about transport (unavailable;
// untrusted); an HTTP status is a reply, not an error.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::io {

// Who has an address: this computer and its link (loopback, 169.254..., fe80::..., its own addresses), a
// private network (RFC 1918, RFC 6598, RFC 4193; the networks that this computer is in, and of IPv6 its
// site's 48 bits), or the world.
enum class Reach : int { computer = 1, network = 2, world = 3 };

struct HttpRequest {
  std::string method = "GET";  // or HEAD, POST, PUT, DELETE; PATCH, which goes out once at most
  std::string url;             // https://...
  std::vector<std::pair<std::string, std::string>> headers;
  Bytes body;
  std::int64_t reply_bytes_max = 8 << 20;  // too_large beyond
  // Without a byte in either direction: a line may be as slow as it likes. Beyond twice that, the mean must
  // be 256 bytes a second.
  Duration timeout = std::chrono::seconds{60};
  Reach nearest = Reach::computer;  // no connection is made to what is nearer
  // Takes the body of a reply with status 200 or 206 as it comes; the reply's own stays empty, and what was
  // taken stays so whatever becomes of the request. An error ends the request and is its outcome.
  std::function<Status(int status, std::string_view bytes)> take = {};
};

struct HttpReply {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case; repeated ones joined by ", "
  Bytes body;
  Duration round_trip{0};         // request sent to last byte
  Reach reach = Reach::computer;  // of the address that answered, or of the proxy on the way
  // SHA-256 of the SubjectPublicKeyInfo of the TLS key that the server showed, in hex. Of an inquiring client
  // only.
  std::string tls_key = {};
  std::int64_t taken = 0;  // bytes of the body that HttpRequest::take had
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // Blocks the calling thread. One thread at a time.
  [[nodiscard]] virtual Result<HttpReply> send(const HttpRequest& request) = 0;
};

// Bytes a second that each client may move at most; 0: any. May be changed from any thread; holds from the
// next request on, which is then given more patience.
struct TransferRates {
  std::atomic<std::int64_t> download{0};
  std::atomic<std::int64_t> upload{0};
};

// TLS keys that no server may show any more, whoever vouches for them: SHA-256 of their SubjectPublicKeyInfo,
// in hex. May be changed from any thread; holds from the next request on, which uses no connection and no TLS
// session of before.
class RefusedTlsKeys {
 public:
  void set(std::vector<std::string> digests);
  [[nodiscard]] bool contains(const std::string& digest) const;
  // Grows with each set().
  [[nodiscard]] std::uint64_t changes() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> digests_;
  std::uint64_t changes_ = 0;
};

// The one TLS key that is trusted without a chain: somebody else vouched for it. SHA-256 of its
// SubjectPublicKeyInfo, in hex; empty: none. May be changed from any thread; holds from the next request on,
// which uses no connection and no TLS session of before.
class PinnedTlsKey {
 public:
  void set(std::string digest);
  [[nodiscard]] std::string digest() const;
  // Grows with each set() of another one.
  [[nodiscard]] std::uint64_t changes() const;

 private:
  mutable std::mutex mutex_;
  std::string digest_;
  std::uint64_t changes_ = 0;
};

// Who may vouch for a server. Where a project's root key does, authorities count only if they are meant: one
// that this system trusts may be that of a proxy which reads all that passes.
struct Vouchers {
  Bytes root_fingerprint = {};  // 32 raw bytes: the key that the server's chain ends in; empty: none
  bool authorities = false;     // the system's certificate authorities, for the server's name
};
inline const Vouchers any_authority{{}, true};

[[nodiscard]] std::unique_ptr<HttpClient> make_curl_client(Vouchers vouchers, std::string user_agent,
                                                           std::shared_ptr<const TransferRates> rates = {},
                                                           std::shared_ptr<const RefusedTlsKeys> refused = {},
                                                           std::shared_ptr<const PinnedTlsKey> pinned = {});

// To ask anybody what is signed: it takes every server, says in the reply whose key that one showed, and
// sends nothing but GET without headers and body (else invalid), each over a connection of its own.
[[nodiscard]] std::unique_ptr<HttpClient> make_inquiring_client(std::string user_agent);

// For addresses that somebody else named: it does not say what program it is, trusts the system's
// authorities, and takes http:// only of this computer.
[[nodiscard]] std::unique_ptr<HttpClient> make_stranger_client(
    std::shared_ptr<const TransferRates> rates = {});

}  // namespace gleaner::io
