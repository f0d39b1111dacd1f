#include "tools/admin/fleet_file.h"

#include <set>

#include "shared/base/limits.h"
#include "shared/json/text.h"
#include "shared/protocol/text.h"

namespace gleaner::admin {
namespace {

using Json = json::Value;

constexpr int shown_bytes_max = 60;
// A level of the fleet is two of JSON: the node and its list of children.
constexpr json::Bounds bounds{.depth_max = 2 * limits::plan_depth_max + 4};

Error expected(const std::string& path, const std::string& what, const Json* found) {
  const std::string text = found == nullptr
                               ? "it is missing"
                               : "found " + protocol::clean_line(json::write(*found), shown_bytes_max);
  return {ErrorKind::invalid, path + ": expected " + what + ", but " + text};
}

Status check_keys(const Json& object, const std::string& path, const std::set<std::string>& known) {
  for (const auto& [key, value] : object.members()) {
    if (known.contains(key)) continue;
    std::string names;
    for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
    return Error{ErrorKind::invalid, path + protocol::clean_line(key, shown_bytes_max) +
                                         ": there is no such key here; expected one of " + names};
  }
  return {};
}

// A number within what the planner computes with; `fallback` if the key is missing.
enum class Sign { positive, not_negative };
Result<double> number(const Json& object, const char* key, const std::string& path, Sign sign,
                      std::optional<double> fallback) {
  const std::string what =
      sign == Sign::positive ? "a number above 0 (1e-12 to 1e12)" : "a number from 0 to 1e12";
  const Json* value = object.find(key);
  if (value == nullptr && fallback) return *fallback;
  if (value == nullptr || !value->is_number()) return expected(path + key, what, value);
  const double amount = value->number();
  const double least = sign == Sign::positive ? 1 / limits::plan_number_max : 0;
  if (!(amount >= least && amount <= limits::plan_number_max)) return expected(path + key, what, value);
  return amount;
}

Result<std::string> name_of_node(const Json& node, const std::string& path) {
  const Json* value = node.find("name");
  if (value == nullptr) return std::string();
  const std::string what =
      "a text of 1 to " + std::to_string(limits::name_length_max) + " bytes without control characters";
  if (!value->is_string()) return expected(path + ".name", what, value);
  const auto& name = value->string();
  if (name.empty() || protocol::clean_line(name, limits::name_length_max) != name)
    return expected(path + ".name", what, value);
  return name;
}

Result<std::vector<const Json*>> children_of(const Json& node, const std::string& path) {
  std::vector<const Json*> children;
  const Json* list = node.find("children");
  if (list == nullptr) return children;
  if (!list->is_array()) return expected(path + ".children", "a list of nodes", list);
  for (const Json& child : list->elements()) children.push_back(&child);
  return children;
}

Status add_children(Fleet& fleet, const Json& node, std::size_t index, const std::string& path);

Status add_child(Fleet& fleet, const Json& node, std::size_t parent, const std::string& path) {
  if (!node.is_object()) return expected(path, "a node, {\"w\": ..., \"z\": ...}", &node);
  TRY(check_keys(node, path + ".", {"name", "w", "z", "children"}));
  TRY_ASSIGN(const double w, number(node, "w", path + ".", Sign::positive, std::nullopt));
  TRY_ASSIGN(const double z, number(node, "z", path + ".", Sign::not_negative, std::nullopt));
  TRY_ASSIGN(const std::string name, name_of_node(node, path));
  if (fleet.tree.size() >= static_cast<std::size_t>(limits::plan_nodes_max))
    return Error{ErrorKind::too_large, path + ": the fleet has more than " +
                                           std::to_string(limits::plan_nodes_max) +
                                           " nodes: put equal hosts of a site together as one"};
  return add_children(fleet, node, fleet.tree.add(parent, w, z, name), path);
}

Status add_children(Fleet& fleet, const Json& node, std::size_t index, const std::string& path) {
  TRY_ASSIGN(const auto children, children_of(node, path));
  if (!children.empty() && fleet.tree[index].level >= static_cast<std::size_t>(limits::plan_depth_max))
    return Error{ErrorKind::too_large, path + ".children: more than " +
                                           std::to_string(limits::plan_depth_max) +
                                           " levels below the root are not planned for"};
  for (std::size_t i = 0; i < children.size(); ++i)
    TRY(add_child(fleet, *children[i], index, path + ".children[" + std::to_string(i) + "]"));
  return {};
}

Result<planning::LoadCost> cost_of(const Json& object) {
  planning::LoadCost cost;
  TRY_ASSIGN(cost.tcp, number(object, "tcp", "", Sign::positive, cost.tcp));
  TRY_ASSIGN(cost.tcm, number(object, "tcm", "", Sign::not_negative, cost.tcm));
  TRY_ASSIGN(cost.tsol, number(object, "tsol", "", Sign::not_negative, cost.tsol));
  const Json* duplex = object.find("duplex");
  if (duplex == nullptr || *duplex == "full")
    cost.duplex = planning::Duplex::full;
  else if (*duplex == "half")
    cost.duplex = planning::Duplex::half;
  else
    return expected("duplex", "\"full\" or \"half\"", duplex);
  return cost;
}

}  // namespace

Result<Fleet> parse_fleet(std::string_view text) {
  TRY_ASSIGN(const Json object, json::parse(text, bounds));
  if (!object.is_object()) return expected("the file", "an object, {\"root\": {...}}", &object);
  TRY(check_keys(object, "", {"version", "tcp", "tcm", "tsol", "duplex", "root"}));
  Fleet fleet;
  TRY_ASSIGN(fleet.cost, cost_of(object));
  const Json* root = object.find("root");
  if (root == nullptr || !root->is_object()) return expected("root", "a node, {\"w\": 1}", root);
  TRY(check_keys(*root, "root.", {"name", "w", "z", "children"}));
  TRY_ASSIGN(const double w, number(*root, "w", "root.", Sign::positive, std::nullopt));
  TRY(number(*root, "z", "root.", Sign::not_negative, 0));  // it has no link: checked, not used
  TRY_ASSIGN(const std::string name, name_of_node(*root, "root"));
  fleet.tree = planning::LoadTree(w, name);
  TRY(add_children(fleet, *root, 0, "root"));
  TRY(planning::check_load(fleet.tree, fleet.cost));
  return fleet;
}

}  // namespace gleaner::admin
