#include "server/link/operations.h"

#include <algorithm>
#include <utility>

namespace gleaner::link {
namespace {

constexpr int sent_max = 2;

}  // namespace

void Operations::add_sent(std::uint64_t id, Kind kind, std::string_view body, Answer answer, Repeat repeat) {
  if (kept_bytes_ + body.size() > kept_bytes_max) repeat = Repeat::no;
  Operation operation{kind, std::move(answer), {}, repeat, true, false, 1};
  if (repeat == Repeat::yes) operation.body = body;
  kept_bytes_ += operation.body.size();
  operations_.emplace(id, std::move(operation));
}

bool Operations::hold(std::uint64_t id, Kind kind, std::string_view body, const Answer& answer,
                      Repeat repeat) {
  if (held_ >= held_max || kept_bytes_ + body.size() > kept_bytes_max) return false;
  operations_.emplace(id, Operation{kind, answer, Bytes(body), repeat, false, false, 0});
  kept_bytes_ += body.size();
  ++held_;
  return true;
}

Operations::Answer Operations::find(const Frame& frame) {
  const auto found = operations_.find(frame.id);
  if (found == operations_.end()) return {};
  if (frame.kind == Kind::piece) {
    found->second.streams = true;
    found->second.repeat = Repeat::no;
    return found->second.answer;
  }
  Answer answer = std::move(found->second.answer);
  erase(found);
  return answer;
}

bool Operations::remove(std::uint64_t id) {
  const auto found = operations_.find(id);
  if (found == operations_.end()) return false;
  erase(found);
  return true;
}

void Operations::send_held(const std::function<void(std::uint64_t, Kind, std::string_view)>& send) {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, operation] : operations_)
    if (!operation.sent) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const std::uint64_t id : ids) {
    Operation& operation = operations_.at(id);
    send(id, operation.kind, operation.body);
    operation.sent = true;
    ++operation.times;
    if (operation.repeat == Repeat::yes) continue;
    kept_bytes_ -= operation.body.size();
    operation.body = {};
  }
  held_ = 0;
}

std::vector<Operations::Answer> Operations::broken() {
  auto lost = take_if([](const Operation& operation) {
    return operation.sent && (operation.repeat == Repeat::no || operation.times >= sent_max);
  });
  for (auto& [id, operation] : operations_) operation.sent = false;
  held_ = operations_.size();
  return lost;
}

std::vector<Operations::Answer> Operations::take_streams() {
  return take_if([](const Operation& operation) { return operation.streams; });
}

std::vector<Operations::Answer> Operations::take_held() {
  return take_if([](const Operation& operation) { return !operation.sent; });
}

Operations::Table::iterator Operations::erase(Table::iterator at) {
  kept_bytes_ -= at->second.body.size();
  held_ -= at->second.sent ? 0 : 1;
  return operations_.erase(at);
}

template <typename Predicate>
std::vector<Operations::Answer> Operations::take_if(Predicate predicate) {
  std::vector<Answer> taken;
  for (auto at = operations_.begin(); at != operations_.end();) {
    if (!predicate(at->second)) {
      ++at;
      continue;
    }
    taken.push_back(std::move(at->second.answer));
    at = erase(at);
  }
  return taken;
}

}  // namespace gleaner::link
