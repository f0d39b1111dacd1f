// A regular file that is kept open: what a program that is not trusted puts in its place afterwards does not
// count. Copies share it. Thread-safe. Platform file: held_file_linux.cpp.
#pragma once

#include <memory>

#include "shared/base/result.h"
#include "shared/io/descriptor.h"
#include "shared/io/files.h"

namespace gleaner::io {

class HeldFile {
 public:
  // Of the file at `relative` in `directory`, through no link that leads out of it. io: there is none, it is
  // no regular file, or the system does not let it be read, which says why.
  [[nodiscard]] static Result<HeldFile> open_in(const Path& directory, const Path& relative);

  // By which it can be read for as long as it is held.
  [[nodiscard]] Path path() const;
  // Where it was when it was opened: for messages.
  [[nodiscard]] const Path& name() const { return name_; }

 private:
  HeldFile(Descriptor descriptor, Path name)
      : descriptor_(std::make_shared<const Descriptor>(std::move(descriptor))), name_(std::move(name)) {}
  std::shared_ptr<const Descriptor> descriptor_;
  Path name_;
};

}  // namespace gleaner::io
