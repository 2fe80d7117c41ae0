// A library of two operators with the C functions that mx.library calls, without MXNet's header.
//
// ext_pair(a, b, scale=1): scale * a * b and a + b, with gradients; the forward pass uses memory
// and random numbers of the caller. _contrib_ext_count(a, count): an object multiplies a by how
// often it was called (beginning at `start`), and adds one to count.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#ifndef VERSION
#define VERSION 11
#endif

namespace {

using Attrs = std::map<std::string, std::string>;
using Malloc = void* (*)(void*, int);
const char* const kCpu[] = {"cpu"};
char here[2];  // the operators' functions, which are told apart by their address
const void *const kForward[] = {&here[0]}, *const kBackward[] = {&here[1]},
                  *const kCreate[] = {here};
std::vector<std::string> messages;
int objects = 0;

Attrs attributes(const char* const* keys, const char* const* values, int count) {
  Attrs found;
  for (int i = 0; i < count; ++i) found[keys[i]] = values[i];
  return found;
}

int fail(const std::string& text) {
  messages.push_back(text);
  return 0;
}

int64_t size(const int64_t* shape, int dims) {
  int64_t n = 1;
  for (int i = 0; i < dims; ++i) n *= shape[i];
  return n;
}

struct Counter {
  int calls;
};

}  // namespace

extern "C" {

int _opVersion() { return VERSION; }
int initialize(int version) { return version >= 10700 ? 1 : fail("MXNet is too old"); }
int _opRegSize() { return 2; }
int _partRegSize() { return 0; }
int _passRegSize() { return 1; }
int _msgSize() { return (int)messages.size(); }
void _msgGet(int i, const char** text) { *text = messages[i].c_str(); }
void _opCallFree(void* memory) { free(memory); }
int live_objects() { return objects; }

void _opRegGet(int i, const char** name, int* in_subgraphs, const char* const** forward_on,
               const void* const** forward, int* forwards, const char* const** backward_on,
               const void* const** backward, int* backwards, const char* const** create_on,
               const void* const** create, int* creates, const void** parse, const void** types,
               const void** storage, const void** shapes, const void** mutated) {
  *name = i == 0 ? "ext_pair" : "_contrib_ext_count";
  *in_subgraphs = 0;
  *forward_on = *backward_on = *create_on = kCpu;
  *forward = kForward, *backward = kBackward, *create = kCreate;
  *forwards = *backwards = i == 0, *creates = i == 1;
  *parse = *types = *shapes = &here[i];
  *storage = nullptr;
  *mutated = i == 1 ? here : nullptr;
}

int _opCallParseAttrs(const void* operator_, const char* const* keys, const char* const* values,
                      int count, int* ins, int* outs) {
  const Attrs attrs = attributes(keys, values, count);
  if (attrs.count("nonsense")) return fail("nonsense is no attribute");
  *ins = 2;
  *outs = operator_ == &here[0] ? 2 : 1;
  return 1;
}

int _opCallMutateInputs(const void*, const char* const*, const char* const*, int, int** numbers,
                        int* count) {
  *numbers = static_cast<int*>(malloc(sizeof(int)));
  **numbers = *count = 1;
  return 1;
}

int _opCallInferType(const void*, const char* const*, const char* const*, int, int* ins, int,
                     int* outs, int count) {
  if (ins[0] > 0) return fail("expected float32");
  for (int i = 0; i < count; ++i) outs[i] = ins[0];
  if (ins[1] < 0) ins[1] = ins[0];
  return 1;
}

int _opCallInferShape(const void* operator_, const char* const*, const char* const*, int,
                      unsigned** shapes, int* dims, int ins, unsigned*** in_shapes, int** in_dims,
                      unsigned*** out_shapes, int** out_dims, int outs) {
  auto made = [&](int count, unsigned*** to, int** to_dims, bool inputs) {
    *to = static_cast<unsigned**>(malloc(count * sizeof(unsigned*)));
    *to_dims = static_cast<int*>(malloc(count * sizeof(int)));
    for (int i = 0; i < count; ++i) {
      const bool counter = inputs && i == 1 && operator_ == &here[1];  // of shape (1,)
      const int n = counter ? 1 : dims[0];
      (*to_dims)[i] = n;
      (*to)[i] = static_cast<unsigned*>(malloc(n * sizeof(unsigned)));
      for (int d = 0; d < n; ++d) (*to)[i][d] = counter ? 1 : shapes[0][d];
    }
  };
  made(ins, in_shapes, in_dims, true);
  made(outs, out_shapes, out_dims, false);
  return 1;
}

int _opCallFCompute(const void* pass, const char* const* keys, const char* const* values, int count,
                    const int64_t** shapes, int* dims, void** in, int*, size_t*, const char**, int*,
                    int, const int64_t**, int*, void** out, int*, size_t*, const char**, int*, int,
                    Malloc allocate, void* allocator, Malloc, void*, void*, void*, void*, int*,
                    int*, void**, void**, void**, void**, int64_t*, int64_t*, int64_t*, int64_t*,
                    void* engines, void*) {
  Attrs attrs = attributes(keys, values, count);
  const float scale = attrs.count("scale") ? std::stof(attrs["scale"]) : 1;
  const int64_t n = size(shapes[0], dims[0]);
  auto f = [](void* memory) { return static_cast<float*>(memory); };
  if (pass == kForward[0]) {
    if (scale < 0) return fail("scale is negative");
    float* products = f(allocate(allocator, n * sizeof(float)));
    for (int64_t i = 0; i < n; ++i) products[i] = f(in[0])[i] * f(in[1])[i];
    for (int64_t i = 0; i < n; ++i) f(out[0])[i] = scale * products[i];
    for (int64_t i = 0; i < n; ++i) f(out[1])[i] = f(in[0])[i] + f(in[1])[i];
    if (attrs.count("noise"))  // from the first and the last engine
      for (int64_t i = 0; i < n; ++i)
        f(out[i & 1])[i] = static_cast<std::mt19937*>(engines)[i & 1 ? 1023 : 0]() * 0x1p-32f;
    return 1;
  }
  // Gradients of the outputs, inputs, outputs -> gradients of the inputs.
  for (int64_t i = 0; i < n; ++i) {
    f(out[0])[i] = f(in[0])[i] * scale * f(in[3])[i] + f(in[1])[i];
    f(out[1])[i] = f(in[0])[i] * scale * f(in[2])[i] + f(in[1])[i];
  }
  return 1;
}

int _opCallCreateOpState(const void*, const char* const* keys, const char* const* values, int count,
                         const char* device, int, unsigned** shapes, int* dims, int ins,
                         const int* types, void** state) {
  Attrs attrs = attributes(keys, values, count);
  if (strcmp(device, "cpu") || ins != 2 || dims[1] != 1 || shapes[1][0] != 1 || types[0] != 0)
    return fail("unexpected inputs");
  ++objects;
  *state = new Counter{attrs.count("start") ? std::stoi(attrs["start"]) : 0};
  return 1;
}

void _opCallDestroyOpState(void* state) {
  --objects;
  delete static_cast<Counter*>(state);
}

int _opCallFStatefulCompute(int is_forward, void* state, const int64_t** shapes, int* dims,
                            void** in, int*, size_t*, const char**, int*, int, const int64_t**,
                            int*, void** out, int*, size_t*, const char**, int*, int, Malloc, void*,
                            Malloc, void*, void*, void*, void*, int*, int*, void**, void**, void**,
                            void**, int64_t*, int64_t*, int64_t*, int64_t*, void*, void*) {
  Counter* counter = static_cast<Counter*>(state);
  const float* data = static_cast<float*>(in[0]);
  float* to = static_cast<float*>(out[0]);
  if (is_forward) {
    ++counter->calls;
    ++*static_cast<float*>(in[1]);
  }
  for (int64_t i = 0; i < size(shapes[0], dims[0]); ++i) to[i] = data[i] * counter->calls;
  return 1;
}

}  // extern "C"
