"""Messages between a loader and its worker processes, with arrays in shared memory.

A message is one socket packet. Large content is passed by file descriptor: arrays in shared memory
directly, all others copied to one segment created for the message. Packets are therefore small, and
the receiver owns the content even if the sender has exited.
"""

import errno
import io
import pickle
import socket
import time
from array import array
from multiprocessing.reduction import ForkingPickler

import numpy as np

from mxcy._library.shared_memory import Segment
from mxcy.base import MXNetError
from mxcy.ndarray import NDArray
from mxcy.ndarray._exchange.sharing import over, segment_of

__all__ = ["Channel", "Message", "Packet", "channels"]

_SMALL = 4096  # arrays of up to this many bytes are pickled, which is cheaper than a segment
_MAX_BODY = 16384  # largest pickle, in bytes, that is sent in the packet itself
_MAX_SEGMENTS = 16  # segments of arrays per message; further arrays are copied
_PACKET = 1 << 16
_RIGHTS = socket.CMSG_SPACE((_MAX_SEGMENTS + 1) * array("i").itemsize)


class _Pickler(ForkingPickler):
    """Pickler that leaves out array data; `buffers` lists (array or None, its bytes)."""

    def __init__(self, file):
        self.buffers, self._arrays = buffers, arrays = [], {}

        def set_aside(buffer):  # a method would create a reference cycle that keeps arrays alive
            octets = buffer.raw()
            if octets.nbytes < _SMALL:
                return True
            owner, _ = arrays.get(id(buffer), (None, None))
            buffers.append((owner, octets))
            return False

        super().__init__(file, 5, True, set_aside)

    def reducer_override(self, value):
        if not isinstance(value, NDArray):
            return NotImplemented
        octets = value.numpy_view().reshape(-1).view(np.uint8)
        buffer = pickle.PickleBuffer(octets)
        self._arrays[id(buffer)] = value, buffer  # keeps the buffer alive, so its id stays unique
        return _array, (type(value), value.shape, value.dtype_code, buffer)


def _array(cls, shape, dtype, buffer):
    """Rebuild an array over the bytes of a buffer."""
    memory = memoryview(buffer)
    return over(cls, memoryview(bytearray(memory)) if memory.readonly else memory, shape, dtype)


class Packet:
    """A serialized message, ready to send.

    Parameters
    ----------
    tag : object
        A few numbers or words that the receiver can read without unpickling the content.
    content : object
        Any picklable object.

    Raises
    ------
    MXNetError
        If shared memory is exhausted.
    """

    def __init__(self, tag, content):
        file = io.BytesIO()
        pickler = _Pickler(file)
        pickler.dump(content)
        self._segments = []
        loose = _Bundle()
        places = [self._place(owner, octets, loose) for owner, octets in pickler.buffers]
        body = pickle.dumps((places, file.getvalue()), 5)
        where = None
        if len(body) > _MAX_BODY:
            where, body = loose.add(body), None
        if loose.size:
            self._segments.append(loose.segment())
        for segment in self._segments:
            segment.lend()
        sizes = [segment.size for segment in self._segments]
        self.octets = pickle.dumps((tag, sizes, where, body), 5)

    def _place(self, owner, octets, loose):
        """Location of an array's bytes for the receiver: (segment index, offset, size)."""
        segment = None if owner is None else segment_of(owner)
        if segment is not None and segment not in self._segments:
            if len(self._segments) < _MAX_SEGMENTS:
                self._segments.append(segment)
        if segment in self._segments:
            owner.export()
            place = owner.address - segment.address
            return self._segments.index(segment), place, octets.nbytes
        return -1, loose.add(octets), octets.nbytes

    @property
    def rights(self):
        """list of tuple: the segments' descriptors, as ancillary data for `socket.sendmsg`."""
        numbers = array("i", [segment.fd for segment in self._segments])
        return [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)]


class _Bundle:
    """Collects bytes to copy into one segment."""

    def __init__(self):
        self.size = 0
        self._parts = []

    def add(self, octets):
        """Add bytes; return their offset."""
        place = self.size
        self._parts.append((place, octets))
        self.size = -(-(place + len(octets)) // 64) * 64
        return place

    def segment(self):
        """Create the segment."""
        segment = Segment(self.size)
        for place, octets in self._parts:
            segment.view(place, len(octets))[:] = octets
        return segment


class Message:
    """A received message.

    Parameters
    ----------
    octets : bytes
        A packet.
    descriptors : list of int
        File descriptors received with it.

    Attributes
    ----------
    tag : object
        The sender's tag.
    """

    def __init__(self, octets, descriptors):
        self.tag, sizes, self._where, self._body = pickle.loads(octets)
        if len(descriptors) != len(sizes):
            raise MXNetError(
                f"a worker sent {len(sizes)} file descriptors, of which "
                f"{len(descriptors)} arrived: too many open files"
            )
        self._segments = []
        for fd, size in zip(descriptors, sizes, strict=True):
            self._segments.append(Segment.attached(fd, size, keep=False, lent=True))

    def open(self):
        """Return the content; its arrays keep their shared memory alive."""
        body = self._body
        if body is None:
            last = self._segments[-1]
            body = last.view(self._where, last.size - self._where)
        places, content = pickle.loads(body)
        buffers = [self._segments[number].view(first, size) for number, first, size in places]
        return pickle.loads(content, buffers=buffers)


class Channel:
    """One end of a connection between two processes; `channels` makes both."""

    def __init__(self, end):
        self._end = end

    def fileno(self):
        """The file descriptor, for `select.poll`."""
        return self._end.fileno()

    def send(self, packet, wait=True):
        """Send a packet.

        Returns
        -------
        bool
            False if the peer's buffer is full and `wait` is False.

        Raises
        ------
        OSError
            If the peer has gone.
        """
        while True:
            try:
                flags = 0 if wait else socket.MSG_DONTWAIT
                self._end.sendmsg([packet.octets], packet.rights, flags)
                return True
            except BlockingIOError:
                return False
            except OSError as error:
                if error.errno != errno.ETOOMANYREFS:
                    raise
                time.sleep(0.01)  # until the peer has received some descriptors

    def receive(self, wait=True):
        """Return the next message; None if there is none and `wait` is False.

        Raises
        ------
        EOFError
            If the peer has closed the connection or exited.
        """
        flags = socket.MSG_CMSG_CLOEXEC | (0 if wait else socket.MSG_DONTWAIT)
        try:
            octets, rights, _, _ = self._end.recvmsg(_PACKET, _RIGHTS, flags)
        except BlockingIOError:
            return None
        except ConnectionError as error:
            raise EOFError from error
        if not octets:
            raise EOFError
        return Message(octets, [fd for _, _, numbers in rights for fd in array("i", numbers)])

    def close(self):
        """Close this end."""
        self._end.close()


def channels():
    """Create two connected channels."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    return tuple(map(Channel, ends))
