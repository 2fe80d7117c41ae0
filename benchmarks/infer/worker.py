"""The process of one contender; see `benchmarks.score.worker` for its protocol."""

import sys

from benchmarks.score.worker import Session, serve


class Inference(Session):
    package = "benchmarks.infer"


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), Inference)
