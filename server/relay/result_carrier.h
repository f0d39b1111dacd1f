// Takes large results to the parent before the message that names them, one after the other, on a thread of
// its own: nothing else that is to be said waits for them. A part of one that is there already is not sent
// again (shared/transport/upload.h). Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "server/relay/parent_calls.h"
#include "shared/transport/piece_size.h"

namespace gleaner::relay {

class ResultCarrier {
 public:
  // `parent` must outlive it. `arrived` is called when one has come there, on the carrier's thread.
  ResultCarrier(ParentCalls& parent, std::function<void()> arrived)
      : parent_(parent), tell_arrived_(std::move(arrived)) {}
  ~ResultCarrier();  // stop()
  void start();
  // A call that is under way is waited for.
  void stop();

  enum class Place { here, under_way, above };
  [[nodiscard]] Place place(const std::string& digest) const;
  // It is under way from now on; if it cannot be brought, it is here again. `read` is called by the thread.
  void bring(const std::string& digest, std::function<Result<Bytes>()> read);
  // A message names it, which is above: what becomes of it there is no business of this object.
  void named(const std::string& digest);
  // Whether one has come there since the last call.
  [[nodiscard]] bool arrived() { return arrived_.exchange(false); }

 private:
  struct Load {
    std::string digest;
    std::function<Result<Bytes>()> read;
  };
  void run();
  [[nodiscard]] Status carry(const Load& load);

  ParentCalls& parent_;
  const std::function<void()> tell_arrived_;
  std::unique_ptr<io::HttpClient> http_;
  std::atomic<bool> stopping_ = false, arrived_ = false;
  mutable std::mutex mutex_;  // guards what follows; never held during a call
  std::condition_variable wake_;
  std::deque<Load> loads_;
  std::map<std::string, Place> places_;                    // of those that are not here
  transport::PieceSize pieces_{transport::upload_pieces};  // the thread's
  std::thread thread_;
};

}  // namespace gleaner::relay
