#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <mutex>
#include <thread>

#include "tests/catch.h"
#include "tests/unit/http/peer.h"

using namespace gleaner;
using namespace gleaner::http;
using namespace gleaner::http::testing;
using namespace std::chrono_literals;

namespace {

using Steady = std::chrono::steady_clock;

// Keeps replies until the test wants them.
class Holder {
 public:
  Handler handler() {
    return [this](Request request, Reply reply) {
      if (request.path != "/hold") return reply(echo(request));
      const std::lock_guard lock(mutex_);
      held_.emplace_back(std::move(request), std::move(reply));
      arrived_.notify_all();
    };
  }
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return arrived_.wait_for(lock, 15s, [&] { return held_.size() >= count; });
  }
  void answer_all() {
    std::vector<std::pair<Request, Reply>> held;
    {
      const std::lock_guard lock(mutex_);
      held.swap(held_);
    }
    for (const auto& [request, reply] : held) reply(echo(request));
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::pair<Request, Reply>> held_;
};

bool becomes_unreachable(int port) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const int socket = connect_to(port);
    if (socket < 0) return true;
    char byte = 0;
    static_cast<void>(::recv(socket, &byte, 1, 0));  // until the server closes it
    ::close(socket);
  }
  return false;
}

std::string start_error(ServerOptions options) {
  const auto server = Server::start(std::move(options), echo_handler());
  return server.ok() ? "" : server.error().message;
}

}  // namespace

TEST_CASE("stop answers what was received and closes the rest at once") {
  Holder holder;
  ServerOptions options = test_options();
  options.timeouts.idle = 60s;
  const auto server = start(std::move(options), holder.handler());
  std::vector<std::unique_ptr<Peer>> waiting;
  for (int i = 0; i < 5; ++i) {
    waiting.push_back(std::make_unique<Peer>(server->port()));
    REQUIRE(waiting.back()->send(post("/hold", std::to_string(i))));
  }
  Peer half(server->port());
  REQUIRE(half.ask(get("/first"))->status == 200);
  REQUIRE(half.send("POST /half HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"));
  REQUIRE(half.receive()->status == 100);  // the server is at this request
  Peer idle(server->port());
  REQUIRE(idle.ask(get("/first"))->status == 200);
  REQUIRE(holder.wait_for(5));
  const auto begin = Steady::now();
  std::thread stopper([&] { server->stop(30s); });
  CHECK(idle.wait_closed());
  CHECK((SSL_get_shutdown(idle.ssl()) & SSL_RECEIVED_SHUTDOWN) != 0);  // a proper end
  CHECK(becomes_unreachable(server->port()));
  const auto answer = half.ask("body");
  REQUIRE(answer);
  CHECK(answer->body == "body");
  CHECK(answer->headers.at("connection") == "close");
  holder.answer_all();
  for (int i = 0; i < 5; ++i) {
    const auto held = waiting[static_cast<std::size_t>(i)]->receive();
    REQUIRE(held);
    CHECK(held->body == std::to_string(i));
    CHECK(held->headers.at("connection") == "close");
  }
  stopper.join();
  CHECK(Steady::now() - begin < 15s);
  server->stop(1s);  // again: nothing
}

TEST_CASE("a request that waits in the socket when stop comes is answered") {
  std::promise<void> entered;
  std::promise<void> release;
  ServerOptions options = test_options();
  options.threads = 1;
  const auto server = start(std::move(options), [&](const Request& request, const Reply& reply) {
    if (request.path == "/block") {
      entered.set_value();
      release.get_future().wait();
    }
    reply(echo(request));
  });
  Peer peer(server->port());
  REQUIRE(peer.ask(get("/first"))->status == 200);
  Peer blocker(server->port());
  REQUIRE(blocker.send(get("/block")));
  entered.get_future().wait();
  REQUIRE(peer.send(post("/late", "late")));  // the only thread is busy
  std::thread stopper([&] { server->stop(15s); });
  release.set_value();
  CHECK(blocker.receive()->status == 200);
  // Sent before stop(): must be answered, whichever the server sees first.
  const auto answer = peer.receive();
  REQUIRE(answer);
  CHECK(answer->body == "late");
  stopper.join();
}

TEST_CASE("while a stop drains, kept connections that ask are told to close, and who comes is served") {
  ServerOptions options = test_options();
  options.timeouts.idle = 60s;
  options.timeouts.drain = 3s;
  const auto server = start(std::move(options), echo_handler());
  Peer busy(server->port());
  Peer idle(server->port());
  for (Peer* peer : {&busy, &idle}) {
    const auto answer = peer->ask(get("/first"));
    REQUIRE(answer);
    CHECK_FALSE(answer->headers.contains("connection"));
  }
  const auto begin = Steady::now();
  std::thread stopper([&] { server->stop(30s); });
  std::this_thread::sleep_for(200ms);
  const auto last = busy.ask(post("/last", "last"));
  REQUIRE(last);
  CHECK(last->body == "last");
  CHECK(last->headers.at("connection") == "close");
  CHECK(busy.wait_closed());
  Peer fresh(server->port());
  const auto once = fresh.ask(get("/once"));
  REQUIRE(once);
  CHECK(once->headers.at("connection") == "close");
  CHECK(idle.wait_closed());
  CHECK(Steady::now() - begin > 2500ms);  // it was given its moment
  stopper.join();
  CHECK(Steady::now() - begin < 20s);
}

TEST_CASE("who has just come when stop comes asks once, and whoever says nothing does not hold it up") {
  ServerOptions options = test_options();
  options.timeouts.linger = 1s;
  options.timeouts.handshake = options.timeouts.idle = 60s;
  const auto server =
      start(std::move(options), [](const Request& request, const Reply& reply) { reply(echo(request)); });
  Peer fresh(server->port());
  Peer silent(server->port());
  Peer used(server->port());
  REQUIRE(used.ask(get("/first"))->status == 200);
  const auto begin = Steady::now();
  std::thread stopper([&] { server->stop(30s); });
  CHECK(used.wait_closed());  // so it is stopping
  const auto answer = fresh.ask(post("/late", "late"));
  REQUIRE(answer);
  CHECK(answer->body == "late");
  CHECK(answer->headers.at("connection") == "close");
  stopper.join();
  CHECK(Steady::now() - begin < 20s);
}

TEST_CASE("stop does not wait longer than its patience, and late replies are harmless") {
  Holder holder;
  std::vector<std::unique_ptr<Peer>> peers;
  {
    const auto server = start(test_options(), holder.handler());
    for (int i = 0; i < 10; ++i) {
      peers.push_back(std::make_unique<Peer>(server->port()));
      REQUIRE(peers.back()->send(get("/hold")));
    }
    REQUIRE(holder.wait_for(10));
    const auto begin = Steady::now();
    server->stop(200ms);
    CHECK(Steady::now() - begin > 150ms);
    CHECK(Steady::now() - begin < 10s);
    for (const auto& peer : peers) CHECK_FALSE(peer->receive());
  }
  holder.answer_all();  // the server is gone
}

TEST_CASE("servers end under load with replies from other threads") {
  for (int round = 0; round < 10; ++round) {
    std::mutex mutex;
    std::vector<std::thread> repliers;
    std::atomic<bool> go_on = true;
    std::vector<std::thread> clients;
    auto server = start(test_options(), [&](Request request, Reply reply) {
      const std::lock_guard lock(mutex);
      repliers.emplace_back(
          [request = std::move(request), reply = std::move(reply)] { reply(echo(request)); });
    });
    const int port = server->port();
    std::atomic<int> answered = 0;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back([&] {
        while (go_on) {
          Peer peer(port);
          for (int n = 0; n < 5 && peer.ask(post("/x", "y")); ++n) ++answered;
        }
      });
    }
    while (answered < 40) std::this_thread::yield();
    server->stop(round % 2 == 0 ? 5s : 0s);
    go_on = false;
    server.reset();
    for (std::thread& client : clients) client.join();
    for (std::thread& replier : repliers) replier.join();
  }
}

TEST_CASE("a server that cannot start says what to do") {
  const auto server = start(test_options(), echo_handler());
  ServerOptions options = test_options();
  options.port = server->port();
  const std::string in_use = start_error(options);
  CHECK(in_use == "port " + std::to_string(server->port()) +
                      " is in use by another program: stop it or choose another port");
  options = test_options();
  options.address = "localhost";
  CHECK(start_error(options).find("is not an IP address: give one like 0.0.0.0") != std::string::npos);
  options.address = "203.0.113.7";
  CHECK(start_error(options).find("this machine has no address 203.0.113.7") != std::string::npos);
  options = test_options();
  options.port = 70'000;
  CHECK(start_error(options).find("1..65535") != std::string::npos);
  options = test_options();
  options.threads = 0;
  CHECK(start_error(options).find("threads") != std::string::npos);
  options = test_options();
  options.private_key_pem = make_identity().key_pem;
  CHECK(start_error(options).find("does not belong to the TLS certificate") != std::string::npos);
  options.private_key_pem = "no key";
  CHECK(start_error(options).find("not a PEM private key") != std::string::npos);
  options = test_options();
  options.certificate_chain_pem = "no certificate";
  CHECK(start_error(options).find("not a PEM certificate") != std::string::npos);
  options.certificate_chain_pem = test_identity().certificate_pem + "-----BEGIN CERTIFICATE-----\nxx\n";
  CHECK(start_error(options).find("damaged after its first certificate") != std::string::npos);
  if (::geteuid() == 0 && ::seteuid(65534) == 0) {  // "nobody"
    options = test_options();
    options.port = 1;
    const std::string privileged = start_error(options);
    REQUIRE(::seteuid(0) == 0);
    CHECK(privileged.find("needs a privilege: choose a port from 1024 on") != std::string::npos);
  }
}
