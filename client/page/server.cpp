#include "client/page/server.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>
#include <csignal>
#include <list>
#include <optional>

#include "shared/io/loopback_peer.h"

namespace gleaner::page {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Code = boost::system::error_code;
using Tcp = asio::ip::tcp;

constexpr std::uint32_t head_bytes_max = 8 << 10;

// A connection, as the server sees it.
struct Guest {
  beast::tcp_stream& stream;
  bool own_user;
  bool let_in = false;  // it has shown the token
  [[nodiscard]] bool here() const { return stream.socket().is_open(); }
};

}  // namespace

struct Server::State {
  State(std::string token, Backend& served) : gate{0, std::move(token), false}, backend(served) {}

  std::list<Guest> guests;  // the oldest first; outlives the connections, which end with the context
  asio::io_context context{1};
  Tcp::acceptor acceptor{context};
  asio::signal_set signals{context, SIGTERM, SIGINT};
  asio::steady_timer unused{context};
  Duration unused_for{0};
  Gate gate;
  Backend& backend;

  void accept();
  // Is there a place for one more? The oldest that has shown no token makes it.
  [[nodiscard]] bool make_place(bool own_user);
  void rest();  // from now on, count how long nobody asks
};

namespace {

std::string field(const http::request<http::string_body>& request, http::field name) {
  // Two of them are nobody's browser: neither is believed.
  if (request.count(name) != 1) return "";
  return std::string(request[name]);
}

std::string field(const http::request<http::string_body>& request, const char* name) {
  if (request.count(name) != 1) return "";
  return std::string(request[name]);
}

template <typename Owner>
class Connection : public std::enable_shared_from_this<Connection<Owner>> {
 public:
  Connection(Tcp::socket socket, bool own_user, Owner& owner)
      : stream_(std::move(socket)),
        owner_(owner),
        guest_(owner_.guests.insert(owner_.guests.end(), Guest{stream_, own_user})) {}
  ~Connection() { owner_.guests.erase(guest_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(head_bytes_max);
    parser_->body_limit(body_bytes_max);
    stream_.expires_after(Server::patience);
    http::async_read(stream_, buffer_, *parser_, [self = this->shared_from_this()](Code error, std::size_t) {
      if (!error) self->reply();
    });
  }

 private:
  void reply() {
    const auto& asked = parser_->get();
    Request request;
    request.method = std::string(asked.method_string());
    request.target = std::string(asked.target());
    request.host = field(asked, http::field::host);
    request.origin = asked.count(http::field::origin) > 1 ? "several" : field(asked, http::field::origin);
    request.fetch_site = field(asked, "Sec-Fetch-Site");
    request.authorization = field(asked, http::field::authorization);
    request.body = asked.body();
    request.own_user = guest_->own_user;
    Reply answered = answer(request, owner_.gate, owner_.backend);
    if (answered.status == 200 && request.target.starts_with("/api/")) {
      guest_->let_in = true;
      owner_.rest();
    }
    if (!answered.location.empty()) owner_.gate.opens = false;
    reply_ = {};
    reply_.version(asked.version());
    reply_.result(static_cast<unsigned>(answered.status));
    reply_.keep_alive(asked.keep_alive());
    reply_.set(http::field::content_type, answered.content_type);
    if (!answered.location.empty()) reply_.set(http::field::location, answered.location);
    reply_.set(http::field::cache_control, "no-store");
    reply_.set("Content-Security-Policy", content_policy);
    reply_.set("X-Content-Type-Options", "nosniff");
    reply_.set("Referrer-Policy", "no-referrer");
    reply_.set("Cross-Origin-Resource-Policy", "same-origin");
    reply_.set("Cross-Origin-Opener-Policy", "same-origin");
    reply_.body() = std::move(answered.body);
    reply_.prepare_payload();
    stream_.expires_after(Server::patience);
    http::async_write(stream_, reply_, [self = this->shared_from_this()](Code error, std::size_t) {
      if (!error && self->reply_.keep_alive()) self->read();
    });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{head_bytes_max + body_bytes_max};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> reply_;
  Owner& owner_;
  std::list<Guest>::iterator guest_;
};

}  // namespace

void Server::State::accept() {
  acceptor.async_accept([this](Code error, Tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    const bool own_user = !error && io::peer_is_of_own_user(socket.native_handle());
    if (!error && make_place(own_user))
      std::make_shared<Connection<State>>(std::move(socket), own_user, *this)->read();
    accept();
  });
}

bool Server::State::make_place(bool own_user) {
  const auto counts = [&](const Guest& guest) { return guest.own_user == own_user && guest.here(); };
  if (std::count_if(guests.begin(), guests.end(), counts) < (own_user ? connections_max : strangers_max))
    return true;
  const auto oldest = std::find_if(guests.begin(), guests.end(),
                                   [&](const Guest& guest) { return counts(guest) && !guest.let_in; });
  if (oldest == guests.end()) return false;
  oldest->stream.close();
  return true;
}

void Server::State::rest() {
  unused.expires_after(unused_for);
  unused.async_wait([this](Code error) {
    if (!error) context.stop();
  });
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::listen(int port, std::string token, Backend& backend) {
  auto state = std::make_unique<State>(std::move(token), backend);
  const Tcp::endpoint endpoint(asio::ip::address_v4::loopback(), static_cast<unsigned short>(port));
  Code error;
  const auto failed = [&] {
    return Error{ErrorKind::unavailable, "cannot listen on 127.0.0.1:" + std::to_string(port) + ": " +
                                             error.message() + "; try another --port"};
  };
  if (state->acceptor.open(endpoint.protocol(), error)) return failed();
  if (state->acceptor.set_option(Tcp::acceptor::reuse_address(true), error)) return failed();
  if (state->acceptor.bind(endpoint, error)) return failed();
  if (state->acceptor.listen(connections_max, error)) return failed();
  state->gate.port = state->acceptor.local_endpoint(error).port();
  if (error) return failed();
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

int Server::port() const {
  return state_->gate.port;
}

void Server::open_for_own_user() {
  state_->gate.opens = true;
}

void Server::run(Duration unused_for) {
  state_->unused_for = unused_for;
  state_->signals.async_wait([this](Code, int) { state_->context.stop(); });
  state_->accept();
  state_->rest();
  state_->context.run();
}

}  // namespace gleaner::page
