// Comparison with our own kernel, which gets copies of the inputs, as it may overwrite them, and
// separate outputs.
#include "onednn/check.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace mx {
namespace onednn {

std::atomic<bool> g_checks{false};

namespace {

std::atomic<int64_t> g_compared{0};
constexpr char kSuffix[] = "_onednn";
constexpr double kTolerance = 1e-3;  // relative to the largest magnitude in an output

// Pairs of equivalent kernels whose names differ by more than the suffix.
const char* const kNames[][2] = {{"conv_onednn_plain", "conv_im2col"},
                                 {"conv_onednn_data", "conv_im2col_data"},
                                 {"conv_onednn_weight", "conv_im2col_weight"}};

std::string own_name(const std::string& name) {
  for (const auto& pair : kNames)
    if (name == pair[0]) return pair[1];
  const size_t end = name.size() - (sizeof kSuffix - 1);
  return name.size() > sizeof kSuffix && name.compare(end, std::string::npos, kSuffix) == 0
             ? name.substr(0, end)
             : "";
}

size_t bytes_of(const mx_tensor& t) { return (size_t)(count(t) * item_size(t.dtype)); }

// A call on its own memory.
class Twin {
 public:
  explicit Twin(const mx_call* call) : call_(*call) {
    for (int i = 0; i < call->nin; ++i) {
      in_.push_back(call->in[i]);
      if (!in_[i].data) continue;
      const char* from = static_cast<const char*>(in_[i].data);
      memory_.emplace_back(from, from + bytes_of(in_[i]));
      in_[i].data = memory_.back().data();
    }
    for (int i = 0; i < call->nout; ++i) {
      out_.push_back(call->out[i]);
      req_.push_back(out_[i].data ? MX_WRITE : MX_NULL);
      if (!out_[i].data) continue;
      memory_.emplace_back(bytes_of(out_[i]));
      out_[i].data = memory_.back().data();
    }
    call_.in = in_.data();
    call_.out = out_.data();
    call_.req = req_.data();
    call_.workspace = nullptr;
    call_.workspace_size = 0;
    call_.state = nullptr;
  }

  bool run(mx_kernel fn) const { return fn(&call_) == 0; }
  const mx_tensor& out(int i) const { return out_[i]; }

 private:
  mx_call call_;
  std::vector<mx_tensor> in_, out_;
  std::vector<int32_t> req_;
  std::vector<std::vector<char>> memory_;
};

// The largest difference of two outputs, relative to the largest magnitude.
double difference(const mx_tensor& actual, const mx_tensor& expected) {
  const float *a = static_cast<const float*>(actual.data),
              *b = static_cast<const float*>(expected.data);
  double most = 0, largest = 1e-30;
  for (int64_t i = 0; i < count(actual); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (a[i] == b[i]) continue;
    most = std::fmax(most, std::isnan(a[i] - b[i]) ? INFINITY : std::fabs((double)a[i] - b[i]));
  }
  for (int64_t i = 0; i < count(actual); ++i) largest = std::fmax(largest, std::fabs(b[i]));
  return most / largest;
}

}  // namespace

int run_checked(const char* name, mx_kernel fn, const mx_call* call) {
  // 16-bit rounding differences exceed the errors looked for.
  if (call->in[0].dtype != MX_F32) return fn(call);
  const std::string own = own_name(name);
  const mx_kernel plain = own.empty() ? nullptr : mx_kernel_find(own.c_str(), MX_F32, nullptr);
  if (!plain) return fn(call);
  const Twin twin(call);
  const bool comparable = twin.run(plain);  // before outputs overwrite the memory of inputs
  if (fn(call) != 0) return -1;
  if (!comparable) return 0;
  for (int i = 0; i < call->nout; ++i) {
    if (!call->out[i].data || call->out[i].dtype != MX_F32) continue;
    const double error = difference(call->out[i], twin.out(i));
    if (!(error <= kTolerance))
      return mx_fail(
          "MXNET_ONEDNN_DEBUG: output %d of %s differs from that of %s by %g of its "
          "largest magnitude",
          i, name, own.c_str(), error);
  }
  g_compared.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

}  // namespace onednn
}  // namespace mx

extern "C" void mx_onednn_check(int32_t on) { mx::onednn::g_checks.store(on != 0); }
extern "C" int64_t mx_onednn_compared(void) { return mx::onednn::g_compared.load(); }
