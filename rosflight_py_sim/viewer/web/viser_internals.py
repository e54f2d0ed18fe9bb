"""Uses of viser beyond its public interface.

`test/viewer/test_viser_internals.py` fails if a version of viser lacks one of these or behaves differently.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import viser


def show_jpeg(image: viser.GuiImageHandle, jpeg: bytes) -> None:
    """Show a JPEG file as it is; assigning `image.image` needs pixels, which viser encodes again."""
    image._data = jpeg


def jpeg_shown(image: viser.GuiImageHandle) -> bytes | None:
    """The JPEG file that the browser shows."""
    data: bytes | None = image._data
    return data


@contextlib.contextmanager
def pushing() -> Iterator[None]:
    """Guard updates of the page from threads other than viser's event loop.

    viser 1.1 wakes its loop by asyncio.Event.set() from the caller's thread. If a connection starts or stops waiting at
    that moment, the set of waiters changes during the call, which raises RuntimeError. By then the update is queued,
    and the next one wakes the loop; updates that would have followed in the guarded block are skipped.
    """
    try:
        yield
    except RuntimeError as error:
        if "mutated during iteration" not in str(error):
            raise
