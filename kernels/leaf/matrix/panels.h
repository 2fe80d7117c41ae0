// Operands of matrix products, and their panels: what a tile reads in order.
#pragma once
#include "leaf/simd/plane.h"
#include "leaf/simd/transpose.h"

MX_LEAF_BEGIN

// Transpose L elements (`some`: the first `cols`) of each of `rows` rows into columns `width`
// apart; missing rows are filled with zeros.
template <class T, class S, bool some>
inline void move_square(T* dst, int width, const S* src, int64_t stride, int rows, int cols) {
  if constexpr (!some && sizeof(S) == 4) return transpose_square<float>(dst, width, src, stride);
  constexpr int L = kLanes<T>;
  Vec<T> square[L];
#pragma GCC unroll 16
  for (int i = 0; i < L; ++i) {
    if (some) {
      square[i] = i < rows ? load_first_as<T>(src + i * stride, cols) : Vec<T>{};
    } else {
      square[i] = load_as<T>(src + i * stride);
    }
  }
  transpose_registers<T>(square);
#pragma GCC unroll 16
  for (int p = 0; p < L; ++p) {
    if (!some || p < cols) store(dst + p * width, square[p]);
  }
}

// dst[p * width + i] = src(i, p) for i < count and p < depth, zero for count <= i < width, where
// src(i, p) is src[i * stride + p]; `readable` rows of src exist. Writes up to a vector past the
// last element.
template <class T, class S>
inline void pack_transposed(T* dst, int width, const S* src, int64_t stride, int count,
                            int64_t depth, int64_t readable = 0) {
  constexpr int L = kLanes<T>;
  // Vectors of a narrow piece overflow into the next row, which is written after them: therefore
  // pieces are processed from last to first.
  for (int i0 = (width - 1) / L * L; i0 >= 0; i0 -= L) {
    const int rows = count - i0 < L ? (count - i0 < 0 ? 0 : count - i0) : L;
    const S* from = src + i0 * stride;
    T* to = dst + i0;
    int64_t p = 0;
    // The next rows instead of missing ones: what is written of them is overwritten.
    if (rows == L || (count == width && readable - i0 >= L)) {
      for (; p + L <= depth; p += L) {
        move_square<T, S, false>(to + p * width, width, from + p, stride, L, L);
      }
    }
    for (; (depth - p) * rows > 2 * L; p += L) {
      const int cols = depth - p < L ? (int)(depth - p) : L;
      move_square<T, S, true>(to + p * width, width, from + p, stride, rows, cols);
    }
    for (; p < depth; ++p) {
      if (rows < L) store(to + p * width, Vec<T>{});
      for (int i = 0; i < rows; ++i) to[p * width + i] = scalar_as<T>(from[i * stride + p]);
    }
  }
}

// dst[p * width + i] = src[p * stride + i] for i < count, zero for count <= i < width, of one panel
// narrower than the others.
template <class T, class S>
inline void pack_rows(T* dst, int width, const S* src, int64_t stride, int count, int64_t depth) {
  for (int64_t p = 0; p < depth; ++p) {
    for (int i = 0; i < count; ++i) dst[p * width + i] = scalar_as<T>(src[p * stride + i]);
    for (int i = count; i < width; ++i) dst[p * width + i] = 0;
  }
}

// The same for `panels` whole panels side by side, whose rows are read as one: lines of a source
// with a large stride would leave the cache between panels.
template <class T, class S>
inline void pack_whole_rows(T* dst, int width, int64_t panels, const S* src, int64_t stride,
                            int64_t depth) {
  constexpr int L = kLanes<T>;
  const int pieces = ceil_div(width, L), last = width - (pieces - 1) * L;
  // Rows of which whole vectors stay inside the source and the panel, where they are overwritten.
  const int64_t surplus = pieces * L - width;  // of a row, whose stride is at least `width`
  const int64_t whole = depth - ceil_div(surplus, width);
  const auto copy_row = [&](int64_t p, auto last_piece) MX_ALWAYS {
    for (int64_t q = 0; q < panels; ++q) {
      const S* from = src + p * stride + q * width;
      T* to = dst + (q * depth + p) * width;
      for (int w = 0; w < pieces - 1; ++w) store(to + w * L, load_as<T>(from + w * L));
      last_piece(to + (pieces - 1) * L, from + (pieces - 1) * L);
    }
  };
  int64_t p = 0;
  for (; p < whole; ++p) {
    copy_row(p, [&](T* to, const S* from) MX_ALWAYS { store(to, load_as<T>(from)); });
  }
  for (; p < depth; ++p) {
    copy_row(p, [&](T* to, const S* from)
                    MX_ALWAYS { store_first(to, load_first_as<T>(from, last), last); });
  }
}

// A matrix in memory. i runs along the side split into panels (rows of A, columns of B) and p along
// k: element (i, p) is data[p * stride + i] if i is contiguous, else data[i * stride + p].
template <class T, class S = T>
struct Matrix {
  const S* data;
  int64_t stride;
  bool i_contiguous;

  // One panel; see pack_block for `readable`.
  void pack(T* dst, int width, int64_t i0, int count, int64_t p0, int64_t depth,
            int64_t readable = 0) const {
    if (!i_contiguous) {
      pack_transposed<T>(dst, width, data + i0 * stride + p0, stride, count, depth, readable);
    } else if (count == width) {
      pack_whole_rows<T>(dst, width, 1, data + p0 * stride + i0, stride, depth);
    } else {
      pack_rows<T>(dst, width, data + p0 * stride + i0, stride, count, depth);
    }
  }
  Matrix from(int64_t i) const {
    return {data + (i_contiguous ? i : i * stride), stride, i_contiguous};
  }
  // Pointer to the panel at (i, p) if it needs no packing (row stride `stride`), else NULL.
  const T* in_place(int64_t i, int64_t p) const {
    if constexpr (sizeof(S) == sizeof(T)) {
      if (i_contiguous) return data + p * stride + i;
    }
    return nullptr;
  }
  // Pointer to the row from (i, p) on if k is contiguous, else NULL.
  const T* row_in_place(int64_t i, int64_t p) const {
    if constexpr (sizeof(S) == sizeof(T)) {
      if (!i_contiguous) return data + i * stride + p;
    }
    return nullptr;
  }
};
template <class A>
constexpr bool is_matrix = false;
template <class T, class S>
constexpr bool is_matrix<Matrix<T, S>> = true;

// Pack `count` rows or columns of an operand from i0 on, along k from p0 on, into panels of `width`
// one after the other; the last one is `narrow` wide if the others leave a rest.
template <class T, class Operand>
inline void pack_block(const Operand& operand, T* dst, int width, int narrow, int64_t i0,
                       int64_t count, int64_t p0, int64_t depth) {
  constexpr int64_t kTogether = 8;  // more streams that are written push each other out
  int64_t i = 0;
  if constexpr (is_matrix<Operand>) {
    for (; operand.i_contiguous && i + width <= count;) {
      const int64_t panels = least(kTogether, (count - i) / width);
      pack_whole_rows<T>(dst + i * depth, width, panels,
                         operand.data + p0 * operand.stride + i0 + i, operand.stride, depth);
      i += panels * width;
    }
  }
  for (; i < count; i += width) {
    const bool whole = i + width <= count;
    const int some = whole ? width : (int)(count - i);
    if constexpr (is_matrix<Operand>) {
      operand.pack(dst + i * depth, whole ? width : narrow, i0 + i, some, p0, depth, count - i);
    } else {
      operand.pack(dst + i * depth, whole ? width : narrow, i0 + i, some, p0, depth);
    }
  }
}

// The weights (hidden x depth) of a dense layer in panels of two vectors' width, one after the
// other.
inline void pack_panels(int threads, int64_t hidden, int64_t depth, const float* weights,
                        float* panels) {
  constexpr int kWidth = 2 * kLanes<float>;
  const Matrix<float> source = {weights, depth, false};
  parallel_for(threads, hidden, kWidth, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; j += kWidth) {
      source.pack(panels + j * depth, kWidth, j, (int)least(kWidth, hidden - j), 0, depth);
    }
  });
}

MX_LEAF_END
