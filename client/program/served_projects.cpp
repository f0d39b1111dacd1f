#include "client/program/served_projects.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>

#include "shared/base/paths.h"

namespace gleaner::program {
namespace {

// Of its own, as what is asked may be another server.
struct OwnConnection {
  std::shared_ptr<io::RefusedTlsKeys> refused = std::make_shared<io::RefusedTlsKeys>();
  std::shared_ptr<io::PinnedTlsKey> pinned = std::make_shared<io::PinnedTlsKey>();
  std::unique_ptr<io::HttpClient> http, inquiring;

  // `code`: of the place that is asked.
  OwnConnection(const state::Identity& stored, const protocol::JoinCode& code, const std::string& agent)
      : http(io::make_curl_client(transport::vouchers_of(code), agent, {}, refused, pinned)),
        inquiring(io::make_inquiring_client(agent)) {
    state::refuse_tls_keys(stored.revocations, refused.get());
  }
  [[nodiscard]] joining::Ways ways() const { return {*http, inquiring.get(), pinned.get()}; }
};

Result<state::Identity> confirmed(const state::ProjectDirectory& directory, const host::Machine& machine,
                                  const joining::JoinFacts& facts, const std::string& agent) {
  io::Files& files = io::real_files();
  TRY_ASSIGN(const state::Identity stored, joining::load_or_pending(files, directory));
  const OwnConnection own(stored, stored.code, agent);
  return joining::finish_joining(own.ways(), files, machine, directory, facts, system_clock().now());
}

using Join = decltype(&joining::part);

// Under another number, or the same, at the same place.
state::Move join_anew(Join join, const state::ProjectDirectory& directory, const host::Machine& machine,
                      const joining::JoinFacts& facts, const std::string& agent) {
  return [join, directory, &machine, facts, agent]() -> Status {
    io::Files& files = io::real_files();
    TRY_ASSIGN(const state::Identity before, state::load_identity(files, directory));
    const OwnConnection own(before, before.code, agent);
    TRY_ASSIGN(const state::Identity joined,
               join(own.ways(), files, machine, directory, facts, system_clock().now()));
    spdlog::warn("this computer was host {} of {} and is host {} now", before.host.host.value,
                 transport::place_of(joined.code), joined.host.host.value);
    return {};
  };
}

// As `gleaner-client join CODE` does, with the code that the relay gave for this: the client's units and
// results stay, its kernels start anew.
Status move_away(const state::ProjectDirectory& directory, const host::Machine& machine,
                 joining::JoinFacts facts, const std::string& agent) {
  io::Files& files = io::real_files();
  TRY_ASSIGN(const state::Identity before, state::load_identity(files, directory));
  const protocol::JoinCode code = before.code.fallback_code();
  facts.name = before.name;
  const OwnConnection own(before, code, agent);
  const Timestamp now = system_clock().now();
  TRY_ASSIGN(const state::Identity joined,
             joining::join(own.ways(), files, machine, directory, code, facts, now));
  const std::string why = "its relay at " + transport::place_of(before.code) + " did not answer since " +
                          local_text(before.unheard.value_or(now)) + ": since " + local_text(now) +
                          " this computer is served by the project at " + transport::place_of(joined.code);
  spdlog::warn("{}; its results go along", why);
  return state::save_moved(files, directory, why);
}

}  // namespace

Result<std::vector<ServedProject>> served_projects(const state::StateDirectory& state,
                                                   const host::Machine& machine,
                                                   const joining::JoinFacts& facts) {
  io::Files& files = io::real_files();
  const std::string agent = "gleaner-client/" + facts.client_version;
  TRY(state::migrate_state(files, state));
  TRY_ASSIGN(const auto directories, state::joined_projects(files, state));
  std::vector<ServedProject> all;
  std::optional<Error> trouble;
  for (const state::ProjectDirectory& directory : directories) {
    auto identity = confirmed(directory, machine, facts, agent);
    if (!identity.ok()) {
      if (directories.size() > 1)
        spdlog::error("nothing is computed for the project in {}: {}", utf8_text(directory.root),
                      identity.error().message);
      trouble = identity.error();
      continue;
    }
    ServedProject served{directory, *identity};
    state::refuse_tls_keys(identity->revocations, served.refused.get());
    state::pin_relay(*identity, system_clock().now(), served.pinned.get());
    served.workers = std::make_unique<transport::ThreadWorkers>(
        [vouchers = transport::vouchers_of(identity->code), agent, rates = served.rates, link = served.link,
         refused = served.refused, pinned = served.pinned] {
          return transport::metered(io::make_curl_client(vouchers, agent, rates, refused, pinned), link);
        },
        [rates = served.rates, link = served.link] {
          return transport::metered(io::make_stranger_client(rates), link);
        },
        identity->relay ? [agent] { return io::make_inquiring_client(agent); }
                        : transport::ThreadWorkers::MakeClient());
    served.join_again = join_anew(joining::join_again, directory, machine, facts, agent);
    served.part = join_anew(joining::part, directory, machine, facts, agent);
    if (identity->relay && identity->code.fallback)
      served.move = [directory, &machine, facts, agent] {
        return move_away(directory, machine, facts, agent);
      };
    all.push_back(std::move(served));
  }
  if (!all.empty()) return all;
  return trouble.value_or(state::none_joined(state));
}

void take_rates(const std::vector<ServedProject>& projects, const settings::OwnerSettings& owner_settings) {
  const auto part = [&projects](std::int64_t all) {
    return all == 0 ? 0 : std::max<std::int64_t>(1, all / static_cast<std::int64_t>(projects.size()));
  };
  for (const ServedProject& project : projects) {
    project.rates->download = part(owner_settings.download_bytes_per_second);
    project.rates->upload = part(owner_settings.upload_bytes_per_second);
  }
}

}  // namespace gleaner::program
