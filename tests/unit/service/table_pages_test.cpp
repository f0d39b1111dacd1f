// A result that is a table, a page at a time.
#include "server/service/operator/table_pages.h"

#include <atomic>
#include <future>
#include <thread>

#include "tests/unit/says.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;

namespace {

Result<protocol::TablePage> page(World& world, const TableQuery& query) {
  return World::wait<protocol::TablePage>(
      [&](auto done) { world.service().views().table_pages().page(query, std::move(done)); });
}

// The first column of the page.
std::string rows_of(World& world, const TableQuery& query) {
  std::string all;
  for (const auto& row : must(page(world, query)).page) all += row.values.front() + " ";
  return all;
}

}  // namespace

TEST_CASE("a table is sorted by numbers, then texts, then nothing, and failed rows can be seen alone") {
  World world;
  TableQuery query{
      must(world.service().kernel().blobs().put("row,x,status\n"
                                                "1,10,ok\n2,9,exit 3\n3,,ok\n4,b,ok\n"
                                                "5,a,exit 1\n6,-1e3,ok\n7,9,ok\n"))};
  const auto all = must(page(world, query));
  CHECK(all.columns == std::vector<std::string>{"row", "x", "status"});
  CHECK(all.rows == 7);
  CHECK(all.failed == 2);
  CHECK(all.chosen == 7);
  CHECK(all.page[4].values == std::vector<std::string>{"5", "a", "exit 1"});
  query.order = "x";
  CHECK(rows_of(world, query) == "6 2 7 1 5 4 3 ");
  query.descending = true;
  CHECK(rows_of(world, query) == "4 5 1 2 7 6 3 ");  // nothing is last either way
  query.count = 2;
  query.from = 3;
  CHECK(rows_of(world, query) == "2 7 ");
  query.from = 100;
  CHECK(rows_of(world, query).empty());
  query.from = 0;
  query.failed = true;
  CHECK(rows_of(world, query) == "5 2 ");
  CHECK(must(page(world, query)).chosen == 2);
  query.order = "none";
  CHECK(says(page(world, query).error().message, "no column none"));
  query.order.clear();
  CHECK(rows_of(world, query) == "2 5 ");
}

TEST_CASE("what is no table, or not here, is said so, and the table before can be asked for again") {
  World world;
  auto& blobs = world.service().kernel().blobs();
  const TableQuery good{must(blobs.put("a\n1\n2\n"))};
  CHECK(rows_of(world, good) == "1 2 ");
  CHECK(page(world, {must(blobs.put("a,b\n1\n"))}).error().kind == ErrorKind::invalid);
  CHECK(page(world, {std::string(64, 'a')}).error().kind == ErrorKind::not_found);
  CHECK(page(world, {"../store.sqlite"}).error().kind == ErrorKind::invalid);
  CHECK(page(world, {good.digest, 0, 0}).error().kind == ErrorKind::invalid);
  CHECK(page(world, {good.digest, 0, limits::table_page_rows_max + 1}).error().kind == ErrorKind::invalid);
  world.clock().advance(std::chrono::minutes{2});
  world.tick();
  CHECK(rows_of(world, good) == "1 2 ");
}

TEST_CASE("whoever opens table after table holds up one thread, and waits") {
  World world;
  TablePages& pages = world.service().views().table_pages();
  std::vector<std::string> tables;
  for (int i = 0; i < 3; ++i)
    tables.push_back(must(world.service().kernel().blobs().put("row\n" + std::to_string(i) + "\n")));
  std::promise<void> begun, go_on;
  pages.page({tables[0]}, {[&](const Result<protocol::TablePage>&) {
               begun.set_value();
               go_on.get_future().wait();
             }});
  begun.get_future().wait();
  std::atomic<int> answered = 0, refused = 0, wrong = 0;
  constexpr auto asked = TablePages::waiting_max + 10;
  for (std::size_t i = 0; i < asked; ++i)
    pages.page({tables[i % 3]}, {[&, i](const Result<protocol::TablePage>& page) {
                 if (!page.ok())
                   ++(page.error().kind == ErrorKind::unavailable ? refused : wrong);
                 else
                   ++(page->page.at(0).values.at(0) == std::to_string(i % 3) ? answered : wrong);
               }});
  for (int i = 0; i < 20; ++i)  // the pool has threads for others
    REQUIRE(must(
        World::wait<bool>([&](auto done) { world.service().kernel().on_pool([done] { done(true); }); })));
  CHECK(answered == 0);
  go_on.set_value();
  for (int i = 0; i < 10'000 && answered + refused + wrong < static_cast<int>(asked); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  CHECK(answered == TablePages::waiting_max);
  CHECK(refused == 10);
  CHECK(wrong == 0);
}
