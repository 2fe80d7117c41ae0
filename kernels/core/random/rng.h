// The random streams of one device.
//
// A parallel draw of n values uses the first k = min(1024, ceil(n / 64)) of 1024 engines: engine j
// produces the j-th run of ceil(n / k) values. The result therefore does not depend on the number
// of threads. Engines keep their position between draws. Shuffling and sampling from probability
// tables use one more engine, the serial one.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/fork.h"
#include "core/integers.h"
#include "core/random/mt19937.h"
#include "core/threads.h"
#include "mxcy.h"

struct mx_rng {
  static constexpr int kEngines = 1024, kValuesPerEngine = 64;

  explicit mx_rng(int32_t copies);
  void seed(uint32_t device, uint32_t seed);

  // draw(engine, begin, end) produces values [begin, end); each engine has its own run of [0, n).
  template <class Draw>
  void parallel_draw(int64_t n, int threads, const Draw& draw) {
    if (n <= 0) return;
    std::lock_guard<std::mutex> guard(lock_);
    turn_ = (turn_ + 1) % copies_;
    const int64_t wanted = mx::ceil_div(n, kValuesPerEngine);
    const int64_t used = wanted < kEngines ? wanted : kEngines, run = mx::ceil_div(n, used);
    const int32_t first = turn_ * kEngines;
    mx::parallel_for(threads, used, 1, [&](int64_t from, int64_t to) {
      for (int64_t j = from; j < to && j * run < n; ++j)
        draw(engine(first + (int32_t)j), j * run, (j + 1) * run < n ? (j + 1) * run : n);
    });
  }

  // Call draw(engine) with the serial engine.
  template <class Draw>
  void serial_draw(const Draw& draw) {
    std::lock_guard<std::mutex> guard(lock_);
    draw(engine(copies_ * kEngines));
  }

  // Use separate streams for Dropout, so that it does not affect other draws.
  void lend_dropout(mx_rng* own) { dropout_ = own; }
  mx_rng& for_dropout() { return dropout_ ? *dropout_ : *this; }

  // Seed for streams elsewhere, such as a GPU's; changes with every seeding.
  uint64_t seeding() const { return seeding_; }
  int32_t copies() const { return copies_; }
  uint32_t seed_of_set(int32_t set) const { return seed_of(set * kEngines); }

  int64_t save(void* bytes, int64_t size);
  int restore(const void* bytes, int64_t size);

 private:
  // Seeding an engine takes a microsecond, so it is postponed to the first use.
  mx::Mt19937& engine(int32_t index) {
    if (!seeded_[index]) {
      engines_[index].seed(seed_of(index));
      seeded_[index] = 1;
    }
    return engines_[index];
  }
  uint32_t seed_of(int32_t index) const;

  mx::ForkSafeMutex lock_;
  mx_rng* dropout_ = nullptr;
  const int32_t copies_;  // sets of 1024 engines; draws use them in turn
  int32_t turn_ = 0;
  uint32_t base_ = 0;
  std::atomic<uint64_t> seeding_;
  // copies_ * kEngines parallel engines, then the serial one.
  std::unique_ptr<mx::Mt19937[]> engines_;
  std::vector<uint8_t> seeded_;
};
