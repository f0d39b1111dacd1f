// Starting and stopping: on the right store, whole or not at all, and nobody is left without an answer.
#include "server/service/service.h"

#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;

namespace {

// A project that is not open.
struct Closed {
  gleaner::testing::TemporaryDirectory temporary;
  service::InitOptions options;
  StandingClock clock;

  Closed() {
    options.directory = temporary.path() / "project";
    options.offline = temporary.path() / "offline";
    options.configuration.address = "127.0.0.1";
    options.configuration.manager_sandbox = service::manager_sandbox_off;
    (void)must(service::init_project(io::real_files(), options, clock.now()));
  }
  [[nodiscard]] std::unique_ptr<storage::Store> store() const {
    return must(storage::open_sqlite_store(options.directory, storage::OpenCheck::none));
  }
  [[nodiscard]] Result<std::unique_ptr<service::Service>> open(std::unique_ptr<storage::Store> store) {
    const service::ProjectDirectory directory(options.directory);
    return service::Service::open({directory, options.configuration},
                                  must(service::read_secrets(io::real_files(), directory, clock.now())),
                                  {io::real_files(), io::real_processes(), clock}, std::move(store));
  }
};

}  // namespace

TEST_CASE("a store of another project is refused and stays as it is") {
  Closed project;
  auto store = project.store();
  must(store->begin());
  must(store->set_value("project", "another"));
  must(store->commit());
  const auto refused = project.open(std::move(store));
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::invalid);
  CHECK(says(refused.error().message, "belongs to another project than the keys beside it"));
  store = project.store();
  must(store->begin());
  CHECK(must(store->get_value("project")) == "another");
  CHECK(must(store->tokens()).empty());
  store->rollback();
}

TEST_CASE("a start that the store refuses is an error, whatever it was at, and the next one starts") {
  Closed project;
  for (int n = 1; n < 60; ++n) {
    INFO("call " << n << " of the store fails");
    auto store = std::make_unique<FailingStore>(project.store());
    FailingStore& failing = *store;
    failing.fail_at(n);
    const auto opened = project.open(std::move(store));
    if (opened.ok()) {
      CHECK(n > 10);
      const auto code = World::wait<protocol::CodeInfo>(
          [&](auto done) { (*opened)->codes().show("default", std::move(done)); });
      CHECK((code.ok() || code.error().kind == ErrorKind::unavailable));  // perhaps that was the n-th
      return;
    }
    CHECK(says(opened.error().message, "no space left"));
  }
  FAIL("it never starts");
}

TEST_CASE("what the first start made is the same at the next: the audit key, the tokens, the code") {
  Closed project;
  const auto values = [&] {
    const auto opened = must(project.open(project.store()));
    return must(World::wait<std::string>([&](service::Done<std::string> done) {
      opened->kernel().decide<std::string>(
          [](service::Transaction& tx, Result<std::string>& all) -> Status {
            all = tx.model.audit_key + " " + text_of(tx.model);
            return {};
          },
          std::move(done));
    }));
  };
  const std::string first = values();
  CHECK(first.size() > 43);
  CHECK(values() == first);
}

TEST_CASE("after the end every request is answered, that it comes too late") {
  World world;
  const TestHost host = world.add_host();
  world.service().stop();
  const auto late = world.work(host.id, world.work_request());
  REQUIRE(!late.ok());
  CHECK(late.error().kind == ErrorKind::unavailable);
  CHECK(says(late.error().message, "shutting down"));
  world.service().stop();  // once more is no mistake
  const auto noted = must(storage::read_generation_note(io::real_files(), world.directory()));
  REQUIRE(noted);
  CHECK(noted->generation == world.service().kernel().store().generation().generation);
}
