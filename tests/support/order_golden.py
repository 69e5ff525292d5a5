#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The orders of doc/order.md, written from that page alone, in plain Python. Prints the golden values of
tests/unit/test_order.c."""
from fractions import Fraction
from math import isqrt

M32, M64 = 2**32 - 1, 2**64 - 1
SHUFFLE, SUBSTITUTE, WEIGHTED = 0xFF00, 0xFF01, 0xFF02


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [q >> 32 ^ c[1] ^ k[0], q & M32, p >> 32 ^ c[3] ^ k[1], p & M32]
        k = [(k[0] + 0x9E3779B9) & M32, (k[1] + 0xBB67AE85) & M32]
    return c


def draws(seed, epoch, sample, step, block=0):
    """64-bit draws, the upper half first."""
    while True:
        w = philox([block, sample & M32, sample >> 32 | step << 16, epoch], [seed & M32, seed >> 32])
        yield w[0] << 32 | w[1]
        yield w[2] << 32 | w[3]
        block += 1


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M64
    return (z ^ z >> 27) * 0x94D049BB133111EB & M64


class Shuffle:
    def __init__(self, n, seed, epoch, stream):
        more = draws(seed, epoch, stream, SHUFFLE)
        self.n = n
        self.high = isqrt(n - 1) + 1
        self.low = -(-n // self.high)
        self.lane_key = next(more)
        self.keys = [next(more) for _ in range(16 if n < 1024 else 8)]

    def at(self, index, lane=0):
        offset = mix((self.lane_key + lane * 0x9E3779B97F4A7C15) & M64)
        while True:
            h, l = divmod(index, self.low)
            for i in range(0, len(self.keys), 2):
                h = (h + (mix((self.keys[i] + offset + l) & M64) * self.high >> 64)) % self.high
                l = (l + (mix((self.keys[i + 1] + offset + h) & M64) * self.low >> 64)) % self.low
            index = h * self.low + l
            if index < self.n:
                break
        return index ^ offset >> 63 if index < 2 and self.n > 1 else index


def windowed(samples, block, window, seed, epoch):
    """As a list, the slow way."""
    blocks = Shuffle(-(-samples // block), seed, epoch, 0)
    row = [s for i in range(blocks.n) for s in range(samples)[blocks.at(i) * block :][:block]]
    out = []
    for first in range(0, samples, window):
        part = row[first : first + window]
        inside = Shuffle(len(part), seed, epoch, 1)
        out += [part[inside.at(i, first // window)] for i in range(len(part))]
    return out


def aliases(weights):
    n = len(weights)
    scale = Fraction(2) ** (62 - next(e for e in range(-1074, 1026) if max(weights) < Fraction(2) ** e))
    whole = [int(Fraction(w) * scale) for w in weights]
    total, mass = sum(whole), [w * n for w in whole]
    accept, other = [M64] * n, list(range(n))
    less = more = 0
    ready = set()
    taker = None
    while True:
        if taker is None:
            while less < n and (less in ready or mass[less] >= total):
                less += 1
            if less == n:
                return accept, other
            taker = less
        while more in ready or mass[more] <= total:
            more += 1
        accept[taker], other[taker] = (mass[taker] << 64) // total, more
        ready.add(taker)
        mass[more] -= total - mass[taker]
        taker = more if mass[more] < total and more < less else None


def weighted(weights, position, seed, epoch):
    accept, other = aliases(weights)
    more = draws(seed, epoch, position, WEIGHTED)
    cell = next(more) * len(weights) >> 64
    return cell if next(more) < accept[cell] else other[cell]


def substitute(seed, epoch, position, attempt, samples):
    return next(draws(seed, epoch, position, SUBSTITUTE, attempt)) * samples >> 64


def main():
    seed = 0x0123456789ABCDEF
    for n in [1, 2, 3, 9, 1000, 1024, 50000, 1281167, 2**32 + 15, 2**48 - 1]:
        s = Shuffle(n, seed, 7, 3)
        print(f"{{UINT64_C({n}), {{" + ", ".join(f"UINT64_C({s.at(i * (n - 1) // 3, 5)})" for i in range(4)) + "}},")
    print("shuffled 10", [Shuffle(10, 42, 0, 0).at(i) for i in range(10)])
    print("windowed 20/3/8", windowed(20, 3, 8, 42, 1))
    w = [0.5, 0, 3, 1e-3, 2.25]
    print("aliases", aliases(w))
    print("aliases", aliases([0, 2, 0, 2]))
    print("weighted", [weighted(w, p, 42, 2) for p in range(16)])
    print("substitutes", [substitute(42, 3, 1000, a, 50000) for a in (1, 2, 3)])


if __name__ == "__main__":
    main()
