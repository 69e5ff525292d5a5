# SPDX-License-Identifier: Apache-2.0
"""What two loaders of the extension have done, one after the other for the same user, as if it were one."""

from __future__ import annotations

from typing import Any

_ADDED = (
    "samples batches bad substitutes unlisted stored_nbytes reads_cached reads_waited consumer_stalls seconds "
    "core_seconds consumer_stall_seconds thread_idle_seconds thread_wait_seconds cores_lent_seconds "
    "cores_borrowed_seconds"
).split()
_MEANS = {
    "read_depth_mean": "samples",
    "ready_mean": "batches",
    "consumer_p50_ns": "batches",
    "consumer_p99_ns": "batches",
}


def joined(past: dict[str, Any] | None, now: dict[str, Any]) -> dict[str, Any]:
    """Sums of what can be added; means and percentiles by how much they are of; what the loader is, as it is now."""
    if past is None:
        return now
    whole = dict(now)
    for name in _ADDED:
        whole[name] = past[name] + now[name]
    for name, by in _MEANS.items():
        whole[name] = _mean(past[name], past[by], now[name], now[by])
    if past["batches"]:
        whole["first_batch_seconds"] = past["first_batch_seconds"]
    if past["seconds"] > now["seconds"]:
        whole["bottleneck"] = past["bottleneck"]
    if [device["name"] for device in past["devices"]] == [device["name"] for device in now["devices"]]:
        whole["devices"] = [_joined_device(a, b) for a, b in zip(past["devices"], now["devices"], strict=True)]
    whole["stages"] = [_joined_stage(a, b) for a, b in zip(past["stages"], now["stages"], strict=True)]
    return whole


def _joined_stage(past: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    sums = {name: past[name] + now[name] for name in ("count", "nbytes", "seconds")}
    return now | sums | {p: _mean(past[p], past["count"], now[p], now["count"]) for p in ("p50_ns", "p99_ns")}


def _joined_device(past: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    as_it_is = ("name", "lanes", "aside", "mishap", "cause", "lacks")
    sums = {name: past[name] + now[name] for name in now if name not in as_it_is}
    return now | sums | {word: now[word] or past[word] for word in ("mishap", "cause")}


def _mean(a: float, weight_a: float, b: float, weight_b: float) -> float:
    both = weight_a + weight_b
    return (a * weight_a + b * weight_b) / both if both > 0 else b
