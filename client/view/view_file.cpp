#include "client/view/view_file.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

namespace gleaner::view {
namespace {

using Json = nlohmann::json;

constexpr std::string_view magic = "GLNVIEW1";
constexpr std::size_t text_at = magic.size() + 8;
constexpr std::int64_t count_max = std::int64_t{1} << 53;

void put_number(Bytes& bytes, std::uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(number >> shift & 0xff));
}

std::uint32_t number_in(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return number;
}

std::uint32_t checksum(std::string_view text) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}

std::string text_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? clean_text(found->get_ref<const std::string&>()) : "";
}

std::int64_t count_of(const Json& object, const char* name, std::int64_t most = count_max) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return 0;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    return most;
  return std::clamp<std::int64_t>(found->get<std::int64_t>(), 0, most);
}

Json to_json(const View& view) {
  Json cores = Json::array();
  for (const CoreView& core : view.cores) {
    if (cores.size() == cores_shown_max) break;
    cores.push_back({{"state", clean_text(core.state)},
                     {"problem", clean_text(core.problem)},
                     {"begin", core.begin},
                     {"finished", core.finished},
                     {"end", core.end}});
  }
  const PictureView& picture = view.picture;
  return {{"version", 1},
          {"written", view.written},
          {"project", clean_text(view.project)},
          {"host", clean_text(view.host)},
          {"mode", clean_text(view.mode)},
          {"reason", clean_text(view.reason)},
          {"items_run", view.items_run},
          {"items_today", view.items_today},
          {"items_week", view.items_week},
          {"items_total", view.items_total},
          {"project_items", view.project_items},
          {"project_accepted", view.project_accepted},
          {"project_hosts", view.project_hosts},
          {"cores", cores},
          {"picture",
           {{"number", picture.number},
            {"change", picture.change},
            {"width", picture.width},
            {"height", picture.height},
            {"problem", clean_text(picture.problem)},
            {"application", clean_text(picture.application)},
            {"meaning", clean_text(picture.meaning)},
            {"items", picture.items}}}};
}

// The length of the UTF-8 sequence at `at`; 0 if it is none, or one that does not print.
std::size_t sequence(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(at);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > text.size()) return 0;
  unsigned code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80) return 0;
    code = code << 6U | (byte(at + i) & 0x3fU);
  }
  constexpr unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  // C1 controls, and marks that turn the direction of what follows.
  const bool control = code < 0xa0 || (code >= 0x200e && code <= 0x200f) ||
                       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return code < least[length] || code > 0x10ffff || surrogate || control ? 0 : length;
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string clean;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence(text, at);
    if (clean.size() + std::max<std::size_t>(length, 1) > text_bytes_max) break;
    if (length == 0)
      clean += ' ';
    else
      clean += text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return clean;
}

Bytes encode_head(const View& view) {
  View shown = view;
  std::string text = to_json(shown).dump();
  while (text.size() + text_at > static_cast<std::size_t>(head_bytes) && !shown.cores.empty()) {
    shown.cores.pop_back();  // quotes and backslashes may double what texts take
    text = to_json(shown).dump();
  }
  Bytes bytes(magic);
  put_number(bytes, checksum(text));
  put_number(bytes, static_cast<std::uint32_t>(text.size()));
  bytes += text;
  CHECK_TRUE(bytes.size() <= static_cast<std::size_t>(head_bytes));
  return bytes;
}

Result<View> parse_head(std::string_view bytes) {
  const auto refuse = [](const char* what) { return Error{ErrorKind::invalid, what}; };
  if (bytes.size() < text_at || !bytes.starts_with(magic)) return refuse("this is no view of a client");
  const std::size_t length = number_in(bytes, magic.size() + 4);
  if (length > static_cast<std::size_t>(head_bytes) - text_at || length > bytes.size() - text_at)
    return refuse("the view is cut off");
  const std::string_view text = bytes.substr(text_at, length);
  if (checksum(text) != number_in(bytes, magic.size())) return refuse("the view is being written");
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || count_of(json, "version") != 1) return refuse("the view is of another version");
  View view;
  view.written = count_of(json, "written", std::int64_t{1} << 61);
  view.project = text_of(json, "project");
  view.host = text_of(json, "host");
  view.mode = text_of(json, "mode");
  view.reason = text_of(json, "reason");
  view.items_run = count_of(json, "items_run");
  view.items_today = count_of(json, "items_today");
  view.items_week = count_of(json, "items_week");
  view.items_total = count_of(json, "items_total");
  view.project_items = count_of(json, "project_items");
  view.project_accepted = count_of(json, "project_accepted");
  view.project_hosts = count_of(json, "project_hosts");
  if (const auto cores = json.find("cores"); cores != json.end() && cores->is_array())
    for (const Json& core : *cores) {
      if (!core.is_object() || view.cores.size() == cores_shown_max) break;
      view.cores.push_back({text_of(core, "state"), text_of(core, "problem"), count_of(core, "begin"),
                            count_of(core, "finished"), count_of(core, "end")});
    }
  if (const auto found = json.find("picture"); found != json.end() && found->is_object()) {
    PictureView& picture = view.picture;
    picture.number = count_of(*found, "number");
    picture.change = count_of(*found, "change");
    picture.width = static_cast<int>(count_of(*found, "width", picture_width_max + 1));
    picture.height = static_cast<int>(count_of(*found, "height", picture_height_max + 1));
    if (picture.width > picture_width_max || picture.height > picture_height_max)
      return refuse("the picture is too large");
    if (picture.width == 0 || picture.height == 0) picture.width = picture.height = 0;
    picture.problem = text_of(*found, "problem");
    picture.application = text_of(*found, "application");
    picture.meaning = text_of(*found, "meaning");
    picture.items = count_of(*found, "items");
  }
  return view;
}

}  // namespace gleaner::view
