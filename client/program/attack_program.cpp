#include "client/program/attack_program.h"

#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "client/engine/excess.h"
#include "client/engine/talk.h"
#include "client/platform/cpu_limiter.h"
#include "client/platform/helpers.h"
#include "client/platform/machine_facts.h"
#include "client/program/exit_status.h"
#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/contract/kernel_session.h"
#include "shared/json/text.h"
#include "shared/terminal/print.h"

namespace gleaner::program {
namespace {

using contract::KernelEvent;

constexpr std::int64_t attack_memory = 64 << 20, attack_disk = 4 << 20;
constexpr Duration look_interval = std::chrono::seconds{1};     // as the engine does
constexpr Duration attack_patience = std::chrono::seconds{30};  // of one attack; the longest takes 16 s
constexpr Duration pause_length = std::chrono::seconds{2};      // that an attack asks for
constexpr const char* pause_wanted = "pause";
constexpr const char* may_end = "may end: ";
constexpr const char* answers = "answers: ";

enum class Outcome { holds, accepted, open };

struct Row {
  std::string attack;
  Outcome outcome = Outcome::open;
  std::string words;
  double seconds = 0;
};

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::holds:
      return "holds";
    case Outcome::accepted:
      return "accepted";
    case Outcome::open:
      return "OPEN";
  }
  return "";
}

// The supervisor's words if it has some, else the first line.
std::string end_in_words(const std::string& text) {
  const auto at = text.find("ended for trying");
  const std::string words = at == text.npos ? "ended: " + text : text.substr(at);
  return words.substr(0, words.find('\n'));
}

// The directory of all attacks, and what is attacked in it.
class Place {
 public:
  Place(io::Files& files, const io::Path& state) : files_(files), root_(state / "slots" / "attack") {}
  ~Place() { (void)files_.remove_all(root_); }  // the client's next start removes it with the slots
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  // The hostile program becomes a bundle of its own.
  [[nodiscard]] Status make(const io::Path& hostile) const {
    constexpr std::int64_t program_bytes_max = 64 << 20;
    TRY(files_.remove_all(root_));
    TRY(files_.make_directories(program().parent_path()));
    TRY_ASSIGN(const Bytes bytes, files_.read(hostile, program_bytes_max));
    TRY(files_.write(program(), bytes, io::Mode::executable));
    TRY(files_.make_directories(problem()));
    TRY(files_.make_directories(slot()));
    TRY(files_.make_directories(other_problem().parent_path()));
    TRY(files_.write(owned(), "of the owner\n", io::Mode::secret));
    TRY(files_.write(other_problem(), "{}\n", io::Mode::normal));
    std::array<char, HOST_NAME_MAX + 1> host{};
    (void)::gethostname(host.data(), host.size() - 1);  // else it is the empty name, which is nobody's
    return files_.write(problem() / "target",
                        utf8_text(owned()) + "\n" + utf8_text(other_problem()) + "\n" + host.data() + "\n" +
                            std::to_string(::getpid()) + "\n" + std::to_string(::geteuid()) + "\n" +
                            std::to_string(attack_disk) + "\n" +
                            std::to_string(host::kernel_memory_max(attack_memory, 1)) + "\n",
                        io::Mode::normal);
  }
  [[nodiscard]] Status empty_slot() const {
    TRY(files_.remove_all(slot()));
    return files_.make_directories(slot());
  }
  // Whether the owner's file is as it was.
  [[nodiscard]] bool untouched() const {
    const auto text = files_.read(owned(), 100);
    std::error_code error;
    const auto rights = std::filesystem::status(owned(), error).permissions();
    return text.ok() && *text == "of the owner\n" && !error &&
           rights == (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  [[nodiscard]] io::Path program() const { return root_ / "bundle" / "gleaner-attack"; }
  [[nodiscard]] io::Path problem() const { return root_ / "problems" / "1" / "0-attack"; }
  [[nodiscard]] io::Path slot() const { return root_ / "slot"; }

 private:
  [[nodiscard]] io::Path owned() const { return root_ / "owned"; }
  [[nodiscard]] io::Path other_problem() const { return root_ / "problems" / "2" / "parameters.json"; }

  io::Files& files_;
  io::Path root_;
};

class Arena {
 public:
  Arena(host::Launcher& launcher, const Place& place)
      : launcher_(launcher), place_(place), machine_(platform::make_machine()) {
    launch_.program = place.program();
    launch_.bundle_directory = launch_.program.parent_path();
    launch_.problem_directory = place.problem().parent_path();
    launch_.slot_directory = place.slot();
    launch_.memory_bytes = attack_memory;
    launch_.disk_bytes = attack_disk;
  }

  // Nothing: there is no such attack.
  [[nodiscard]] Result<std::optional<Row>> fight(std::int64_t number) {
    TRY(place_.empty_slot());
    TRY_ASSIGN(auto process, launcher_.start(launch_));
    const io::TreeHandle tree = process->tree();
    contract::KernelSession session(std::move(process), limits::message_length_max);
    // Gone before the session: what is killed must not be frozen, and the next kernel joins the same control
    // group.
    const Gated gated(limiter_, {tree, launch_.threads, launcher_.control_group(launch_.slot)});
    session.set_problem(launcher_.inside(launch_, place_.problem()));
    session.start_unit(0, {number, number + 1});
    Row row;
    bool ends = false;
    const SteadyTime begun = system_clock().steady();
    const auto over = watch(session, [&](const KernelEvent& event) {
      if (event.kind != KernelEvent::Kind::log) return false;
      if (event.text == pause_wanted) pause_until_ = system_clock().steady() + pause_length;
      if (!row.attack.empty()) return true;
      ends = event.text.starts_with(may_end);
      row.attack = event.text.substr(std::string(ends ? may_end : answers).size());
      return true;
    });
    if (row.attack.empty() && over.kind == KernelEvent::Kind::failed) {
      if (over.failure == protocol::FailureKind::kernel_error) return std::optional<Row>();
      return Error{ErrorKind::io, over.text};
    }
    row.seconds = to_seconds(system_clock().steady() - begun);
    judge(over, ends, row);
    return std::optional(std::move(row));
  }

 private:
  // What ended it: a result, its failure, or a limit. `take`: whether the event was of no account.
  template <typename Take>
  KernelEvent watch(contract::KernelSession& session, const Take& take) {
    engine::Talk talk;
    const SteadyTime begun = system_clock().steady();
    SteadyTime look_at = begun + look_interval;
    bool paused = false;
    pause_until_ = {};
    talk.start(begun);
    KernelEvent over;
    over.kind = KernelEvent::Kind::failed;
    while (true) {
      const io::Waitable output = session.process().output_waitable();
      (void)io::wait_any({&output, 1}, std::chrono::milliseconds{20});
      session.pump();
      while (auto event = session.next_event()) {
        if (take(*event)) continue;
        if (event->kind == KernelEvent::Kind::item || event->kind == KernelEvent::Kind::failed) return *event;
      }
      const SteadyTime now = system_clock().steady();
      const io::TreeHandle tree = session.process().tree();
      if (paused != (now < pause_until_)) {
        paused = !paused;
        paused ? limiter_.pause(tree) : limiter_.resume(tree);
      }
      over.text = limiter_.offence(tree);
      if (over.text.empty()) over.text = talk.excess(session.talk_bytes(), now);
      if (over.text.empty() && now >= look_at) {
        look_at = now + look_interval;
        over.text = engine::excess(launch_, machine_->use(tree), tree, *machine_, launcher_);
      }
      if (over.text.empty() && now - begun < attack_patience) continue;
      over.item = over.text.empty() ? -1 : 0;
      return over;
    }
  }

  void judge(const KernelEvent& over, bool ends, Row& row) const {
    const bool answered = over.kind == KernelEvent::Kind::item;
    const std::string words = answered ? over.data : over.text;
    const auto colon = words.find(": ");
    row.words = !answered ? end_in_words(words) : words.substr(colon == words.npos ? 0 : colon + 2);
    if (!answered && over.item < 0) row.words = "it was not ended";
    const bool holds = answered ? words.starts_with("held") : ends && over.item >= 0;
    row.outcome = holds ? Outcome::holds : Outcome::open;
    if (!place_.untouched()) {
      row.outcome = Outcome::open;
      row.words += "; the owner's file was changed";
    }
  }

  // As long as this is there, the kernel gets the processor that it may use, and no more.
  class Gated {
   public:
    Gated(platform::CpuLimiter& limiter, const host::KernelTree& kernel)
        : limiter_(limiter), tree_(kernel.tree) {
      limiter_.add(kernel);
    }
    ~Gated() { limiter_.remove(tree_); }
    Gated(const Gated&) = delete;
    Gated& operator=(const Gated&) = delete;

   private:
    platform::CpuLimiter& limiter_;
    io::TreeHandle tree_;
  };

  host::Launcher& launcher_;
  const Place& place_;
  std::unique_ptr<host::Machine> machine_;
  platform::CpuLimiter limiter_;
  SteadyTime pause_until_{};
  host::KernelLaunch launch_;
};

int cannot_attack(const std::string& message) {
  terminal::print(stderr, "gleaner-client: {}\n", message);
  return exit_problem;
}

void print_row(const Row& row) {
  terminal::print("{:<9} {:<56} {:4.1f} s  {}\n", name_of(row.outcome), row.attack, row.seconds, row.words);
  std::fflush(stdout);
}

void print_json(const std::string& described, const std::vector<Row>& rows) {
  json::Value attacks = json::Value::array();
  for (const Row& row : rows)
    attacks.push_back({{"attack", row.attack},
                       {"outcome", row.outcome == Outcome::open ? "open" : name_of(row.outcome)},
                       {"words", row.words},
                       {"seconds", row.seconds}});
  terminal::print("{}\n",
                  json::write({{"version", 1}, {"sandbox", described}, {"attacks", attacks}}, {.indent = 2}));
}

}  // namespace

int run_attacks(const AttackCommand& command) {
  // As the client: kernels run as users of their own, who have to read what is laid out for them.
  if (::geteuid() == 0) ::umask(0022);
  const io::Path hostile = platform::find_helper("gleaner-attack");
  if (hostile.empty()) return cannot_attack("the program gleaner-attack is missing beside gleaner-client");
  platform::SandboxSettings settings = command.sandbox;
  settings.priority = platform::Priority::normal;  // it attacks with all that it can get
  auto sandbox = platform::make_sandbox(settings, io::real_processes());
  if (!sandbox->refusal().empty()) return cannot_attack(sandbox->refusal());
  const std::string described = sandbox->describe();
  if (!command.json) terminal::print("{}\n\n", described);
  const auto launcher = platform::make_process_launcher(std::move(sandbox), io::real_processes());
  const Place place(io::real_files(), command.sandbox.state_root);
  if (const Status made = place.make(hostile); !made.ok()) return cannot_attack(made.error().message);
  Arena arena(*launcher, place);
  std::vector<Row> rows;
  while (true) {
    auto row = arena.fight(static_cast<std::int64_t>(rows.size()));
    if (!row.ok()) return cannot_attack(row.error().message);
    if (!*row) break;
    // What the owner accepted in words.
    if ((*row)->outcome == Outcome::open && command.sandbox.accept_weak &&
        (*row)->attack == "see names, sizes and times of files")
      (*row)->outcome = Outcome::accepted;
    rows.push_back(*std::move(*row));
    if (!command.json) print_row(rows.back());
  }
  const auto open =
      std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.outcome == Outcome::open; });
  if (command.json)
    print_json(described, rows);
  else
    terminal::print("\n{} of {} attacks were stopped{}\n", static_cast<std::int64_t>(rows.size()) - open,
                    rows.size(), open == 0 ? "" : ": kernels of strangers should not run here");
  return open == 0 && !rows.empty() ? exit_ok : exit_problem;
}

}  // namespace gleaner::program
