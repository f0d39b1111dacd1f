#include "tests/unit/storage/memory_objects.h"

#include <openssl/evp.h>

#include <cstdlib>

#include "shared/base/encoding.h"

namespace gleaner::storage::testing {
namespace {

using Asked = std::map<std::string, std::string>;

std::string md5(std::string_view bytes) {
  Bytes out(16, '\0');
  EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(out.data()), nullptr, EVP_md5(),
             nullptr);
  return out;
}

std::string plain(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '%')
      out += static_cast<char>(std::strtol(text.substr(i + 1, 2).c_str(), nullptr, 16)), i += 2;
    else
      out += text[i];
  return out;
}

Asked asked_of(const std::string& text) {
  Asked query;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('&', begin), text.size());
    const std::string pair = text.substr(begin, end - begin);
    const std::size_t equals = pair.find('=');
    query[plain(pair.substr(0, equals))] = plain(pair.substr(equals + 1));
    begin = end + 1;
  }
  return query;
}

io::HttpReply reply(int status, Bytes body = {}, std::map<std::string, std::string> headers = {}) {
  return {status, std::move(headers), std::move(body), {}};
}

io::HttpReply error(int status, const std::string& code) {
  return reply(status, "<Error><Code>" + code + "</Code></Error>");
}

class Client final : public io::HttpClient {
 public:
  explicit Client(MemoryObjects& store) : store_(store) {}
  Result<io::HttpReply> send(const io::HttpRequest& request) override { return store_.answer(request); }

 private:
  MemoryObjects& store_;
};

}  // namespace

std::unique_ptr<io::HttpClient> MemoryObjects::client() {
  return std::make_unique<Client>(*this);
}

Result<io::HttpReply> MemoryObjects::answer(const io::HttpRequest& request) {
  const std::lock_guard lock(mutex_);
  ++requests;
  if (before)
    if (auto said = before(request)) return *said;
  const std::string path = request.url.substr(request.url.find('/', request.url.find("://") + 3));
  const std::size_t mark = path.find('?');
  const std::string key = path.substr(0, mark);
  const Asked query = mark == std::string::npos ? Asked{} : asked_of(path.substr(mark + 1));
  if (key.find('/', 1) == std::string::npos) return list(key, query);
  if (request.method == "PUT") return put(request, key, query);
  if (request.method == "POST") return post(key, query);
  if (request.method == "DELETE") {
    if (query.contains("uploadId"))
      uploads.erase(query.at("uploadId"));
    else
      objects.erase(key);
    return reply(204);
  }
  if (query.contains("uploadId")) {
    const auto found = uploads.find(query.at("uploadId"));
    if (found == uploads.end()) return error(404, "NoSuchUpload");
    std::string body = "<ListPartsResult>";
    for (const auto& [number, bytes] : found->second.parts)
      body += "<Part><PartNumber>" + std::to_string(number) + "</PartNumber><Size>" +
              std::to_string(bytes.size()) + "</Size><ETag>\"" + to_hex(md5(bytes)) + "\"</ETag></Part>";
    return reply(200, body + "</ListPartsResult>");
  }
  return get(request, key);
}

io::HttpReply MemoryObjects::get(const io::HttpRequest& request, const std::string& key) {
  const auto found = objects.find(key);
  if (found == objects.end()) return error(404, "NoSuchKey");
  const Object& object = found->second;
  if (request.method == "HEAD")
    return reply(200, {},
                 {{"content-length", std::to_string(object.bytes.size())},
                  {"etag", "\"" + object.etag + "\""},
                  {"last-modified", to_rfc3339(object.modified)}});
  Bytes bytes = object.bytes;
  if (spoil) spoil(key, bytes);
  for (const auto& [name, value] : request.headers) {
    if (name != "range") continue;
    const auto from = static_cast<std::size_t>(std::atoll(value.c_str() + 6));
    const auto to = static_cast<std::size_t>(std::atoll(value.c_str() + value.find('-') + 1));
    if (from >= bytes.size()) return error(416, "InvalidRange");
    const Bytes part = bytes.substr(from, to - from + 1);
    return reply(
        206, part,
        {{"content-range", "bytes " + std::to_string(from) + "-" + std::to_string(from + part.size() - 1) +
                               "/" + std::to_string(bytes.size())}});
  }
  return reply(200, bytes);
}

io::HttpReply MemoryObjects::put(const io::HttpRequest& request, const std::string& key, const Asked& query) {
  const std::string etag = tells_checksums ? to_hex(md5(request.body)) : "of-its-own";
  if (!query.contains("uploadId")) {
    objects[key] = {request.body, etag, clock_.now()};
  } else {
    const auto found = uploads.find(query.at("uploadId"));
    if (found == uploads.end()) return error(404, "NoSuchUpload");
    found->second.parts[std::atoi(query.at("partNumber").c_str())] = request.body;
  }
  return reply(200, {}, {{"etag", "\"" + etag + "\""}});
}

io::HttpReply MemoryObjects::post(const std::string& key, const Asked& query) {
  if (query.contains("uploads")) {
    const std::string id = "upload " + std::to_string(next_++);
    uploads[id] = {key, {}, clock_.now()};
    return reply(200, "<InitiateMultipartUploadResult><UploadId>" + id +
                          "</UploadId></InitiateMultipartUploadResult>");
  }
  const auto found = uploads.find(query.at("uploadId"));
  if (found == uploads.end()) return error(404, "NoSuchUpload");
  Bytes whole, sums;
  for (const auto& [number, bytes] : found->second.parts) whole += bytes, sums += md5(bytes);
  const std::string etag =
      tells_checksums ? to_hex(md5(sums)) + "-" + std::to_string(found->second.parts.size()) : "of-its-own";
  objects[key] = {whole, etag, clock_.now()};
  uploads.erase(found);
  return reply(
      200, "<CompleteMultipartUploadResult><ETag>\"" + etag + "\"</ETag></CompleteMultipartUploadResult>");
}

io::HttpReply MemoryObjects::list(const std::string& bucket, const Asked& query) {
  if (query.contains("uploads")) {
    std::string body = "<ListMultipartUploadsResult>";
    for (const auto& [id, upload] : uploads)
      body += "<Upload><Key>" + upload.key.substr(bucket.size() + 1) + "</Key><UploadId>" + id +
              "</UploadId><Initiated>" + to_rfc3339(upload.begun) + "</Initiated></Upload>";
    return reply(200, body + "</ListMultipartUploadsResult>");
  }
  constexpr int page = 2;  // so that there are several
  std::string body = "<ListBucketResult>", last;
  int count = 0;
  const std::string from = query.contains("continuation-token") ? query.at("continuation-token") : "";
  for (const auto& [path, object] : objects) {
    const std::string key = path.substr(bucket.size() + 1);
    if (!key.starts_with(query.at("prefix")) || key <= from) continue;
    if (count++ == page) {
      body += "<IsTruncated>true</IsTruncated><NextContinuationToken>" + last + "</NextContinuationToken>";
      break;
    }
    last = key;
    body += "<Contents><Key>" + key + "</Key><Size>" + std::to_string(object.bytes.size()) +
            "</Size><LastModified>" + to_rfc3339(object.modified) + "</LastModified></Contents>";
  }
  return reply(200, body + "</ListBucketResult>");
}

}  // namespace gleaner::storage::testing
