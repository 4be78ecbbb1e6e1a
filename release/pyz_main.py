"""The `__main__` of reseller-sim.pyz: unpacks what this Python needs into the user's cache, once, and runs the command.

Libraries with compiled parts cannot be imported out of an archive. What was unpacked is named by the digest of the
archive and appears at once under its name, so that processes may start beside each other, and none sees a half of it.

Any Python can read it, back to 2.7: one that is too old is to say so, and not that an annotation is no syntax.
"""

import json
import os
import shutil
import sys
import sysconfig
import tempfile
import zipfile

INDEX = "pyz.json"


def main(archive):
    # type: (str) -> None
    """Unpack if need be, then run `reseller-sim`; exit code 3 and one line where that cannot be done."""
    with zipfile.ZipFile(archive) as file:
        index = json.loads(file.read(INDEX))
        python = "%d.%d" % sys.version_info[:2]
        if python not in index["pythons"]:
            _give_up("needs Python %s, and this is %s" % (" or ".join(index["pythons"]), python))
        if sysconfig.get_platform() != index["platform"] or sys.implementation.name != "cpython":
            _give_up("was made for CPython on %s; make one here" % index["platform"])
        folder = os.path.join(_cache(), "%s-%s" % (index["digest"], python))
        if not os.path.isdir(folder):
            _unpack(file, folder, ("common/", python + "/"))
        _refuse_what_others_made(folder)
    sys.path[0] = folder
    from reseller_sim.launcher import main as command

    command()


def _cache():
    # type: () -> str
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # which counts for nothing then
        base = os.path.join(os.path.expanduser("~"), ".cache")
    if not os.path.isabs(base):
        _give_up("finds no home of this user: set XDG_CACHE_HOME to a folder of yours, by its whole path")
    return os.path.join(base, "reseller-sim")


def _refuse_what_others_made(folder):
    # type: (str) -> None
    """Whoever else may write into what is run here could have it do anything, as this user."""
    if not hasattr(os, "geteuid"):
        return
    for path in (os.path.dirname(folder), folder):
        found = os.stat(path)
        if found.st_uid not in (os.geteuid(), 0) or found.st_mode & 0o022:
            _give_up("does not run what others may have changed: %s; set XDG_CACHE_HOME to a folder of yours" % path)


def _unpack(file, folder, prefixes):
    # type: (zipfile.ZipFile, str, tuple[str, ...]) -> None
    part = ""
    try:
        os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
        part = tempfile.mkdtemp(prefix=".part-", dir=os.path.dirname(folder))
        for name in file.namelist():
            prefix = next((one for one in prefixes if name.startswith(one)), None)
            if prefix is not None:
                path = os.path.join(part, name[len(prefix) :])
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with file.open(name) as packed, open(path, "xb") as unpacked:
                    shutil.copyfileobj(packed, unpacked)
        os.rename(part, folder)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        if not os.path.isdir(folder):  # else another process was faster
            _give_up(
                "cannot unpack into %s: %s; set XDG_CACHE_HOME to a folder of yours that can be written"
                % (_cache(), error.strerror)
            )


def _give_up(text):
    # type: (str) -> None
    sys.stderr.write("reseller-sim.pyz %s\n" % text)
    raise SystemExit(3)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[0]))
