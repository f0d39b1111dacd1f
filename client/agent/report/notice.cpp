#include "client/agent/report/notice.h"

#include "client/agent/report/report.h"
#include "shared/base/clean_text.h"
#include "shared/json/text.h"

namespace gleaner::agent {
namespace {

using Json = json::Value;

// An object of this version with a number under `key`.
Result<Json> object_of(std::string_view line, const char* key) {
  if (line.size() > notice_line_bytes_max) return Error{ErrorKind::too_large, "the line is too long"};
  Json all = json::parse_or_null(line);
  if (!all.is_object() || all["version"] != 1 || !all[key].is_integer())
    return Error{ErrorKind::invalid, std::string("this is no ") + key + " of version 1"};
  return all;
}

}  // namespace

std::string encode(const Notice& notice) {
  return json::write(Json{{"version", 1},
                          {"notice", notice.number},
                          {"title", clean_line(notice.title, notice_title_max)},
                          {"text", clean_line(notice.text, notice_text_max)}});
}

std::string encode(const NoticeAnswer& answer) {
  return json::write(Json{
      {"version", 1}, {"answer", answer.number}, {"shown", answer.shown}, {"why", printable(answer.why)}});
}

Result<Notice> decode_notice(std::string_view line) {
  TRY_ASSIGN(const Json all, object_of(line, "notice"));
  if (!all["title"].is_string() || !all["text"].is_string())
    return Error{ErrorKind::invalid, "the notice has no title and text"};
  return Notice{all["notice"].integer(), clean_line(all["title"].string(), notice_title_max),
                clean_line(all["text"].string(), notice_text_max)};
}

Result<NoticeAnswer> decode_answer(std::string_view line) {
  TRY_ASSIGN(const Json all, object_of(line, "answer"));
  if (!all["shown"].is_boolean() || !all["why"].is_string())
    return Error{ErrorKind::invalid, "the answer does not say shown and why"};
  return NoticeAnswer{all["answer"].integer(), all["shown"].boolean(), printable(all["why"].string())};
}

bool is_answer(std::string_view line) {
  return object_of(line, "answer").ok();
}

}  // namespace gleaner::agent
