#include <fmt/format.h>

#include <algorithm>

#include "tools/wire/published.h"

namespace gleaner::wire {
namespace {

constexpr std::size_t python_columns = 130;

bool is_admin(const Operation& operation) {
  return operation.path.starts_with("/v1/admin/") || operation.who == Who::admin ||
         operation.who == Who::host_or_admin;
}

std::string python_type(const Type& type) {
  switch (type.form) {
    case Form::whole:
      return "int";
    case Form::number:
      return "float";
    case Form::boolean:
      return "bool";
    case Form::text:
    case Form::bytes:
      return "str";
    case Form::list:
      return "List[" + python_type(*type.each) + "]";
    case Form::schema:
      break;
  }
  if (type.schema == "Time") return "int";
  return type.schema == "Digest" ? "str" : type.schema;
}

std::string fields_text(const Schema& schema, bool written) {
  std::string text;
  for (const auto& field : schema.fields)
    if (field.written == written) text += fmt::format("    {}: {}\n", field.name, python_type(field.type));
  return text;
}

std::string python_enumeration(const Schema& schema) {
  const auto literal = [&schema](const char* between, const char* before, const char* behind) {
    std::string names;
    for (const auto& name : schema.names)
      names += fmt::format("{}\"{}\"", names.empty() ? "" : between, name);
    return fmt::format("{} = Literal[{}{}{}]\n", schema.name, before, names, behind);
  };
  const std::string line = literal(", ", "", "");
  return line.size() <= python_columns + 1 ? line : literal(",\n    ", "\n    ", ",\n");
}

// A reader may rely on the fields that a writer never leaves out: those of the first class.
std::string python_message(const Schema& schema) {
  const std::string always = fields_text(schema, true), sometimes = fields_text(schema, false);
  const std::string about = schema.about.empty() ? "" : fmt::format("    \"\"\"{}\"\"\"\n", schema.about);
  if (sometimes.empty() || always.empty())
    return fmt::format("\n\nclass {}(TypedDict{}):\n{}{}", schema.name, always.empty() ? ", total=False" : "",
                       about, always + sometimes);
  return fmt::format("\n\nclass {0}Always(TypedDict):\n{1}\n\nclass {0}({0}Always, total=False):\n{2}{3}",
                     schema.name, always, about, sometimes);
}

std::string schema_of(const Body& body) {
  return body.media.empty() ? body.schema : "";
}

}  // namespace

std::string python_types(const Catalog& catalog, const std::vector<Operation>& operations) {
  std::vector<std::string> reached;
  for (const auto& each : operations) {
    if (!is_admin(each)) continue;
    catalog.reach(each.request.schema, reached);
    catalog.reach(each.reply.schema, reached);
  }
  std::string enumerations, messages, table;
  for (const auto& name : reached) {
    const Schema& schema = catalog.find(name);
    (schema.names.empty() ? messages : enumerations) +=
        schema.names.empty() ? python_message(schema) : python_enumeration(schema);
  }
  for (const auto& each : operations)
    if (is_admin(each))
      table += fmt::format("    \"{} {}\": (\"{}\", \"{}\"),\n", each.method, each.path,
                           schema_of(each.request), schema_of(each.reply));
  return "\"\"\"The messages and operations of the admin API. Written by gleaner-wire from "
         "shared/protocol/fields_*.h.\"\"\"\nfrom __future__ import annotations\n\n"
         "from typing import Dict, List, Literal, Tuple, TypedDict\n\n" +
         enumerations + messages +
         "\n\n# Operation -> messages of its request and reply; empty: none, or bytes.\n"
         "OPERATIONS: Dict[str, Tuple[str, str]] = {\n" +
         table + "}\n";
}

}  // namespace gleaner::wire
