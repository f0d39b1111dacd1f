#include "server/http/permissions.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace gleaner::http {
namespace {

using protocol::Role;

// /v1/admin/KIND[/WHICH[/ACTION]]: an operation has three, four or five pieces.
struct Row {
  std::string_view method;
  std::string_view kind;
  std::size_t pieces = 3;
  std::string_view action;
  Role least = Role::own;
  std::string_view act = look;
  bool admits = false;
};

constexpr std::array rows{
    Row{"GET", "status", 3, "", Role::view},
    Row{"GET", "strategies", 3, "", Role::view},
    Row{"GET", "applications", 3, "", Role::view},
    Row{"GET", "applications", 4, "", Role::view},
    Row{"POST", "applications", 3, "", Role::operate, "application add"},
    Row{"GET", "problems", 3, "", Role::view},
    Row{"GET", "problems", 4, "", Role::view},
    Row{"GET", "problems", 5, "decisions", Role::view},
    Row{"GET", "problems", 5, "output", Role::view},
    Row{"GET", "problems", 5, "items", Role::view},
    Row{"GET", "problems", 5, "hosts", Role::view},
    Row{"GET", "flows", 4, "", Role::view},
    Row{"POST", "flows", 3, "", Role::operate, "flow add"},
    Row{"POST", "problems", 3, "", Role::operate, "problem add"},
    Row{"POST", "estimates", 3, "", Role::operate, "estimate"},  // runs the manager
    Row{"DELETE", "problems", 4, "", Role::operate, "problem delete"},
    Row{"POST", "problems", 5, "pause", Role::operate, "problem pause"},
    Row{"POST", "problems", 5, "resume", Role::operate, "problem resume"},
    Row{"POST", "problems", 5, "cancel", Role::operate, "problem cancel"},
    Row{"POST", "problems", 5, "retry", Role::operate, "problem retry"},
    Row{"POST", "problems", 5, "append", Role::operate, "problem append"},
    Row{"POST", "problems", 5, "retry-failed", Role::operate, "problem retry-failed"},
    Row{"POST", "problems", 5, "preview", Role::operate, "problem preview"},  // runs the manager, keeps files
    Row{"POST", "problems", 5, "partial", Role::operate, "problem partial"},
    Row{"POST", "problems", 5, "strategy", Role::operate, "problem strategy"},
    Row{"POST", "problems", 5, "application", Role::operate, "problem application"},
    Row{"GET", "problems", 5, "picture", Role::view},
    Row{"GET", "problems", 5, "map", Role::view},
    Row{"GET", "problems", 5, "history", Role::view},
    Row{"GET", "events", 3, "", Role::view},
    Row{"GET", "history", 3, "", Role::view},
    Row{"GET", "days", 3, "", Role::view},
    Row{"GET", "errors", 3, "", Role::view},
    Row{"GET", "settings", 3, "", Role::operate},
    Row{"GET", "host-pages", 3, "", Role::view},
    Row{"GET", "tables", 4, "", Role::view},
    Row{"GET", "metrics", 3, "", Role::view},
    Row{"GET", "hosts", 3, "", Role::view},
    Row{"GET", "hosts", 4, "", Role::view},
    Row{"GET", "hosts", 5, "units", Role::view},
    Row{"POST", "hosts", 5, "revoke", Role::operate, "host revoke"},
    Row{"POST", "hosts", 5, "hold", Role::operate, "host hold"},
    Row{"POST", "hosts", 5, "release", Role::operate, "host release"},
    Row{"POST", "hosts", 5, "tags", Role::operate, "host tags"},
    Row{"GET", "codes", 3, "", Role::view},
    Row{"GET", "codes", 4, "", Role::view},
    Row{"POST", "codes", 3, "", Role::operate, "code add", true},
    Row{"POST", "codes", 5, "rotate", Role::operate, "code rotate", true},
    Row{"POST", "codes", 5, "withdraw", Role::operate, "code withdraw"},
    Row{"GET", "relay", 3, "", Role::view},
    Row{"GET", "relays", 3, "", Role::view},
    Row{"GET", "relays", 5, "limit", Role::view},
    Row{"POST", "relays", 3, "", Role::operate, "relay allow", true},
    Row{"POST", "relays", 5, "quota", Role::operate, "relay quota"},
    Row{"GET", "audit", 3, "", Role::view},
    Row{"GET", "bans", 3, "", Role::view},
    Row{"POST", "bans", 3, "", Role::operate, "ban add"},
    Row{"POST", "bans", 5, "remove", Role::operate, "ban remove"},
    Row{"GET", "tokens", 3, "", Role::view},
    Row{"POST", "tokens", 3, "", Role::own, "token add", true},
    Row{"POST", "tokens", 5, "withdraw", Role::own, "token withdraw"},
};

}  // namespace

Permission permission_of(const std::string& method, const std::vector<std::string>& pieces) {
  if (pieces.size() > 1 && (pieces[1] == "uploads" || pieces[1] == "blobs"))
    return method == "GET" ? Permission{Role::view, look, false} : Permission{Role::operate, "upload", false};
  if (pieces.size() > 1 && pieces[1] == "console") return {Role::view, "console link", false};
  const std::string_view kind = pieces.size() > 2 ? std::string_view(pieces[2]) : "";
  const std::string_view action = pieces.size() > 4 ? std::string_view(pieces[4]) : "";
  const auto* const found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
    return row.method == method && row.kind == kind && row.pieces == pieces.size() && row.action == action;
  });
  if (found == rows.end()) return {Role::own, method == "GET" ? look : "unknown operation", false};
  return {found->least, std::string(found->act), found->admits};
}

Status check_role(const std::string& name, Role has, Role needed) {
  if (has >= needed) return {};
  return Error{ErrorKind::forbidden, std::string("this needs the role ") + protocol::name_of(needed) +
                                         ", and the admin token " + name + " is a" +
                                         (has == Role::view ? " " : "n ") + protocol::name_of(has) +
                                         "'s: ask an owner of the project"};
}

}  // namespace gleaner::http
