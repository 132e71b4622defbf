"""From the parsed data files to a `Lexicon`.

Law: a file that contradicts itself is a fault, never a choice. Nothing is learned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

from metnos.request.building import build_words, pairs, phrases
from metnos.request.tokens import fold
from metnos.request.words import Ask, Lexicon, Loose, Phrasal, Phrase, Said, Times

_SAID: tuple[Literal["period", "date", "duration", "time"], ...] = ("period", "date", "duration", "time")


def read_lexicon(data: Mapping[str, Any], common: Mapping[str, Any]) -> Lexicon:
    """A lexicon from the parsed files.

    Raises:
        LexiconFault: a word has two canonical forms.
    """
    language = data["language"]
    words = build_words(data, language)
    slots, said, marks, numbering = data["slots"], _said(data), data["marks"], data["numbers"]
    numbers, multipliers = _counts(numbering["words"]), _counts(numbering["multipliers"])
    units, signs = _counts(common["units"] + data["units"]["words"]), _counts(common["unit_signs"])
    types = {word: f"*.{word}" for word in common["types"].split()}
    plural = {word + slots["plural"]: glob for word, glob in types.items()} if slots["plural"] else {}
    plural = {word: glob for word, glob in plural.items() if word not in _set(slots["never_types"])}
    types.update(pairs(slots["types"]))
    spans, days = phrases(data["phrases"]["span"]), _counts(data["phrases"]["days"])
    loose, times, phrasal = (
        _loose(data["loose"]),
        _times(data["times"]),
        _phrasal(data["phrasal"], data["clitics"]["objects"]),
    )
    openings, closings = phrases(data["phrases"]["opening"]), phrases(data["phrases"]["closing"])
    one = _set(numbering["one"])
    begins = {phrase.words[0] for phrase in spans} | said.keys()
    known = {word for phrase in (*openings, *closings) for word in phrase.words}
    known.update(word for found in phrasal.verbs.values() for phrase in found for word in phrase.words)
    known.update(phrasal.asks if data["phrasal"]["tells"] else ())
    known.update(
        words, numbers, multipliers, units, map(fold, signs), types, plural, said, days, times.durations, times.months
    )
    return Lexicon(
        language=language,
        order=data["order"],
        words=words,
        numbers=numbers,
        multipliers=multipliers,
        one=one,
        units=units,
        unit_signs=signs,
        unit_names=frozenset(units) | {fold(sign) for sign in signs},
        counted_units=frozenset(units) - _set(data["units"]["uncounted"]),
        thousands=numbering["thousands"],
        types=types,
        plural_types=plural,
        file_nouns=_set(slots["file_nouns"]),
        extension_marks=_set(slots["extension_marks"]),
        name_marks=_set(slots["name_marks"]),
        name_before=_set(slots["name_before"]),
        calling=frozenset(tuple(fold(said).split()) for said in slots["calling"].split(",")),
        plural_marks=_set(slots["plural_marks"]),
        never_names=frozenset(fold(word) for word in f"{slots['never_names']} {common['never_names']}".split()),
        text_marks=_set(slots["text_marks"]),
        verb_types=_set(slots["verb_types"]),
        type_after=_set(slots["type_after"]),
        type_before=_set(slots["type_before"]),
        singular_form=slots["singular_form"],
        plural_form=slots["plural_form"],
        towards=_set(marks["towards"]),
        inside=_set(marks["inside"]),
        origin=_set(marks["origin"]),
        place_clitics=tuple(data["clitics"]["place"].split()),
        dropped=tuple(data["clitics"]["dropped"].split()),
        there=by_first(phrases(data["phrases"]["there"])),
        genitive=_set(marks["genitive"]),
        means=_set(marks["means"]),
        named=_set(marks["named"]),
        joins=_set(marks["joins"]),
        names=_set(common["names"]),
        openings=by_first(openings),
        closings=by_last(closings),
        quoting=_set(f"{slots['text_marks']} {marks['named']} {marks['quoting']} {marks['writing']}"),
        writing=_set(marks["writing"]),
        mentioning=_set(f"{marks['mentioning']} {marks['mentioning_asked']}"),
        mentioning_asked=_set(marks["mentioning_asked"]),
        saying=_set(data["phrases"]["saying"]),
        folds={},
        said=said,
        times=times,
        spans={first: tuple(p.words for p in found) for first, found in by_first(spans).items()},
        days=days,
        triggers=frozenset(
            {*numbers, *multipliers, *one, *types, *plural, *begins, *times.months}
            | times.ordinals.keys()
            | times.duration_articles
        ),
        phrasal=phrasal,
        loose=loose,
        loose_triggers=loose.triggers,
        known=frozenset(known),
    )


def by_first(found: Iterable[Phrase]) -> dict[str, tuple[Phrase, ...]]:
    """First word → phrases, in their order."""
    table: dict[str, tuple[Phrase, ...]] = {}
    for phrase in found:
        table[phrase.words[0]] = (*table.get(phrase.words[0], ()), phrase)
    return table


def by_last(found: Iterable[Phrase]) -> dict[str, tuple[Phrase, ...]]:
    """Last word → phrases, in their order."""
    table: dict[str, tuple[Phrase, ...]] = {}
    for phrase in found:
        table[phrase.words[-1]] = (*table.get(phrase.words[-1], ()), phrase)
    return table


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _counts(text: str) -> dict[str, int]:
    return {word: int(value) for word, value in pairs(text)}


def _said(data: Mapping[str, Any]) -> dict[str, tuple[Said, ...]]:
    """Phrases that are slots: declared ones, weekdays with what may stand beside them, and their possessives."""
    found = [Said(p.words, kind, p.value) for kind in _SAID for p in phrases(data["phrases"][kind])]
    times = data["times"]
    before, after = dict(pairs(times["weekday_before"])), dict(pairs(times["weekday_after"]))
    for day, name in pairs(times["weekdays"]):
        found.append(Said((day,), "date", name))
        found += [Said((word, day), "date", f"{value} {name}") for word, value in before.items()]
        found += [Said((day, word), "date", f"{value} {name}") for word, value in after.items()]
    if ending := times["possessive"]:
        found += [
            Said((*said.words[:-1], said.words[-1] + ending), said.kind, said.value, f"{{}} {ending}")
            for said in found
            if said.kind in {"period", "date"}
        ]
    table: dict[str, tuple[Said, ...]] = {}
    for said in sorted(found, key=lambda said: -len(said.words)):
        table[said.words[0]] = (*table.get(said.words[0], ()), said)
    return table


def _times(data: Mapping[str, Any]) -> Times:
    return Times(
        durations=dict(pairs(data["durations"])),
        duration_articles=_set(data["duration_articles"]),
        homographs=_set(data["homographs"]),
        months=_counts(data["months"]),
        ordinals=_counts(data["ordinals"]),
        ordinal_marks=_set(data["ordinal_marks"]),
        month_joins=_set(data["month_joins"]),
        hour_marks=frozenset(phrase.words for phrase in phrases(data["hour_marks"])),
        meridiems=_counts(data["meridiems"]),
        day_first=cast("bool", data["day_first"]),
    )


def _phrasal(data: Mapping[str, Any], objects: str) -> Phrasal:
    found = [Phrase(p.words, verb) for verb, text in data["verbs"].items() for p in phrases(text)]
    return Phrasal(
        verbs=by_first(sorted(found, key=lambda phrase: -len(phrase.words))),
        placed=_set(data["placed"]),
        indefinite=_set(data["indefinite"]),
        new=_set(data["new"]),
        lists=_set(data["lists"]),
        asks=_asks(data["asks"]),
        pointing=_set(data["pointing"]),
        pronouns=_set(data["pronouns"]),
        leading=_set(data["leading"]),
        told=_set(data["told"]),
        unwanted=by_first(phrases(data["unwanted"])),
        reasons=tuple(_optional(line) for line in data["reasons"].replace("\n", " ").split(",") if line.strip()),
        because=_set(data["because"]),
        objects=tuple(objects.split()),
        wishes=_set(data["wishes"]),
    )


def _asks(data: Mapping[str, str]) -> dict[str, tuple[Ask, ...]]:
    """First word → patterns; `^` in front says that they stand where a verb does."""
    table: dict[str, tuple[Ask, ...]] = {}
    for verb, text in data.items():
        for line in text.replace("\n", " ").split(","):
            parts = [tuple(part.split("|")) for part in line.split()]
            if parts:
                leads = parts[0] == ("^",)
                ask = Ask(verb=verb, leads=leads, parts=tuple(parts[leads:]))
                for word in ask.parts[0]:
                    table[word] = (*table.get(word, ()), ask)
    return table


def _optional(line: str) -> tuple[frozenset[str], ...]:
    """Words with alternatives; `?` behind them: or none."""
    parts = ((part.removesuffix("?"), part.endswith("?")) for part in line.split())
    return tuple(frozenset([*words.split("|"), *[""] * left]) for words, left in parts)


def _loose(data: Mapping[str, str]) -> Loose:
    return Loose(
        greetings=by_first(phrases(data["greeting"])),
        telling=by_first(phrases(data["telling"])),
        asked=_set(data["asked"]),
        asking=by_first(phrases(data["asking"])),
        conditions=_set(data["conditions"]),
        polite=_set(data["polite"]),
        polite_after=_set(data["polite_after"]),
        articles=_set(data["article"]),
        article_before=_set(f"{data['article_before']} {data['superlatives']}"),
        superlatives=_set(data["superlatives"]),
    )
