"""Plugin of pytest: tests fly a user's own nodes (docs/testing.md).

Every test suite of an environment loads it. It imports the simulator only when a fixture is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest

if TYPE_CHECKING:
    from rosflight_py_sim.testing.flight import Flight
    from rosflight_py_sim.testing.flown import FlownSimulation
    from rosflight_py_sim.vehicles import Vehicle

_MARKER = "simulation"
_OPTION = "--simulation-bundles"

# Keys and last flight of each test under way. Not in the item's stash: pytest 6 has none, and must not fail here.
_flights: WeakKeyDictionary[pytest.Item, tuple[dict[str, Any], Flight]] = WeakKeyDictionary()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the folder of bundles."""
    parser.getgroup("rosflight_py_sim").addoption(
        _OPTION,
        metavar="DIR",
        default=None,
        help="folder for a bundle of each failed simulated flight: recording, seed, parameters, versions and picture "
        "(default: simulation-bundles in pytest's cache folder)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(vehicle, scenario, seed, wind, failures, limit, ros, ...): what the fixture `simulation` flies, by "
        "the keys of a sweep file; limit is in simulated seconds; ros=True flies in a node graph",
    )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Write the bundle of a failed test, and print where it is."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    flown = _flights.pop(item, None) if report.when == "call" else None
    if flown is None or not report.failed:
        return
    keys, flight = flown
    report.sections.append(("simulation", _bundle(item, str(call.excinfo.value) if call.excinfo else "", keys, flight)))


def _bundle(item: pytest.Item, failure: str, keys: dict[str, Any], flight: Flight) -> str:
    from rosflight_py_sim.testing.bundle import folder_of, write_bundle

    given, cache = item.config.getoption(_OPTION), getattr(item.config, "cache", None)
    if given is not None:
        parent = item.config.invocation_params.dir / given
    elif cache is not None:
        parent = cache.mkdir("simulation-bundles")
    else:
        return f"no bundle: pytest's cache is off, and {_OPTION} is not given"
    try:
        return write_bundle(parent / folder_of(item.nodeid), item.nodeid, failure, keys, flight)
    except OSError as error:
        return f"no bundle: {error}"


@contextmanager
def _refusals() -> Iterator[None]:
    """Let errors of what the test has given fail it with their text alone."""
    __tracebackhide__ = True
    from rosflight_py_sim.ground.parameters import ParameterError

    try:
        yield
    except ParameterError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


class Simulation:
    """The simulation that the markers of a test describe.

    Attributes:
        keys: values by key; those of the closest marker are the strongest.
    """

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request
        self._node = request.node
        self.keys = self._marked()

    def _marked(self) -> dict[str, Any]:
        keys: dict[str, Any] = {}
        for marker in self._node.iter_markers(_MARKER):
            if marker.args:
                pytest.fail(
                    f"marker '{_MARKER}': {marker.args[0]!r} given without a key; allowed: keys, such as "
                    "vehicle='multirotor'",
                    pytrace=False,
                )
            keys = {**marker.kwargs, **keys}
        return keys

    @property
    def vehicle(self) -> Vehicle:
        """The vehicle, with the nodes of the test; that of a scenario's first member."""
        return self._described(self.keys)[0].scenario.members[0].vehicle

    def fly(self, *, topics: tuple[str, ...] | list[str] = (), **keys: Any) -> FlownSimulation:
        """Fly the mission until it ends, or until the limit of the simulated time.

        Args:
            topics: names of the topics whose messages are kept, for `require_rate` and `require_within`.
            keys: further keys, which override those of the markers.

        Returns:
            The flight, also if the mission failed; see `require_completed`.
        """
        __tracebackhide__ = True
        from rosflight_py_sim.ground.parameters import ParameterError
        from rosflight_py_sim.testing.flight import fly, prepared

        keys = {**self.keys, **keys}
        sweep, ros = self._described(keys)
        record = ""
        if ros:
            self._request.getfixturevalue("ros_domain")
            record = self._new_recording()
        with _refusals():
            flight = prepared(sweep, ros=ros, record=record)
            # An exception in a node, too, leaves a bundle.
            _flights[self._node] = keys, flight
            try:
                flight = fly(flight, topics)
            except ParameterError:
                del _flights[self._node]
                raise
        _flights[self._node] = keys, flight
        return flight.flown

    def _new_recording(self) -> str:
        """File for a recording; empty without the packages of the extra `record`."""
        if find_spec("mcap") is None:
            return ""
        folder: Path = self._request.getfixturevalue("tmp_path_factory").mktemp("simulation")
        return str(folder / "recording.mcap")

    def _described(self, keys: dict[str, Any]) -> Any:
        """The simulation, and whether it flies in a graph."""
        __tracebackhide__ = True
        from rosflight_py_sim.testing.described import KEYS, simulation_of

        place = f"simulation of {self._node.name}"
        ros = keys.get("ros", False)
        if not isinstance(ros, bool):
            pytest.fail(f"{place}: ros: {ros!r} given; allowed: True, False", pytrace=False)
        given = {name: value for name, value in keys.items() if name != "ros"}
        if not given:
            pytest.fail(f"{place}: no keys given; allowed: {', '.join((*KEYS, 'ros'))}", pytrace=False)
        with _refusals():
            return simulation_of(place, self._node.path.parent, given), ros


@pytest.fixture
def simulation(request: pytest.FixtureRequest) -> Simulation:
    """The simulation of the test's markers; its method `fly` returns the flight."""
    return Simulation(request)


@pytest.fixture
def vehicle(simulation: Simulation) -> Vehicle:
    """The vehicle of the test's markers, with the nodes that they name."""
    return simulation.vehicle


@pytest.fixture
def ros_domain(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A ROS domain for one test, set in the environment; all traffic stays on this machine."""
    from rosflight_py_sim.ground.process_environment import stay_on_this_machine
    from rosflight_py_sim.testing.ros_domains import NoDomainError, claimed_domain

    try:
        with claimed_domain() as domain:
            monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
            monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
            stay_on_this_machine()
            yield domain
    except NoDomainError as error:
        pytest.fail(str(error), pytrace=False)
