// Valid lengths of the sequences; all steps are valid without this input.
#pragma once
#include "leaf/recurrent/shape.h"

MX_LEAF_BEGIN

class Lengths {
 public:
  template <class T>
  Lengths(const RnnShape& s, const mx_tensor* values, T* memory)
      : steps_(s.lengths ? (int64_t*)memory : nullptr) {
    for (int64_t n = 0; steps_ && n < s.batch; ++n) {
      int64_t count = 0;
      while (count < s.steps && (double)count < read(*values, n)) ++count;
      steps_[n] = count;
    }
  }
  bool given() const { return steps_ != nullptr; }
  int64_t of(int64_t n) const { return steps_[n]; }
  bool end_before(int64_t n, int64_t step) const { return steps_ && step >= steps_[n]; }

  // Elements of type T that hold them.
  template <class T>
  static int64_t size(const RnnShape& s) {
    return s.lengths ? s.batch * (int64_t)(sizeof(int64_t) / sizeof(T)) : 0;
  }

 private:
  static double read(const mx_tensor& t, int64_t n) {
    switch (t.dtype) {
      case MX_F32:
        return data<float>(t)[n];
      case MX_F64:
        return data<double>(t)[n];
      case MX_I32:
        return data<int32_t>(t)[n];
      default:
        return (double)data<int64_t>(t)[n];
    }
  }
  int64_t* steps_;
};

MX_LEAF_END
