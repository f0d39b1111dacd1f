#include "client/receipts/receipts.h"

#include <algorithm>

#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/crypto/statements.h"
#include "shared/json/text.h"
#include "shared/protocol/codec.h"

namespace gleaner::receipts {
namespace {

using Json = json::Value;

constexpr std::int64_t day = std::int64_t{86400} * 1'000'000;
constexpr std::size_t days_kept = 14;
constexpr std::int64_t totals_bytes_max = 16 << 10;

std::int64_t day_of(Timestamp time) {
  return to_microseconds(time) / day;
}

io::Path numbered(const io::Path& log, int number) {
  return number == 0 ? log : with_suffix(log, "." + std::to_string(number));
}

std::string key_file(std::string_view key) {
  return to_hex(key) + ".json";
}

struct Line {
  protocol::SignedStatement statement;
  protocol::Acknowledgement acknowledgement;
  std::string problem, application;
};

std::optional<Line> parse_line(std::string_view text) {
  const Json all = json::parse_or_null(text);
  const auto word = [&](const char* name) { return all[name].is_string() ? all[name].string() : ""; };
  auto statement = protocol::decode<protocol::SignedStatement>(json::write(all["statement"]));
  if (!statement.ok()) return std::nullopt;
  auto acknowledgement = protocol::decode<protocol::Acknowledgement>(statement->payload);
  if (!acknowledgement.ok()) return std::nullopt;
  return Line{std::move(*statement), std::move(*acknowledgement), word("problem"), word("application")};
}

// Calls `visit` with each line that ends; what a kill cut off does not.
template <typename Visit>
void each_line(std::string_view text, const Visit& visit) {
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    if (end > 0) visit(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Receipts::Receipts(io::Files& files, const state::ProjectDirectory& project)
    : files_(files), directory_(project.receipts()) {}

void Receipts::open() {
  total_ = 0;
  days_.clear();
  if (const auto text = files_.read(directory_ / "totals", totals_bytes_max); text.ok()) {
    const Json totals = json::parse_or_null(*text);
    const auto whole = [](const Json& value, std::int64_t most) {
      return value.is_integer() ? std::clamp<std::int64_t>(value.integer(), 0, most) : 0;
    };
    total_ = whole(totals["total"], limits::items_max);
    for (const Json& entry : totals["days"].elements())
      if (entry.elements().size() == 2)
        days_[whole(entry[0], limits::items_max)] = whole(entry[1], limits::items_max);
  }
  const auto log = files_.read(directory_ / "log", 2 * log_bytes_max);
  if (!log.ok()) return;
  log_bytes_ = static_cast<std::int64_t>(log->size());
  each_line(*log, [&](std::string_view text) {
    if (const auto line = parse_line(text)) count(line->acknowledgement);
  });
}

void Receipts::count(const protocol::Acknowledgement& acknowledgement) {
  total_ = std::min(total_ + acknowledgement.items_accepted, limits::items_max);
  days_[day_of(acknowledgement.at)] += acknowledgement.items_accepted;
  while (days_.size() > days_kept) days_.erase(days_.begin());
}

Status Receipts::turn_over() {
  Json days = Json::array();
  for (const auto& [number, items] : days_) days.push_back(Json::array({number, items}));
  TRY(files_.write(directory_ / "totals", json::write({{"total", total_}, {"days", days}}, {-1, true}),
                   io::Mode::secret));
  const io::Path log = directory_ / "log";
  for (int number = files_max - 1; number > 0; --number)
    if (files_.exists(numbered(log, number - 1)))
      TRY(files_.rename(numbered(log, number - 1), numbered(log, number)));
  log_bytes_ = 0;
  return {};
}

Status Receipts::add(const protocol::SignedStatement& statement,
                     const protocol::Acknowledgement& acknowledgement, const protocol::Grant& grant) {
  const auto application = protocol::decode<protocol::ApplicationStatement>(grant.application.payload);
  const Json names = {
      {"problem", grant.problem_name},
      {"application", application.ok() ? application->name + " " + application->version : std::string()}};
  std::string line = json::write(names, {-1, true});
  line.back() = ',';
  line += "\"statement\":" + protocol::encode(statement) + "}\n";
  if (project_ && vouched_ != statement.key) {
    TRY(files_.make_directories(directory_ / "keys"));
    const io::Path vouching = directory_ / "keys" / utf8_path(key_file(statement.key));
    if (!files_.exists(vouching)) TRY(files_.write(vouching, protocol::encode(*project_), io::Mode::secret));
    vouched_ = statement.key;
  }
  TRY(files_.make_directories(directory_));
  // The first line after a kill may follow one that was cut off.
  if (log_bytes_ > 0) {
    TRY_ASSIGN(const Bytes last, files_.read_range(directory_ / "log", log_bytes_ - 1, 1));
    if (last != "\n") line.insert(line.begin(), '\n');
  }
  if (log_bytes_ + static_cast<std::int64_t>(line.size()) > log_bytes_max) TRY(turn_over());
  TRY(files_.write_at(directory_ / "log", log_bytes_, line));
  log_bytes_ += static_cast<std::int64_t>(line.size());
  count(acknowledgement);
  return {};
}

Contribution Receipts::contribution(Timestamp now) const {
  Contribution sum;
  sum.total = total_;
  const std::int64_t today = day_of(now);
  for (const auto& [number, items] : days_) {
    if (number == today) sum.today += items;
    if (number <= today && number > today - 7) sum.week += items;
  }
  return sum;
}

Result<ReceiptBook> read_receipts(const io::Files& files, const state::ProjectDirectory& project,
                                  std::string_view root_fingerprint, const std::vector<HostId>& hosts) {
  ReceiptBook book;
  std::map<Bytes, std::optional<protocol::SignedStatement>> documents;
  const auto document_of = [&](const Bytes& key) -> const std::optional<protocol::SignedStatement>& {
    const auto known = documents.find(key);
    if (known != documents.end()) return known->second;
    auto& place = documents[key];
    const auto text = files.read(project.receipts() / "keys" / key_file(key), limits::json_message_bytes_max);
    if (text.ok())
      if (auto statement = protocol::decode<protocol::SignedStatement>(*text); statement.ok())
        place = std::move(*statement);
    return place;
  };
  for (int number = Receipts::files_max - 1; number >= 0; --number) {
    const io::Path path = numbered(project.receipts() / "log", number);
    if (!files.exists(path)) continue;
    TRY_ASSIGN(const Bytes text, files.read(path, 2 * Receipts::log_bytes_max));
    each_line(text, [&](std::string_view one) {
      const auto line = parse_line(one);
      if (!line) {
        ++book.damaged;
        return;
      }
      Receipt receipt{line->acknowledgement, line->problem, line->application, Verdict::unknown_key};
      if (const auto& document = document_of(line->statement.key)) {
        // The key must have been certified when it signed, not today.
        const auto trust = crypto::check_project(*document, root_fingerprint, line->acknowledgement.at);
        const HostId host = line->acknowledgement.host;
        const bool ours = std::find(hosts.begin(), hosts.end(), host) != hosts.end();
        receipt.verdict =
            ours && trust.ok() && crypto::check_acknowledgement(line->statement, *trust, host).ok()
                ? Verdict::genuine
                : Verdict::forged;
      }
      book.receipts.push_back(std::move(receipt));
    });
  }
  return book;
}

}  // namespace gleaner::receipts
