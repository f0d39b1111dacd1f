// host list, show, units, hold, release, tag, revoke; status.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "shared/base/limits.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/text.h"
#include "tools/admin/access_api.h"
#include "tools/admin/commands.h"
#include "tools/admin/documents.h"
#include "tools/admin/figures.h"
#include "tools/admin/host_tree.h"
#include "tools/admin/problem_views.h"

namespace gleaner::admin {
namespace {

struct HostChoice {
  std::string which;  // id or name
  bool yes = false;
  bool may_return = false;
  std::string reason;
  std::vector<std::string> tags;
  int count = 50;
};
struct HostListOptions {
  std::string tag;
};

Result<protocol::HostInfo> find_host(Api& api, const std::string& which) {
  std::int64_t number = 0;
  const auto read = std::from_chars(which.data(), which.data() + which.size(), number);
  if (read.ec == std::errc() && read.ptr == which.data() + which.size()) return api.host(HostId{number});
  TRY_ASSIGN(const auto hosts, api.hosts());
  const auto is_meant = [&](const protocol::HostInfo& host) { return host.name == which; };
  const auto first = std::find_if(hosts.begin(), hosts.end(), is_meant);
  if (first == hosts.end())
    return Error{ErrorKind::not_found,
                 "there is no host called " + which + ": `gleaner-admin host list` shows what there is"};
  if (std::count_if(hosts.begin(), hosts.end(), is_meant) > 1)
    return Error{ErrorKind::conflict, "several hosts are called " + which + ": give the id instead"};
  return *first;
}

Tint host_tint(protocol::HostState state) {
  switch (state) {
    case protocol::HostState::active:
      return Tint::good;
    case protocol::HostState::revoked:
      return Tint::bad;
    case protocol::HostState::left:
      return Tint::dim;
  }
  return Tint::none;
}

std::string contact_text(const protocol::HostInfo& host, Timestamp now) {
  if (to_microseconds(host.last_contact) <= 0) return "never";
  return ago_text(std::max(to_seconds(now - host.last_contact), 0.0));
}

// That its owner lends, in whole cores, of those it has.
std::string cores_text(const protocol::HostInfo& host) {
  const std::string all = std::to_string(host.cores);
  return host.cores_lent && *host.cores_lent < host.cores ? figure_text(*host.cores_lent) + " of " + all
                                                          : all;
}

std::string memory_text(const protocol::HostInfo& host) {
  const std::string all = bytes_text(host.memory_bytes);
  return host.memory_lent && *host.memory_lent < host.memory_bytes
             ? bytes_text(*host.memory_lent) + " of " + all
             : all;
}

std::string reason_of(const protocol::HostInfo& host) {
  return protocol::clean_line(host.state_reason, limits::message_length_max);
}

std::string speed_text(double value, const char* unit) {
  return value > 0 ? figure_text(value) + unit : "not measured";
}

std::string byte_speed_text(double value, const char* direction) {
  return value > 0 ? bytes_text(std::llround(value)) + "/s" + direction : "not measured";
}

std::string link_text(const protocol::HostSpeeds& speeds) {
  return byte_speed_text(speeds.download_bytes_per_second, " down") + ", " +
         byte_speed_text(speeds.upload_bytes_per_second, " up");
}

// "37 % CPU, 62 % memory, 58 °C"; empty: not reported.
std::string readings_text(const protocol::Readings& readings) {
  std::vector<std::string> words;
  if (readings.cpu) words.push_back(percent_text(*readings.cpu, 1) + " CPU");
  if (readings.memory) words.push_back(percent_text(*readings.memory, 1) + " memory");
  if (readings.celsius) words.push_back(std::to_string(std::lround(*readings.celsius)) + " °C");
  return joined(words);
}

// Hosts under relays behind these; how many there are only where there are relays.
Table host_table(const std::vector<protocol::HostInfo>& hosts, Timestamp now) {
  std::vector<TreeMember> members;
  bool relays = false;
  for (const auto& host : hosts) {
    members.push_back({host.id, host.relay, host.state == protocol::HostState::active});
    relays = relays || host.relay;
  }
  std::vector<Table::Column> columns{{"ID", Align::right},
                                     {"NAME"},
                                     {"STATE"},
                                     {"PLATFORM"},
                                     {"CORES", Align::right},
                                     {"MFLOP/S", Align::right},
                                     {"UNITS", Align::right},
                                     {"ITEMS", Align::right},
                                     {"FAILURES", Align::right},
                                     {"LAST CONTACT"},
                                     {"TAGS"},
                                     {"REMARK"}};
  if (relays) columns.insert(columns.begin() + 2, {"UNDER IT", Align::right});
  Table table(std::move(columns));
  for (const TreePlace& place : in_tree(members)) {
    const auto& host = hosts[place.member];
    std::vector<Cell> row{std::to_string(host.id.value),
                          {indented(place, host.name), Tint::bold},
                          {protocol::name_of(host.state), host_tint(host.state)},
                          host.platform,
                          cores_text(host),
                          figure_text(host.mflops),
                          count_text(host.open_units),
                          count_text(host.items_accepted),
                          count_text(host.failures),
                          contact_text(host, now),
                          joined(host.tags),
                          reason_of(host)};
    if (relays) row.insert(row.begin() + 2, place.under > 0 ? count_text(place.under) : "");
    table.add(std::move(row));
  }
  return table;
}

Result<ExitCode> list_hosts(Session& session, const HostListOptions& options) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(auto hosts, api->hosts());
  if (!options.tag.empty()) {
    std::erase_if(hosts, [&](const protocol::HostInfo& host) {
      return std::find(host.tags.begin(), host.tags.end(), options.tag) == host.tags.end();
    });
    if (hosts.empty() && !session.json()) {
      session.people() << "no host has the tag " << options.tag << '\n';
      return ExitCode::ok;
    }
  }
  if (session.json()) {
    session.print_json(protocol::encode(hosts));
    return ExitCode::ok;
  }
  if (hosts.empty()) {
    session.people() << "no hosts yet: `gleaner-admin status` shows the join code to give to volunteers\n";
    return ExitCode::ok;
  }
  session.people() << host_table(hosts, session.outside().clock.now()).render(session.people_display());
  return ExitCode::ok;
}

// Of a relay itself how many hosts are under it; empty: it is none.
struct RelayWords {
  std::string under;
  std::string hosts;
};

Result<RelayWords> relay_words(Api& api, const protocol::HostInfo& host) {
  const auto relays = get_relays(api);
  if (!relays.ok() && relays.error().kind != ErrorKind::not_found) return relays.error();
  RelayWords words{"-", ""};
  if (host.relay) words.under = "host " + std::to_string(host.relay->value);
  if (!relays.ok()) return words;  // a server of before relays
  for (const auto& relay : *relays) {
    if (host.relay && relay.host == host.relay) words.under = relay.name + " (" + words.under + ")";
    if (relay.host == host.id) words.hosts = count_text(relay.hosts) + " of " + count_text(relay.children);
  }
  return words;
}

std::string host_text(const protocol::HostInfo& host, const RelayWords& relay, Timestamp now,
                      const Display& display) {
  const protocol::HostSpeeds speeds = host.speeds.value_or(protocol::HostSpeeds{});
  return render_fields(
      {{"host", {std::to_string(host.id.value) + " " + host.name, Tint::bold}},
       {"state", {protocol::name_of(host.state), host_tint(host.state)}},
       {"remark", reason_of(host)},
       {"platform", host.platform},
       {"cores", cores_text(host)},
       {"memory", memory_text(host)},
       {"in use", readings_text(host.readings.value_or(protocol::Readings{}))},
       {"has", joined(host.capabilities)},
       {"client", host.client_version},
       {"speed of a core", speed_text(host.mflops, " Mflop/s")},
       {"all cores", speed_text(speeds.all_cores_mflops, " Mflop/s")},
       {"memory speed", byte_speed_text(speeds.memory_bytes_per_second, " (one core)")},
       {"link", link_text(speeds)},
       {"open units", count_text(host.open_units)},
       {"items accepted", count_text(host.items_accepted)},
       {"work accepted", figure_text(host.cost_accepted)},
       {"failures", count_text(host.failures)},
       {"disagreements", count_text(host.disagreements)},
       {"trust", host.trust < 0 ? "-" : percent_text(host.trust, 1) + " chance that a result is correct"},
       {"joined", time_text(host.enrolled_at)},
       {"with code", host.code},
       {"under relay", relay.under},
       {"hosts under it", relay.hosts},
       {"tags", joined(host.tags)},
       {"last contact", contact_text(host, now)}},
      display);
}

Result<ExitCode> show(Session& session, const HostChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto host, find_host(*api, choice.which));
  if (session.json()) {
    session.print_json(protocol::encode(host));
    return ExitCode::ok;
  }
  TRY_ASSIGN(const auto relay, relay_words(*api, host));
  session.people() << host_text(host, relay, session.outside().clock.now(), session.people_display());
  return ExitCode::ok;
}

Result<ExitCode> revoke(Session& session, const HostChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto host, find_host(*api, choice.which));
  const std::string name = "host " + std::to_string(host.id.value) + " (" + host.name + ")";
  TRY_ASSIGN(const bool sure, session.confirm("Revoke " + name + "? It gets no more work" +
                                                  (choice.may_return ? " until it joins again."
                                                                     : ", and its key cannot join again."),
                                              choice.yes));
  if (!sure) {
    if (session.json())
      session.print_json(protocol::encode(host));
    else
      session.people() << name << " is kept\n";
    return ExitCode::failed;
  }
  TRY_ASSIGN(const auto revoked, api->revoke_host(host.id, {choice.may_return}));
  if (session.json())
    session.print_json(protocol::encode(revoked));
  else
    session.people() << name << " is revoked"
                     << (choice.may_return ? ", and may return with a join code" : ", and may not return")
                     << '\n';
  return ExitCode::ok;
}

// Tells what the host is now, in a sentence.
ExitCode tell(Session& session, const protocol::HostInfo& host, const std::string& sentence) {
  if (session.json())
    session.print_json(protocol::encode(host));
  else
    session.people() << "host " << host.id.value << " (" << host.name << ") " << sentence << '\n';
  return ExitCode::ok;
}

Result<ExitCode> hold(Session& session, const HostChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto found, find_host(*api, choice.which));
  TRY_ASSIGN(const auto host, api->hold_host(found.id, {choice.reason}));
  return tell(
      session, host,
      "is on hold: units it already has will finish; it gets no new ones until `gleaner-admin host release " +
          std::to_string(host.id.value) + "`");
}

Result<ExitCode> release(Session& session, const HostChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto found, find_host(*api, choice.which));
  TRY_ASSIGN(const auto host, api->release_host(found.id));
  return tell(session, host, found.on_hold.empty() ? "was not on hold" : "is released");
}

Result<ExitCode> tag(Session& session, const HostChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto found, find_host(*api, choice.which));
  TRY_ASSIGN(const auto host, api->tag_host(found.id, {choice.tags}));
  return tell(session, host, host.tags.empty() ? "has no tags" : "has the tags " + joined(host.tags));
}

Result<ExitCode> units(Session& session, const HostChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto host, find_host(*api, choice.which));
  TRY_ASSIGN(const auto all, api->host_units(host.id, choice.count));
  if (session.json())
    session.print_json(protocol::encode(all));
  else if (all.empty())
    session.people() << "it has had no units yet\n";
  else
    session.people() << host_unit_table(all).render(session.people_display());
  return ExitCode::ok;
}

Result<ExitCode> status(Session& session, const NoOptions&) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto server, api->status());
  if (session.json()) {
    session.print_json(protocol::encode(server));
    return ExitCode::ok;
  }
  session.people() << render_fields(
      {{"project", {server.name, Tint::bold}},
       {"id", server.project},
       {"server", "version " + server.server_version + ", up " +
                      duration_text(to_seconds(server.now - server.started_at))},
       {"join code",
        server.join_code.empty() ? "see `gleaner-admin code list`" : server.join_code + " (for volunteers)"},
       {"hosts", count_text(server.hosts_active) + " active, " + count_text(server.hosts) + " known"},
       {"problems", count_text(server.problems_open) + " open"},
       {"units", count_text(server.open_units) + " open"},
       {"stored files",
        server.stored ? protocol::clean_line(*server.stored, limits::message_length_max) : "-"},
       {"work key", "certified until " + time_text(server.work_certificate_expires)}},
      session.people_display());
  for (const std::string& warning : server.warnings)
    session.people() << tinted("warning:", Tint::warning, session.people_display()) << ' '
                     << protocol::clean_line(warning, limits::message_length_max) << '\n';
  return ExitCode::ok;
}

}  // namespace

void add_host_commands(CLI::App& program, Action& chosen) {
  CLI::App* hosts = program.add_subcommand("host", "List volunteers' hosts, hold, tag and revoke them");
  hosts->require_subcommand(1);
  const auto listed = std::make_shared<HostListOptions>();
  CLI::App* list = hosts->add_subcommand("list", "List all hosts");
  list->add_option("--tag", listed->tag, "only hosts with this tag")->type_name("TAG");
  on_parse(list, chosen, listed, list_hosts);
  const auto declare = [&](const std::string& name, const std::string& help,
                           Result<ExitCode> (*action)(Session&, const HostChoice&)) {
    const auto choice = std::make_shared<HostChoice>();
    CLI::App* command = hosts->add_subcommand(name, help);
    command->add_option("host", choice->which, "host id, or its name if no other host has it")
        ->required()
        ->type_name("ID|NAME");
    if (name == "revoke") {
      command->add_flag("--may-return", choice->may_return,
                        "the host may join again, also if it was revoked before");
      command->add_flag("--yes", choice->yes, "do not ask");
    }
    if (name == "hold")
      command->add_option("--reason", choice->reason, "shown to the owner of the host")->type_name("TEXT");
    if (name == "tag")
      command->add_option("tags", choice->tags, "all tags of the host from now on; none: remove them")
          ->type_name("TAG");
    if (name == "units")
      command->add_option("--count", choice->count, "at most this many, the newest")
          ->capture_default_str()
          ->check(CLI::Range(1, 10'000));
    on_parse(command, chosen, choice, action);
  };
  declare("show", "Show one host", show);
  declare("units", "List a host's last units: problem, times and outcome", units);
  declare("hold", "Give a host no new units until it is released; units it already has will finish", hold);
  declare("release", "End a hold; the host gets new units", release);
  declare("tag", "Set a host's tags", tag);
  declare("revoke", "Refuse a host from now on; its units go to other hosts", revoke);
}

void add_status_command(CLI::App& program, Action& chosen) {
  CLI::App* command =
      program.add_subcommand("status", "Show the server's state, its warnings and the join code");
  on_parse(command, chosen, std::make_shared<NoOptions>(), status);
}

}  // namespace gleaner::admin
