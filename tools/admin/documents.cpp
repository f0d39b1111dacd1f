#include "tools/admin/documents.h"

#include "shared/base/encoding.h"
#include "shared/base/limits.h"
#include "shared/json/text.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/text.h"

namespace gleaner::admin {
namespace {

using Json = json::Value;

Result<std::string> text_field(const Json& object, const char* name) {
  const Json& text = object[name];
  if (!text.is_string() || text.string().empty())
    return Error{ErrorKind::invalid, std::string("\"") + name + "\" is missing or not a text"};
  return text.string();
}

// Would a double lose digits of this number?
bool longer_than_double(const std::string& text, double value) {
  std::string digits = text.substr(0, text.find_first_of("eE"));
  std::erase_if(digits, [](char c) { return c < '0' || c > '9'; });
  digits.erase(0, digits.find_first_not_of('0'));
  return digits.size() > 17 || (value == 0 && !digits.empty());
}

// A command line's value: JSON if it is JSON that is not nested too deep, else just text. So is a number with
// more digits than a double has: an application that wants them all gets them all.
Json value_of(const std::string& text) {
  // It becomes a level of the parameters.
  auto value = json::parse(
      text, {limits::parameters_bytes_max, limits::json_list_values_max, limits::json_depth_max - 1});
  if (!value.ok() || (value->is_fraction() && longer_than_double(text, value->number()))) return text;
  return std::move(value).value();
}

}  // namespace

Result<ProfileDocument> parse_profile(std::string_view text) {
  TRY(protocol::check_json_object(text));
  const Json object = json::parse_or_null(text);
  ProfileDocument profile;
  TRY_ASSIGN(profile.url, text_field(object, "url"));
  TRY_ASSIGN(profile.root_fingerprint, text_field(object, "root_fingerprint"));
  TRY_ASSIGN(profile.token_file, text_field(object, "token_file"));
  const auto fingerprint = from_hex(profile.root_fingerprint);
  if (!fingerprint || fingerprint->size() != 32)
    return Error{ErrorKind::invalid, "\"root_fingerprint\" is not 64 hex digits"};
  if (!object["public_certificate"].is_null()) {
    if (!object["public_certificate"].is_boolean())
      return Error{ErrorKind::invalid, "\"public_certificate\" is neither true nor false"};
    profile.public_certificate = object["public_certificate"].boolean();
  }
  if (object["tls_key"].is_null()) return profile;
  TRY_ASSIGN(profile.tls_key, text_field(object, "tls_key"));
  const auto digest = from_hex(profile.tls_key);
  if (!digest || digest->size() != 32) return Error{ErrorKind::invalid, "\"tls_key\" is not 64 hex digits"};
  return profile;
}

Result<std::string> compose_parameters(std::string_view base, const std::vector<std::string>& settings) {
  Json object = Json::object();
  if (!base.empty()) {
    TRY(protocol::check_json_object(base));
    object = json::parse_or_null(base);
  }
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      return Error{
          ErrorKind::invalid,
          "parameter \"" + protocol::clean_line(setting, limits::name_length_max) + "\" is not KEY=VALUE"};
    object[setting.substr(0, equals)] = value_of(setting.substr(equals + 1));
  }
  std::string text = json::write(object, {-1, true});
  TRY(protocol::check_json_object(text));
  if (std::cmp_greater(text.size(), limits::parameters_bytes_max))
    return Error{ErrorKind::too_large, "the parameters have more than " +
                                           std::to_string(limits::parameters_bytes_max) +
                                           " bytes: give large data as an --input file"};
  return text;
}

struct Document::State {
  json::Value object = {{"version", 1}};
};

Document::Document() : state_(std::make_unique<State>()) {}
Document::~Document() = default;
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;

Document& Document::text(const std::string& name, const std::string& value) {
  state_->object[name] = value;
  return *this;
}

Document& Document::number(const std::string& name, std::int64_t value) {
  state_->object[name] = value;
  return *this;
}

Document& Document::seconds(const std::string& name, double value) {
  state_->object[name] = value;
  return *this;
}

Document& Document::json(const std::string& name, const std::string& encoded) {
  auto value = json::parse(encoded);
  CHECK_TRUE(value.ok());
  state_->object[name] = std::move(value).value();
  return *this;
}

Document& Document::list(const std::string& name, const std::vector<Document>& values) {
  auto items = json::Value::array();
  for (const Document& value : values) {
    json::Value item = value.state_->object;
    item.erase("version");
    items.push_back(std::move(item));
  }
  state_->object[name] = std::move(items);
  return *this;
}

std::string Document::render() const {
  return json::write(state_->object, {2});
}

}  // namespace gleaner::admin
