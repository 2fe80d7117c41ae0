// Steps of the optimizers that have both a dense and a row-wise update: see updates.h.
//
// Every formula rounds exactly where MXNet 1.9.1 does, so that float results agree bit for bit.
#pragma once
#include "leaf/optimizer/updates.h"
#include "params/optimizer.gen.h"

MX_LEAF_BEGIN

template <class V>
MX_INLINE V sign(V x) {
  return truth<V>(x > 0) - truth<V>(x < 0);
}

template <class T>
struct Sgd {
  static constexpr int states = 0;
  T lr, decay, rescale, bound;
  explicit Sgd(const mx_sgd_params& p)
      : Sgd((T)p.lr, (T)p.wd, (T)p.rescale_grad, (T)p.clip_gradient) {}
  Sgd(T lr, T wd, T rescale, T bound)
      : lr(lr), decay(1 - lr * wd), rescale(rescale), bound(bound) {}
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T>*) const {
    return decay * w - lr * clip(rescale * g, bound);
  }
};

template <class T>
struct SgdMom {
  static constexpr int states = 1;
  T lr, decay, rescale, bound, momentum;
  explicit SgdMom(const mx_sgd_mom_params& p)
      : SgdMom((T)p.lr, (T)p.wd, (T)p.rescale_grad, (T)p.clip_gradient, (T)p.momentum) {}
  SgdMom(T lr, T wd, T rescale, T bound, T momentum)
      : lr(lr), decay(lr * wd), rescale(rescale), bound(bound), momentum(momentum) {}
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T>* state) const {
    state[0] = momentum * state[0] - decay * w - lr * clip(rescale * g, bound);
    return w + state[0];
  }
};

template <class T>
struct NagMom {
  static constexpr int states = 1;
  T lr, wd, rescale, bound, momentum;
  explicit NagMom(const mx_sgd_mom_params& p)
      : lr((T)p.lr),
        wd((T)p.wd),
        rescale((T)p.rescale_grad),
        bound((T)p.clip_gradient),
        momentum((T)p.momentum) {}
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T>* state) const {
    const Vec<T> old = momentum * state[0];
    g = clip(rescale * g, bound);
    w = w - old + (momentum + 1) * (old - lr * (g + wd * w));
    state[0] = old - lr * (g + wd * w);  // of the new weight, as in MXNet
    return w;
  }
};

template <class T>
struct Adam {
  static constexpr int states = 2;
  T lr, wd, rescale, bound, beta1, beta2, epsilon;
  explicit Adam(const mx_adam_params& p)
      : lr((T)p.lr),
        wd((T)p.wd),
        rescale((T)p.rescale_grad),
        bound((T)p.clip_gradient),
        beta1((T)p.beta1),
        beta2((T)p.beta2),
        epsilon((T)p.epsilon) {}
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T>* state) const {
    g = clip(g * rescale + wd * w, bound);
    state[0] = beta1 * state[0] + (1 - beta1) * g;
    state[1] = beta2 * state[1] + (1 - beta2) * g * g;
    return w - lr * state[0] / (sqrt(state[1]) + epsilon);
  }
};

// AdamW and AdaBelief: the gradient's scale is an input; a non-finite one skips the update.
template <class T>
struct ScaledAdam {
  static constexpr int states = 2;
  T lr, wd, eta, bound, beta1, beta2, epsilon, rescale;
  bool skips;
  ScaledAdam(const mx_adamw_params& p, float rescale)
      : lr((T)p.lr),
        wd((T)p.wd),
        eta((T)p.eta),
        bound((T)p.clip_gradient),
        beta1((T)p.beta1),
        beta2((T)p.beta2),
        epsilon((T)p.epsilon),
        rescale((T)rescale),
        skips(rescale - rescale != 0 || rescale == 0) {}
};
template <class T>
struct AdamW : ScaledAdam<T> {
  using ScaledAdam<T>::ScaledAdam;
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T>* state) const {
    if (this->skips) return w;
    g = clip(g * this->rescale, this->bound);
    state[0] = this->beta1 * state[0] + (1 - this->beta1) * g;
    state[1] = this->beta2 * state[1] + (1 - this->beta2) * (g * g);
    const Vec<T> step = this->lr * state[0] / (sqrt(state[1]) + this->epsilon);
    return w - this->eta * (step + this->wd * w);
  }
};
template <class T>
struct AdaBelief : ScaledAdam<T> {
  using ScaledAdam<T>::ScaledAdam;
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T>* state) const {
    if (this->skips) return w;
    g = clip(g * this->rescale + this->wd * w, this->bound);
    state[0] = this->beta1 * state[0] + (1 - this->beta1) * g;
    const Vec<T> surprise = g - state[0];
    state[1] = this->beta2 * state[1] + (1 - this->beta2) * (surprise * surprise) + this->epsilon;
    return w - this->eta * (this->lr * state[0] / (sqrt(state[1]) + this->epsilon));
  }
};

template <class T>
struct Ftrl {
  static constexpr int states = 2;
  T lr, wd, rescale, bound, lamda, beta;
  explicit Ftrl(const mx_ftrl_params& p)
      : lr((T)p.lr),
        wd((T)p.wd),
        rescale((T)p.rescale_grad),
        bound((T)p.clip_gradient),
        lamda((T)p.lamda1),
        beta((T)p.beta) {}
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T>* state) const {
    g = clip(rescale * g, bound);
    const Vec<T> total = state[1] + g * g, root = sqrt(total);
    const Vec<T> z = state[0] + g - (root - sqrt(state[1])) * w / lr;
    state[0] = z;
    state[1] = total;
    const Vec<T> out = (sign(z) * lamda - z) / ((beta + root) / lr + wd);
    return max(z, -z) > lamda ? out : Vec<T>{};
  }
};

template <class T>
struct AdaGrad {
  static constexpr int states = 1;
  T lr, wd, rescale, bound, epsilon;
  explicit AdaGrad(const mx_adagrad_params& p)
      : lr((T)p.lr),
        wd((T)p.wd),
        rescale((T)p.rescale_grad),
        bound((T)p.clip_gradient),
        epsilon((T)p.epsilon) {}
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T>* state) const {
    g = clip(rescale * g, bound);
    state[0] += g * g;
    return w - lr * (g / sqrt(state[0] + epsilon) + wd * w);
  }
};

MX_LEAF_END
