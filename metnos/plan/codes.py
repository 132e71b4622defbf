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
    # --- checks/: a plan against the catalog ---
    "unknown-tool": Code("model", "The catalog has no such tool", "Use one of those listed."),
    "unknown-argument": Code("model", "The tool has no such argument", "Remove it, or mend its spelling."),
    "missing-argument": Code("model", "A required argument is missing", "Add it."),
    "missing-one-of": Code("model", "None of a group of arguments is given", "Give one of them."),
    "type-mismatch": Code("model", "The value is of a type that its place does not take", "Give a value of the type expected, or refer to another field."),
    "invalid-value": Code("model", "The value breaks a rule of the argument", "See what is expected."),
    "literal-too-large": Code("model", "A literal is too large", "Hand it in as an input, or read it from a file."),
    "reference-unknown-step": Code("model", "There is no such step", "Refer to an earlier step of the plan."),
    "reference-forward": Code("model", "A step refers to itself or to a later one", "Move the step that is referred to before this one."),
    "fallback-needed": Code("model", "What is referred to may be missing", "Write `?? literal`; for `[0]`, `when: {nonempty: N}` does as well."),
    "fallback-mismatch": Code("model", "The fallback does not fit its place", "Write a literal of the type that the argument takes."),
    "may-be-skipped": Code("model", "A step that is referred to may be skipped", "Write `?? literal`, or give this step the same `when`."),
    "text-not-scalar": Code("model", "Only a string, a number or a boolean can stand inside text", "Refer to one of its fields, or give the reference alone."),
    "item-outside": Code("model", "`${item}` stands outside `for_each`", "Add `for_each`, or name a step."),
    "slot-outside-template": Code("model", "A slot stands in a plan", "Slots are bound in templates only: write the value."),
    "input-missing": Code("caller", "No such input was given", "Hand it in with the plan, or ask for it with `needs_inputs`."),
    "for-each-not-list": Code("model", "`for_each` needs a list", "Refer to a collection."),
    "for-each-nested": Code("model", "A step would run over two lists", "Use `from_step` or `for_each`, not both."),
    "no-collection": Code("model", "The step makes no collection", "Name a step that makes one."),
    "nothing-consumed": Code("model", "The tool takes no collection from a step", "Write a reference into one of its arguments."),
    "nothing-produced": Code("model", "The step makes nothing that can be handed on", "Refer to a field of its result."),
    "kind-mismatch": Code("model", "The tool does not take what the step makes", "Put a step between the two that reads the one into the other."),
    "missing-undecided": Code("model", "Entries may lack a field, and nothing says what happens then", "Give the argument `missing`."),
    "continue-with-effect": Code("model", "A step with an effect may not be passed over when it fails", "Leave `on_error` out."),
    # --- checks/guards/ ---
    "unrequested-effect": Code("model", "The plan would do what was not asked for", "Say that you want it, or leave the step out."),
    "negated-effect": Code("model", "The request says not to do something", "Say what to do, without a negation."),
    "ungrounded-target": Code("model", "A target comes neither from the request nor from a step", "Name the target in the request."),
    "unrequested-overwrite": Code("model", "Something would be replaced that was not asked to be", "Ask to overwrite it, or choose another name."),
    "guard-failed": Code("environment", "A guard could not judge the plan", "This is a fault of Metnos: please report it."),
    # --- record/: the store ---
    "record-store": Code("environment", "The database cannot be opened or read", "Check the disk and the rights of METNOS_HOME."),
    "record-schema": Code("environment", "The database has another schema", "Use the version of Metnos that wrote it, or another METNOS_HOME."),
    "record-busy": Code("environment", "The database is held by another process", "Try again when that process has ended."),
    "record-write": Code("environment", "The records could not be written", "Free space or mend the disk, then resume the turn."),
    "record-conflict": Code("environment", "Somebody else wrote the same record", "Resume the turn; it goes on from what is stored."),
    "anchor-write": Code("environment", "The head anchor could not be written", "Free space or mend the disk, then resume the turn."),
    "anchor-read": Code("environment", "The head anchors cannot be read", "Check the disk and the rights of METNOS_HOME."),
    "key-unusable": Code("environment", "The installation's log key cannot be used", "Check the rights of the file that is named."),
    "writer-unusable": Code("environment", "This writer of the turn has ended or met a fault", "Resume the turn."),
    "stale-fence": Code("environment", "The turn was claimed by another process meanwhile", "Leave it to that process."),
    "turn-busy": Code("environment", "The turn is being worked on by another process", "Wait until it ends, or stop that process."),
    "turn-missing": Code("caller", "There is no such turn", "List the turns with `metnos log`."),
    "turn-exists": Code("caller", "There is such a turn already", "Give every turn an id of its own."),
    "turn-closed": Code("caller", "The turn is closed", "Ask again; a closed turn is never reopened."),
    "turn-id": Code("caller", "This is not a turn id", "Use letters, digits, `.`, `_` and `-`, at most 128."),
    "record-unencodable": Code("caller", "An input holds something that is not JSON", "Hand in JSON values only."),
    "record-order": Code("caller", "The records come in the wrong order", "Append the TurnOpened of the turn first."),
    "step-not-asked": Code("caller", "A step was started that was not asked for", "After a resume, hand the folded commands to the writer first."),
    "operation-done": Code("caller", "This operation was done already", "Nothing to do: an effect is never repeated."),
    "approval-used": Code("caller", "The approval was answered or used already", "Resume the turn to see what it waits for."),
    "approval-not-given": Code("caller", "The step has an approval that was not given", "Answer the approval first."),
    "dialog-answered": Code("caller", "The dialog was answered already", "Resume the turn to see what it waits for."),
    # --- record/: what a log proves ---
    "record-missing": Code("trust", "A record is missing", "The turn cannot be resumed; restore the whole METNOS_HOME, or ask again."),
    "record-altered": Code("trust", "A record is not what was recorded", "The turn cannot be resumed; restore the whole METNOS_HOME, or ask again."),
    "record-malformed": Code("trust", "A record cannot be read by this version", "Read it with the version of Metnos that wrote it."),
    "log-version": Code("environment", "The log has another format", "Read it with the version of Metnos that wrote it."),
    "log-missing": Code("trust", "The turn was recorded and its log is gone", "Restore the database that belongs to the anchors."),
    "log-cut-off": Code("trust", "The end of the log is missing", "The turn cannot be resumed; restore the whole METNOS_HOME, or ask again."),
    "log-behind-anchor": Code("trust", "The log is older than its anchor", "Restore the database that belongs to the anchors; effects may have happened since."),
    "anchor-mismatch": Code("trust", "The log is another one than was anchored", "Restore the database that belongs to the anchors; effects may have happened since."),
    "anchor-malformed": Code("trust", "The file of anchors is damaged", "Restore it from a copy that is not older than the database."),
    "head-missing": Code("trust", "The turn ended without a signed head", "The log cannot be trusted beyond its chain."),
    "head-mismatch": Code("trust", "The signed head is over another log", "The log was rewritten after it was signed."),
    "head-key": Code("trust", "The head was signed by another installation", "Verify it where it was recorded."),
    "head-signature": Code("trust", "The signature of the head does not hold", "The log was rewritten after it was signed."),
    "blob-missing": Code("trust", "A large result is missing from the blob folder", "Restore the whole METNOS_HOME."),
    "blob-altered": Code("trust", "A large result is not what was recorded", "Restore the whole METNOS_HOME."),
    "ledger-mismatch": Code("trust", "The ledger says something else than the records", "The turn cannot be resumed; restore the whole METNOS_HOME."),
    # --- contracts/manifest.py: what a manifest says ---
    "manifest-syntax": Code("trust", "The manifest cannot be read", "Mend the TOML; a key may stand only once in a table."),
    "manifest-oversize": Code("trust", "A file of the catalog is larger than the limit", "At most 256 KiB for a manifest or a template."),
    "manifest-missing": Code("trust", "An executor has no manifest", "Add `manifests/NAME.toml`, or remove the folder."),
    "manifest-unknown-field": Code("trust", "There is no such field in a manifest", "`metnos schema manifest` lists the fields."),
    "manifest-missing-field": Code("trust", "A field of the manifest is missing", "`metnos schema manifest` says which ones are required."),
    "manifest-field": Code("trust", "A field of the manifest has a wrong value", "`metnos schema manifest` says what it may be."),
    "manifest-name": Code("trust", "The name does not say what the executor does", "`verb_object`, or `verb_object_provider`, of one of its families."),
    "manifest-args": Code("trust", "The arguments are not a closed object", "`type = \"object\"` and `additionalProperties = false` in `[args]`."),
    "manifest-argument": Code("trust", "Something is named as an argument and is none", "Name a property of `[args]`."),
    "manifest-effects": Code("trust", "The effect rules cannot be applied", "First match wins; only the last rule has no `when`; one target for an effect."),
    "manifest-result-field": Code("trust", "The produced field is not in the result", "Name a required property of `[result]`; an array if it makes many."),
    "manifest-kind": Code("trust", "The kind does not exist, or does not fit", "Kinds are listed in `metnos/contracts/kinds.toml`."),
    "manifest-family": Code("trust", "The family is not in the vocabulary", "Pairs are listed in `metnos/contracts/vocabulary.toml`."),
    "manifest-description": Code("trust", "A description is missing in one language", "Describe it in English and in Italian."),
    "manifest-code-file": Code("trust", "The code files are not listed rightly", "List each file once, `executor.py` among them."),
    # --- contracts/schemas.py: JSON Schemas ---
    "schema-malformed": Code("trust", "It is not a JSON Schema 2020-12", "Mend it at the place named."),
    "schema-oversize": Code("trust", "The schema is too large", "At most 32 levels and 10,000 nodes."),
    "schema-unknown-keyword": Code("trust", "The schema holds an unknown keyword", "Mend its spelling; own annotations begin with `x-`."),
    "schema-ref": Code("trust", "The schema refers to something outside itself", "Refer to `#/$defs/NAME` only."),
    "schema-ref-cycle": Code("trust", "The schema refers to itself without going deeper", "Put the reference under `properties` or `items`."),
    "schema-ref-bomb": Code("trust", "Too many schemas apply to one value", "Simplify it: at most 2,000."),
    "schema-pattern": Code("trust", "The pattern cannot be matched in linear time", "No look-around and no back-reference."),
    # --- contracts/imports.py, build.py: code of an executor ---
    "code-syntax": Code("trust", "The code is not Python", "Mend it at the line named."),
    "import-forbidden": Code("trust", "The executor imports what it may not", "Declare the distribution in the manifest, or do without."),
    # --- contracts/trust.py, admission.py: who vouches for it ---
    "catalog-missing": Code("trust", "There is no signed catalog", "`make` signs one into build/catalog."),
    "trust-malformed": Code("trust", "The trust file cannot be read", "Install Metnos again, or run `make`."),
    "trust-expired": Code("trust", "The trust file has expired", "Update Metnos."),
    "envelope-malformed": Code("trust", "It is not a signed envelope", "Sign it again."),
    "signature-invalid": Code("trust", "The signature does not fit the bytes", "They were altered; install or sign again."),
    "key-unknown": Code("trust", "The key that signed is not trusted here", "Sign with a key of the trust file."),
    "key-not-allowed": Code("trust", "Nobody may sign this name", "Add a role for it to the trust file."),
    "key-expired": Code("trust", "The key that signed has expired", "Update to a version signed with a valid key."),
    "key-revoked": Code("trust", "The key that signed was revoked", "Update to a version signed with a valid key."),
    "threshold-not-met": Code("trust", "Too few distinct keys have signed", "Have it signed by more of the keys in its role."),
    "manifest-revoked": Code("trust", "This version was withdrawn", "Update to a version that is not."),
    "version-downgraded": Code("trust", "The version is lower than one seen before", "Install the later version; versions only go up."),
    "seen-damaged": Code("trust", "The memory of versions seen is damaged", "Remove METNOS_HOME/trust/seen.json only if you trust this catalog."),
    "name-mismatch": Code("trust", "The manifest has another name than its file", "Rename one of the two."),
    "sdk-version": Code("trust", "The executor was signed for another SDK", "Sign it again with this version."),
    "file-missing": Code("trust", "A file of the catalog cannot be read", "Install or sign again."),
    "file-length": Code("trust", "A code file has another length than was signed", "It was altered; install or sign again."),
    "file-digest": Code("trust", "A code file has another digest than was signed", "It was altered; install or sign again."),
    "distribution-missing": Code("environment", "A distribution that the executor needs is not installed", "Install it."),
    "distribution-version": Code("environment", "A distribution has a version that the executor does not take", "Install a version as the manifest says."),
    "platform-unsupported": Code("environment", "The executor does not run on this platform", "Use another one."),
}
