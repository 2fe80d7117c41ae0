// LRU cache of the jobs created so far, keyed by signature.
#include "onednn/cache.h"

#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "core/fork.h"
#include "core/tensor.h"

namespace mx {
namespace onednn {
namespace {

// Size of a primitive with its generated code, measured over convolutions; oneDNN does not report
// it.
constexpr int64_t kJobBytes = 160 << 10;
constexpr int64_t kMaxBytes = 256 << 20;  // of an unlimited cache

class Cache {
 public:
  std::shared_ptr<Job> find(const std::string& key) {
    std::lock_guard<std::mutex> guard(lock_);
    auto entry = index_.find(key);
    if (entry == index_.end()) {
      ++misses_;
      return nullptr;
    }
    ++hits_;
    order_.splice(order_.begin(), order_, entry->second);
    return entry->second->second;
  }

  // If another thread was faster, its job is kept.
  std::shared_ptr<Job> keep(const std::string& key, std::shared_ptr<Job> job) {
    std::lock_guard<std::mutex> guard(lock_);
    if (capacity() == 0) return job;
    auto entry = index_.find(key);
    if (entry != index_.end()) return entry->second->second;
    order_.emplace_front(key, job);
    index_[key] = order_.begin();
    shrink();
    return job;
  }

  void limit(int64_t entries) {
    std::lock_guard<std::mutex> guard(lock_);
    limit_ = entries;
    shrink();
  }

  void stats(int64_t* out) {
    std::lock_guard<std::mutex> guard(lock_);
    const int64_t entries = (int64_t)index_.size();
    const int64_t values[] = {entries, entries * kJobBytes, hits_, misses_, evictions_, capacity()};
    for (int64_t value : values) *out++ = value;
  }

 private:
  typedef std::list<std::pair<std::string, std::shared_ptr<Job>>> Order;

  int64_t capacity() const { return limit_ < 0 ? kMaxBytes / kJobBytes : limit_; }

  void shrink() {
    while ((int64_t)index_.size() > capacity()) {
      index_.erase(order_.back().first);
      order_.pop_back();
      ++evictions_;
    }
  }

  ForkSafeMutex lock_;
  Order order_;
  std::unordered_map<std::string, Order::iterator> index_;
  int64_t limit_ = -1, hits_ = 0, misses_ = 0, evictions_ = 0;
};

// Never destroyed: jobs may be in use when the process ends.
Cache& cache() {
  static Cache* instance = new Cache;
  return *instance;
}

template <class T>
void append(std::string* key, T value) {
  key->append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append(std::string* key, const mx_tensor& tensor) {
  append(key, tensor.dtype);
  if (tensor.dtype == MX_U8) return;  // packed weights: the parameters determine their size
  append(key, tensor.ndim);
  key->append(reinterpret_cast<const char*>(tensor.shape), tensor.ndim * sizeof(int64_t));
}

std::string key_of(const mx_call* call, int threads, Builder build, size_t params_size) {
  std::string key;
  key.reserve(512);
  append(&key, build);
  append(&key, threads);
  if (params_size) key.append(static_cast<const char*>(call->params), params_size);
  append(&key, call->nin);
  for (int i = 0; i < call->nin; ++i) append(&key, call->in[i]);
  for (int i = 0; i < call->nout; ++i) append(&key, call->out[i]);
  return key;
}

// Queries come without a number of threads.
int threads_of(const mx_call* call) { return call->threads > 0 ? call->threads : mx_threads(); }

typedef std::shared_ptr<Job> Held;

}  // namespace

std::shared_ptr<Job> job_for(const mx_call* call, Builder build, size_t params_size) {
  const int threads = threads_of(call);
  const std::string key = key_of(call, threads, build, params_size);
  std::shared_ptr<Job> job = cache().find(key);
  if (job) return job;
  if (count(call->in[0]) == 0 || count(call->out[0]) == 0) {
    mx_fail("oneDNN: empty arrays are not supported");
    return nullptr;
  }
  Team team(threads);
  job = std::make_shared<Job>(threads);
  if (!build(call, job.get()) || !job->settle()) return nullptr;
  return cache().keep(key, std::move(job));
}

int run_job(const mx_call* call, Builder build, size_t params_size) {
  Job* prepared = call->state ? static_cast<Held*>(call->state)->get() : nullptr;
  if (prepared && prepared->threads() == call->threads) return prepared->run(call);
  const std::shared_ptr<Job> job = job_for(call, build, params_size);
  return job ? job->run(call) : -1;
}

int make_job(const mx_call* call, void** state, Builder build, size_t params_size) {
  std::shared_ptr<Job> job = job_for(call, build, params_size);
  if (!job || !job->ready()) return -1;
  *state = new Held(std::move(job));
  return 0;
}

void drop_job(void* state) { delete static_cast<Held*>(state); }

int64_t query_job(const mx_call* call, int32_t what, Builder build, size_t params_size) {
  const std::shared_ptr<Job> job = job_for(call, build, params_size);
  if (what == MX_QUERY_ACCEPTS) return job ? 1 : 0;
  if (!job) return -1;
  if (what == MX_QUERY_WORKSPACE) return job->workspace_bytes();
  if (job->packed_bytes() < 0) return mx_fail("oneDNN: this kernel has no packed weights");
  return what == MX_QUERY_PACKED ? job->packed_bytes() : job->packed_format();
}

void set_capacity_of_library() { api().set_primitive_cache_capacity(0); }

}  // namespace onednn
}  // namespace mx

extern "C" void mx_onednn_cache_limit(int64_t entries) { mx::onednn::cache().limit(entries); }
extern "C" void mx_onednn_cache_stats(int64_t* six) { mx::onednn::cache().stats(six); }
