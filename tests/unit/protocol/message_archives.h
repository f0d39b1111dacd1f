// Archives for the messages' field lists: one fills a message with seeded random contents within its bounds,
// one puts a single field out of its bounds, one counts. Equality of messages comes from their members, not
// from the field lists, so that a forgotten field is found.
#pragma once

#include <algorithm>
#include <boost/pfr.hpp>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "shared/base/random.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/fields_access.h"
#include "shared/protocol/fields_admin.h"
#include "shared/protocol/fields_console.h"
#include "shared/protocol/fields_relay.h"
#include "shared/protocol/fields_work.h"
#include "shared/protocol/json_reader.h"

namespace gleaner::protocol::codec {

// tests/lint/check_messages.py finds what is forgotten here.
using AllMessages = std::tuple<
    SignedStatement, KeyCertificate, RevokedKey, RevokedTlsKey, RevokedArchive, MinimumVersion,
    RevocationList, ProjectDocument, ApplicationStatement, Input, BegunItem, GrantContext, Grant,
    Acknowledgement, Benchmark, HostSpeeds, RelayRequest, EnrolRequest, EnrolReply, GivenUnit, CommitRequest,
    UnitReport, SavedItem, Instance, Readings, UnitOutput, HeartbeatRequest, UnitOrder, HeartbeatReply,
    Proposal, SlotRequest, WorkRequest, ProblemProgress, WorkReply, FailureReport, BlobAddress, PartAddress,
    PutAddresses, PutRequest, UploadState, ProblemDocument, ParameterInfo, InputInfo, ApplicationInfo,
    AddApplication, AddProblem, ProblemEstimate, ResultFile, Preview, HostShare, SetAside, FailingHost,
    ErrorGroup, KernelOutput, ProblemInfo, HostInfo, HoldHost, TagHost, UnitInfo, CodeInfo, AddCode, MadeCode,
    WithdrawCode, RevokeHost, ServerStatus, ChangeStrategy, AppendInputs, ChangeApplication, StrategyInfo,
    DecisionInfo, TokenInfo, AddToken, MadeToken, WithdrawToken, Ban, AddBan, RemoveBan, Act, ChainPlace,
    RefusalCount, AuditPage, ConsoleLink, OpenSession, SessionInfo, OverviewSample, DayInfo, ProblemSample,
    LiveView, ItemMap, HostPage, TableRow, TablePage, FlowLink, FlowStep, FlowInfo, UnsuitedHosts,
    ProblemHosts, SettingInfo, RelayCertificate, Enrolment, EnrolmentNonce, RelayHostReply, RelayHostLeft,
    AddRelay, RelayQuota, RelayInfo, RelayLimit, RelayStatus, RelayGrant, LeaseChain, Delivery, HeldResult,
    RelayProgress, StageNews, ItemBytes, MeasuredHost, RelayOffer, StageDescription, Failure>;

template <typename T>
inline constexpr bool is_message =
    std::is_aggregate_v<T> && !is_id<T> && !std::is_same_v<T, Timestamp> && !std::is_same_v<T, Range>;

// ---- Equality ---------------------------------------------------------------------------------------------

template <typename T>
bool same(const T& a, const T& b) {
  if constexpr (is_optional<T>) {
    return a.has_value() == b.has_value() && (!a || same(*a, *b));
  } else if constexpr (is_list<T>) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!same(a[i], b[i])) return false;
    return true;
  } else if constexpr (is_message<T>) {
    bool all = true;
    boost::pfr::for_each_field(a, [&](const auto& member, auto index) {
      all = all && same(member, boost::pfr::get<decltype(index)::value>(b));
    });
    return all;
  } else {
    return a == b;
  }
}

// ---- Random contents --------------------------------------------------------------------------------------

class RandomFiller {
 public:
  static constexpr bool writes = false;
  // `size`: at most that many elements a list, and about ten times as many characters a text.
  RandomFiller(Random& random, std::size_t size) : random_(random), size_(size) {}

  template <typename T, typename Kind = Plain>
  void operator()(const char*, T& value, const Kind& kind = {}, const char* /*meaning*/ = nullptr) {
    fill(value, kind);
  }
  template <typename T, typename Kind = Plain>
  void defaulted(const char*, T& value, const Kind& kind = {}, const char* /*meaning*/ = nullptr) {
    fill(value, kind);
  }
  void require(bool, const char*) {}

 private:
  template <typename T, typename Kind>
  void fill(T& value, const Kind& kind) {
    if constexpr (is_optional<T>) {
      value.reset();
      if (random_.chance(0.5)) fill(value.emplace(), kind);
    } else if constexpr (is_list<T>) {
      value.clear();
      for (std::uint64_t n = random_.below(std::min(size_, kind.count_max) + 1); n > 0; --n)
        fill(value.emplace_back(), kind.each);
    } else if constexpr (is_id<T>) {
      fill(value.value, Whole{});
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(1 + random_.below(static_cast<std::uint64_t>(count_of<T>)));
    } else if constexpr (std::is_same_v<T, Range>) {
      value.begin = random_.between(0, limits::items_max);
      value.end = random_.between(value.begin, limits::items_max);
    } else if constexpr (is_message<T>) {
      visit(*this, value);
      if constexpr (std::is_same_v<T, WorkReply>) value.grant_slots.resize(value.grants.size());
    } else {
      fill_leaf(value, kind);
    }
  }

  void fill_leaf(bool& value, Plain) { value = random_.chance(0.5); }
  void fill_leaf(Timestamp& value, Plain) {
    value = from_microseconds(random_.between(0, 253'402'300'799'999'999));
  }
  void fill_leaf(std::int64_t& value, const Whole& kind) { value = random_.between(kind.low, kind.high); }
  void fill_leaf(int& value, const Whole& kind) {
    value = static_cast<int>(
        random_.between(kind.low, std::min<std::int64_t>(kind.high, std::numeric_limits<int>::max())));
  }
  void fill_leaf(double& value, const Number& kind) {
    value = random_.chance(0.3) ? kind.low : std::min(kind.high, random_.exponential(1e6));
  }
  void fill_leaf(std::string& value, const Text& kind) { value = text(kind.bytes_max, ""); }
  void fill_leaf(std::string& value, Prose) { value = text(limits::message_length_max, "\n\t"); }
  void fill_leaf(std::string& value, const Document& kind) {
    value = text(kind.bytes_max, std::string("\n\t\0\x1b", 4));
  }
  void fill_leaf(std::string& value, Digest) { value = to_hex(bytes(32)); }
  void fill_leaf(std::string& value, const Raw& kind) {
    const std::size_t most = std::min(kind.bytes_max, std::max(kind.bytes_min, size_ * 20));
    value = bytes(kind.bytes_min + random_.below(most - kind.bytes_min + 1));
  }

  std::string text(std::size_t bytes_max, const std::string& extra) {
    const std::vector<std::string> pieces = {
        "a", "Z", "9", " ", "\"", "\\", "/", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x8C\xBE", "{", "[", ","};
    std::string made;
    for (std::uint64_t n = random_.below(size_ * 10 + 1); n > 0; --n) {
      const std::uint64_t pick = random_.below(pieces.size() + extra.size());
      const std::string piece =
          pick < pieces.size() ? pieces[pick] : std::string(1, extra[pick - pieces.size()]);
      if (made.size() + piece.size() > bytes_max) break;
      made += piece;
    }
    return made;
  }
  Bytes bytes(std::size_t count) {
    Bytes made;
    for (; count > 0; --count) made += static_cast<char>(random_.below(256));
    return made;
  }

  Random& random_;
  std::size_t size_;
};

template <typename Message>
Message random_message(Random& random, std::size_t size = 3) {
  Message message;
  RandomFiller filler(random, size);
  filler("", message);
  return message;
}

// ---- One field out of bounds ------------------------------------------------------------------------------

// Fills everything with the smallest legal contents (lists with one element), except the fault number
// `target`.
class Spoiler {
 public:
  static constexpr bool writes = false;
  explicit Spoiler(int target) : target_(target) {}

  template <typename T, typename Kind = Plain>
  void operator()(const char* name, T& value, const Kind& kind = {}, const char* /*meaning*/ = nullptr) {
    const bool before = done();
    fill(value, kind);
    if (!before && done() && field_.empty()) field_ = name;  // the innermost one is the first to notice
  }
  template <typename T, typename Kind = Plain>
  void defaulted(const char* name, T& value, const Kind& kind = {}, const char* /*meaning*/ = nullptr) {
    (*this)(name, value, kind);
  }
  void require(bool, const char*) {}
  [[nodiscard]] bool done() const { return next_ > target_; }
  [[nodiscard]] const std::string& field() const { return field_; }
  // If the fault is a number: writers keep it within bounds.
  [[nodiscard]] std::optional<double> bad_number() const { return bad_number_; }

 private:
  bool now() { return next_++ == target_; }

  template <typename T, typename Kind>
  void fill(T& value, const Kind& kind) {
    if constexpr (is_optional<T>) {
      fill(value.emplace(), kind);
    } else if constexpr (is_list<T>) {
      fill(value.emplace_back(), kind.each);
      if (now()) value.resize(kind.count_max + 1, value.front());
    } else if constexpr (is_id<T>) {
      fill(value.value, Whole{});
    } else if constexpr (std::is_enum_v<T>) {
      value = now() ? T{} : static_cast<T>(1);
    } else if constexpr (std::is_same_v<T, Range>) {
      value = {0, 0};
      if (now()) value = {-1, 0};
      if (now()) value = {5, 4};
      if (now()) value = {0, limits::items_max + 1};
    } else if constexpr (is_message<T>) {
      visit(*this, value);
    } else {
      fill_leaf(value, kind);
    }
  }

  void fill_leaf(bool& value, Plain) { value = false; }
  void fill_leaf(Timestamp& value, Plain) {
    value = Timestamp{};
    if (now()) value = from_microseconds(-1);
    if (now()) value = from_microseconds(std::numeric_limits<std::int64_t>::max());
  }
  void fill_leaf(std::int64_t& value, const Whole& kind) {
    value = kind.low;
    if (now()) value = kind.low - 1;
    if (now()) value = kind.high + 1;
  }
  void fill_leaf(int& value, const Whole& kind) {
    value = static_cast<int>(kind.low);
    if (now()) value = static_cast<int>(kind.low - 1);
    if (kind.high < std::numeric_limits<int>::max() && now()) value = static_cast<int>(kind.high + 1);
  }
  void fill_leaf(double& value, const Number& kind) {
    value = kind.low;
    spoil(value, kind.low - std::max(1.0, std::abs(kind.low)));
    spoil(value, kind.high * 2);
    spoil(value, std::numeric_limits<double>::infinity());
    spoil(value, std::numeric_limits<double>::quiet_NaN());
  }
  void spoil(double& value, double bad) {
    if (!now()) return;
    value = bad;
    bad_number_ = bad;
  }
  void fill_leaf(std::string& value, const Text& kind) {
    value = "x";
    if (now()) value = std::string(kind.bytes_max + 1, 'x');
    if (now()) value = "a\nb";
    if (now())
      value =
          "a\xC2\x9B"
          "b";
    if (now()) value = std::string("a\0b", 3);
  }
  void fill_leaf(std::string& value, Prose) { value = "x"; }  // the writer keeps the bound by itself
  void fill_leaf(std::string& value, const Document& kind) {
    value = "{}";
    if (now()) value = std::string(kind.bytes_max + 1, 'x');
  }
  void fill_leaf(std::string& value, Digest) {
    const std::string good(64, 'a');
    value = good;
    if (now()) value = "";
    if (now()) value = good.substr(1);
    if (now()) value = good + "a";
    if (now()) value = "A" + good.substr(1);
  }
  void fill_leaf(std::string& value, const Raw& kind) {
    value = std::string(kind.bytes_min, 'k');
    if (kind.bytes_min > 0 && now()) value = std::string(kind.bytes_min - 1, 'k');
    if (kind.bytes_max < 1'000'000 && now()) value = std::string(kind.bytes_max + 1, 'k');
  }

  int target_;
  int next_ = 0;
  std::string field_;
  std::optional<double> bad_number_;
};

// ---- Members that may be absent ---------------------------------------------------------------------------

// JSON pointers to the members of a message that its field lists let be absent.
class AbsenceFinder {
 public:
  static constexpr bool writes = true;
  template <typename T, typename Kind = Plain>
  void operator()(const char* name, const T& value, const Kind& = {}, const char* /*meaning*/ = nullptr) {
    const std::string here = at_ + "/" + name;
    if constexpr (is_optional<T>) found_.insert(here);
    descend(here, value);
  }
  template <typename T, typename Kind = Plain>
  void defaulted(const char* name, const T& value, const Kind& = {}, const char* /*meaning*/ = nullptr) {
    found_.insert(at_ + "/" + name);
    descend(at_ + "/" + name, value);
  }
  void require(bool, const char*) {}
  [[nodiscard]] const std::set<std::string>& found() const { return found_; }

 private:
  template <typename T>
  void descend(const std::string& here, const T& value) {
    if constexpr (is_optional<T>) {
      if (value) descend(here, *value);
    } else if constexpr (is_list<T>) {
      for (std::size_t i = 0; i < value.size(); ++i) descend(here + "/" + std::to_string(i), value[i]);
    } else if constexpr (is_message<T>) {
      const std::string outside = std::exchange(at_, here);
      visit(*this, value);
      at_ = outside;
    }
  }

  std::string at_;
  std::set<std::string> found_;
};

// ---- Counting ---------------------------------------------------------------------------------------------

class FieldCounter {
 public:
  static constexpr bool writes = true;
  template <typename T, typename Kind = Plain>
  void operator()(const char*, const T&, const Kind& = {}, const char* /*meaning*/ = nullptr) {
    ++count_;
  }
  template <typename T, typename Kind = Plain>
  void defaulted(const char*, const T&, const Kind& = {}, const char* /*meaning*/ = nullptr) {
    ++count_;
  }
  void require(bool, const char*) {}
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::size_t count_ = 0;
};

}  // namespace gleaner::protocol::codec
