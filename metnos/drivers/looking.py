"""Whether something is there by a name that a person said, for whoever has to tell readings of their words apart (ADR 0025).

Law: through the same door as an executor's files: below the granted folders, no symlink, nothing withheld. The answer is
yes or no; nothing is listed or read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.execute.grant import Grant
from metnos.execute.roots import RootedFiles
from metnos.sdk import FilesError

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.settings import Settings


def looks(settings: Settings) -> Callable[[str], bool]:
    """Whether something is there by a name, below the granted folders and nowhere else; it never lists."""

    def there(name: str) -> bool:
        roots = tuple(map(str, settings.roots))
        files = RootedFiles(Grant(folder=str(settings.folder), roots=roots, withheld=(str(settings.home),)))
        try:
            files.stat(name)
        except (FilesError, OSError, ValueError):
            return False
        finally:
            files.close()
        return True

    return there
