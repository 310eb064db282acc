"""Call the function of a map with one input: python3 call.py DIRECTORY INDEX. It runs in a service, without Zoe."""

import os
import pickle
import sys
import traceback
import zipfile
from pathlib import Path


def main() -> int:
    """Write the result, or the traceback, into the directory; return 1 if the function raised."""
    directory, index = Path(sys.argv[1]), sys.argv[2]
    done, value = call_function(str(directory / "call.zip"), index)
    target = directory / "results" / index
    draft = target.with_name(f"{index}.{os.getpid()}")
    with draft.open("wb") as file:
        file.write(value)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(target)
    return 0 if done else 1


def call_function(packed: str, index: str) -> tuple[bool, bytes]:
    """Return whether the function returned, and its result, or a description of the failure, pickled."""
    sys.path.insert(0, packed)
    try:
        with zipfile.ZipFile(packed) as file:
            here, there = f"{sys.version_info.major}.{sys.version_info.minor}", file.read("python").decode()
            if here != there:
                raise RuntimeError(f"the function was made by Python {there}, and this image has {here}")
            import cloudpickle

            # Function and input come from the user who owns this service.
            function, one = (pickle.loads(file.read(name)) for name in ("function", f"inputs/{index}"))  # noqa: S301
        return True, cloudpickle.dumps((True, function(one)))
    except BaseException:
        why = traceback.format_exc()
        print(why, file=sys.stderr)
        return False, pickle.dumps((False, why))


if __name__ == "__main__":
    sys.exit(main())
