// A bucket, and a store that does what the test says.
#include "server/objects/bucket.h"

#include <deque>

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::objects;
using Catch::Matchers::Contains;

namespace {

struct Script {
  std::deque<Result<io::HttpReply>> replies;  // the last is said for ever
  std::vector<io::HttpRequest> requests;
  std::vector<Duration> pauses;
  FakeClock clock;
};

class ScriptedClient final : public io::HttpClient {
 public:
  explicit ScriptedClient(Script& script) : script_(script) {}
  Result<io::HttpReply> send(const io::HttpRequest& request) override {
    script_.requests.push_back(request);
    auto reply = script_.replies.front();
    if (script_.replies.size() > 1) script_.replies.pop_front();
    return reply;
  }

 private:
  Script& script_;
};

io::HttpReply reply(int status, Bytes body = {}, std::map<std::string, std::string> headers = {}) {
  return {status, std::move(headers), std::move(body), {}};
}

io::HttpReply error(int status, const std::string& code) {
  return reply(status, "<Error><Code>" + code + "</Code></Error>");
}

Bucket bucket_of(Script& script) {
  return {*parse_place("s3+http://127.0.0.1:9000/blobs/project/a"),
          {"id", "secret", "us-east-1"},
          {[&script] { return std::make_unique<ScriptedClient>(script); }, script.clock,
           [&script](Duration pause) {
             script.pauses.push_back(pause);
             script.clock.advance(pause);
           }}};
}

}  // namespace

TEST_CASE("a place is read from its address, and shown as it was") {
  const auto place = parse_place("s3+https://Objects.example.org:443/blobs/a/b/");
  REQUIRE(place.ok());
  CHECK(place->scheme == "https");
  CHECK(place->host == "objects.example.org");
  CHECK(place->path("key") == "/blobs/a/b/key");
  CHECK(place->shown() == "s3+https://objects.example.org/blobs/a/b");
  CHECK(parse_place("s3+http://[::1]:9000/b")->host == "[::1]:9000");
  for (const char* wrong : {"", "https://a/b", "s3://a/b", "s3+https://a", "s3+https://a/", "s3+https:///b",
                            "s3+ftp://a/b", "s3+https://a/b//c", "s3+https://a/b/../c", "s3+https://a/b?c",
                            "s3+https://user:word@a/b", "s3+https://:443/b", "s3+https://a:443:443/b",
                            "s3+https://a:/b", "s3+https://[]/b", "s3+https://[::1/b", "s3+https://a/b/c d"})
    CHECK(parse_place(wrong).error().kind == ErrorKind::invalid);
}

TEST_CASE("a part of an object is asked for by a signed range") {
  Script script;
  script.replies = {reply(206, "cde", {{"content-range", "bytes 2-4/9"}})};
  Bucket bucket = bucket_of(script);
  const auto piece = bucket.get("blobs/x", 2, 3);
  REQUIRE(piece.ok());
  CHECK(piece->bytes == "cde");
  CHECK(piece->all == 9);
  CHECK(script.requests[0].url == "http://127.0.0.1:9000/blobs/project/a/blobs/x");
  CHECK(script.requests[0].headers[0] == std::pair<std::string, std::string>{"range", "bytes=2-4"});
  CHECK_THAT(script.requests[0].headers.back().second, Contains("SignedHeaders=host;range;"));
}

TEST_CASE("another part than was asked for is no answer") {
  for (const auto& wrong : {reply(206, "cd", {{"content-range", "bytes 2-3/9"}}), reply(200, "abcdefghi"),
                            reply(206, "cde"), reply(206, "cde", {{"content-range", "bytes 2-4/4"}}),
                            reply(206, "cde", {{"content-range", "nonsense"}})}) {
    Script script;
    script.replies = {wrong};
    CHECK(bucket_of(script).get("x", 2, 3).error().kind == ErrorKind::io);
  }
}

TEST_CASE("what may pass is tried again, with growing pauses; then the store is left alone for a while") {
  Script script;
  script.replies = {error(503, "SlowDown"), Error{ErrorKind::unavailable, "cut"},
                    reply(200, "", {{"etag", "\"tag\""}})};
  Bucket bucket = bucket_of(script);
  CHECK(*bucket.put("x", "bytes") == "tag");
  CHECK(script.pauses.size() == 2);
  CHECK(bucket.health().ok());
  CHECK(bucket.figures().requests == 3);
  CHECK(bucket.figures().failures == 2);

  script.replies = {Error{ErrorKind::unavailable, "refuses connections"}};
  script.requests.clear();
  CHECK(bucket.put("x", "bytes").error().kind == ErrorKind::io);
  CHECK(script.requests.size() == 4);
  for (std::size_t i = 3; i < script.pauses.size(); ++i) CHECK(script.pauses[i] <= script.pauses[i - 1] * 4);
  CHECK_THAT(bucket.health().error().message, Contains("refuses connections"));
  CHECK(bucket.look("y").error().kind == ErrorKind::io);
  CHECK(script.requests.size() == 4);  // it was not asked
  CHECK(!bucket.wants_probe());
  script.clock.advance(std::chrono::seconds{30});
  CHECK(bucket.wants_probe());
  script.replies = {reply(200, "", {{"content-length", "5"}})};
  CHECK(bucket.look("y")->bytes == 5);
  CHECK(bucket.health().ok());
}

TEST_CASE("what will not pass is told at once, with what to do") {
  const auto answer = [](const io::HttpReply& said) {
    Script script;
    script.replies = {said};
    const auto got = bucket_of(script).get("x", 0, 3);
    CHECK(script.requests.size() == 1);
    return got.error();
  };
  CHECK(answer(error(404, "NoSuchKey")).kind == ErrorKind::not_found);
  CHECK(answer(error(404, "NoSuchBucket")).kind == ErrorKind::forbidden);
  CHECK_THAT(answer(error(404, "NoSuchBucket")).message, Contains("make it"));
  CHECK_THAT(answer(error(403, "SignatureDoesNotMatch")).message,
             Contains("keys") && Contains("SignatureDoesNotMatch"));
  CHECK_THAT(answer(reply(301)).message, Contains("blobs.url"));
}

TEST_CASE("a listing is read page by page, without the place's prefix") {
  Script script;
  script.replies = {
      reply(200,
            "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t/1=</"
            "NextContinuationToken>"
            "<Contents><Key>project/a/blobs/1</Key><Size>3</Size><LastModified>2026-11-25T20:00:00.000Z</"
            "LastModified>"
            "</Contents><Contents><Key>other/2</Key><Size>3</Size></Contents></ListBucketResult>"),
      reply(200, "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"),
      reply(200, "<html/>")};
  Bucket bucket = bucket_of(script);
  const auto first = bucket.list("blobs/", "");
  REQUIRE(first.ok());
  REQUIRE(first->objects.size() == 1);
  CHECK(first->objects[0].key == "blobs/1");
  CHECK(first->objects[0].modified == *parse_time("Wed, 25 Nov 2026 20:00:00 GMT"));
  CHECK(first->next == "t/1=");
  CHECK(bucket.list("blobs/", first->next)->next.empty());
  CHECK_THAT(script.requests[1].url,
             Contains("continuation-token=t%2F1%3D&list-type=2&prefix=project%2Fa%2Fblobs%2F"));
  CHECK(bucket.list("blobs/", "").error().kind == ErrorKind::io);
}

TEST_CASE("parts that the store did not put together are no object") {
  Script script;
  script.replies = {
      reply(200, "<CompleteMultipartUploadResult><ETag>\"a-2\"</ETag></CompleteMultipartUploadResult>"),
      reply(200, "  <Error><Code>InternalError</Code></Error>")};
  Bucket bucket = bucket_of(script);
  CHECK(*bucket.complete("x", "id", {{1, 5, "a"}, {2, 5, "b"}}) == "a-2");
  CHECK_THAT(std::string(script.requests[0].body), Contains("<PartNumber>2</PartNumber><ETag>\"b\"</ETag>"));
  CHECK(bucket.complete("x", "id", {{1, 5, "a"}}).error().kind == ErrorKind::io);
}

TEST_CASE("where hosts reach a store is https, or this computer's own http") {
  CHECK(*parse_origin("https://Objects.example.org:443/") == "https://objects.example.org");
  CHECK(*parse_origin("https://objects.example.org:8443") == "https://objects.example.org:8443");
  CHECK(*parse_origin("http://127.0.0.1:8080") == "http://127.0.0.1:8080");
  CHECK(*parse_origin("http://[::1]:8080") == "http://[::1]:8080");
  for (const char* wrong : {"", "objects.example.org", "http://objects.example.org", "http://10.0.0.1:80",
                            "ftp://127.0.0.1", "https://", "https://a/bucket", "https://user@a",
                            "https://a?b", "http://127.0.0.1.example.org", "s3+https://a"}) {
    INFO(wrong);
    CHECK(!parse_origin(wrong).ok());
  }
}

TEST_CASE("an address is for one method, object and length, and asks the store nothing") {
  Script script;
  script.replies = {reply(200)};
  const Bucket bucket = bucket_of(script);
  const auto of = [&](const std::string& method, const std::string& key, std::int64_t bytes) {
    return bucket.address("https://objects.example.org", method, key, {}, bytes, std::chrono::seconds{900});
  };
  const std::string get = of("GET", "one", -1);
  CHECK_THAT(get,
             Catch::Matchers::StartsWith("https://objects.example.org/blobs/project/a/one?X-Amz-Algorithm="));
  CHECK_THAT(get, Contains("X-Amz-Expires=900&X-Amz-SignedHeaders=host&X-Amz-Signature="));
  const auto signature = [](const std::string& address) { return address.substr(address.rfind('=')); };
  CHECK(signature(get) == signature(of("GET", "one", -1)));
  CHECK(signature(get) != signature(of("PUT", "one", -1)));
  CHECK(signature(get) != signature(of("GET", "two", -1)));
  CHECK(signature(of("PUT", "one", 5)) != signature(of("PUT", "one", 6)));
  CHECK(script.requests.empty());
}

TEST_CASE("a removal is not tried again, and not at all by who has no say any more") {
  Script script;
  bool leads = true;
  Bucket bucket{
      *parse_place("s3+http://127.0.0.1:9000/blobs"),
      {"id", "secret", "us-east-1"},
      {[&script] { return std::make_unique<ScriptedClient>(script); }, script.clock, [](Duration) {},
       [&script, &leads] {
         script.clock.advance(std::chrono::hours{2});  // it stood still just here
         return leads;
       }}};
  script.replies = {reply(503)};
  CHECK(bucket.remove("one").error().kind == ErrorKind::io);
  CHECK(script.requests.size() == 1);
  script.clock.advance(std::chrono::hours{1});
  script.replies = {reply(204)};
  const std::string before = to_rfc3339(script.clock.now());
  CHECK(bucket.remove("one").ok());
  std::string signed_at;
  for (const auto& [name, value] : script.requests.back().headers)
    if (name == "x-amz-date") signed_at = value;
  CHECK(signed_at.substr(9, 4) ==
        before.substr(11, 2) + before.substr(14, 2));  // as of before it stood still
  leads = false;
  CHECK(bucket.remove("one").error().kind == ErrorKind::conflict);
  CHECK(script.requests.size() == 2);
  CHECK(bucket.health().ok());
}
