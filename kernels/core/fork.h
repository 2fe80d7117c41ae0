// What keeps a forked child working.
#pragma once
#include <mutex>

namespace mx {

// A lock that no other thread holds while the process forks, so that the child finds it free and
// what it guards whole. Before a fork all of them are taken, in no fixed order: whoever holds one
// may wait for another.
struct HeldInForks {
  HeldInForks(bool (*take)(HeldInForks*), void (*give)(HeldInForks*));
  ~HeldInForks();
  HeldInForks(const HeldInForks&) = delete;
  HeldInForks& operator=(const HeldInForks&) = delete;

  bool (*const try_take)(HeldInForks*);
  void (*const give_back)(HeldInForks*);
  HeldInForks *before, *after;  // in the list of all
};

// A std::mutex, or a lock of another type, that is held in forks.
template <class Lock>
class ForkSafe : public Lock, private HeldInForks {
 public:
  ForkSafe() : HeldInForks(take, give) {}

 private:
  static bool take(HeldInForks* self) { return static_cast<ForkSafe*>(self)->try_lock(); }
  static void give(HeldInForks* self) { static_cast<ForkSafe*>(self)->unlock(); }
};
typedef ForkSafe<std::mutex> ForkSafeMutex;

// Whether this process is a child of the one that loaded the library. The threads of OpenMP's team
// did not come along, and a parallel region would wait for them forever.
bool forked();
int forks();  // how many forks lie between the two

}  // namespace mx
