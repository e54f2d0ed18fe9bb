"""Report page of a sweep: statements, plots, and a link from each point to its run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.ground.parameters import Parameter, Scalar
from rosflight_py_sim.sweep.definition import Distribution, Measure, Quantity, Row, Signal, StopRule, Sweep, run_of
from rosflight_py_sim.sweep.distributions import Choice, Grid, Normal, Uniform
from rosflight_py_sim.sweep.factors import spans_magnitudes
from rosflight_py_sim.sweep.report import write_report
from rosflight_py_sim.sweep.store import TABLE
from rosflight_py_sim.sweep.table import table_of, write_table
from rosflight_py_sim.vehicles import vehicle


def quantity(key: str, distribution: Distribution, default: Scalar = 0.0, unit: str = "") -> Quantity:
    return Quantity(key, Parameter(key, default, key, unit), distribution)


GAIN = quantity("gain", Grid([1.0, 2.0, 3.0, 4.0], stride=4), unit="1/s")
SPEED = quantity("speed", Grid([0.0, 2.0, 4.0, 6.0]), unit="m/s")
MASS = quantity("mass", Uniform(2.8, 3.4), unit="kg")
MODEL = quantity("model", Choice(["none", "dryden"]), "none")
BIAS = quantity("bias", Normal(0.0, 1.0))


def sweep_over(*quantities: Quantity, runs: int = 16) -> Sweep:
    return Sweep(
        Path("my sweeps/wind.yaml"),
        "0123456789abcdef",
        "Wind & gains",
        Scenario([Member(vehicle("multirotor"))], "lockstep"),
        quantities,
        runs,
        seed=7,
        measures=[Measure("rms", "judge.tracking_error_rms_m")],
        signals=[Signal("height", "-truth_state.position_ned[2]", 0.5)],
    )


def flown(sweep: Sweep, failed: Sequence[int] = (), reason: str = "the mission is not done after 300 s") -> list[Row]:
    """Rows whose measure is 10 plus the sum of the numbers among the inputs."""
    rows = []
    for run in (run_of(sweep, number) for number in range(sweep.runs)):
        value = 10.0 + sum(float(one) for one in run.values.values() if isinstance(one, float))
        if run.number in failed:
            rows.append(Row(run, False, reason, signals={"height": [1.0, -30.0]}))
        else:
            rows.append(Row(run, True, "", {"rms": value}, {"height": [1.0, 2.0, 2.0 + 0.01 * value]}))
    return rows


@pytest.fixture
def page_of(tmp_path: Path):
    def page(sweep: Sweep, rows: Sequence[Row]) -> str:
        write_table(table_of(rows, sweep), tmp_path / TABLE, {"sweep_file": "description: Wind & gains"})
        return write_report(tmp_path, sweep).read_text(encoding="utf-8")

    return page


def points(page: str) -> set[int]:
    """Runs linked from the plots."""
    return {int(run) for run in re.findall(r'<a xlink:href="#run-(\d+)">', page)}


def titles(page: str) -> list[str]:
    return re.findall(r"<h[23]>(.*?)</h[23]>", page)


def test_page_of_random_sweep_states_rate_and_draws_every_part(page_of) -> None:
    sweep = sweep_over(MASS, MODEL, BIAS, runs=60)
    page = page_of(sweep, flown(sweep, failed=range(6)))
    assert "54 of 60 runs (90 %)" in page
    # Clopper and Pearson's interval for 54 of 60.
    assert "79.49 % to 96.24 %" in page
    assert titles(page)[3:8] == ["Trajectories", "height", "rms", "Distribution", "Sensitivity"]
    assert {"rms over mass", "rms over model", "rms over bias", "mass", "model", "bias"} <= set(titles(page))
    assert points(page) == set(range(60))
    assert "description: Wind &amp; gains" in page


def test_each_failed_run_has_the_command_that_flies_it_again(page_of) -> None:
    sweep = sweep_over(MASS)
    page = page_of(sweep, flown(sweep, failed=[3, 11]))
    commands = re.findall(r"<code>(rosflight_py_sim .*?)</code>", page)
    command = "rosflight_py_sim sweep &#39;my sweeps/wind.yaml&#39; --run {} --view"
    assert commands == [command.format(3), command.format(11)]
    assert page.count("<td>the mission is not done after 300 s</td>") == 3


def test_each_point_shows_inputs_outcome_and_command(page_of) -> None:
    sweep = sweep_over(SPEED, runs=4)
    page = page_of(sweep, flown(sweep, failed=[3]))
    command = "rosflight_py_sim sweep &#x27;my sweeps/wind.yaml&#x27; --run {} --view"
    assert f"<title>run 2: speed 4, rms 14\n{command.format(2)}</title>" in page
    assert f"<title>run 3: speed 6, failed: the mission is not done after 300 s\n{command.format(3)}</title>" in page


def test_two_grids_give_a_map_with_a_link_for_each_point(page_of) -> None:
    sweep = sweep_over(GAIN, SPEED)
    page = page_of(sweep, flown(sweep, failed=[15]))
    assert "Maps" in titles(page)
    map_svg = page[page.index("<h2>Maps</h2>") : page.index("<h2>Trajectories</h2>")]
    assert points(map_svg) == set(range(16))
    # Success on a grid is no probability.
    assert "success rate" not in page


def test_repetitions_share_a_point_that_leads_to_a_failed_run(page_of) -> None:
    sweep = sweep_over(
        quantity("gain", Grid([1.0, 2.0], stride=6)), quantity("speed", Grid([0.0, 2.0], stride=3)), runs=12
    )
    page = page_of(sweep, flown(sweep, failed=[4]))
    assert points(page[page.index("<h2>Maps</h2>") : page.index("<h2>Trajectories</h2>")]) == {0, 4, 6, 9}


def test_one_grid_colours_trajectories_by_its_values(page_of) -> None:
    sweep = sweep_over(SPEED, MASS)
    page = page_of(sweep, flown(sweep, failed=[5]))
    assert "Measures over speed" in titles(page)
    bands = page[page.index("<h2>Trajectories</h2>") : page.index("<h2>rms</h2>")]
    assert [f"speed {value}" in bands for value in (0, 2, 4, 6)] == [True] * 4
    assert points(bands) == {5}


@pytest.mark.parametrize("quantities", [(), (MASS,), (GAIN, SPEED), (MODEL, SPEED)])
@pytest.mark.parametrize("runs", [1, 16])
def test_page_has_something_to_say_when_every_run_failed(page_of, quantities: Sequence[Quantity], runs: int) -> None:
    sweep = sweep_over(*quantities, runs=runs)
    page = page_of(sweep, flown(sweep, failed=range(runs)))
    assert f"0 of {runs} runs (0 %)" in page


@pytest.mark.parametrize("quantities", [(), (MASS,), (GAIN, SPEED), (MODEL, SPEED)])
def test_page_of_one_run_is_complete(page_of, quantities: Sequence[Quantity]) -> None:
    sweep = sweep_over(*quantities, runs=1)
    assert "1 of 1 runs (100 %)" in page_of(sweep, flown(sweep))


def test_measures_without_a_number_are_counted(page_of) -> None:
    sweep = sweep_over(MASS)
    rows = [replace(row, measures={}) if row.run.number < 5 else row for row in flown(sweep)]
    page = page_of(sweep, rows)
    assert re.search(r'title="judge.tracking_error_rms_m">rms</td>.*<td class="number">5</td></tr>', page)


def test_reached_stop_rule_is_stated(page_of) -> None:
    sweep = replace(sweep_over(MASS), runs=40, stop=StopRule("rms", 0.1, least_runs=10))
    page = page_of(sweep, flown(sweep)[:16])
    assert "95 % interval of the mean of rms within ±0.1: after 16 of 40 runs" in page


def test_failed_runs_are_grouped_by_kind_of_reason(page_of) -> None:
    sweep = sweep_over(MASS)
    rows = [
        replace(row, reason=f"the vehicle slides: drag {20 + row.run.number}.5 N") if row.reason else row
        for row in flown(sweep, failed=[1, 4, 7])
    ]
    (table,) = re.findall(r"<h3>Failed runs by reason</h3>(.*?)</table>", page_of(sweep, rows), re.DOTALL)
    assert "<td>the vehicle slides: drag 21.5 to 27.5 N</td>" in table
    assert '<td class="number">3</td>' in table
    assert 'title="the vehicle slides: drag 21.5 N">run 1</a>' in table


def test_page_loads_nothing_and_escapes_reasons(page_of) -> None:
    sweep = sweep_over(MASS)
    page = page_of(sweep, flown(sweep, failed=[1], reason="</script><img src=x>"))
    assert "<img" not in page
    assert page.count("</script>") == 1
    assert not re.search(r'(src|href)="(?!#run-)', page.replace("xlink:href", "href").replace('href="#', 'href="#run-'))


def test_same_table_gives_same_page(page_of) -> None:
    sweep = sweep_over(MASS, BIAS, runs=40)
    rows = flown(sweep, failed=[2])
    assert page_of(sweep, rows) == page_of(sweep, rows)


def test_measure_of_many_magnitudes_is_analysed_by_its_logarithm(page_of) -> None:
    sweep = sweep_over(
        quantity("gain", Grid([1.0, 2.0, 3.0, 4.0], stride=8)),
        quantity("speed", Grid([0.0, 2.0, 4.0, 6.0], stride=2)),
        runs=32,
    )
    rows = [replace(row, measures={"rms": 10.0 ** (0.5 * row.run.number)}) for row in flown(sweep)]
    assert {"Maps", "Sensitivity of the logarithm"} <= set(titles(page_of(sweep, rows)))


def test_few_runs_at_the_edge_do_not_count_as_many_magnitudes() -> None:
    values = np.linspace(1.0, 2.0, 100)
    assert not spans_magnitudes(np.append(values, [1e6, np.nan]))
    assert spans_magnitudes(10.0 * values**3)
    assert not spans_magnitudes(values**3 - 1.0)
    assert not spans_magnitudes(np.full(3, np.nan))
