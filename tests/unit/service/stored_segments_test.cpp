// Where results are kept, and that a manager reads the same bytes wherever that is.
#include "server/service/work/stored_segments.h"
#include "server/service/core/lost_blobs.h"

#include <filesystem>

#include "shared/io/compression.h"
#include "shared/protocol/segment.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using service::PieceFiles;
using storage::SegmentPlace;

namespace {

std::vector<storage::AcceptedSegment> accepted(World& world, ProblemId problem) {
  return world.look<std::vector<storage::AcceptedSegment>>(
      [problem](service::Transaction& tx) { return must(tx.store.accepted_segments(problem, 0)); });
}

std::string file_text(const io::Path& path) {
  return must(io::real_files().read(path, 1 << 20));
}

// The items of a piece, as a manager finds them.
std::string items_of(const contract::Piece& piece, std::int64_t items) {
  const Bytes bytes = file_text(piece.path);
  const auto all = must(protocol::split_segment(bytes, items, 1000));
  std::string text;
  for (std::int64_t item = piece.range.begin; item < piece.range.end; ++item)
    text += std::string(all.at(static_cast<std::size_t>(item - piece.first))) + " ";
  return text;
}

}  // namespace

TEST_CASE("small results need no file of their own, uploaded ones stay where they are") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(9);
  std::int64_t next = 0;
  while (next < 7) {
    const auto grant = world.grants(host.id).front();
    for (std::int64_t item = grant.range.begin; item < std::min<std::int64_t>(grant.range.end, 7); ++item) {
      auto request = World::results(grant.unit, {item, item + 1}, item + 1 == grant.range.end);
      if (item == 3) request = world.uploaded(request);
      REQUIRE(must(world.commit(host.id, request)).status == protocol::CommitStatus::accepted);
      CHECK(std::filesystem::exists(world.service().kernel().blobs().path(request.digest)) == (item == 3));
      next = item + 1;
    }
  }
  auto pieces = accepted(world, problem);
  REQUIRE(pieces.size() == 7);
  const io::Path directory = world.directory() / "laid-out";
  {
    PieceFiles files(world.service().kernel(), directory);
    const auto laid = must(files.lay_out(pieces));
    CHECK(files.damaged().empty());
    REQUIRE(laid.size() == 3);
    CHECK(laid[0].range == Range{0, 3});
    CHECK(items_of(laid[0], 3) == "item-0 item-1 item-2 ");
    CHECK(laid[1].range == Range{3, 4});
    CHECK(items_of(laid[1], 1) == "item-3 ");
    CHECK(laid[2].range == Range{4, 7});
    CHECK(items_of(laid[2], 3) == "item-4 item-5 item-6 ");
  }
  CHECK(!std::filesystem::exists(directory));
  // A gap is a gap, and of a segment only what was accepted from it is there.
  pieces.erase(pieces.begin() + 1);
  pieces.erase(pieces.begin() + 2);
  PieceFiles files(world.service().kernel(), directory);
  const auto laid = must(files.lay_out(pieces));
  REQUIRE(laid.size() == 3);
  CHECK(items_of(laid[0], 1) == "item-0 ");
  CHECK(items_of(laid[1], 1) == "item-2 ");
  CHECK(items_of(laid[2], 3) == "item-4 item-5 item-6 ");
}

TEST_CASE("of a segment of several items those are laid out that were accepted") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto request = World::results(UnitId{1}, {0, 3});
  const auto pieces_of = [&](service::Transaction& tx) {
    storage::SegmentRow row;
    row.problem = problem;
    row.host = host.id;
    row.range = request.range;
    row.digest = request.digest;
    row.place = SegmentPlace::store;
    row.id = must(tx.store.add_segment(row, must(io::decompress(*request.data, request.bytes))));
    return std::vector<storage::AcceptedSegment>{{{1, 2}, row}};
  };
  auto pieces = world.look<std::vector<storage::AcceptedSegment>>(pieces_of);
  PieceFiles files(world.service().kernel(), world.directory() / "laid-out");
  const auto laid = must(files.lay_out(pieces));
  REQUIRE(laid.size() == 1);
  CHECK(laid[0].first == 1);
  CHECK(items_of(laid[0], 1) == "item-1 ");
  CHECK(service::damaged_among(world.service().kernel(), pieces).empty());
  pieces.front().segment.digest = std::string(64, 'a');  // as if its bytes had changed
  CHECK(service::damaged_among(world.service().kernel(), pieces) == std::vector{std::string(64, 'a')});
  PieceFiles others(world.service().kernel(), world.directory() / "laid-out-too");
  CHECK(must(others.lay_out(pieces)).empty());
  CHECK(others.damaged() == std::vector{std::string(64, 'a')});
}
