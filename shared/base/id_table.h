// Things by their ids, in order, each found at once, for ids that were mostly given one after the other: a
// million hosts. What is found stays where it is. Against a tree or a hash table it saves some 70 bytes a
// thing, and at a million most of the processor's cache misses: the list of chunks is small and stays there.
// Cost: O(1); a new id below the greatest O(n / some dozens). Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "shared/base/check.h"

namespace gleaner {

template <typename Id, typename Thing>
class IdTable {
 public:
  using value_type = std::pair<const Id, Thing>;

 private:
  using Slot = std::optional<value_type>;
  static constexpr std::size_t chunk_bytes = 32 << 10;  // one of the allocator's sizes
  static constexpr auto per_chunk =
      static_cast<std::int64_t>(std::max<std::size_t>(chunk_bytes / sizeof(Slot), 1));
  struct Chunk {
    std::int64_t number = 0;  // of its first id, by per_chunk
    std::unique_ptr<Slot[]> slots;
  };
  using Chunks = std::vector<Chunk>;

 public:
  template <bool constant>
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = IdTable::value_type;
    using difference_type = std::ptrdiff_t;
    using reference = std::conditional_t<constant, const value_type&, value_type&>;
    using pointer = std::conditional_t<constant, const value_type*, value_type*>;

    Iterator() = default;
    operator Iterator<true>() const {
      return {chunks_, chunk_, slot_};
    }  // NOLINT(google-explicit-constructor)
    reference operator*() const { return **at(); }
    pointer operator->() const { return &**at(); }
    Iterator& operator++() {
      ++slot_;
      skip();
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) {
      return a.chunk_ == b.chunk_ && a.slot_ == b.slot_;
    }

   private:
    friend class IdTable;
    friend class Iterator<false>;
    Iterator(const Chunks* chunks, std::size_t chunk, std::int64_t slot)
        : chunks_(chunks), chunk_(chunk), slot_(slot) {}
    [[nodiscard]] Slot* at() const { return &(*chunks_)[chunk_].slots[static_cast<std::size_t>(slot_)]; }
    // To the next that holds something, from here on.
    void skip() {
      for (; chunk_ < chunks_->size(); ++chunk_, slot_ = 0)
        for (; slot_ < per_chunk; ++slot_)
          if (at()->has_value()) return;
    }

    const Chunks* chunks_ = nullptr;
    std::size_t chunk_ = 0;
    std::int64_t slot_ = 0;
  };
  using iterator = Iterator<false>;
  using const_iterator = Iterator<true>;

  [[nodiscard]] iterator begin() { return first<iterator>(0, 0); }
  [[nodiscard]] const_iterator begin() const { return first<const_iterator>(0, 0); }
  [[nodiscard]] iterator end() { return {&chunks_, chunks_.size(), 0}; }
  [[nodiscard]] const_iterator end() const { return {&chunks_, chunks_.size(), 0}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  [[nodiscard]] iterator find(Id id) { return find_as<iterator>(id); }
  [[nodiscard]] const_iterator find(Id id) const { return find_as<const_iterator>(id); }
  [[nodiscard]] bool contains(Id id) const { return find(id) != end(); }
  // The first with a greater id.
  [[nodiscard]] const_iterator upper_bound(Id id) const {
    if (id.value == std::numeric_limits<std::int64_t>::max()) return end();
    const Place next = place_of(Id{id.value + 1});
    return first<const_iterator>(next.chunk, next.there ? next.slot : 0);
  }
  // REQUIRES: it is there.
  [[nodiscard]] Thing& at(Id id) { return must(find(id)); }
  [[nodiscard]] const Thing& at(Id id) const { return must(find(id)); }
  // Made if need be.
  Thing& operator[](Id id) { return try_emplace(id).first->second; }
  std::pair<iterator, bool> try_emplace(Id id) {
    const Place wanted = place_of(id);
    if (!wanted.there)
      chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(wanted.chunk),
                     {wanted.number, std::make_unique<Slot[]>(static_cast<std::size_t>(per_chunk))});
    const iterator place{&chunks_, wanted.chunk, wanted.slot};
    if (place.at()->has_value()) return {place, false};
    place.at()->emplace(std::piecewise_construct, std::forward_as_tuple(id), std::forward_as_tuple());
    ++size_;
    return {place, true};
  }
  std::size_t erase(Id id) {
    const iterator place = find(id);
    if (place == end()) return 0;
    place.at()->reset();
    --size_;
    return 1;
  }

 private:
  struct Place {
    std::int64_t number = 0;  // of the chunk
    std::int64_t slot = 0;    // in it
    std::size_t chunk = 0;    // where it is or belongs
    bool there = false;
  };
  [[nodiscard]] Place place_of(Id id) const {
    std::int64_t number = id.value / per_chunk, slot = id.value % per_chunk;
    if (slot < 0) --number, slot += per_chunk;
    const std::size_t chunk = chunk_of(number);
    return {number, slot, chunk, chunk < chunks_.size() && chunks_[chunk].number == number};
  }
  [[nodiscard]] std::size_t chunk_of(std::int64_t number) const {
    if (chunks_.empty()) return 0;
    const auto guess = static_cast<std::size_t>(number - chunks_.front().number);  // right if none is missing
    if (guess < chunks_.size() && chunks_[guess].number == number) return guess;
    const auto place = std::lower_bound(chunks_.begin(), chunks_.end(), number,
                                        [](const Chunk& chunk, std::int64_t n) { return chunk.number < n; });
    return static_cast<std::size_t>(place - chunks_.begin());
  }
  template <typename Found>
  [[nodiscard]] Found first(std::size_t chunk, std::int64_t slot) const {
    Found found{&chunks_, chunk, slot};
    found.skip();
    return found;
  }
  template <typename Found>
  [[nodiscard]] Found find_as(Id id) const {
    const Place place = place_of(id);
    const Found found{&chunks_, place.chunk, place.slot};
    return place.there && found.at()->has_value() ? found : Found{&chunks_, chunks_.size(), 0};
  }
  template <typename Found>
  [[nodiscard]] auto& must(Found found) const {
    CHECK_TRUE(found.chunk_ < chunks_.size());
    return found->second;
  }

  Chunks chunks_;  // ascending by number
  std::size_t size_ = 0;
};

}  // namespace gleaner
