"""A seccomp filter that refuses a system call, as the default profile of a container engine refuses io_uring."""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Callable

IO_URING_SETUP = 425
PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("statements", ctypes.c_char_p))


def refusing(call: int) -> Callable[[], None]:
    """Return a function that makes this system call fail with EPERM (seccomp(2))."""
    # The filter's input begins with the number of the system call.
    statements = ((LOAD_WORD, 0, 0, 0), (JUMP_IF_EQUAL, 0, 1, call), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW))
    program = _Filter(len(statements), b"".join(struct.pack("HBBI", *statement) for statement in statements))
    library = ctypes.CDLL(None, use_errno=True)

    def refuse() -> None:
        for arguments in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)):
            if library.prctl(*arguments) != 0:
                raise OSError(ctypes.get_errno(), "prctl")

    return refuse
