"""The page that `make fidelity` draws."""

from pathlib import Path

from draw import draw_page
from matplotlib.image import imread


def test_page_shows_every_comparison_with_its_figures(tmp_path: Path) -> None:
    table, path = draw_page("aerosonde", tmp_path)
    quantities = list(table.columns[0].cells)
    for quantity in ("short period", "spiral, 400 Hz", "throttle", "glide ratio, no propeller", "load factor"):
        assert quantity in quantities
    pixels = imread(path)
    assert pixels.shape[:2] == (1000, 1600)
    # Lines and texts on a background, in each of the twelve panels.
    for row in range(3):
        for column in range(4):
            panel = pixels[100 + 300 * row : 380 + 300 * row, 60 + 390 * column : 400 + 390 * column, :3]
            assert 0.005 < (panel.min(axis=2) < 0.7).mean() < 0.5
