"""A network cable that delays each packet: two TAP interfaces, and a program that passes their packets on.

    python -m benchmarks.delayed_cable INTERFACE NAMESPACE NAMESPACE MILLISECONDS

The program creates an interface of this name in each network namespace (a file such as /proc/1234/ns/net), and prints
"ready". It needs /dev/net/tun and the right to administer both networks. Linux's own tc-netem(8) delays packets too,
but not every kernel has it.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import select
import struct
import sys
import time
from collections import deque

# From linux/if_tun.h and sched.h.
_TUNSETIFF = 0x400454CA
_IFF_TAP, _IFF_NO_PI = 0x0002, 0x1000
_CLONE_NEWNET = 0x40000000

_LONGEST_PACKET = 65536

_C_LIBRARY = ctypes.CDLL(None, use_errno=True)


def tap(name: str, namespace: str) -> int:
    """File descriptor of a new TAP interface in a network namespace, which this process enters.

    Raises:
        OSError: the namespace cannot be entered, or there are no TAP interfaces.
    """
    space = os.open(namespace, os.O_RDONLY)
    if _C_LIBRARY.setns(space, _CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), namespace)
    os.close(space)
    made = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(made, _TUNSETIFF, struct.pack("16sH", name.encode("ascii"), _IFF_TAP | _IFF_NO_PI))
    return made


def pass_on(ends: tuple[int, int], delay_s: float) -> None:
    """Pass each packet on to the other end after a time, until the process is ended."""
    other = {ends[0]: ends[1], ends[1]: ends[0]}
    # In the order of arrival, which is that of departure: time of departure (s), end and packet.
    waiting: deque[tuple[float, int, bytes]] = deque()
    while True:
        while waiting and waiting[0][0] <= time.monotonic():
            _, end, packet = waiting.popleft()
            try:
                os.write(end, packet)
            except OSError as error:
                if error.errno != errno.EIO:  # the interface is down: an unplugged cable loses its packets
                    raise
        wait_s = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for end in select.select(ends, [], [], wait_s)[0]:
            waiting.append((time.monotonic() + delay_s, other[end], os.read(end, _LONGEST_PACKET)))


def main() -> None:
    """Run the program."""
    name, one, two, milliseconds = sys.argv[1:]
    try:
        ends = tap(name, one), tap(name, two)
    except OSError as error:
        sys.exit(f"no TAP interfaces: {error}")
    print("ready", flush=True)
    pass_on(ends, 1e-3 * float(milliseconds))


if __name__ == "__main__":
    main()
