// The live view as server-sent events (text/event-stream of the HTML standard): once a second, while somebody
// follows, the snapshot is made into text once and goes to all of them. Its own thread; thread-safe.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "server/http/server.h"
#include "server/service/operator/views.h"

namespace gleaner::http {

class Events {
 public:
  explicit Events(service::Views& views);
  ~Events();  // stop()
  void stop();
  // The answer to the administrator who wants to follow. 503: too many do, or he does it too often.
  [[nodiscard]] Response response(const std::string& who);

 private:
  void run();
  void look();

  service::Views& views_;
  // What a look that is under way needs of this when it is answered.
  const std::shared_ptr<Feed> feed_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  bool asked_ = false;  // somebody new waits for the first event
  std::thread thread_;
};

}  // namespace gleaner::http
