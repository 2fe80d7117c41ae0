"""Images per second of `ImageRecordIter` and of a plain OpenCV loop with as many threads.

Both decode JPEG files of 500 x 375 pixels from one RecordIO file, resize them to a shorter side of
256 and crop 224 x 224; the loop keeps bytes, `ImageRecordIter` produces
normalised float32 planes in batches of 32. They are interleaved in one run.
"""

import statistics
import threading
import time

import numpy as np
import pytest

import mxcy as mx
from mxcy import recordio

cv2 = pytest.importorskip("cv2", reason="images need the extra 'image'")

IMAGES, BATCH, SHORTER, SIZE = 512, 32, 256, 224


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """A RecordIO file of images with the detail of photographs, about 70 kB each."""
    path = str(tmp_path_factory.mktemp("images") / "photos.rec")
    rng = np.random.RandomState(0)
    writer = recordio.MXRecordIO(path, "w")
    for number in range(IMAGES):
        pixels = sum(
            cv2.resize(rng.uniform(0, 255, (375 // d, 500 // d, 3)), (500, 375)) * share
            for d, share in ((125, 0.5), (25, 0.3), (5, 0.1), (2, 0.1))
        )
        header = recordio.IRHeader(0, float(number % 10), number, 0)
        writer.write(recordio.pack_img(header, pixels.astype(np.uint8), quality=95))
    writer.close()
    return path


def plain_loop(path, threads):
    """Time threads that share a file and only read, decode, resize and crop, in seconds."""
    reader, lock = recordio.MXRecordIO(path, "r"), threading.Lock()
    batch = np.empty((BATCH, SIZE, SIZE, 3), np.uint8)

    def work():
        place = 0
        while True:
            with lock:
                record = reader.read()
            if record is None:
                return
            pixels = cv2.imdecode(np.frombuffer(recordio.unpack(record)[1], np.uint8), 1)
            height, width = pixels.shape[:2]
            pixels = cv2.resize(pixels, (SHORTER * width // height, SHORTER))
            top, left = (pixels.shape[0] - SIZE) // 2, (pixels.shape[1] - SIZE) // 2
            batch[place] = pixels[top : top + SIZE, left : left + SIZE]
            place = (place + 1) % BATCH

    workers = [threading.Thread(target=work) for _ in range(threads)]
    before = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.perf_counter() - before


def whole_epoch(iterator):
    """Time an epoch, in seconds."""
    before = time.perf_counter()
    iterator.reset()
    seen = sum(batch.data[0].shape[0] - batch.pad for batch in iterator)
    mx.nd.waitall()
    assert seen == IMAGES
    return time.perf_counter() - before


@pytest.mark.parametrize("threads", [1, 2])
def test_image_record_iter(records, threads, announce, benchmark, request):
    iterator = mx.io.ImageRecordIter(
        path_imgrec=records,
        data_shape=(3, SIZE, SIZE),
        batch_size=BATCH,
        resize=SHORTER,
        preprocess_threads=threads,
        mean_r=123.68,
        mean_g=116.28,
        mean_b=103.53,
        std_r=58.4,
        std_g=57.1,
        std_b=57.4,
        verbose=False,
    )
    whole_epoch(iterator)
    rounds = max(3, request.config.getoption("--rounds") // 3)
    pairs = [(whole_epoch(iterator), plain_loop(records, threads)) for _ in range(rounds)]
    ours, plain = (IMAGES / statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = statistics.median(loop / epoch for epoch, loop in pairs)
    benchmark.extra_info.update(
        images_per_second=round(ours), plain_loop=round(plain), ratio=round(ratio, 3)
    )
    announce(
        f"ImageRecordIter, {threads} thread(s)",
        [f"{ours:.0f} images/s, plain loop {plain:.0f} images/s, {100 * ratio:.0f} %"],
    )
    benchmark.pedantic(whole_epoch, (iterator,), rounds=1)
