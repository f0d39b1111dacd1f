#include "apps/kit/manager.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "apps/kit/channel.h"
#include "apps/kit/words.h"
#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/base/words.h"

namespace gleaner::kit {
namespace {

constexpr std::chrono::milliseconds validation_progress_interval{250};

Error wrong_command(const std::string& expected) {
  return {ErrorKind::invalid, "expected: " + expected};
}

class LineOutput final : public Output {
 public:
  LineOutput(Channel& channel, std::filesystem::path directory)
      : channel_(channel), directory_(std::move(directory)) {}

  [[nodiscard]] std::filesystem::path directory() const override { return directory_; }
  void progress(double fraction) override {
    const auto now = std::chrono::steady_clock::now();
    if (now - reported_ < validation_progress_interval) return;
    reported_ = now;
    char text[40];
    std::snprintf(text, sizeof text, "progress %.4f", fraction > 0 ? std::min(fraction, 1.0) : 0.0);
    put(text);
    if (status_.ok()) status_ = channel_.flush();
  }
  void result(const std::string& name, const std::string& media_type) override {
    CHECK_TRUE(name.find(' ') == std::string::npos && name.find('\n') == std::string::npos);
    put("result " + name + " " + utf8_text(directory_ / utf8_path(name)) + " " + one_line(media_type));
  }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  void put(std::string_view line) {
    if (status_.ok()) status_ = channel_.put_line(line);
  }
  Channel& channel_;
  std::filesystem::path directory_;
  Status status_;
  std::chrono::steady_clock::time_point reported_{};
};

class ManagerServer {
 public:
  ManagerServer(Manager& manager, int input, int output) : manager_(manager), channel_(input, output) {}

  int run() {
    const Status served = serve();
    if (served.ok()) return 0;
    std::fprintf(stderr, "manager: %s\n", served.error().message.c_str());
    return 1;
  }

 private:
  Status serve() {
    for (;;) {
      TRY_ASSIGN(const std::optional<std::string> line, channel_.read_line(Wait::yes));
      if (!line || *line == "quit") return channel_.flush();
      const Status answered = guarded(*line);
      if (!broken_.ok()) return broken_;
      if (!answered.ok()) TRY(channel_.put_line("error " + one_line(answered.error().message)));
      TRY(channel_.flush());
    }
  }

  Status guarded(const std::string& line) {
    try {
      return handle(line);
    } catch (const std::bad_alloc&) {
      return Error{ErrorKind::internal, "out of memory"};
    } catch (const std::exception& exception) {
      return Error{ErrorKind::internal, exception.what()};
    }
  }

  Status handle(const std::string& line) {
    Words words(line);
    const std::string_view command = words.next();
    if (command == "gleaner") return greet(words);
    // Announced bytes are read even if the command is refused: they belong to it.
    if (command == "validate") return validate(words);
    if (command == "compare") return compare(words);
    if (!greeted_) return Error{ErrorKind::invalid, "the first command must be: gleaner 1"};
    if (command == "problem") return check(words);
    if (command == "mark") return channel_.put_line(line);
    if (command == "plan") return plan(words);
    if (command == "combine") return combine(words, "stage-");
    if (command == "preview") return combine(words, "preview-");
    if (command == "failed") return failed(words);
    return Error{ErrorKind::invalid, "unknown command"};
  }

  Status greet(Words& words) {
    if (words.rest() != "1")
      return Error{ErrorKind::invalid, "this manager speaks version 1 of the contract"};
    greeted_ = true;
    std::string offered = "ready 1 pipeline";
    for (const std::string& word : manager_.offers()) offered += " " + word;
    return channel_.put_line(offered);
  }

  Status check(Words& words) {
    const std::string directory(words.rest());
    if (directory.empty()) return wrong_command("problem DIRECTORY");
    checked_ = false;
    TRY(manager_.check(Problem(utf8_path(directory))));
    checked_ = true;
    return channel_.put_line("ok");
  }

  Result<int> stage_of(Words& words) const {
    const auto stage = words.number();
    if (!stage || *stage > limits::stages_max) return Error{ErrorKind::invalid, "there is no such stage"};
    if (!checked_) return Error{ErrorKind::invalid, "no problem was given, or its parameters are wrong"};
    return static_cast<int>(*stage);
  }

  Status plan(Words& words) {
    TRY_ASSIGN(const int stage, stage_of(words));
    TRY_ASSIGN(const std::optional<Stage> planned, manager_.plan(stage));
    if (!planned) return channel_.put_line("end");
    CHECK_TRUE(planned->items > 0 && planned->items <= limits::items_max);
    std::string hints_path;
    if (!planned->hints.empty()) {
      hints_path = "hints-" + std::to_string(stage) + ".txt";
      TRY(write_hints(*planned, hints_path));
    }
    TRY(channel_.put_line("items " + std::to_string(planned->items)));
    if (!planned->name.empty()) TRY(channel_.put_line("name " + one_line(planned->name)));
    if (!hints_path.empty()) TRY(channel_.put_line("hints " + hints_path));
    if (planned->ahead > 0) TRY(channel_.put_line("ahead " + cost_text(planned->ahead)));
    for (const StageInput& input : planned->inputs) {
      std::string line = "input " + input.name + " " + input.path;
      if (input.items)
        line += " " + std::to_string(input.items->begin) + " " + std::to_string(input.items->end);
      TRY(channel_.put_line(line));
    }
    return channel_.put_line("ok");
  }

  static std::string cost_text(double cost) {
    char text[40];
    std::snprintf(text, sizeof text, "%.6g", cost);
    return text;
  }

  static Status write_hints(const Stage& stage, const std::string& path) {
    CHECK_TRUE(static_cast<std::int64_t>(stage.hints.size()) == stage.items);
    std::string text;
    for (const ItemHint& hint : stage.hints) {
      CHECK_TRUE(hint.parameters.size() <= limits::item_parameters_max);
      text += cost_text(hint.cost);
      for (const std::int64_t parameter : hint.parameters) text += " " + std::to_string(parameter);
      text += "\n";
    }
    return write_file(path, text);
  }

  // The announced bytes. Without them nothing after can be understood: the session ends.
  Result<Bytes> announced(std::optional<std::int64_t> length, std::int64_t length_max) {
    if (!length || *length > length_max) {
      broken_ = Error{ErrorKind::invalid, "a wrong number of bytes was announced"};
      return broken_.error();
    }
    auto bytes = channel_.read_bytes(*length);
    if (!bytes.ok()) broken_ = bytes.error();
    return bytes;
  }

  Status validate(Words& words) {
    const auto stage = stage_of(words);
    const auto range = words.range();
    TRY_ASSIGN(const Bytes segment, announced(words.number(), limits::segment_bytes_max));
    TRY(stage);
    if (!range) return wrong_command("validate STAGE BEGIN END LENGTH");
    SegmentReader reader(*range, segment);
    TRY_ASSIGN(Validation verdict, manager_.validate(*stage, reader));
    if (verdict.verdict != Validation::Verdict::invalid) {
      while (reader.next()) continue;
      if (Status framing = reader.framing(); !framing.ok()) {
        verdict = {Validation::Verdict::invalid, framing.error().message};
      }
    }
    switch (verdict.verdict) {
      case Validation::Verdict::valid:
        return channel_.put_line("valid");
      case Validation::Verdict::enough:
        return channel_.put_line("enough");
      case Validation::Verdict::invalid:
        return channel_.put_line("invalid " + one_line(verdict.reason));
    }
    return Error{ErrorKind::internal, "unknown verdict"};
  }

  Status compare(Words& words) {
    const auto stage = stage_of(words);
    const auto item = words.number();
    const auto first_length = words.number();
    const auto second_length = words.number();
    TRY_ASSIGN(const Bytes first, announced(first_length, limits::item_bytes_max));
    TRY_ASSIGN(const Bytes second, announced(second_length, limits::item_bytes_max));
    TRY(stage);
    if (!item) return wrong_command("compare STAGE ITEM LENGTH LENGTH");
    TRY_ASSIGN(const std::string difference, manager_.compare(*stage, *item, first, second));
    return channel_.put_line(difference.empty() ? "same" : "different " + one_line(difference));
  }

  Status combine(Words& words, const std::string& prefix) {
    TRY_ASSIGN(const int stage, stage_of(words));
    TRY_ASSIGN(ItemSource items, ItemSource::open(utf8_path(words.rest())));
    const std::filesystem::path directory = prefix + std::to_string(stage);
    std::filesystem::create_directories(directory);
    LineOutput output(channel_, directory);
    TRY(prefix == "stage-" ? manager_.combine(stage, items, output) : manager_.preview(stage, items, output));
    if (!output.status().ok()) {
      broken_ = output.status();
      return broken_;
    }
    return channel_.put_line("ok");
  }

  Status failed(Words& words) {
    TRY_ASSIGN(const int stage, stage_of(words));
    TRY_ASSIGN(ItemSource items, ItemSource::open(utf8_path(words.rest())));
    TRY_ASSIGN(const RangeSet found, manager_.failed(stage, items));
    for (const Range range : found.ranges())
      TRY(channel_.put_line("failed " + std::to_string(range.begin) + " " + std::to_string(range.end)));
    return channel_.put_line("ok");
  }

  Manager& manager_;
  Channel channel_;
  bool greeted_ = false;
  bool checked_ = false;
  Status broken_;  // the contract was broken or the server is gone: nothing more can be said
};

}  // namespace

Validation check_each(SegmentReader& segment, std::int64_t items, const std::string& noun,
                      const std::function<Status(std::int64_t item, std::string_view bytes)>& check) {
  using Verdict = Validation::Verdict;
  if (segment.range().end > items) return {Verdict::invalid, "there are no such " + noun + "s"};
  while (const auto item = segment.next()) {
    if (const Status good = check(item->index, item->bytes); !good.ok())
      return {Verdict::invalid, good.error().within(noun + " " + std::to_string(item->index)).message};
  }
  return {};
}

Result<std::string> Manager::compare(int /*stage*/, std::int64_t /*item*/, std::string_view a,
                                     std::string_view b) {
  if (a == b) return std::string{};
  if (a.size() != b.size()) return std::string("their lengths differ");
  std::size_t at = 0;
  while (a[at] == b[at]) ++at;
  return "they differ first at byte " + std::to_string(at);
}

Status Manager::preview(int /*stage*/, ItemSource& /*items*/, Output& /*output*/) {
  return Error{ErrorKind::invalid, "this application has no preview"};
}

Result<RangeSet> Manager::failed(int /*stage*/, ItemSource& /*items*/) {
  return RangeSet{};
}

int serve_manager(Manager& manager, int input, int output) {
  return ManagerServer(manager, input, output).run();
}

int manager_main(Manager& manager) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return serve_manager(manager, 0, 1);
  } catch (const std::exception& exception) {  // no memory, even for a word
    std::fprintf(stderr, "the manager failed: %s\n", exception.what());
    return 1;
  }
}

}  // namespace gleaner::kit
