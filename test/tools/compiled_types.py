"""Type hashes of compiled messages, services and actions."""

from __future__ import annotations

import ctypes


class _TypeHash(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint8), ("value", ctypes.c_uint8 * 32))


def compiled_hash(name: str) -> str:
    """Hash that the compiled type support of a type, such as std_msgs/msg/Bool, announces to other nodes."""
    library = ctypes.CDLL(f"lib{name.partition('/')[0]}__rosidl_generator_c.so")
    function = library[name.replace("/", "__") + "__get_type_hash"]
    function.argtypes = [ctypes.c_void_p]
    function.restype = ctypes.POINTER(_TypeHash)
    type_hash = function(None).contents
    return f"RIHS{type_hash.version:02d}_{bytes(type_hash.value).hex()}"
