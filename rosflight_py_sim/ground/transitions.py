"""State machines as tables: a state and an event give the next state and the actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Generic, TypeAlias, TypeVar


class TableEnum(Enum):
    """Base class of states and events: a table finds them without calling `Enum.__hash__`, which is in Python."""

    __hash__ = object.__hash__


State = TypeVar("State", bound=TableEnum)
Event = TypeVar("Event", bound=TableEnum)
Actions: TypeAlias = tuple[Callable[..., None], ...]

Transitions: TypeAlias = Mapping[State, Mapping[Event, tuple[State, Actions]]]
"""Next state and actions (methods of one class) by state and event; an event not listed changes nothing."""


class TransitionMachine(Generic[State, Event]):
    """A state, and the table of transitions that changes it.

    Attributes:
        state: current state.
    """

    def __init__(self, transitions: Transitions[State, Event], state: State, owner: object) -> None:
        """Start in `state`; `owner` is the object whose methods the actions are."""
        self.state = state
        self._transitions, self._owner = transitions, owner

    def handle(self, event: Event, *subject: Any) -> Actions:
        """Enter the next state, then run the actions in order, each with `subject` as arguments.

        An action may cause further events, which are handled before it returns.

        Returns:
            The actions that ran.
        """
        self.state, actions = self._transitions[self.state].get(event, (self.state, ()))
        for action in actions:
            action(self._owner, *subject)
        return actions
