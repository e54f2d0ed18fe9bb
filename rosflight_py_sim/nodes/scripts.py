"""Scripts: services whose reply needs calls of other services, or waits for a condition, before it is complete."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future

from rosflight_py_sim.nodes.refusals import Code, RefusedError, set_result
from rosflight_py_sim.step.ports import Call

REPLY_LIMIT_S = 10.0
"""Time limit for the reply of a service, s of system time."""

# Interval at which conditions and time limits are checked, s of system time. Nothing is checked while nothing waits.
_CHECK_S = 0.002


@dataclass(frozen=True)
class Asked:
    """Request of a script to a service: the script continues with the reply, or with a RefusedError if there is none.

    Attributes:
        service: its name.
        call: its call.
        request: the request.
        limit_s: time limit for the reply, s of system time; None: none.
    """

    service: str
    call: Call
    request: Any
    limit_s: float | None = REPLY_LIMIT_S


@dataclass(frozen=True)
class Until:
    """Condition that a script waits for: the script continues with whether it holds.

    Attributes:
        condition: function that returns whether it holds.
        limit_s: time limit, s of system time; None: none.
    """

    condition: Callable[[], bool]
    limit_s: float | None = REPLY_LIMIT_S


Script: TypeAlias = Generator[Asked | Until, Any, Any]


class _Wait:
    def __init__(self, script: Script, wanted: Asked | Until, ended: Callable[[], None]) -> None:
        self.script, self.wanted, self.ended = script, wanted, ended
        self.is_sent = False
        # The discovery of a service is limited, even if its work is not.
        limit_s = REPLY_LIMIT_S if isinstance(wanted, Asked) else wanted.limit_s
        self.until_s = None if limit_s is None else time.monotonic() + limit_s

    @property
    def is_over(self) -> bool:
        return self.until_s is not None and time.monotonic() >= self.until_s


class Scripts:
    """Runs scripts in the thread of a node's executor."""

    def __init__(self, node: Node) -> None:
        """Run the scripts of a node."""
        self._waits: list[_Wait] = []
        clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(_CHECK_S, self._check, clock=clock, autostart=False)

    def reply(self, script: Script, response: Any) -> Any:
        """Run the script of a response, and set its result; return the response, or a Future of it if the script waits.

        The script may return a note for the text of the result.
        """
        future: Future[Any] = Future()
        self.run(self._completing(script, response), lambda: future.set_result(response))
        return response if future.done() else future

    def _completing(self, script: Script, response: Any) -> Script:
        try:
            note = yield from script
            set_result(response, note=note or "")
        except RefusedError as error:
            set_result(response, error)

    def run(self, script: Script, ended: Callable[[], None]) -> None:
        """Run a script; call `ended` at its end."""
        self._go_on(script, ended, script.__next__)

    def _go_on(self, script: Script, ended: Callable[[], None], resume: Callable[[], Asked | Until]) -> None:
        try:
            wanted = resume()
        except StopIteration:
            ended()
            return
        if isinstance(wanted, Until):
            if wanted.condition():
                self._go_on(script, ended, lambda: script.send(True))
            else:
                self._add(_Wait(script, wanted, ended))
            return
        wait = _Wait(script, wanted, ended)
        self._add(wait)
        self._send_if_available(wait, wanted)

    def _add(self, wait: _Wait) -> None:
        self._waits.append(wait)
        if len(self._waits) == 1:
            self._timer.reset()

    def _send_if_available(self, wait: _Wait, asked: Asked) -> None:
        if wait.is_sent or not asked.call.is_available():
            return
        wait.is_sent = True
        wait.until_s = None if asked.limit_s is None else time.monotonic() + asked.limit_s
        asked.call.send(asked.request, lambda reply: self._take(wait, reply))

    def _take(self, wait: _Wait, reply: Any) -> None:
        # A reply after the time limit has no effect.
        if wait in self._waits:
            self._waits.remove(wait)
            self._go_on(wait.script, wait.ended, lambda: wait.script.send(reply))

    def _check(self) -> None:
        for wait in list(self._waits):
            wanted = wait.wanted
            if isinstance(wanted, Until):
                holds = wanted.condition()
                if holds or wait.is_over:
                    self._take(wait, holds)
                continue
            self._send_if_available(wait, wanted)
            if wait.is_over:
                self._waits.remove(wait)
                text = f"no reply from {wanted.service} within {wanted.limit_s:g} s"
                if not wait.is_sent:
                    text = f"the service {wanted.service} is not available; is its node running?"
                failure = RefusedError(Code.OPERATION_FAILED, text)
                self._go_on(wait.script, wait.ended, partial(wait.script.throw, failure))
        if not self._waits:
            self._timer.cancel()
