#include "shared/io/run_program.h"

#include <chrono>
#include <thread>

namespace gleaner::io {

Result<Ended> run_program(ProcessRunner& processes, const ProcessSpec& spec, std::string_view input) {
  constexpr std::chrono::milliseconds pause{2};
  TRY_ASSIGN(const auto process, processes.start(spec));
  std::optional<ProcessExit> exit;
  bool open = true;
  while (!(exit = process->poll_exit())) {
    if (open && !input.empty()) {
      const auto written = process->write_some(input);
      if (!written.ok())
        input = {};  // it has ended: its last words say why
      else
        input.remove_prefix(*written);
    }
    if (open && input.empty()) {
      process->close_input();
      open = false;
    }
    Bytes output;
    if (process->read_some(output, 1 << 16) != ReadKind::data) std::this_thread::sleep_for(pause);
  }
  return Ended{*exit, process->error_tail()};
}

}  // namespace gleaner::io
