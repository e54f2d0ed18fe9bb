"""Searches: a failing case is found and reduced, and the same one whatever happens to the workers."""

from __future__ import annotations

import io
import math
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import sample_searches
from rich.console import Console
from sample_searches import write_search

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.search.execution import Findings, read_property, search, searched_sweep, stored_row
from rosflight_py_sim.search.summary import summary
from rosflight_py_sim.sweep.definition import Row, Run, Sweep
from rosflight_py_sim.sweep.store import SweepError
from rosflight_py_sim.sweep.sweep_file import read_sweep
from rosflight_py_sim.sweep.workers import Fly

pytestmark = pytest.mark.timeout(300)


def found(
    file: Path,
    folder: Path,
    fly: Fly = sample_searches.fly_corner,
    *,
    workers: int = 1,
    seed: int | None = None,
    budget: int | None = None,
) -> Findings:
    sweep = read_sweep(file)
    findings = Findings()
    console = Console(file=io.StringIO())
    chosen = searched_sweep(sweep, seed=seed, budget=budget)
    search(chosen, folder, fly, findings, digest=sweep.digest, workers=workers, console=console)
    return findings


def in_words(file: Path, findings: Findings) -> str:
    sweep = read_sweep(file)
    return summary(sweep, read_property(sweep), findings)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Findings]:
    """Folder and findings of a search with one worker."""
    folder = tmp_path_factory.mktemp("expected")
    return folder / "out", found(write_search(folder), folder / "out")


def table(folder: Path) -> bytes:
    return (folder / "table.parquet").read_bytes()


def test_smallest_case_has_nominal_values_of_all_that_has_no_effect(expected: tuple[Path, Findings]) -> None:
    findings = expected[1]
    assert findings.is_complete and findings.smallest is not None and findings.nominal is not None
    values, nominal = findings.smallest.run.values, findings.nominal.run.values
    assert values["gyro_stdev"] == nominal["gyro_stdev"]
    assert values["mass"] > nominal["mass"] and values["CD"] < nominal["CD"]


def test_smallest_case_is_at_the_limit_of_the_property(expected: tuple[Path, Findings]) -> None:
    findings = expected[1]
    assert findings.found is not None and findings.smallest is not None
    robustness = findings.smallest.measures["robustness"]
    # A halving of the deviation, seven times after others, and rounding to three digits.
    assert findings.found.measures["robustness"] <= robustness < 0.0
    assert robustness > -0.05


def test_search_needs_few_flights(expected: tuple[Path, Findings]) -> None:
    # A random draw breaks the property in 1 of 60 flights.
    assert expected[1].searched <= 60


@pytest.mark.parametrize(
    ("fly", "workers"),
    [(sample_searches.fly_corner, 2), (sample_searches.fly_out_of_order, 3), (sample_searches.kill_once, 2)],
)
def test_table_does_not_depend_on_the_workers(
    tmp_path: Path, expected: tuple[Path, Findings], fly: Fly, workers: int
) -> None:
    findings = found(write_search(tmp_path), tmp_path / "out", fly, workers=workers)
    assert table(tmp_path / "out") == table(expected[0])
    assert findings == expected[1]


def test_seed_determines_the_search(tmp_path: Path, expected: tuple[Path, Findings]) -> None:
    file = write_search(tmp_path, seed=9)
    assert found(file, tmp_path / "other").smallest != expected[1].smallest
    again = found(file, tmp_path / "same", seed=1)
    assert again.smallest == expected[1].smallest


def test_complete_search_is_not_flown_again(tmp_path: Path, expected: tuple[Path, Findings]) -> None:
    file = write_search(tmp_path)
    assert found(file, tmp_path / "out") == found(file, tmp_path / "out", sample_searches.fly_anywhere)


class InterruptError(Exception):
    """In place of Ctrl-C."""


def test_interrupted_search_keeps_what_it_found_and_continues(
    tmp_path: Path, expected: tuple[Path, Findings], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rosflight_py_sim.search.shrinking import Shrinking

    file = write_search(tmp_path)
    sweep = read_sweep(file)
    findings = Findings()

    def interrupt(self: Shrinking, failing: Row) -> None:
        raise InterruptError

    with monkeypatch.context() as patch:
        patch.setattr(Shrinking, "smaller", interrupt)
        with pytest.raises(InterruptError):
            search(
                searched_sweep(sweep),
                tmp_path / "out",
                sample_searches.fly_corner,
                findings,
                digest=sweep.digest,
                workers=1,
                console=Console(file=io.StringIO()),
            )
    assert findings.smallest is not None and not findings.is_complete
    assert "smallest failing case so far" in in_words(file, findings)
    assert found(file, tmp_path / "out") == expected[1]
    assert table(tmp_path / "out") == table(expected[0])


def test_search_without_failing_case_uses_its_budget(tmp_path: Path) -> None:
    file = write_search(tmp_path)
    findings = found(file, tmp_path / "out", sample_searches.fly_safely, budget=30)
    assert findings.is_complete and findings.smallest is None and findings.flights == 30
    assert "no flight of 30 breaks it\nleast robustness: 0.5, flight " in in_words(file, findings)


def test_property_that_the_nominal_flight_breaks_needs_one_flight(tmp_path: Path) -> None:
    file = write_search(tmp_path)
    findings = found(file, tmp_path / "out", sample_searches.fly_anywhere)
    assert findings.flights == 1
    assert "the flight with the nominal values breaks it" in in_words(file, findings)


def test_flight_that_ends_with_an_error_breaks_the_property(tmp_path: Path) -> None:
    findings = found(write_search(tmp_path), tmp_path / "out", sample_searches.fly_heavy_error)
    assert findings.smallest is not None
    assert findings.smallest.reason == "ZeroDivisionError: no thrust left"
    values = findings.smallest.run.values
    # Nominal mass 3.2 kg: the deviation at the limit is 0.1 kg.
    assert 3.3 < values["mass"] < 3.32  # type: ignore[operator]
    assert values["turbulence_model"] == "none"


def test_given_nominal_values_are_the_ones_that_quantities_return_to(tmp_path: Path) -> None:
    file = write_search(tmp_path, further="nominal: {mass: 3.3, gyro_stdev: 0.01, turbulence_model: dryden_8785c}\n")
    findings = found(file, tmp_path / "out")
    assert findings.smallest is not None and findings.nominal is not None
    assert findings.nominal.run.values["mass"] == 3.3
    values = findings.smallest.run.values
    assert values["gyro_stdev"] == 0.01 and values["turbulence_model"] == "dryden_8785c"


def test_summary_gives_values_in_the_words_of_the_file(tmp_path: Path, expected: tuple[Path, Findings]) -> None:
    text = in_words(write_search(tmp_path), expected[1])
    assert "property: error < 1\nbroken after " in text
    assert "\n  mass  3." in text.replace("mass              ", "mass  ")
    assert " kg (nominal 3.2 kg)" in text
    assert "nominal: gyro_stdev" in text


def test_stored_flight_has_the_values_that_were_flown(tmp_path: Path) -> None:
    file = write_search(tmp_path)
    findings = found(file, tmp_path / "out")
    assert findings.smallest is not None
    run = findings.smallest.run
    sweep = searched_sweep(read_sweep(file))
    assert stored_row(sweep, tmp_path / "out", run.number).run == run
    with pytest.raises(ParameterError, match=r"--run: flight 999 given; allowed: 0 to "):
        stored_row(sweep, tmp_path / "out", 999)
    with pytest.raises(SweepError, match="holds no complete search"):
        stored_row(sweep, tmp_path / "none", 0)
    with pytest.raises(SweepError, match="before a change to"):
        stored_row(searched_sweep(read_sweep(file), seed=5), tmp_path / "out", 0)


def test_all_flights_have_one_seed(tmp_path: Path, expected: tuple[Path, Findings]) -> None:
    assert len({*pq.read_table(expected[0] / "table.parquet")["seed"].to_pylist()}) == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("property: error < 1\n", "", r"no property given; allowed: the key 'property', such as always"),
        ("{uniform: [2.8, 3.6]}", "{grid: [3, 3.2]}", r"'mass' with a grid given; allowed in a search: uniform, "),
    ],
)
def test_file_that_cannot_be_searched_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = write_search(tmp_path)
    text = file.read_text().replace(old, new)
    file.write_text(text.replace("runs: 300\n", "") if "grid" in new else text)
    with pytest.raises(ParameterError, match=message):
        read_property(read_sweep(file))


def test_file_without_distributions_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "fixed.yaml"
    file.write_text(
        "description: Nothing varies\nvehicle: multirotor\nruns: 5\nproperty: judge.tracking_error_rms_m < 1\n"
    )
    with pytest.raises(ParameterError, match=r"no distribution given; allowed: at least one quantity"):
        read_property(read_sweep(file))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nominal: {mass: 2.5}", r"line 13: nominal.mass: 2.5 given; allowed: within the distribution, 2.8 to 3.6"),
        ("nominal: {turbulence_model: storm}", r"line 13: nominal.turbulence_model: "),
        ("nominal: {loss: 1}", r"line 13: nominal.loss: 'loss' given; allowed: quantities with a distribution: mass, "),
        ("signals: {robustness: time}", r"each name of a quantity, measure or signal once"),
    ],
)
def test_wrong_nominal_value_or_name_is_refused_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        read_sweep(write_search(tmp_path, further=line + "\n"))


def test_wrong_property_is_refused_with_its_line(tmp_path: Path) -> None:
    file = write_search(tmp_path)
    file.write_text(file.read_text().replace("error < 1", "eror < 1"))
    with pytest.raises(
        ParameterError, match=r"line 12: property: 'eror < 1', column 1: eror given; .*did you mean error"
    ):
        read_sweep(file)


def run_with(sweep: Sweep, **values: float | str) -> Run:
    return Run(0, 0, {**sweep.nominal, **values})


def test_robustness_of_the_sample_is_what_the_tests_assume(tmp_path: Path) -> None:
    sweep = read_sweep(write_search(tmp_path))
    row = sample_searches.fly_corner(sweep, run_with(sweep, mass=3.6, CD=0.5))
    assert math.isclose(row.measures["robustness"], 0.0, abs_tol=1e-9)
