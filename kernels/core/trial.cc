// Trials: how long a kernel takes for a signature, on memory made for the purpose.
#include <emmintrin.h>

#include <chrono>
#include <vector>

#include "core/cache.h"
#include "core/tensor.h"
#include "core/threads.h"
#include "mxcy.h"

namespace {

using Clock = std::chrono::steady_clock;

// Blocks of memory that live as long as the trial; filled with zeros, on which no kernel is slower.
class Blocks {
 public:
  ~Blocks() {
    for (auto& block : blocks_) mx_free(block.data, block.bytes);
  }
  // NULL only when memory is out; a page of room keeps vector loads at the end inside.
  void* take(size_t bytes) {
    bytes += 4096;
    void* data = mx_alloc(bytes);
    if (data) {
      __builtin_memset(data, 0, bytes);
      blocks_.push_back({data, bytes});
    }
    return data;
  }

 private:
  struct Block {
    void* data;
    size_t bytes;
  };
  std::vector<Block> blocks_;
};

// In a network a layer finds its data outside the cores' own caches: write over enough memory that
// it is so here.
void push_out(char* other, int64_t bytes, int threads) {
  mx::parallel_for(threads, bytes, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += 64) other[i] = (char)(other[i] + 1);
  });
}

// Weights even come from main memory, as all other layers' weights were read since they were.
void flush(const mx_tensor& tensor, int threads) {
  const int64_t bytes = mx::count(tensor) * mx::item_size(tensor.dtype);
  mx::parallel_for(threads, bytes, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += 64) _mm_clflush((const char*)tensor.data + i);
  });
}

}  // namespace

extern "C" int64_t mx_kernel_time(const char* name, int32_t dtype, const mx_call* call,
                                  int64_t budget) {
  const mx_kernel kernel = mx_kernel_find(name, dtype, nullptr);
  if (!kernel) return mx_fail("mx_kernel_time: there is no kernel %s", name);
  Blocks blocks;
  std::vector<mx_tensor> tensors(call->in, call->in + call->nin);
  tensors.insert(tensors.end(), call->out, call->out + call->nout);
  for (mx_tensor& tensor : tensors) {
    tensor.data = blocks.take(mx::count(tensor) * mx::item_size(tensor.dtype));
    if (!tensor.data) return -1;
  }
  std::vector<int32_t> writes(call->nout, MX_WRITE);
  mx_call trial = *call;
  trial.in = tensors.data();
  trial.out = tensors.data() + call->nin;
  trial.req = writes.data();
  if (trial.workspace_size && !(trial.workspace = blocks.take(trial.workspace_size))) return -1;
  const mx_kernel_extra* extra = mx_kernel_extra_of(name);
  trial.state = nullptr;
  if (extra && extra->make && extra->make(&trial, &trial.state) != 0) return -1;
  const int64_t swept = 2 * call->threads * mx::second_cache();
  char* other = (char*)blocks.take(swept);
  if (!other) return -1;
  int64_t best = -1, spent = 0;
  for (int run = 0; run < 3 || (run < 100 && spent < budget); ++run) {
    push_out(other, swept, call->threads);
    for (int32_t i = 1; i < call->nin; ++i) flush(trial.in[i], call->threads);
    const auto begin = Clock::now();
    const int status = kernel(&trial);
    const int64_t took =
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
    if (status != 0) {
      best = -1;
      break;
    }
    spent += took;
    if (run > 0 && (best < 0 || took < best)) best = took;  // the first run warms up
  }
  if (extra && extra->drop && trial.state) extra->drop(trial.state);
  return best;
}
