// What a connection does for one request: read it, ask the handler, write the answer.
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

#include "server/http/file_stream.h"
#include "server/http/server_connection.h"
#include "server/http/server_response.h"
#include "shared/base/failpoint.h"

namespace gleaner::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t joined_bytes_max = 64 << 10;  // smaller bodies leave with their head, in one write

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

// Memory for a large body, for as long as the request is under way.
class BodyRoom {
 public:
  BodyRoom(Core& core, const Connection* connection) : core_(core), connection_(connection) {}
  BodyRoom(const BodyRoom&) = delete;
  BodyRoom& operator=(const BodyRoom&) = delete;
  ~BodyRoom() {
    if (taken_) core_.drop_room(connection_);
  }
  [[nodiscard]] bool take(std::int64_t bytes) {
    taken_ = bytes > small_body_bytes;
    return core_.take_room(connection_, bytes);
  }

 private:
  Core& core_;
  const Connection* const connection_;
  bool taken_ = false;
};

}  // namespace

// Not in serve_request(), whose frame is large: an idle connection is to hold little.
Connection::Task<bool> Connection::next_request() {
  if (const Duration rest = std::exchange(rest_, {}); rest > Duration{}) {
    enter(Phase::idle, rest + core_->options.timeouts.idle);
    error_code ec;
    answered_.expires_after(rest);
    if (!core_->stopping()) co_await answered_.async_wait(asio::redirect_error(asio::use_awaitable, ec));
    if (closed_) co_return false;
  }
  if (!input_.empty()) co_return true;
  enter(Phase::idle, core_->options.timeouts.idle);
  std::string().swap(input_);
  if (core_->stopping()) hurry();
  core_->idles(this);
  const bool begun = co_await read_more();
  core_->wakes(this);
  co_return begun;
}

Connection::Task<bool> Connection::serve_request() {
  enter(Phase::receiving, core_->options.timeouts.header);
  RequestParser parser;
  const bool head = co_await read_head(parser);
  if (!head) co_return false;
  if (std::exchange(silent_, false)) core_->has_spoken(this);
  bool body_unread = false;
  BodyRoom room(*core_, this);
  if (!parser.complete()) {
    const bool small = parser.announced_bytes() > 0 && parser.announced_bytes() <= small_body_bytes;
    if (core_->options.introduce && !small) {
      Request introduced = parser.request();
      introduced.peer = peer_;
      introduced.network = network_;
      co_await ask(core_->options.introduce, std::move(introduced));
      if (closed_) co_return false;
    }
    const auto& most = core_->options.body_bytes_max;
    const std::int64_t body_bytes_max = most ? most(parser.request()) : limits::json_message_bytes_max;
    if (body_bytes_max <= 0) {
      body_unread = true;
    } else if (parser.announced_bytes() > body_bytes_max) {
      co_return co_await refuse(problem(413, "the request body is larger than allowed here"));
    } else if (!room.take(parser.announced_bytes() > 0 ? parser.announced_bytes() : body_bytes_max)) {
      co_return co_await refuse(problem(
          503, "the server has as many large requests at hand as it can: try again later"));  // of chunks
                                                                                              // nobody knows
                                                                                              // how many come
    } else {
      parser.limit_body(body_bytes_max);
      const bool body = co_await read_body(parser);
      if (!body) co_return false;
    }
  }
  bool keep = parser.keeps_alive() && !body_unread;
  Request request = parser.take();
  request.peer = peer_;
  request.network = network_;
  const bool head_only = request.method == "HEAD";
  const auto asked = std::chrono::steady_clock::now();
  Response response = co_await ask(core_->handler, std::move(request));
  if (closed_) co_return false;
  response.headers["Server-Timing"] = server_timing(std::chrono::steady_clock::now() - asked);
  keep = keep && !core_->draining();
  rest_ = response.rest;
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
    if (more) continue;
    hand_over_part(parser);
    co_return false;
  }
}

void Connection::hand_over_part(RequestParser& parser) {
  const auto& takes_part = core_->options.takes_part;
  if (!takes_part || parser.request().body.empty() || !takes_part(parser.request())) return;
  Request request = parser.take();
  request.peer = peer_;
  request.network = network_;
  call(core_->handler, std::move(request));
}

void Connection::call(const Handler& handler, Request request) {
  const auto guard = std::make_shared<ReplyGuard>(weak_from_this(), request_number_);
  try {
    handler(std::move(request), [guard](Response response) { guard->reply(std::move(response)); });
  } catch (const std::exception& exception) {
    log(std::string("a handler failed: ") + exception.what());
  }
}

Connection::Task<Response> Connection::ask(const Handler& handler, Request request) {
  enter(Phase::answering, core_->options.timeouts.answer);
  ++request_number_;
  answer_.reset();
  call(handler, std::move(request));
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
  if (response.status == 503) response.headers.try_emplace("Retry-After", retry_after(4, 8));
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
  const std::shared_ptr<Feed> feed = response.feed;
  const std::string follower = response.follower;
  const std::int64_t content_bytes = feed     ? (keep ? content_in_chunks : content_until_close)
                                     : stream ? response.file->bytes
                                              : static_cast<std::int64_t>(response.body.size());
  auto head = encode_head(response, content_bytes, after);
  if (!head.ok()) {
    log(head.error().message);
    stream.reset();
    response = problem(500, "the server made an answer that cannot be sent");
    head = encode_head(response, static_cast<std::int64_t>(response.body.size()), after);
  }
  std::string first = std::move(head).value();
  const bool content = !head_only && carries_content(response.status);
  const bool joined = content && !feed && !stream && response.body.size() <= joined_bytes_max;
  if (joined) first += response.body;
  bool sent = failpoint("answer-send").ok();
  if (sent) sent = co_await write(first);
  if (sent && content && stream) sent = co_await send_file(*stream, response.file->moved.get());
  if (sent && content && feed) sent = co_await send_feed(feed, follower, keep);
  if (sent && content && !feed && !stream && !joined) sent = co_await write(response.body);
  if (sent) (void)failpoint("answer-sent");
  if (!sent) close_now();  // without good-bye
  co_return sent&& keep;
}

Connection::Task<bool> Connection::send_file(FileStream& stream, std::int64_t* moved) {
  while (true) {
    const Result<std::string_view> piece = stream.next();
    if (!piece.ok()) {
      log(piece.error().message);
      co_return false;
    }
    if (piece->empty()) co_return true;
    const auto bytes = static_cast<std::int64_t>(piece->size());
    const bool sent = co_await write(*piece);
    if (!sent) co_return false;
    if (moved != nullptr) *moved += bytes;
    co_await asio::post(socket_.get_executor(), asio::use_awaitable);  // others first
  }
}

void Connection::offer(std::uint64_t request_number, Feed::Piece piece) {
  asio::post(socket_.get_executor(), [self = shared_from_this(), request_number, piece = std::move(piece)] {
    if (request_number != self->request_number_) return;  // the answer has ended
    self->piece_ = piece;
    self->answered_.cancel();
  });
}

Connection::Task<void> Connection::next_piece(SteadyTime until) {
  while (!piece_ && !closed_ && !core_->stopping() && system_clock().steady() < until) {
    error_code ec;
    answered_.expires_at(until);
    co_await answered_.async_wait(asio::redirect_error(asio::use_awaitable, ec));
  }
}

Connection::Task<bool> Connection::send_feed(const std::shared_ptr<Feed>& feed, const std::string& who,
                                             bool chunked) {
  const SteadyTime until = system_clock().steady() + core_->options.timeouts.follow;
  piece_.reset();
  const auto follower = feed->follow(
      [weak = weak_from_this(), number = request_number_](Feed::Piece piece) {
        if (const auto self = weak.lock()) self->offer(number, std::move(piece));
      },
      who);
  bool sent = follower.has_value();
  while (sent) {
    enter(Phase::sending, core_->options.timeouts.follow + core_->options.timeouts.transfer);
    co_await next_piece(until);
    if (!piece_) break;
    enter(Phase::sending, core_->options.timeouts.transfer);
    const Feed::Piece piece = std::exchange(piece_, nullptr);
    if (chunked) {
      const std::string size = chunk_head(piece->size());
      sent = co_await write(size);
    }
    if (sent) sent = co_await write(*piece);
    if (sent && chunked) sent = co_await write("\r\n");
  }
  if (follower) feed->leave(*follower);
  ++request_number_;  // what is still on its way to here is of no use
  if (sent && chunked) sent = co_await write(last_chunk);
  co_return sent && !closed_;
}

}  // namespace gleaner::http
