#include "server/http/server_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <exception>

#include "server/http/file_stream.h"
#include "server/http/server_response.h"

namespace gleaner::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t joined_bytes_max = 64 << 10;   // smaller bodies leave with their head, in one write
constexpr std::int64_t drained_bytes_max = 8 << 20;  // of what a refused peer still sends

// One for each thread: a connection between two reads owns no buffer.
std::array<char, 16 << 10>& read_buffer() {
  static thread_local std::array<char, 16 << 10> buffer;
  return buffer;
}

std::string name_of_peer(const Connection::Socket& socket) {
  error_code ec;
  const auto endpoint = socket.remote_endpoint(ec);
  if (ec) return "unknown";
  const auto address = endpoint.address();
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.to_string();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
}

// What all copies of a Reply share; the last one to go answers if none did.
class ReplyGuard {
 public:
  ReplyGuard(std::weak_ptr<Connection> connection, std::uint64_t request_number)
      : connection_(std::move(connection)), request_number_(request_number) {}
  ReplyGuard(const ReplyGuard&) = delete;
  ReplyGuard& operator=(const ReplyGuard&) = delete;
  ~ReplyGuard() {
    if (!used_.load()) deliver(problem(500, "the server did not finish this request"));
  }
  void reply(Response response) {
    if (!used_.exchange(true)) {
      deliver(std::move(response));
    } else if (const auto connection = connection_.lock()) {
      connection->log("a handler replied twice: the second reply was dropped");
    }
  }

 private:
  void deliver(Response response) {
    if (const auto connection = connection_.lock()) connection->answer(request_number_, std::move(response));
  }

  const std::weak_ptr<Connection> connection_;
  const std::uint64_t request_number_;
  std::atomic<bool> used_ = false;
};

}  // namespace

Connection::Connection(std::shared_ptr<Core> core, Socket socket)
    : core_(std::move(core)),
      socket_(std::move(socket)),
      tls_(core_->tls, socket_.native_handle()),
      peer_(name_of_peer(socket_)),
      deadline_us_(0),
      answered_(socket_.get_executor()) {
  enter(Phase::handshake, core_->options.timeouts.handshake);
}

bool Connection::launch(std::shared_ptr<Core> core, Socket socket) {
  error_code ec;
  socket.non_blocking(true, ec);
  if (ec) return true;                                   // lost already
  socket.set_option(asio::ip::tcp::no_delay(true), ec);  // a failure costs speed only
  const auto connection = std::make_shared<Connection>(core, std::move(socket));
  if (!core->enter(connection)) return false;
  asio::co_spawn(connection->socket_.get_executor(), connection->serve(),
                 [connection](std::exception_ptr failure) {
                   connection->close_now();
                   try {
                     if (failure) std::rethrow_exception(failure);
                   } catch (const std::exception& exception) {
                     connection->log(std::string("a connection failed: ") + exception.what());
                   }
                   connection->core_->leave(connection.get());
                 });
  if (core->stopping()) connection->begin_stop();
  return true;
}

SteadyTime Connection::deadline() const {
  return SteadyTime(Duration(deadline_us_.load(std::memory_order_relaxed)));
}

void Connection::check_deadline() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    if (system_clock().steady() < self->deadline()) return;  // moved meanwhile
    if (self->phase_ != Phase::answering) return self->close_now();
    self->log("a handler did not answer in time");
    self->answer(self->request_number_,
                 problem(503, "the server takes too long for this request: try again later"));
  });
}

void Connection::begin_stop() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    if (self->phase_ == Phase::handshake) return self->close_now();
    error_code ec;
    // It looks once more for a request that came in the meantime.
    if (self->phase_ == Phase::idle && !self->closed_) self->socket_.cancel(ec);
  });
}

void Connection::close() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->close_now(); });
}

void Connection::answer(std::uint64_t request_number, Response response) {
  // A weak pointer: after stop() nobody runs or drops what is posted here before the io_context goes.
  asio::dispatch(socket_.get_executor(),
                 [weak = weak_from_this(), request_number, response = std::move(response)]() mutable {
                   const auto self = weak.lock();
                   if (!self || self->request_number_ != request_number || self->answer_) return;
                   self->answer_ = std::move(response);
                   self->answered_.cancel();
                 });
}

void Connection::enter(Phase phase, Duration timeout) {
  phase_ = phase;
  const SteadyTime until = system_clock().steady() + timeout;
  transfer_until_ = until;
  bytes_sent_ = 0;
  deadline_us_.store(until.time_since_epoch().count(), std::memory_order_relaxed);
}

void Connection::extend_transfer(std::int64_t bytes_so_far) {
  const Duration earned(bytes_so_far * 1'000'000 / core_->options.timeouts.transfer_bytes_per_second_min);
  deadline_us_.store((transfer_until_ + earned).time_since_epoch().count(), std::memory_order_relaxed);
}

void Connection::close_now() {
  closed_ = true;
  error_code ec;
  // A peer that does not read must not leave megabytes in the kernel, nor take a part for the whole.
  if (phase_ == Phase::sending) socket_.set_option(asio::socket_base::linger(true, 0), ec);
  socket_.close(ec);
  answered_.cancel();
}

Connection::Task<void> Connection::serve() {
  bool goes_on = co_await shake_hands();
  while (goes_on) goes_on = co_await serve_request();
  co_await hang_up();
}

Connection::Task<bool> Connection::shake_hands() {
  const bool woken = co_await wait(Wait::readable);
  if (!woken) co_return false;
  char first = 0;
  if (::recv(socket_.native_handle(), &first, 1, MSG_PEEK) == 1 && first >= 'A' && first <= 'Z') {
    co_await answer_plain_http();  // a TLS record never starts with a letter
    co_return false;
  }
  while (true) {
    const TlsSession::Outcome outcome = tls_.shake_hands();
    if (outcome == TlsSession::Outcome::done) break;
    if (outcome != TlsSession::Outcome::want_read && outcome != TlsSession::Outcome::want_write)
      co_return false;
    const bool again =
        co_await wait(outcome == TlsSession::Outcome::want_read ? Wait::readable : Wait::writable);
    if (!again) co_return false;
  }
  secure_ = true;
  co_return true;
}

Connection::Task<void> Connection::answer_plain_http() {
  const std::string text = plain_http_answer();  // fits a fresh socket's buffer
  peer_may_send_ = true;
  if (::send(socket_.native_handle(), text.data(), text.size(), MSG_NOSIGNAL) < 0) close_now();
  co_return;
}

Connection::Task<bool> Connection::wait(Wait what) {
  error_code ec;
  co_await socket_.async_wait(what == Wait::readable ? Socket::wait_read : Socket::wait_write,
                              asio::redirect_error(asio::use_awaitable, ec));
  co_return !closed_ &&
      (!ec || ec == asio::error::operation_aborted);  // aborted: begin_stop() wants attention
}

Connection::Task<bool> Connection::read_more() {
  while (!closed_) {
    auto& buffer = read_buffer();
    const TlsSession::Transfer transfer = tls_.read(buffer.data(), buffer.size());
    Wait what = Wait::readable;
    switch (transfer.outcome) {
      case TlsSession::Outcome::done:
        input_.append(buffer.data(), transfer.bytes);
        co_return true;
      case TlsSession::Outcome::want_read:
        break;
      case TlsSession::Outcome::want_write:
        what = Wait::writable;
        break;
      case TlsSession::Outcome::closed:
      case TlsSession::Outcome::failed:
        co_return false;
    }
    if (phase_ == Phase::idle && core_->stopping()) co_return false;
    const bool again = co_await wait(what);
    if (!again) co_return false;
  }
  co_return false;
}

Connection::Task<bool> Connection::write(std::string_view bytes) {
  while (!bytes.empty() && !closed_) {
    const TlsSession::Transfer transfer = tls_.write(bytes);
    if (transfer.outcome == TlsSession::Outcome::done) {
      bytes.remove_prefix(transfer.bytes);
      bytes_sent_ += static_cast<std::int64_t>(transfer.bytes);
      extend_transfer(bytes_sent_);
      continue;
    }
    const bool blocked = transfer.outcome == TlsSession::Outcome::want_write;
    if (!blocked && transfer.outcome != TlsSession::Outcome::want_read) co_return false;
    const bool again = co_await wait(blocked ? Wait::writable : Wait::readable);
    if (!again) co_return false;
  }
  co_return bytes.empty();
}

Connection::Task<bool> Connection::serve_request() {
  const ServerTimeouts& timeouts = core_->options.timeouts;
  if (input_.empty()) {
    enter(Phase::idle, timeouts.idle);
    std::string().swap(input_);
    const bool begun = co_await read_more();
    if (!begun) co_return false;
  }
  enter(Phase::receiving, timeouts.header);
  RequestParser parser;
  const bool head = co_await read_head(parser);
  if (!head) co_return false;
  bool body_unread = false;
  if (!parser.complete()) {
    const auto& ask = core_->options.body_bytes_max;
    const std::int64_t body_bytes_max = ask ? ask(parser.request()) : limits::json_message_bytes_max;
    if (body_bytes_max <= 0) {
      body_unread = true;
    } else if (parser.announced_bytes() > body_bytes_max) {
      co_return co_await refuse(problem(413, "the request body is larger than allowed here"));
    } else {
      parser.limit_body(body_bytes_max);
      const bool body = co_await read_body(parser);
      if (!body) co_return false;
    }
  }
  bool keep = parser.keeps_alive() && !body_unread;
  Request request = parser.take();
  request.peer = peer_;
  const bool head_only = request.method == "HEAD";
  Response response = co_await ask_handler(std::move(request));
  if (closed_) co_return false;
  keep = keep && !core_->stopping();
  peer_may_send_ = body_unread;
  co_return co_await send(std::move(response), head_only, keep);
}

Connection::Task<bool> Connection::read_head(RequestParser& parser) {
  while (true) {
    const RequestParser::Step step = parser.feed(input_);
    if (step == RequestParser::Step::head) co_return true;
    if (step == RequestParser::Step::refused) co_return co_await refuse(parser.refusal());
    const bool more = co_await read_more();
    if (!more) co_return false;
  }
}

Connection::Task<bool> Connection::read_body(RequestParser& parser) {
  enter(Phase::receiving, core_->options.timeouts.transfer);
  if (parser.expects_continue() && input_.empty()) {
    const std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    const bool told = co_await write(go_on);
    if (!told) co_return false;
  }
  while (true) {
    if (!input_.empty()) {
      const RequestParser::Step step = parser.feed(input_);
      if (step == RequestParser::Step::complete) co_return true;
      if (step == RequestParser::Step::refused) co_return co_await refuse(parser.refusal());
      extend_transfer(static_cast<std::int64_t>(parser.request().body.size()));
    }
    const bool more = co_await read_more();
    if (!more) co_return false;
  }
}

void Connection::call_handler(Request request) {
  const auto guard = std::make_shared<ReplyGuard>(weak_from_this(), request_number_);
  try {
    core_->handler(std::move(request), [guard](Response response) { guard->reply(std::move(response)); });
  } catch (const std::exception& exception) {
    log(std::string("a handler failed: ") + exception.what());
  }
}

Connection::Task<Response> Connection::ask_handler(Request request) {
  enter(Phase::answering, core_->options.timeouts.answer);
  ++request_number_;
  answer_.reset();
  call_handler(std::move(request));
  while (!answer_ && !closed_) {
    error_code ec;
    answered_.expires_at(asio::steady_timer::time_point::max());
    co_await answered_.async_wait(asio::redirect_error(asio::use_awaitable, ec));
  }
  co_return answer_ ? std::move(*answer_) : Response{};
}

Connection::Task<bool> Connection::refuse(Response response) {
  peer_may_send_ = true;
  co_return co_await send(std::move(response), false, false);
}

Connection::Task<bool> Connection::send(Response response, bool head_only, bool keep) {
  enter(Phase::sending, core_->options.timeouts.transfer);
  std::unique_ptr<FileStream> stream;
  if (response.file) {
    auto opened = FileStream::open(*response.file);
    if (opened.ok()) {
      stream = std::move(opened).value();
    } else {
      log(opened.error().message);
      response = problem(500, "the server cannot read what was asked for");
    }
  }
  const auto after = keep ? AfterResponse::keep_connection : AfterResponse::close_connection;
  auto head = encode_head(
      response, stream ? response.file->bytes : static_cast<std::int64_t>(response.body.size()), after);
  if (!head.ok()) {
    log(head.error().message);
    stream.reset();
    response = problem(500, "the server made an answer that cannot be sent");
    head = encode_head(response, static_cast<std::int64_t>(response.body.size()), after);
  }
  std::string first = std::move(head).value();
  const bool content = !head_only && carries_content(response.status);
  const bool joined = content && !stream && response.body.size() <= joined_bytes_max;
  if (joined) first += response.body;
  bool sent = co_await write(first);
  if (sent && content && stream) sent = co_await send_file(*stream);
  if (sent && content && !stream && !joined) sent = co_await write(response.body);
  if (!sent) close_now();  // without good-bye
  co_return sent&& keep;
}

Connection::Task<bool> Connection::send_file(FileStream& stream) {
  while (true) {
    const Result<std::string_view> piece = stream.next();
    if (!piece.ok()) {
      log(piece.error().message);
      co_return false;
    }
    if (piece->empty()) co_return true;
    const bool sent = co_await write(*piece);
    if (!sent) co_return false;
    co_await asio::post(socket_.get_executor(), asio::use_awaitable);  // others first
  }
}

Connection::Task<void> Connection::hang_up() {
  if (closed_) co_return;
  enter(Phase::closing, core_->options.timeouts.linger);
  if (secure_) tls_.say_goodbye();
  error_code ec;
  socket_.shutdown(Socket::shutdown_send, ec);
  std::int64_t drained = 0;
  bool more = peer_may_send_ && !ec;
  while (more && !closed_ && drained < drained_bytes_max) {
    auto& buffer = read_buffer();
    const ssize_t got = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), 0);
    if (got > 0) drained += got;
    more = got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
    if (got < 0 && more) more = co_await wait(Wait::readable);
  }
  close_now();
}

}  // namespace gleaner::http
