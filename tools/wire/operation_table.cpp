#include <fmt/format.h>

#include "tools/wire/published.h"

namespace gleaner::wire {
namespace {

const char* who_text(Who who) {
  switch (who) {
    case Who::anyone:
      return "anyone";
    case Who::host:
      return "host";
    case Who::relay:
      return "relay";
    case Who::host_or_admin:
      return "host, admin";
    case Who::admin:
      return "admin";
    case Who::admin_or_session:
      return "admin";
    case Who::session:
      return "session";
  }
  return "";
}

std::string body_text(const Catalog& catalog, const Body& body) {
  if (!body.payload.empty()) return "SignedStatement of " + body.payload;
  if (!body.media.empty()) return body.media.front();
  if (body.schema.empty() || body.schema == "Nothing") return body.schema.empty() ? "" : "`{\"version\":1}`";
  const std::string& element = catalog.find(body.schema).element;
  return element.empty() ? body.schema : "list of " + element;
}

}  // namespace

std::string operation_table(const Catalog& catalog, const std::vector<Operation>& operations) {
  std::string text = "| operation | who | request | reply | meaning |\n|---|---|---|---|---|\n";
  for (const auto& each : operations)
    text += fmt::format("| `{} {}` | {} | {} | {} | {} |\n", each.method, each.path, who_text(each.who),
                        body_text(catalog, each.request), body_text(catalog, each.reply), each.summary);
  return text;
}

}  // namespace gleaner::wire
