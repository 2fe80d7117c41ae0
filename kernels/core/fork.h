// Support for forked child processes.
#pragma once
#include <mutex>

namespace mx {

// A lock that no other thread holds during a fork, so that the child finds it free and the data it
// guards consistent. All of them are acquired before a fork, in no fixed order: the holder of one
// may be waiting for another.
struct HeldInForks {
  HeldInForks(bool (*take)(HeldInForks*), void (*give)(HeldInForks*));
  ~HeldInForks();
  HeldInForks(const HeldInForks&) = delete;
  HeldInForks& operator=(const HeldInForks&) = delete;

  bool (*const try_take)(HeldInForks*);
  void (*const give_back)(HeldInForks*);
  HeldInForks *before, *after;  // in the list of all such locks
};

// A std::mutex, or another lock type, that is held during forks.
template <class Lock>
class ForkSafe : public Lock, private HeldInForks {
 public:
  ForkSafe() : HeldInForks(take, give) {}

 private:
  static bool take(HeldInForks* self) { return static_cast<ForkSafe*>(self)->try_lock(); }
  static void give(HeldInForks* self) { static_cast<ForkSafe*>(self)->unlock(); }
};
typedef ForkSafe<std::mutex> ForkSafeMutex;

// Whether this process is a child of the one that loaded the library. OpenMP's team does not exist
// there, and a parallel region would wait for it forever.
bool forked();
int forks();  // number of forks between the two processes

}  // namespace mx
