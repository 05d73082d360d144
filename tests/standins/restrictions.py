"""Becomes a command under a unit's restrictions, as systemd would begin it.

python -m tests.standins.restrictions UNIT COMMAND…
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

ALLOW = 0x7FFF0000
REFUSE = 0x00050000
EQUAL = 4
FAMILIES = range(50)


class Comparison(ctypes.Structure):
    """libseccomp's `scmp_arg_cmp`."""

    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("datum_a", ctypes.c_uint64),
        ("datum_b", ctypes.c_uint64),
    )


def directives(unit: Path) -> dict[str, str]:
    """Return the settings of a unit by their names."""
    return dict(re.findall(r"^(\w+)=(.*)$", unit.read_text("utf-8"), re.MULTILINE))


def calls(group: str) -> set[str]:
    """Return the system calls of one of systemd's groups, and of the groups in it."""
    command = ["systemd-analyze", "syscall-filter", "--no-pager"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    listed = {
        name: re.findall(r"^    (@?\w[\w-]*)$", lines, re.MULTILINE)
        for name, lines in re.findall(r"^(@[\w-]+)\n((?:    .*\n)*)", said, re.MULTILINE)
    }

    def inner(name: str) -> set[str]:
        return set[str]().union(*map(inner, listed[name])) if name in listed else {name}

    return inner(group)


def restrict(group: str, families: list[int]) -> None:
    """Refuse every other system call, and sockets of other families, from now on."""
    seccomp = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    seccomp.seccomp_init.restype = ctypes.c_void_p
    known = [seccomp.seccomp_syscall_resolve_name(name.encode()) for name in calls(group)]

    only = ctypes.c_void_p(seccomp.seccomp_init(REFUSE | errno.EPERM))
    for number in [one for one in known if one >= 0]:
        assert seccomp.seccomp_rule_add_array(only, ALLOW, number, 0, None) == 0

    others = ctypes.c_void_p(seccomp.seccomp_init(ALLOW))
    opening = seccomp.seccomp_syscall_resolve_name(b"socket")
    for family in set(FAMILIES) - set(families):
        is_it = Comparison(0, EQUAL, family, 0)
        refusing = REFUSE | errno.EAFNOSUPPORT
        added = seccomp.seccomp_rule_add_array(others, refusing, opening, 1, ctypes.byref(is_it))
        assert added == 0
    for rules in (others, only):
        assert seccomp.seccomp_load(rules) == 0


def main() -> None:
    """Take the restrictions on, and become the command."""
    said = directives(Path(sys.argv[1]))
    os.umask(int(said["UMask"], 8))
    families = [getattr(socket, name) for name in said["RestrictAddressFamilies"].split()]
    restrict(said["SystemCallFilter"], families)
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606


if __name__ == "__main__":
    main()
