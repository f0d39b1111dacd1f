#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <fstream>
#include <mutex>

#include "tests/catch.h"
#include "tests/unit/http/peer.h"

using namespace gleaner;
using namespace gleaner::http;
using namespace gleaner::http::testing;
using namespace std::chrono_literals;

namespace {

using Steady = std::chrono::steady_clock;

ServerOptions patient_options() {
  ServerOptions options = test_options();
  options.timeouts = {
      .handshake = 60s, .idle = 60s, .header = 60s, .transfer = 60s, .answer = 60s, .linger = 200ms};
  return options;
}

// Sends a byte every 10 ms; true if the server ends that within 10 s.
bool trickle_until_closed(Peer& peer, const std::string& bytes) {
  for (std::size_t i = 0; i < 1000; ++i) {
    if (!peer.send(bytes.substr(i % bytes.size(), 1))) return true;
    if (peer.closed_within(10)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("who does not shake hands in time is dropped") {
  ServerOptions options = patient_options();
  options.timeouts.handshake = 200ms;
  const auto server = start(std::move(options), echo_handler());
  for (const std::string start_of_hello : {"", "\x16\x03\x01"}) {
    const int socket = connect_to(server->port());
    const auto begin = Steady::now();
    ::send(socket, start_of_hello.data(), start_of_hello.size(), MSG_NOSIGNAL);
    char byte = 0;
    CHECK(::recv(socket, &byte, 1, 0) <= 0);
    CHECK(Steady::now() - begin < 10s);
    CHECK(Steady::now() - begin > 150ms);
    ::close(socket);
  }
}

TEST_CASE("idle connections and slow headers are dropped, however the bytes come") {
  ServerOptions idle_options = patient_options();
  idle_options.timeouts.idle = 200ms;
  const auto idle_server = start(std::move(idle_options), echo_handler());
  Peer idle(idle_server->port());
  CHECK(idle.ask(get("/"))->status == 200);
  CHECK(idle.wait_closed());
  CHECK((SSL_get_shutdown(idle.ssl()) & SSL_RECEIVED_SHUTDOWN) == 0);

  ServerOptions options = patient_options();
  options.timeouts.header = 200ms;
  const auto server = start(std::move(options), echo_handler());
  Peer stuck(server->port());
  REQUIRE(stuck.send("GET / HTTP/1.1\r\nHo"));
  CHECK(stuck.wait_closed());
  Peer slow(server->port());
  CHECK(trickle_until_closed(slow, "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(1000, 'x')));
}

TEST_CASE("slow bodies are dropped, steady ones are given time") {
  ServerOptions options = patient_options();
  options.timeouts.transfer = 300ms;
  options.timeouts.transfer_bytes_per_second_min = 10'000;
  const auto server = start(std::move(options), echo_handler());
  const std::string head = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n";
  Peer stuck(server->port());
  REQUIRE(stuck.send(head + "some"));
  CHECK(stuck.wait_closed());
  Peer slow(server->port());
  REQUIRE(slow.send(head));
  CHECK(trickle_until_closed(slow, "y"));  // 100 bytes a second
  Peer steady(server->port());
  REQUIRE(steady.send(head));
  const auto begin = Steady::now();
  for (int i = 0; i < 20; ++i) {  // 50 times faster than required, yet longer than 300 ms
    REQUIRE(steady.send(std::string(5000, 'y')));
    static_cast<void>(steady.closed_within(20));
  }
  CHECK(steady.receive()->body.size() == 100'000);
  CHECK(Steady::now() - begin > 300ms);
}

TEST_CASE("slow readers are dropped, steady ones are given time") {
  const TemporaryDirectory directory;
  std::ofstream(directory.path / "file") << "x";
  constexpr std::int64_t size = 24 << 20;
  std::filesystem::resize_file(directory.path / "file", size);
  ServerOptions options = patient_options();
  options.timeouts.transfer = 300ms;
  options.timeouts.transfer_bytes_per_second_min = 4 << 20;
  options.connections_max = 1;
  const auto server = start(std::move(options), [&](const Request&, const Reply& reply) {
    reply({200, {}, "", Response::FilePart{directory.path / "file", 0, size}});
  });
  Peer stuck(server->port(), {.receive_buffer_bytes = 16 << 10});
  REQUIRE(stuck.send(get("/")));
  bool dropped = false;  // there is room for one connection
  for (int attempt = 0; attempt < 1500 && !dropped; ++attempt) {
    static_cast<void>(stuck.closed_within(10));
    dropped = Peer(server->port()).connected();
  }
  CHECK(dropped);
  char buffer[4096];
  while (::recv(stuck.socket(), buffer, sizeof buffer, 0) > 0) {
  }
  CHECK(errno == ECONNRESET);  // and nothing is left waiting in the server's kernel
  std::unique_ptr<Peer> steady;
  for (int attempt = 0; attempt < 1500 && !(steady && steady->connected()); ++attempt) {
    steady = std::make_unique<Peer>(server->port(), PeerOptions{.receive_buffer_bytes = 256 << 10});
  }
  REQUIRE(steady->send(get("/")));
  const auto begin = Steady::now();
  std::int64_t received = 0;
  while (received < size) {
    const std::int64_t before = received;
    received += static_cast<std::int64_t>(steady->read().size());
    if (received == before) break;
    if (before >> 20 != received >> 20) static_cast<void>(steady->closed_within(20));  // at most 50 MB/s
  }
  CHECK(received > size);
  CHECK(Steady::now() - begin > 300ms);
}

TEST_CASE("who was told to come later rests before its next request is read") {
  std::atomic<int> asked = 0;
  const auto handler = [&](const Request&, const Reply& reply) {
    Response response;
    response.status = 503;
    if (++asked == 1) response.rest = 300ms;
    if (asked == 3) response.rest = 60s;
    reply(std::move(response));
  };
  const auto server = start(patient_options(), handler);
  Peer stubborn(server->port());
  const auto begin = Steady::now();
  CHECK(stubborn.ask(get("/"))->status == 503);
  REQUIRE(stubborn.send(get("/")));
  Peer other(server->port());
  CHECK(other.ask(get("/"))->status == 503);  // meanwhile
  CHECK(stubborn.receive()->status == 503);
  CHECK(Steady::now() - begin > 290ms);
  server->stop(30s);  // nobody waits for the minute
  CHECK(stubborn.wait_closed());
  CHECK(Steady::now() - begin < 20s);
  CHECK(asked == 3);
}

TEST_CASE("a handler that takes too long is answered for") {
  ServerOptions options = patient_options();
  options.timeouts.answer = 2s;
  std::mutex mutex;
  std::condition_variable arrived;
  std::vector<Reply> held;
  const auto server = start(std::move(options), [&](const Request& request, const Reply& reply) {
    if (request.path == "/fast") return reply(echo(request));
    const std::lock_guard lock(mutex);
    held.push_back(reply);
    arrived.notify_all();
  });
  Peer peer(server->port());
  const auto answer = peer.ask(get("/slow"));
  REQUIRE(answer);
  CHECK(answer->status == 503);
  REQUIRE(peer.send(get("/slow")));
  {
    std::unique_lock lock(mutex);
    REQUIRE(arrived.wait_for(lock, 15s, [&] { return held.size() == 2; }));
    held[0]({200, {}, "too late", {}});  // must not become the answer to the second request
    held[1]({200, {}, "in time", {}});
  }
  CHECK(peer.receive()->body == "in time");
  CHECK(peer.ask(post("/fast", "now"))->body == "now");
}

TEST_CASE("peers that vanish in the middle leave the server in order") {
  std::mutex mutex;
  std::vector<Reply> held;
  std::condition_variable arrived;
  const auto server = start(patient_options(), [&](const Request& request, const Reply& reply) {
    if (request.path != "/hold") return reply({200, {}, std::string(8 << 20, 'r'), {}});
    const std::lock_guard lock(mutex);
    held.push_back(reply);
    arrived.notify_all();
  });
  for (int round = 0; round < 10; ++round) {
    Peer in_header(server->port());
    in_header.send("GET / HT");
    Peer in_body(server->port());
    in_body.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nxx");
    Peer in_answer(server->port(), {.receive_buffer_bytes = 16 << 10});
    in_answer.send(get("/large"));
    CHECK_FALSE(in_answer.read(1000).empty());
    Peer waiting(server->port());
    waiting.send(get("/hold"));
    {
      std::unique_lock lock(mutex);
      REQUIRE(
          arrived.wait_for(lock, 15s, [&] { return held.size() == static_cast<std::size_t>(round) + 1; }));
    }
    if (round % 2 == 0) {
      for (Peer* peer : {&in_header, &in_body, &in_answer, &waiting}) peer->reset();
    }
    const std::lock_guard lock(mutex);
    held.back()({200, {}, std::string(1 << 20, 'w'), {}});  // to nobody
  }
  Peer peer(server->port());
  CHECK(peer.ask(get("/large"))->body.size() == 8 << 20);
}
