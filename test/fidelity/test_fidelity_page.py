"""The table and the pictures of `make fidelity`."""

from pathlib import Path

import pytest
from fidelity_page import BEGIN, END, PAGE, SUBJECTS, picture
from matplotlib.image import imread


def rows_on_page() -> dict[str, dict[str, tuple[str, str]]]:
    """Reference and difference on the page, by subject and quantity."""
    subjects: dict[str, dict[str, tuple[str, str]]] = {}
    for line in PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0].splitlines()[2:]:
        quantity, simulation, reference, difference = (cell.strip() for cell in line.strip("|").split("|"))
        if quantity.startswith("**"):
            rows = subjects.setdefault(quantity.strip("*"), {})
        else:
            assert simulation
            assert quantity not in rows, quantity
            rows[quantity] = reference, difference
    return subjects


# The check-cases are in test_check_cases.py, which flies them anyway.
@pytest.mark.parametrize("name", [name for name in SUBJECTS if name != "check_cases"])
def test_subject_is_drawn_and_its_comparisons_are_on_the_page(name: str, tmp_path: Path, ros_domain: int) -> None:
    if name == "turbulence":
        pytest.importorskip("jsbsim")
    assert_drawn_and_on_the_page(name, tmp_path)


def assert_drawn_and_on_the_page(name: str, folder: Path) -> None:
    pixels = imread(picture(name, folder))
    assert pixels.shape[:2] == (1000, 1600)
    # Lines and texts on a background, in every quarter.
    for row in range(2):
        for column in range(2):
            part = pixels[100 + 450 * row : 500 + 450 * row, 60 + 780 * column : 800 + 780 * column, :3]
            assert 0.005 < (part.min(axis=2) < 0.7).mean() < 0.5
    written = rows_on_page()[SUBJECTS[name].TITLE]
    assert [row.quantity for row in SUBJECTS[name].comparisons()] == list(written), "run make fidelity ARGS=--write"


def test_page_has_no_other_subjects() -> None:
    assert list(rows_on_page()) == [subject.TITLE for subject in SUBJECTS.values()]
