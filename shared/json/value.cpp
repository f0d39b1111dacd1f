#include "shared/json/value.h"

#include <algorithm>
#include <numeric>

namespace gleaner::json {
namespace {

// Of a repeated name the last counts, in its place (RFC 8259 leaves it open).
void drop_repeated(std::vector<Value::Member>& members) {
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return members[a].first < members[b].first; });
  std::vector<bool> stays(members.size(), true);
  for (std::size_t i = 1; i < order.size(); ++i)
    if (members[order[i - 1]].first == members[order[i]].first) stays[order[i - 1]] = false;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!stays[i]) continue;
    if (kept != i) members[kept] = std::move(members[i]);
    ++kept;
  }
  members.erase(members.begin() + static_cast<std::ptrdiff_t>(kept), members.end());
}

bool has_repeated(const std::vector<Value::Member>& members) {
  constexpr std::size_t few = 32;  // as messages have: compared with each other, which allocates nothing
  if (members.size() > few) return true;
  for (std::size_t i = 1; i < members.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (members[i].first == members[j].first) return true;
  return false;
}

const Value nothing;

}  // namespace

Value::Value(std::initializer_list<Member> members) : Value(object(members)) {}

Value Value::array(std::initializer_list<Value> elements) {
  return array(std::vector<Value>(elements));
}

Value Value::array(std::vector<Value> elements) {
  Value value;
  value.tree_ = std::move(elements);
  return value;
}

Value Value::object(std::vector<Member> members) {
  if (has_repeated(members)) drop_repeated(members);
  Value value;
  value.tree_ = std::move(members);
  return value;
}

double Value::number() const {
  if (const auto* whole = std::get_if<std::int64_t>(&tree_)) return static_cast<double>(*whole);
  if (const auto* large = std::get_if<std::uint64_t>(&tree_)) return static_cast<double>(*large);
  return as<double>();
}

const std::vector<Value>& Value::elements() const {
  static const Elements none;
  const auto* list = std::get_if<Elements>(&tree_);
  return list == nullptr ? none : *list;
}

const std::vector<Value::Member>& Value::members() const {
  static const Members none;
  const auto* members = std::get_if<Members>(&tree_);
  return members == nullptr ? none : *members;
}

const Value* Value::find(std::string_view name) const {
  for (const auto& [key, value] : members())
    if (key == name) return &value;
  return nullptr;
}

const Value& Value::operator[](std::string_view name) const {
  const Value* found = find(name);
  return found == nullptr ? nothing : *found;
}

const Value& Value::operator[](std::size_t index) const {
  const Elements& list = elements();
  CHECK_TRUE(index < list.size());
  return list[index];
}

Value& Value::operator[](std::string_view name) {
  if (is_null()) tree_ = Members();
  auto* members = std::get_if<Members>(&tree_);
  CHECK_TRUE(members != nullptr);
  for (auto& [key, value] : *members)
    if (key == name) return value;
  return members->emplace_back(std::string(name), Value()).second;
}

void Value::push_back(Value element) {
  if (is_null()) tree_ = Elements();
  auto* list = std::get_if<Elements>(&tree_);
  CHECK_TRUE(list != nullptr);
  list->push_back(std::move(element));
}

void Value::erase(std::string_view name) {
  if (auto* members = std::get_if<Members>(&tree_))
    std::erase_if(*members, [&](const Member& member) { return member.first == name; });
}

}  // namespace gleaner::json
