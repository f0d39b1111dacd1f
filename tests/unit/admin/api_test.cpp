#include "tools/admin/api.h"

#include "shared/io/compression.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/admin/test_world.h"

namespace gleaner::admin {
namespace {

struct Fixture {
  TestWorld world;
  Outside outside = world.outside();
  Api api{outside.connect({}), {test_url, {}, test_token, "/etc/token"}, outside};
};

std::string document(const std::string& kind, int status, const std::string& detail) {
  return protocol::encode(protocol::ProblemDocument{"urn:gleaner:error:" + kind, "title", status, detail});
}

}  // namespace

TEST_CASE("every error document becomes an error that says what to do", "[api]") {
  const Connection connection{test_url, {}, test_token, "/etc/token"};
  const auto error_for = [&](int status, const std::string& body) {
    io::HttpReply reply;
    reply.status = status;
    reply.body = body;
    return error_of_reply(reply, connection);
  };
  CHECK(error_for(404, document("not-found", 404, "no problem 3 here")) ==
        Error{ErrorKind::not_found, "no problem 3 here"});
  CHECK(error_for(400, document(name_of(ErrorKind::too_large), 400, "too much")).kind ==
        ErrorKind::too_large);
  // A kind we do not know (a later server): the status counts.
  CHECK(error_for(409, document("from-the-future", 409, "twice")).kind == ErrorKind::conflict);
  const Error refused = error_for(401, document("unauthorized", 401, "bad token"));
  CHECK(refused.kind == ErrorKind::unauthorized);
  CHECK(refused.message.find("/etc/token") != std::string::npos);
  // The title stands in for a missing detail; escapes never reach a terminal.
  CHECK(error_for(400, document("invalid", 400, "")).message == "title");
  CHECK(error_for(400, document("invalid", 400, "a\n\tb")).message.find('\n') == std::string::npos);
  // No document at all: not a Gleaner server, or a proxy before it.
  CHECK(error_for(502, "<html>Bad gateway</html>").kind == ErrorKind::unavailable);
  CHECK(error_for(200, "").kind == ErrorKind::internal);
  CHECK(error_for(403, "").kind == ErrorKind::forbidden);
  CHECK(error_for(418, "").kind == ErrorKind::invalid);
  CHECK(error_for(418, "").message.find(test_url) != std::string::npos);
}

TEST_CASE("requests carry the token and the path", "[api]") {
  Fixture f;
  f.world.server.on("GET /v1/admin/problems/7/decisions?count=3", 200, R"({"version":1,"items":[]})");
  REQUIRE(f.api.decisions(ProblemId{7}, 3).ok());
  REQUIRE(f.world.server.calls().size() == 1);
  CHECK(f.world.server.calls().front().header("Authorization") == std::string("Bearer ") + test_token);
}

TEST_CASE("a busy server is asked again, as late as it says", "[api]") {
  Fixture f;
  f.world.server.on("GET /v1/admin/problems", 503, document("unavailable", 503, "starting"),
                    {{"retry-after", "7"}});
  f.world.server.on("GET /v1/admin/problems", 200, R"({"version":1,"items":[]})");
  REQUIRE(f.api.problems().ok());
  REQUIRE(f.world.waits.size() == 1);
  CHECK(f.world.waits.front() == std::chrono::seconds{7});
}

TEST_CASE("retries are bounded, and nobody waits for minutes", "[api]") {
  Fixture f;
  f.world.server.fail("GET /v1/admin/problems", {ErrorKind::unavailable, "refused"});
  CHECK(f.api.problems().error().kind == ErrorKind::unavailable);
  CHECK(f.world.server.calls().size() == 4);
  Duration waited{0};
  for (const Duration each : f.world.waits) waited += each;
  CHECK(waited < std::chrono::seconds{4});

  Fixture slow;
  slow.world.server.on("GET /v1/admin/problems", 429, document("unavailable", 429, "later"),
                       {{"retry-after", "600"}});
  CHECK(slow.api.problems().error().kind == ErrorKind::unavailable);
  CHECK(slow.world.server.calls().size() == 1);
  CHECK(slow.world.waits.empty());
}

TEST_CASE("a problem is not added twice when an answer gets lost", "[api]") {
  Fixture f;
  f.world.server.fail("POST /v1/admin/problems", {ErrorKind::unavailable, "connection lost"});
  protocol::AddProblem problem;
  problem.application = "ray";
  problem.name = "x";
  problem.parameters = "{}";
  const auto added = f.api.add_problem(problem);
  REQUIRE_FALSE(added.ok());
  CHECK(f.world.server.calls().size() == 1);
  CHECK(added.error().message.find("problem list") != std::string::npos);
  // Untrusted is final too.
  f.world.server.fail("GET /v1/admin/hosts", {ErrorKind::untrusted, "other root key"});
  CHECK(f.api.hosts().error().kind == ErrorKind::untrusted);
  CHECK(f.world.server.calls().size() == 2);
}

TEST_CASE("an answer that cannot be read is an error", "[api]") {
  Fixture f;
  f.world.server.on("GET /v1/admin/hosts", 200, R"({"version":2,"items":[]})");
  CHECK(f.api.hosts().error().message.find("version") != std::string::npos);
}

TEST_CASE("chunks are compressed where it pays", "[api]") {
  Fixture f;
  const std::string path = "/v1/uploads/" + std::string(64, 'd');
  f.world.server.on("PATCH " + path, 200,
                    protocol::encode(protocol::UploadState{std::string(64, 'd'), 1000, false}));
  REQUIRE(f.api.append_upload(std::string(64, 'd'), 0, 5000, std::string(1000, 'x')).ok());
  const auto& packed = f.world.server.calls().back();
  CHECK(packed.header("Content-Encoding") == "deflate");
  CHECK(packed.header("Upload-Offset") == "0");
  CHECK(packed.header("Upload-Length") == "5000");
  CHECK(io::decompress(packed.request.body, 1000).value() == std::string(1000, 'x'));
  REQUIRE(f.api.append_upload(std::string(64, 'd'), 0, 5000, "short").ok());
  CHECK(f.world.server.calls().back().header("Content-Encoding").empty());
  CHECK(f.world.server.calls().back().request.body == "short");
}

}  // namespace gleaner::admin
