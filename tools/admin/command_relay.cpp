// relay allow, quota, list, explain: who others join through.
#include <algorithm>

#include "shared/base/limits.h"
#include "shared/bottleneck/relay_bottleneck.h"
#include "shared/protocol/codec.h"
#include "tools/admin/access_api.h"
#include "tools/admin/commands.h"
#include "tools/admin/figures.h"
#include "tools/admin/host_tree.h"

namespace gleaner::admin {
namespace {

struct NewRelay {
  protocol::AddRelay relay;
  std::string lifetime;
  bool own = false;
};

std::string contact_text(const protocol::RelayInfo& relay, Timestamp now) {
  if (to_microseconds(relay.last_contact) <= 0) return "never";
  return ago_text(std::max(to_seconds(now - relay.last_contact), 0.0));
}

std::string number_text(const std::optional<HostId>& host) {
  return host ? std::to_string(host->value) : "-";
}

Tint relay_tint(const protocol::RelayInfo& relay) {
  return relay.state == "active" ? Tint::good : relay.state == "allowed" ? Tint::none : Tint::dim;
}

Result<ExitCode> allow(Session& session, const NewRelay& options) {
  protocol::AddRelay relay = options.relay;
  if (!options.lifetime.empty()) {
    TRY_ASSIGN(relay.lifetime_seconds, seconds_of("--expires", options.lifetime));
  }
  if (options.own) relay.own = true;
  TRY_ASSIGN(Api* const api, session.api());
  const auto made = add_relay(*api, relay);
  if (!made.ok() && made.error().kind == ErrorKind::unavailable)
    return Error{ErrorKind::unavailable, made.error().message +
                                             " (if `gleaner-admin relay list` shows it, `code rotate " +
                                             relay.name + "` shows a join code)"};
  if (!made.ok()) return made.error();
  if (session.json()) {
    session.print_json(protocol::encode(*made));
    return ExitCode::ok;
  }
  session.people() << made->join_code << '\n';
  session.outside().error << "One relay may join with it, as " << relay.name << ", and "
                          << count_text(relay.children) << " hosts under that. They are "
                          << (relay.own ? "the project's own: their results are trusted"
                                        : "volunteers': other hosts verify their results")
                          << ". The join code is shown only once; the server keeps no copy.\n";
  return ExitCode::ok;
}

struct NewQuota {
  std::string name;
  protocol::RelayQuota quota;
};

Result<ExitCode> set_quota(Session& session, const NewQuota& options) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto relay, set_relay_quota(*api, options.name, options.quota));
  if (session.json()) {
    session.print_json(protocol::encode(relay));
    return ExitCode::ok;
  }
  session.people() << count_text(relay.children) << " hosts may be under " << relay.name << "; "
                   << count_text(relay.hosts) << " are";
  if (relay.hosts > relay.children) session.people() << ", and stay: no new host joins before some have left";
  session.people() << ".\n";
  return ExitCode::ok;
}

Result<ExitCode> list(Session& session, const NoOptions&) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto relays, get_relays(*api));
  if (session.json()) {
    session.print_json(protocol::encode(relays));
    return ExitCode::ok;
  }
  if (relays.empty()) {
    session.people() << "no relays: `gleaner-admin relay allow NAME --children N` allows one\n";
    return ExitCode::ok;
  }
  Table table({{"NAME"},
               {"STATE"},
               {"HOST", Align::right},
               {"UNDER", Align::right},
               {"HOSTS UNDER IT", Align::right},
               {"LAST CONTACT"}});
  const Timestamp now = session.outside().clock.now();
  std::vector<TreeMember> members;
  for (const auto& relay : relays) members.push_back({relay.host, relay.relay});
  for (const TreePlace& place : in_tree(members)) {
    const auto& relay = relays[place.member];
    table.add({{indented(place, relay.name), Tint::bold},
               {relay.state, relay_tint(relay)},
               number_text(relay.host),
               number_text(relay.relay),
               count_text(relay.hosts) + " of " + count_text(relay.children),
               contact_text(relay, now)});
  }
  session.people() << table.render(session.people_display());
  return ExitCode::ok;
}

struct RelayQuestion {
  std::string name;
  std::optional<double> item_bytes, result_bytes;
};
// Of which problem it computes, and what it has left of it; more is not looked at.
constexpr int units_looked_at = 50;

Result<RelayFigures> figures_of(Api& api, const RelayQuestion& options) {
  RelayFigures figures;
  TRY_ASSIGN(figures.relays, get_relays(api));
  const auto found = std::find_if(figures.relays.begin(), figures.relays.end(),
                                  [&](const auto& relay) { return relay.name == options.name; });
  if (found == figures.relays.end())
    return Error{ErrorKind::not_found, "there is no relay called " + options.name +
                                           ": `gleaner-admin relay list` shows what there is"};
  figures.relay = *found;
  figures.item_bytes = options.item_bytes;
  figures.result_bytes = options.result_bytes;
  if (!figures.relay.host) return figures;
  TRY_ASSIGN(figures.hosts, api.hosts());
  TRY_ASSIGN(figures.units, api.host_units(*figures.relay.host, units_looked_at));
  if (figures.units.empty()) return figures;
  auto problem = api.problem(figures.units.front().problem, Api::Shares::all);
  if (problem.ok()) {
    figures.problem = std::move(*problem);
  } else if (problem.error().kind != ErrorKind::not_found) {  // it was deleted
    return problem.error();
  }
  return figures;
}

Result<ExitCode> explain_relay_limit(Session& session, const RelayQuestion& options) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto figures, figures_of(*api, options));
  TRY_ASSIGN(const auto explanation, explain_relay(figures));
  if (session.json()) {
    session.print_json(protocol::encode(explanation));
    return ExitCode::ok;
  }
  session.people() << explanation.sentence << '\n';
  if (!explanation.never_measured.empty())
    session.people() << "Never measured: " << joined(explanation.never_measured) << ".\n";
  return ExitCode::ok;
}

}  // namespace

void add_relay_commands(CLI::App& program, Action& chosen) {
  CLI::App* relays = program.add_subcommand("relay", "Allow relays, which other hosts join through");
  relays->require_subcommand(1);
  const auto options = std::make_shared<NewRelay>();
  CLI::App* command =
      relays->add_subcommand("allow", "Make a code for one relay and show its join code, once");
  command->add_option("name", options->relay.name, "letters, digits, '.', '_' and '-'")
      ->required()
      ->type_name("NAME");
  command->add_option("--children", options->relay.children, "number of hosts that may be under it")
      ->required()
      ->check(CLI::Range(std::int64_t{1}, limits::relay_children_max))
      ->type_name("N");
  command->add_option("--expires", options->lifetime, "how long the code is valid: 12h, 30d, 8w")
      ->type_name("TIME");
  add_own_flags(*command, options->own, "it and new hosts under it");
  on_parse(command, chosen, options, allow);
  const auto quota = std::make_shared<NewQuota>();
  command = relays->add_subcommand("quota", "Change how many hosts may be under a relay");
  command->add_option("name", quota->name, "the relay's name")->required()->type_name("NAME");
  command->add_option("children", quota->quota.children, "number of hosts that may be under it")
      ->required()
      ->check(CLI::Range(std::int64_t{1}, limits::relay_children_max))
      ->type_name("N");
  on_parse(command, chosen, quota, set_quota);
  on_parse(relays->add_subcommand("list", "List all relays"), chosen, std::make_shared<NoOptions>(), list);
  const auto explained = std::make_shared<RelayQuestion>();
  command = relays->add_subcommand("explain", "Show a relay's bottleneck and which hosts it does not need");
  command->add_option("name", explained->name, "the relay's name")->required()->type_name("NAME");
  command
      ->add_option("--item-bytes", explained->item_bytes,
                   "average download for one item; default: as the relay measured it")
      ->check(CLI::Range(0.0, limits::plan_number_max));
  command
      ->add_option("--result-bytes", explained->result_bytes,
                   "average result of one item; default: as the relay measured it")
      ->check(CLI::Range(0.0, limits::plan_number_max));
  on_parse(command, chosen, explained, explain_relay_limit);
}

}  // namespace gleaner::admin
