// cast.h: conversion of runs of elements between any two dtypes.
#pragma once
#include "leaf/leaf.h"

MX_LEAF_BEGIN

// Elements per block when a kernel computes on converted copies on the stack.
constexpr int kBlock = 1024;

typedef void (*CastRow)(void* dst, const void* src, int64_t n);
CastRow cast_row(int32_t to, int32_t from);
int element_size(int32_t dtype);

MX_LEAF_END
