// Graph capture and launches.
#include <stdio.h>

#include "state.h"

using namespace standin;

API CUresult cuStreamBeginCapture_v2(Stream* stream, int) {
  Lock lock(state.mutex);
  if ((uintptr_t)stream <= 2)
    return error(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the default stream cannot be captured");
  if (stream->capture)
    return error(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the stream is captured already");
  stream->capture = new Graph, stream->began_capture = true, stream->broke_capture = false;
  return CUDA_SUCCESS;
}
API CUresult cuStreamIsCapturing(Stream* stream, int* status) {
  Lock lock(state.mutex);
  return *status = stream_of(stream)->capture != nullptr, CUDA_SUCCESS;
}
API CUresult cuStreamEndCapture(Stream* stream, Graph** graph) {
  Lock lock(state.mutex);
  if (!stream->capture || !stream->began_capture)
    return error(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "no capture began on this stream");
  Graph* captured = stream->capture;
  bool broken = false;
  for (Stream* other : state.streams) {
    if (other->capture != captured) continue;
    broken |= other->broke_capture;
    other->capture = nullptr, other->began_capture = other->broke_capture = false;
  }
  *graph = broken ? nullptr : captured;
  return broken ? error(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture was broken")
                : CUDA_SUCCESS;
}

API CUresult cuGraphInstantiateWithFlags(Graph** instance, Graph* graph, unsigned long long) {
  return *instance = new Graph(*graph), CUDA_SUCCESS;
}
API CUresult cuGraphGetNodes(Graph* graph, void**, size_t* count) {
  return *count = graph->nodes.size(), CUDA_SUCCESS;
}
// Write a graphviz file; flag 1: verbose.
API CUresult cuGraphDebugDotPrint(Graph* graph, const char* path, unsigned flags) {
  FILE* file = fopen(path, "w");
  if (!file) return error(CUDA_ERROR_INVALID_VALUE, std::string("cannot write ") + path);
  fputs("digraph captured {\n", file);
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    fprintf(file, "  node%zu [label=\"%s\"];\n", i, graph->labels[i].c_str());
    if (flags & 1 && i) fprintf(file, "  node%zu -> node%zu;\n", i - 1, i);
  }
  return fputs("}\n", file), fclose(file), CUDA_SUCCESS;
}
API CUresult cuGraphUpload(Graph*, Stream*) { return CUDA_SUCCESS; }
API CUresult cuGraphLaunch(Graph* graph, Stream* stream) {
  Lock lock(state.mutex);
  ++state.counts.graphs;
  const auto nodes = std::make_shared<std::vector<Work>>(graph->nodes);
  return push(stream, [=] {
    for (const Work& node : *nodes)
      if (const CUresult status = node()) return status;
    return (CUresult)CUDA_SUCCESS;
  });
}
API CUresult cuGraphDestroy(Graph* graph) { return delete graph, CUDA_SUCCESS; }
API CUresult cuGraphExecDestroy(Graph* instance) { return delete instance, CUDA_SUCCESS; }
