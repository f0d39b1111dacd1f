// Shows notices as desktop notifications (org.freedesktop.Notifications, Desktop Notifications Specification
// 1.2) on the session's bus, on a connection that lasts as long as there is one to show. Nothing is waited
// for: who shows none in time shows none. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/agent/report/notice.h"
#include "shared/base/clock.h"
#include "shared/io/waiting.h"

namespace gleaner::agent {

class Notifier {
 public:
  explicit Notifier(std::string bus);  // its address; empty: there is none, and nothing is shown
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  [[nodiscard]] bool available() const { return !address_.empty(); }
  void show(Notice notice, SteadyTime now);
  // What became of those that are done with.
  [[nodiscard]] std::vector<NoticeAnswer> serve(SteadyTime now);
  [[nodiscard]] io::Waitable waitable() const;  // ready: serve() has something to take in
  [[nodiscard]] SteadyTime wait_until() const;

  static constexpr Duration patience = std::chrono::seconds{10};
  static constexpr std::size_t waiting_max = 4;  // more are refused

 private:
  struct Connection;
  [[nodiscard]] std::string begin(const Notice& notice);  // why it cannot; empty: it is under way

  std::string address_;
  std::unique_ptr<Connection> connection_;
  std::vector<Notice> waiting_;  // the first is under way
  std::vector<NoticeAnswer> done_;
  SteadyTime begun_{};
};

}  // namespace gleaner::agent
