#include "server/http/server.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <cerrno>
#include <cstring>
#include <future>
#include <random>
#include <thread>
#include <vector>

#include "server/http/server_connection.h"
#include "server/http/server_core.h"
#include "shared/base/random.h"
#include "shared/base/thread_name.h"

namespace gleaner::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds accept_pause{100};  // after a failure that does not pass by trying again

Error bind_error(const std::string& address, int port, const error_code& ec) {
  const std::string port_text = "port " + std::to_string(port);
  if (ec == asio::error::address_in_use) {
    return {ErrorKind::conflict, port_text + " is in use by another program: stop it or choose another port"};
  }
  if (ec == asio::error::access_denied) {
    return {ErrorKind::forbidden, port_text +
                                      " needs a privilege: choose a port from 1024 on or give the program " +
                                      "CAP_NET_BIND_SERVICE"};
  }
  if (ec == boost::system::errc::address_not_available) {
    return {ErrorKind::invalid, "this machine has no address " + address +
                                    ": choose one of its own, 0.0.0.0 (all) or :: (all, with IPv6)"};
  }
  if (ec == asio::error::address_family_not_supported) {
    return {ErrorKind::invalid, "this machine has no IPv6: listen on 0.0.0.0 instead of " + address};
  }
  return {ErrorKind::io, "cannot listen on " + address + " " + port_text + ": " + ec.message()};
}

Result<tcp::acceptor> listen(asio::io_context& io, const std::string& address_text, int port) {
  error_code ec;
  const auto address = asio::ip::make_address(address_text, ec);
  if (ec) {
    return Error{ErrorKind::invalid,
                 "\"" + address_text + "\" is not an IP address: give one like 0.0.0.0 or ::"};
  }
  const tcp::endpoint endpoint(address, static_cast<std::uint16_t>(port));
  tcp::acceptor acceptor(asio::make_strand(io));
  const auto try_to = [&](auto&& step) {
    if (!ec) step();
  };
  try_to([&] { acceptor.open(endpoint.protocol(), ec); });
  try_to([&] { acceptor.set_option(tcp::acceptor::reuse_address(true), ec); });
  if (address.is_v6()) try_to([&] { acceptor.set_option(asio::ip::v6_only(false), ec); });
  try_to([&] { acceptor.bind(endpoint, ec); });
  try_to([&] { acceptor.listen(tcp::acceptor::max_listen_connections, ec); });
  if (ec) return bind_error(address_text, port, ec);
  return acceptor;
}

// A socket that somebody else bound, and may go on listening on when this program has ended.
Result<tcp::acceptor> take_over(asio::io_context& io, int descriptor) {
  error_code ec;
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    return Error{ErrorKind::invalid,
                 "the socket that was handed over is none: " + std::string(strerror(errno))};
  tcp::acceptor acceptor(asio::make_strand(io));
  acceptor.assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), descriptor, ec);
  if (!ec) acceptor.non_blocking(true, ec);
  if (ec) return Error{ErrorKind::io, "cannot use the socket that was handed over: " + ec.message()};
  return acceptor;
}

Status check_options(const ServerOptions& options) {
  if (options.port < 0 || options.port > 65535) {
    return Error{ErrorKind::invalid, "the port must be in 1..65535, or 0 for any free one"};
  }
  if (options.threads < 1 || options.threads > 1024) {
    return Error{ErrorKind::invalid, "the number of server threads must be in 1..1024"};
  }
  if (options.connections_max < 1 || options.connections_per_network_max < 1 ||
      options.silent_per_network_max < 1)
    return Error{ErrorKind::invalid, "the server needs at least one connection"};
  if (options.timeouts.transfer_bytes_per_second_min < 1) {
    return Error{ErrorKind::invalid, "the slowest transfer must be at least one byte a second"};
  }
  return {};
}

// Often enough for the shortest timeout, and seldom enough to cost nothing.
Duration sweep_interval(const ServerTimeouts& timeouts) {
  const Duration shortest = std::min({timeouts.handshake, timeouts.idle, timeouts.header, timeouts.transfer,
                                      timeouts.answer, timeouts.linger});
  return std::clamp<Duration>(shortest / 4, std::chrono::milliseconds{5}, std::chrono::seconds{1});
}

}  // namespace

struct Server::State {
  State(std::shared_ptr<Core> given_core, tcp::acceptor given_acceptor)
      : core(std::move(given_core)),
        acceptor(std::move(given_acceptor)),
        pause(acceptor.get_executor()),
        sweep(acceptor.get_executor()) {}

  void accept();
  void on_accept(const error_code& ec, tcp::socket socket);
  bool launch(tcp::socket socket);  // false: it is refused
  void complain_once(const std::string& line);
  void sweep_later();
  // No connection is accepted any more; the one that is being accepted is served still.
  void close_entrance();
  void entrance_closed();

  const std::shared_ptr<Core> core;
  // On the acceptor's strand:
  tcp::acceptor acceptor;
  asio::steady_timer pause;
  asio::steady_timer sweep;
  bool accepting = false;   // on_accept() is still to come
  bool complained = false;  // one line an episode
  bool finished = false;    // no sweeps any more
  std::promise<void> closed;
  // Of the thread that owns the Server:
  int port = 0;
  std::vector<std::thread> threads;
};

void Server::State::accept() {
  accepting = true;
  acceptor.async_accept(asio::make_strand(core->io), [this](const error_code& ec, tcp::socket socket) {
    on_accept(ec, std::move(socket));
  });
}

void Server::State::complain_once(const std::string& line) {
  if (!complained) core->log(line);
  complained = true;
}

bool Server::State::launch(tcp::socket socket) {
  bool room = true;
  try {
    ++core->options.figures->accepted;
    room = Connection::launch(core, std::move(socket));
  } catch (const std::exception& exception) {
    room = false;
    complain_once(std::string("a connection cannot be served: ") + exception.what());
  }
  if (room) return true;
  ++core->options.figures->refused;
  complain_once("more than " + std::to_string(core->options.connections_max) + " connections, or " +
                std::to_string(core->options.connections_per_network_max) +
                " of one network, and none is idle: some are refused");
  return false;
}

void Server::State::on_accept(const error_code& ec, tcp::socket socket) {
  accepting = false;
  if (core->stopping()) {
    if (!ec) launch(std::move(socket));
    return entrance_closed();
  }
  if (!ec || ec == asio::error::connection_aborted) {
    if (ec || launch(std::move(socket))) complained = false;
    return accept();
  }
  complain_once("cannot accept connections: " + ec.message() +
                ": allow the server more open files (LimitNOFILE)");
  pause.expires_after(accept_pause);  // trying again at once would only burn the processor
  pause.async_wait([this](const error_code& stopped) {
    if (!stopped && !core->stopping()) accept();
  });
}

void Server::State::sweep_later() {
  sweep.expires_after(sweep_interval(core->options.timeouts));
  sweep.async_wait([this](const error_code& stopped) {
    if (stopped || finished) return;
    const SteadyTime now = system_clock().steady();
    for (const auto& connection : core->connections()) {
      if (connection->deadline() <= now) connection->check_deadline();
    }
    sweep_later();
  });
}

void Server::State::close_entrance() {
  error_code ec;
  pause.cancel();
  if (!accepting) return entrance_closed();
  acceptor.cancel(ec);
}

void Server::State::entrance_closed() {
  if (!acceptor.is_open()) return;
  error_code ec;
  acceptor.close(ec);
  closed.set_value();
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() {
  stop(Duration{0});
}

int Server::port() const {
  return state_->port;
}

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Handler handler) {
  TRY(check_options(options));
  TRY_ASSIGN(TlsContext tls,
             TlsContext::make(options.certificate_chain_pem, options.private_key_pem, options.tickets));
  try {
    const auto core = std::make_shared<Core>(std::move(options), std::move(handler), std::move(tls));
    TRY_ASSIGN(auto acceptor, core->options.listening >= 0
                                  ? take_over(core->io, core->options.listening)
                                  : listen(core->io, core->options.address, core->options.port));
    const int port = acceptor.local_endpoint().port();
    std::unique_ptr<Server> server(new Server(std::make_unique<State>(core, std::move(acceptor))));
    State& state = *server->state_;
    state.port = port;
    asio::post(state.acceptor.get_executor(), [&state] {
      state.accept();
      state.sweep_later();
    });
    for (int i = 0; i < core->options.threads; ++i)
      state.threads.emplace_back([core] {
        name_this_thread("http");
        core->io.run();
      });
    return server;
  } catch (const std::exception& exception) {
    return Error{ErrorKind::io, std::string("cannot start the HTTPS server: ") + exception.what()};
  }
}

Status Server::use_certificate(const std::string& chain_pem, const std::string& key_pem) {
  Core& core = *state_->core;
  TRY_ASSIGN(TlsContext tls, TlsContext::make(chain_pem, key_pem, core.options.tickets));
  core.use(std::move(tls));
  return {};
}

void Server::stop(Duration patience) {
  State& state = *state_;
  if (state.threads.empty()) return;
  Core& core = *state.core;
  const SteadyTime until = system_clock().steady() + patience;
  core.begin_drain();
  (void)core.wait_until_empty(std::min(patience, core.options.timeouts.drain));
  core.begin_stop();
  asio::post(state.acceptor.get_executor(), [&state] { state.close_entrance(); });
  state.closed.get_future().wait();
  for (const auto& connection : core.connections()) connection->begin_stop();
  if (!core.wait_until_empty(until - system_clock().steady())) {
    for (const auto& connection : core.connections()) connection->close();
  }
  asio::post(state.acceptor.get_executor(), [&state] {
    state.finished = true;
    state.sweep.cancel();
  });
  for (std::thread& thread : state.threads) thread.join();  // they end when nothing is left to do
  state.threads.clear();
}

std::string retry_after(std::int64_t least, std::int64_t most) {
  static thread_local Random random(std::random_device{}());
  return std::to_string(random.between(least, most));
}

}  // namespace gleaner::http
