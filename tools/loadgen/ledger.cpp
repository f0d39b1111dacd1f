#include "tools/loadgen/ledger.h"

namespace gleaner::loadgen {
namespace {

constexpr std::array<std::string_view, 4> names{"accepted", "duplicate", "refused", "unanswered"};

Error failed(const io::Path& path) {
  return {ErrorKind::io,
          "cannot write the ledger " + path.string() + ": is the disk full, or the directory missing?"};
}

}  // namespace

Result<Ledger> Ledger::create(const io::Path& path, const std::string& project) {
  Ledger ledger;
  ledger.path_ = path;
  ledger.file_.open(path, std::ios::binary | std::ios::trunc);
  ledger.file_ << "gleaner-ledger 1 " << project << '\n';
  if (!ledger.file_) return failed(path);
  return ledger;
}

void Ledger::add(Outcome outcome, UnitId unit, HostId host, Range range, std::string_view digest) {
  ++counts_[static_cast<std::size_t>(outcome)];
  if (!file_.is_open()) return;
  file_ << names[static_cast<std::size_t>(outcome)] << ' ' << unit.value << ' ' << host.value << ' '
        << range.begin << ' ' << range.end << ' ' << digest << '\n';
}

Status Ledger::close() {
  if (!file_.is_open()) return {};
  file_.close();
  if (!file_) return failed(path_);
  return {};
}

}  // namespace gleaner::loadgen
