// The program as its users call it: arguments, output, exit codes, against a scripted server.
#include "tools/admin/program.h"

#include <filesystem>
#include <regex>

#include "shared/crypto/act_chain.h"
#include "shared/crypto/keys.h"
#include "shared/json/text.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/admin/test_world.h"

namespace gleaner::admin {
namespace {

std::string error_document(const std::string& kind, int status, const std::string& detail) {
  return protocol::encode(protocol::ProblemDocument{"urn:gleaner:error:" + kind, "", status, detail});
}

protocol::ProblemInfo a_problem(std::int64_t id, const std::string& name) {
  protocol::ProblemInfo problem;
  problem.id = ProblemId{id};
  problem.name = name;
  problem.application = "ray@1.0";
  problem.state = protocol::ProblemState::running;
  problem.items = 10;
  return problem;
}

bool says(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("wrong command lines exit with 2 and explain themselves", "[program]") {
  TestWorld world;
  const std::vector<std::vector<std::string>> wrong{{},
                                                    {"problem"},
                                                    {"no-such-command"},
                                                    {"status", "--no-such-option"},
                                                    {"problem", "add"},
                                                    {"problem", "add", "--app", "x", "--weight", "0"},
                                                    {"problem", "add", "--app", "x", "--priority", "1.5"},
                                                    {"problem", "add", "--app", "x", "--name", "a\nb"},
                                                    {"problem", "decisions", "1", "--count", "0"},
                                                    {"problem", "watch", "1", "--interval", "never"},
                                                    {"problem", "result", "1", "--row", "a"},
                                                    {"problem", "result", "1", "--row", "3", "--row", "5-3"},
                                                    {"run-local", "x", "--jobs", "0"},
                                                    {"keys", "create"}};
  for (const auto& arguments : wrong) {
    CHECK(world.run(arguments) == 2);
    CHECK(world.out.empty());
    CHECK(says(world.error, "gleaner-admin: "));
  }
  CHECK(world.run({"problem", "add", "--json"}) == 2);
  CHECK(json::parse_or_null(world.out)["error"].string() == "invalid");
}

TEST_CASE("every command has help, with exit status 0, and the manual knows its options", "[program]") {
  TestWorld world;
  const std::string manual = world.read(GLEANER_MANUAL);
  REQUIRE_FALSE(manual.empty());
  const std::vector<std::vector<std::string>> commands{{},
                                                       {"keys"},
                                                       {"keys", "create"},
                                                       {"keys", "signer"},
                                                       {"keys", "work"},
                                                       {"app"},
                                                       {"app", "sign"},
                                                       {"app", "add"},
                                                       {"app", "list"},
                                                       {"app", "show"},
                                                       {"problem"},
                                                       {"problem", "add"},
                                                       {"problem", "list"},
                                                       {"problem", "show"},
                                                       {"problem", "watch"},
                                                       {"problem", "pause"},
                                                       {"problem", "resume"},
                                                       {"problem", "cancel"},
                                                       {"problem", "result"},
                                                       {"problem", "delete"},
                                                       {"problem", "decisions"},
                                                       {"host"},
                                                       {"host", "list"},
                                                       {"host", "show"},
                                                       {"host", "revoke"},
                                                       {"token"},
                                                       {"token", "add"},
                                                       {"token", "list"},
                                                       {"token", "withdraw"},
                                                       {"code"},
                                                       {"code", "add"},
                                                       {"code", "list"},
                                                       {"code", "show"},
                                                       {"code", "rotate"},
                                                       {"code", "withdraw"},
                                                       {"status"},
                                                       {"run-local"},
                                                       {"plan"}};
  for (auto arguments : commands) {
    arguments.push_back("--help");
    CHECK(world.run(arguments) == 0);
    CHECK(says(world.out, "Usage: "));
    CHECK(world.error.empty());
    const std::regex option("(^|[ ,])--([a-z-]+)");
    for (std::sregex_iterator each(world.out.begin(), world.out.end(), option), end; each != end; ++each) {
      INFO(world.out);
      CHECK(says(manual, "Fl -" + (*each)[2].str()));
    }
  }
  CHECK(world.run({"--version"}) == 0);
  CHECK(says(world.out, "gleaner-admin "));
}

TEST_CASE("exit codes tell scripts what happened", "[program]") {
  TestWorld world;
  CHECK(world.run({"--project", world.directory.string(), "status"}) == 4);  // no profile
  world.add_profile();
  world.server.fail("GET /v1/admin/status", {ErrorKind::unavailable, "the server refuses connections"});
  CHECK(world.run({"status"}) == 3);
  CHECK(says(world.error, "refuses connections"));
  world.server.fail("GET /v1/admin/hosts", {ErrorKind::untrusted, "another root key"});
  CHECK(world.run({"host", "list"}) == 5);
  world.server.on("GET /v1/admin/problems", 401, error_document("unauthorized", 401, "no such token"));
  CHECK(world.run({"problem", "list"}) == 5);
  CHECK(says(world.error, "admin/token"));
  world.server.on("GET /v1/admin/problems/9", 404, error_document("not-found", 404, "no problem 9 here"));
  CHECK(world.run({"problem", "show", "9", "--json"}) == 4);
  CHECK(json::parse_or_null(world.out)["message"].string() == "no problem 9 here");
  world.server.on("POST /v1/admin/problems", 400, error_document("invalid", 400, "width: must be positive"));
  CHECK(world.run({"problem", "add", "--app", "ray"}) == 1);
  CHECK(says(world.error, "width: must be positive"));
  CHECK(world.connected_to == Bytes(32, '\xaa'));
}

TEST_CASE("a problem is added as told", "[program]") {
  TestWorld world;
  world.add_profile();
  const std::string mesh = "v 0 0 0\n";
  const io::Path file = world.write("bunny.obj", mesh);
  const std::string digest = crypto::sha256_hex(mesh);
  world.server.on("GET /v1/uploads/" + digest, 200,
                  protocol::encode(protocol::UploadState{digest, 0, false}));
  world.server.on(
      "PATCH /v1/uploads/" + digest, 200,
      protocol::encode(protocol::UploadState{digest, static_cast<std::int64_t>(mesh.size()), true}));
  world.server.on("POST /v1/admin/problems", 201, protocol::encode(a_problem(3, "picture")));
  const io::Path parameters = world.write("p.json", R"({"width": 1, "scene": "A"})");
  REQUIRE(world.run({"problem",
                     "add",
                     "--app",
                     "ray@1.0",
                     "--name",
                     "picture",
                     "--parameters",
                     parameters.string(),
                     "--param",
                     "width=840",
                     "--param",
                     "scene=D",
                     "--input",
                     "mesh.obj=" + file.string(),
                     "--strategy",
                     "static,items=5",
                     "--straggler",
                     "none",
                     "--weight",
                     "2.5",
                     "--priority",
                     "-3",
                     "--commit-seconds",
                     "15"}) == 0);
  CHECK(says(world.out, "added problem 3 (picture)"));
  const auto sent = protocol::decode<protocol::AddProblem>(world.server.calls().back().request.body);
  REQUIRE(sent.ok());
  CHECK(sent->application == "ray@1.0");
  CHECK(sent->name == "picture");
  CHECK(sent->parameters == R"({"scene":"D","width":840})");
  REQUIRE(sent->inputs.size() == 1);
  CHECK(sent->inputs.front().name == "mesh.obj");
  CHECK(sent->inputs.front().digest == digest);
  CHECK(sent->strategy == "static,items=5");
  CHECK(sent->straggler == "none");
  CHECK(sent->weight == 2.5);
  CHECK(sent->priority == -3);
  CHECK(sent->commit_seconds == 15);
  // What is not given is left to the server's settings.
  REQUIRE(world.run({"problem", "add", "--app", "ray@1.0"}) == 0);
  const auto plain = protocol::decode<protocol::AddProblem>(world.server.calls().back().request.body);
  CHECK(plain->name.empty());
  CHECK(plain->strategy.empty());
  CHECK(plain->straggler.empty());
  CHECK(plain->parameters == "{}");
  // A directory stands for the files in it.
  const io::Path many = world.directory / "many";
  std::filesystem::create_directories(many);
  for (int i = 0; i < 1000; ++i) world.write("many/" + std::to_string(i) + ".txt", std::to_string(i));
  world.server.handler = [](const ScriptedServer::Call& call) -> std::optional<Result<io::HttpReply>> {
    constexpr std::string_view place = "GET /v1/uploads/";
    if (!call.call.starts_with(place)) return std::nullopt;
    return io::HttpReply{
        200, {}, protocol::encode(protocol::UploadState{call.call.substr(place.size()), 0, true})};
  };
  REQUIRE(world.run({"problem", "add", "--app", "ray", "--input", many.string(), "--input",
                     "mesh.obj=" + file.string()}) == 0);
  const auto thousand = protocol::decode<protocol::AddProblem>(world.server.calls().back().request.body);
  REQUIRE(thousand->inputs.size() == 1001);
  CHECK(thousand->inputs[0].name == "0.txt");
  CHECK(thousand->inputs[1000].name == "mesh.obj");
  world.server.handler = {};
  std::filesystem::create_directories(many / "inner");
  CHECK(world.run({"problem", "add", "--app", "ray", "--input", many.string()}) == 1);
  CHECK(says(world.error, "inner is a directory: name it by itself"));
  // Mistakes in inputs are found before anything is sent.
  const std::size_t calls = world.server.calls().size();
  CHECK(world.run({"problem", "add", "--app", "ray", "--input", "../x=" + file.string()}) == 1);
  CHECK(world.run({"problem", "add", "--app", "ray", "--input", "a=" + file.string(), "--input", "a=b"}) ==
        1);
  CHECK(world.run({"problem", "add", "--app", "ray", "--param", "width"}) == 1);
  CHECK(world.server.calls().size() == calls);
  CHECK(world.run({"problem", "add", "--app", "ray", "--input", "a=/no/such/file"}) == 4);
}

TEST_CASE("problems are found by id, or by a name that is theirs alone", "[program]") {
  TestWorld world;
  world.add_profile();
  world.server.on(
      "GET /v1/admin/problems", 200,
      protocol::encode(std::vector{a_problem(1, "a"), a_problem(2, "twin"), a_problem(3, "twin")}));
  world.server.on("GET /v1/admin/problems/1", 200, protocol::encode(a_problem(1, "a")));
  CHECK(world.run({"problem", "show", "a"}) == 0);
  CHECK(says(world.out, "ray@1.0"));
  CHECK(world.run({"problem", "show", "1"}) == 0);
  CHECK(world.run({"problem", "show", "twin"}) == 1);
  CHECK(says(world.error, "2, 3"));
  CHECK(world.run({"problem", "show", "nobody"}) == 4);
  CHECK(world.run({"problem", "list"}) == 0);
  CHECK(says(world.out, "ID  NAME"));
  CHECK(world.run({"problem", "list", "--json"}) == 0);
  CHECK(json::parse_or_null(world.out)["items"].size() == 3);
}

TEST_CASE("pause, resume and cancel", "[program]") {
  TestWorld world;
  world.add_profile();
  world.server.on("GET /v1/admin/problems/1", 200, protocol::encode(a_problem(1, "a")));
  for (const std::string verb : {"pause", "resume", "cancel"}) {
    auto problem = a_problem(1, "a");
    problem.state = protocol::ProblemState::paused;
    world.server.on("POST /v1/admin/problems/1/" + verb, 200, protocol::encode(problem));
    CHECK(world.run({"problem", verb, "1"}) ==
          0);  // nobody is there to be asked: a script means what it says
    CHECK(world.out.starts_with("problem 1 (a) is paused\n"));
    CHECK(world.server.calls().back().call == "POST /v1/admin/problems/1/" + verb);
  }
}

TEST_CASE("a person at a terminal is asked before a problem is ended for good", "[program]") {
  TestWorld world;
  world.add_profile();
  auto problem = a_problem(1, "a");
  world.server.on("GET /v1/admin/problems/1", 200, protocol::encode(problem));
  problem.state = protocol::ProblemState::cancelled;
  world.server.on("POST /v1/admin/problems/1/cancel", 200, protocol::encode(problem));
  const auto cancelled = [&] { return world.server.calls().back().call.starts_with("POST"); };
  world.answer = "n";
  CHECK(world.run({"problem", "cancel", "1"}) == 1);
  CHECK(says(world.out, "keeps running"));
  CHECK_FALSE(cancelled());
  world.answer = "y";
  CHECK(world.run({"problem", "cancel", "1"}) == 0);
  CHECK(cancelled());
  CHECK(says(world.out, "problem 1 (a) is cancelled"));
  world.answer = "n";
  CHECK(world.run({"problem", "cancel", "1", "--yes"}) == 0);
  CHECK(cancelled());
}

TEST_CASE("deleting asks first", "[program]") {
  TestWorld world;
  world.add_profile();
  world.server.on("GET /v1/admin/problems/1", 200, protocol::encode(a_problem(1, "a")));
  world.server.on("DELETE /v1/admin/problems/1", 200, R"({"version":1})");
  const auto deleted = [&] { return world.server.calls().back().call.starts_with("DELETE"); };
  CHECK(world.run({"problem", "delete", "1"}) == 1);  // nobody there to ask
  CHECK(says(world.error, "--yes"));
  CHECK_FALSE(deleted());
  world.answer = "";
  CHECK(world.run({"problem", "delete", "1"}) == 1);
  CHECK_FALSE(deleted());
  world.answer = "y";
  CHECK(world.run({"problem", "delete", "1"}) == 0);
  CHECK(deleted());
  CHECK(says(world.questions.back(), "Delete problem 1 (a, running) with all its results?"));
  const std::size_t questions = world.questions.size();
  CHECK(world.run({"problem", "delete", "1", "--yes", "--json"}) == 0);
  CHECK(json::parse_or_null(world.out)["done"].string() == "deleted");
  CHECK(world.questions.size() == questions);
}

TEST_CASE("results are downloaded and their paths printed", "[program]") {
  TestWorld world;
  world.add_profile();
  auto problem = a_problem(1, "a");
  world.server.on("GET /v1/admin/problems/1", 200, protocol::encode(problem));
  CHECK(world.run({"problem", "result", "1"}) == 4);
  CHECK(says(world.error, "no result yet"));
  problem.accepted = 3;
  problem.eta_seconds = 60;
  problem.eta_low_seconds = 50;
  problem.eta_high_seconds = 70;
  world.server.on("GET /v1/admin/problems/3", 200, protocol::encode(problem));
  CHECK(world.run({"problem", "result", "3", "--row", "1"}) == 4);
  CHECK(
      says(world.error,
           "the files of rows are there once all rows are done (50 to 70 s left); `problem watch 1` waits"));
  CHECK(says(world.error, "`problem preview 1` fetches the table of the rows done so far"));
  const std::string picture = "a picture";
  problem.id = ProblemId{2};
  problem.results = {{"p.png", crypto::sha256_hex(picture), 9, "image/png"}};
  world.server.on("GET /v1/admin/problems/2", 200, protocol::encode(problem));
  world.server.on("GET /v1/blobs/" + crypto::sha256_hex(picture), 206, picture);
  const std::string out = (world.directory / "out").string();
  CHECK(world.run({"problem", "result", "2", "-o", out}) == 0);
  CHECK(world.out == out + "/p.png\n");
  CHECK(world.read(out + "/p.png") == picture);
  CHECK(world.run({"problem", "result", "2", "-o", out, "--json"}) == 0);
  const json::Value files = json::parse_or_null(world.out);
  CHECK(files["items"][0]["path"].string() == out + "/p.png");
}

TEST_CASE("applications are checked before they are uploaded", "[program]") {
  TestWorld world;
  world.add_profile();
  const io::Path archive = world.write("ray-1.0.tar.gz", "an archive");
  CHECK(world.run({"app", "add", archive.string()}) == 4);
  CHECK(says(world.error, "app sign"));
  protocol::ApplicationStatement statement;
  statement.project = std::string(64, 'a');
  statement.name = "ray";
  statement.version = "1.0";
  statement.archive = crypto::sha256_hex("another archive");
  const auto sign = [&] {
    protocol::AddApplication application;
    application.application = {protocol::StatementType::application,
                               protocol::encode(statement),
                               Bytes(32, 'k'),
                               Bytes(64, 's'),
                               {}};
    application.signer = application.application;
    world.write("ray-1.0.tar.gz.signed", protocol::encode(application));
  };
  sign();
  CHECK(world.run({"app", "add", archive.string()}) == 5);
  CHECK(says(world.error, "sign it again"));
  CHECK(world.server.calls().empty());
  statement.archive = crypto::sha256_hex("an archive");
  sign();
  const std::string uploads = "/v1/uploads/" + statement.archive;
  world.server.on("GET " + uploads, 200,
                  protocol::encode(protocol::UploadState{statement.archive, 10, true}));
  protocol::ApplicationInfo info{"ray", "1.0", "Ray tracer", statement.archive, 10, {"any"}, "signer", {}};
  world.server.on("POST /v1/admin/applications", 201, protocol::encode(info));
  world.server.on("GET /v1/admin/applications", 200, protocol::encode(std::vector{info}));
  world.server.on("GET /v1/admin/applications/ray@1.0", 200, protocol::encode(info));
  CHECK(world.run({"app", "add", archive.string()}) == 0);
  CHECK(says(world.out, "added ray 1.0"));
  CHECK(world.run({"app", "list"}) == 0);
  CHECK(says(world.out, "Ray tracer"));
  CHECK(world.run({"app", "show", "ray@1.0", "--json"}) == 0);
  CHECK(json::parse_or_null(world.out)["version"].integer() == 1);
  CHECK(world.run({"app", "show", "ray@2.0"}) == 4);
}

TEST_CASE("hosts and status", "[program]") {
  TestWorld world;
  world.add_profile();
  protocol::HostInfo host;
  host.id = HostId{4};
  host.name = "attic";
  host.platform = "x86_64-linux";
  host.last_contact = world.clock.now() - std::chrono::seconds{30};
  host.state_reason = "on battery";
  world.server.on("GET /v1/admin/hosts", 200, protocol::encode(std::vector{host}));
  world.server.on("GET /v1/admin/hosts/4", 200, protocol::encode(host));
  CHECK(world.run({"host", "list"}) == 0);
  CHECK(says(world.out, "30 s ago"));
  CHECK(says(world.out, "on battery"));
  CHECK(world.run({"host", "show", "attic"}) == 0);
  host.state = protocol::HostState::revoked;
  world.server.on("POST /v1/admin/hosts/4/revoke", 200, protocol::encode(host));
  CHECK(world.run({"host", "revoke", "attic", "--yes"}) == 0);
  CHECK(world.out == "host 4 (attic) is revoked, and may not return\n");
  protocol::ServerStatus status;
  status.project = std::string(64, 'a');
  status.name = "Physics";
  status.join_code = "gleaner://grid.test:8443/abc";
  status.warnings = {"the work key's certificate ends in 3 days"};
  world.server.on("GET /v1/admin/status", 200, protocol::encode(status));
  CHECK(world.run({"status"}) == 0);
  CHECK(says(world.out, "gleaner://grid.test:8443/abc"));
  CHECK(says(world.out, "warning: the work key's"));
  CHECK_FALSE(says(world.out, "\x1b"));
  world.out_display.terminal = world.out_display.colour = true;
  CHECK(world.run({"status"}) == 0);
  CHECK(says(world.out, "\x1b[33mwarning:\x1b[0m"));
}

TEST_CASE("enrolment codes", "[program]") {
  TestWorld world;
  world.add_profile();
  protocol::MadeCode made;
  made.code.name = "lab";
  made.code.state = "valid";
  made.code.hosts = 3;
  made.code.hosts_max = 20;
  made.code.own = false;
  made.code.tags = {"b12", "night"};
  made.join_code = "gleaner://grid.test:8443/abc";
  world.server.on("POST /v1/admin/codes", 200, protocol::encode(made));
  CHECK(world.run({"code", "add", "lab", "--hosts", "20", "--expires", "30d", "--strangers"}) == 0);
  CHECK(world.out == "gleaner://grid.test:8443/abc\n");  // alone, for scripts
  CHECK(says(world.error, "shown only once"));
  for (const char* time : {"30", "d", "0d", "-1d", "30y", "1000w", "99999999999999999999d"}) {
    INFO(time);
    CHECK(world.run({"code", "add", "lab", "--expires", time}) != 0);
    CHECK(says(world.error, "--expires"));
  }
  CHECK(world.run({"code", "add", "lab", "--own", "--strangers"}) == 2);
  CHECK(world.run({"code", "add", "lab", "--once", "--hosts", "2"}) == 2);
  world.server.on("GET /v1/admin/codes", 200, protocol::encode(std::vector{made.code}));
  CHECK(world.run({"code", "list"}) == 0);
  CHECK(says(world.out, "3 of 20"));
  CHECK(says(world.out, "volunteers"));
  CHECK(says(world.out, "b12, night"));
  world.server.on("GET /v1/admin/codes/lab", 200, protocol::encode(made.code));
  CHECK(world.run({"code", "show", "lab"}) == 0);
  CHECK(says(world.out, "never"));
  made.code.state = "withdrawn";
  world.server.on("POST /v1/admin/codes/lab/withdraw", 200, protocol::encode(made.code));
  CHECK(world.run({"code", "withdraw", "lab", "--with-hosts", "--yes"}) == 0);
  CHECK(world.out == "the code lab is withdrawn\n");
}

TEST_CASE("admin tokens", "[program]") {
  TestWorld world;
  world.add_profile();
  protocol::MadeToken made;
  made.info.name = "ann";
  made.info.role = protocol::Role::operate;
  made.info.state = "valid";
  made.token = "abc";
  world.server.on("POST /v1/admin/tokens", 200, protocol::encode(made));
  CHECK(world.run({"token", "add", "ann", "--role", "operator", "--expires", "30d"}) == 0);
  CHECK(world.out == "abc\n");  // alone, for scripts
  CHECK(says(world.error, "shown only once"));
  const auto sent = protocol::decode<protocol::AddToken>(world.server.calls().back().request.body).value();
  CHECK(sent.role == protocol::Role::operate);
  CHECK(sent.lifetime_seconds == 30 * 86'400);
  CHECK(world.run({"token", "add", "ann"}) == 2);  // the role is not guessed
  CHECK(world.run({"token", "add", "ann", "--role", "king"}) == 2);
  CHECK(world.run({"token", "add", "ann", "--role", "viewer", "--expires", "soon"}) == 1);
  world.server.on("GET /v1/admin/tokens", 200, protocol::encode(std::vector{made.info}));
  CHECK(world.run({"token", "list"}) == 0);
  CHECK(says(world.out, "operator"));
  CHECK(world.run({"--json", "token", "list"}) == 0);
  CHECK(says(world.out, "\"role\":\"operator\""));
  made.info.state = "withdrawn";
  world.server.on("POST /v1/admin/tokens/ann/withdraw", 200, protocol::encode(made.info));
  protocol::CodeInfo lab, club;
  lab.name = "lab";
  club.name = "club";
  lab.state = club.state = "valid";
  world.server.on("GET /v1/admin/codes", 200, protocol::encode(std::vector{lab, club}));
  world.answer = "no";
  CHECK(world.run({"token", "withdraw", "ann"}) == 1);
  CHECK(world.run({"token", "withdraw", "ann", "--yes"}) == 0);
  CHECK(world.out == "the admin token ann is withdrawn\n");
  CHECK(world.error.empty());
  // What it made is named, and goes with it if that is asked for.
  protocol::TokenInfo heir;
  heir.name = "heir";
  heir.state = "valid";
  heir.made_by = "ann";
  lab.made_by = "heir";
  world.server.on("GET /v1/admin/tokens", 200, protocol::encode(std::vector{made.info, heir}));
  world.server.on("GET /v1/admin/codes", 200, protocol::encode(std::vector{lab, club}));
  for (int i = 0; i < 2; ++i) CHECK(world.run({"token", "withdraw", "ann", "--yes"}) == 0);
  CHECK(says(world.error, "What it made is still good: token heir, code lab."));
  CHECK(world.run({"token", "withdraw", "ann", "--with-made", "--yes"}) == 0);
  CHECK(world.out == "the admin token ann is withdrawn, with token heir, code lab\n");
  CHECK(
      protocol::decode<protocol::WithdrawToken>(world.server.calls().back().request.body).value().with_made);
  CHECK(world.run({"code", "list"}) == 0);
  CHECK(says(world.out, "heir"));
}

TEST_CASE("bans", "[program]") {
  TestWorld world;
  world.add_profile();
  protocol::Ban made{protocol::BanKind::network, "192.0.2.0/24", "spam", "project", world.clock.now(), {}};
  world.server.on("POST /v1/admin/bans", 200, protocol::encode(made));
  const auto sent = [&] {
    return protocol::decode<protocol::AddBan>(world.server.calls().back().request.body).value();
  };
  CHECK(world.run({"ban", "add", "--network", "192.0.2.9/24", "--reason", "spam", "--expires", "7d"}) == 0);
  CHECK(world.out == "the network 192.0.2.0/24 is banned\n");
  CHECK(sent().subject == "192.0.2.9/24");
  CHECK(sent().lifetime_seconds == 7 * 86'400);
  CHECK(!sent().force);
  CHECK(world.run({"ban", "add", "--host", "7", "--force"}) == 0);
  CHECK(sent().kind == protocol::BanKind::key);
  CHECK(sent().subject == "7");
  CHECK(sent().force);
  CHECK(world.run({"ban", "add", "--code", "lab"}) == 0);
  CHECK(sent().kind == protocol::BanKind::code);
  CHECK(world.run({"ban", "add"}) == 1);  // of whom is not guessed
  CHECK(world.run({"ban", "add", "--code", "lab", "--host", "7"}) == 2);
  world.server.on("GET /v1/admin/bans", 200, protocol::encode(std::vector{made}));
  CHECK(world.run({"ban", "list"}) == 0);
  CHECK(says(world.out, "for ever"));
  CHECK(world.run({"--json", "ban", "list"}) == 0);
  CHECK(says(world.out, "\"subject\":\"192.0.2.0/24\""));
  world.server.on("POST /v1/admin/bans/network/remove", 200, protocol::encode(made));
  CHECK(world.run({"ban", "remove", "--network", "192.0.2.0/24"}) == 0);
  CHECK(world.out == "the network 192.0.2.0/24 is no longer banned\n");
}

TEST_CASE("the audit log", "[program]") {
  TestWorld world;
  world.add_profile();
  protocol::AuditPage log;
  log.start = log.head = crypto::chain_start();
  const auto add = [&](const std::string& actor) {
    log.acts.push_back({log.head.number + 1, world.clock.now(), actor, "owner", "code add", "lab", "valid",
                        log.head.digest});
    log.head = {log.head.number + 1, crypto::digest_of(log.acts.back())};
  };
  add("ann");
  add("bob");
  const std::string head = "2:" + log.head.digest;
  log.refusals.push_back(
      {"unknown", "unauthorized", "host revoke", 12345, {}, world.clock.now(), "192.0.2.1"});
  const auto serve = [&] { world.server.on("GET /v1/admin/audit?after=0", 200, protocol::encode(log)); };
  serve();
  CHECK(world.run({"audit", "list", "--actor", "ann", "--since", "1h"}) == 0);
  CHECK(says(world.out, "ann"));
  CHECK(!says(world.out, "bob"));
  CHECK(says(world.out, "head " + head));
  CHECK(world.run({"audit", "list"}) == 0);
  CHECK(says(world.out, "12,345"));
  CHECK(world.run({"--json", "audit", "list"}) == 0);
  CHECK(protocol::decode<protocol::AuditPage>(world.out)->acts.size() == 2);
  CHECK(world.run({"audit", "verify"}) == 0);
  CHECK(says(world.out, "Audit log intact: 2 entries"));
  CHECK(says(world.out, "head " + head));
  CHECK(world.run({"audit", "verify", "--head", head}) == 0);
  CHECK(world.run({"audit", "verify", "--head", "1:" + log.acts[1].previous}) == 0);
  CHECK(world.run({"audit", "verify", "--head", "0:" + log.start.digest}) == 0);
  CHECK(world.run({"audit", "verify", "--head", "1:" + log.head.digest}) == 5);
  CHECK(says(world.error, "not the one whose head was noted"));
  CHECK(world.run({"audit", "verify", "--head", "3:" + log.head.digest}) == 5);
  CHECK(says(world.error, "was cut"));
  for (const char* wrong : {"2", "x:00", "2:00"}) CHECK(world.run({"audit", "verify", "--head", wrong}) == 1);
  log.acts[0].object = "lob";
  serve();
  CHECK(world.run({"audit", "verify"}) == 0);  // the answer of before, for the last time
  CHECK(world.run({"audit", "verify"}) == 5);
  CHECK(says(world.error, "act 2 of the audit log does not fit"));
}

}  // namespace gleaner::admin
