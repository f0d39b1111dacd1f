#include "tools/wire/catalog.h"

#include <fmt/format.h>

#include <utility>

#include "shared/base/check.h"

namespace gleaner::wire {

bool Catalog::has(std::string_view name) const {
  return std::any_of(schemas_.begin(), schemas_.end(),
                     [&](const Schema& schema) { return schema.name == name; });
}

const Schema& Catalog::find(std::string_view name) const {
  const auto found = std::find_if(schemas_.begin(), schemas_.end(),
                                  [&](const Schema& schema) { return schema.name == name; });
  CHECK_TRUE(found != schemas_.end());
  return *found;
}

void Catalog::reach(const std::string& name, std::vector<std::string>& reached) const {
  if (name.empty() || name == "Nothing" || name == "Time" || name == "Digest") return;
  if (std::find(reached.begin(), reached.end(), name) != reached.end()) return;
  reached.push_back(name);
  for (const auto& field : find(name).fields)
    reach((field.type.each ? *field.type.each : field.type).schema, reached);
}

std::size_t Catalog::begin(const std::string& name, std::string about) {
  Schema schema;
  schema.name = name;
  schema.about = std::move(about);
  schemas_.push_back(std::move(schema));
  return schemas_.size() - 1;
}

Type FieldWalk::of(Form form) {
  Type type;
  type.form = form;
  return type;
}

Type FieldWalk::named(std::string schema) {
  Type type;
  type.schema = std::move(schema);
  return type;
}

Type FieldWalk::leaf(const protocol::codec::Whole& kind) {
  Type type = of(Form::whole);
  type.low = fmt::format("{}", kind.low);
  if (kind.high < protocol::codec::Whole{}.high) type.high = fmt::format("{}", kind.high);
  return type;
}

Type FieldWalk::leaf(const protocol::codec::Number& kind) {
  Type type = of(Form::number);
  constexpr double unbounded = protocol::codec::Number{}.high;
  if (kind.low > -unbounded) type.low = fmt::format("{}", kind.low);
  if (kind.high < unbounded) type.high = fmt::format("{}", kind.high);
  return type;
}

Type FieldWalk::leaf(const protocol::codec::Text& kind) {
  Type type = of(Form::text);
  type.length = kind.bytes_max;
  return type;
}

Type FieldWalk::leaf(protocol::codec::Prose) {
  return of(Form::text);
}

Type FieldWalk::leaf(const protocol::codec::Document& kind) {
  Type type = of(Form::text);
  type.length = kind.bytes_max;
  return type;
}

Type FieldWalk::leaf(protocol::codec::Digest) {
  return named("Digest");
}

Type FieldWalk::leaf(const protocol::codec::Raw&) {
  return of(Form::bytes);
}

}  // namespace gleaner::wire
