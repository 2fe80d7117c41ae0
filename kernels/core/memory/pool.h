// The memory pool of one device.
//
// Freed chunks are kept in lists by rounded size. Programs with recurring sizes take all their
// memory from these lists. Programs with ever new sizes must not pile up unused chunks: when memory
// is taken from the device while more is cached than an allowance, the chunks of the least recently
// used sizes are returned. The allowance is at most twice what was recently in use.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/fork.h"
#include "core/memory/temp_space.h"
#include "core/spin_lock.h"
#include "mxcy_storage.h"

namespace mx {

class Pool {
 public:
  Pool(int32_t device_type, int32_t device_id, const mx_pool_policy& policy,
       const mx_pool_source& source, int32_t temp_copies);

  void* take(size_t bytes);
  void give(void* data, size_t bytes);
  void drop();  // release everything cached, and idle temporary space
  bool in_use();
  void read_stats(mx_pool_stats* stats);

  // Bypass the lists. They are dropped before memory gets scarce and when it runs out; after that,
  // NULL with an error text.
  void* from_source(size_t bytes, size_t size);
  void to_source(void* data, size_t size);
  size_t rounded(size_t bytes) const { return mx_pool_round(&policy_, bytes); }

  TempSpace& temp() { return temp_; }

 private:
  struct List {
    std::vector<void*> chunks;
    size_t size = 0;    // of each chunk
    uint64_t used = 0;  // time of the last take or return, by `clock_`
  };
  struct Chunk {
    void* data;
    size_t size;
  };

  bool on_host() const;
  List& list_of(size_t size);
  void count_live(size_t size);
  void insert_by_age(std::vector<void*>* chunks, void* data);
  void* miss(size_t bytes, size_t size);
  void count_new(size_t size);
  size_t allowance() const;
  std::vector<Chunk> shed();

  static constexpr size_t kDirect = 640;  // number of lists found by index

  const mx_pool_policy policy_;
  const mx_pool_source source_;
  const int32_t device_type_, device_id_;
  ForkSafe<SpinLock> lock_;  // guards everything below except temp_
  List direct_[kDirect];
  std::unordered_map<size_t, List> others_;     // by size
  std::unordered_map<void*, uint64_t> births_;  // of device chunks, in order of allocation
  uint64_t born_ = 0;
  size_t live_ = 0, pooled_ = 0, peak_ = 0, hits_ = 0, misses_ = 0, flushes_ = 0;
  // The most bytes in use in this period and the previous one; a period ends when that many bytes
  // have been newly taken from the device.
  size_t busiest_ = 0, busiest_before_ = 0, new_bytes_ = 0;
  uint64_t clock_ = 0;
  TempSpace temp_;
};

}  // namespace mx
