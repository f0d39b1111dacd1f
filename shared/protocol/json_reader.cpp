#include "shared/protocol/json_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "shared/base/check.h"
#include "shared/base/encoding.h"
#include "shared/json/text.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/text.h"

namespace gleaner::protocol::codec {
namespace {

// Bounds are part of the message, so that who wrote the program at the other end sees what is wrong.
std::string bounds(std::int64_t low, std::int64_t high) {
  return " from " + std::to_string(low) + " to " + std::to_string(high);
}

std::string shortest(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

}  // namespace

void JsonReader::check_version() {
  if (!object_->is_object()) return fail("expected a JSON object");
  std::int64_t theirs = 0;
  field("version", theirs, Whole{}, true);
  if (!failed() && theirs == version) return;
  const std::string got = failed() ? "does not say its version" : "has version " + std::to_string(theirs);
  failure_ = std::string(title_) + ": this program speaks protocol version " + std::to_string(version) +
             ", the message " + got + ": update the older of the two programs";
}

void JsonReader::read_leaf(const Node& node, bool& value, Plain) {
  if (!node.is_boolean()) return fail("expected true or false");
  value = node.boolean();
}

void JsonReader::read_leaf(const Node& node, Timestamp& value, Plain) {
  constexpr std::int64_t latest = 253'402'300'799'999'999;  // the end of the year 9999
  read_leaf(node, value, Whole{0, latest});
}

void JsonReader::read_leaf(const Node& node, Timestamp& value, const Whole& kind) {
  std::int64_t us = 0;
  read_leaf(node, us, kind);
  value = from_microseconds(us);
}

void JsonReader::read_leaf(const Node& node, std::int64_t& value, const Whole& kind) {
  if (!node.is_number() || node.is_fraction()) return fail("expected a whole number");
  // What is no integer here is larger than one may be: beyond every bound.
  if (!node.is_integer() || node.integer() < kind.low || node.integer() > kind.high)
    return fail("expected a whole number" + bounds(kind.low, kind.high));
  value = node.integer();
}

void JsonReader::read_leaf(const Node& node, int& value, const Whole& kind) {
  constexpr std::int64_t int_max = std::numeric_limits<int>::max();
  std::int64_t number = 0;
  read_leaf(node, number, Whole{kind.low, std::min(kind.high, int_max)});
  value = static_cast<int>(number);
}

void JsonReader::read_leaf(const Node& node, double& value, const Number& kind) {
  if (!node.is_number()) return fail("expected a number");
  const double number = node.number();
  if (!std::isfinite(number) || number < kind.low || number > kind.high)
    return fail("expected a number from " + shortest(kind.low) + " to " + shortest(kind.high));
  value = number;
}

void JsonReader::read_leaf(const Node& node, double& value, Real) {
  if (!node.is_number()) return fail("expected a number");
  value = node.number();
}

void JsonReader::read_leaf(const Node& node, std::string& value, const Text& kind) {
  const auto text = text_of(node, kind.bytes_max);
  if (!text) return;
  if (!is_clean(*text)) return fail("expected text without control or invisible characters");
  value = *text;
}

void JsonReader::read_leaf(const Node& node, std::string& value, Prose) {
  const auto text = text_of(node, limits::message_length_max);
  if (!text) return;
  if (!is_clean(*text, "\n\t")) return fail("expected text without control or invisible characters");
  value = *text;
}

void JsonReader::read_leaf(const Node& node, std::string& value, const Document& kind) {
  if (const auto text = text_of(node, kind.bytes_max)) value = *text;
}

void JsonReader::read_leaf(const Node& node, std::string& value, Digest) {
  const auto text = text_of(node, limits::message_length_max);
  if (!text) return;
  if (!is_digest(*text)) return fail("expected a SHA-256 digest: 64 characters of 0-9 and a-f");
  value = *text;
}

void JsonReader::read_leaf(const Node& node, std::string& value, const Raw& kind) {
  const auto text = text_of(node, (kind.bytes_max * 4 + 2) / 3);
  if (!text) return;
  auto raw = from_base64url(*text);
  if (!raw) return fail("expected base64url without padding");
  if (raw->size() < kind.bytes_min)
    return fail("expected at least " + std::to_string(kind.bytes_min) + " bytes, got " +
                std::to_string(raw->size()));
  value = std::move(*raw);
}

const JsonReader::Node* JsonReader::member(const char* name) {
  if (!object_->is_array()) return object_->find(name);
  return next_ < object_->size() ? &(*object_)[next_++] : nullptr;
}

const JsonReader::Node* JsonReader::enter(const Node& node) {
  const Node* outer = object_;
  if (node.is_object())
    object_ = &node;
  else
    fail("expected a JSON object");
  return outer;
}

const JsonReader::Node* JsonReader::enter_row(const Node& node) {
  const Node* outer = object_;
  if (node.is_array())
    object_ = &node;
  else
    fail("expected a list");
  return outer;
}

std::size_t JsonReader::count_of_list(const Node& node, std::size_t count_max) {
  if (!node.is_array()) {
    fail("expected a list");
    return 0;
  }
  if (node.size() > count_max) {
    fail("expected at most " + std::to_string(count_max) + " elements, got " + std::to_string(node.size()));
    return 0;
  }
  return node.size();
}

const JsonReader::Node& JsonReader::element(const Node& node, std::size_t index) {
  return node[index];
}

bool JsonReader::is_text(const Node& node, const char* text) {
  return node.is_string() && node.string() == text;
}

std::optional<std::string_view> JsonReader::text_of(const Node& node, std::size_t bytes_max) {
  if (!node.is_string()) {
    fail("expected text");
    return std::nullopt;
  }
  const std::string& text = node.string();
  if (text.size() > bytes_max) {
    fail("expected at most " + std::to_string(bytes_max) + " bytes of text, got " +
         std::to_string(text.size()));
    return std::nullopt;
  }
  return text;
}

void JsonReader::push(Step step) {
  CHECK_TRUE(depth_ < path_.size());  // field lists nest less deep than any message may
  path_[depth_++] = step;
}

void JsonReader::fail(const std::string& what) {
  if (failed()) return;
  std::string path;
  for (std::size_t i = 0; i < depth_; ++i) {
    if (path_[i].name == nullptr)
      path += "[" + std::to_string(path_[i].index) + "]";
    else
      path += (path.empty() ? "" : ".") + std::string(path_[i].name);
  }
  const std::string title = *title_ == '\0' ? "" : std::string(title_) + ": ";
  failure_ = title + (path.empty() ? what : path + ": " + what);
}

}  // namespace gleaner::protocol::codec

namespace gleaner::protocol {

Status check_json_object(std::string_view text) {
  const auto tree = json::parse(text, {limits::parameters_bytes_max, limits::json_list_values_max});
  if (!tree.ok()) return tree.error().within("parameters");
  if (!tree->is_object())
    return Error{ErrorKind::invalid, "parameters: expected a JSON object, for example {\"width\": 640}"};
  return {};
}

}  // namespace gleaner::protocol
