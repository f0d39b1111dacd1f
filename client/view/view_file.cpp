#include "client/view/view_file.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "shared/base/clean_text.h"
#include "shared/json/text.h"

namespace gleaner::view {
namespace {

using Json = json::Value;

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
  const Json& text = object[name];
  return text.is_string() ? clean_text(text.string()) : "";
}

std::int64_t count_of(const Json& object, const char* name, std::int64_t most = count_max) {
  const Json& count = object[name];
  return count.is_integer() ? std::clamp<std::int64_t>(count.integer(), 0, most) : 0;
}

Json to_json(const View& view) {
  Json cores = Json::array();
  for (const CoreView& core : view.cores) {
    if (cores.size() == cores_shown_max) break;
    cores.push_back(Json{{"state", clean_text(core.state)},
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
          {"given", {{"today", view.given.today}, {"week", view.given.week}, {"year", view.given.year}}},
          {"project_items", view.project_items},
          {"project_done_millionths", view.project_done_millionths},
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

}  // namespace

std::string clean_text(std::string_view text) {
  return clean_line(text, text_bytes_max);
}

Bytes encode_head(const View& view) {
  View shown = view;
  std::string text = json::write(to_json(shown));
  while (text.size() + text_at > static_cast<std::size_t>(head_bytes) && !shown.cores.empty()) {
    shown.cores.pop_back();  // quotes and backslashes may double what texts take
    text = json::write(to_json(shown));
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
  const Json all = json::parse_or_null(text);
  if (!all.is_object() || count_of(all, "version") != 1) return refuse("the view is of another version");
  View view;
  view.written = count_of(all, "written", std::int64_t{1} << 61);
  view.project = text_of(all, "project");
  view.host = text_of(all, "host");
  view.mode = text_of(all, "mode");
  view.reason = text_of(all, "reason");
  view.items_run = count_of(all, "items_run");
  if (const Json& given = all["given"]; given.is_object())
    view.given = {count_of(given, "today"), count_of(given, "week"), count_of(given, "year")};
  view.project_items = count_of(all, "project_items");
  view.project_done_millionths = count_of(all, "project_done_millionths");
  view.project_hosts = count_of(all, "project_hosts");
  if (all["cores"].is_array())
    for (const Json& core : all["cores"].elements()) {
      if (!core.is_object() || view.cores.size() == cores_shown_max) break;
      view.cores.push_back({text_of(core, "state"), text_of(core, "problem"), count_of(core, "begin"),
                            count_of(core, "finished"), count_of(core, "end")});
    }
  if (const Json& found = all["picture"]; found.is_object()) {
    PictureView& picture = view.picture;
    picture.number = count_of(found, "number");
    picture.change = count_of(found, "change");
    picture.width = static_cast<int>(count_of(found, "width", picture_width_max + 1));
    picture.height = static_cast<int>(count_of(found, "height", picture_height_max + 1));
    if (picture.width > picture_width_max || picture.height > picture_height_max)
      return refuse("the picture is too large");
    if (picture.width == 0 || picture.height == 0) picture.width = picture.height = 0;
    picture.problem = text_of(found, "problem");
    picture.application = text_of(found, "application");
    picture.meaning = text_of(found, "meaning");
    picture.items = count_of(found, "items");
  }
  return view;
}

}  // namespace gleaner::view
