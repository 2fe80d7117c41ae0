// A job: a oneDNN primitive for one signature, and the mapping of a call's tensors to its
// arguments.
//
// Tensors in another layout than the primitive's are reordered in the workspace.
#pragma once
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/fork.h"
#include "onednn/layout.h"

namespace mx {
namespace onednn {

struct Bound {
  int argument;
  Md layout;
  void* data;
};

// oneDNN's memory objects for the arguments of a run, kept for the next one: creating and
// destroying them takes longer than setting their addresses.
class Arguments {
 public:
  ~Arguments() { clear(); }
  // Set the addresses of all arguments, the scratch memory last; false with an error text.
  bool set(const std::vector<Bound>& bound);
  int count() const { return (int)arguments_.size(); }
  const Argument* data() const { return arguments_.data(); }
  // Held while a run uses them.
  ForkSafeMutex& lock() { return lock_; }

 private:
  void clear();
  std::vector<Argument> arguments_;
  std::vector<Md> layouts_;
  ForkSafeMutex lock_;
};

// A primitive and its description; created (compiled) before the first run.
class Primitive {
 public:
  Primitive() = default;
  Primitive(Primitive&& other);
  ~Primitive();

  // Take ownership of a newly created description; false with an error text if `status` is not 0.
  bool take(int status, dnnl_primitive_desc* description, const char* name);
  bool ready();
  // Run on arguments, with scratch memory of scratch_bytes().
  bool run(const std::vector<Bound>& arguments, void* scratch) const;

  Md layout_of(int argument) const;
  int64_t scratch_bytes() const { return scratch_bytes_; }
  const char* implementation() const;
  int inputs() const;
  const dnnl_primitive_desc* description() const { return description_; }

 private:
  const char* name_ = "";
  dnnl_primitive_desc* description_ = nullptr;
  dnnl_primitive* primitive_ = nullptr;
  int64_t scratch_bytes_ = 0;
  std::unique_ptr<Arguments> kept_;
};

constexpr int kMaxArguments = 80;

// Converts `count` values, given the binding's parameter `number`. NULL: no conversion.
typedef void (*Convert)(const float* src, float* dst, int64_t count, double number);

class Job {
 public:
  explicit Job(int threads) : threads_(threads) {}

  // --- for builders: describe a primitive, then bind its arguments to tensors
  int threads() const { return threads_; }
  Primitive& primitive() { return primitive_; }
  // Optional second primitive that then works in place on the output, argument kDst.
  Primitive& follower() { return follower_; }
  // Bind inputs and outputs of the call, with their layouts.
  void input(int argument, int tensor, Layout layout) { bind(argument, tensor, false, layout); }
  void output(int argument, int tensor, Layout layout) { bind(argument, tensor, true, layout); }
  // Bind the scales of an argument, float32 values that are not reordered.
  void scales(int argument, int tensor, Layout layout);
  // Bind statistics that oneDNN represents differently: inputs are converted before the run,
  // outputs afterwards, and an output that the caller does not want is stored in the workspace.
  void input_as(Convert convert, double number, int argument, int tensor, Layout layout);
  void output_as(Convert convert, double number, int argument, int tensor, Layout layout);
  // Function called at the end of each run.
  void then(void (*function)(const mx_call*)) { then_ = function; }
  // Initialise the output with a copy of an input, unless it is the same memory.
  void start_from(int input, int output);
  // Set the packed layout of the weights, for MX_QUERY_PACKED and MX_QUERY_FORMAT.
  void set_packed(Md weights);

  // --- for kernels
  // Determine reorders and workspace once the builder is done.
  bool settle();
  bool ready();
  int run(const mx_call* call);
  int64_t workspace_bytes() const { return workspace_bytes_; }
  int64_t packed_bytes() const { return packed_bytes_; }
  int64_t packed_format() const { return packed_format_; }

 private:
  struct Binding {
    int argument, tensor;
    bool writes;
    Layout layout;
    Primitive reorder;  // between `layout` and the primitive's, if they differ
    Primitive fill;     // the inverse, for an output that is initialised with a copy
    bool reordered = false, untouched = false;
    int64_t offset = -1;  // in the workspace, of the tensor as the primitive sees it
    Convert convert = nullptr;
    double number = 0;

    Binding(int argument_, int tensor_, bool writes_, Layout layout_)
        : argument(argument_), tensor(tensor_), writes(writes_), layout(std::move(layout_)) {}
    void* data(const mx_call* call) const {
      return writes ? call->out[tensor].data : call->in[tensor].data;
    }
  };
  Binding& bind(int argument, int tensor, bool writes, Layout& layout);
  bool starts_as_copy(const Binding& b) const {
    return copied_ >= 0 && b.writes && b.tensor == copy_;
  }
  bool enter(const Binding& binding, const mx_call* call, char* space, Bound* bound) const;
  bool start(const mx_call* call, char* space) const;
  bool leave(const Binding& binding, const mx_call* call, char* space, const Bound& bound) const;
  bool run_in(const mx_call* call, char* space) const;

  const int threads_;
  Primitive primitive_, follower_;
  std::vector<Binding> bindings_;
  int copied_ = -1, copy_ = 0;
  void (*then_)(const mx_call*) = nullptr;
  int64_t scratch_offset_ = 0, workspace_bytes_ = 0, packed_bytes_ = -1, packed_format_ = -1;
  ForkSafeMutex lock_;  // guards the creation of primitives
  bool ready_ = false;
};

bool describe_reorder(Md from, Md to, Primitive* primitive);
// A job that reorders float32 weights, input 0, to int8 in a packed layout.
bool describe_pack(Layout plain, Layout packed, Job* job);

}  // namespace onednn
}  // namespace mx
