"""An MCAP file written chunk by chunk, with the record classes of the mcap library.

The library's own writer accepts only single messages.

Source of the format: MCAP specification (mcap.dev/spec).
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping
from typing import Protocol

import zstandard
from mcap.data_stream import RecordBuilder
from mcap.records import (
    Channel,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    McapRecord,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
)
from mcap.records import (
    Chunk as ChunkRecord,
)

from rosflight_py_sim.recording.mcap_chunk import Chunk

_MAGIC = b"\x89MCAP0\r\n"


class Output(Protocol):
    """A file that is written from its beginning to its end."""

    def tell(self) -> int:
        """Number of bytes so far."""

    def write(self, data: bytes) -> None:
        """Append bytes."""


class ChunkedFile:
    """An MCAP file with compressed chunks and an index.

    Attributes:
        chunk: the chunk that is being filled.
    """

    def __init__(self, file: Output, chunk: Chunk, profile: str, library: str) -> None:
        """Start the file."""
        self._file, self.chunk = file, chunk
        self._schemas: list[Schema] = []
        self._channels: list[Channel] = []
        # Encoded as in the summary, which takes a seventh of the memory of the objects.
        self._chunk_indexes: list[bytes] = []
        self._metadata_indexes: list[bytes] = []
        self._counts: Counter[int] = Counter()
        self._start_ns = self._end_ns = 0
        file.write(_MAGIC)
        self._add(Header(profile, library))

    def _add(self, record: McapRecord) -> int:
        """Append a record; return its size."""
        data = _encoded(record)
        self._file.write(data)
        return len(data)

    def add_schema(self, name: str, encoding: str, text: str) -> int:
        """Add a type definition; return its id."""
        self._schemas.append(Schema(id=len(self._schemas) + 1, name=name, encoding=encoding, data=text.encode()))
        self.chunk.append(_encoded(self._schemas[-1]))
        return len(self._schemas)

    def add_channel(self, topic: str, encoding: str, schema: int, metadata: Mapping[str, str]) -> int:
        """Add a topic; return its id."""
        number = len(self._channels) + 1
        channel = Channel(id=number, topic=topic, message_encoding=encoding, schema_id=schema, metadata=dict(metadata))
        self._channels.append(channel)
        self.chunk.append(_encoded(channel))
        return number

    def add_metadata(self, name: str, metadata: Mapping[str, str]) -> None:
        """Add metadata under a name."""
        offset = self._file.tell()
        length = self._add(Metadata(name=name, metadata=dict(metadata)))
        self._metadata_indexes.append(_encoded(MetadataIndex(offset=offset, length=length, name=name)))

    def end_chunk(self) -> None:
        """Write the chunk, if it has messages, and begin the next one."""
        chunk = self.chunk
        filling = chunk.filling
        if filling.messages == 0:
            return
        records, offset = chunk.records, self._file.tell()
        compressed = zstandard.compress(records)
        length = self._add(
            ChunkRecord(
                compression="zstd",
                data=compressed,
                message_start_time=filling.start_ns,
                message_end_time=filling.end_ns,
                uncompressed_crc=zlib.crc32(records),
                uncompressed_size=len(records),
            )
        )
        offsets: dict[int, int] = {}
        index_began = self._file.tell()
        for group in chunk.groups():
            offsets[group.channel] = self._file.tell()
            self._file.write(group.record)
            self._counts[group.channel] += group.messages
        index = ChunkIndex(
            message_start_time=filling.start_ns,
            message_end_time=filling.end_ns,
            chunk_start_offset=offset,
            chunk_length=length,
            message_index_offsets=offsets,
            message_index_length=self._file.tell() - index_began,
            compression="zstd",
            compressed_size=len(compressed),
            uncompressed_size=len(records),
        )
        self._chunk_indexes.append(_encoded(index))
        self._start_ns = filling.start_ns if len(self._chunk_indexes) == 1 else min(self._start_ns, filling.start_ns)
        self._end_ns = max(self._end_ns, filling.end_ns)
        chunk.clear()

    def finish(self) -> None:
        """Complete the file with summary and index."""
        self._add(DataEnd(0))
        start = self._file.tell()
        statistics = Statistics(
            attachment_count=0,
            channel_count=len(self._channels),
            channel_message_counts=dict(self._counts),
            chunk_count=len(self._chunk_indexes),
            message_count=self._counts.total(),
            message_start_time=self._start_ns,
            message_end_time=self._end_ns,
            metadata_count=len(self._metadata_indexes),
            schema_count=len(self._schemas),
        )
        records = map(_encoded, (*self._schemas, *self._channels, statistics))
        summary = b"".join((*records, *self._chunk_indexes, *self._metadata_indexes))
        self._file.write(summary)
        # The checksum is that of the summary and of the footer up to the checksum.
        footer = Footer(summary_start=start, summary_offset_start=0, summary_crc=0)
        footer.summary_crc = zlib.crc32(_encoded(footer)[:-4], zlib.crc32(summary))
        self._add(footer)
        self._file.write(_MAGIC)


def _encoded(record: McapRecord) -> bytes:
    builder = RecordBuilder()
    record.write(builder)
    return builder.end()
