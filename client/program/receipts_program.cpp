#include "client/program/receipts_program.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/engine/identity.h"
#include "client/engine/receipts.h"
#include "client/program/exit_status.h"

namespace gleaner::program {
namespace {

using engine::Receipt;
using engine::Verdict;

constexpr std::size_t newest_shown = 20;

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::genuine:
      return "genuine";
    case Verdict::unknown_key:
      return "unknown key";
    case Verdict::forged:
      break;
  }
  return "NOT GENUINE";
}

std::string local_time(Timestamp time) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}",
                     fmt::localtime(static_cast<std::time_t>(to_microseconds(time) / 1'000'000)));
}

nlohmann::json to_json(const Receipt& receipt) {
  const protocol::Acknowledgement& said = receipt.acknowledgement;
  return {{"at", to_microseconds(said.at)},
          {"problem", receipt.problem},
          {"application", receipt.application},
          {"host", said.host.value},
          {"unit", said.unit.value},
          {"begin", said.range.begin},
          {"end", said.range.end},
          {"digest", said.digest},
          {"status", protocol::name_of(said.status)},
          {"items_accepted", said.items_accepted},
          {"verdict", name_of(receipt.verdict)}};
}

void print(const Receipt& receipt) {
  const protocol::Acknowledgement& said = receipt.acknowledgement;
  fmt::print("{}  {:<24} unit {:<6} items {}-{}: {} {}, {}\n", local_time(said.at),
             receipt.problem + (receipt.application.empty() ? "" : " (" + receipt.application + ")"),
             said.unit.value, said.range.begin, said.range.end - 1, said.items_accepted,
             protocol::name_of(said.status), name_of(receipt.verdict));
}

}  // namespace

int run_receipts(const ReceiptsCommand& command) {
  const io::Files& files = io::real_files();
  const auto identity = engine::load_identity(files, command.state);
  if (!identity.ok()) {
    fmt::print(stderr, "gleaner: {}\n", identity.error().message);
    return exit_problem;
  }
  const auto book =
      engine::read_receipts(files, command.state, identity->code.root_fingerprint, identity->host.host);
  if (!book.ok()) {
    fmt::print(stderr, "gleaner: {}\n", book.error().message);
    return exit_problem;
  }
  std::int64_t items = 0;
  std::size_t genuine = 0;
  for (const Receipt& receipt : book->receipts)
    if (receipt.verdict == Verdict::genuine) {
      ++genuine;
      items += receipt.acknowledgement.items_accepted;
    }
  const std::size_t count = book->receipts.size();
  const std::size_t first = command.all || command.json || count <= newest_shown ? 0 : count - newest_shown;
  nlohmann::json list = nlohmann::json::array();
  for (std::size_t i = first; i < count; ++i) {
    if (command.json)
      list.push_back(to_json(book->receipts[i]));
    else
      print(book->receipts[i]);
  }
  if (command.json) {
    const nlohmann::json all = {
        {"receipts", list}, {"genuine", genuine}, {"items_accepted", items}, {"damaged", book->damaged}};
    fmt::print("{}\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    if (first > 0) fmt::print("({} older ones: --all)\n", first);
    fmt::print("{} receipts, {} of them signed by this project: {} items accepted from this computer\n",
               count, genuine, items);
    if (book->damaged > 0) fmt::print("{} damaged lines were left out\n", book->damaged);
  }
  return genuine == count ? exit_ok : exit_problem;
}

}  // namespace gleaner::program
