"""viser still has the private names that `viser_internals.py` uses, with the same meaning."""

from __future__ import annotations

import zipfile
from typing import Any

import numpy as np
import pytest
import viser

from rosflight_py_sim.viewer.web.server import open_server, stop_server
from rosflight_py_sim.viewer.web.viser_internals import jpeg_shown, show_jpeg

CHANGED = "viser has changed: mend rosflight_py_sim/viewer/web/viser_internals.py"
JPEG = b"\xff\xd8\xff"


def test_image_handle_stores_the_encoded_file_shown_by_the_browser() -> None:
    server = open_server("127.0.0.1", 0, "test")
    try:
        image = server.gui.add_image(np.zeros((2, 2, 3), dtype=np.uint8))
        encoded = jpeg_shown(image)
        assert encoded is not None and encoded.startswith(JPEG), f"GuiImageHandle._data is no JPEG file; {CHANGED}"
        show_jpeg(image, JPEG + b"another")
        assert jpeg_shown(image) == JPEG + b"another", CHANGED
        image.image = np.zeros((2, 2, 3), dtype=np.uint8)
        assert jpeg_shown(image) == encoded, f"assigning an image does not assign GuiImageHandle._data; {CHANGED}"
    finally:
        stop_server(server)


def test_icon_archive_is_opened_at_most_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    open_archive = zipfile.ZipFile.__init__

    def counted(self: zipfile.ZipFile, *arguments: Any, **options: Any) -> None:
        opened.append(self)
        open_archive(self, *arguments, **options)

    server = open_server("127.0.0.1", 0, "test")
    try:
        monkeypatch.setattr(zipfile.ZipFile, "__init__", counted)
        # Icons of no viewer: viser keeps those that it has read.
        for icon in (viser.Icon.ABACUS, viser.Icon.ANCHOR, viser.Icon.BUTTERFLY):
            server.gui.add_button("", icon=icon)
        assert len(opened) <= 1, CHANGED
    finally:
        stop_server(server)
