// The file that viewers read (client/view/view_file.h): made anew by each run of the client, readable by
// everybody who can reach its directory, written in place. Platform file: view_writer_linux.cpp. Not
// thread-safe.
#pragma once

#include <memory>
#include <string_view>

#include "client/view/view_file.h"
#include "shared/io/files.h"

namespace gleaner::platform {

class ViewWriter {
 public:
  // Takes the place of the file of an earlier run. io if the directory cannot be written to.
  [[nodiscard]] static Result<std::unique_ptr<ViewWriter>> create(const io::Path& path);
  ~ViewWriter();  // removes the file: no client, nothing to see
  ViewWriter(const ViewWriter&) = delete;
  ViewWriter& operator=(const ViewWriter&) = delete;

  [[nodiscard]] Status write_head(std::string_view head);
  // `pixels` of the whole picture, of which rows begin ... end - 1 changed; `width` pixels a row.
  [[nodiscard]] Status write_rows(std::string_view pixels, int width, view::Band rows);
  [[nodiscard]] Status drop_picture();  // gives its memory or disk back

 private:
  ViewWriter(io::Path path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  [[nodiscard]] Status put(std::string_view bytes, std::int64_t offset);
  io::Path path_;
  int descriptor_;
};

// $RUNTIME_DIRECTORY (systemd; in memory) or else the state directory.
[[nodiscard]] io::Path view_file_of(const io::Path& state);

}  // namespace gleaner::platform
