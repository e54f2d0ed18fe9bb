"""Folders as `ros2 bag record -s mcap` writes them, with the messages of test/data/other_recorder.mcap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
import zstandard
from mcap.reader import make_reader
from mcap.records import Channel, Message, Schema
from mcap.writer import CompressionType, Writer

OTHER = Path(__file__).parents[1] / "data" / "other_recorder.mcap"

Row = tuple[Schema, Channel, Message]


def rows_of(file: Path) -> list[Row]:
    """All messages of a file in their order, with their channels and schemas."""
    with file.open("rb") as stream:
        return [
            (schema, channel, message) for schema, channel, message in make_reader(stream).iter_messages() if schema
        ]


def write_part(
    file: Path,
    rows: Iterable[Row],
    compression: CompressionType = CompressionType.ZSTD,
    *,
    compresses_messages: bool = False,
) -> None:
    """Write an MCAP file as rosbag2's storage plug-in does: profile ros2, chunks, one schema and channel per topic."""
    with file.open("wb") as stream:
        writer = Writer(stream, compression=compression, chunk_size=10_000)
        writer.start(profile="ros2", library="libmcap 1.4.0")
        channels: dict[str, int] = {}
        for number, (schema, channel, message) in enumerate(rows):
            if channel.topic not in channels:
                made = writer.register_schema(schema.name, schema.encoding, schema.data)
                channels[channel.topic] = writer.register_channel(channel.topic, channel.message_encoding, made)
            data = zstandard.ZstdCompressor().compress(message.data) if compresses_messages else message.data
            writer.add_message(channels[channel.topic], message.log_time, data, message.publish_time, number)
        writer.finish()


def metadata(names: Sequence[str], rows: Sequence[Row], version: int, *, mode: str = "", storage: str = "mcap") -> Any:
    """Contents of metadata.yaml."""
    topics = {channel.topic: schema.name for schema, channel, _ in rows}
    times = [message.log_time for _, _, message in rows] or [0]

    def span() -> dict[str, Any]:
        return {
            "duration": {"nanoseconds": max(times) - min(times)},
            "starting_time": {"nanoseconds_since_epoch": min(times)},
            "message_count": len(rows),
        }

    information: dict[str, Any] = {
        "version": version,
        "storage_identifier": storage,
        **span(),
        "topics_with_message_count": [
            {
                "topic_metadata": {
                    "name": name,
                    "type": kind,
                    "serialization_format": "cdr",
                    "offered_qos_profiles": "" if version < 9 else [],
                    **({"type_description_hash": f"RIHS01_{'0' * 64}"} if version >= 7 else {}),
                },
                "message_count": sum(channel.topic == name for _, channel, _ in rows),
            }
            for name, kind in topics.items()
        ],
        "compression_format": "zstd" if mode else "",
        "compression_mode": mode,
        "relative_file_paths": list(names),
    }
    if version >= 5:
        information["files"] = [{"path": name, **span()} for name in names]
    if version >= 6:
        information["custom_data"] = None
    if version >= 8:
        information["ros_distro"] = "jazzy"
    return {"rosbag2_bagfile_information": information}


def write_bag(
    folder: Path,
    rows: Sequence[Row],
    parts: int = 1,
    version: int = 9,
    *,
    mode: str = "",
    compression: CompressionType = CompressionType.ZSTD,
) -> Path:
    """Write a folder with this many parts; `mode` is rosbag2's compression mode: empty, FILE or MESSAGE."""
    folder.mkdir(parents=True)
    names = []
    size = -(-len(rows) // parts)
    for number in range(parts):
        some = rows[number * size : (number + 1) * size]
        file = folder / f"{folder.name}_{number}.mcap"
        write_part(file, some, compression, compresses_messages=mode == "MESSAGE")
        if mode == "FILE":
            compressed = file.with_name(f"{file.name}.zstd")
            compressed.write_bytes(zstandard.ZstdCompressor().compress(file.read_bytes()))
            file.unlink()
            file = compressed
        names.append(file.name)
    (folder / "metadata.yaml").write_text(yaml.safe_dump(metadata(names, rows, version, mode=mode), sort_keys=False))
    return folder
