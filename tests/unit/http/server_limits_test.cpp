#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "shared/base/random.h"
#include "tests/catch.h"
#include "tests/unit/http/peer.h"

using namespace gleaner;
using namespace gleaner::http;
using namespace gleaner::http::testing;
using namespace std::chrono_literals;

namespace {

bool serves(const Server& server) {
  Peer peer(server.port());
  const auto answer = peer.ask(post("/alive", "yes"));
  return answer && answer->body == "yes";
}

}  // namespace

TEST_CASE("bodies up to the limit pass, longer ones are refused with the reason") {
  const auto server = start(test_options(), echo_handler());
  const std::string most(1 << 20, 'm');
  CHECK(Peer(server->port()).ask(post("/x", most))->body == most);
  Peer announced(server->port());
  const auto refusal = announced.ask(post("/x", most + "m"));
  REQUIRE(refusal);
  CHECK(refusal->status == 413);
  CHECK(refusal->headers.at("connection") == "close");
  CHECK(refusal->body.find("\"title\":\"Content Too Large\"") != std::string::npos);
  CHECK(announced.wait_closed());
  const std::string chunk = "10000\r\n" + std::string(0x10000, 'c') + "\r\n";
  std::string chunks = "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 16; ++i) chunks += chunk;
  CHECK(Peer(server->port()).ask(chunks + "0\r\n\r\n")->body.size() == 1 << 20);
  CHECK(Peer(server->port()).ask(chunks + "1\r\nx\r\n0\r\n\r\n")->status == 413);
  CHECK(Peer(server->port())
            .ask("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 18446744073709551615\r\n\r\n")
            ->status == 413);
}

TEST_CASE("of a body that breaks off, the part that came is handed on where it is of use") {
  std::mutex mutex;
  std::map<std::string, std::size_t> handed;  // by path: bytes
  ServerOptions options = test_options();
  options.takes_part = [](const Request& head) { return head.path == "/part"; };
  const auto server = start(std::move(options), [&](const Request& request, const Reply& reply) {
    const std::lock_guard lock(mutex);
    handed[request.path] = request.body.size();
    reply({200, {}, "", {}});
  });
  for (const std::string path : {"/whole", "/part"}) {
    Peer peer(server->port());
    REQUIRE(peer.send("POST " + path + " HTTP/1.1\r\nHost: h\r\nContent-Length: 50000\r\n\r\n" +
                      std::string(12'345, 'x')));
  }
  const auto seen = [&] {
    const std::lock_guard lock(mutex);
    return handed;
  };
  for (int i = 0; i < 200 && seen().empty(); ++i) std::this_thread::sleep_for(50ms);
  CHECK(seen() == std::map<std::string, std::size_t>{{"/part", 12'345}});
}

TEST_CASE("where no body is allowed it stays unread and the handler answers") {
  const auto server = start(test_options(), [](const Request& request, const Reply& reply) {
    reply({404, {}, "nothing here, body of " + std::to_string(request.body.size()), {}});
  });
  Peer peer(server->port());
  const auto answer = peer.ask(post("/none", std::string(300'000, 'x')));
  REQUIRE(answer);
  CHECK(answer->status == 404);
  CHECK(answer->body == "nothing here, body of 0");
  CHECK(peer.wait_closed());
  Peer other(server->port());
  CHECK(other.ask(get("/none"))->status == 404);
  CHECK(other.ask(get("/none"))->status == 404);  // without a body nothing is closed
}

TEST_CASE("bad requests are refused with their reason and the connection ends") {
  const auto server = start(test_options(), echo_handler());
  const std::string host = "Host: h\r\n";
  const std::vector<std::pair<std::string, int>> cases{
      {"nonsense\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\n" + host + "\r\n", 400},
      {"GET / HTTP/1.1\n" + host + "\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + host + "\r\n", 400},
      {"GET x HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET https://h/ HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET /%zz HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET /%00 HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET /%ff HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + "Bad Name: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + "X: a\x01\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcde", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + "X: " + std::string(17 << 10, 'x') + "\r\n\r\n", 431},
  };
  for (const auto& [request, status] : cases) {
    INFO(request.substr(0, 200));
    Peer peer(server->port());
    const auto answer = peer.ask(request);
    REQUIRE(answer);
    CHECK(answer->status == status);
    CHECK(answer->headers.at("content-type") == "application/problem+json");
    CHECK(peer.wait_closed());
  }
  CHECK(serves(*server));
}

TEST_CASE("garbage does no harm") {
  const std::uint64_t seed = 20261120;
  INFO("seed " << seed);
  Random random(seed);
  const auto server = start(test_options(), echo_handler());
  const std::string valid =
      "POST /a/b?c=d HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nX-Y: z\r\n\r\n"
      "5\r\nhello\r\n0\r\n\r\n";
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    INFO("round " << round);
    std::string bytes = valid;
    if (round % 4 == 0) {
      bytes.resize(1 + random.below(600));
      for (char& c : bytes) c = static_cast<char>(random.below(256));
    } else {
      for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
        const std::size_t at = random.below(bytes.size());
        if (random.chance(0.5))
          bytes[at] = static_cast<char>(random.below(256));
        else if (random.chance(0.5))
          bytes.erase(at, 1 + random.below(5));
        else
          bytes.insert(at, 1 + random.below(3), static_cast<char>(random.below(256)));
        if (bytes.empty()) bytes = "x";
      }
    }
    if (round % 5 == 1) {  // garbage instead of TLS
      const int socket = connect_to(server->port());
      REQUIRE(socket >= 0);
      if (bytes[0] >= 'A' && bytes[0] <= 'Z') bytes[0] = '\x16';
      ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      ::shutdown(socket, SHUT_WR);
      char byte = 0;
      while (::recv(socket, &byte, 1, 0) > 0) {
      }
      ::close(socket);
      continue;
    }
    Peer peer(server->port());
    REQUIRE(peer.send(bytes));
    peer.say_goodbye();
    while (const auto answer = peer.receive()) {
      CHECK((answer->status == 200 || answer->status == 400 || answer->status == 413 ||
             answer->status == 431 || answer->status == 501));
      if (answer->status >= 400) ++refused;
    }
    CHECK(peer.wait_closed());
  }
  CHECK(refused > 80);
  CHECK(serves(*server));
}

TEST_CASE("plain HTTP is told that this is an HTTPS port") {
  const auto server = start(test_options(), echo_handler());
  const int socket = connect_to(server->port());
  REQUIRE(socket >= 0);
  const std::string request = "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(5000, 'x') + "\r\n\r\n";
  REQUIRE(::send(socket, request.data(), request.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[512];
  for (ssize_t got = 0; (got = ::recv(socket, buffer, sizeof buffer, 0)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(socket);
  CHECK(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"));
  CHECK(answer.ends_with("This is an HTTPS port: use https:// instead of http://\n"));
}

TEST_CASE("500 connections at once are served, one beyond the limit is closed") {
  rlimit descriptors{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &descriptors) == 0);
  const rlimit before = descriptors;
  descriptors.rlim_cur = std::min<rlim_t>(descriptors.rlim_max, 4096);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &descriptors) == 0);
  const auto log = std::make_shared<Log>();
  ServerOptions options = test_options(log);
  options.connections_max = 500;
  options.silent_per_network_max = 500;
  options.timeouts.idle = 60s;
  const auto server = start(std::move(options), echo_handler());
  std::vector<std::unique_ptr<Peer>> peers(500);
  std::atomic<int> served = 0;
  const auto in_threads = [&](auto&& visit) {
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = t; i < peers.size(); i += 4) visit(i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  };
  in_threads([&](std::size_t i) { peers[i] = std::make_unique<Peer>(server->port()); });
  for (int round = 0; round < 2; ++round) {
    // The last answers leave the beginning of another request behind: none is idle ever after.
    const std::string begun = round == 1 ? "POST /x HTTP/1.1\r\n" : "";
    in_threads([&](std::size_t i) { peers[i]->send(post("/x", std::to_string(i)) + begun); });
    in_threads([&](std::size_t i) {
      const auto answer = peers[i]->receive();
      if (answer && answer->body == std::to_string(i)) ++served;
    });
  }
  CHECK(served == 1000);
  CHECK_FALSE(Peer(server->port()).connected());
  CHECK_FALSE(Peer(server->port()).connected());
  CHECK(log->count("more than 500 connections") == 1);
  peers[7].reset();
  bool again = false;
  for (int attempt = 0; attempt < 1000 && !again; ++attempt) again = serves(*server);
  CHECK(again);
  peers.clear();
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_CASE("idle connections keep nobody out: the one that is idle longest goes first") {
  ServerOptions options = test_options(std::make_shared<Log>());
  options.connections_max = 4;
  options.connections_per_network_max = 3;
  const auto server = start(std::move(options), echo_handler());
  // An answer is there a moment before its connection counts as idle.
  const auto ask = [](const auto& peer) {
    const bool answered = peer->ask(get("/")).has_value();
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    return answered;
  };
  const auto enter = [&](const char* from) {
    auto peer = std::make_unique<Peer>(server->port(), PeerOptions{.from = from});
    REQUIRE(peer->connected());
    REQUIRE(ask(peer));
    return peer;
  };
  const auto oldest = enter("127.0.0.2");
  const auto second = enter("127.0.0.2");
  const auto third = enter("127.0.0.2");
  REQUIRE(ask(oldest));  // now the second has been idle longest
  const auto other = enter("127.0.0.3");
  const auto beyond_all = enter("127.0.0.4");
  CHECK(second->wait_closed());
  CHECK(ask(third));
  CHECK(ask(oldest));
  CHECK(ask(other));
  const auto again = enter("127.0.0.2");  // closes beyond_all, of another network: its own has room
  CHECK(beyond_all->wait_closed());
  const auto beyond_network = enter("127.0.0.2");
  CHECK(third->wait_closed());
  CHECK(ask(other));
  CHECK(ask(oldest));
}

TEST_CASE("a network's connections beyond its share are refused, others are served") {
  ServerOptions options = test_options(std::make_shared<Log>());
  options.connections_per_network_max = 3;
  const auto server = start(std::move(options), echo_handler());
  std::vector<std::unique_ptr<Peer>> greedy;
  for (int i = 0; i < 3; ++i) {
    greedy.push_back(std::make_unique<Peer>(server->port(), PeerOptions{.from = "127.0.0.2"}));
    REQUIRE(greedy.back()->send(get("/") + "GET / HTTP/1.1\r\n"));  // the second keeps it from being idle
    REQUIRE(greedy.back()->receive());
  }
  CHECK_FALSE(Peer(server->port(), PeerOptions{.from = "127.0.0.2"}).connected());
  CHECK(serves(*server));
  greedy.pop_back();
  bool again = false;
  for (int attempt = 0; attempt < 1000 && !again; ++attempt)
    again = Peer(server->port(), PeerOptions{.from = "127.0.0.2"}).connected();
  CHECK(again);
}

TEST_CASE("large bodies that a network has begun leave room for small ones, and for others' large ones") {
  ServerOptions options = test_options(std::make_shared<Log>());
  options.bodies_bytes_max = 4 << 20;  // of a network: one such body
  const auto server = start(std::move(options), echo_handler());
  const std::string large(1 << 20, 'l'), small(1 << 10, 's');
  const std::string from = "127.0.0.2";
  auto slow = std::make_unique<Peer>(server->port(), PeerOptions{.from = from});
  const std::string whole = post("/x", large);
  REQUIRE(slow->send(whole.substr(0, whole.size() - 1)));
  const auto status = [&](const std::string& body, const std::string& address) {
    const auto answer = Peer(server->port(), PeerOptions{.from = address}).ask(post("/x", body));
    if (answer && answer->status == 503) CHECK(std::stoi(answer->headers.at("retry-after")) >= 4);
    return answer ? answer->status : 0;
  };
  int refused = 0;
  for (int attempt = 0; attempt < 1000 && refused != 503; ++attempt) refused = status(large, from);
  CHECK(refused == 503);
  CHECK(status(small, from) == 200);
  CHECK(status(large, "127.0.0.3") == 200);
  SECTION("it ends") {
    REQUIRE(slow->send("l"));
    CHECK(slow->receive()->status == 200);
  }
  SECTION("it goes away") {
    slow.reset();
  }
  int again = 0;
  for (int attempt = 0; attempt < 1000 && again != 200; ++attempt) again = status(large, from);
  CHECK(again == 200);
}

TEST_CASE("connections of two hundred networks come and go") {
  ServerOptions options = test_options(std::make_shared<Log>());
  options.connections_per_network_max = 1;
  const auto server = start(std::move(options), echo_handler());
  const auto from = [](int i) { return "127.1.1." + std::to_string(1 + i); };
  std::vector<int> sockets;
  for (int i = 0; i < 200; ++i) {
    sockets.push_back(connect_to(server->port(), "127.0.0.1", 0, from(i)));
    REQUIRE(sockets.back() >= 0);
    if (i % 3 == 0) ::close(std::exchange(sockets[static_cast<std::size_t>(i / 2)], -1));
  }
  for (const int socket : sockets)
    if (socket >= 0) ::close(socket);
  // Each has room again.
  for (int i = 0; i < 200; i += 20) {
    bool again = false;
    for (int attempt = 0; attempt < 1000 && !again; ++attempt)
      again = Peer(server->port(), PeerOptions{.from = from(i)}).connected();
    CHECK(again);
  }
}

TEST_CASE("of a network's silent connections the oldest goes when there are too many") {
  ServerOptions options = test_options(std::make_shared<Log>());
  options.silent_per_network_max = 4;
  options.timeouts.idle = 60s;
  options.timeouts.handshake = 60s;
  const auto server = start(std::move(options), echo_handler());
  Peer speaker(server->port());
  REQUIRE(speaker.send(get("/")));
  REQUIRE(speaker.receive());
  std::vector<int> silent;
  for (int i = 0; i < 10; ++i) silent.push_back(connect_to(server->port()));
  int closed = 0;
  for (int attempt = 0; attempt < 200 && closed < 6; ++attempt) {
    closed = 0;
    for (const int socket : silent) {
      char byte = 0;
      const timeval patience{0, 5'000};
      ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      if (::recv(socket, &byte, 1, MSG_PEEK) == 0) ++closed;
    }
  }
  CHECK(closed == 6);
  REQUIRE(speaker.send(get("/")));  // what has spoken stays
  CHECK(speaker.receive());
  CHECK(serves(*server));  // and the next one takes the place of the oldest
  for (const int socket : silent) ::close(socket);
}

TEST_CASE("who is told to come again is told when, and not all are told the same") {
  const auto server = start(test_options(), [](const Request& request, const Reply& reply) {
    Response response;
    response.status = std::stoi(request.query.at("status"));
    if (request.path == "/says") response.headers["Retry-After"] = "17";
    reply(response);
  });
  Peer peer(server->port());
  std::set<int> told;
  for (int i = 0; i < 60; ++i)
    told.insert(std::stoi(peer.ask(get("/?status=503"))->headers.at("retry-after")));
  CHECK(told == std::set{4, 5, 6, 7, 8});
  CHECK(peer.ask(get("/says?status=503"))->headers.at("retry-after") == "17");
  for (const char* other : {"/?status=200", "/?status=403", "/?status=500"})
    CHECK(!peer.ask(get(other))->headers.contains("retry-after"));
}

TEST_CASE("without descriptors the server waits instead of spinning") {
  const auto log = std::make_shared<Log>();
  const auto server = start(test_options(log), echo_handler());
  REQUIRE(serves(*server));  // all that opens files lazily has done so
  rlimit descriptors{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &descriptors) == 0);
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  ::close(client);
  const rlimit before = descriptors;
  descriptors.rlim_cur = static_cast<rlim_t>(client) + 1;  // the client's own socket and no more
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &descriptors) == 0);
  const int socket = connect_to(server->port());
  const bool told = log->wait_for("allow the server more open files");
  timespec begin{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  char byte = 0;
  const timeval patience{0, 400'000};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  CHECK(::recv(socket, &byte, 1, 0) < 0);  // nobody answers for 0.4 s
  timespec end{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(told);
  const double cpu = static_cast<double>(end.tv_sec - begin.tv_sec) +
                     1e-9 * static_cast<double>(end.tv_nsec - begin.tv_nsec);
  CHECK(cpu < 0.1);
  CHECK(log->count("allow the server more open files") == 1);
  ::close(socket);
  CHECK(serves(*server));
}
