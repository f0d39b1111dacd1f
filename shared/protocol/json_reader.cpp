#include "shared/protocol/json_reader.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "shared/base/check.h"
#include "shared/base/encoding.h"

namespace gleaner::protocol::json {
namespace {

constexpr std::size_t digest_length = 64;

// C0, delete, and C1 (U+0080 to U+009F), which terminals obey as well. `text` is valid UTF-8.
bool has_control_characters(std::string_view text, std::string_view allowed) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if ((byte < 0x20 || byte == 0x7F) && allowed.find(text[i]) == std::string_view::npos) return true;
    if (byte == 0xC2 && static_cast<std::uint8_t>(text[i + 1]) < 0xA0) return true;
  }
  return false;
}

// Bounds are part of the message, so that who wrote the program at the other end sees what is wrong.
std::string bounds(std::int64_t low, std::int64_t high) {
  return " from " + std::to_string(low) + " to " + std::to_string(high);
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
  value = node.get<bool>();
}

void JsonReader::read_leaf(const Node& node, Timestamp& value, Plain) {
  constexpr std::int64_t latest = 253'402'300'799'999'999;  // the end of the year 9999
  std::int64_t us = 0;
  read_leaf(node, us, Whole{0, latest});
  value = from_microseconds(us);
}

void JsonReader::read_leaf(const Node& node, std::int64_t& value, const Whole& kind) {
  if (!node.is_number_integer()) return fail("expected a whole number");
  // Unsigned numbers that do not fit turn up negative here, and no bound is that low.
  const auto number = node.get<std::int64_t>();
  const bool too_big = node.is_number_unsigned() && number < 0;
  if (too_big || number < kind.low || number > kind.high)
    return fail("expected a whole number" + bounds(kind.low, kind.high));
  value = number;
}

void JsonReader::read_leaf(const Node& node, int& value, const Whole& kind) {
  constexpr std::int64_t int_max = std::numeric_limits<int>::max();
  std::int64_t number = 0;
  read_leaf(node, number, Whole{kind.low, std::min(kind.high, int_max)});
  value = static_cast<int>(number);
}

void JsonReader::read_leaf(const Node& node, double& value, const Number& kind) {
  if (!node.is_number()) return fail("expected a number");
  const auto number = node.get<double>();
  if (!std::isfinite(number) || number < kind.low || number > kind.high)
    return fail("expected a number from " + Node(kind.low).dump() + " to " + Node(kind.high).dump());
  value = number;
}

void JsonReader::read_leaf(const Node& node, std::string& value, const Text& kind) {
  const std::string* text = text_of(node, kind.bytes_max);
  if (text == nullptr) return;
  if (has_control_characters(*text, "")) return fail("expected text without control characters");
  value = *text;
}

void JsonReader::read_leaf(const Node& node, std::string& value, Prose) {
  const std::string* text = text_of(node, limits::message_length_max);
  if (text == nullptr) return;
  if (has_control_characters(*text, "\n\t")) return fail("expected text without control characters");
  value = *text;
}

void JsonReader::read_leaf(const Node& node, std::string& value, const Document& kind) {
  if (const std::string* text = text_of(node, kind.bytes_max)) value = *text;
}

void JsonReader::read_leaf(const Node& node, std::string& value, Digest) {
  const std::string* text = text_of(node, limits::message_length_max);
  if (text == nullptr) return;
  if (text->size() != digest_length || text->find_first_not_of("0123456789abcdef") != std::string::npos)
    return fail("expected a SHA-256 digest: 64 characters of 0-9 and a-f");
  value = *text;
}

void JsonReader::read_leaf(const Node& node, std::string& value, const Raw& kind) {
  const std::string* text = text_of(node, (kind.bytes_max * 4 + 2) / 3);
  if (text == nullptr) return;
  auto raw = from_base64url(*text);
  if (!raw) return fail("expected base64url without padding");
  if (raw->size() < kind.bytes_min)
    return fail("expected at least " + std::to_string(kind.bytes_min) + " bytes, got " +
                std::to_string(raw->size()));
  value = std::move(*raw);
}

const JsonReader::Node* JsonReader::member(const char* name) const {
  const auto found = object_->find(name);
  return found == object_->end() ? nullptr : &*found;
}

const JsonReader::Node* JsonReader::enter(const Node& node) {
  const Node* outer = object_;
  if (node.is_object())
    object_ = &node;
  else
    fail("expected a JSON object");
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
  return node.is_string() && node.get_ref<const std::string&>() == text;
}

const std::string* JsonReader::text_of(const Node& node, std::size_t bytes_max) {
  if (!node.is_string()) {
    fail("expected text");
    return nullptr;
  }
  const auto& text = node.get_ref<const std::string&>();
  if (text.size() > bytes_max) {
    fail("expected at most " + std::to_string(bytes_max) + " bytes of text, got " +
         std::to_string(text.size()));
    return nullptr;
  }
  return &text;
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
  failure_ = std::string(title_) + ": " + (path.empty() ? what : path + ": " + what);
}

}  // namespace gleaner::protocol::json
