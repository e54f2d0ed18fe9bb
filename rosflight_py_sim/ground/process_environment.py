"""Environment variables of a process, set before ROS 2 and numpy are imported; variables already set are kept."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import sys
from pathlib import Path

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.ros_distributions import distribution_of, rclpy_version

_RANGE, _LOCAL = "ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST"
_PROFILE, _PROFILE_OF_FAST_DDS_2 = "FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE"
_PEERS, _ADDRESS = "ROS_STATIC_PEERS", "ROSFLIGHT_PY_SIM_ADDRESS"
_LOOPBACK = "127.0.0.1"

# From linux/sockios.h and linux/if.h.
_SIOCGIFADDR, _SIOCGIFFLAGS, _IFF_RUNNING = 0x8915, 0x8913, 0x40

# By default, OpenBLAS starts a thread per core in each process, which costs a third of a node's start.
_THREADS = "OPENBLAS_NUM_THREADS"


def prepare_environment() -> None:
    """Set the variables that all processes of the package need.

    If discovery is limited to this machine, Fast DDS receives only at 127.0.0.1 and, if ROS_STATIC_PEERS names other
    machines, at the address of this machine from which it reaches them. It announces its participants every half
    second. ROS 2's discovery range alone leaves the ports of Fast DDS open on all addresses of the machine.

    Raises:
        ParameterError: ROS_STATIC_PEERS names an unknown machine, or machines in several networks.
    """
    os.environ.setdefault(_THREADS, "1")
    if os.environ.get(_RANGE, "").upper() != _LOCAL:
        return
    if _ADDRESS not in os.environ:
        # ROS 2 ignores the peers if its older variable is set.
        is_alone = os.environ.get("ROS_LOCALHOST_ONLY") == "1"
        os.environ[_ADDRESS] = _LOOPBACK if is_alone else address_towards(os.environ.get(_PEERS, ""))
    if not {_PROFILE, _PROFILE_OF_FAST_DDS_2} & os.environ.keys():
        os.environ[profile_variable(rclpy_version())] = str(Path(__file__).with_name("loopback.xml"))


def profile_variable(version: str) -> str:
    """Environment variable with the file of Fast DDS's profile, in the distribution with this version of rclpy.

    With Fast DDS 3, ROS 2 reads the variable of Fast DDS 2, too, and each node prints a warning.
    """
    found = distribution_of(version)
    return _PROFILE_OF_FAST_DDS_2 if found is not None and found.fast_dds == 2 else _PROFILE


def address_towards(peers: str) -> str:
    """IPv4 address of this machine from which it reaches the peers; 127.0.0.1 if it reaches none on other machines.

    Prints a warning if no network leads to a peer at present, because Fast DDS opens addresses only at its start.

    Args:
        peers: host names and IPv4 addresses, separated by semicolons, as in ROS_STATIC_PEERS.

    Raises:
        ParameterError: a peer is unknown, or this machine reaches two peers from two addresses.
    """
    found: dict[str, str] = {}
    for peer in filter(None, peers.split(";")):
        address = _source_address(peer)
        if address is None:
            print(
                f"environment variable {_PEERS}: no network leads to '{peer}' now, so programs that start now never "
                "reach it; start them again when the network is up",
                file=sys.stderr,
            )
        elif not address.startswith("127."):
            found.setdefault(address, peer)
    if len(found) > 1:
        text = ", ".join(f"'{peer}' from {address}" for address, peer in found.items())
        raise ParameterError(
            f"environment variable {_PEERS}: '{peers}' given, which this machine reaches from several addresses "
            f"({text}); allowed: machines of one network, or set {_ADDRESS} to the address of this machine to use"
        )
    return next(iter(found), _LOOPBACK)


def _source_address(peer: str) -> str | None:
    """Address from which this machine reaches a peer; None if no network leads to it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # This sends nothing. It only selects the route, so any port will do.
            probe.connect((peer, 7400))
        except (socket.gaierror, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ParameterError(
                f"environment variable {_PEERS}: '{peer}' given, which has no IPv4 address: {reason}; allowed: "
                "host names and IPv4 addresses, separated by semicolons"
            ) from None
        except OSError:
            return None
        address = str(probe.getsockname()[0])
        return address if _is_running(address, probe) else None


def _is_running(address: str, probe: socket.socket) -> bool:
    """Whether the interface with an address is running; Fast DDS ignores those that are not (netdevice(7))."""
    for _, name in socket.if_nameindex():
        request = struct.pack("256s", name.encode())
        try:
            own = fcntl.ioctl(probe, _SIOCGIFADDR, request)[20:24]
            (flags,) = struct.unpack("H", fcntl.ioctl(probe, _SIOCGIFFLAGS, request)[16:18])
        except OSError:
            continue  # an interface without an IPv4 address
        if socket.inet_ntoa(own) == address:
            return bool(flags & _IFF_RUNNING)
    return True


def stay_on_this_machine() -> None:
    """Prepare the environment with discovery limited to this machine and to those in ROS_STATIC_PEERS.

    Raises:
        ParameterError: as for `prepare_environment`.
    """
    os.environ.setdefault(_RANGE, _LOCAL)
    prepare_environment()
