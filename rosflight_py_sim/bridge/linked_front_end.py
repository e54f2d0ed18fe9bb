"""Front-ends that replace the flight controller by one program per vehicle, each at a port of its own."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Generic, Protocol, TypeVar

from rosflight_py_sim.bridge.front_end_interface import ActuatorFrontEnd, Answer, Snapshot
from rosflight_py_sim.bridge.peers import Address, address_text
from rosflight_py_sim.ground.parameters import ParameterError


class LinkedPeer(Protocol):
    """Port of a vehicle, and the program that has contacted it.

    Attributes:
        own: address of the port.
    """

    own: Address

    @property
    def refused(self) -> str:
        """Address of another program that is refused while the first one is connected; empty if none."""

    @property
    def is_contacted(self) -> bool:
        """Whether a program has contacted the vehicle, even if what it has sent has not been read yet."""

    def open(self) -> None:
        """Open the port.

        Raises:
            ParameterError: it cannot be opened.
        """

    def close(self) -> None:
        """Close the port and its connections; may be called again."""

    def filenos(self) -> list[int]:
        """File descriptors that become readable when data arrive."""


class ProgramLink(Protocol):
    """Exchange with the program of a vehicle."""

    @property
    def peer(self) -> LinkedPeer:
        """The program, and the port."""

    def exchange(self, snapshot: Snapshot) -> Answer:
        """As `ActuatorFrontEnd.exchange`, for this vehicle."""


L = TypeVar("L", bound=ProgramLink)


class LinkedFrontEnd(ActuatorFrontEnd, Generic[L]):
    """Front-end with a link to one program for each vehicle.

    Class attributes:
        PROGRAM: name of the program.
        TRANSPORT: TCP or UDP.
        REFUSED: what is refused from programs of observed vehicles.

    Attributes:
        links: link of each vehicle; a derived class appends them in its constructor.
    """

    PROGRAM: ClassVar[str]
    TRANSPORT: ClassVar[str]
    REFUSED: ClassVar[str]

    links: list[L]

    @abstractmethod
    def serve(self) -> None:
        """Refuse programs that contact vehicles that they may not command."""

    def _port(self, vehicle: int) -> str:
        return f"{self.TRANSPORT} {address_text(self.links[vehicle].peer.own)}"

    def peer(self, vehicle: int) -> str:
        """Address on which the vehicle's program is expected."""
        return f"{self.PROGRAM} on {self._port(vehicle)}"

    def announcement(self) -> str:
        """Port of each vehicle, and the vehicles whose programs are refused."""
        return self.announced(self.PROGRAM, [self._port(index) for index in range(len(self.links))], self.REFUSED)

    def open(self) -> None:
        """Open all ports, or none if one fails."""
        try:
            for link in self.links:
                link.peer.open()
        except ParameterError:
            self.close()
            raise

    def close(self) -> None:
        """Close the ports and the connections."""
        for link in self.links:
            link.peer.close()

    def filenos(self) -> list[int]:
        """File descriptors of the ports of commanded vehicles."""
        commanded = (link for index, link in enumerate(self.links) if index not in self.observed)
        return [fileno for link in commanded for fileno in link.peer.filenos()]

    def exchange(self, vehicle: int, snapshot: Snapshot) -> Answer:
        """Let the vehicle's program answer the snapshot; return its commands, if they have arrived."""
        return self.links[vehicle].exchange(snapshot)

    def is_contacted(self, vehicle: int) -> bool:
        """Whether the vehicle's program has contacted it, even if what it has sent has not been read yet."""
        return self.links[vehicle].peer.is_contacted

    def refused(self, vehicle: int) -> str:
        """Address of another program that is refused while the vehicle's program is connected."""
        return self.links[vehicle].peer.refused
