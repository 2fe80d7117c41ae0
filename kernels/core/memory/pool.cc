// Device memory pools; see pool.h.
#include "core/memory/pool.h"

#include <malloc.h>

#include <algorithm>

#include "core/memory/host_memory.h"
#include "mxcy_profiler.h"

namespace mx {
namespace {

constexpr size_t kLeastAllowance = (size_t)256 << 20, kLeastPeriod = (size_t)64 << 20;
// Bytes freed at once that are worth returning to the system.
constexpr size_t kTrimSize = (size_t)1 << 20;

void* host_alloc(void*, size_t bytes) {
  void* data = mx_system_alloc(bytes);
  if (!data) mx_fail("%s", "");  // the pool writes a more detailed error text
  return data;
}
void host_free(void*, void* data, size_t) { mx_system_free(data); }
void host_figures(void*, size_t coming, size_t* free, size_t* total) {
  HostMemory::instance().figures(coming, free, total);
}
constexpr mx_pool_source kHost = {host_alloc, host_free, host_figures, nullptr};

const char* device_name(int32_t type) {
  switch (type) {
    case 2:
      return "gpu";
    case 3:
      return "cpu_pinned";
    case 5:
      return "cpu_shared";
    default:
      return "cpu";
  }
}

}  // namespace

Pool::Pool(int32_t device_type, int32_t device_id, const mx_pool_policy& policy,
           const mx_pool_source& source, int32_t temp_copies)
    : policy_(policy),
      source_(source),
      device_type_(device_type),
      device_id_(device_id),
      temp_(*this, temp_copies) {}

bool Pool::on_host() const { return source_.alloc == host_alloc; }

Pool::List& Pool::list_of(size_t size) {
  if (policy_.strategy == MX_POOL_ROUND) {
    const size_t bucket = mx_pool_bucket(&policy_, size);
    return bucket < kDirect ? direct_[bucket] : others_[size];
  }
  // Pages are powers of two, or this finds no index; large steps need not be multiples of the page.
  const int shift = __builtin_ctzl(policy_.page);
  const size_t slot = size >> shift;
  return slot < kDirect && slot << shift == size ? direct_[slot] : others_[size];
}

void Pool::count_live(size_t size) {
  live_ += size;
  if (live_ > busiest_) busiest_ = live_;
}

void* Pool::take(size_t bytes) {
  if (bytes == 0) return nullptr;
  const size_t size = rounded(bytes);
  void* data = nullptr;
  if (policy_.strategy != MX_POOL_UNPOOLED) {
    std::lock_guard<ForkSafe<SpinLock>> guard(lock_);
    List& list = list_of(size);
    if (!list.chunks.empty()) {
      data = list.chunks.back();
      list.chunks.pop_back();
      list.used = ++clock_;
      pooled_ -= size;
      ++hits_;
      count_live(size);
    }
  }
  if (!data) {
    data = miss(bytes, size);
    if (!data) return nullptr;
    std::lock_guard<ForkSafe<SpinLock>> guard(lock_);
    count_live(size);
  }
  if (__builtin_expect(mx_profiled(MX_PROFILE_MEMORY), 0))
    mx_profile_alloc(device_type_, device_id_, data, (int64_t)bytes, (int64_t)size);
  return data;
}

void Pool::give(void* data, size_t bytes) {
  if (!data) return;
  const size_t size = rounded(bytes);
  // Before another thread can get the memory and report its allocation.
  if (__builtin_expect(mx_profiled(MX_PROFILE_MEMORY), 0)) mx_profile_free(data);
  const bool keep = policy_.strategy != MX_POOL_UNPOOLED;
  {
    std::lock_guard<ForkSafe<SpinLock>> guard(lock_);
    live_ -= size;
    if (keep) {
      List& list = list_of(size);
      list.size = size;
      list.used = ++clock_;
      if (on_host())  // the most recently used chunk may still be in a cache
        list.chunks.push_back(data);
      else
        insert_by_age(&list.chunks, data);
      pooled_ += size;
    }
  }
  if (!keep) to_source(data, size);
}

// CUDA graphs contain addresses. So that programs that repeat themselves get the same ones, the
// oldest chunk is handed out first, whatever the order of returns.
void Pool::insert_by_age(std::vector<void*>* chunks, void* data) {
  const auto is_younger = [this](void* a, void* b) { return births_[a] > births_[b]; };
  chunks->insert(std::lower_bound(chunks->begin(), chunks->end(), data, is_younger), data);
}

void* Pool::miss(size_t bytes, size_t size) {
  {
    std::lock_guard<ForkSafe<SpinLock>> guard(lock_);
    ++misses_;
  }
  void* data = from_source(bytes, size);
  if (!data || policy_.strategy == MX_POOL_UNPOOLED) return data;
  std::vector<Chunk> spare;
  {
    std::lock_guard<ForkSafe<SpinLock>> guard(lock_);
    count_new(size);
    if (!on_host()) births_[data] = ++born_;
    if (pooled_ > allowance()) spare = shed();
  }
  for (const Chunk& chunk : spare) to_source(chunk.data, chunk.size);
  if (!spare.empty()) malloc_trim(0);  // otherwise the heap keeps fragments that fit no request
  return data;
}

// --- returning memory to the device ----------------------------------------------------------

void Pool::count_new(size_t size) {
  new_bytes_ += size;
  if (new_bytes_ < std::max(busiest_, kLeastPeriod)) return;
  peak_ = std::max(peak_, busiest_);
  busiest_before_ = busiest_;
  busiest_ = live_;
  new_bytes_ = 0;
}

size_t Pool::allowance() const {
  return std::max(2 * std::max(busiest_, busiest_before_), kLeastAllowance);
}

// Sheds more than necessary, so that it is seldom called.
std::vector<Pool::Chunk> Pool::shed() {
  std::vector<List*> lists;
  for (List& list : direct_)
    if (!list.chunks.empty()) lists.push_back(&list);
  for (auto& entry : others_)
    if (!entry.second.chunks.empty()) lists.push_back(&entry.second);
  std::sort(lists.begin(), lists.end(), [](List* a, List* b) { return a->used < b->used; });
  const size_t goal = allowance() / 4 * 3;
  std::vector<Chunk> spare;
  for (List* list : lists) {
    auto coldest = list->chunks.begin();
    for (; coldest != list->chunks.end() && pooled_ > goal; ++coldest) {
      spare.push_back({*coldest, list->size});
      pooled_ -= list->size;
    }
    list->chunks.erase(list->chunks.begin(), coldest);
    if (pooled_ <= goal) break;
  }
  for (auto entry = others_.begin(); entry != others_.end();)
    entry = entry->second.chunks.empty() ? others_.erase(entry) : std::next(entry);
  return spare;
}

void Pool::drop() {
  std::vector<Chunk> all;
  size_t bytes;
  {
    std::lock_guard<ForkSafe<SpinLock>> guard(lock_);
    const auto empty = [&](List& list) {
      for (void* chunk : list.chunks) all.push_back({chunk, list.size});
      list = List();
    };
    for (List& list : direct_) empty(list);
    for (auto& entry : others_) empty(entry.second);
    others_.clear();
    bytes = pooled_;
    pooled_ = 0;
    ++flushes_;
  }
  for (const Chunk& chunk : all) to_source(chunk.data, chunk.size);
  temp_.drop_idle();
  if (bytes >= kTrimSize) malloc_trim(0);
  HostMemory::instance().forget();
}

// --- the device --------------------------------------------------------------------------------

void* Pool::from_source(size_t bytes, size_t size) {
  size_t live, cached, free = 0, total = 0;
  {
    std::lock_guard<ForkSafe<SpinLock>> guard(lock_);
    live = live_;
    cached = pooled_;
  }
  if (policy_.strategy != MX_POOL_UNPOOLED) {
    source_.figures(source_.context, size, &free, &total);
    if (mx_pool_must_drop(&policy_, size, free, total)) drop();
  }
  void* data = source_.alloc(source_.context, size);
  if (data) return data;
  drop();
  mx_fail("%s", "");
  data = source_.alloc(source_.context, size);
  if (data) return data;
  if (*mx_last_error()) return nullptr;  // an error other than lack of memory
  source_.figures(source_.context, 0, &free, &total);
  mx_fail(
      "%s(%d) is out of memory: requested %zu bytes, rounded %zu; live %zu, cached %zu (given back "
      "first), free %zu, limit %zu",
      device_name(device_type_), device_id_, bytes, size, live, cached, free,
      mx_pool_limit(&policy_, total));
  return nullptr;
}

void Pool::to_source(void* data, size_t size) {
  if (data && !on_host()) {
    std::lock_guard<ForkSafe<SpinLock>> guard(lock_);
    births_.erase(data);
  }
  if (data) source_.free(source_.context, data, size);
}

// --- statistics --------------------------------------------------------------------------------

bool Pool::in_use() {
  std::lock_guard<ForkSafe<SpinLock>> guard(lock_);
  return live_ != 0;
}

void Pool::read_stats(mx_pool_stats* stats) {
  size_t free, total;
  source_.figures(source_.context, 0, &free, &total);
  temp_.stats(&stats->temp_copies, &stats->temp_used, &stats->temp_bytes);
  std::lock_guard<ForkSafe<SpinLock>> guard(lock_);
  stats->limit = mx_pool_limit(&policy_, total);
  stats->live_bytes = live_;
  stats->pooled_bytes = pooled_;
  stats->peak_bytes = std::max(peak_, busiest_);
  stats->hits = hits_;
  stats->misses = misses_;
  stats->flushes = flushes_;
}

}  // namespace mx

using mx::Pool;

extern "C" mx_pool* mx_pool_create(int32_t device_type, int32_t device_id,
                                   const mx_pool_policy* policy, const mx_pool_source* source,
                                   int32_t temp_copies) {
  if (policy->page == 0 || policy->large_step == 0 || temp_copies < 1) {
    mx_fail("mx_pool_create: pages, large steps and temporary buffers must be positive");
    return nullptr;
  }
  auto* pool = new Pool(device_type, device_id, *policy, source ? *source : mx::kHost, temp_copies);
  return reinterpret_cast<mx_pool*>(pool);
}

static Pool* of(mx_pool* pool) { return reinterpret_cast<Pool*>(pool); }

extern "C" void mx_pool_destroy(mx_pool* pool) {
  of(pool)->drop();
  if (!of(pool)->in_use()) delete of(pool);  // otherwise it is deleted when the last chunk returns
}

extern "C" void* mx_pool_take(mx_pool* pool, size_t bytes) { return of(pool)->take(bytes); }

extern "C" void mx_pool_give(mx_pool* pool, void* data, size_t bytes) {
  if (data) of(pool)->give(data, bytes);
}

extern "C" void mx_pool_drop(mx_pool* pool) { of(pool)->drop(); }

extern "C" void mx_pool_read_stats(mx_pool* pool, mx_pool_stats* stats) {
  of(pool)->read_stats(stats);
}

extern "C" void* mx_temp_take(mx_pool* pool, size_t bytes, int32_t wait) {
  return of(pool)->temp().take(bytes, wait);
}

extern "C" void mx_temp_give(mx_pool* pool, void* data, size_t bytes) {
  of(pool)->temp().give(data, bytes);
}
