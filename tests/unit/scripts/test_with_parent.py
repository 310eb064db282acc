"""A command ends with the process that started it, also one that is killed."""

from __future__ import annotations

import subprocess
import sys

import psutil

from scripts import with_parent
from tests.support.waiting import until

PARENT = "import subprocess, sys\nsubprocess.run(sys.argv[1:])\n"


def test_a_command_ends_with_the_process_that_started_it() -> None:
    command = [sys.executable, "-S", with_parent.__file__, "/bin/sh", "-c", "echo begun; exec sleep 600"]
    parent = subprocess.Popen([sys.executable, "-c", PARENT, *command], stdout=subprocess.PIPE, text=True)
    with parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "begun\n"
        [child] = psutil.Process(parent.pid).children()
        parent.kill()
    until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_a_command_is_what_it_would_be_by_itself() -> None:
    done = subprocess.run([sys.executable, "-S", with_parent.__file__, "/bin/sh", "-c", "exit 7"], check=False)
    assert done.returncode == 7
