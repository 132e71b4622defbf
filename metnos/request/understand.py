"""From text to a `Request`: tokens, language, slots, normal form, spans, clauses. One pass, no choice twice.

Law: pure, total on any text, and the same for wordings and for requests. The strict form keeps word order and every
word; it folds case, width, spacing and declared synonyms, abstracts slots as `{kind}`, and drops nothing but a
closed list of polite openings and closings and the marks at the end of a sentence. The loose form is made beside it.

    >>> understand("Show me the five biggest files, please").normal_form
    'show me the {integer} largest files'
    >>> understand("Show me the five biggest files, please").loose_form
    'show me {integer} largest files'
"""

from __future__ import annotations

from collections.abc import Sequence

from metnos.request.intents import Element, clauses_of
from metnos.request.lexicon import Lexicon, Phrase, choose, lexicon_for
from metnos.request.loose import greeted, is_loose
from metnos.request.model import Request, Slot, Span
from metnos.request.slots import Sight, slot_at
from metnos.request.tokens import Token, tokenise

_END_MARKS = frozenset(".?!…")
_KEPT_MARKS = frozenset(",;:()")


def understand(text: str, language: str | None = None) -> Request:
    """Explain `text` token by token.

    Args:
        text: What was said, any Unicode.
        language: A shipped language; None: the one whose lexicon explains more, ties by declared order.

    Returns:
        The request; spans tile `text` and each token has one reason.

    Raises:
        ValueError: `language` has no lexicon.
    """
    everything = tokenise(text)
    lexicon = choose(everything) if language is None else lexicon_for(language)
    tokens = [token for token in everything if token.kind != "space"]
    first, polite_from, last = _trim(tokens, lexicon)
    elements, loose, slots, reasons = _explain(Sight(text, tokens, lexicon), first, last)
    spans = _tile(len(text), tokens, first, polite_from, reasons)
    return Request(
        text=text,
        language=lexicon.language,
        normal_form=" ".join([element.form for element in elements]),
        loose_form=" ".join(loose),
        spans=spans,
        slots=tuple(slots),
        clauses=clauses_of(elements),
        negated=any(e.word is not None and "negation" in e.word.roles for e in elements),
    )


def _trim(tokens: Sequence[Token], lexicon: Lexicon) -> tuple[int, dict[int, str], int]:
    """(first token kept, index → reason of what is dropped, end of what is kept)."""
    dropped: dict[int, str] = {}
    first, last = 0, len(tokens)
    for phrase in lexicon.openings:
        if _at(tokens, 0, phrase):
            first = len(phrase.words)
            if first < last and tokens[first].key == ",":
                first += 1
            break
    dropped.update(dict.fromkeys(range(first), "polite"))
    last = _drop_marks(tokens, first, last, dropped)
    for phrase in lexicon.closings:
        start = last - len(phrase.words)
        if start >= first and _at(tokens, start, phrase):
            if start > first and tokens[start - 1].key == ",":
                start -= 1
            dropped.update(dict.fromkeys(range(start, last), "polite"))
            last = _drop_marks(tokens, first, start, dropped)
            break
    return first, dropped, last


def _at(tokens: Sequence[Token], start: int, phrase: Phrase) -> bool:
    words = phrase.words
    return tuple(token.key for token in tokens[start : start + len(words)]) == words


def _drop_marks(tokens: Sequence[Token], first: int, last: int, dropped: dict[int, str]) -> int:
    while last > first and tokens[last - 1].kind == "punct" and tokens[last - 1].key in _END_MARKS:
        last -= 1
        dropped[last] = "stop"
    return last


def _explain(
    sight: Sight, first: int, last: int
) -> tuple[list[Element], list[str], list[Slot], list[tuple[int, int, str]]]:
    """Elements of the form, the loose form, slots, and (token index, count, reason) of every token from `first` to `last`."""
    tokens, words, droppable = sight.tokens[:last], sight.lexicon.words, sight.lexicon.loose_triggers
    kept = greeted(tokens, first, sight.lexicon)
    loose: list[str] = []
    sight = sight._replace(tokens=tokens)
    elements: list[Element] = []
    slots: list[Slot] = []
    reasons: list[tuple[int, int, str]] = []
    at = first
    while at < last:
        token = tokens[at]
        word = words.get(token.key) if token.kind == "word" else None
        found = slot_at(sight, at, word)
        count = 1
        if found is not None:
            count = found.length
            end = tokens[at + count - 1].end
            form, reason, word = f"{{{found.kind}}}", f"slot({found.kind})", None
            form = found.form.replace("{}", form) if found.form else form
            slots.append(
                Slot(kind=found.kind, start=token.start, end=end, text=sight.text[token.start : end], value=found.value)
            )
        elif word is not None:
            end, form, reason = token.end, word.canonical, word.reason
        else:
            end, (form, reason) = token.end, _unworded(token)
        elements.append(Element(token.start, end, form, word))
        if at >= kept and not (found is None and token.key in droppable and is_loose(tokens, at, sight.lexicon)):
            loose.append(form)
        reasons.append((at, count, reason))
        at += count
    return elements, loose, slots, reasons


def _unworded(token: Token) -> tuple[str, str]:
    """Form and reason of a mark or an unknown token; braces are doubled, so no text looks like a slot."""
    if token.kind == "punct" and token.key in _KEPT_MARKS:
        return token.key, "stop"
    return token.key.replace("{", "{{").replace("}", "}}"), "unknown"


def _tile(
    length: int, tokens: Sequence[Token], first: int, dropped: dict[int, str], reasons: Sequence[tuple[int, int, str]]
) -> tuple[Span, ...]:
    """Spans over the whole text, white space between them included."""
    explained = [(index, 1, "polite") for index in range(first)]
    explained += reasons
    explained += [(index, 1, dropped[index]) for index in sorted(dropped) if index >= first]
    spans: list[Span] = []
    position = 0
    for index, count, reason in explained:
        start, end = tokens[index].start, tokens[index + count - 1].end
        if start > position:
            spans.append(Span(start=position, end=start, reason="space"))
        spans.append(Span(start=start, end=end, reason=reason))
        position = end
    if position < length:
        spans.append(Span(start=position, end=length, reason="space"))
    return tuple(spans)
