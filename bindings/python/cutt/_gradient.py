"""The gradient of an einsum with respect to one of its operands: an einsum of the result's gradient and the others."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

from ._spec import parse

_FIRST_SYMBOL = 0x4E00  # CJK ideographs: thousands of labels in a row


class Gradient(NamedTuple):
    """What to compute: an einsum `spec` of the result's gradient and the other operands, whose result has an axis for
    each label of `kept`; spread over the `own` labels, each of them once; and put where `axes` says: for each axis of the
    operand the place of its label in `own`, None for one of extent 1 that was broadcast."""

    spec: str
    kept: tuple
    own: tuple
    extents: tuple  # of `own`
    axes: tuple

    @property
    def is_plain(self) -> bool:
        """Is each axis a label of its own, in order?"""
        return self.axes == tuple(range(len(self.own)))

    def spread(self) -> tuple:
        """For each label of `own`: its axis in the einsum's result, or None where the gradient is the same along it."""
        return tuple(self.kept.index(label) if label in self.kept else None for label in self.own)


def extents_of(terms: Sequence[Sequence[str]], shapes: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """The extent of each label; of 1 and another extent, the other one. What does not fit is left to the einsum."""
    extents: dict[str, Any] = {}
    for term, shape in zip(terms, shapes):
        for label, n in zip(term, shape):
            if extents.get(label, 1) == 1:
                extents[label] = n
    return extents


def shape_of(spec: str, shapes: Sequence[Sequence[Any]]) -> tuple:
    """Of the result."""
    terms, labels = parse(spec, tuple(len(shape) for shape in shapes))
    extents = extents_of(terms, shapes)
    return tuple(extents[label] for label in labels)


def gradient_of(place: int, spec: str, shapes: Sequence[Sequence[Any]]) -> Gradient:
    """With respect to the operand at this place."""
    terms, labels = parse(spec, tuple(len(shape) for shape in shapes))
    extents = extents_of(terms, shapes)
    term, shape = terms[place], shapes[place]
    others = [other for number, other in enumerate(terms) if number != place]
    own = tuple(dict.fromkeys(label for label, n in zip(term, shape) if n == extents[label]))
    reached = set(labels).union(*others)
    kept = tuple(label for label in own if label in reached)
    symbols = {label: chr(_FIRST_SYMBOL + number) for number, label in enumerate(extents)}
    text = ",".join("".join(symbols[label] for label in one) for one in (labels, *others))
    text += "->" + "".join(symbols[label] for label in kept)
    axes = tuple(own.index(label) if n == extents[label] else None for label, n in zip(term, shape))
    return Gradient(text, kept, own, tuple(extents[label] for label in own), axes)
