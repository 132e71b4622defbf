"""The plan language in a page, for a model that has never seen it.

Law: every line of it is held to the reader by a test: the example parses, and each word that it teaches is one.
"""

from __future__ import annotations

from typing import Final

EXAMPLE: Final = """\
1 list_rooms floor=2
2 keep_free <1 from="${RUNTIME:day}"
3 book_room room=${step2.entries[0].name} seats=8 if 2
end text="Booked: ${step3.name ?? \\"nothing was free\\"}."
"""
"""Not of any catalog: it shows form only."""

GUIDE: Final = f"""\
Write one plan that does what is asked, with the tools listed and nothing else. Answer with the plan alone.
One step a line: its number, the tool, then name=value. A value is JSON or one reference. The last line has no number.

{EXAMPLE}
- `<N` hands step N's result to the argument that takes a collection.
- `${{step1}}` is the whole result of step 1; `${{step1.count}}` a field; `${{step1.entries[0].path}}` of the first entry;
  `${{step1.entries[*].size}}` of all. A field that may be missing, an index, and a step that may be skipped need a
  fallback: `${{step1.entries[0].path ?? "none"}}`.
- `each ${{step1.entries}}` runs the step once for each entry, which is then `${{item.path}}`.
- `if N` runs the step only if step N gave something, `unless N` only if it gave nothing; `continue` goes on if it fails.
- `${{INPUT:name}}` is a value that the person or the program has given.
- `end text="..."` answers in words, `end data={{"name": ...}}` with data, `end` alone with what was done.
- `ask question="..."` instead of `end` asks the person for what is missing.
- Never invent a path, an address or a name: take it from the request, from a step, or ask.
"""
