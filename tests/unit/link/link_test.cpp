// The link on a unix socket: operations and their answers find each other, whatever breaks in between.
#include <atomic>
#include <future>
#include <thread>

#include "server/link/address.h"
#include "server/link/client.h"
#include "server/link/listener.h"
#include "server/link/messages.h"
#include "tests/unit/link/scratch.h"

using namespace gleaner;
using namespace gleaner::link;

namespace {

// Says hello to everybody and answers with the body, `place` in pieces first; keeps those of `leave`, and
// drops those of `blob`.
class Echo {
 public:
  explicit Echo(const Address& address) {
    auto started =
        Listener::start({address, no_identity, [](const std::string&) {}},
                        [this](Kind kind, std::string_view body, std::shared_ptr<Exchange> exchange) {
                          if (kind == Kind::hello) return exchange->done({});
                          if (kind == Kind::leave) return keep(std::move(exchange));
                          if (kind == Kind::place) exchange->piece(body);
                          if (kind == Kind::blob) return;  // dropped
                          exchange->done(body);
                        });
    REQUIRE(started.ok());
    listener_ = std::move(*started);
  }
  void wait_kept(std::size_t count) {
    for (int i = 0; i < 2000; ++i) {
      {
        const std::lock_guard lock(mutex_);
        if (kept_.size() == count) return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    FAIL("not so many operations came");
  }
  void answer_kept() {
    const std::lock_guard lock(mutex_);
    for (const auto& exchange : kept_) exchange->done("late");
    kept_.clear();
  }
  Listener& listener() { return *listener_; }

 private:
  void keep(std::shared_ptr<Exchange> exchange) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(std::move(exchange));
  }
  std::mutex mutex_;  // guards what follows
  std::vector<std::shared_ptr<Exchange>> kept_;
  std::unique_ptr<Listener> listener_;
};

std::unique_ptr<Client> connect(const std::vector<Address>& addresses, std::chrono::milliseconds hold = {}) {
  return must(Client::start({addresses, no_identity, "project", [](const std::string&) {}, hold}));
}

void wait_ready(const Client& client, bool ready = true) {
  for (int i = 0; i < 2000 && client.ready().ok() != ready; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  REQUIRE(client.ready().ok() == ready);
}

Result<Bytes> ask(Client& client, Kind kind, const Bytes& body) {
  auto promise = std::make_shared<std::promise<Result<Bytes>>>();
  auto answer = promise->get_future();
  client.ask(kind, body, [promise](Kind answered, std::string_view text) {
    if (answered == Kind::error) return promise->set_value(unpack_error(text));
    if (answered == Kind::done) promise->set_value(Bytes(text));
  });
  REQUIRE(answer.wait_for(std::chrono::seconds{30}) == std::future_status::ready);
  return answer.get();
}

}  // namespace

TEST_CASE("thousands of operations under way at once are each answered with their own") {
  const Scratch scratch;
  const Echo server(scratch.socket());
  const auto client = connect({scratch.socket()});
  wait_ready(*client);
  constexpr int count = 5000;
  std::atomic<int> right = 0, answered = 0;
  for (int i = 0; i < count; ++i) {
    const Bytes body = std::to_string(i) + Bytes(static_cast<std::size_t>(i % 3000), 'x');
    client->ask(Kind::who, body, [&, body](Kind kind, std::string_view text) {
      right += kind == Kind::done && text == body ? 1 : 0;
      ++answered;
    });
  }
  for (int i = 0; i < 4000 && answered < count; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  CHECK(answered == count);
  CHECK(right == count);
}

TEST_CASE("a large body passes; an operation that the server drops is an error; pieces come before the end") {
  const Scratch scratch;
  const Echo server(scratch.socket());
  const auto client = connect({scratch.socket()});
  wait_ready(*client);
  const Bytes large(static_cast<std::size_t>(frame_bytes_max), 'x');
  CHECK(must(ask(*client, Kind::who, large)) == large);
  const auto dropped = ask(*client, Kind::blob, "x");
  REQUIRE(!dropped.ok());
  CHECK(dropped.error().kind == ErrorKind::internal);
  std::promise<void> over;
  std::vector<Kind> kinds;
  client->ask(Kind::place, "x", [&](Kind kind, std::string_view) {
    kinds.push_back(kind);
    if (kind != Kind::piece) over.set_value();
  });
  over.get_future().wait();
  CHECK(kinds == std::vector<Kind>{Kind::piece, Kind::done});
}

TEST_CASE("what is under way when the server goes is unavailable, and the next server is found") {
  const Scratch scratch;
  auto first = std::make_unique<Echo>(scratch.socket("first"));
  const auto client = connect({scratch.socket("first"), scratch.socket("second")});
  wait_ready(*client);
  std::promise<ErrorKind> lost;
  client->ask(Kind::leave, "x",
              [&](Kind, std::string_view text) { lost.set_value(unpack_error(text).kind); });
  CHECK(ask(*client, Kind::who, "x").ok());
  first.reset();
  CHECK(lost.get_future().get() == ErrorKind::unavailable);
  wait_ready(*client, false);
  const auto refused = ask(*client, Kind::who, "x");
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::unavailable);
  const Echo second(scratch.socket("second"));
  wait_ready(*client);
  CHECK(must(ask(*client, Kind::who, "x")) == "x");
  CHECK(client->figures().connections == 2);
}

namespace {

// What comes of an operation, some time.
std::future<Result<Bytes>> begin(Client& client, Kind kind, const Bytes& body, Repeat repeat = Repeat::yes) {
  auto promise = std::make_shared<std::promise<Result<Bytes>>>();
  client.ask(
      kind, body,
      [promise](Kind answered, std::string_view text) {
        if (answered == Kind::error) return promise->set_value(unpack_error(text));
        if (answered == Kind::done) promise->set_value(Bytes(text));
      },
      repeat);
  return promise->get_future();
}

bool waits(const std::future<Result<Bytes>>& answer) {
  return answer.wait_for(std::chrono::milliseconds{100}) == std::future_status::timeout;
}

constexpr std::chrono::seconds long_hold{30};

}  // namespace

TEST_CASE("the next leader is asked what the one before did not answer, but for what may not be repeated") {
  const Scratch scratch;
  auto first = std::make_unique<Echo>(scratch.socket("first"));
  const auto client = connect({scratch.socket("first"), scratch.socket("second")}, long_hold);
  wait_ready(*client);
  auto sent = begin(*client, Kind::leave, "x");
  auto once = begin(*client, Kind::leave, "x", Repeat::no);
  first->wait_kept(2);
  first.reset();
  CHECK(once.get().error().kind == ErrorKind::unavailable);
  auto held = begin(*client, Kind::who, "y");
  auto held_once = begin(*client, Kind::who, "z", Repeat::no);  // nobody has been asked it
  CHECK(waits(held));
  CHECK(waits(sent));
  CHECK(client->ready().ok());
  Echo second(scratch.socket("second"));
  CHECK(must(held.get()) == "y");
  CHECK(must(held_once.get()) == "z");
  second.wait_kept(1);
  second.answer_kept();
  CHECK(must(sent.get()) == "late");
  CHECK(client->figures().held == 3);
  CHECK(client->figures().unavailable == 1);
}

TEST_CASE("what two leaders did not live to answer is asked no third") {
  const Scratch scratch;
  auto first = std::make_unique<Echo>(scratch.socket("first"));
  const auto client = connect({scratch.socket("first"), scratch.socket("second")}, long_hold);
  wait_ready(*client);
  auto sent = begin(*client, Kind::leave, "x");
  first->wait_kept(1);
  first.reset();
  auto second = std::make_unique<Echo>(scratch.socket("second"));
  second->wait_kept(1);
  second.reset();
  CHECK(sent.get().error().kind == ErrorKind::unavailable);
}

TEST_CASE("nothing is held for longer than was said, nor more than there is room for") {
  const Scratch scratch;
  auto first = std::make_unique<Echo>(scratch.socket());
  const auto client = connect({scratch.socket()}, std::chrono::milliseconds{300});
  wait_ready(*client);
  auto sent = begin(*client, Kind::leave, "x");
  first->wait_kept(1);
  first.reset();
  const Bytes large(static_cast<std::size_t>(frame_bytes_max), 'x');
  std::vector<std::future<Result<Bytes>>> held;
  for (int i = 0; i < 40; ++i) held.push_back(begin(*client, Kind::who, large));
  CHECK(!waits(held.back()));  // 32 MiB are held by now
  CHECK(sent.get().error().kind == ErrorKind::unavailable);
  for (auto& each : held) CHECK(each.get().error().kind == ErrorKind::unavailable);
  wait_ready(*client, false);
  CHECK(!waits(begin(*client, Kind::who, "x")));
  const Echo second(scratch.socket());
  wait_ready(*client);
  CHECK(ask(*client, Kind::who, "x").ok());
}

TEST_CASE("a leader that hands over answers what it was sent, and nothing is asked twice") {
  const Scratch scratch;
  Echo first(scratch.socket("first"));
  const auto client = connect({scratch.socket("first"), scratch.socket("second")}, long_hold);
  wait_ready(*client);
  auto sent = begin(*client, Kind::leave, "x", Repeat::no);
  first.wait_kept(1);
  auto over = std::async(std::launch::async, [&] { first.listener().hand_over(std::chrono::seconds{30}); });
  std::future<Result<Bytes>> held;
  for (int i = 0; i < 200; ++i)  // until it has heard
    if (held = begin(*client, Kind::who, "y", Repeat::no); waits(held)) break;
  CHECK(waits(held));
  CHECK(over.wait_for(std::chrono::milliseconds{0}) == std::future_status::timeout);
  first.answer_kept();
  CHECK(must(sent.get()) == "late");
  REQUIRE(over.wait_for(std::chrono::seconds{20}) == std::future_status::ready);
  const Echo second(scratch.socket("second"));
  CHECK(must(held.get()) == "y");
  CHECK(client->figures().held == 1);
  CHECK(client->figures().unavailable == 0);
}

TEST_CASE("addresses are paths, names and numbers") {
  const auto all =
      must(parse_addresses("unix:/run/x, grid.example.org:8450,[2001:db8::1]:8450, 192.0.2.1:1"));
  REQUIRE(all.size() == 4);
  CHECK(all[0].local());
  CHECK(all[1].host == "grid.example.org");
  CHECK(all[2].host == "2001:db8::1");
  CHECK(all[2].text() == "[2001:db8::1]:8450");
  CHECK(must(parse_addresses("")).empty());
  for (const char* wrong : {"unix:run/x", "x", ":1", "x:0", "x:65536", "x:1x", "2001:db8::1:8450", "[]:1"})
    CHECK(!parse_addresses(wrong).ok());
  CHECK(!parse_addresses("unix:/" + std::string(107, 'x')).ok());
}
