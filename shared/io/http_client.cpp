#include "shared/io/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "shared/base/check.h"
#include "shared/base/limits.h"
#include "shared/io/http_transfer.h"
#include "shared/io/plain_client.h"
#include "shared/io/reach.h"
#include "shared/io/server_trust.h"
#include "shared/io/sockets.h"

namespace gleaner::io {
namespace {

constexpr Duration connect_timeout =
    std::chrono::seconds{15};  // several round trips even over a bad satellite

struct FreeEasy {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

struct Target {
  std::string host;  // without brackets
  std::string port;
  [[nodiscard]] std::string shown() const {
    return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
  }
};

enum class Schemes { https, http_here /* of this computer */, http_too };

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

Result<Target> parse_url(const std::string& url, Schemes schemes) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parsed(curl_url(), curl_url_cleanup);
  CHECK_TRUE(parsed != nullptr);
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK)
    return Error{ErrorKind::invalid, "\"" + url + "\" is not a web address: expected https://HOST:PORT/..."};
  const auto part = [&](CURLUPart which) {
    char* text = nullptr;
    const bool found = curl_url_get(parsed.get(), which, &text, CURLU_DEFAULT_PORT) == CURLUE_OK;
    std::string copy = found ? text : "";
    curl_free(text);
    return copy;
  };
  const std::string scheme = part(CURLUPART_SCHEME);
  Target target{part(CURLUPART_HOST), part(CURLUPART_PORT)};
  if (target.host.starts_with('[')) target.host = target.host.substr(1, target.host.size() - 2);
  const bool plain =
      schemes == Schemes::http_too || (schemes == Schemes::http_here && is_loopback(target.host));
  if (scheme != "https" && !(scheme == "http" && plain))
    return Error{ErrorKind::invalid, "\"" + url + "\" is not an https address, and nothing else is spoken"};
  return target;
}

Result<HeaderList> header_list(const HttpRequest& request) {
  // Not asking for permission to send the body (it costs a round trip), and no type that we did not state.
  std::vector<std::string> lines = {"Expect:"};
  bool has_type = false;
  for (const auto& [name, value] : request.headers) {
    if ((name + value).find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos || name.empty() ||
        name.find(':') != std::string::npos)
      return Error{ErrorKind::invalid,
                   "the request's header \"" + name + "\" has characters that none may have"};
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    has_type |= lower == "content-type";
    lines.push_back(value.empty() ? name + ";" : name + ": " + value);
  }
  if (!has_type) lines.emplace_back("Content-Type:");
  HeaderList list;
  for (const auto& line : lines) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    CHECK_TRUE(longer != nullptr);
    (void)list.release();
    list.reset(longer);
  }
  return list;
}

class CurlClient final : public HttpClient {
 public:
  CurlClient(TrustRules rules, std::string user_agent, std::shared_ptr<const TransferRates> rates = {},
             Schemes schemes = Schemes::https)
      : schemes_(schemes),
        inquiring_(rules.anybody),
        user_agent_(std::move(user_agent)),
        rates_(std::move(rates)),
        refused_(rules.refused),
        pinned_(rules.pinned),
        trust_(std::move(rules)) {
    static std::once_flag once;
    std::call_once(once, [] { CHECK_TRUE(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK); });
    handle_.reset(curl_easy_init());
    CHECK_TRUE(handle_ != nullptr);
  }

  Result<HttpReply> send(const HttpRequest& request) override {
    TRY_ASSIGN(const Target target, parse_url(request.url, schemes_));
    if (inquiring_ && (request.method != "GET" || !request.headers.empty() || !request.body.empty()))
      return Error{ErrorKind::invalid, "this server has no trusted certificate: nothing was sent"};
    TRY_ASSIGN(const HeaderList headers, header_list(request));
    trust_.expect_host(target.host);
    forget_if_changed();
    nearest_ = request.nearest;
    too_near_ = false;
    curl_easy_reset(handle_.get());  // keeps connections and TLS sessions
    HttpTransfer transfer(request, request.timeout + slow_down(), system_clock().steady());
    set_connection_options(request, target);
    TRY(set_method(request, transfer));
    set(CURLOPT_HTTPHEADER, headers.get());
    set(CURLOPT_WRITEFUNCTION, &HttpTransfer::on_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
    set(CURLOPT_HEADERFUNCTION, &HttpTransfer::on_header);
    set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &HttpTransfer::on_progress);
    set(CURLOPT_XFERINFODATA, static_cast<void*>(&transfer));
    detail_[0] = '\0';
    const CURLcode result = curl_easy_perform(handle_.get());
    if (transfer.refusal()) return refused_reply(*transfer.refusal(), target);
    if (result != CURLE_OK) return failure(result, target, request, transfer);
    HttpReply& reply = transfer.reply;
    reply.status = static_cast<int>(info<long>(CURLINFO_RESPONSE_CODE));
    const char* address = info<const char*>(CURLINFO_PRIMARY_IP);
    reply.reach = reach_of(std::string(address == nullptr ? "" : address), interfaces());
    if (inquiring_) reply.tls_key = trust_.shown();
    reply.round_trip =
        Duration{info<curl_off_t>(CURLINFO_TOTAL_TIME_T) - info<curl_off_t>(CURLINFO_PRETRANSFER_TIME_T)};
    return std::move(reply);
  }

 private:
  // A handle has connections and TLS sessions, whose keys are not looked at again.
  void forget_if_changed() {
    const std::uint64_t changes =
        (refused_ ? refused_->changes() : 0) + (pinned_ ? pinned_->changes() : 0);  // each only grows
    if (changes == changes_seen_) return;
    changes_seen_ = changes;
    handle_.reset(curl_easy_init());
    CHECK_TRUE(handle_ != nullptr);
  }

  template <typename Value>
  void set(CURLoption option, Value value) {
    CHECK_TRUE(curl_easy_setopt(handle_.get(), option, value) == CURLE_OK);
  }

  template <typename Value>
  [[nodiscard]] Value info(CURLINFO what) const {
    Value value{};
    CHECK_TRUE(curl_easy_getinfo(handle_.get(), what, &value) == CURLE_OK);
    return value;
  }

  void set_connection_options(const HttpRequest& request, const Target& target) {
    const auto milliseconds = [](Duration duration) {
      return static_cast<long>(std::max<std::int64_t>(1, duration / std::chrono::milliseconds{1}));
    };
    set(CURLOPT_URL, request.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, schemes_ == Schemes::https ? "https" : "https,http");
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!user_agent_.empty()) set(CURLOPT_USERAGENT, user_agent_.c_str());
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(CURLOPT_ERRORBUFFER, detail_.data());
    set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(std::min(request.timeout, connect_timeout)));
    set(CURLOPT_MAXAGE_CONN, static_cast<long>(limits::reused_connection_seconds_max));
    if (nearest_ != Reach::computer) {
      set(CURLOPT_OPENSOCKETFUNCTION, &CurlClient::on_open_socket);
      set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
    }
    if (inquiring_) {  // whose key it is is only looked at in a handshake
      set(CURLOPT_FRESH_CONNECT, 1L);
      set(CURLOPT_FORBID_REUSE, 1L);
      set(CURLOPT_SSL_SESSIONID_CACHE, 0L);
    }
    if (is_loopback(target.host)) set(CURLOPT_PROXY, "");  // a proxy's loopback is another machine's
    // The chain and the name are ServerTrust's to judge; curl must neither load the system's authorities (a
    // megabyte that a pinned client never needs) nor insist on the host name.
    set(CURLOPT_CAINFO, static_cast<const char*>(nullptr));
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 0L);
    set(CURLOPT_SSL_CTX_FUNCTION, &CurlClient::on_ssl_context);
    set(CURLOPT_SSL_CTX_DATA, static_cast<void*>(&trust_));
  }

  // Sets the owner's rates. How much longer nothing may move because of them: libcurl reads a buffer at once
  // and then waits until that was its share.
  Duration slow_down() {
    if (!rates_) return Duration{0};
    const std::int64_t download = rates_->download;
    const std::int64_t upload = rates_->upload;
    set(CURLOPT_MAX_RECV_SPEED_LARGE, static_cast<curl_off_t>(download));
    set(CURLOPT_MAX_SEND_SPEED_LARGE, static_cast<curl_off_t>(upload));
    constexpr double buffer_bytes = 64 << 10;
    double seconds = 0;
    for (const std::int64_t rate : {download, upload})
      if (rate > 0) seconds += buffer_bytes / static_cast<double>(rate);
    return from_seconds(std::min(seconds, 24.0 * 3600));
  }

  Status set_method(const HttpRequest& request, HttpTransfer& transfer) {
    static const std::array<std::string_view, 6> methods = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
    if (std::find(methods.begin(), methods.end(), request.method) == methods.end())
      return Error{ErrorKind::invalid, "the request's method \"" + request.method + "\" is not supported"};
    const bool takes_body = request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
    if (request.method == "HEAD") {
      set(CURLOPT_NOBODY, 1L);
    } else if (request.method == "PATCH") {
      // libcurl repeats a request whose kept connection dies, unless it cannot rewind the body. The server
      // may have kept a part of this one: the caller asks how much.
      set(CURLOPT_POST, 1L);
      set(CURLOPT_READFUNCTION, &HttpTransfer::on_send);
      set(CURLOPT_READDATA, static_cast<void*>(&transfer));
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    } else if (takes_body || !request.body.empty()) {
      set(CURLOPT_POSTFIELDS, request.body.data());  // not copied; lives until perform() returns
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    }
    if (request.method != "HEAD") set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    return {};
  }

  static curl_socket_t on_open_socket(void* self, curlsocktype, curl_sockaddr* address) {
    auto& client = *static_cast<CurlClient*>(self);
    if (reach_of(address->addr, interfaces()) < client.nearest_) {
      client.too_near_ = true;
      return CURL_SOCKET_BAD;
    }
    return static_cast<curl_socket_t>(open_socket(address->family, address->socktype, address->protocol));
  }

  static CURLcode on_ssl_context(CURL*, void* context, void* trust) {
    static_cast<ServerTrust*>(trust)->install(static_cast<SSL_CTX*>(context));
    return CURLE_OK;
  }

  // Too large, or whoever took it could not: a disk, not the network.
  static Error refused_reply(const Error& refusal, const Target& target) {
    if (refusal.kind != ErrorKind::too_large) return refusal;
    return {ErrorKind::too_large,
            target.shown() + " answered with " + refusal.message + ": more than is allowed here"};
  }

  static Error stalled(const HttpTransfer& transfer, const Target& target, const HttpRequest& request) {
    const std::string patience = std::to_string(request.timeout / std::chrono::milliseconds{1}) + " ms";
    const std::string what = transfer.moved() ? " fell silent: nothing came for " + patience
                                              : " did not answer within " + patience;
    return {ErrorKind::unavailable,
            target.shown() + what + ": the network or the server is slow or down; try again later"};
  }

  [[nodiscard]] Error failure(CURLcode result, const Target& target, const HttpRequest& request,
                              const HttpTransfer& transfer) const {
    if (!trust_.refusal().empty()) return {ErrorKind::untrusted, target.shown() + ": " + trust_.refusal()};
    if (too_near_)
      return {ErrorKind::untrusted, target.shown() +
                                        " is nearer to this computer than the server is, and "
                                        "none of the server's business"};
    if (transfer.stalled()) return stalled(transfer, target, request);
    const auto plain = [](const std::string& text) { return Error{ErrorKind::unavailable, text}; };
    // Where more is to be known than our words say, the library's follow.
    const auto error = [&](const std::string& text) {
      const std::string detail = detail_[0] != '\0' ? detail_.data() : curl_easy_strerror(result);
      return Error{ErrorKind::unavailable, text + " [" + detail + "]"};
    };
    const std::string where = target.shown();
    // What a server that ends does to a connection, wherever that is just then.
    const auto has = [&](const char* words) { return std::strstr(detail_.data(), words) != nullptr; };
    const Error closed = plain(where + " closed the connection: it may be restarting");
    const long proxy_said = info<long>(CURLINFO_HTTP_CONNECTCODE);
    if (proxy_said >= 300) return plain(proxy_refusal(proxy_said, where));
    switch (static_cast<int>(result)) {
      case CURLE_COULDNT_RESOLVE_HOST:
        return plain("no address is known for " + target.host +
                     ": check the name, and this computer's network connection");
      case CURLE_COULDNT_RESOLVE_PROXY:
        return plain("no address is known for the proxy: check the variable https_proxy");
      case CURLE_COULDNT_CONNECT:
        if (const long number = info<long>(CURLINFO_OS_ERRNO); number == ECONNREFUSED)
          return plain(where + " refuses connections: its server is down, or listens on another port");
        else if (number == ECONNRESET || number == EPIPE)  // It accepted, and reset before libcurl looked.
          return closed;
        return error("no connection to " + where +
                     ": check this computer's network connection and firewalls");
      case CURLE_OPERATION_TIMEDOUT:
        return stalled(transfer, target, request);
      case CURLE_GOT_NOTHING:
      case CURLE_SEND_ERROR:
      case CURLE_SEND_FAIL_REWIND:
      case CURLE_RECV_ERROR:
        return closed;
      case CURLE_SSL_CONNECT_ERROR:
        if (has("SSL_ERROR_SYSCALL") || has("reset by peer") || has("unexpected eof") || has("Broken pipe"))
          return closed;
        return error("no secure connection to " + where + ": does this port speak HTTPS (TLS 1.2 or later)?");
      case CURLE_OUT_OF_MEMORY:
        return {ErrorKind::io, "not enough memory to talk to " + where + ": close some programs"};
      default:
        return error("the connection to " + where + " was lost: try again later");
    }
  }

  // Of the proxy that the environment names, which libcurl asks in this order; what it has before '@' is
  // secret.
  static std::string proxy_refusal(long status, const std::string& where) {
    std::string proxy;
    const char* variable = "https_proxy";
    for (const char* name : {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
      const char* value = std::getenv(name);
      if (value == nullptr || *value == '\0') continue;
      proxy = value;
      variable = name;
      break;
    }
    if (const auto scheme = proxy.find("://"); scheme != std::string::npos) proxy.erase(0, scheme + 3);
    const auto at = proxy.rfind('@');
    const bool named = at != std::string::npos;
    if (named) proxy.erase(0, at + 1);
    proxy = "the proxy " + proxy.substr(0, proxy.find('/'));
    if (status != 407)
      return proxy + " does not let this computer connect to " + where + " (it answered " +
             std::to_string(status) + "): ask whoever runs the proxy";
    if (named) return proxy + " refuses the name and password in " + variable;
    return proxy + " wants a name and password: set " + variable + "=http://NAME:PASSWORD@" +
           proxy.substr(10);
  }

  const Schemes schemes_;
  const bool inquiring_;
  const std::string user_agent_;
  const std::shared_ptr<const TransferRates> rates_;
  const std::shared_ptr<const RefusedTlsKeys> refused_;
  const std::shared_ptr<const PinnedTlsKey> pinned_;
  ServerTrust trust_;
  std::uint64_t changes_seen_ = 0;
  Reach nearest_ = Reach::computer;
  bool too_near_ = false;  // an address of the last request was
  mutable std::array<char, CURL_ERROR_SIZE> detail_{};
  std::unique_ptr<CURL, FreeEasy> handle_;  // last: closed before what its callbacks use
};

}  // namespace

void RefusedTlsKeys::set(std::vector<std::string> digests) {
  const std::lock_guard lock(mutex_);
  digests_ = std::move(digests);
  ++changes_;
}

bool RefusedTlsKeys::contains(const std::string& digest) const {
  const std::lock_guard lock(mutex_);
  return std::find(digests_.begin(), digests_.end(), digest) != digests_.end();
}

std::uint64_t RefusedTlsKeys::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

void PinnedTlsKey::set(std::string digest) {
  const std::lock_guard lock(mutex_);
  if (digest == digest_) return;
  digest_ = std::move(digest);
  ++changes_;
}

std::string PinnedTlsKey::digest() const {
  const std::lock_guard lock(mutex_);
  return digest_;
}

std::uint64_t PinnedTlsKey::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

std::unique_ptr<HttpClient> make_curl_client(Vouchers vouchers, std::string user_agent,
                                             std::shared_ptr<const TransferRates> rates,
                                             std::shared_ptr<const RefusedTlsKeys> refused,
                                             std::shared_ptr<const PinnedTlsKey> pinned) {
  return std::make_unique<CurlClient>(TrustRules{std::move(vouchers), std::move(refused), std::move(pinned)},
                                      std::move(user_agent), std::move(rates));
}

std::unique_ptr<HttpClient> make_inquiring_client(std::string user_agent) {
  TrustRules rules;
  rules.anybody = true;
  return std::make_unique<CurlClient>(std::move(rules), std::move(user_agent));
}

std::unique_ptr<HttpClient> make_stranger_client(std::shared_ptr<const TransferRates> rates) {
  return std::make_unique<CurlClient>(TrustRules{any_authority}, "", std::move(rates), Schemes::http_here);
}

std::unique_ptr<HttpClient> make_plain_client(std::string user_agent) {
  return std::make_unique<CurlClient>(TrustRules{any_authority}, std::move(user_agent), nullptr,
                                      Schemes::http_too);
}

}  // namespace gleaner::io
