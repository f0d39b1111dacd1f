#include "client/program/late_join.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <thread>

#include "client/platform/control_socket.h"
#include "client/program/control_text.h"
#include "client/program/version.h"
#include "shared/json/text.h"

namespace gleaner::program {
namespace {

using Json = json::Value;

constexpr Duration asked_again = std::chrono::milliseconds{200};
constexpr Duration joined_within = std::chrono::minutes{3};  // some exchanges, each of half a minute at most

std::string user_agent() {
  return std::string("gleaner-client/") + version;
}

Result<Json> ask(const io::Path& socket, const Json& request) {
  TRY_ASSIGN(const std::string line, platform::ask_daemon(socket, json::write(request, {-1, true})));
  Json reply = json::parse_or_null(line);
  if (reply["ok"] == Json(true)) return reply;
  return Error{ErrorKind::conflict, text_of(reply, "message")};
}

}  // namespace

Connection::Connection(const protocol::JoinCode& code, const state::ProjectDirectory& project)
    : inquiring_(io::make_inquiring_client(user_agent())) {
  auto refused = std::make_shared<io::RefusedTlsKeys>();
  state::refuse_tls_keys(state::load_revocations(io::real_files(), project, code.root_fingerprint),
                         refused.get());
  if (const auto identity = state::load_identity(io::real_files(), project); identity.ok())
    state::pin_relay(*identity, system_clock().now(), pinned_.get());
  http_ = io::make_curl_client(transport::vouchers_of(code), user_agent(), {}, std::move(refused), pinned_);
}

Result<state::Identity> join_with(const state::StateDirectory& state, const host::Machine& machine,
                                  const protocol::JoinCode& code, const joining::JoinFacts& facts) {
  const state::ProjectDirectory project = state.project(state::project_key(code.root_fingerprint));
  const Connection connection(code, project);
  return joining::join(connection.ways(), io::real_files(), machine, project, code, facts,
                       system_clock().now());
}

Status LateJoin::begin(transport::Workers& workers, const state::StateDirectory& state,
                       const host::Machine& machine, const std::string& text,
                       const joining::JoinFacts& facts) {
  TRY_ASSIGN(const protocol::JoinCode code, protocol::parse_join_code(text));
  if (under_way_) return Error{ErrorKind::conflict, "another project is being joined: try again in a minute"};
  under_way_ = true;
  outcome_.reset();
  workers.submit(transport::Queue::control,
                 [this, state, &machine, code, facts](transport::JobContext&) -> transport::Completion {
                   return [this, joined = join_with(state, machine, code, facts)] {
                     under_way_ = false;
                     joined_ = joined.ok();
                     outcome_ = joined.ok()
                                    ? Result<std::string>(fmt::format(
                                          "{} at {} as host {} (\"{}\")", joined->project_name(),
                                          joined->code.base_url(), joined->host.host.value, joined->name))
                                    : Result<std::string>(joined.error());
                     if (joined.ok())
                       spdlog::info("joined {}", **outcome_);
                     else
                       spdlog::warn("{}", joined.error().message);
                   };
                 });
  return {};
}

void LateJoin::start_anew() {
  if (!std::exchange(under_way_, false)) return;
  outcome_ = Result<std::string>(
      Error{ErrorKind::unavailable, "the client started anew before it had joined: join once more"});
}

std::optional<Result<std::string>> LateJoin::outcome() const {
  if (under_way_ || outcome_) return outcome_;
  return Result<std::string>(Error{ErrorKind::not_found, "this client has no request to join"});
}

Result<std::string> join_by_daemon(const state::StateDirectory& state, const std::string& code,
                                   const std::string& name) {
  TRY_ASSIGN(const Json begun,
             ask(state.socket(), {{"version", 1}, {"command", "join"}, {"code", code}, {"name", name}}));
  static_cast<void>(begun);
  const SteadyTime end = system_clock().steady() + joined_within;
  while (system_clock().steady() < end) {
    const auto told = ask(state.socket(), {{"version", 1}, {"command", "joined"}});
    // It starts anew when it has joined, and answers nobody meanwhile.
    const bool away = !told.ok() && told.error().kind != ErrorKind::conflict;
    if (!told.ok() && !away) return told.error();
    if (told.ok() && (*told)["joining"] != Json(true)) return text_of(*told, "message");
    std::this_thread::sleep_for(asked_again);
  }
  return Error{ErrorKind::unavailable,
               "the client that runs here has not said whether it joined: see `gleaner log`"};
}

}  // namespace gleaner::program
