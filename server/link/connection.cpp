#include "server/link/connection.h"

#include <boost/asio/post.hpp>
#include <utility>

namespace gleaner::link {
namespace {

constexpr std::size_t read_bytes = 64 << 10;
constexpr std::size_t kept_bytes = 1 << 20;
constexpr std::size_t waiting_bytes_max = 64 << 20;  // a second's worth of pieces of blobs

}  // namespace

Connection::Connection(boost::asio::any_io_executor strand, std::unique_ptr<Stream> stream)
    : strand_(std::move(strand)), stream_(std::move(stream)) {}

void Connection::start(Stream::Side side, std::function<void()> ready, Received received, Ended ended) {
  received_ = std::move(received);
  ended_ = std::move(ended);
  stream_->shake_hands(side, [self = shared_from_this(), ready = std::move(ready)](const ErrorCode& failed) {
    if (failed) return self->end("no handshake: " + failed.message());
    ready();
    self->read();
  });
}

void Connection::read() {
  char* const to = reader_.room(read_bytes);
  stream_->read_some(to, read_bytes, [self = shared_from_this()](const ErrorCode& failed, std::size_t bytes) {
    if (failed) return self->end(failed.message());
    self->reader_.received(bytes);
    const Status taken = self->reader_.take([&self](const Frame& frame) {
      if (self->received_) self->received_(frame);
    });
    if (!taken.ok()) return self->end(taken.error().message);
    if (self->received_) self->read();
  });
}

void Connection::send(std::uint64_t id, Kind kind, std::string_view body) {
  {
    const std::lock_guard lock(mutex_);
    if (!open_) return;
    if (waiting_.size() + body.size() <= waiting_bytes_max) {
      append_frame(waiting_, id, kind, body);
      if (std::exchange(writing_, true)) return;
      boost::asio::post(strand_, [self = shared_from_this()] { self->write(); });
      return;
    }
    open_ = false;
  }
  close("the other side does not read");
}

void Connection::write() {
  {
    const std::lock_guard lock(mutex_);
    sending_.clear();
    if (sending_.capacity() > kept_bytes) Bytes().swap(sending_);
    std::swap(sending_, waiting_);
    if (sending_.empty()) {
      writing_ = false;
      return;
    }
  }
  stream_->write(sending_, [self = shared_from_this()](const ErrorCode& failed, std::size_t) {
    if (failed) return self->end(failed.message());
    self->write();
  });
}

void Connection::close(const std::string& why) {
  boost::asio::post(strand_, [self = shared_from_this(), why] { self->end(why); });
}

void Connection::end(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  received_ = {};
  stream_->close();
  if (const Ended ended = std::exchange(ended_, {})) ended(why);
}

}  // namespace gleaner::link
