"""Every name of ROS 2 and Fast DDS that this package uses beyond their documentation.

docs/distributions.md shows the table. `test/interfaces/test_ros_internals.py` fails if the installed release lacks a
name, and if a module uses a name that is not in the table.
"""

from __future__ import annotations

from typing import NamedTuple


class Internals(NamedTuple):
    """Names of one package, all checked in the same releases.

    Attributes:
        package: the package, as its release names it.
        names: the names, without the name of the package.
        modules: files of this package that use them, without `rosflight_py_sim/`.
        run: releases on which this package was run with the names.
        read: later releases whose sources were read: they have the names with the same meaning, but were not run.
    """

    package: str
    names: tuple[str, ...]
    modules: tuple[str, ...]
    run: tuple[str, ...]
    read: tuple[str, ...]


INTERNALS = (
    Internals(
        "rclpy",
        (
            "clock.ROSClock.handle.set_ros_time_override",
            "experimental.events_executor.EventsExecutor",
            "impl.implementation_singleton.rclpy_implementation.RCLError",
            "impl.implementation_singleton.rclpy_implementation.UnknownROSArgsError",
            "node.Node._clock",
            "node.Node._on_set_parameters_callbacks",
            "node.Node._parameter_overrides",
            "node.Node._subscriptions",
            "node.Node._wake_executor",
            "publisher.Publisher.handle.get_subscription_count",
            "publisher.Publisher.handle.publish_raw",
            "service.Service.send_response",
            "subscription.Subscription.handle.get_publisher_count",
            "subscription.Subscription.handle.take_message",
            "time.Time._time_handle",
        ),
        modules=("interfaces/rclpy_internals.py",),
        run=("7.1.6", "9.1.2"),
        read=("10.0.10", "11.0.0"),
    ),
    Internals(
        "rosidl_generator_py",
        ("import_type_support_impl.import_type_support",),
        modules=("ground/type_supports.py",),
        run=("0.22.2", "0.24.2"),
        read=("0.27.2",),
    ),
    Internals(
        "rosidl_generator_py",
        ("SLOT_TYPES", "get_fields_and_field_types"),
        modules=(
            "commands/refly.py",
            "interfaces/canonical_messages.py",
            "interfaces/message_definitions.py",
            "step/wire.py",
            "testing/flown.py",
            "viewer/web/message_fields.py",
        ),
        run=("0.22.2", "0.24.2"),
        read=("0.27.2",),
    ),
    Internals(
        "rosidl_parser",
        (
            "definition.AbstractNestedType",
            "definition.AbstractString",
            "definition.AbstractWString",
            "definition.Array",
            "definition.BasicType",
            "definition.BoundedSequence",
            "definition.BoundedString",
            "definition.BoundedWString",
            "definition.NamespacedType",
        ),
        modules=("interfaces/message_definitions.py", "step/wire.py"),
        run=("4.6.6", "4.9.5"),
        read=("5.2.1", "5.3.1"),
    ),
    Internals(
        "rmw_fastrtps_shared_cpp",
        ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE"),
        modules=("ground/process_environment.py",),
        run=("8.4.3", "9.3.3"),
        read=("9.4.7",),
    ),
    Internals(
        "fastdds",
        (
            "fastdds.type_propagation",
            "interfaceWhiteList",
            "leaseAnnouncement",
            "useBuiltinTransports",
            "userTransports",
        ),
        modules=("ground/loopback.xml",),
        run=("2.14.5", "3.2.3"),
        read=("3.6.1", "3.6.2"),
    ),
)
"""The table. In Fast DDS 2.14, which has no `fastdds.type_propagation`, the property has no effect."""
