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
};

constexpr std::array rows{
    Row{"GET", "status", 3, "", Role::view},
    Row{"GET", "strategies", 3, "", Role::view},
    Row{"GET", "applications", 3, "", Role::view},
    Row{"POST", "applications", 3, "", Role::operate},
    Row{"GET", "problems", 3, "", Role::view},
    Row{"GET", "problems", 4, "", Role::view},
    Row{"GET", "problems", 5, "decisions", Role::view},
    Row{"POST", "problems", 3, "", Role::operate},
    Row{"DELETE", "problems", 4, "", Role::operate},
    Row{"POST", "problems", 5, "pause", Role::operate},
    Row{"POST", "problems", 5, "resume", Role::operate},
    Row{"POST", "problems", 5, "cancel", Role::operate},
    Row{"POST", "problems", 5, "retry", Role::operate},
    Row{"POST", "problems", 5, "preview", Role::operate},  // runs the manager, keeps files
    Row{"POST", "problems", 5, "partial", Role::operate},
    Row{"POST", "problems", 5, "strategy", Role::operate},
    Row{"POST", "problems", 5, "application", Role::operate},
    Row{"GET", "hosts", 3, "", Role::view},
    Row{"GET", "hosts", 4, "", Role::view},
    Row{"POST", "hosts", 5, "revoke", Role::operate},
    Row{"GET", "codes", 3, "", Role::view},
    Row{"GET", "codes", 4, "", Role::view},
    Row{"POST", "codes", 3, "", Role::operate},
    Row{"POST", "codes", 5, "rotate", Role::operate},
    Row{"POST", "codes", 5, "withdraw", Role::operate},
    Row{"GET", "tokens", 3, "", Role::view},
    Row{"POST", "tokens", 3, "", Role::own},
    Row{"POST", "tokens", 5, "withdraw", Role::own},
};

}  // namespace

Role least_role(const std::string& method, const std::vector<std::string>& pieces) {
  if (pieces.size() > 1 && (pieces[1] == "uploads" || pieces[1] == "blobs"))
    return method == "GET" ? Role::view : Role::operate;
  const std::string_view kind = pieces.size() > 2 ? std::string_view(pieces[2]) : "";
  const std::string_view action = pieces.size() > 4 ? std::string_view(pieces[4]) : "";
  const auto* const found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
    return row.method == method && row.kind == kind && row.pieces == pieces.size() && row.action == action;
  });
  return found == rows.end() ? Role::own : found->least;
}

Status check_role(const std::string& name, Role has, Role needed) {
  if (has >= needed) return {};
  return Error{ErrorKind::forbidden, std::string("this needs the role ") + protocol::name_of(needed) +
                                         ", and the admin token " + name + " is a" +
                                         (has == Role::view ? " " : "n ") + protocol::name_of(has) +
                                         "'s: ask an owner of the project"};
}

}  // namespace gleaner::http
