#include "tools/admin/flow_file.h"

#include <algorithm>
#include <map>
#include <set>

#include "shared/base/limits.h"
#include "shared/io/settings.h"
#include "shared/json/text.h"
#include "shared/protocol/console_messages.h"
#include "tools/admin/transfer.h"

namespace gleaner::admin {
namespace {

constexpr std::int64_t format = 1;

class Reader {
 public:
  explicit Reader(const io::Path& file) : file_(file) {}

  void mistake(const std::string& where, const std::string& what) {
    mistakes_ += (mistakes_.empty() ? "" : "\n") + file_.string() + ": " + where + ": " + what;
  }
  [[nodiscard]] Status finish() const {
    if (mistakes_.empty()) return {};
    return Error{ErrorKind::invalid, mistakes_};
  }

  // What the table says, but for which of its inputs are nodes.
  FlowNode node(const json::Value& table, std::size_t number) {
    FlowNode node;
    const std::string where = "node " + std::to_string(number + 1);
    node.name = text(table, "name", where);
    if (!good_name(node.name))
      mistake(where, "name: expected letters, digits, '-' and '_', at most 28, got \"" + node.name + "\"");
    const std::string called = "node " + node.name;
    node.problem.application = text(table, "app", called);
    if (node.problem.application.empty()) mistake(called, "app: missing, the application");
    node.problem.strategy = text(table, "strategy", called);
    node.problem.straggler = text(table, "straggler", called);
    node.problem.validation = text(table, "validation", called);
    node.problem.weight = number_of(table, "weight", 1, called);
    node.problem.priority = static_cast<int>(std::clamp(number_of(table, "priority", 0, called), -8.0, 8.0));
    const json::Value& parameters = table["parameters"];
    if (!parameters.is_null() && !parameters.is_object()) mistake(called, "parameters: expected a table");
    node.problem.parameters = json::write(parameters.is_object() ? parameters : json::Value::object());
    node.after = texts(table, "after", called);
    for (const std::string& each : texts(table, "inputs", called)) node.inputs.push_back(input(each, called));
    if (const std::string path = text(table, "table", called); !path.empty())
      node.inputs.push_back(input("table.csv=" + path, called));
    for (const auto& [key, value] : table.members())
      if (!known.contains(key)) mistake(called, key + ": unknown key");
    return node;
  }

 private:
  inline static const std::set<std::string> known{"name",     "app",       "parameters", "inputs",
                                                  "table",    "after",     "weight",     "priority",
                                                  "strategy", "straggler", "validation"};

  static bool good_name(const std::string& name) {
    return !name.empty() && name.size() <= 28 && std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-' || c == '_';
    });
  }

  std::string text(const json::Value& table, const char* key, const std::string& where) {
    const json::Value& value = table[key];
    if (value.is_string()) return value.string();
    if (!value.is_null()) mistake(where, std::string(key) + ": expected a text");
    return {};
  }
  double number_of(const json::Value& table, const char* key, double otherwise, const std::string& where) {
    const json::Value& value = table[key];
    if (value.is_number()) return value.number();
    if (!value.is_null()) mistake(where, std::string(key) + ": expected a number");
    return otherwise;
  }
  std::vector<std::string> texts(const json::Value& table, const char* key, const std::string& where) {
    std::vector<std::string> found;
    for (const json::Value& value : table[key].elements()) {
      if (value.is_string())
        found.push_back(value.string());
      else
        mistake(where, std::string(key) + ": expected texts");
    }
    if (!table[key].is_null() && !table[key].is_array())
      mistake(where, std::string(key) + ": expected a list");
    return found;
  }

  // [NAME=]PATH; whether it is a node's result is seen once all nodes are known.
  FlowInput input(const std::string& word, const std::string& where) {
    const std::size_t equals = word.find('=');
    FlowInput read;
    read.file = equals == std::string::npos ? word : word.substr(equals + 1);
    read.name = equals == std::string::npos ? read.file.filename().string() : word.substr(0, equals);
    if (!check_result_name(read.name).ok())
      mistake(where, "inputs: \"" + word + "\" is not [NAME=]FILE with a plain file name as NAME");
    return read;
  }

  const io::Path& file_;
  std::string mistakes_;
};

// "NODE/RESULT" is a result; all else is a file beside the flow's.
void find_sources(Flow& flow, const io::Path& directory) {
  std::set<std::string> names;
  for (const FlowNode& node : flow.nodes) names.insert(node.name);
  for (FlowNode& node : flow.nodes) {
    for (FlowInput& input : node.inputs) {
      const std::string path = input.file.string();
      const std::size_t slash = path.find('/');
      if (slash != std::string::npos && names.contains(path.substr(0, slash)) &&
          path.find('/', slash + 1) == std::string::npos) {
        input.node = path.substr(0, slash);
        input.result = path.substr(slash + 1);
        input.file.clear();
        node.after.push_back(input.node);
      } else {
        input.file = directory / input.file;
      }
    }
    std::sort(node.after.begin(), node.after.end());
    node.after.erase(std::unique(node.after.begin(), node.after.end()), node.after.end());
  }
}

// Each after those that it needs; what is left over is a circle.
void sort_nodes(Flow& flow, Reader& reader) {
  std::set<std::string> names, done;
  for (const FlowNode& node : flow.nodes)
    if (!names.insert(node.name).second) reader.mistake("node " + node.name, "there are two of this name");
  for (const FlowNode& node : flow.nodes)
    for (const std::string& other : node.after)
      if (!names.contains(other)) reader.mistake("node " + node.name, "after: there is no node " + other);
  std::vector<FlowNode> sorted, left = std::move(flow.nodes);
  while (!left.empty()) {
    const auto ready = std::stable_partition(left.begin(), left.end(), [&](const FlowNode& node) {
      return !std::all_of(node.after.begin(), node.after.end(), [&](const std::string& other) {
        return done.contains(other) || !names.contains(other);
      });
    });
    if (ready == left.end()) {
      for (const FlowNode& node : left)
        reader.mistake("node " + node.name, "it waits for itself in a circle");
      return;
    }
    for (auto node = ready; node != left.end(); ++node) done.insert(node->name);
    sorted.insert(sorted.end(), std::make_move_iterator(ready), std::make_move_iterator(left.end()));
    left.erase(ready, left.end());
  }
  flow.nodes = std::move(sorted);
}

}  // namespace

Result<Flow> parse_flow(std::string_view text, const io::Path& file) {
  Flow flow;
  std::int64_t version = 0;
  std::vector<json::Value> tables;
  io::Settings settings;
  settings.add("flow", &version, 1, format, "");
  settings.add("name", &flow.name, "");
  settings.add_tables("node", &tables, protocol::FlowInfo::nodes_max);
  TRY(settings.parse(text, file.string()));
  Reader reader(file);
  if (version == 0) reader.mistake("flow", "missing: expected flow = 1");
  if (flow.name.empty() || flow.name.size() > 30 || !check_result_name(flow.name).ok())
    reader.mistake("name", "expected 1 to 30 letters that may stand in a file's name");
  if (tables.empty()) reader.mistake("node", "missing: expected [[node]] at least once");
  for (std::size_t i = 0; i < tables.size(); ++i) {
    flow.nodes.push_back(reader.node(tables[i], i));
    flow.nodes.back().problem.name = flow.name + "/" + flow.nodes.back().name;
  }
  find_sources(flow, file.parent_path());
  sort_nodes(flow, reader);
  TRY(reader.finish());
  return flow;
}

}  // namespace gleaner::admin
