// Answers that follow a feed: pieces as they come, an end that leaves the connection in use, bounds.
#include "server/http/feed.h"

#include <thread>

#include "tests/catch.h"
#include "tests/unit/http/peer.h"

using namespace gleaner;
using namespace gleaner::http;
using namespace gleaner::http::testing;

namespace {

Feed::Piece piece(const std::string& text) {
  return std::make_shared<const std::string>(text);
}

Handler feed_handler(const std::shared_ptr<Feed>& feed) {
  return [feed](const Request& request, const Reply& reply) {
    Response response;
    if (request.path == "/feed") response.feed = feed;
    reply(std::move(response));
  };
}

void wait_for_followers(const Feed& feed, std::size_t count) {
  for (int i = 0; i < 2000 && feed.followers() != count; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  REQUIRE(feed.followers() == count);
}

std::string read_until(Peer& peer, const std::string& end) {
  std::string text;
  while (text.find(end) == std::string::npos) {
    const std::string more = peer.read(4096);
    if (more.empty()) break;
    text += more;
  }
  return text;
}

}  // namespace

TEST_CASE("pieces come as they are published, and the connection goes on after the end") {
  const auto feed = std::make_shared<Feed>(10);
  ServerOptions options = test_options();
  options.timeouts.follow = std::chrono::milliseconds{700};
  const auto server = start(std::move(options), feed_handler(feed));
  Peer peer(server->port());
  REQUIRE(peer.send("GET /feed HTTP/1.1\r\nHost: x\r\n\r\n"));
  wait_for_followers(*feed, 1);
  feed->publish(piece("first"));
  std::string text = read_until(peer, "first\r\n");
  CHECK(text.find("Transfer-Encoding: chunked") != std::string::npos);
  CHECK(text.find("Content-Length") == std::string::npos);
  CHECK(text.find("\r\n\r\n5\r\nfirst\r\n") != std::string::npos);
  feed->publish(piece("the second one"));
  CHECK(read_until(peer, "one\r\n") == "e\r\nthe second one\r\n");
  CHECK(read_until(peer, "0\r\n\r\n") == "0\r\n\r\n");
  wait_for_followers(*feed, 0);
  const auto next = peer.ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  REQUIRE(next);
  CHECK(next->status == 200);
}

TEST_CASE("who asks to close gets the pieces as they are") {
  const auto feed = std::make_shared<Feed>(10);
  ServerOptions options = test_options();
  options.timeouts.follow = std::chrono::milliseconds{300};
  const auto server = start(std::move(options), feed_handler(feed));
  Peer peer(server->port());
  REQUIRE(peer.send("GET /feed HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
  wait_for_followers(*feed, 1);
  feed->publish(piece("only"));
  const std::string text = read_until(peer, "no such end");
  CHECK(text.find("chunked") == std::string::npos);
  CHECK(text.ends_with("\r\n\r\nonly"));
}

TEST_CASE("a stop ends what follows at once, and who goes away is forgotten") {
  const auto feed = std::make_shared<Feed>(10);
  const auto server = start(test_options(), feed_handler(feed));
  {
    Peer gone(server->port());
    REQUIRE(gone.send("GET /feed HTTP/1.1\r\nHost: x\r\n\r\n"));
    wait_for_followers(*feed, 1);
  }
  for (int i = 0; i < 2000 && feed->followers() > 0; ++i) {
    feed->publish(piece(std::string(1000, 'x')));
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  CHECK(feed->followers() == 0);
  Peer peer(server->port());
  REQUIRE(peer.send("GET /feed HTTP/1.1\r\nHost: x\r\n\r\n"));
  wait_for_followers(*feed, 1);
  const auto before = std::chrono::steady_clock::now();
  server->stop(std::chrono::seconds{15});
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds{10});
}

TEST_CASE("followers of one name shut out nobody else") {
  Feed feed(4, 2);
  const auto follow = [&](const char* who) { return feed.follow([](const Feed::Piece&) {}, who); };
  const auto first = follow("vera");
  REQUIRE(first);
  REQUIRE(follow("vera"));
  CHECK(feed.full("vera"));
  CHECK_FALSE(follow("vera"));
  CHECK_FALSE(feed.full("ann"));
  REQUIRE(follow("ann"));
  feed.leave(*first);
  REQUIRE(follow("vera"));
}

TEST_CASE("a feed takes no more followers than allowed, and tells a new one the present piece") {
  Feed feed(1);
  std::vector<std::string> told;
  const auto follower = feed.follow([&](const Feed::Piece& each) { told.push_back(*each); });
  REQUIRE(follower);
  CHECK(feed.full());
  CHECK_FALSE(feed.follow([](const Feed::Piece&) {}));
  feed.publish(piece("a"));
  feed.leave(*follower);
  feed.publish(piece("b"));  // to nobody
  CHECK(told == std::vector<std::string>{"a"});
  REQUIRE(feed.follow([&](const Feed::Piece& each) { told.push_back(*each); }));
  CHECK(told.size() == 1);  // nothing old
}
