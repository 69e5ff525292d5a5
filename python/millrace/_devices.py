# SPDX-License-Identifier: Apache-2.0
"""Who can prepare samples here."""

from __future__ import annotations

from dataclasses import dataclass

from . import _core


@dataclass(frozen=True)
class Device:
    """One that `mr.Loader(..., device=...)` takes; or cannot, and `why` says what is missing.

    ================  =========================================================================================
    `device`          its name for loaders: "cpu", "opencl:0", "sim"
    `name`            what it is: "AMD EPYC"
    `version`         of a processor the instruction sets that are used; else what drives it
    `usable`, `why`   whether it can be used; what is missing, and what to do about it, "" where nothing is
    `is_host`         the host's own cores: `device="auto"` leaves an accelerator out that is
    `shares_memory`   it works in the host's memory
    `has_doubles`     it has numbers of 64 bits with a fraction, which some steps need
    `units`           threads; of an accelerator what it calls compute units
    `memory_nbytes`   that it has; 0: the host's, all of it
    `decodes`         the stored forms that it decodes itself; the host decodes others for it
    `lacks`           the steps that it cannot do
    ================  =========================================================================================
    """

    device: str
    name: str
    version: str
    usable: bool
    is_host: bool
    shares_memory: bool
    has_doubles: bool
    why: str
    units: int
    memory_nbytes: int
    decodes: tuple[str, ...]
    lacks: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.device}: {self.name}" + ("" if self.usable else f" (not usable: {self.why})")


def devices() -> list[Device]:
    """All devices of this machine, "cpu" first: those that can be used, and why others cannot. Drivers are loaded to
    ask them, which may take a moment.

    >>> for device in mr.devices(): print(device)
    """
    return [
        Device(**{**one, "decodes": tuple(one["decodes"]), "lacks": tuple(one["lacks"].split())})
        for one in _core.devices()
    ]
