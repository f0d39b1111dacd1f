#include "tools/admin/row_files.h"

#include <cstdio>

#include "shared/base/row_index.h"
#include "tests/catch.h"
#include "tests/unit/admin/test_world.h"

namespace gleaner::admin {
namespace {

// A file in a tar archive, as apps/wrap writes it.
Bytes member_of(const std::string& path, const Bytes& content) {
  Bytes header(512, '\0');
  header.replace(0, path.size(), path);
  char size[16];
  std::snprintf(size, sizeof size, "%011zo", content.size());
  header.replace(124, 11, size);
  header[156] = '0';
  header.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(size, sizeof size, "%06o", sum);
  header.replace(148, 7, Bytes(size, 7));
  return header + content + Bytes((512 - content.size() % 512) % 512, '\0');
}

// A server with the results of a table.
struct RowsFixture {
  TestWorld world;
  Outside outside = world.outside();
  Api api{outside.connect({}), {test_url, {}, test_token, "token"}, outside};
  Bytes archive;
  std::vector<std::int64_t> begins;
  std::int64_t sent = 0;
  int requests = 0;

  RowsFixture() {
    world.server.handler = [this](const ScriptedServer::Call& call) { return answer(call); };
  }
  std::optional<Result<io::HttpReply>> answer(const ScriptedServer::Call& call) {
    const std::string text = call.header("Range").substr(6);
    const std::size_t first = std::stoul(text);
    io::HttpReply reply;
    reply.status = 206;
    reply.body = archive.substr(first, std::stoul(text.substr(text.find('-') + 1)) - first + 1);
    sent += static_cast<std::int64_t>(reply.body.size());
    ++requests;
    return reply;
  }
  void add(const std::string& path, const Bytes& content) {
    begins.push_back(static_cast<std::int64_t>(archive.size()));
    archive += member_of(path, content);
  }
  void finish() {
    const auto end = static_cast<std::int64_t>(archive.size());
    archive += Bytes(1024, '\0') + row_index(begins, end);
  }
  Result<std::vector<RowFile>> rows(const std::string& which, Overwrite overwrite = Overwrite::no) {
    const auto parsed = parse_rows({which});
    REQUIRE(parsed.ok());
    const protocol::ResultFile file{"rows.tar", std::string(64, 'a'),
                                    static_cast<std::int64_t>(archive.size()), "application/x-tar"};
    return download_rows(api, outside.files, {file}, *parsed, world.directory / "out", overwrite);
  }
};

}  // namespace

TEST_CASE("rows are chosen by numbers and ranges", "[rows]") {
  const auto rows = parse_rows({"7,3-5", "6"});
  REQUIRE(rows.ok());
  CHECK(rows->ranges() == std::vector<Range>{{3, 8}});
  for (const char* wrong : {"", "0", "-1", "3-", "5-3", "x", "1,,2", "99999999999999999999", "1-2-3"}) {
    INFO(wrong);
    CHECK(parse_rows({wrong}).error().kind == ErrorKind::invalid);
  }
}

TEST_CASE("one row of very many is fetched alone", "[rows]") {
  RowsFixture f;
  for (int row = 1; row <= 5000; ++row) {
    char path[32];
    std::snprintf(path, sizeof path, "%06d/out.txt", row);
    f.add(path, "of row " + std::to_string(row));
  }
  f.finish();
  const auto written = f.rows("4321");
  REQUIRE(written.ok());
  REQUIRE(written->size() == 1);
  CHECK((written->front().row == 4321 && written->front().name == "out.txt"));
  CHECK(f.world.read(f.world.directory / "out" / "004321" / "out.txt") == "of row 4321");
  CHECK(f.requests == 3);
  CHECK(f.sent == 16 + 16 + 1024);

  f.requests = 0;
  CHECK(f.rows("1-900,5000").value().size() == 901);
  CHECK(f.requests == 5);  // small rows come together
  CHECK(f.rows("4999-5001").error().message == "there is no row 5001: the table has 5000 rows");
}

TEST_CASE("files of a row that are there are kept unless they may be replaced", "[rows]") {
  RowsFixture f;
  f.add("000001/out.txt", "new");
  f.archive += member_of("000001/out.log", Bytes(transfer_piece_bytes + 1, 'x'));
  f.finish();
  CHECK(f.rows("1").value().size() == 2);
  CHECK(f.rows("1").ok());
  f.world.write("out/000001/out.txt", "mine");
  CHECK(f.rows("1").error().kind == ErrorKind::conflict);
  CHECK(f.rows("1", Overwrite::yes).ok());
  CHECK(f.world.read(f.world.directory / "out" / "000001" / "out.txt") == "new");
}

TEST_CASE("an archive of rows that lies writes nothing elsewhere", "[rows]") {
  for (const char* path :
       {"000002/out.txt", "000001/../x", "000001/.profile", "000001/", "/etc/x", "000001"}) {
    INFO(path);
    RowsFixture f;
    f.add(path, "x");
    f.finish();
    CHECK(f.rows("1").error().kind == ErrorKind::untrusted);
  }
  RowsFixture shorter;
  shorter.add("000001/out.txt", "x");
  shorter.archive.replace(124, 11, "77777777777");
  shorter.finish();
  CHECK(shorter.rows("1").error().kind == ErrorKind::untrusted);
  RowsFixture older;
  older.archive = member_of("000001/out.txt", "x") + Bytes(1024, '\0');
  CHECK(older.rows("1").error().kind == ErrorKind::not_found);
}

}  // namespace gleaner::admin
