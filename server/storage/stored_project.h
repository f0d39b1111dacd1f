// The tables of a project, each once: hosts and what they join with, administrators and what they did, days.
// The names of their columns beside what they hold, the key first (stored.h). The schema itself is made by
// migrations.cpp, and told in FORMAT.md. Private to this module.
#pragma once

#include "server/storage/store.h"
#include "server/storage/stored.h"

namespace gleaner::storage {

// Rows that the interface has no struct of.
struct NamedValue {
  std::string name, value;
};
struct SequenceRow {
  std::string name;
  std::int64_t next = 0;
};
struct HostDescription;  // a HostRow without what it is known by

template <>
struct Stored<NamedValue> {
  static constexpr const char* name = "named_values";
  static void columns(auto& row, auto&& to) {
    to("name", row.name);
    to("value", row.value);
  }
};

template <>
struct Stored<SequenceRow> {
  static constexpr const char* name = "sequences";
  static void columns(auto& row, auto&& to) {
    to("name", row.name);
    to("next", row.next);
  }
};

template <>
struct ReadOf<HostDescription> {
  using Type = HostRow;
};

template <>
struct Stored<HostDescription> {
  static constexpr const char* name = "hosts";
  static constexpr auto put = Table::Put::update;
  static void columns(auto& row, auto&& to) {
    to("id", row.id);
    to("name", row.name);
    to("platform", row.platform);
    to("cores", row.cores);
    to("memory_bytes", row.memory_bytes);
    to("client_version", row.client_version);
    to("mflops", row.mflops);
    to("benchmark_at", row.benchmark_at);
    to("state", row.state);
    to("state_reason", row.state_reason);
    to("failures_in_row", row.health.failures_in_row);
    to("failures", row.health.failures);
    to("blocked_until", row.health.blocked_until);
    to("blocked_reason", row.health.reason);
    to("enrolled_at", row.enrolled_at);
    to("last_contact", row.last_contact);
    to("items_accepted", row.items_accepted);
    to("cost_accepted", row.cost_accepted);
    to("disagreements", row.disagreements);
    to("all_cores_mflops", row.speeds.all_cores_mflops);
    to("memory_rate", row.speeds.memory_bytes_per_second);
    to("download_rate", row.speeds.download_bytes_per_second);
    to("upload_rate", row.speeds.upload_bytes_per_second);
    to("own", row.own);
    to("code", row.code);
    to("tags", AsList{row.tags});
    to("network", row.network);
    to("on_hold", row.on_hold);
    to("relay", row.relay);
    to("proved_at", row.proved_at);
    to("children", row.children);
    to("tls_key", row.tls_key);
  }
};

template <>
struct Stored<HostRow> {
  static constexpr const char* name = "hosts";
  static constexpr auto put = Table::Put::update;
  static void columns(auto& row, auto&& to) {
    Stored<HostDescription>::columns(row, to);
    to("public_key", AsBytes{row.public_key});
    to("machine", row.machine);
    to("token_digest", AsBytes{row.token_digest});
  }
};

template <>
struct Stored<CodeRow> {
  static constexpr const char* name = "codes";
  static void columns(auto& row, auto&& to) {
    to("name", row.name);
    to("secret_digest", AsBytes{row.secret_digest});
    to("hosts_max", row.hosts_max);
    to("own", row.own);
    to("tags", AsList{row.tags});
    to("made_at", row.made_at);
    to("expires_at", row.expires_at);
    to("withdrawn_at", row.withdrawn_at);
    to("children", row.children);
  }
};

template <>
struct Stored<TokenRow> {
  static constexpr const char* name = "admin_tokens";
  static void columns(auto& row, auto&& to) {
    to("name", row.name);
    to("digest", AsBytes{row.digest});
    to("role", row.role);
    to("made_at", row.made_at);
    to("expires_at", row.expires_at);
    to("withdrawn_at", row.withdrawn_at);
  }
};

template <>
struct Stored<protocol::Act> {
  static constexpr const char* name = "acts";
  static constexpr auto put = Table::Put::insert;
  static void columns(auto& row, auto&& to) {
    to("number", row.number);
    to("at", row.at);
    to("actor", row.actor);
    to("role", row.role);
    to("action", row.action);
    to("object", row.object);
    to("summary", row.summary);
    to("previous", AsDigest{row.previous});
  }
};

template <>
struct Stored<protocol::RefusalCount> {
  static constexpr const char* name = "refusals";
  static constexpr std::size_t keys = 3;
  static void columns(auto& row, auto&& to) {
    to("actor", row.actor);
    to("kind", row.kind);
    to("action", row.action);
    to("times", row.times);
    to("first_at", row.first_at);
    to("last_at", row.last_at);
    to("last_network", row.last_network);
  }
};

template <>
struct Stored<protocol::Ban> {
  static constexpr const char* name = "bans";
  static constexpr std::size_t keys = 2;
  static void columns(auto& row, auto&& to) {
    to("kind", row.kind);
    to("subject", row.subject);
    to("reason", row.reason);
    to("made_by", row.made_by);
    to("made_at", row.made_at);
    to("expires_at", row.expires_at);
  }
};

template <>
struct Stored<DayRow> {
  static constexpr const char* name = "days";
  static void columns(auto& row, auto&& to) {
    to("day", row.day);
    to("core_seconds", row.core_seconds);
    to("joules", row.joules);
    to("items", row.items);
  }
};

template <>
struct Stored<StandingRow> {
  static constexpr const char* name = "standings";
  static constexpr std::size_t keys = 2;
  static void columns(auto& row, auto&& to) {
    to("host", row.host);
    to("application", row.application);
    to("right_items", row.standing.right);
    to("wrong_times", row.standing.wrong);
    to("at", row.standing.at);
    to("held_until", row.standing.held_until);
  }
};

}  // namespace gleaner::storage
