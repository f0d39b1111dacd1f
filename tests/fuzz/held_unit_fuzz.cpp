// A unit on the client's disk. 'r': any bytes are its journal. Else: steps of a unit's life, among them kills
// that cut the file off anywhere and flip a bit of it. What is read back is a prefix of what was written, the
// invariant holds, segments have their digest, and the unit can be gone on with.
#include <fstream>
#include <vector>

#include "client/engine/held_unit.h"
#include "shared/base/limits.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/segment.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using engine::HeldUnit;
namespace fs = std::filesystem;

namespace {

constexpr Range range{3, 11};

protocol::Grant grant() {
  protocol::Grant grant;
  grant.unit = UnitId{7};
  grant.problem = ProblemId{1};
  grant.host = HostId{1};
  grant.range = range;
  grant.parameters = "{}";
  grant.parameters_digest = crypto::sha256_hex(grant.parameters);
  for (protocol::SignedStatement* statement : {&grant.application, &grant.signer}) {
    statement->key = Bytes(32, 'k');
    statement->signature = Bytes(64, 's');
  }
  return grant;
}

Bytes item(std::int64_t index) {
  return Bytes(static_cast<std::size_t>(index % 4) * 3, static_cast<char>('a' + index));
}

void check(const HeldUnit& unit) {
  std::int64_t cut = unit.pending() ? unit.pending()->range.end : unit.acknowledged();
  for (const auto& held : unit.held()) {
    CHECK_TRUE(unit.acknowledged() <= held.range.begin && !held.range.empty());
    cut = std::max(cut, held.range.end);
  }
  CHECK_TRUE(range.begin <= unit.acknowledged() && unit.acknowledged() <= cut && cut <= unit.finished());
  CHECK_TRUE(unit.finished() <= range.end && unit.end() >= range.begin && unit.end() <= range.end);
  CHECK_TRUE(unit.uncut() >= 0);
  if (unit.pending()) {
    const auto segment = unit.segment();
    CHECK_TRUE(segment.ok() == (segment.ok() && crypto::sha256_hex(*segment) == unit.pending()->digest));
  }
}

// Whatever is on the disk, the unit is computed to its end and delivered.
void finish(HeldUnit& unit) {
  CHECK_TRUE(unit.save().ok());
  if (unit.pending()) unit.acknowledge();
  while (!unit.held().empty()) unit.acknowledge(unit.held().back().range.end);
  if (!unit.stopped())
    while (!unit.complete()) unit.add_item(unit.finished(), item(unit.finished()));
  CHECK_TRUE(unit.save().ok());
  while (unit.uncut() > 0) {
    CHECK_TRUE(unit.cut(1).ok());
    check(unit);
    CHECK_TRUE(unit.segment().ok());
    unit.acknowledge();
  }
  CHECK_TRUE(unit.drained());
}

std::unique_ptr<HeldUnit> load(const fs::path& directory) {
  auto unit = HeldUnit::load(io::real_files(), directory);
  CHECK_TRUE(unit.ok());
  check(**unit);
  return std::move(*unit);
}

void damage(const fs::path& journal, fuzz::Dice& dice) {
  const auto size = fs::file_size(journal);
  const auto at =
      (static_cast<std::uintmax_t>(dice.below(256)) << 8 | static_cast<unsigned>(dice.below(256))) %
      (size + 1);
  if (dice.below(2) == 0) return fs::resize_file(journal, at);
  std::fstream file(journal, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const int byte = file.get();
  if (byte < 0) return;
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(byte ^ 1 << dice.below(8)));
}

void live(const fs::path& directory, std::unique_ptr<HeldUnit> unit, fuzz::Dice dice) {
  while (dice.more()) {
    switch (dice.below(11)) {
      case 0:
      case 1:
        if (!unit->complete()) unit->add_item(unit->finished(), item(unit->finished()));
        break;
      case 2:
        if (!unit->pending() && unit->uncut() > 0) CHECK_TRUE(unit->cut(1).ok());
        break;
      case 3:
        if (unit->pending()) unit->acknowledge();
        break;
      case 4:
        unit->trim(range.begin + dice.below(10));
        break;
      case 5:
        unit->stop();
        break;
      case 6: {
        CHECK_TRUE(unit->save().ok());
        const std::int64_t finished = unit->finished();
        unit = load(directory);
        CHECK_TRUE(unit->finished() == finished);
        break;
      }
      case 7:
        if (unit->pending()) unit->hold();
        break;
      case 8:
        if (!unit->pending() && !unit->held().empty()) unit->recall();
        break;
      case 9:
        if (!unit->held().empty())
          unit->acknowledge(
              unit->held()[static_cast<std::size_t>(dice.below(2)) % unit->held().size()].range.end);
        break;
      default: {
        const std::int64_t finished = unit->finished();
        unit.reset();
        damage(directory / "journal", dice);
        unit = load(directory);
        CHECK_TRUE(unit->finished() <= finished);
      }
    }
    check(*unit);
  }
  finish(*unit);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fs::path directory = fuzz::scratch("unit") / "7";
  if (size == 0) return 0;
  fs::remove_all(directory);
  protocol::SignedStatement statement;
  statement.payload = protocol::encode(grant());
  statement.key = Bytes(32, 'k');
  statement.signature = Bytes(64, 's');
  auto unit = HeldUnit::create(io::real_files(), directory, {statement}, grant());
  CHECK_TRUE(unit.ok());
  const std::string_view rest = fuzz::text_of(data + 1, size - 1);
  if (data[0] == 'r') {
    std::ofstream(directory / "journal", std::ios::binary)
        .write(rest.data(), static_cast<std::streamsize>(rest.size()));
    finish(*load(directory));
  } else {
    live(directory, std::move(*unit), fuzz::Dice(rest));
  }
  fs::remove_all(directory.parent_path());
  return 0;
}
