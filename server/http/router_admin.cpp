// Router: what administrators ask, under /v1/admin.
#include <algorithm>
#include <sstream>

#include "server/http/permissions.h"
#include "server/http/responses.h"
#include "server/http/router.h"
#include "shared/base/capability.h"
#include "shared/protocol/codec.h"

namespace gleaner::http {
namespace {

constexpr int decisions_default = 50;
constexpr int units_default = 100;
constexpr int rows_default = 100;
constexpr std::int64_t count_max = 10'000;

// `count` of the query, at most count_max; nothing: it is no number.
std::optional<int> asked_count(const Request& request, int otherwise) {
  const auto asked = request.query.find("count");
  if (asked == request.query.end()) return otherwise;
  const auto count = parse_number(asked->second);
  if (!count) return std::nullopt;
  return static_cast<int>(std::min(*count, count_max));
}

constexpr std::size_t ranges_max = 500;  // they fit the head of a request

// "0-10,20-30" as ranges without their ends; nothing: it is not that.
std::optional<RangeSet> asked_ranges(std::string_view text) {
  RangeSet ranges;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const auto dash = one.find('-');
    if (dash == std::string_view::npos || ranges.count() == ranges_max) return std::nullopt;
    const auto begin = parse_number(one.substr(0, dash)), end = parse_number(one.substr(dash + 1));
    if (!begin || !end || *begin >= *end) return std::nullopt;
    ranges.add({*begin, *end});
  }
  return ranges;
}

}  // namespace

// /v1/admin/KIND[/WHICH[/ACTION]], by somebody who may.
struct Router::AdminCall {
  const Request& request;
  const Reply& reply;
  std::vector<std::string> pieces;
  protocol::Role role;
  service::Actor actor;

  // The method and how many pieces the path has.
  [[nodiscard]] bool is(const char* method, std::size_t count) const {
    return request.method == method && pieces.size() == count;
  }
  [[nodiscard]] bool is(const char* method, const char* action) const {
    return is(method, 5) && pieces[4] == action;
  }
  [[nodiscard]] std::string which() const { return pieces.size() > 3 ? pieces[3] : ""; }
  void unknown() const { reply(error_response(no_such_operation(request))); }
  // The answer to a change, which leaves an act.
  template <typename T>
  [[nodiscard]] service::Done<T> change() const {
    return {answer<T>(reply), actor};
  }
};

Result<service::Admin> Router::authenticate(const Request& request) {
  if (const std::string token = bearer_token(request); !token.empty() || header(request, "cookie").empty())
    return service_.admins().authenticate(token);
  TRY_ASSIGN(service::LoggedIn who, logged_in(request));
  return who.admin;
}

Result<service::Admin> Router::admit(const Request& request, const std::vector<std::string>& pieces) {
  const Permission permission = permission_of(request.method, pieces);
  const auto admin = authenticate(request);
  if (!admin.ok()) {
    const std::string whose = service_.admins().owner_of(bearer_token(request));
    service_.audit().refused(whose.empty() ? "unknown" : whose, admin.error().kind, permission.act,
                             request.network);
    // Not where a host may have meant its own token: it must hear that it is none.
    const bool stranger = admin.error().kind == ErrorKind::unauthorized;
    if (stranger && pieces[1] != "uploads" && pieces[1] != "blobs")
      TRY(service_.admins().note_wrong_token(request.network));
    return admin;
  }
  if (service_.kernel().parent() != nullptr && permission.least != protocol::Role::view)
    return Error{ErrorKind::forbidden,
                 "this is a relay, where nothing can be changed: ask the project's server"};
  if (const Status may = check_role(admin->name, admin->role, permission.least); !may.ok()) {
    service_.audit().refused(admin->name, may.error().kind, permission.act, request.network);
    return may.error();
  }
  if (permission.admits && bearer_token(request).empty()) {
    service_.audit().refused(admin->name, ErrorKind::forbidden, permission.act, request.network);
    return Error{
        ErrorKind::forbidden,
        "a console session makes no admin tokens and no join codes, since they would outlive it: use "
        "`gleaner-admin token add`, `code add` or `relay allow`"};
  }
  return admin;
}

void Router::admin_request(const Request& request, const Reply& reply) {
  auto pieces = split_path(request.path);
  const auto admin = admit(request, pieces);
  if (!admin.ok()) return reply(error_response(admin.error()));
  service::Actor actor{admin->name, protocol::name_of(admin->role), permission_of(request.method, pieces).act,
                       pieces.size() > 3 ? pieces[3] : ""};
  admin_operation({request, reply, std::move(pieces), admin->role, std::move(actor)});
}

void Router::admin_operation(const AdminCall& call) {
  const std::string& kind = call.pieces[2];
  const bool list = call.is("GET", 3);
  if (kind == "applications") return application_operation(call);
  if (kind == "problems") return problem_operation(call);
  if (kind == "hosts") return host_admin_operation(call);
  if (kind == "codes") return code_operation(call);
  if (kind == "relays") return relay_admin_operation(call);
  if (kind == "tokens") return token_operation(call);
  if (kind == "bans") return ban_operation(call);
  if (kind == "events" || kind == "history" || kind == "settings" || kind == "host-pages" || kind == "days" ||
      kind == "errors")
    return look_operation(call);
  if (kind == "tables" && call.is("GET", 4)) return table_page(call);
  if (kind == "flows" && call.is("GET", 4))
    return service_.views().flows().show(call.which(), answer<protocol::FlowInfo>(call.reply));
  if (kind == "flows" && call.is("POST", 3)) {
    return with_body<protocol::FlowInfo>(call.request, call.reply, [&](protocol::FlowInfo message) {
      service_.views().flows().put(std::move(message), call.change<protocol::FlowInfo>());
    });
  }
  if (kind == "estimates" && call.is("POST", 3)) {
    return with_body<protocol::AddProblem>(call.request, call.reply, [&](protocol::AddProblem message) {
      service_.problems().estimate(std::move(message), call.change<protocol::ProblemEstimate>());
    });
  }
  if (kind == "status" && list)
    return service_.overview().status(answer<protocol::ServerStatus>(call.reply), call.role);
  if (kind == "relay" && list) return service_.relays().status(answer<protocol::RelayStatus>(call.reply));
  if (kind == "strategies" && list)
    return answer<std::vector<protocol::StrategyInfo>>(call.reply)(service::strategies());
  if (kind == "audit" && list) {
    const auto asked = call.request.query.find("after");
    const auto after =
        asked == call.request.query.end() ? std::optional<std::int64_t>(0) : parse_number(asked->second);
    if (!after) return call.reply(error_response({ErrorKind::invalid, "after: expected a whole number"}));
    return service_.audit().page(*after, answer<protocol::AuditPage>(call.reply));
  }
  call.unknown();
}

void Router::look_operation(const AdminCall& call) {
  const std::string& kind = call.pieces[2];
  service::Views& views = service_.views();
  if (!call.is("GET", 3)) return call.unknown();
  if (kind == "events") return call.reply(events_.response(call.actor.name));
  if (kind == "history") return call.reply(json_response(protocol::encode(views.history())));
  if (kind == "days") return views.days(answer<std::vector<protocol::DayInfo>>(call.reply));
  if (kind == "errors") return views.errors(answer<std::vector<protocol::ErrorGroup>>(call.reply));
  if (kind == "settings") return call.reply(json_response(protocol::encode(views.settings())));
  const auto& query = call.request.query;
  const auto asked = [&query](const char* name) {
    const auto found = query.find(name);
    return found == query.end() ? std::string() : found->second;
  };
  const auto after = asked("after").empty() ? std::optional<std::int64_t>(0) : parse_number(asked("after"));
  if (!after) return call.reply(error_response({ErrorKind::invalid, "after: expected a whole number"}));
  const auto relay = asked("relay").empty() ? std::optional<std::int64_t>(0) : parse_number(asked("relay"));
  if (!relay) return call.reply(error_response({ErrorKind::invalid, "relay: expected a whole number"}));
  service::HostQuery hosts{HostId{*after}, asked("text"), {}, asked("tag")};
  hosts.relay = HostId{*relay};
  for (const auto state :
       {protocol::HostState::active, protocol::HostState::revoked, protocol::HostState::left})
    if (asked("state") == protocol::name_of(state)) hosts.state = state;
  if (!asked("state").empty() && !hosts.state)
    return call.reply(error_response({ErrorKind::invalid, "state: expected active, revoked or left"}));
  hosts.on_hold = asked("on_hold") == "true";
  std::istringstream needs(asked("needs"));
  for (std::string need; std::getline(needs, need, ',');) {
    if (const auto read = parse_need(need); !read.ok())
      return call.reply(error_response(read.error().within("needs")));
    hosts.needs.push_back(need);
  }
  std::string column = asked("order").empty() ? "number" : asked("order");
  hosts.descending = column.starts_with('-');
  if (hosts.descending) column.erase(0, 1);
  const auto order = service::host_order_from(column);
  if (!order)
    return call.reply(
        error_response({ErrorKind::invalid, "order: expected a column, such as name or -speed"}));
  hosts.order = *order;
  views.host_pages().page(std::move(hosts), answer<protocol::HostPage>(call.reply));
}

void Router::application_operation(const AdminCall& call) {
  if (call.is("GET", 3))
    return service_.applications().list(answer<std::vector<protocol::ApplicationInfo>>(call.reply));
  if (call.is("GET", 4))
    return service_.applications().show(call.which(), answer<protocol::ApplicationInfo>(call.reply));
  if (!call.is("POST", 3)) return call.unknown();
  with_body<protocol::AddApplication>(call.request, call.reply, [&](protocol::AddApplication message) {
    service_.applications().add(std::move(message), call.change<protocol::ApplicationInfo>());
  });
}

void Router::problem_operation(const AdminCall& call) {
  if (call.is("GET", 3))
    return service_.problems().list(answer<std::vector<protocol::ProblemInfo>>(call.reply));
  if (call.is("POST", 3)) {
    return with_body<protocol::AddProblem>(call.request, call.reply, [&](protocol::AddProblem message) {
      service_.problems().add(std::move(message), call.change<protocol::ProblemInfo>());
    });
  }
  const auto id = parse_number(call.which());
  if (!id) return call.unknown();
  one_problem(call, ProblemId{*id});
}

void Router::one_problem(const AdminCall& call, ProblemId id) {
  using Action = service::Problems::Action;
  service::Problems& problems = service_.problems();
  if (call.is("GET", 4)) {
    const auto asked = [&call](const char* name, const char* value) {
      const auto found = call.request.query.find(name);
      return found != call.request.query.end() && found->second == value;
    };
    using Shares = service::Problems::Shares;
    using Content = service::Problems::Content;
    return problems.show(id, answer<protocol::ProblemInfo>(call.reply),
                         asked("hosts", "all") ? Shares::all : Shares::most,
                         asked("inputs", "true") ? Content::told : Content::left_out);
  }
  if (call.is("DELETE", 4)) return problems.remove(id, answer_done(call.reply), call.actor);
  const auto change = [&](Action what) { problems.change(id, what, call.change<protocol::ProblemInfo>()); };
  if (call.is("POST", "pause")) return change(Action::pause);
  if (call.is("POST", "resume")) return change(Action::resume);
  if (call.is("POST", "cancel")) return change(Action::cancel);
  if (call.is("POST", "retry")) return change(Action::retry);
  if (call.is("POST", "retry-failed")) return problems.retry_failed(id, call.change<protocol::ProblemInfo>());
  if (call.is("POST", "preview")) return service_.previews().preview(id, call.change<protocol::Preview>());
  if (call.is("GET", "picture"))
    return service_.previews().picture(id, answer<protocol::Preview>(call.reply));
  if (call.is("POST", "partial")) return service_.previews().partial(id, call.change<protocol::Preview>());
  if (call.is("POST", "append")) {
    return with_body<protocol::AppendInputs>(call.request, call.reply, [&](protocol::AppendInputs message) {
      problems.append(id, std::move(message), call.change<protocol::ProblemInfo>());
    });
  }
  if (call.is("POST", "strategy")) {
    return with_body<protocol::ChangeStrategy>(
        call.request, call.reply, [&](protocol::ChangeStrategy message) {
          problems.change_strategy(id, std::move(message), call.change<protocol::ProblemInfo>());
        });
  }
  if (call.is("POST", "application")) {
    return with_body<protocol::ChangeApplication>(
        call.request, call.reply, [&](protocol::ChangeApplication message) {
          problems.change_application(id, std::move(message), call.change<protocol::ProblemInfo>());
        });
  }
  if (call.is("GET", "hosts"))
    return service_.views().problem_hosts(id, answer<protocol::ProblemHosts>(call.reply));
  if (call.is("GET", "items")) return accepted_items(call, id);
  if (call.is("GET", "map")) return service_.views().item_map(id, answer<protocol::ItemMap>(call.reply));
  if (call.is("GET", "history"))
    return call.reply(json_response(protocol::encode(service_.views().history(id))));
  if (call.is("GET", "output")) {
    const auto asked = call.request.query.find("host");
    const auto host =
        asked == call.request.query.end() ? std::optional<std::int64_t>(0) : parse_number(asked->second);
    if (!host) return call.reply(error_response({ErrorKind::invalid, "host: expected its number"}));
    return problems.output(id, HostId{*host}, answer<protocol::KernelOutput>(call.reply));
  }
  if (call.is("GET", "decisions")) {
    const auto count = asked_count(call.request, decisions_default);
    if (!count) return call.reply(error_response({ErrorKind::invalid, "count: expected a whole number"}));
    return problems.decisions(id, *count, answer<std::vector<protocol::DecisionInfo>>(call.reply));
  }
  call.unknown();
}

void Router::table_page(const AdminCall& call) {
  const auto asked = [&call](const char* name) {
    const auto found = call.request.query.find(name);
    return found == call.request.query.end() ? std::string() : found->second;
  };
  const auto from = asked("from").empty() ? std::optional<std::int64_t>(0) : parse_number(asked("from"));
  const auto count = asked_count(call.request, rows_default);
  if (!from || !count)
    return call.reply(error_response({ErrorKind::invalid, "from and count: expected whole numbers"}));
  service::TableQuery query{call.which(), *from, *count};
  query.order = asked("order");
  query.descending = query.order.starts_with('-');
  if (query.descending) query.order.erase(0, 1);
  query.failed = asked("failed") == "true";
  service_.views().table_pages().page(std::move(query), answer<protocol::TablePage>(call.reply));
}

void Router::accepted_items(const AdminCall& call, ProblemId id) {
  const auto asked = [&call](const char* name) {
    const auto found = call.request.query.find(name);
    return found == call.request.query.end() ? std::string() : found->second;
  };
  const auto stage = asked("stage").empty() ? 0 : parse_number(asked("stage"));
  auto known = asked_ranges(asked("known"));
  if (!stage || *stage >= limits::stages_max || !known)
    return call.reply(error_response(
        {ErrorKind::invalid, "expected stage=STAGE, a number, and known=BEGIN-END,..., at most 500"}));
  service_.accepted_items().read(id, static_cast<int>(*stage), std::move(*known),
                                 [reply = call.reply](Result<Bytes> items) {
                                   if (!items.ok()) return reply(error_response(items.error()));
                                   Response response;
                                   response.headers["Content-Type"] = "application/octet-stream";
                                   response.headers["X-Content-Type-Options"] = "nosniff";
                                   response.body = std::move(*items);
                                   reply(std::move(response));
                                 });
}

void Router::host_admin_operation(const AdminCall& call) {
  if (call.is("GET", 3)) return service_.hosts().list(answer<std::vector<protocol::HostInfo>>(call.reply));
  const auto id = parse_number(call.which());
  if (id && call.is("GET", 4))
    return service_.hosts().show(HostId{*id}, answer<protocol::HostInfo>(call.reply));
  if (!id) return call.unknown();
  service::HostAdministration& hosts = service_.hosts();
  if (call.is("GET", "units")) {
    const auto count = asked_count(call.request, units_default);
    if (!count) return call.reply(error_response({ErrorKind::invalid, "count: expected a whole number"}));
    return service_.views().host_units(HostId{*id}, *count,
                                       answer<std::vector<protocol::UnitInfo>>(call.reply));
  }
  if (call.is("POST", "release")) return hosts.release(HostId{*id}, call.change<protocol::HostInfo>());
  if (call.is("POST", "hold")) {
    return with_body<protocol::HoldHost>(call.request, call.reply, [&](const protocol::HoldHost& message) {
      hosts.hold(HostId{*id}, message, call.change<protocol::HostInfo>());
    });
  }
  if (call.is("POST", "tags")) {
    return with_body<protocol::TagHost>(call.request, call.reply, [&](protocol::TagHost message) {
      hosts.tag(HostId{*id}, std::move(message), call.change<protocol::HostInfo>());
    });
  }
  if (!call.is("POST", "revoke")) return call.unknown();
  with_body<protocol::RevokeHost>(call.request, call.reply, [&](protocol::RevokeHost message) {
    service_.hosts().revoke(HostId{*id}, message, call.change<protocol::HostInfo>());
  });
}

void Router::code_operation(const AdminCall& call) {
  service::Codes& codes = service_.codes();
  const std::string name = call.which();
  if (call.is("GET", 3)) return codes.list(answer<std::vector<protocol::CodeInfo>>(call.reply));
  if (call.is("GET", 4)) return codes.show(name, answer<protocol::CodeInfo>(call.reply));
  if (call.is("POST", 3)) {
    return with_body<protocol::AddCode>(call.request, call.reply, [&](protocol::AddCode message) {
      codes.add(std::move(message), call.change<protocol::MadeCode>());
    });
  }
  if (call.is("POST", "rotate")) return codes.rotate(name, call.change<protocol::MadeCode>());
  if (!call.is("POST", "withdraw")) return call.unknown();
  with_body<protocol::WithdrawCode>(call.request, call.reply, [&](protocol::WithdrawCode message) {
    codes.withdraw(name, message, call.change<protocol::CodeInfo>());
  });
}

void Router::relay_admin_operation(const AdminCall& call) {
  if (call.is("GET", 3)) return service_.relays().list(answer<std::vector<protocol::RelayInfo>>(call.reply));
  if (call.is("GET", "limit"))
    return service_.views().relay_limit(call.which(), answer<protocol::RelayLimit>(call.reply));
  if (call.is("POST", "quota"))
    return with_body<protocol::RelayQuota>(
        call.request, call.reply, [&](const protocol::RelayQuota& message) {
          service_.relays().set_quota(call.which(), message, call.change<protocol::RelayInfo>());
        });
  if (!call.is("POST", 3)) return call.unknown();
  with_body<protocol::AddRelay>(call.request, call.reply, [&](const protocol::AddRelay& message) {
    service_.relays().allow(message, call.change<protocol::MadeCode>());
  });
}

void Router::token_operation(const AdminCall& call) {
  service::Admins& admins = service_.admins();
  if (call.is("GET", 3)) return admins.list(answer<std::vector<protocol::TokenInfo>>(call.reply));
  if (call.is("POST", "withdraw")) {
    const auto withdraw = [&](const protocol::WithdrawToken& message) {
      admins.withdraw(call.which(), message, call.change<protocol::TokenInfo>());
    };
    if (call.request.body.empty()) return withdraw({});
    return with_body<protocol::WithdrawToken>(call.request, call.reply, withdraw);
  }
  if (!call.is("POST", 3)) return call.unknown();
  with_body<protocol::AddToken>(call.request, call.reply, [&](protocol::AddToken message) {
    admins.add(std::move(message), call.change<protocol::MadeToken>());
  });
}

void Router::ban_operation(const AdminCall& call) {
  service::Bans& bans = service_.bans();
  if (call.is("GET", 3)) return bans.list(answer<std::vector<protocol::Ban>>(call.reply));
  if (call.is("POST", 3)) {
    return with_body<protocol::AddBan>(call.request, call.reply, [&](protocol::AddBan message) {
      bans.add(std::move(message), call.actor.name, call.request.peer, call.change<protocol::Ban>());
    });
  }
  if (!call.is("POST", "remove")) return call.unknown();
  with_body<protocol::RemoveBan>(call.request, call.reply, [&](const protocol::RemoveBan& message) {
    bans.remove(call.which(), message.subject, call.change<protocol::Ban>());
  });
}

}  // namespace gleaner::http
