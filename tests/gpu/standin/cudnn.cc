// Execution of cuDNN's convolution plans: serialized plans of the real cuDNN, from which shapes and
// strides are read. The choice of engine has no effect here.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>

#define API extern "C" __attribute__((visibility("default")))
// From the stand-in's driver: push work on a stream; a captured graph repeats it.
extern "C" int standin_push(void* stream, const std::function<int()>& work, const char* label);

enum Status { kSuccess = 0, kBadParam = 2000, kNotSupported = 3000, kExecutionFailed = 5000 };
enum Kind { kPlan = 5, kVariantPack = 16, kProperties = 38 };
enum {
  kPlanWorkspace = 402,
  kPlanText = 405,
  kPackNames = 1000,
  kPackPointers,
  kPackWorkspace = 1003
};
constexpr int64_t kWorkspace = 256;  // bytes that each plan requests and writes

struct Handle {
  void* stream = nullptr;
};

typedef std::vector<int64_t> Numbers;

struct Tensor {
  std::string type;
  Numbers dim, stride;

  int64_t at(int64_t first, int64_t second, const Numbers& places) const {
    int64_t offset = first * stride[0] + second * stride[1];
    for (size_t d = 0; d < places.size(); ++d) offset += places[d] * stride[d + 2];
    return offset;
  }
};

struct Convolution {
  std::string operation;
  Numbers pad, stride, dilation;
  std::map<std::string, Tensor> tensors;  // by their roles X, W, Y
  std::map<std::string, int64_t> names;
};

struct Descriptor {
  int kind;
  std::map<int, std::string> values;
  Convolution what;
};

namespace {

Numbers numbers(const std::string& text) {
  Numbers found;
  for (const char* at = text.c_str(); *at;) {
    char* end = nullptr;
    const long long value = strtoll(at, &end, 10);
    if (end == at)
      ++at;
    else
      found.push_back(value), at = end;
  }
  return found;
}

std::string match(const std::string& text, const std::string& pattern) {
  std::smatch found;
  return std::regex_search(text, found, std::regex(pattern)) ? found[1].str() : "";
}

bool parse(const std::string& text, Convolution* what) {
  const std::string node = match(text, "\"nodes\":\\[\\{([^}]*)\\}");
  what->operation = match(node, "OPERATION_CONVOLUTION_(\\w+)_DESCRIPTOR");
  what->pad = numbers(match(node, "\"pad\":\\[([^\\]]*)"));
  what->stride = numbers(match(node, "\"stride\":\\[([^\\]]*)"));
  what->dilation = numbers(match(node, "\"dilation\":\\[([^\\]]*)"));
  for (const std::string role : {"X", "W", "Y"}) {
    const std::string name = match(node, "\"d?" + role + "\":\"(\\d+)\"");
    const std::string tensor = match(text, "\\{(\"name\":\"" + name + "\",\"dataType\"[^}]*)\\}");
    if (name.empty() || tensor.empty()) return false;
    what->names[role] = atoll(name.c_str());
    what->tensors[role] = {match(tensor, "CUDNN_DATA_(\\w+)"),
                           numbers(match(tensor, "\"dim\":\\[([^\\]]*)")),
                           numbers(match(tensor, "\"stride\":\\[([^\\]]*)"))};
  }
  return !what->operation.empty() && !what->pad.empty();
}

double load(const void* base, int64_t i, const std::string& type) {
  if (type == "FLOAT") return ((const float*)base)[i];
  if (type == "DOUBLE") return ((const double*)base)[i];
  if (type == "HALF") return (double)((const _Float16*)base)[i];
  const uint32_t bits = (uint32_t)((const uint16_t*)base)[i] << 16;  // BFLOAT16
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

void store(void* base, int64_t i, const std::string& type, double value) {
  if (type == "FLOAT")
    ((float*)base)[i] = (float)value;
  else if (type == "DOUBLE")
    ((double*)base)[i] = value;
  else if (type == "HALF")
    ((_Float16*)base)[i] = (_Float16)value;
  else {
    const float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    ((uint16_t*)base)[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);  // nearest even
  }
}

// Call `visit` with all indices within extents.
void each(const Numbers& extents, const std::function<void(const Numbers&)>& visit) {
  Numbers place(extents.size(), 0);
  for (;;) {
    visit(place);
    size_t d = extents.size();
    while (d > 0 && ++place[d - 1] == extents[d - 1]) place[--d] = 0;
    if (d == 0) return;
  }
}

// Sums are in double for all types; each product is added to one element of the result.
void convolve(const Convolution& c, const std::map<std::string, void*>& memory) {
  const Tensor &x = c.tensors.at("X"), &w = c.tensors.at("W"), &y = c.tensors.at("Y");
  const std::string out = c.operation == "FORWARD"         ? "Y"
                          : c.operation == "BACKWARD_DATA" ? "X"
                                                           : "W";
  const Tensor& result = c.tensors.at(out);
  int64_t size = 1;
  for (int64_t extent : result.dim) size *= extent;
  std::vector<double> sums((size_t)size, 0.0);
  const Numbers targets(y.dim.begin() + 2, y.dim.end()), taps(w.dim.begin() + 2, w.dim.end());
  const int64_t per_group = w.dim[0] / (x.dim[1] / w.dim[1]);
  for (int64_t n = 0; n < y.dim[0]; ++n)
    for (int64_t f = 0; f < y.dim[1]; ++f)
      each(targets, [&](const Numbers& t) {
        each(taps, [&](const Numbers& k) {
          Numbers source(t.size());
          for (size_t d = 0; d < t.size(); ++d) {
            source[d] = t[d] * c.stride[d] + k[d] * c.dilation[d] - c.pad[d];
            if (source[d] < 0 || source[d] >= x.dim[d + 2]) return;
          }
          for (int64_t i = 0; i < w.dim[1]; ++i) {
            const int64_t in_x = x.at(n, f / per_group * w.dim[1] + i, source);
            const int64_t in_w = w.at(f, i, k), in_y = y.at(n, f, t);
            const auto value = [&](const char* role, const Tensor& of, int64_t at) {
              return load(memory.at(role), at, of.type);
            };
            if (out == "Y") sums[in_y] += value("X", x, in_x) * value("W", w, in_w);
            if (out == "X") sums[in_x] += value("Y", y, in_y) * value("W", w, in_w);
            if (out == "W") sums[in_w] += value("X", x, in_x) * value("Y", y, in_y);
          }
        });
      });
  for (int64_t i = 0; i < size; ++i) store(memory.at(out), i, result.type, sums[i]);
}

template <class T>
std::vector<T> list(const Descriptor* descriptor, int attribute) {
  const auto found = descriptor->values.find(attribute);
  if (found == descriptor->values.end()) return {};
  const T* first = (const T*)found->second.data();
  return std::vector<T>(first, first + found->second.size() / sizeof(T));
}

}  // namespace

API int cudnnCreate(Handle** handle) { return *handle = new Handle, kSuccess; }
API int cudnnSetStream(Handle* handle, void* stream) { return handle->stream = stream, kSuccess; }
API const char* cudnnGetErrorString(int status) {
  return status == kBadParam       ? "bad parameter"
         : status == kNotSupported ? "not supported"
                                   : "failed";
}
API int cudnnBackendCreateDescriptor(int kind, Descriptor** made) {
  if (kind != kPlan && kind != kVariantPack && kind != kProperties) return kNotSupported;
  return *made = new Descriptor{kind, {}, {}}, kSuccess;
}
API int cudnnBackendDestroyDescriptor(Descriptor* descriptor) {
  return delete descriptor, kSuccess;
}
API int cudnnBackendSetAttribute(Descriptor* descriptor, int attribute, int type, int64_t count,
                                 const void* values) {
  const size_t width = type == 24 ? 1 : 8;
  descriptor->values[attribute] = std::string((const char*)values, (size_t)count * width);
  return kSuccess;
}
API int cudnnBackendGetAttribute(Descriptor* descriptor, int attribute, int, int64_t,
                                 int64_t* count, void* values) {
  if (descriptor->kind != kPlan || attribute != kPlanWorkspace) return kNotSupported;
  return *count = 1, *(int64_t*)values = kWorkspace, kSuccess;
}
API int cudnnBackendFinalize(Descriptor* descriptor) {
  if (descriptor->kind != kPlan) return kSuccess;
  return parse(descriptor->values[kPlanText], &descriptor->what) ? kSuccess : kBadParam;
}
API int cudnnBackendExecute(Handle* handle, Descriptor* plan, Descriptor* pack) {
  const auto names = list<int64_t>(pack, kPackNames);
  const auto pointers = list<void*>(pack, kPackPointers);
  const auto workspace = list<void*>(pack, kPackWorkspace);
  std::map<std::string, void*> memory;
  for (const auto& entry : plan->what.names)
    for (size_t i = 0; i < names.size() && i < pointers.size(); ++i)
      if (names[i] == entry.second) memory[entry.first] = pointers[i];
  if (memory.size() != 3 || workspace.size() != 1 || !workspace[0]) return kBadParam;
  const auto work = [what = plan->what, memory, scratch = workspace[0]] {
    memset(scratch, 0xff, kWorkspace);
    return convolve(what, memory), 0;
  };
  return standin_push(handle->stream, work, "cudnn") ? kExecutionFailed : kSuccess;
}
