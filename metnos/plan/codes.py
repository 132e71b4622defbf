"""The table of all codes: what a diagnostic, a fault or a refusal may be called.

Law: a code is stable (VERSIONING), its wording is not. Whoever adds a check adds its code here, in the section of
the room; `docs/` has a heading for each (a test holds the two equal). This module knows no check.
"""

from __future__ import annotations

import msgspec

from metnos.plan.diagnostics import Family


class Code(msgspec.Struct, frozen=True):
    """Whose fault it is, what it is, and how to mend it (English; people read `text/`)."""

    family: Family
    title: str
    hint: str


CODES: dict[str, Code] = {
    # --- plan/jsondata.py: strict JSON ---
    "too-large": Code("caller", "The data are larger than the limit", "Plans, manifests and arguments: 256 KiB; results: 16 MiB."),
    "too-deep": Code("caller", "The data are nested too deeply", "At most 32 levels of objects and lists."),
    "not-utf8": Code("caller", "The bytes are not UTF-8", "Save the file as UTF-8 without a byte order mark."),
    "json-syntax": Code("caller", "The text is not JSON", "Mend the text at the line and column named."),
    "duplicate-key": Code("caller", "An object has one key twice", "Keep one of the two."),
    "not-a-number": Code("caller", "NaN and infinity are not JSON", "Use null, or leave the field out."),
    "integer-range": Code("caller", "An integer is beyond 2^53 - 1", "Write it as a string."),
    "lone-surrogate": Code("caller", "A string holds half a surrogate pair", "Write the whole character."),
    "not-json": Code("caller", "A value is of no JSON type", "Only objects, lists, strings, numbers, true, false and null."),
    # --- plan/parse.py: form of a plan ---
    "wrong-type": Code("model", "A value is of the wrong type", "Give a value of the type that is expected here."),
    "missing-field": Code("model", "A field is missing", "Add the field."),
    "unknown-field": Code("model", "There is no such field", "Remove it, or mend its spelling."),
    "bad-value": Code("model", "The value is not one of those allowed here", "Use one of the values listed."),
    "bad-name": Code("model", "A name is spelled in a way that is not allowed", "See the form that is expected."),
    "reserved-name": Code("model", "A name means something else already", "Choose a name that is neither a number nor like `step2`, `plan1`, `item`."),
    "duplicate-id": Code("model", "Two steps have the same id", "Rename one of them."),
    "terminal-missing": Code("model", "The plan has no end", "Close it with `final_answer`, `ask` or `needs_inputs`."),
    "terminal-not-last": Code("model", "A step follows the end of the plan", "Move the end behind the last step."),
    "terminal-twice": Code("model", "The plan ends twice", "Keep one end."),
    "too-many-steps": Code("model", "The plan has too many steps", "At most 200 steps; use `for_each` for repeated calls."),
    "too-many-items": Code("model", "A list to run over is too long", "At most 1,000 items."),
    "unknown-filler": Code("model", "A filler is used that the plan does not define", "Define it under `fillers`."),
    "unused-filler": Code("model", "A filler is defined and never used", "Remove it, or refer to it."),
    "reference-not-allowed": Code("model", "References are not read in this place", "Write plain text here."),
    # --- plan/spelling.py: references ---
    "reference-syntax": Code("model", "A reference is misspelled", "Write `${step2.entries[0].path}`; `$${` is a literal `${`."),
    # --- plan/notation.py: line notation ---
    "line-syntax": Code("model", "A line of the plan cannot be read", "One step a line: `1 tool name=value`; close with `end`."),
    "line-number": Code("model", "A line has the wrong step number", "Number the steps 1, 2, 3 … in order."),
    "outside-notation": Code("caller", "The plan cannot be shown in line notation", "Print it as JSON."),
    # --- values/resolve.py: resolution ---
    "value-missing": Code("tool", "The data lack a field that is referred to", "Name a field that is there, or give a fallback: `?? literal`."),
    "index-range": Code("tool", "The list is shorter than the index", "Give a fallback: `?? literal`."),
    "value-type": Code("tool", "The data have another shape than the reference says", "Name a field only in an object, an index only in a list."),
    "not-scalar": Code("tool", "An object or a list cannot stand inside text", "Refer to one of its fields, or give the reference alone."),
    "null-in-text": Code("tool", "Null cannot stand inside text", "Give a fallback: `?? literal`."),
    "step-absent": Code("tool", "A step that is referred to gave nothing", "Give a fallback: `?? literal`."),
    "unknown-runtime-key": Code("model", "There is no such value of the runtime", "now, today, yesterday, tomorrow, day, day-N, week, week-N, month, month-N, year, year-N."),
    "unknown-zone": Code("environment", "The time zone is not known here", "Set a zone of the IANA data base, `Europe/Rome`; install `tzdata` where the system has none."),
}
