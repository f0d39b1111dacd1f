// Frames over one stream, in both directions. What is sent while a write is under way leaves together with
// the next. Private to this module.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "server/link/frame.h"
#include "server/link/stream.h"

namespace gleaner::link {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // Both on the strand. `ended`: once, and nothing after it.
  using Received = std::function<void(const Frame&)>;
  using Ended = std::function<void(const std::string& why)>;

  // `strand`: the socket's executor.
  Connection(boost::asio::any_io_executor strand, std::unique_ptr<Stream> stream);
  // Shakes hands, then calls `ready`, then reads.
  void start(Stream::Side side, std::function<void()> ready, Received received, Ended ended);
  // From any thread. A peer that does not read what it asked for is cut off.
  void send(std::uint64_t id, Kind kind, std::string_view body);
  void close(const std::string& why);
  [[nodiscard]] const boost::asio::any_io_executor& strand() const { return strand_; }

 private:
  void read();
  void write();
  void end(const std::string& why);

  const boost::asio::any_io_executor strand_;
  // On the strand:
  const std::unique_ptr<Stream> stream_;
  FrameReader reader_;
  Received received_;
  Ended ended_;
  Bytes sending_;
  std::mutex mutex_;  // guards what follows
  Bytes waiting_;
  bool writing_ = false, open_ = true;
};

}  // namespace gleaner::link
