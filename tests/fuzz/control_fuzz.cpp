// What a program of the client's user may send to its control socket: connections that come in pieces (the
// first byte says how long), one a line of the input. Each is answered once, by one line that is a JSON
// object, and the engine goes on.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/engine/control.h"
#include "client/platform/control_socket.h"
#include "shared/crypto/keys.h"
#include "shared/json/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_files.h"

using namespace gleaner;

namespace {

class NoLauncher final : public host::Launcher {
 public:
  Result<std::unique_ptr<io::Process>> start(const host::KernelLaunch&) override {
    return Error{ErrorKind::io, "nothing is started here"};
  }
  std::string describe() const override { return "fuzz"; }
};

class NoGate final : public host::CpuGate {
 public:
  void add(const host::KernelTree&) override {}
  void remove(io::TreeHandle) override {}
  void pause(io::TreeHandle) override {}
  void resume(io::TreeHandle) override {}
  void set_share(double) override {}
};

class PlainMachine final : public host::Machine {
 public:
  int cores() const override { return 2; }
  std::int64_t memory_bytes() const override { return std::int64_t{1} << 32; }
  std::string host_name() const override { return "fuzz"; }
  std::string machine_digest(const std::string& project) const override {
    return crypto::sha256_hex(project);
  }
  std::vector<std::string> platforms() const override { return {"x86_64-linux"}; }
  double runnable_jobs() const override { return 0; }
  io::TreeUse use(io::TreeHandle) const override { return {}; }
  host::DirectoryUsage usage(const io::Path&, std::int64_t) const override { return {}; }
  host::DescriptorUse descriptors(io::TreeHandle, const io::Path&) const override { return {}; }
  void lower_thread_priority() const override {}
};

class NoWorkers final : public transport::Workers {
 public:
  void submit(transport::Queue, transport::Job) override {}
  void deliver() override {}
  io::Waitable waitable() const override { return {}; }
};

// A client that has joined one project and reaches no server.
struct Client {
  FakeClock clock;
  Random random{1};
  fuzz::MemoryFiles files;
  NoLauncher launcher;
  NoGate gate;
  PlainMachine machine;
  NoWorkers workers;
  std::filesystem::path directory = fuzz::scratch("control");
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<platform::ControlSocket> socket;
  int calls = 0;

  Client() {
    std::filesystem::create_directories(directory);
    state::Identity identity;
    identity.code.host = "127.0.0.1";
    identity.code.port = 1;
    identity.code.root_fingerprint = Bytes(32, 'r');
    identity.host = {HostId{1}, "token"};
    identity.name = "fuzz";
    engine::EngineSettings settings;
    settings.benchmark_mflops = 1000;
    settings.free_bytes_min = 0;
    const state::StateDirectory state{directory};
    engine = std::make_unique<engine::Engine>(
        engine::Services{clock, random, files, launcher, gate, machine, workers, state,
                         [](const auto&...) {
                           return Status{Error{ErrorKind::io, "no"}};
                         },
                         settings},
        std::vector{engine::Joined{state.project("0123456789abcdef"), identity, &workers}});
    CHECK_TRUE(engine->open().ok());
    auto listening = platform::ControlSocket::listen(
        directory / "control.sock", engine::control_line_bytes_max, [this](std::string_view line) {
          ++calls;
          CHECK_TRUE(line.find('\n') == std::string_view::npos);
          const auto outcome = engine::handle_control(
              *engine, line, {[] { return Status{}; }, [] { return std::vector<std::string>{"a line"}; }});
          return outcome.reply;
        });
    CHECK_TRUE(listening.ok());
    socket = std::move(*listening);
  }

  int connect() const {
    const int connection = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = (directory / "control.sock").string();
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    CHECK_TRUE(connection >= 0);
    CHECK_TRUE(::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    return connection;
  }
};

std::string read_all(int connection) {
  std::string said;
  char bytes[4096];
  for (ssize_t got = 0; (got = ::recv(connection, bytes, sizeof bytes, MSG_DONTWAIT)) > 0;)
    said.append(bytes, static_cast<std::size_t>(got));
  return said;
}

void call(Client& client, std::string_view line, std::size_t piece) {
  const int connection = client.connect();
  client.calls = 0;
  for (std::size_t at = 0; at < line.size(); at += piece) {
    const std::string_view part = line.substr(at, piece);
    if (::send(connection, part.data(), part.size(), MSG_NOSIGNAL) <= 0) break;
    client.socket->serve(client.clock.steady());
  }
  if (::send(connection, "\n", 1, MSG_NOSIGNAL) == 1) client.socket->serve(client.clock.steady());
  const std::string said = read_all(connection);
  ::close(connection);
  client.socket->serve(client.clock.steady());
  CHECK_TRUE(client.calls == 1 && said.ends_with('\n') && said.find('\n') == said.size() - 1);
  const auto reply = json::parse(said);
  CHECK_TRUE(reply.ok() && reply->is_object() && (*reply)["ok"].is_boolean() &&
             (*reply)["message"].is_string());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Client client;
  if (size == 0) return 0;
  CHECK_TRUE(client.engine->resume().ok());
  const std::size_t piece = 1 + data[0] * std::size_t{8};
  std::string_view text = fuzz::text_of(data + 1, size - 1);
  for (int calls = 0; calls < 8 && !text.empty(); ++calls) {
    const auto end = std::min(text.find('\n'), text.size());
    call(client, text.substr(0, end), piece);
    text.remove_prefix(std::min(end + 1, text.size()));
    client.engine->tick();
    client.clock.advance(std::chrono::seconds{1});
  }
  return 0;
}
