"""ROS 2 still has the names that it does not document and this package uses, with the same meaning."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import ClockType, ROSClock
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future
from rclpy.time import Time
from rclpy.time_source import TimeSource
from std_msgs.msg import Int32
from std_srvs.srv import Trigger

from rosflight_py_sim.ground.ros_internals import INTERNALS, Internals
from rosflight_py_sim.interfaces import rclpy_internals
from rosflight_py_sim.nodes.running import make_executor

PACKAGE = Path(rclpy_internals.__file__).parents[1]
TABLE = PACKAGE / "ground" / "ros_internals.py"
CHANGED = "rclpy has changed: mend rosflight_py_sim/interfaces/rclpy_internals.py"


@pytest.fixture
def node(ros_domain: int) -> Iterator[Node]:
    rclpy.init(args=["test", "--ros-args", "-p", "of_arguments:=3"])
    made = Node("internals", parameter_overrides=[Parameter("of_constructor", value=[1.5])])
    yield made
    made.destroy_node()
    rclpy.shutdown()


@pytest.fixture(scope="module")
def objects() -> Iterator[dict[str, Any]]:
    """An object of each class of rclpy that INTERNALS names."""
    context = rclpy.Context()
    rclpy.init(context=context, args=[])
    made = Node("named", context=context)
    found: dict[str, Any] = {
        "Node": made,
        "Publisher": made.create_publisher(Int32, "number", 10),
        "ROSClock": ROSClock(),
        "Service": made.create_service(Trigger, "service", lambda request, response: response),
        "Subscription": made.create_subscription(Int32, "number", lambda _: None, 10),
        "Time": Time(),
    }
    yield found
    found.clear()
    made.destroy_node()
    rclpy.shutdown(context=context)


OF_RCLPY = next(one for one in INTERNALS if one.package == "rclpy")


@pytest.mark.parametrize("name", OF_RCLPY.names)
def test_rclpy_still_has_the_name(objects: dict[str, Any], name: str) -> None:
    words = name.split(".")
    count = next((index for index, word in enumerate(words) if word[0].isupper() or word == "rclpy_implementation"))
    found: Any = import_module(f"rclpy.{'.'.join(words[:count])}")
    for word in words[count:]:
        assert hasattr(found, word), f"rclpy has no {name}; {CHANGED}"
        found = objects.get(word, getattr(found, word))


@pytest.mark.parametrize(
    ("one", "name"),
    [(one, name) for one in INTERNALS if one.package.startswith("rosidl") for name in one.names],
    ids=lambda value: value if isinstance(value, str) else value.package,
)
def test_rosidl_still_has_the_name(one: Internals, name: str) -> None:
    module, _, attribute = name.rpartition(".")
    assert hasattr(import_module(f"{one.package}.{module}") if module else Int32, attribute)


@pytest.mark.parametrize("one", INTERNALS, ids=lambda one: f"{one.package}-{one.names[0]}")
def test_only_the_named_modules_use_the_name(one: Internals) -> None:
    if one is OF_RCLPY:  # by the next tests, which also recognise names that the table lacks
        return
    # Names such as Array are common words: rosidl_parser's are used where it is imported.
    last = ["rosidl_parser"] if one.package == "rosidl_parser" else [name.rpartition(".")[2] for name in one.names]
    files = (path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".xml") and path != TABLE)
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in files}
    used = {path for path, text in texts.items() if re.search(rf"\b({'|'.join(last)})\b", text)}
    assert used == set(one.modules)
    for name in one.names:
        assert any(re.search(rf"\b{name.rpartition('.')[2]}\b", texts[path]) for path in one.modules)


def test_documentation_shows_the_table() -> None:
    page = (PACKAGE.parent / "docs" / "distributions.md").read_text(encoding="utf-8")
    for package, names, modules, run, read in INTERNALS:
        cells = [", ".join(f"`{word}`" for word in words) for words in ([package], names, modules)]
        assert f"| {' | '.join([*cells, ', '.join(run), ', '.join(read)])} |\n" in page


def test_releases_that_were_run_are_those_of_the_lock_files() -> None:
    root = PACKAGE.parent
    locks = [(root / name).read_text(encoding="utf-8") for name in ("requirements-jazzy.lock", "requirements.lock")]
    for one in INTERNALS:
        names = (one.package, "fastrtps") if one.package == "fastdds" else (one.package,)
        pattern = rf"^ros-(?:{'|'.join(names)})==(\S+)".replace("_", "-")
        assert tuple(re.findall(pattern, lock, re.MULTILINE)[0] for lock in locks) == one.run[: len(locks)]


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != Path(rclpy_internals.__file__))


def node_classes(file: Path) -> set[str]:
    """Names of the classes that a module of the rooms with nodes derives from rclpy's Node."""
    if file.parent.name not in ("interfaces", "nodes", "missions"):
        return set()
    name = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
    classes = [one for one in vars(import_module(name)).values() if isinstance(one, type) and one.__module__ == name]
    return {one.__name__ for one in classes if issubclass(one, Node)}


def private_names(file: Path, of_node: set[str], nodes: set[str]) -> list[str]:
    """Uses in a module of names that rclpy does not document.

    These are private attributes of other objects; attributes of `self`, in a class of nodes, with the name of a private
    one of rclpy's Node; methods of the handles of publishers, subscriptions and clocks; and modules of rclpy that are
    private or experimental.
    """
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    of_classes = {
        id(at) for one in ast.walk(tree) if isinstance(one, ast.ClassDef) and one.name in nodes for at in ast.walk(one)
    }
    found = []
    for at in ast.walk(tree):
        if isinstance(at, ast.ImportFrom) and (at.module or "").startswith("rclpy"):
            words = [*str(at.module).split("."), *(alias.name for alias in at.names)]
            found += [word for word in words if word in ("impl", "experimental") or word.startswith("_")]
        elif isinstance(at, ast.Attribute) and isinstance(at.value, ast.Attribute) and at.value.attr == "handle":
            found += [f"handle.{at.attr}"] if "rclpy" in text else []
        elif isinstance(at, ast.Attribute) and at.attr in of_node:
            of_self = isinstance(at.value, ast.Name) and at.value.id in ("self", "cls")
            found += [at.attr] if not of_self or id(at) in of_classes else []
    return found


def test_no_other_module_uses_a_private_name_of_rclpy(node: Node) -> None:
    of_node = {name for name in vars(node) if name.startswith("_")} | {"_wake_executor", "_time_handle"}
    nodes = {path: node_classes(path) for path in MODULES}
    assert len([path for path, classes in nodes.items() if classes]) > 10
    used = {str(path.relative_to(PACKAGE)): private_names(path, of_node, nodes[path]) for path in MODULES}
    assert {path: names for path, names in used.items() if names} == {}, "add a function to rclpy_internals.py"
    known = {word for name in OF_RCLPY.names for word in name.split(".")}
    own = private_names(Path(rclpy_internals.__file__), of_node, set())
    assert {name.removeprefix("handle.") for name in own} <= known, f"add the name to {TABLE.name}"


def test_modules_that_later_releases_of_rclpy_lack_are_not_imported() -> None:
    lacking = ("rclpy.qos_event", "rclpy.topic_endpoint_info")  # 10.0.10
    texts = {path.name: path.read_text(encoding="utf-8") for path in MODULES}
    assert [name for name, text in texts.items() if any(f"from {module} " in text for module in lacking)] == []


def test_search_finds_private_names(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("from rclpy.impl import x\nnode._clock = 1\npublisher.handle.publish_raw(b'')\n")
    assert private_names(file, {"_clock"}, set()) == ["impl", "_clock", "handle.publish_raw"]


def test_overrides_from_all_sources_are_known_before_declaration(node: Node) -> None:
    given = rclpy_internals.parameter_overrides(node)
    assert {"of_arguments": 3, "of_constructor": [1.5]}.items() <= given.items(), CHANGED


def test_node_returns_the_replaced_clock(node: Node) -> None:
    clock: Any = ROSClock()
    assert clock.clock_type is ClockType.ROS_TIME
    rclpy_internals.set_clock(node, clock)
    assert node.get_clock() is clock, CHANGED


def test_time_setter_sets_the_time_of_a_clock() -> None:
    clock: Any = ROSClock()
    source = TimeSource()
    source.attach_clock(clock)
    source.ros_time_is_active = True
    set_time = rclpy_internals.time_setter(clock)
    for time_ns in (2_500_000, 0, 1_700_000_000_123_456_789):
        set_time(time_ns)
        assert clock.now().nanoseconds == time_ns, CHANGED


def test_last_callback_is_called_only_for_changes_that_all_others_accept(node: Node) -> None:
    node.declare_parameter("mass", 1.0)
    called: list[str] = []

    def answer(name: str, *, accept: bool) -> Callable[[Any], SetParametersResult]:
        def on_set(_: Any) -> SetParametersResult:
            called.append(name)
            return SetParametersResult(successful=accept)

        return on_set

    rclpy_internals.call_last(node, answer("last", accept=True))
    node.add_on_set_parameters_callback(answer("accepts", accept=True))
    assert node.set_parameters_atomically([Parameter("mass", value=2.0)]).successful
    assert called == ["accepts", "last"], CHANGED
    node.add_on_set_parameters_callback(answer("refuses", accept=False))
    assert not node.set_parameters_atomically([Parameter("mass", value=3.0)]).successful
    assert called[2:] == ["refuses"], CHANGED
    assert node.get_parameter("mass").value == 2.0


def test_executor_serves_a_subscription_only_while_enabled(node: Node) -> None:
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    received: list[int] = []
    subscription = node.create_subscription(Int32, "number", lambda message: received.append(message.data), 10)
    publisher = node.create_publisher(Int32, "number", 10)
    while not publisher.get_subscription_count():
        executor.spin_once(timeout_sec=0.1)

    def receives(number: int) -> bool:
        publisher.publish(Int32(data=number))
        for _ in range(10):
            executor.spin_once(timeout_sec=0.05)
        return number in received

    assert rclpy_internals.is_served(node, subscription) and receives(1)
    rclpy_internals.leave_unserved(node, subscription)
    assert not rclpy_internals.is_served(node, subscription) and not receives(2), CHANGED
    rclpy_internals.serve(node, subscription)
    assert rclpy_internals.is_served(node, subscription) and receives(3), CHANGED
    executor.shutdown()


@pytest.mark.parametrize("new_executor", [SingleThreadedExecutor, make_executor])
def test_executor_sends_a_response_when_its_future_has_it(node: Node, new_executor: Callable[[], Executor]) -> None:
    executor = new_executor()
    executor.add_node(node)
    pending: list[Future[Trigger.Response]] = []

    def serve(request: Trigger.Request, response: Trigger.Response) -> Future[Trigger.Response]:
        pending.append(Future())
        return pending[0]

    rclpy_internals.answer_later(node.create_service(Trigger, "later", serve))
    client = node.create_client(Trigger, "later")
    while not client.service_is_ready():
        executor.spin_once(timeout_sec=0.1)
    answer = client.call_async(Trigger.Request())
    while not pending:
        executor.spin_once(timeout_sec=0.1)
    executor.spin_once(timeout_sec=0.1)
    assert not answer.done(), CHANGED
    pending[0].set_result(Trigger.Response(message="late"))
    while not answer.done():
        executor.spin_once(timeout_sec=0.1)
    result = answer.result()
    assert result is not None and result.message == "late"
    executor.remove_node(node)


def test_rcl_error_types_match_those_raised_by_rclpy(ros_domain: int) -> None:
    with pytest.raises(rclpy_internals.UnknownROSArgsError):
        rclpy.init(args=["test", "--ros-args", "--no-such-option"])
    with pytest.raises(rclpy_internals.RCLError):
        rclpy.init(args=["test", "--ros-args", "-p", "no value"])
