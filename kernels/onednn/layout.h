// Array layouts and primitive attributes: owners of oneDNN's descriptors.
#pragma once
#include <initializer_list>

#include "mxcy.h"
#include "onednn/library.h"

namespace mx {
namespace onednn {

struct Extents {
  int count = 0;
  int64_t at[kMaxDims];

  Extents() = default;
  Extents(std::initializer_list<int64_t> values) {
    for (int64_t value : values) add(value);
  }
  void add(int64_t extent) { at[count++] = extent; }
};

// oneDNN's data type; 0 if it has none.
int data_type(int32_t dtype);

// Layout of an array. A default-constructed one describes an absent array.
class Layout {
 public:
  Layout() = default;
  Layout(Layout&& other) : md_(other.md_) { other.md_ = nullptr; }
  Layout& operator=(Layout&& other);
  ~Layout();

  static Layout rows(const Extents& extents, int type = kF32);  // row-major
  static Layout any(const Extents& extents, int type = kF32);   // oneDNN chooses
  // (batch, channels, two or three spatial extents) in blocks of 8 or 16 channels; 0: row-major.
  static Layout channels(const Extents& extents, int block, int type = kF32);
  // (batch, spatial..., channels), extents as of (batch, channels, spatial...).
  static Layout channels_last(const Extents& extents, int type);
  static Layout strided(const Extents& extents, const Extents& strides, int type = kF32);
  static Layout copy(Md md);

  operator Md() const { return md_; }

 private:
  static Layout tagged(const Extents& extents, int tag, int type);

  dnnl_memory_desc* md_ = nullptr;
};

// Attributes of a primitive: user-provided scratch memory, and post-ops.
class Attributes {
 public:
  Attributes();
  ~Attributes();
  Attributes(const Attributes&) = delete;
  // Adds the destination's previous contents, read as `type`.
  void sum(float scale = 1, int type = 0);
  void scales(int argument, int mask);  // an argument's scales, along the dimensions in `mask`
  void eltwise(int algorithm, float alpha, float beta);
  AttrOf get();

 private:
  dnnl_primitive_attr* attr_ = nullptr;
  dnnl_post_ops* after_ = nullptr;
};

}  // namespace onednn
}  // namespace mx
