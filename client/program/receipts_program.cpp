#include "client/program/receipts_program.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <optional>

#include "client/program/exit_status.h"
#include "client/receipts/receipts.h"
#include "client/state/projects.h"
#include "shared/base/figures.h"
#include "shared/json/text.h"
#include "shared/terminal/print.h"

namespace gleaner::program {
namespace {

using receipts::Receipt;
using receipts::Verdict;

constexpr std::size_t newest_shown = 20;

const char* name_of(receipts::Verdict verdict) {
  switch (verdict) {
    case receipts::Verdict::genuine:
      return "genuine";
    case receipts::Verdict::unknown_key:
      return "unknown key";
    case receipts::Verdict::forged:
      break;
  }
  return "NOT GENUINE";
}

std::string local_time(Timestamp time) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}",
                     fmt::localtime(static_cast<std::time_t>(to_microseconds(time) / 1'000'000)));
}

json::Value to_json(const receipts::Receipt& receipt, const std::string& project) {
  const protocol::Acknowledgement& said = receipt.acknowledgement;
  return {{"at", to_microseconds(said.at)},
          {"project", project},
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

void print(const receipts::Receipt& receipt) {
  const protocol::Acknowledgement& said = receipt.acknowledgement;
  terminal::print("{}  {:<24} unit {:<6} items {}-{}: {} {}, {}\n", local_time(said.at),
                  receipt.problem + (receipt.application.empty() ? "" : " (" + receipt.application + ")"),
                  said.unit.value, said.range.begin, said.range.end - 1, said.items_accepted,
                  protocol::name_of(said.status), name_of(receipt.verdict));
}

// One project's, and what they say together.
struct Account {
  state::ProjectNames project;
  receipts::ReceiptBook book;
  std::size_t genuine = 0;
  std::int64_t items = 0;
};

Result<Account> account_of(const state::StateDirectory& state, const state::ProjectNames& project) {
  const io::Files& files = io::real_files();
  const state::ProjectDirectory directory = state.project(project.key);
  TRY_ASSIGN(const state::Identity identity, state::load_identity(files, directory));
  Account account{project, {}};
  std::vector<HostId> hosts = identity.former;
  hosts.push_back(identity.host.host);
  TRY_ASSIGN(account.book, receipts::read_receipts(files, directory, identity.code.root_fingerprint, hosts));
  for (const receipts::Receipt& receipt : account.book.receipts)
    if (receipt.verdict == receipts::Verdict::genuine) {
      ++account.genuine;
      account.items += receipt.acknowledgement.items_accepted;
    }
  return account;
}

Result<std::vector<Account>> accounts(const ReceiptsCommand& command) {
  TRY_ASSIGN(std::vector<state::ProjectNames> names, state::project_names(io::real_files(), command.state));
  if (names.empty()) return state::none_joined(command.state);
  if (!command.project.empty()) {
    TRY_ASSIGN(const std::size_t index, state::find_project(names, command.project));
    names = {names[index]};
  }
  std::vector<Account> all;
  std::optional<Error> trouble;
  for (const state::ProjectNames& name : names) {
    auto account = account_of(command.state, name);
    if (account.ok())
      all.push_back(std::move(account).value());
    else if (account.error().kind != ErrorKind::not_found || names.size() == 1)  // else: its joining waits
      trouble = account.error();
  }
  if (trouble) return *trouble;
  if (all.empty()) return state::none_joined(command.state);
  return all;
}

void print(const Account& account, bool all, bool named) {
  const std::size_t count = account.book.receipts.size();
  const std::size_t first = all || count <= newest_shown ? 0 : count - newest_shown;
  if (named) terminal::print("{} at {}:\n", account.project.name, account.project.server);
  for (std::size_t i = first; i < count; ++i) print(account.book.receipts[i]);
  if (first > 0) terminal::print("({} older: see them with --all)\n", first);
  terminal::print("{}, {} signed by this project: {} accepted from this computer\n",
                  counted(static_cast<std::int64_t>(count), "receipt"), account.genuine,
                  counted(account.items, "item"));
  if (account.book.damaged > 0) terminal::print("{} damaged lines were skipped\n", account.book.damaged);
}

// `receipts` of all projects in one list.
void print_json(const std::vector<Account>& all) {
  json::Value list = json::Value::array();
  std::size_t genuine = 0;
  std::int64_t items = 0;
  int damaged = 0;
  for (const Account& account : all) {
    for (const receipts::Receipt& receipt : account.book.receipts)
      list.push_back(to_json(receipt, account.project.name));
    genuine += account.genuine;
    items += account.items;
    damaged += account.book.damaged;
  }
  const json::Value whole = {
      {"receipts", list}, {"genuine", genuine}, {"items_accepted", items}, {"damaged", damaged}};
  terminal::print("{}\n", json::write(whole, {2, true}));
}

}  // namespace

int run_receipts(const ReceiptsCommand& command) {
  const auto all = accounts(command);
  if (!all.ok()) {
    terminal::print(stderr, "gleaner: {}\n", all.error().message);
    return exit_problem;
  }
  if (command.json) print_json(*all);
  bool genuine = true;
  for (const Account& account : *all) {
    if (!command.json) print(account, command.all, all->size() > 1);
    genuine = genuine && account.genuine == account.book.receipts.size();
  }
  return genuine ? exit_ok : exit_problem;
}

}  // namespace gleaner::program
