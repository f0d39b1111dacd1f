// One node of a tree: the server, or a relay. Its stage decides for its hosts or for the relays under it; a
// relay's policy::Relay speaks for all of them with the node above. Nodes touch nothing of each other: what
// they say is fetched and brought by the loop (world.cpp), so that each may run on a thread of its own.
// Internal.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "client/policy/prefetch.h"
#include "server/policy/relay/relay.h"
#include "server/policy/relay/serve.h"
#include "server/policy/relay/service_order.h"
#include "shared/base/random.h"
#include "shared/planning/serving.h"
#include "tools/simulator/relays/children.h"
#include "tools/simulator/relays/world.h"

namespace gleaner::simulator {

// What all nodes know. Costs are true ones and what stages are told.
struct WorldWork {
  policy::Costs costs, hints;
};

struct ToParent {
  double at = 0;
  std::size_t child = 0;  // which of its parent's relays says it
  std::int64_t number = 0;
  policy::RelayMessage message;
};

struct ToRelay {
  double at = 0;
  std::size_t child = 0;
  std::int64_t number = 0;  // of the message that it answers
  policy::RelayReply reply;
};

// A result that is on its way over its host's link.
struct Upload {
  double at = 0;
  std::size_t child = 0;
  std::int64_t number = 0;
  UnitId unit;
  Range segment;
  bool last = false;
};

// The id of a node's child, a host or a relay, in its stage.
[[nodiscard]] inline HostId host_of(std::size_t child) {
  return {static_cast<std::int64_t>(child) + 1};
}

[[nodiscard]] inline std::size_t child_of(HostId host) {
  return static_cast<std::size_t>(host.value - 1);
}

// So many may wait at a relay, as at a live one (server/service/work/waiting_requests.h).
inline constexpr std::size_t waiting_most = 4096;

// Letters in a heap: the first in time in front; of those of a time, by who says it.
template <typename Letter>
[[nodiscard]] bool comes_later(const Letter& a, const Letter& b) {
  return std::tie(a.at, a.child, a.number) > std::tie(b.at, b.child, b.number);
}

class RelayNode {
 public:
  struct Place {
    std::size_t level = 0;
    std::size_t child = 0;   // which of its parent's relays it is
    std::size_t relays = 0;  // under it
    std::size_t first_host = 0, end_host = 0;
    double performance = 0;  // benchmarks of all slots below
    std::uint64_t seed = 1;
  };
  // All must outlive it.
  RelayNode(const RelayWorld& world, const WorldWork& work, const Place& place);

  [[nodiscard]] double next() const;  // when something is due
  void run_until(double end);         // all before that
  void hear(ToParent letter);
  void hear(ToRelay letter);
  std::vector<ToParent> up;  // said since the loop last looked
  std::vector<ToRelay> down;

  [[nodiscard]] bool over() const { return over_at_ < Agenda::never; }
  [[nodiscard]] double over_at() const { return over_at_; }
  [[nodiscard]] const policy::Stage& stage() const { return stage_.view(); }
  [[nodiscard]] const RelayLevel& counts() const { return counts_; }
  [[nodiscard]] std::int64_t events() const { return events_; }
  [[nodiscard]] double t95() const { return t95_; }
  [[nodiscard]] bool gone() const { return gone_; }
  [[nodiscard]] std::int64_t cuts() const { return cuts_; }
  [[nodiscard]] double work_done(double now) { return children_.work_done(now); }
  void finish(double now);  // sums, and the last check

 private:
  // Something that comes and goes: its link is gone, it is off.
  struct Spell {
    double gap = 0, length = 0;
    double from = Agenda::never, until = Agenda::never;
  };
  [[nodiscard]] Timestamp stamp() const { return start_ + from_seconds(now_); }
  [[nodiscard]] double seconds_of(Timestamp time) const;
  [[nodiscard]] double first_contact();
  void host_due(std::size_t id);
  [[nodiscard]] double host_next(std::size_t id);
  void exchange(std::size_t id);
  void commit_finished(HostId host, Child& child, ChildSlot& slot, bool everything);
  void commit(HostId host, ChildSlot& slot, std::int64_t end, bool last);
  void arrive(const Upload& upload);
  void report_units(HostId host, Child& child, ChildSlot& slot);
  void report(HostId host, Child& child, ChildSlot& slot, const ChildUnit& unit, bool first);
  void ask(HostId host, Child& child);
  [[nodiscard]] bool give_unit(HostId host, Child& child, std::size_t slot, double answer_after,
                               double& wait);
  void rest(Child& child, double wait, bool got, double answer_after);
  [[nodiscard]] client_policy::PrefetchView ahead_of(double left) const;
  [[nodiscard]] double bytes_of(const policy::RelayMessage& message) const;
  void serve(ToParent& letter);
  [[nodiscard]] policy::RelayServed serve_stage(const ToParent& letter);
  void answer(const ToParent& letter, policy::RelayReply reply, double bytes);
  void answered(const ToRelay& letter);
  void speak();
  // ---- Those that wait (node_waiting.cpp)
  struct Waiting {
    std::uint64_t number = 0;  // lower is older
    double until = 0;
    double wait = 0;   // what it is told if nothing comes
    ToParent letter;   // of a relay: its request, and
    double bytes = 0;  // what it is answered without a grant
    policy::RelayReply reply;
  };
  class Serving;
  void keep_waiting(std::size_t child, Waiting waiting);
  void note_given(std::size_t child);
  void serve_waiting();
  void count_message();
  void took(const std::vector<Range>& accepted);
  void check();
  [[nodiscard]] bool in(Spell& spell);
  void begin(Spell& spell, double gap, double length);

  const RelayWorld& world_;
  const WorldWork& work_;
  const Place place_;
  policy::RecordedStage stage_;  // without a log
  std::optional<policy::Relay> relay_;
  Children children_;
  Agenda agenda_;
  Random random_;
  Timestamp start_{std::chrono::hours{24 * 365 * 56}};
  double now_ = 0;
  double over_at_ = Agenda::never;
  std::int64_t next_unit_ = 1;
  policy::Changes changes_;
  double ticks_at_ = 0;

  struct HostLink {  // when it is free again
    double down = 0, up = 0;
  };
  std::vector<HostLink> links_;  // of all children, or none has a link
  double inputs_free_ = 0;       // when this relay's own link is, for what its hosts need
  std::vector<Upload> uploads_;  // a heap, the first in front
  std::int64_t uploaded_ = 0;
  std::map<std::size_t, Waiting> waiting_;  // by child
  std::unique_ptr<planning::ServingRule> serving_;
  std::vector<policy::FromHere> from_here_;  // of a relay's children
  std::uint64_t waited_ = 0;
  double serves_at_ = Agenda::never;

  std::vector<ToParent> from_below_;  // heaps, the first in front
  std::vector<ToRelay> from_above_;
  std::vector<std::vector<UnitId>> held_;  // a relay below
  std::vector<double> down_free_;          // a relay below: when its link is free again
  std::int64_t said_ = 0;
  double gives_up_at_ = Agenda::never, up_free_ = 0, speaks_at_ = 0;
  Spell cut_, off_;
  double vanish_at_ = Agenda::never;
  bool gone_ = false;
  std::int64_t cuts_ = 0;

  RelayLevel counts_;
  std::int64_t events_ = 0, received_ = 0;
  std::int64_t this_second_ = 0, in_this_second_ = 0;
  double accepted_work_ = 0, t95_ = 0;
};

}  // namespace gleaner::simulator
