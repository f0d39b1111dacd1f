#include "shared/io/settings.h"

#include <cmath>

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::io;

namespace {

struct Example {
  std::string name = "grid";
  std::int64_t port = 8443;
  double share = 0.5;
  bool open = true;
  std::vector<std::string> names = {"localhost", "a \"quoted\" one"};
  std::map<std::string, std::string> kernels = {{"any", "bin/kernel"}};
  Settings settings;

  Example() {
    settings.add("name", &name, "What people see.", [](const std::string& text) -> Status {
      if (text.empty()) return Error{ErrorKind::invalid, "expected a name, got nothing"};
      return {};
    });
    settings.add("server.port", &port, 1, 65535,
                 "Where it listens.\n\nA second paragraph, which is long enough to "
                 "need more than one line when it is written into a file, as comments for people often are.");
    settings.add("server.names", &names, "Its names.");
    settings.add("client.share", &share, 0, 1, "How much of a core.");
    settings.add("server.open", &open, "");
    settings.add("kernel", &kernels, "Kernels by platform.");
  }
};

std::string mistakes_in(const std::string& text) {
  Example example;
  const Status parsed = example.settings.parse(text, "server.toml");
  if (parsed.ok()) return "";
  CHECK(parsed.error().kind == ErrorKind::invalid);
  CHECK(example.port == 8443);  // nothing is changed by a file with mistakes
  CHECK(example.name == "grid");
  return parsed.error().message;
}

}  // namespace

TEST_CASE("settings are read into their variables; what is not there keeps its default") {
  Example example;
  REQUIRE(example.settings
              .parse("name = \"other\"\n[server]\nport = 1\nnames = []\n[client]\nshare = 1\n"
                     "[kernel]\nx86_64-linux = \"k\"\n",
                     "f")
              .ok());
  CHECK(example.name == "other");
  CHECK(example.port == 1);
  CHECK(example.names.empty());
  CHECK(example.share == 1.0);
  CHECK(example.open);
  CHECK(example.kernels == std::map<std::string, std::string>{{"x86_64-linux", "k"}});
  CHECK(example.settings.parse("", "f").ok());
  CHECK(example.settings.parse("server.port = 2", "f").ok());
  CHECK(example.port == 2);
}

TEST_CASE("every mistake is told with file, line, key and what was expected") {
  CHECK(mistakes_in("[server]\nport = 0\n") ==
        "server.toml:2: server.port: expected a whole number from 1 to 65535, got 0");
  CHECK(mistakes_in("[server]\nport = 65536\n") ==
        "server.toml:2: server.port: expected a whole number from 1 to 65535, got 65536");
  CHECK(mistakes_in("[server]\n\n\nport = \"80\"\n") ==
        "server.toml:4: server.port: expected a whole number from 1 to 65535, got \"80\"");
  CHECK(mistakes_in("[server]\nport = 80.5\n").find("got 80.5") != std::string::npos);
  CHECK(mistakes_in("[client]\nshare = nan\n") ==
        "server.toml:2: client.share: expected a number from 0.0 to 1.0, got nan");
  CHECK(mistakes_in("[client]\nshare = 1.01\n").find("got 1.01") != std::string::npos);
  CHECK(mistakes_in("[server]\nopen = 1\n") == "server.toml:2: server.open: expected true or false, got 1");
  CHECK(mistakes_in("[server]\nnames = \"x\"\n").find("expected a list of texts") != std::string::npos);
  CHECK(mistakes_in("[server]\nnames = [\"x\", 3]\n").find("expected a list of texts") != std::string::npos);
  CHECK(mistakes_in("name = 3\n") == "server.toml:1: name: expected a text in quotes, got 3");
  CHECK(mistakes_in("name = \"\"\n") == "server.toml:1: name: expected a name, got nothing");
  CHECK(mistakes_in("[name]\nx = 1\n") == "server.toml:1: name: expected a text in quotes, got a table");
  CHECK(mistakes_in("[kernel]\nany = 3\n") ==
        "server.toml:1: kernel: expected a text in quotes for any, got 3");
  CHECK(mistakes_in("kernel = 3\n") == "server.toml:1: kernel: expected a table [kernel] of texts, got 3");
}

TEST_CASE("unknown keys are mistakes that name the known ones") {
  CHECK(mistakes_in("[server]\nprot = 1\n") ==
        "server.toml:2: server.prot: unknown key; known here: port, names, open");
  CHECK(mistakes_in("[sever]\nport = 1\n")
            .starts_with("server.toml:1: sever: unknown key; known here: name, "));
  CHECK(mistakes_in("server = 1\n") ==
        "server.toml:1: server: expected a table [server] with port, names, open, got 1");
}

TEST_CASE("all mistakes of a file are listed in the order of its lines") {
  CHECK(mistakes_in("zzz = 1\n[server]\nport = 0\nopen = 3\n[client]\nshare = 2\n") ==
        "server.toml:1: zzz: unknown key; known here: name, server.port, server.names, client.share, "
        "server.open, "
        "kernel\n"
        "server.toml:3: server.port: expected a whole number from 1 to 65535, got 0\n"
        "server.toml:4: server.open: expected true or false, got 3\n"
        "server.toml:6: client.share: expected a number from 0.0 to 1.0, got 2");
  std::string many;
  for (int i = 0; i < 80; ++i) many += "key" + std::to_string(i) + " = 1\n";
  CHECK(mistakes_in(many).ends_with("server.toml: and 30 more mistakes"));
}

TEST_CASE("what is not TOML is told with its line") {
  CHECK(mistakes_in("name = \"x\"\nport = = 3\n").starts_with("server.toml:2: "));
  CHECK(mistakes_in("name = \"x\"\nname = \"y\"\n").starts_with("server.toml:2: "));
  CHECK(mistakes_in("name = \"\xff\"\n").starts_with("server.toml:1: "));
  CHECK(mistakes_in(std::string(5000, '[')).starts_with("server.toml:1: "));
  Example example;
  CHECK(example.settings.parse(std::string(2 << 20, '#'), "f").error().kind == ErrorKind::too_large);
}

TEST_CASE("the written file has the comments and reads back the same") {
  Example example;
  example.name = "tab\t \"quotes\" \\ line\n \x01 \xc3\xa9";
  example.share = 1;
  example.kernels["odd name"] = "k";
  const std::string text = example.settings.render();
  CHECK(text.starts_with("# What people see.\nname = "));
  CHECK(text.find("\n[server]\n# Where it listens.\n#\n# A second paragraph") != std::string::npos);
  CHECK(text.find("\n[client]\n# How much of a core.\nshare = 1.0\n") != std::string::npos);
  CHECK(text.find("\n[kernel]\n# Kernels by platform.\nany = \"bin/kernel\"\n\"odd name\" = \"k\"\n") !=
        std::string::npos);
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    CHECK(end - begin <= 100);
    begin = end + 1;
  }
  Example again;
  again.names.clear();
  again.open = false;
  REQUIRE(again.settings.parse(text, "f").ok());
  CHECK(again.name == example.name);
  CHECK(again.names == example.names);
  CHECK(again.share == example.share);
  CHECK(again.open == example.open);
  CHECK(again.kernels == example.kernels);
  CHECK(again.settings.render() == text);
}

TEST_CASE("a key that counts no more is accepted, whatever is said of it, and not written") {
  io::Settings settings;
  bool named = false, open = true;
  settings.add("hosts.open", &open, "Whether.");
  settings.add_former("hosts.own", &named);
  REQUIRE(settings.parse("[hosts]\nopen = false\n", "f").ok());
  CHECK(!named);
  REQUIRE(settings.parse("[hosts]\nopen = false\nown = \"yes\"\n", "f").ok());
  CHECK(named);
  CHECK(!open);
  CHECK(settings.render().find("own") == std::string::npos);
}
