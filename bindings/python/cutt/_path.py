"""In which order to contract many operands: two at a time, by a greedy rule, where opt_einsum is not installed.

The pair comes first that makes the list of tensors smallest: the elements of the result less those of both operands. Pairs that share
a label come before outer products, which join the smallest tensors.
"""

from __future__ import annotations

import functools
import heapq
import math
from typing import Iterable, Mapping, Sequence

import numpy as np

Labels = frozenset
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _kept(left: Labels, right: Labels, uses: Mapping[str, int]) -> Labels:
    """The labels of a product that something else has too: uses counts the tensors that have a label."""
    return Labels(label for label in left | right if uses[label] > (label in left) + (label in right))


class _Tensors:
    """The tensors that are left, by number; operands first, then products in the order in which they were made."""

    def __init__(self, terms: Sequence[Labels], extents: Mapping[str, int], result: Labels):
        self.extents = extents
        self.left = dict(enumerate(terms))
        self.count = len(terms)
        self.having: dict[str, set] = {label: set() for label in extents}
        for number, term in self.left.items():
            for label in term:
                self.having[label].add(number)
        self.uses = {label: len(numbers) + (label in result) for label, numbers in self.having.items()}
        self.queue: list[tuple] = []

    def size(self, labels: Iterable[str]) -> int:
        return math.prod(self.extents[label] for label in labels)

    def offer(self, one: int, other: int) -> None:
        left, right = self.left[one], self.left[other]
        cost = self.size(_kept(left, right, self.uses)) - self.size(left) - self.size(right)
        heapq.heappush(self.queue, (cost, min(one, other), max(one, other)))

    def join(self, one: int, other: int) -> int:
        left, right = self.left.pop(one), self.left.pop(other)
        made, number = _kept(left, right, self.uses), self.count
        for label in left | right:
            self.uses[label] -= (label in left) + (label in right) - (label in made)
            self.having[label] -= {one, other}
        for label in made:
            self.having[label].add(number)
        self.left[number] = made
        self.count += 1
        return number


def greedy(terms: Sequence[Iterable[str]], extents: Mapping[str, int], result: Iterable[str]) -> tuple:
    """Pairs of numbers: operands are 0, 1, ..., and each product gets the next number."""
    tensors = _Tensors([Labels(term) for term in terms], extents, Labels(result))
    pairs = []
    for numbers in list(tensors.having.values()):
        ordered = sorted(numbers)
        for place, one in enumerate(ordered):
            for other in ordered[place + 1 :]:
                tensors.offer(one, other)
    while tensors.queue:
        _, one, other = heapq.heappop(tensors.queue)
        if one not in tensors.left or other not in tensors.left:
            continue
        number = tensors.join(one, other)
        pairs.append((one, other))
        near = {other for label in tensors.left[number] for other in tensors.having[label]} - {number}
        for other in near:
            tensors.offer(number, other)
    rest = [(tensors.size(labels), number) for number, labels in tensors.left.items()]
    heapq.heapify(rest)
    while len(rest) > 1:
        (_, one), (_, other) = heapq.heappop(rest), heapq.heappop(rest)
        number = tensors.join(one, other)
        pairs.append((one, other))
        heapq.heappush(rest, (tensors.size(tensors.left[number]), number))
    return tuple(pairs)


# Ways to find a path, by opt_einsum's names, two of which are NumPy's, too.
NAMES = tuple(
    "auto auto-hq optimal greedy dp dynamic-programming branch-all branch-2 branch-1 eager opportunistic random-greedy "
    "random-greedy-128".split()
)


@functools.lru_cache(maxsize=256)
def find(terms: tuple, shapes: tuple, result: tuple, optimize: str) -> tuple:
    """As pairs of numbers: by opt_einsum where it is installed, else greedily, or by NumPy what is to be optimal."""
    extents = {label: n for term, shape in zip(terms, shapes) for label, n in zip(term, shape)}
    try:
        import opt_einsum
    except ImportError:
        opt_einsum = None
    numpys = opt_einsum is None and optimize == "optimal" and len(extents) <= len(_LETTERS)
    if opt_einsum is None and optimize not in NAMES:
        raise ValueError(f"optimize is {optimize!r}; it must be a bool, a path, or one of {', '.join(NAMES)}")
    if opt_einsum is None and not numpys:
        return greedy(terms, extents, result)
    symbols = _LETTERS if opt_einsum is None else [opt_einsum.get_symbol(place) for place in range(len(extents))]
    names = dict(zip(extents, symbols))
    spec = ",".join("".join(names[label] for label in term) for term in terms)
    spec += "->" + "".join(names[label] for label in result)
    if opt_einsum is not None:
        try:
            steps = opt_einsum.contract_path(spec, *shapes, shapes=True, optimize=optimize)[0]
        except KeyError as unknown:
            raise ValueError(f"optimize is {optimize!r}, and opt_einsum has no such way: {unknown}") from None
    else:
        empty = [np.broadcast_to(np.float64(0), shape) for shape in shapes]
        steps = np.einsum_path(spec, *empty, optimize=optimize)[0][1:]
    return numbered(steps, len(terms))


def numbered(steps: Sequence[Sequence[int]], count: int) -> tuple:
    """Pairs of numbers of a path that has places in the list of what is left, as opt_einsum and NumPy give it. More than two are
    taken from left to right; so is what a path leaves at its end."""
    left, made, pairs = list(range(count)), count, []
    for number, step in enumerate(steps):
        places = {place + len(left) if place < 0 else place for place in step}
        if len(places) != len(step) or not all(0 <= place < len(left) for place in places):
            raise ValueError(f"step {number} of the path is {tuple(step)}, and there are {len(left)} operands then")
        taken = [left[place] for place in sorted(places)]
        left = [one for place, one in enumerate(left) if place not in places]
        if number == len(steps) - 1:
            taken, left = taken + left, []
        while len(taken) > 1:
            pairs.append((taken[0], taken[1]))
            taken[:2] = [made]
            made += 1
        left.extend(taken)
    if len(pairs) != count - 1:
        raise ValueError("the path ends before all operands are contracted")
    return tuple(pairs)


def placed(pairs: Sequence[tuple], count: int) -> list:
    """The other way round: places in the list of what is left, to which each product is added."""
    left, steps = list(range(count)), []
    for number, pair in enumerate(pairs):
        steps.append(tuple(sorted(left.index(one) for one in pair)))
        left = [one for one in left if one not in pair] + [count + number]
    return steps
