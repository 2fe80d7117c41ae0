// Registers the kernels of every family in families.def, in this ISA level's build.
#include "leaf/leaf.h"

MX_LEAF_BEGIN
#define MX_FAMILY(name) void register_##name();
#include "families.def"
#undef MX_FAMILY

void register_leaf() {
#define MX_FAMILY(name) register_##name();
#include "families.def"
#undef MX_FAMILY
}
MX_LEAF_END
