"""docs/proof.md equals its generator's output from the committed results."""

from __future__ import annotations

import json
from pathlib import Path

from proof import page


def test_page_matches_committed_results() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page(page.COMMITTED), "run .venv/bin/python -m proof.page"


def test_page_shows_promises_measurements_machine_and_limits(tmp_path: Path) -> None:
    results = {
        "title": "Bad input",
        "command": "python -m proof.fuzz",
        "date": "2026-11-22",
        "machine": {"processor": "a processor", "cores": "2", "python": "3.11.2", "system": "Debian"},
        "rows": [
            {"what": "packets", "promise": "refused", "measured": "9 | 10", "holds": True},
            {"what": "files", "promise": "refused", "measured": "8 of 9", "holds": False},
            {"what": "clients", "promise": "none", "measured": "3", "holds": None},
        ],
        "notes": ["Not proven: anything else."],
    }
    (tmp_path / "fuzz.json").write_text(json.dumps(results), encoding="utf-8")
    text = page.page(tmp_path)
    assert "| [Bad input](#bad-input) | Bad input | 1 of 2 | 2026-11-22 |" in text
    assert "Measured on 2026-11-22: a processor, 2 cores, Python 3.11.2, Debian." in text
    assert "| packets | refused | 9 \\| 10 | yes |" in text
    assert "| files | refused | 8 of 9 | **no** |" in text
    assert "| clients | none | 3 |  |" in text
    assert "- Not proven: anything else." in text
    assert "not measured yet" in text
