#include "server/http/events.h"

#include "server/http/responses.h"
#include "shared/base/limits.h"
#include "shared/base/thread_name.h"

namespace gleaner::http {
namespace {

constexpr auto period = std::chrono::seconds{1};

}  // namespace

Events::Events(service::Views& views)
    : views_(views),
      feed_(std::make_shared<Feed>(limits::followers_max, limits::followers_of_one_max)),
      thread_([this] { run(); }) {}

Events::~Events() {
  stop();
}

void Events::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Response Events::response(const std::string& who) {
  if (feed_->full(who))
    return error_response({ErrorKind::unavailable, "too many pages watch this server: close other pages"});
  {
    const std::lock_guard lock(mutex_);
    asked_ = true;
  }
  wake_.notify_all();
  Response response;
  response.headers["Content-Type"] = "text/event-stream";
  response.headers["Cache-Control"] = "no-store";
  response.headers["X-Accel-Buffering"] = "no";  // nginx: pass on what comes
  response.feed = feed_;
  response.follower = who;
  return response;
}

void Events::run() {
  name_this_thread("events");
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    wake_.wait(lock, [this] { return stopped_ || asked_; });
    asked_ = false;
    while (!stopped_) {
      lock.unlock();
      look();
      lock.lock();
      wake_.wait_for(lock, period, [this] { return stopped_; });
      if (!asked_ && feed_->followers() == 0) break;
      asked_ = false;
    }
  }
}

void Events::look() {
  views_.live([feed = feed_](const Result<protocol::LiveView>& view) {
    if (!view.ok()) return;  // the next one will do
    feed->publish(
        std::make_shared<const std::string>("retry: 1000\ndata: " + protocol::encode(*view) + "\n\n"));
  });
}

}  // namespace gleaner::http
