"""What an einsum's subscripts say: the labels of each operand's axes and of the result's, as NumPy understands them."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Iterator, Mapping, Sequence

# Labels are single characters, and "...n" for the n-th axis of the ellipsis counted from its end.

_BLANKS = dict.fromkeys(map(ord, " \t\n\r\f\v\x85\xa0"))


def is_label(character: str) -> bool:
    """A letter, or anything beyond ASCII: opt_einsum's symbols go through Unicode in its order, signs and all."""
    return character.isalpha() or character > "\x7f"


def _split(term: str, name: str) -> tuple:
    """Labels before and after the ellipsis, and whether there is one."""
    if term.count(".") not in (0, 3) or (term.count(".") == 3 and "..." not in term):
        raise ValueError(f"the subscripts {term!r} of {name}: an ellipsis is three dots, once")
    for letter in term.replace("...", ""):
        if not is_label(letter):
            raise ValueError(
                f"the subscripts {term!r} of {name} have {letter!r}; labels are letters, or characters beyond ASCII"
            )
    before, dots, after = term.partition("...")
    return tuple(before), tuple(after), bool(dots)


@functools.lru_cache(maxsize=512)
def parse(spec: str, ranks: tuple) -> tuple:
    """(labels of each operand, labels of the result) for operands of these ranks.

    Raises
    ------
    ValueError
        Where the subscripts are wrong, or not for these ranks.
    """
    if not isinstance(spec, str):
        raise TypeError(f"the subscripts are {spec!r}; they must be a str")
    text = spec.translate(_BLANKS)
    inputs, arrow, output = text.partition("->")
    if "-" in inputs or ">" in inputs or "-" in output or ">" in output:
        raise ValueError(f"the subscripts {spec!r} may have one '->'")
    given = inputs.split(",")
    if len(given) != len(ranks):
        raise ValueError(f"the subscripts {spec!r} are for {len(given)} operands, and {len(ranks)} are given")
    terms, longest = [], 0
    for place, (term, rank) in enumerate(zip(given, ranks)):
        before, after, dots = _split(term, f"operand {place}")
        spare = rank - len(before) - len(after)
        if spare < 0 or (spare and not dots):
            raise ValueError(
                f"the subscripts {term!r} are for {len(before) + len(after)} axes; operand {place} has {rank}"
            )
        longest = max(longest, spare)
        terms.append(before + tuple(f"...{n}" for n in reversed(range(spare))) + after)
    broadcast = tuple(f"...{n}" for n in reversed(range(longest)))
    if not arrow:
        letters = [letter for letter in inputs if is_label(letter)]
        return tuple(terms), broadcast + tuple(sorted(letter for letter in letters if letters.count(letter) == 1))
    before, after, dots = _split(output, "the result")
    if broadcast and not dots:
        raise ValueError(f"the result of {spec!r} must have an ellipsis, since its operands have axes there")
    known = set().union(*terms)
    for letter in before + after:
        if letter not in known:
            raise ValueError(f"the result of {spec!r} has label {letter}, which no operand has")
        if (before + after).count(letter) > 1:
            raise ValueError(f"the result of {spec!r} has label {letter} more than once")
    return tuple(terms), before + broadcast + after


def interleaved(arguments: Sequence[Any]) -> tuple:
    """(subscripts, operands, the number of each label's letter) of einsum's other form: operand, labels, operand, labels, ..., labels of
    the result."""
    operands, lists = list(arguments[: len(arguments) // 2 * 2 : 2]), list(arguments[1::2])
    output = arguments[-1] if len(arguments) % 2 else None
    if not operands:
        raise ValueError("einsum needs subscripts and operands")
    try:
        used = sorted({n.__index__() for labels in lists for n in labels if n is not Ellipsis})
    except (TypeError, AttributeError):
        raise TypeError(
            "with operands first, each must be followed by a list of integers, Ellipsis among them"
        ) from None
    # Letters in the order of the numbers, for the order of an implicit result. CJK ideographs: thousands in a row.
    names = {number: chr(0x4E00 + place) for place, number in enumerate(used)}

    def text(labels: Sequence[Any]) -> str:
        try:
            return "".join("..." if n is Ellipsis else names[n.__index__()] for n in labels)
        except KeyError as missing:
            raise ValueError(f"the result has label {missing}, which no operand has") from None

    spec = ",".join(text(labels) for labels in lists)
    numbers = {ord(letter): f"[{number}]" for number, letter in names.items()}
    return (spec if output is None else f"{spec}->{text(output)}"), operands, numbers


@contextlib.contextmanager
def in_numbers(numbers: Mapping[int, str]) -> Iterator[None]:
    """What is refused has labels as the caller of the other form wrote them."""
    try:
        yield
    except ValueError as error:
        raise ValueError(str(error).translate(numbers)) from None
