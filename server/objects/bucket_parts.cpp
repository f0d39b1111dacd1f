// Objects that are sent in parts.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "server/objects/bucket.h"
#include "server/objects/xml.h"

namespace gleaner::objects {
namespace {

Error no_answer(const Place& place, const std::string& to) {
  return {ErrorKind::io, "the object store " + place.shown() + " does not answer to " + to + " as it should"};
}

std::string without_quotes(std::string text) {
  std::erase(text, '"');
  return text;
}

}  // namespace

Result<std::vector<OpenUpload>> Bucket::uploads(const std::string& prefix) {
  Call call;
  call.of_bucket = true;
  call.query = {{"uploads", ""}, {"prefix", place_.prefix + prefix}};
  TRY_ASSIGN(const auto reply, send(call));
  const auto document = parse_xml(reply.body);
  if (!document.ok() || document->name != "ListMultipartUploadsResult")
    return no_answer(place_, "the question for uploads");
  std::vector<OpenUpload> uploads;
  for (const Element& each : document->children) {
    if (each.name != "Upload" || !each.at("Key").starts_with(place_.prefix)) continue;
    uploads.push_back({each.at("Key").substr(place_.prefix.size()), each.at("UploadId"),
                       parse_time(each.at("Initiated")).value_or(outside_.clock.now())});
  }
  return uploads;
}

Result<std::string> Bucket::begin_upload(const std::string& key) {
  Call call;
  call.method = "POST";
  call.key = key;
  call.query = {{"uploads", ""}};
  TRY_ASSIGN(const auto reply, send(call));
  const auto document = parse_xml(reply.body);
  if (!document.ok() || document->at("UploadId").empty()) return no_answer(place_, "the begin of an upload");
  return document->at("UploadId");
}

Result<std::vector<Part>> Bucket::parts(const std::string& key, const std::string& id) {
  std::vector<Part> parts;
  for (std::string from;;) {
    Call call;
    call.key = key;
    call.query = {{"uploadId", id}};
    if (!from.empty()) call.query.emplace_back("part-number-marker", from);
    TRY_ASSIGN(const auto reply, send(call));
    const auto document = parse_xml(reply.body);
    if (!document.ok() || document->name != "ListPartsResult")
      return no_answer(place_, "the question for parts");
    for (const Element& each : document->children)
      if (each.name == "Part")
        parts.push_back({std::atoi(each.at("PartNumber").c_str()), std::atoll(each.at("Size").c_str()),
                         without_quotes(each.at("ETag"))});
    const std::string next = document->at("NextPartNumberMarker");
    if (document->at("IsTruncated") != "true") return parts;
    if (next.empty() || next == from || parts.size() > 20'000)
      return no_answer(place_, "the question for parts");
    from = next;
  }
}

Result<std::string> Bucket::put_part(const std::string& key, const std::string& id, int number,
                                     std::string_view bytes) {
  Call call;
  call.method = "PUT";
  call.key = key;
  call.query = {{"partNumber", std::to_string(number)}, {"uploadId", id}};
  call.body = bytes;
  TRY_ASSIGN(const auto reply, send(call));
  const auto tag = reply.headers.find("etag");
  if (tag == reply.headers.end()) return no_answer(place_, "a part");
  return without_quotes(tag->second);
}

Result<std::string> Bucket::complete(const std::string& key, const std::string& id,
                                     const std::vector<Part>& parts) {
  std::string body = "<CompleteMultipartUpload>";
  for (const Part& part : parts)
    body +=
        fmt::format("<Part><PartNumber>{}</PartNumber><ETag>\"{}\"</ETag></Part>", part.number, part.etag);
  body += "</CompleteMultipartUpload>";
  Call call;
  call.method = "POST";
  call.key = key;
  call.query = {{"uploadId", id}};
  call.body = body;
  TRY_ASSIGN(const auto reply, send(call));
  // A store that takes long answers 200 at once, and in the body how it went.
  const auto document = parse_xml(reply.body);
  if (!document.ok() || document->name != "CompleteMultipartUploadResult")
    return Error{ErrorKind::io, "the object store did not put " + key + " together" +
                                    (document.ok() ? ": " + document->at("Code") : std::string())};
  return without_quotes(document->at("ETag"));
}

Status Bucket::abort(const std::string& key, const std::string& id) {
  Call call;
  call.method = "DELETE";
  call.key = key;
  call.query = {{"uploadId", id}};
  const auto reply = send(call);
  if (reply.ok() || reply.error().kind == ErrorKind::not_found) return {};
  return reply.error();
}

}  // namespace gleaner::objects
