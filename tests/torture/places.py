"""A program that uses a store in an awkward place and says what went wrong.

    python -m tests.torture.places PLAYS.json

PLAYS.json is a list of [scene, kind, folder]; each folder holds a sound store, and each play
is a process of its own. Prints their complaints as JSON. Permissions mean nothing to root: a
scene that is about them is played by nobody.
"""

from __future__ import annotations

import codecs
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.torture.checker import next_step
from tests.torture.children import start
from tests.torture.subjects import Subject, location, open_subject
from tests.torture.worker import failure, outcome, teller

NOBODY = 65534
FILE_MODE, FOLDER_MODE, KEPT_MODE = 0o600, 0o700, 0o640
LOADED_LATE = ("utf-8-sig", "idna")
Scene = Callable[[str, Path], list[str]]


def main_file(kind: str, folder: Path) -> Path:
    """The file that holds what was written; a daily log has one for each day."""
    path = location(kind, folder)
    return min(path.glob("*.md")) if path.is_dir() else path


def become_nobody(folder: Path) -> None:
    if os.geteuid():
        return
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    for encoding in LOADED_LATE:
        codecs.lookup(encoding)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def attempt(subject: Subject, number: int) -> str:
    return outcome(subject, next_step(number))


def check_refusal(said: str, where: Path) -> list[str]:
    """Return what is wrong with an answer that should be a clear refusal."""
    if not said.startswith("refused"):
        return [f"not refused, but {said}"]
    return [] if where.name in said else [f"it does not name {where.name}: {said}"]


def missing(subject: Subject, *texts: str) -> list[str]:
    found = subject.list_texts()
    return [f"missing: {text[:60]!r}" for text in texts if text not in found]


def check_reopening(kind: str, folder: Path, before: list[str], number: int) -> list[str]:
    """All that was there is there, and a write works."""
    subject = open_subject(kind, folder)
    said = attempt(subject, number)
    complaints = missing(subject, *before, next_step(number).text)
    subject.close()
    return complaints + ([f"the next write is {said}"] if said != "ok" else [])


def folder_is_read_only(kind: str, folder: Path) -> list[str]:
    become_nobody(folder)
    subject = open_subject(kind, folder)
    before = subject.list_texts()
    inner = main_file(kind, folder).parent
    with read_only(inner):
        complaints = check_refusal(attempt(subject, 0), inner)
        complaints += missing(subject, *before)
    subject.close()
    return complaints + check_reopening(kind, folder, before, 1)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Neither the folder nor what is in it can be written."""
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.iterdir()]}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    yield
    for path, mode in modes.items():
        path.chmod(mode)


def new_store_in_a_read_only_folder(kind: str, folder: Path) -> list[str]:
    place = folder / "closed"
    place.mkdir()
    become_nobody(folder)
    place.chmod(0o555)
    try:
        said = attempt(open_subject(kind, place), 0)
    except Exception as error:
        said = failure(error)
    return check_refusal(said, place)


def folder_is_gone(kind: str, folder: Path) -> list[str]:
    subject = open_subject(kind, folder)
    before = subject.list_texts()
    folder.rename(folder.with_suffix(".away"))
    complaints = check_refusal(attempt(subject, 0), folder)
    if folder.exists():
        complaints.append(f"made again: {sorted(map(str, folder.rglob('*')))}")
        shutil.rmtree(folder)
    folder.with_suffix(".away").rename(folder)
    complaints += [f"when it is back: {each}" for each in check_use(subject, before, 1)]
    return complaints + check_reopening(kind, folder, before, 2)


def check_use(subject: Subject, before: list[str], number: int) -> list[str]:
    said = attempt(subject, number)
    complaints = missing(subject, *before, next_step(number).text)
    subject.close()
    return complaints + ([f"the next write is {said}"] if said != "ok" else [])


def file_is_gone(kind: str, folder: Path) -> list[str]:
    subject = open_subject(kind, folder)
    before = subject.list_texts()
    file = main_file(kind, folder)
    away = folder.with_suffix(".away")
    file.rename(away)
    complaints = check_refusal(attempt(subject, 0), file)
    if file.exists():
        complaints.append(f"made again: {file.read_bytes()[:80]!r}")
        file.unlink()
    away.rename(file)
    complaints += [f"when it is back: {each}" for each in check_use(subject, before, 1)]
    return complaints + check_reopening(kind, folder, before, 2)


def file_is_replaced(kind: str, folder: Path) -> list[str]:
    """Somebody restores another version while the store is open."""
    other = folder.with_suffix(".other")
    shutil.copytree(folder, other)
    writing = open_subject(kind, other)
    attempt(writing, 0)
    writing.close()
    subject = open_subject(kind, folder)
    before = subject.list_texts()
    main_file(kind, other).rename(main_file(kind, folder))
    complaints = [f"not seen: {each}" for each in missing(subject, *before, next_step(0).text)]
    complaints += [f"after it: {each}" for each in check_use(subject, before, 1)]
    return complaints + check_reopening(
        kind, folder, [*before, next_step(0).text, next_step(1).text], 2
    )


def file_is_read_only(kind: str, folder: Path) -> list[str]:
    become_nobody(folder)
    file = main_file(kind, folder)
    subject = open_subject(kind, folder)
    before = subject.list_texts()
    subject.close()
    file.chmod(0o444)
    try:
        subject = open_subject(kind, folder)
        said = attempt(subject, 0)
        complaints = missing(subject, *before)
        subject.close()
    except Exception as error:
        said, complaints = failure(error), []
    mode = stat.S_IMODE(file.stat().st_mode)
    complaints += check_refusal(said, file) if said != "ok" else []
    complaints += [f"its mode became {mode:o}"] if mode != 0o444 else []
    file.chmod(FILE_MODE)
    return complaints + check_reopening(kind, folder, before, 1)


def file_is_a_link(kind: str, folder: Path) -> list[str]:
    file = main_file(kind, folder)
    target = folder.with_suffix(".elsewhere")
    target.mkdir()
    real = target / f"real name{file.suffix}"
    file.rename(real)
    file.symlink_to(real)
    subject = open_subject(kind, folder)
    before = subject.list_texts()
    complaints = check_use(subject, before, 0)
    complaints += [] if file.is_symlink() else ["the link is gone"]
    complaints += check_reopening(kind, folder, [*before, next_step(0).text], 1)
    return complaints + ([] if real.is_file() else ["what it leads to is gone"])


def folder_is_a_link(kind: str, folder: Path) -> list[str]:
    real = folder.with_suffix(".elsewhere")
    folder.rename(real)
    folder.symlink_to(real)
    before = open_subject(kind, folder).list_texts()
    complaints = check_reopening(kind, folder, before, 0)
    complaints += [] if folder.is_symlink() else ["the link is gone"]
    return complaints + check_reopening(kind, real, [*before, next_step(0).text], 1)


def modes_are_kept(kind: str, folder: Path) -> list[str]:
    file = main_file(kind, folder)
    file.chmod(KEPT_MODE)
    if not os.geteuid():
        os.chown(file, NOBODY, NOBODY)
    owner = (file.stat().st_uid, file.stat().st_gid)
    complaints = check_reopening(kind, folder, open_subject(kind, folder).list_texts(), 0)
    now = main_file(kind, folder).stat()
    mode = stat.S_IMODE(now.st_mode)
    complaints += [f"its mode became {mode:o}"] if mode != KEPT_MODE else []
    changed = (now.st_uid, now.st_gid) != owner
    return complaints + ([f"its owner became {now.st_uid}:{now.st_gid}"] if changed else [])


def new_files_are_private(kind: str, folder: Path) -> list[str]:
    os.umask(0)
    place = folder / "new" / "deep"
    place.parent.mkdir(FOLDER_MODE)
    subject = open_subject(kind, place)
    attempt(subject, 0)
    modes = {path: path.stat().st_mode for path in [place, *place.rglob("*")]}
    subject.close()
    wanted = {True: FOLDER_MODE, False: FILE_MODE}
    return [
        f"{path.name} has mode {stat.S_IMODE(mode):o}"
        for path, mode in modes.items()
        if stat.S_IMODE(mode) != wanted[stat.S_ISDIR(mode)]
    ]


def place_is_a_folder(kind: str, folder: Path) -> list[str]:
    place = folder / "wrong"
    path = location(kind, place)
    path.parent.mkdir()
    path.write_text("not a folder") if kind == "daily" else path.mkdir()
    try:
        said = attempt(open_subject(kind, place), 0)
    except Exception as error:
        said = failure(error)
    return check_refusal(said, path)


def above_is_a_file(kind: str, folder: Path) -> list[str]:
    (folder / "wrong").write_text("not a folder")
    try:
        said = attempt(open_subject(kind, folder / "wrong"), 0)
    except Exception as error:
        said = failure(error)
    return check_refusal(said, folder / "wrong")


SCENES: dict[str, Scene] = {
    scene.__name__: scene
    for scene in (
        folder_is_read_only,
        new_store_in_a_read_only_folder,
        folder_is_gone,
        file_is_gone,
        file_is_replaced,
        file_is_read_only,
        file_is_a_link,
        folder_is_a_link,
        modes_are_kept,
        new_files_are_private,
        place_is_a_folder,
        above_is_a_file,
    )
}


def play(scene: str, kind: str, folder: str, pipe: int) -> None:
    try:
        said = SCENES[scene](kind, Path(folder))
    except Exception as error:
        said = [f"it ended with {failure(error)}"]
    teller(pipe)(json.dumps(said))


def main() -> None:
    answers = []
    for scene, kind, folder in json.loads(Path(sys.argv[1]).read_text()):
        child = start(lambda pipe: play(scene, kind, folder, pipe))  # noqa: B023
        answers.append(json.loads("".join(child.finish()) or '["it died"]'))
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
