// The kit's kernel loop, driven through pipes as a client drives it.
#include "apps/kit/kernel.h"

#include <atomic>
#include <stdexcept>

#include "tests/catch.h"
#include "tests/unit/apps/peer.h"

namespace gleaner::kit {
namespace {

// Item i is i times "x" for small i; the high numbers are special.
class TestKernel final : public Kernel {
 public:
  Result<Bytes> compute(int stage, std::int64_t item, ItemContext& context) override {
    if (item == 900) return Error{ErrorKind::invalid, "item 900\nis bad"};
    if (item == 901) throw std::runtime_error("item 901 threw");
    if (item == 902) {
      while (!context.abandoned()) context.progress(0.5);
      return Bytes("never seen");
    }
    if (item == 903) return wait_for_checkpoint(context);
    if (item == 904) return Bytes(300'000, 'y');
    if (item == 905) return Bytes("threads " + std::to_string(context.threads()));
    return Bytes(static_cast<std::size_t>(item), static_cast<char>('x' + stage));
  }

 private:
  // Ends once its state was saved (or was given back): then all commands sent before `checkpoint` were seen.
  static Bytes wait_for_checkpoint(ItemContext& context) {
    if (const auto state = context.restored()) return "restored " + *state;
    context.log("item 903 began");
    bool saved = false;
    context.offer_checkpoint([&] {
      saved = true;
      return Bytes("half\0way", 8);
    });
    while (!saved && !context.abandoned()) context.progress(0.25);
    return "saved";
  }
};

KernelFactory factory() {
  return [](const Problem& problem) -> Result<std::unique_ptr<Kernel>> {
    if (problem.directory() == "bad") return Error{ErrorKind::invalid, "width: must be given"};
    return std::unique_ptr<Kernel>(std::make_unique<TestKernel>());
  };
}

test::Peer start(Checkpoints checkpoints = Checkpoints::none) {
  return test::Peer(
      [=](int input, int output) { return serve_kernel(factory(), checkpoints, input, output, 3); });
}

void prepare(test::Peer& peer, const std::string& ready = "ready 1") {
  REQUIRE(peer.ask("gleaner 1") == ready);
  REQUIRE(peer.ask("problem /some where") == "ok");
}

}  // namespace

TEST_CASE("A kernel greets, takes a problem, and writes items with exact framing") {
  test::Peer peer = start();
  prepare(peer);
  peer.send("unit 0 0 4\n");
  CHECK(peer.read_line() == "item 0 0");
  CHECK(peer.read_line() == "item 1 1");
  CHECK(peer.read_bytes(1) == "x");
  CHECK(peer.read_line() == "item 2 2");
  CHECK(peer.read_bytes(2) == "xx");
  CHECK(peer.read_line() == "item 3 3");
  CHECK(peer.read_bytes(3) == "xxx");
  CHECK(peer.read_line() == "done 4");
  std::map<std::int64_t, std::string> items;
  peer.send("unit 1 2 3\n");
  CHECK(peer.collect(items) == "done 3");
  CHECK(items[2] == "yy");
  CHECK(peer.ask("unit 0 7 7") == "done 7");
  peer.send("unit 0 904 906\n");
  CHECK(peer.collect(items) == "done 906");
  CHECK(items[904] == std::string(300'000, 'y'));
  CHECK(items[905] == "threads 3");
  peer.send("quit\n");
  CHECK(peer.read_line() == "<end>");
  CHECK(peer.exit_status() == 0);
}

TEST_CASE("A kernel answers wrong commands and goes on") {
  test::Peer peer = start();
  CHECK(peer.ask("unit 0 0 1") == "error the first command must be: gleaner 1");
  CHECK(peer.ask("gleaner 2") == "error this kernel speaks version 1 of the contract");
  CHECK(peer.ask("gleaner 1") == "ready 1");
  CHECK(peer.ask("unit 0 0 1") == "error no problem was given");
  CHECK(peer.ask("problem bad") == "error width: must be given");
  CHECK(peer.ask("unit 0 0 1") == "error no problem was given");
  CHECK(peer.ask("problem good") == "ok");
  CHECK(peer.ask("dance") == "error unknown command");
  CHECK(peer.ask("") == "error unknown command");
  for (const char* wrong :
       {"unit", "unit 0", "unit 0 1", "unit 0 2 1", "unit 0 -1 2", "unit x 0 1", "unit 64 0 1",
        "unit 0 0 1 now", "unit 0 0 99999999999999999999", "unit 0  0 1"}) {
    CHECK(peer.ask(wrong) == "error expected: unit STAGE BEGIN END [checkpoint]");
  }
  CHECK(peer.ask("checkpoint") == "checkpoint none");
  peer.send("end 4\n");  // late: ignored
  std::map<std::int64_t, std::string> items;
  peer.send("unit 0 3 6\n");
  CHECK(peer.collect(items) == "done 6");
  CHECK(items.size() == 3);
}

TEST_CASE("An item that fails ends its unit, and only that") {
  test::Peer peer = start();
  prepare(peer);
  std::map<std::int64_t, std::string> items;
  peer.send("unit 0 899 910\n");
  CHECK(peer.collect(items) == "error item 900 is bad");
  CHECK(items.size() == 1);
  CHECK(peer.ask("unit 0 901 902") == "error item 901 threw");
  CHECK(peer.ask("unit 0 5 5") == "done 5");
}

TEST_CASE("An earlier end stops a unit, between items and within one") {
  test::Peer peer = start(Checkpoints::offered);
  prepare(peer, "ready 1 checkpoint");
  std::map<std::int64_t, std::string> items;
  SECTION("at once, if the item in progress is not wanted") {
    peer.send("unit 0 902 2000\nend 902\n");
    CHECK(peer.collect(items) == "done 902");
    CHECK(items.empty());
  }
  SECTION("even before the unit's begin") {
    peer.send("unit 0 902 2000\nend 3\n");
    CHECK(peer.collect(items) == "done 902");
  }
  SECTION("later, and never later than before") {
    test::TemporaryDirectory directory;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(directory.path());
    peer.send("unit 0 903 2000\n");
    CHECK(peer.read_line() == "log item 903 began");
    peer.send("end 906\nend 1000\ncheckpoint\n");
    CHECK(peer.collect(items) == "checkpoint 903");
    CHECK(peer.collect(items) == "done 906");
    CHECK(items.size() == 3);
    CHECK(items[903] == "saved");
    std::filesystem::current_path(before);
  }
}

TEST_CASE("An item is saved and taken up again") {
  test::TemporaryDirectory directory;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  {
    test::Peer peer = start(Checkpoints::offered);
    prepare(peer, "ready 1 checkpoint");
    peer.send("unit 0 903 904\n");
    CHECK(peer.read_line() == "log item 903 began");
    peer.send("checkpoint\n");
    std::map<std::int64_t, std::string> items;
    CHECK(peer.collect(items) == "checkpoint 903");
    CHECK(peer.collect(items) == "done 904");
  }
  {
    test::Peer peer = start(Checkpoints::offered);
    prepare(peer, "ready 1 checkpoint");
    std::map<std::int64_t, std::string> items;
    peer.send("unit 0 903 904 checkpoint\n");
    CHECK(peer.collect(items) == "done 904");
    CHECK(items[903] == std::string("restored half\0way", 17));
    // A checkpoint of another item or stage is not used: the item starts anew.
    peer.send("unit 1 2 3 checkpoint\n");
    CHECK(peer.read_line() == "log the checkpoint is of another item; starting anew");
    CHECK(peer.collect(items) == "done 3");
    CHECK(items[2] == "yy");
  }
  std::filesystem::current_path(before);
}

TEST_CASE("Quit and the end of the input end a kernel, even within an item") {
  test::Peer peer = start();
  prepare(peer);
  peer.send("unit 0 902 2000\n");
  SECTION("quit") {
    peer.send("quit\n");
  }
  SECTION("end of the input") {
    peer.close_input();
  }
  CHECK(peer.read_line() == "<end>");
  CHECK(peer.exit_status() == 0);
}

TEST_CASE("A reported fraction is in bounds, and progress is rare") {
  test::Peer peer = start();
  prepare(peer);
  peer.send("unit 0 902 2000\n");
  CHECK(peer.read_line() == "progress 902 0.5000");  // it spins: the first one is due after half a second
  peer.send("end 0\n");
  CHECK(peer.read_line() == "done 902");
}

TEST_CASE("A line without an end is refused, not gathered for ever") {
  test::Peer peer = start();
  prepare(peer);
  peer.send(std::string(70'000, 'a'));
  CHECK(peer.read_line() == "<end>");
  CHECK(peer.exit_status() == 1);
}

TEST_CASE("Units sent together are done one after the other, and repeat bit for bit") {
  test::Peer peer = start();
  prepare(peer);
  peer.send("unit 0 0 300\nunit 0 0 300\n");  // the second waits for the first
  std::map<std::int64_t, std::string> first;
  std::map<std::int64_t, std::string> second;
  CHECK(peer.collect(first) == "done 300");
  CHECK(peer.collect(second) == "done 300");
  CHECK(first == second);
  for (const auto& [index, bytes] : first)
    REQUIRE(bytes == std::string(static_cast<std::size_t>(index), 'x'));
}

}  // namespace gleaner::kit
