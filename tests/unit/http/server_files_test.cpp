#include <unistd.h>

#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "server/http/file_stream.h"
#include "tests/catch.h"
#include "tests/unit/http/peer.h"

using namespace gleaner;
using namespace gleaner::http;
using namespace gleaner::http::testing;

namespace {

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  statm >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 251);
  return bytes;
}

Handler file_handler(Response::FilePart part) {
  return [part](const Request&, const Reply& reply) {
    reply({206, {{"Content-Range", "bytes x"}}, "", part});
  };
}

}  // namespace

TEST_CASE("parts of a file are sent exactly") {
  const TemporaryDirectory directory;
  const std::string bytes = pattern(700'001);
  std::ofstream(directory.path / "file", std::ios::binary) << bytes;
  const auto server = start(test_options(), [&](const Request& request, const Reply& reply) {
    Response response;
    response.status = 206;
    response.headers["Content-Range"] = "bytes";
    response.file = {directory.path / "file", std::stoll(request.query.at("from")),
                     std::stoll(request.query.at("bytes"))};
    reply(response);
  });
  Peer peer(server->port());
  const std::size_t piece = FileStream::piece_bytes;
  for (const auto& [from, count] : std::vector<std::pair<std::size_t, std::size_t>>{{0, 0},
                                                                                    {0, 1},
                                                                                    {700'000, 1},
                                                                                    {700'001, 0},
                                                                                    {0, 700'001},
                                                                                    {5, piece},
                                                                                    {5, piece + 1},
                                                                                    {1, 2 * piece}}) {
    INFO(from << " " << count);
    const auto answer = peer.ask(get("/?from=" + std::to_string(from) + "&bytes=" + std::to_string(count)));
    REQUIRE(answer);
    CHECK(answer->status == 206);
    CHECK(answer->body == bytes.substr(from, count));
  }
  REQUIRE(peer.send("HEAD /?from=0&bytes=700001 HTTP/1.1\r\nHost: h\r\n\r\n"));
  CHECK(peer.receive(true)->headers.at("content-length") == "700001");
  for (const char* bad :
       {"/?from=0&bytes=700002", "/?from=700002&bytes=0", "/?from=-1&bytes=1", "/?from=1&bytes=-1"}) {
    INFO(bad);
    CHECK(peer.ask(get(bad))->status == 500);
  }
}

TEST_CASE("a missing file is 500 and logged, a directory too") {
  const auto log = std::make_shared<Log>();
  const TemporaryDirectory directory;
  for (const auto& path : {directory.path / "absent", directory.path}) {
    const auto server = start(test_options(log), file_handler({path, 0, 10}));
    Peer peer(server->port());
    CHECK(peer.ask(get("/"))->status == 500);
    CHECK(log->wait_for(path.string()));
  }
}

TEST_CASE("a file that shrinks while it is sent ends the connection without a proper end") {
  const TemporaryDirectory directory;
  const auto path = directory.path / "file";
  std::ofstream(path, std::ios::binary) << "x";
  std::filesystem::resize_file(path, 64 << 20);
  const auto log = std::make_shared<Log>();
  const auto server = start(test_options(log), file_handler({path, 0, 64 << 20}));
  Peer peer(server->port(), {.receive_buffer_bytes = 32 << 10});
  REQUIRE(peer.send(get("/")));
  REQUIRE_FALSE(peer.read().empty());
  std::filesystem::resize_file(path, 1);
  CHECK_FALSE(peer.receive());
  CHECK((SSL_get_shutdown(peer.ssl()) & SSL_RECEIVED_SHUTDOWN) == 0);  // a client can tell
  CHECK(log->wait_for("became shorter"));
}

TEST_CASE("a large file passes through little memory") {
  const TemporaryDirectory directory;
  const auto path = directory.path / "sparse";
  std::ofstream(path, std::ios::binary) << "begin";
  constexpr std::int64_t size = 100 << 20;
  std::filesystem::resize_file(path, size);
  const auto server = start(test_options(), file_handler({path, 0, size}));
  Peer peer(server->port());
  REQUIRE(peer.send(get("/")));
  const std::int64_t before = resident_bytes();
  std::int64_t most = before;
  std::int64_t received = 0;
  while (received < size) {
    const std::string bytes = peer.read(256 << 10);
    if (bytes.empty()) break;
    received += static_cast<std::int64_t>(bytes.size());
    most = std::max(most, resident_bytes());
  }
  CHECK(received >= size);
#ifndef GLEANER_SANITIZED  // whose quarantine keeps what was freed
  CHECK(most - before < 4 << 20);
#endif
}

TEST_CASE("how much of a file went is told, also of a peer that leaves in the middle of it") {
  const TemporaryDirectory directory;
  const auto path = directory.path / "sparse";
  std::ofstream(path, std::ios::binary) << "begin";
  constexpr std::int64_t size = 64 << 20;
  std::filesystem::resize_file(path, size);
  std::mutex mutex;
  std::condition_variable told;
  std::vector<std::int64_t> moved;
  const auto server = start(test_options(), [&](const Request& request, const Reply& reply) {
    const std::shared_ptr<std::int64_t> meter(new std::int64_t(0), [&](const std::int64_t* bytes) {
      const std::lock_guard lock(mutex);
      moved.push_back(*bytes);
      delete bytes;
      told.notify_all();
    });
    Response response;
    response.file = {path, 0, request.path == "/all" ? 300'000 : size, meter};
    reply(response);
  });
  const auto next = [&] {
    std::unique_lock lock(mutex);
    REQUIRE(told.wait_for(lock, std::chrono::seconds{20}, [&] { return !moved.empty(); }));
    return std::exchange(moved, {}).front();
  };
  CHECK(Peer(server->port()).ask(get("/all"))->body.size() == 300'000);
  CHECK(next() == 300'000);
  {
    Peer leaving(server->port(), {.receive_buffer_bytes = 32 << 10});
    REQUIRE(leaving.send(get("/some")));
    REQUIRE_FALSE(leaving.read().empty());
    leaving.reset();
  }
  CHECK(next() < size);
}

TEST_CASE("file streams tell what is wrong") {
  const TemporaryDirectory directory;
  const auto absent = FileStream::open({directory.path / "absent", 0, 1});
  REQUIRE_FALSE(absent.ok());
  CHECK(absent.error().kind == ErrorKind::not_found);
  std::ofstream(directory.path / "file", std::ios::binary) << "0123456789";
  auto stream = FileStream::open({directory.path / "file", 2, 5});
  REQUIRE(stream.ok());
  CHECK((*stream)->next().value() == "23456");
  CHECK((*stream)->next().value().empty());
  CHECK(
      FileStream::open({directory.path / "file", 0, std::numeric_limits<std::int64_t>::max()}).error().kind ==
      ErrorKind::invalid);
}
