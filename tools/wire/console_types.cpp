#include <fmt/format.h>

#include <algorithm>

#include "tools/wire/published.h"

namespace gleaner::wire {
namespace {

constexpr std::size_t columns = 130;

std::string script_type(const Type& type) {
  switch (type.form) {
    case Form::whole:
    case Form::number:
      return "number";
    case Form::boolean:
      return "boolean";
    case Form::text:
    case Form::bytes:
      return "string";
    case Form::list:
      return script_type(*type.each) + "[]";
    case Form::schema:
      break;
  }
  if (type.schema == "Time") return "number";
  return type.schema == "Digest" ? "string" : type.schema;
}

// Words with single spaces between them, in lines of two spaces more.
std::string wrapped(const std::vector<std::string>& words) {
  std::string text, line = " ";
  for (const auto& word : words) {
    if (line.size() + 1 + word.size() > columns) {
      text += line + "\n";
      line = " ";
    }
    line += " " + word;
  }
  return text + line + "\n";
}

}  // namespace

std::string console_types(const Catalog& catalog, const std::vector<Operation>& operations) {
  std::vector<std::string> reached;
  for (const auto& each : operations) {
    if (!each.path.starts_with("/v1/admin/") && !each.path.starts_with("/v1/console/")) continue;
    catalog.reach(each.request.schema, reached);
    catalog.reach(each.reply.schema, reached);
  }
  std::string text =
      "// The messages of the admin API and of the console. Written by gleaner-wire from "
      "shared/protocol/fields_*.h.\n";
  for (const auto& schema : catalog.schemas()) {
    if (std::find(reached.begin(), reached.end(), schema.name) == reached.end()) continue;
    if (!schema.element.empty()) continue;  // api.ts takes lists apart
    if (!schema.names.empty()) {
      std::string names;
      for (const auto& name : schema.names)
        names += fmt::format("{}\"{}\"", names.empty() ? "" : " | ", name);
      text += fmt::format("export type {} = {};\n", schema.name, names);
      continue;
    }
    std::vector<std::string> fields;
    for (const auto& field : schema.fields)
      fields.push_back(
          fmt::format("{}{}: {};", field.name, field.written ? "" : "?", script_type(field.type)));
    text += fmt::format("export interface {} {{\n{}}}\n", schema.name, wrapped(fields));
  }
  return text;
}

}  // namespace gleaner::wire
