// Whoever changes what a name stands for takes its turn; other names are never waited for. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace gleaner::storage {

class Turns {
 private:
  struct Entry {
    std::mutex mutex;
    int users = 0;
  };

 public:
  // Blocks until it is this one's.
  class Turn {
   public:
    Turn(Turns& turns, std::string name) : turns_(turns), name_(std::move(name)) {
      {
        const std::lock_guard guard(turns_.mutex_);
        entry_ = &turns_.entries_[name_];
        entry_->users++;
      }
      entry_->mutex.lock();
    }
    ~Turn() {
      entry_->mutex.unlock();
      const std::lock_guard guard(turns_.mutex_);
      if (--entry_->users == 0) turns_.entries_.erase(name_);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Turns& turns_;
    const std::string name_;
    Entry* entry_;
  };

 private:
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;
};

}  // namespace gleaner::storage
