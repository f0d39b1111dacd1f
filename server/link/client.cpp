#include "server/link/client.h"

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <mutex>
#include <thread>

#include "server/link/connection.h"
#include "server/link/messages.h"
#include "server/link/operations.h"
#include "shared/base/thread_name.h"

namespace gleaner::link {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// Between attempts, each longer than the one before by a quarter: whoever leads is found after little more
// than the time that nobody did.
constexpr milliseconds pause_least{50}, pause_most{1000};
constexpr milliseconds beat{1000}, silence_max{4000};
constexpr std::uint64_t beat_id = 0;

void fail(const std::vector<Client::Answer>& lost, const std::string& why) {
  const Bytes unavailable = pack(Error{ErrorKind::unavailable, why});
  for (const auto& answer : lost) answer(Kind::error, unavailable);
}

}  // namespace

struct Client::State : std::enable_shared_from_this<Client::State> {
  explicit State(ClientOptions given) : options(std::move(given)), resolver(io), timer(io), held_until(io) {}

  // On the link's thread:
  void connect();
  void open(Socket socket, const Address& address);
  void receive(const Frame& frame);
  void tick();
  void broken(const std::string& why);
  void leave();
  void later();
  // The mutex is held:
  void begin_holding();
  // It is not:
  void give_up_held();

  const ClientOptions options;
  std::shared_ptr<asio::ssl::context> tls;
  asio::io_context io{1};
  asio::ip::tcp::resolver resolver;
  asio::steady_timer timer, held_until;
  std::shared_ptr<Socket> connecting;
  std::size_t next = 0;  // of the servers
  milliseconds pause = pause_least;
  Clock::time_point heard;
  std::thread thread;

  mutable std::mutex mutex;  // guards what follows
  std::shared_ptr<Connection> connection;
  bool answers = false, stopping = false;  // it said hello
  bool leaving = false;                    // the leader that this connection is with
  bool holding = false;                    // until the next one
  bool told = false;                       // that none answers
  std::string why = "no server of the project has answered yet";
  std::uint64_t last = beat_id;
  Operations operations;
  Figures figures;
};

void Client::State::connect() {
  const Address& address = options.servers[next];
  next = (next + 1) % options.servers.size();
  heard = Clock::now();
  const auto socket = std::make_shared<Socket>(io);
  connecting = socket;
  timer.expires_after(silence_max);
  timer.async_wait([socket](const ErrorCode& stopped) {
    ErrorCode ignored;
    if (!stopped) socket->close(ignored);
  });
  const auto connected = [self = shared_from_this(), socket, &address](const ErrorCode& failed) {
    self->timer.cancel();
    self->connecting.reset();
    if (!failed) return self->open(std::move(*socket), address);
    self->broken(address.text() + ": " + failed.message());
  };
  if (address.local())
    return socket->async_connect(asio::local::stream_protocol::endpoint(address.path), connected);
  resolver.async_resolve(
      address.host, std::to_string(address.port),
      [socket, connected](const ErrorCode& failed, const asio::ip::tcp::resolver::results_type& found) {
        if (failed) return connected(failed);
        socket->async_connect(found.begin()->endpoint(), connected);
      });
}

void Client::State::open(Socket socket, const Address& address) {
  if (!address.local()) tune(socket);
  auto made = std::make_shared<Connection>(io.get_executor(),
                                           make_stream(std::move(socket), address.local() ? nullptr : tls));
  {
    const std::lock_guard lock(mutex);
    if (stopping) return;
    connection = made;
  }
  const auto self = shared_from_this();
  made->start(
      Stream::Side::client,
      // Not before: what is written while hands are shaken lies there until more is.
      [self, made] {
        made->send(beat_id, Kind::hello, pack(Hello{version, self->options.project}));
      },
      [self](const Frame& frame) { self->receive(frame); },
      [self, &address](const std::string& ended) { self->broken(address.text() + ": " + ended); });
  tick();
}

void Client::State::tick() {
  timer.expires_after(beat);
  timer.async_wait([self = shared_from_this()](const ErrorCode& stopped) {
    if (stopped || !self->connection) return;
    if (Clock::now() - self->heard > silence_max) return self->connection->close("it is silent");
    self->connection->send(beat_id, Kind::hello, pack(Hello{version, self->options.project}));
    self->tick();
  });
}

void Client::State::receive(const Frame& frame) {
  heard = Clock::now();
  if (frame.id == beat_id) {
    if (frame.kind == Kind::error) return connection->close(unpack_error(frame.body).message);
    if (frame.kind == Kind::leaving) return leave();
    const std::lock_guard lock(mutex);
    if (leaving) return;
    if (!answers) {
      ++figures.connections;
      options.log("linked to the project's server");
    }
    answers = true;
    told = holding = false;
    held_until.cancel();
    pause = pause_least;
    operations.send_held(
        [this](std::uint64_t id, Kind kind, std::string_view body) { connection->send(id, kind, body); });
    return;
  }
  Answer answer;
  bool over = false;
  {
    const std::lock_guard lock(mutex);
    answer = operations.find(frame);
    over = leaving && !operations.any_sent();
  }
  if (answer) answer(frame.kind, frame.body);  // else nobody wants it any more
  if (over) connection->close("another server is to lead");
}

// The leader answers what was sent to it, and is sent no more.
void Client::State::leave() {
  std::vector<Answer> streams;
  bool over = false;
  {
    const std::lock_guard lock(mutex);
    if (std::exchange(leaving, true)) return;
    if (std::exchange(answers, false)) begin_holding();
    streams = operations.take_streams();
    over = !operations.any_sent();
  }
  fail(streams, "the project's server ends: ask again");
  if (over) connection->close("another server is to lead");
}

void Client::State::begin_holding() {
  if (stopping || options.hold == milliseconds{0}) return;
  holding = true;
  held_until.expires_after(options.hold);
  held_until.async_wait([self = shared_from_this()](const ErrorCode& stopped) {
    if (!stopped) self->give_up_held();
  });
}

void Client::State::give_up_held() {
  std::vector<Answer> lost;
  {
    const std::lock_guard lock(mutex);
    if (answers) return;  // one leads, since a moment ago
    holding = false;
    lost = operations.take_held();
    figures.unavailable += static_cast<std::int64_t>(lost.size());
  }
  fail(lost, "no server of the project answers this front end: try again later");
}

void Client::State::broken(const std::string& reason) {
  timer.cancel();
  std::vector<Answer> lost;
  bool again = false, held = false;
  {
    const std::lock_guard lock(mutex);
    connection.reset();
    again = !stopping;
    if (!std::exchange(told, true)) options.log("no link to the project's server: " + reason);
    leaving = false;
    if (std::exchange(answers, false)) begin_holding();
    why = reason;
    const std::size_t before = operations.held();
    lost = operations.broken();
    figures.held += static_cast<std::int64_t>(operations.held() - before);
    figures.unavailable += static_cast<std::int64_t>(lost.size());
    held = holding && !stopping;
  }
  fail(lost, "the link to the project's server broke: try again");
  if (!held) give_up_held();
  if (again) later();
}

void Client::State::later() {
  timer.expires_after(pause);
  pause = std::min(pause * 5 / 4, pause_most);
  timer.async_wait([self = shared_from_this()](const ErrorCode& stopped) {
    if (!stopped) self->connect();
  });
}

Client::Client(std::shared_ptr<State> state) : state_(std::move(state)) {}

Client::~Client() {
  stop();
}

Result<std::unique_ptr<Client>> Client::start(ClientOptions options) {
  const bool remote = std::any_of(options.servers.begin(), options.servers.end(),
                                  [](const Address& address) { return !address.local(); });
  CHECK_TRUE(!options.servers.empty());
  const auto state = std::make_shared<State>(std::move(options));
  if (remote) {
    TRY_ASSIGN(state->tls, tls_context(state->options.identity));
    if (!state->tls) return Error{ErrorKind::invalid, "a link over TCP needs link.pem"};
  }
  asio::post(state->io, [state] { state->connect(); });
  state->thread = std::thread([state = state.get()] {
    name_this_thread("link");
    state->io.run();
  });
  return std::unique_ptr<Client>(new Client(state));
}

void Client::stop() {
  if (!state_->thread.joinable()) return;
  asio::post(state_->io, [state = state_.get()] {
    std::shared_ptr<Connection> present;
    {
      const std::lock_guard lock(state->mutex);
      state->stopping = true;
      present = state->connection;
    }
    state->timer.cancel();
    state->held_until.cancel();
    state->resolver.cancel();
    ErrorCode ignored;
    if (state->connecting) state->connecting->close(ignored);
    if (present)
      present->close("this front end ends");
    else
      state->broken("this front end ends");
  });
  state_->thread.join();
}

std::uint64_t Client::ask(Kind kind, std::string_view body, Answer answer, Repeat repeat) {
  std::shared_ptr<Connection> present;
  bool held = false;
  std::uint64_t id = 0;
  if (static_cast<std::int64_t>(body.size()) > frame_bytes_max) {
    answer(Kind::error,
           pack(Error{ErrorKind::too_large, "this is too much at once: send results one by one"}));
    return id;
  }
  {
    const std::lock_guard lock(state_->mutex);
    id = ++state_->last;
    ++state_->figures.asked;
    if (state_->answers && !state_->stopping) {
      present = state_->connection;
      state_->operations.add_sent(id, kind, body, std::move(answer), repeat);
    } else {
      held = state_->holding && !state_->stopping && state_->operations.hold(id, kind, body, answer, repeat);
      ++(held ? state_->figures.held : state_->figures.unavailable);
    }
  }
  if (present)
    present->send(id, kind, body);
  else if (!held)
    answer(Kind::error,
           pack(Error{ErrorKind::unavailable,
                      "no server of the project answers this front end just now: try again later"}));
  return id;
}

void Client::stop(std::uint64_t id) {
  std::shared_ptr<Connection> present;
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->operations.remove(id)) return;
    present = state_->connection;
  }
  if (present) present->send(id, Kind::stop, {});
}

Status Client::ready() const {
  const std::lock_guard lock(state_->mutex);
  if (state_->answers || state_->holding) return {};
  return Error{ErrorKind::unavailable, "no link to the project's server: " + state_->why};
}

Client::Figures Client::figures() const {
  const std::lock_guard lock(state_->mutex);
  return state_->figures;
}

}  // namespace gleaner::link
