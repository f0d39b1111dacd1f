#include "server/link/listener.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "server/link/connection.h"
#include "server/link/messages.h"
#include "shared/base/thread_name.h"

namespace gleaner::link {
namespace {

namespace asio = boost::asio;
using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;

constexpr std::size_t connections_max = 256;
constexpr int operations_max = 8192;  // of one connection; a front end asks less at a time (limits.h)
constexpr std::chrono::seconds handshake_max{10};
constexpr std::chrono::milliseconds accept_pause{100};

// What a connection and the exchanges over it share.
struct Peer {
  std::shared_ptr<void> owner;  // of what the connection stands on
  std::shared_ptr<Connection> connection;
  std::atomic<int> under_way = 0;
  std::atomic<bool> gone = false;
  bool greeted = false;  // the handshake is over
  std::mutex mutex;
  std::map<std::uint64_t, std::shared_ptr<std::atomic<bool>>> streams;  // said to stop
};

class LiveExchange final : public Exchange {
 public:
  LiveExchange(std::shared_ptr<Peer> peer, std::uint64_t id) : peer_(std::move(peer)), id_(id) {
    ++peer_->under_way;
  }
  ~LiveExchange() override {
    if (!answered_) fail({ErrorKind::internal, "the server gave no answer"});
    --peer_->under_way;
    if (!stopped_) return;
    const std::lock_guard lock(peer_->mutex);
    peer_->streams.erase(id_);
  }
  void done(std::string_view body) override {
    if (answered_.exchange(true)) return;
    if (static_cast<std::int64_t>(body.size()) <= frame_bytes_max)
      peer_->connection->send(id_, Kind::done, body);
    else
      peer_->connection->send(id_, Kind::error,
                              pack(Error{ErrorKind::too_large,
                                         "the answer is too long for a front end: ask the "
                                         "project's server itself"}));
  }
  void fail(const Error& error) override {
    if (!answered_.exchange(true)) peer_->connection->send(id_, Kind::error, pack(error));
  }
  void piece(std::string_view body) override {
    if (static_cast<std::int64_t>(body.size()) > frame_bytes_max)
      return;  // each is a whole state: the next may fit
    if (!stopped_) {
      const std::lock_guard lock(peer_->mutex);
      stopped_ = peer_->streams[id_] = std::make_shared<std::atomic<bool>>(false);
    }
    peer_->connection->send(id_, Kind::piece, body);
  }
  [[nodiscard]] bool over() const override { return peer_->gone || (stopped_ && *stopped_); }

 private:
  const std::shared_ptr<Peer> peer_;
  const std::uint64_t id_;
  std::atomic<bool> answered_ = false;
  std::shared_ptr<std::atomic<bool>> stopped_;  // of who calls piece()
};

Result<Acceptor> listen(asio::io_context& io, const Address& address) {
  ErrorCode wrong;
  Acceptor acceptor(io);
  if (address.local()) {
    // What a server left that led before this one, or leads no longer and does not know that yet.
    struct stat facts {};
    if (::lstat(address.path.c_str(), &facts) == 0 && S_ISSOCK(facts.st_mode)) ::unlink(address.path.c_str());
    const asio::generic::stream_protocol::endpoint endpoint{
        asio::local::stream_protocol::endpoint(address.path)};
    acceptor.open(endpoint.protocol(), wrong);
    // Nobody connects before the mode is right: it does not listen yet.
    if (!wrong) acceptor.bind(endpoint, wrong);
    if (!wrong && ::chmod(address.path.c_str(), 0660) != 0)
      wrong = ErrorCode(errno, boost::system::system_category());
  } else {
    asio::ip::tcp::resolver resolver(io);
    const auto found = resolver.resolve(address.host, std::to_string(address.port), wrong);
    if (!wrong) {
      const asio::generic::stream_protocol::endpoint endpoint{found.begin()->endpoint()};
      acceptor.open(endpoint.protocol(), wrong);
      if (!wrong) acceptor.set_option(asio::socket_base::reuse_address(true), wrong);
      if (!wrong) acceptor.bind(endpoint, wrong);
    }
  }
  if (!wrong) acceptor.listen(asio::socket_base::max_listen_connections, wrong);
  if (wrong)
    return Error{ErrorKind::io,
                 "cannot listen for front ends on " + address.text() + " (link.listen): " + wrong.message()};
  return acceptor;
}

}  // namespace

struct Listener::State : std::enable_shared_from_this<Listener::State> {
  State(ListenerOptions given, Handler given_handler)
      : options(std::move(given)), handler(std::move(given_handler)), acceptor(io), pause(io) {}

  void accept();
  void serve(Socket socket);
  void receive(const std::shared_ptr<Peer>& peer, const Frame& frame) const;

  const ListenerOptions options;
  const Handler handler;
  std::shared_ptr<asio::ssl::context> tls;
  asio::io_context io{1};
  // On its thread:
  Acceptor acceptor;
  asio::steady_timer pause;
  std::set<std::shared_ptr<Peer>> peers;
  std::optional<std::promise<void>> emptied;  // awaited: there is none left
  std::thread thread;
};

void Listener::State::accept() {
  acceptor.async_accept([this](const ErrorCode& failed, Socket socket) {
    if (failed == asio::error::operation_aborted) return;
    if (!failed) {
      if (peers.size() < connections_max) serve(std::move(socket));
      return accept();
    }
    options.log("cannot accept front ends: " + failed.message());
    pause.expires_after(accept_pause);
    pause.async_wait([this](const ErrorCode& stopped) {
      if (!stopped) accept();
    });
  });
}

void Listener::State::serve(Socket socket) {
  if (!options.address.local()) tune(socket);
  const auto peer = std::make_shared<Peer>();
  peer->owner = shared_from_this();
  peer->connection = std::make_shared<Connection>(io.get_executor(), make_stream(std::move(socket), tls));
  peers.insert(peer);
  const auto late = std::make_shared<asio::steady_timer>(io, handshake_max);
  late->async_wait([peer](const ErrorCode& stopped) {
    if (!stopped) peer->connection->close("no handshake in time");
  });
  peer->connection->start(
      Stream::Side::server,
      [peer, late] {
        peer->greeted = true;
        late->cancel();
      },
      [this, peer](const Frame& frame) { receive(peer, frame); },
      [this, peer, late](const std::string& why) {
        late->cancel();
        peer->gone = true;
        peers.erase(peer);
        if (emptied && peers.empty()) std::exchange(emptied, {})->set_value();
        options.log("a front end is gone: " + why);
      });
}

void Listener::State::receive(const std::shared_ptr<Peer>& peer, const Frame& frame) const {
  if (frame.kind == Kind::stop) {
    const std::lock_guard lock(peer->mutex);
    if (const auto found = peer->streams.find(frame.id); found != peer->streams.end()) *found->second = true;
    return;
  }
  if (frame.kind >= Kind::done) return peer->connection->close("unrequested reply");
  auto exchange = std::make_shared<LiveExchange>(peer, frame.id);
  if (peer->under_way > operations_max)
    return exchange->fail(
        {ErrorKind::unavailable, "the server has as much to do as it can: try again later"});
  handler(frame.kind, frame.body, std::move(exchange));
}

Listener::Listener(std::shared_ptr<State> state) : state_(std::move(state)) {}

Listener::~Listener() {
  stop();
}

Result<std::unique_ptr<Listener>> Listener::start(ListenerOptions options, Handler handler) {
  const auto state = std::make_shared<State>(std::move(options), std::move(handler));
  if (!state->options.address.local()) {
    TRY_ASSIGN(state->tls, tls_context(state->options.identity));
    if (!state->tls) return Error{ErrorKind::invalid, "a link over TCP needs link.pem"};
  }
  TRY_ASSIGN(state->acceptor, listen(state->io, state->options.address));
  state->accept();
  state->thread = std::thread([state = state.get()] {
    name_this_thread("link");
    state->io.run();
  });
  return std::unique_ptr<Listener>(new Listener(state));
}

void Listener::hand_over(std::chrono::milliseconds patience) {
  if (!state_->thread.joinable()) return;
  std::promise<void> emptied;
  const auto empty = emptied.get_future();
  asio::post(state_->io, [state = state_.get(), emptied = std::move(emptied)]() mutable {
    ErrorCode ignored;
    state->acceptor.close(ignored);
    state->pause.cancel();
    if (state->peers.empty()) return emptied.set_value();
    state->emptied = std::move(emptied);
    for (const auto& peer : state->peers)
      if (peer->greeted)
        peer->connection->send(0, Kind::leaving, {});
      else
        peer->connection->close("the server ends");
  });
  (void)empty.wait_for(patience);
}

void Listener::stop() {
  if (!state_->thread.joinable()) return;
  asio::post(state_->io, [state = state_.get()] {
    ErrorCode ignored;
    state->acceptor.close(ignored);
    state->pause.cancel();
    for (const auto& peer : state->peers) peer->connection->close("the server ends");
  });
  state_->thread.join();
}

}  // namespace gleaner::link
