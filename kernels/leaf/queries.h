// queries.h: helpers for answering queries about calls: whether a call is accepted, and its
// workspace size.
#pragma once
#include "leaf/leaf.h"

MX_LEAF_BEGIN

typedef int64_t (*Query)(const mx_call* call, int32_t what);

inline void add_with_query(const char* name, mx_kernel kernel, uint32_t dtypes, Query query) {
  const mx_kernel_extra extra = {nullptr, nullptr, query};
  mx_kernel_add(name, kernel, dtypes, 0);
  mx_kernel_extend(name, &extra);
}

// The answer of a kernel that rejects a call.
inline int64_t refused(const char* kernel, const char* reason, int32_t what) {
  mx_fail("%s: %s", kernel, reason);
  return what == MX_QUERY_ACCEPTS ? 0 : -1;
}

// The workspace needed for either team size, as the caller has not chosen one yet.
template <class F>
int64_t workspace_of_any_team(const F& workspace) {
  const int64_t alone = workspace(1), team = workspace(mx_threads());
  return alone > team ? alone : team;
}

// The threads for which a call's workspace is large enough: its own, or one if the team has grown
// since the workspace was sized; 0 if it is too small.
template <class F>
int threads_with_room(const mx_call* call, const F& workspace) {
  const int64_t room = (int64_t)call->workspace_size;
  return room >= workspace(call->threads) ? call->threads : room >= workspace(1) ? 1 : 0;
}

MX_LEAF_END
