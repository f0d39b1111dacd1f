// Random rows and their comparison, from one list of fields a row. Structured bindings make sure that no
// field is forgotten: a new one does not compile until it is listed.
#pragma once

#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "server/storage/store.h"
#include "server/storage/stored_enums.h"
#include "shared/base/limits.h"
#include "shared/base/random.h"

namespace gleaner::storage::testing {

// ---- The fields of every stored struct

template <typename Visitor>
void fields(Visitor& visit, Range& value) {
  auto& [begin, end] = value;
  visit(begin, end);
}

template <typename Visitor>
void fields(Visitor& visit, protocol::Input& value) {
  auto& [name, digest, bytes, range] = value;
  visit(name, digest, bytes, range);
}

template <typename Visitor>
void fields(Visitor& visit, protocol::SignedStatement& value) {
  auto& [type, payload, key, signature, proof, context] = value;  // what is stored is signed by itself
  visit(type, payload, key, signature);
  CHECK((!proof && !context));
}

template <typename Visitor>
void fields(Visitor& visit, protocol::ResultFile& value) {
  auto& [name, digest, bytes, media_type] = value;
  visit(name, digest, bytes, media_type);
}

template <typename Visitor>
void fields(Visitor& visit, policy::HostHealth& value) {
  auto& [in_row, failures, blocked_until, reason] = value;
  visit(in_row, failures, blocked_until, reason);
}

template <typename Visitor>
void fields(Visitor& visit, policy::Unit& value) {
  auto& [id, group, host, slot, kind, state, range, committed, finished, run_state, pause_reason, rate,
         item_seconds, running_seconds, issued, last_contact, deadline, closed, cut_unheard, reason,
         handed_end, begun_share, begun_by] = value;
  visit(id, group, host, slot, kind, state, range, committed, finished, run_state, pause_reason, rate,
        item_seconds, running_seconds, issued, last_contact, deadline, closed, cut_unheard, reason,
        handed_end, begun_share, begun_by);
}

template <typename Visitor>
void fields(Visitor& visit, policy::WorkTimes& value) {
  auto& [units, weighted_items, weighted_seconds, weighted_elapsed, pieces, items, seconds, squares] = value;
  visit(units, weighted_items, weighted_seconds, weighted_elapsed, pieces, items, seconds, squares);
}

template <typename Visitor>
void fields(Visitor& visit, policy::StageMemory& value) {
  auto& [units, base, left] = value;
  visit(units, base, left);
}

template <typename Visitor>
void fields(Visitor& visit, policy::HostRecord& value) {
  auto& [host, performance, queue_unloaded, queue_current, proposed, slots, rate, measured, interruptions,
         on_seconds, used, current_size, requests, returned, omitted, last_contact, units, items, cost,
         wasted, busy, cuts, copies, times, memory] = value;
  visit(host, performance, queue_unloaded, queue_current, proposed, slots, rate, measured, interruptions,
        on_seconds, used, current_size, requests, returned, omitted, last_contact, units, items, cost, wasted,
        busy, cuts, copies, times, memory);
}

template <typename Visitor>
void fields(Visitor& visit, policy::Decision& value) {
  auto& [at, host, unit, kind, range, reason] = value;
  visit(at, host, unit, kind, range, reason);
}

template <typename Visitor>
void fields(Visitor& visit, HostRow& value) {
  auto& [id, name, public_key, machine, token, platform, cores, memory, version, mflops, benchmark_at, speeds,
         state, state_reason, health, enrolled_at, last_contact, items, cost, disagreements, own, code, tags,
         network, on_hold, relay, proved_at, failed_at, children, tls_key] = value;
  auto& [together, memory_rate, download, upload] = speeds;
  visit(id, name, public_key, machine, token, platform, cores, memory, version, mflops, benchmark_at,
        together, memory_rate, download, upload, state, state_reason, health, enrolled_at, last_contact,
        items, cost, disagreements, own, code, tags, network, on_hold, relay, proved_at, failed_at, children,
        tls_key);
}

template <typename Visitor>
void fields(Visitor& visit, TokenRow& value) {
  auto& [name, digest, role, made_at, expires_at, withdrawn_at, made_by] = value;
  visit(name, digest, role, made_at, expires_at, withdrawn_at, made_by);
}

template <typename Visitor>
void fields(Visitor& visit, CodeRow& value) {
  auto& [name, digest, hosts_max, own, tags, made_at, expires_at, withdrawn_at, children, made_by] = value;
  visit(name, digest, hosts_max, own, tags, made_at, expires_at, withdrawn_at, children, made_by);
}

template <typename Visitor>
void fields(Visitor& visit, ApplicationRow& value) {
  auto& [id, name, version, archive, bytes, title, platforms, statement, signer, added_at] = value;
  visit(id, name, version, archive, bytes, title, platforms, statement, signer, added_at);
}

template <typename Visitor>
void fields(Visitor& visit, ProblemRow& value) {
  auto& [id, name, application, parameters, inputs, state, resume_to, message, strategy, straggler, weight,
         priority, service, commit_seconds, stage, created_at, started_at, finished_at, validation] = value;
  visit(id, name, application, parameters, inputs, state, resume_to, message, strategy, straggler, weight,
        priority, service, commit_seconds, stage, created_at, started_at, finished_at, validation);
}

template <typename Visitor>
void fields(Visitor& visit, StageRow& value) {
  auto& [problem, stage, name, items, inputs, costs, set_aside, enough, started_at, finished_at, units,
         splits, recovered, copies, disputes, wasted, ahead, before] = value;
  visit(problem, stage, name, items, inputs, costs, set_aside, enough, started_at, finished_at, units, splits,
        recovered, copies, disputes, wasted, ahead, before);
}

template <typename Visitor>
void fields(Visitor& visit, SegmentRow& value) {
  auto& [id, problem, stage, unit, host, range, digest, bytes, received_at, seconds, place, items] = value;
  visit(id, problem, stage, unit, host, range, digest, bytes, received_at, seconds, place, items);
}

template <typename Visitor>
void fields(Visitor& visit, AcceptedRow& value) {
  auto& [range, segment] = value;
  visit(range, segment);
}

template <typename Visitor>
void fields(Visitor& visit, VerdictRow& value) {
  auto& [problem, stage, range, first, second, agree, wrong_host, note, at] = value;
  visit(problem, stage, range, first, second, agree, wrong_host, note, at);
}

template <typename Visitor>
void fields(Visitor& visit, FailureRow& value) {
  auto& [unit, host, problem, stage, kind, item, message, at, application] = value;
  visit(unit, host, problem, stage, kind, item, message, at, application);
}

template <typename Visitor>
void fields(Visitor& visit, AcknowledgementRow& value) {
  auto& [unit, host, range, digest, items, at] = value;
  visit(unit, host, range, digest, items, at);
}

template <typename Visitor>
void fields(Visitor& visit, LeaseRow& value) {
  auto& [unit, problem, stage, range, handed_end, deadline, open, chain] = value;
  visit(unit, problem, stage, range, handed_end, deadline, open, chain);
}

template <typename Visitor>
void fields(Visitor& visit, DeliveryRow& value) {
  auto& [unit, host, range, digest, via, segment, problem, stage, lease, bytes, in_store, seconds, statement,
         answer, at] = value;
  visit(unit, host, range, digest, via, segment, problem, stage, lease, bytes, in_store, seconds, statement,
        answer, at);
}

template <typename Visitor>
void fields(Visitor& visit, DecisionRow& value) {
  auto& [problem, stage, decision] = value;
  visit(problem, stage, decision);
}

template <typename Visitor>
void fields(Visitor& visit, Store::UnitPlace& value) {
  auto& [problem, stage, unit] = value;
  visit(problem, stage, unit);
}

// ---- Random values: mostly ordinary, now and then at the edge of the type

class Fill {
 public:
  explicit Fill(Random& random) : random_(random) {}
  template <typename... Values>
  void operator()(Values&... values) {
    (fill(values), ...);
  }

  void fill(bool& value) { value = random_.chance(0.5); }
  template <std::integral T>
  void fill(T& value) {
    const auto kind = random_.below(8);
    value = kind == 0   ? std::numeric_limits<T>::min()
            : kind == 1 ? std::numeric_limits<T>::max()
                        : static_cast<T>(random_.next() >> random_.below(64));
  }
  void fill(double& value) {
    constexpr double edges[] = {0.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1, -1e-9, 1.0 / 3};
    value = random_.chance(0.3) ? edges[random_.below(std::size(edges))] : random_.normal(0, 1e6);
  }
  void fill(std::string& value) {
    // Valid UTF-8, with what quoting or termination could spoil.
    constexpr const char* pieces[] = {"a", "Z", "0", "'", "\"", "\\", "\n", "ü", "計", " ", "%", ";"};
    value.clear();
    const auto length = random_.below(random_.chance(0.05) ? 5000 : 40);
    for (std::uint64_t i = 0; i < length; ++i) {
      if (random_.chance(0.02))
        value.push_back('\0');
      else
        value += pieces[random_.below(std::size(pieces))];
    }
    if (random_.chance(0.2)) {
      value.clear();
      for (int i = 0; i < 64; ++i) value.push_back("0123456789abcdef"[random_.below(16)]);
    }
  }
  void fill(Range& range) {
    range.begin = random_.between(0, limits::items_max >> random_.below(50));
    range.end = random_.between(range.begin, limits::items_max);
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void fill(Enum& value) { value = static_cast<Enum>(random_.between(1, last_number<Enum>)); }
  template <typename Tag>
  void fill(StrongId<Tag>& id) {
    id.value = random_.between(0, std::int64_t{1} << 60);
  }
  void fill(Timestamp& time) { time = from_microseconds(random_.between(0, 4'000'000'000'000'000)); }
  template <typename T>
  void fill(std::optional<T>& value) {
    value.reset();
    if (random_.chance(0.5)) fill(value.emplace());
  }
  template <typename T>
  void fill(std::vector<T>& value) {
    value.resize(random_.below(5));
    for (T& element : value) fill(element);
  }
  template <typename Struct>
  requires std::is_class_v<Struct>
  void fill(Struct& value) { fields(*this, value); }

 private:
  Random& random_;
};

template <typename Row>
Row random_row(Random& random) {
  Row row;
  Fill(random).fill(row);
  return row;
}

// ---- A row as text: equal texts are equal rows, and a failing test shows them

class Show {
 public:
  std::string text;
  template <typename... Values>
  void operator()(Values&... values) {
    (show(values), ...);
  }

  template <std::integral T>
  void show(T value) {
    text += std::to_string(value) + ' ';
  }
  void show(double value) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%a ", value + 0.0);  // SQLite does not tell -0 from 0
    text += digits;
  }
  void show(std::string& value) { text += std::to_string(value.size()) + ':' + value + ' '; }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void show(Enum value) { show(static_cast<int>(value)); }
  template <typename Tag>
  void show(StrongId<Tag> id) {
    show(id.value);
  }
  void show(Timestamp time) { show(to_microseconds(time)); }
  template <typename T>
  void show(std::optional<T>& value) {
    show(value.has_value());
    if (value) show(*value);
  }
  template <typename T>
  void show(std::vector<T>& value) {
    show(value.size());
    for (T& element : value) show(element);
  }
  template <typename Struct>
  requires std::is_class_v<Struct>
  void show(Struct& value) { fields(*this, value); }
};

template <typename Value>
std::string text_of(Value value) {
  Show show;
  show.show(value);
  return show.text;
}

}  // namespace gleaner::storage::testing
