#include "client/agent/notifier.h"

#include <systemd/sd-bus.h>

#include <algorithm>
#include <utility>

namespace gleaner::agent {
namespace {

// Bodies may have markup, so what would be markup is written as characters.
std::string without_markup(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    if (c == '&')
      plain += "&amp;";
    else if (c == '<')
      plain += "&lt;";
    else if (c == '>')
      plain += "&gt;";
    else
      plain += c;
  }
  return plain;
}

}  // namespace

struct Notifier::Connection {
  sd_bus* bus = nullptr;
  std::optional<std::string> outcome;  // empty: shown; else why not
  ~Connection() { sd_bus_close_unref(bus); }

  static int answered(sd_bus_message* reply, void* data, sd_bus_error*) {
    auto& self = *static_cast<Connection*>(data);
    const bool failed = sd_bus_message_is_method_error(reply, nullptr) != 0;
    self.outcome = failed ? "no program shows notifications in this session" : "";
    return 0;
  }
};

Notifier::Notifier(std::string bus) : address_(std::move(bus)) {}
Notifier::~Notifier() = default;

void Notifier::show(Notice notice, SteadyTime now) {
  if (waiting_.size() >= waiting_max) {
    done_.push_back({notice.number, false, "too many notices wait"});
    return;
  }
  waiting_.push_back(std::move(notice));
  if (waiting_.size() == 1) begun_ = now;
}

std::string Notifier::begin(const Notice& notice) {
  if (address_.empty()) return "this session has no D-Bus";
  connection_ = std::make_unique<Connection>();
  sd_bus_message* call = nullptr;
  sd_bus*& bus = connection_->bus;
  const bool sent = sd_bus_new(&bus) >= 0 && sd_bus_set_address(bus, address_.c_str()) >= 0 &&
                    sd_bus_set_bus_client(bus, 1) >= 0 && sd_bus_start(bus) >= 0 &&
                    sd_bus_message_new_method_call(bus, &call, "org.freedesktop.Notifications",
                                                   "/org/freedesktop/Notifications",
                                                   "org.freedesktop.Notifications", "Notify") >= 0 &&
                    sd_bus_message_append(call, "susssasa{sv}i", "Gleaner", 0U, "", notice.title.c_str(),
                                          without_markup(notice.text).c_str(), 0, 0, -1) >= 0 &&
                    sd_bus_call_async(bus, nullptr, call, Connection::answered, connection_.get(), 0) >= 0;
  sd_bus_message_unref(call);
  return sent ? "" : "the session's D-Bus cannot be reached";
}

std::vector<NoticeAnswer> Notifier::serve(SteadyTime now) {
  while (!waiting_.empty()) {
    std::optional<std::string> outcome;
    if (!connection_) {
      begun_ = now;
      if (std::string why = begin(waiting_.front()); !why.empty()) outcome = std::move(why);
    }
    int more = 1;
    while (!outcome && more > 0) {
      more = sd_bus_process(connection_->bus, nullptr);
      outcome = connection_->outcome;
    }
    if (!outcome && more < 0) outcome = "the session's D-Bus is gone";
    if (!outcome && now - begun_ >= patience) outcome = "no program showed it in time";
    if (!outcome) break;
    done_.push_back({waiting_.front().number, outcome->empty(), *outcome});
    waiting_.erase(waiting_.begin());
    connection_.reset();
  }
  return std::exchange(done_, {});
}

io::Waitable Notifier::waitable() const {
  return connection_ ? io::Waitable(sd_bus_get_fd(connection_->bus)) : io::Waitable();
}

SteadyTime Notifier::wait_until() const {
  if (!done_.empty()) return SteadyTime{};
  return waiting_.empty() ? SteadyTime::max() : begun_ + patience;
}

}  // namespace gleaner::agent
