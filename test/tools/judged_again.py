"""Comparison of the verdict of `report` on a recorded mission with the one that `fly` printed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from mcap.reader import make_reader
from mcap.writer import Writer

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def judged_again(
    command_line: Run, recording: str, flight: subprocess.CompletedProcess[str], **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `report` on the recording of a flight, and check that table and exit code equal those of the flight."""
    report = command_line("-m", "rosflight_py_sim", "report", recording, **environment)
    assert "Traceback" not in report.stderr
    assert report.returncode == flight.returncode, report.stdout + report.stderr
    assert table(report.stdout) == table(flight.stdout)
    return report


def table(printed: str) -> list[str]:
    """Lines of the table with its title, without system times, which are only approximate in a recording."""
    lines = printed.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("┌"))
    end = next(number for number, line in enumerate(lines) if line.startswith("└"))
    return [line for line in lines[start - 1 : end] if not line.startswith(("│ wall time", "│ real-time"))]


def without_topic(recording: Path, copy: Path, left_out: str) -> None:
    """Copy a recording without one topic."""
    with recording.open("rb") as file, copy.open("wb") as other:
        reader, writer = make_reader(file), Writer(other)
        writer.start("ros2", "test")
        for metadata in reader.iter_metadata():
            writer.add_metadata(metadata.name, metadata.metadata)
        channels: dict[str, int] = {}
        for schema, channel, message in reader.iter_messages(log_time_order=False):
            assert schema is not None
            if channel.topic == left_out:
                continue
            if channel.topic not in channels:
                number = writer.register_schema(schema.name, schema.encoding, schema.data)
                channels[channel.topic] = writer.register_channel(channel.topic, channel.message_encoding, number)
            writer.add_message(channels[channel.topic], message.log_time, message.data, message.publish_time)
        writer.finish()
