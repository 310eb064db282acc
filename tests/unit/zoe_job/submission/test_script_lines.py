"""Which lines of a script are read."""

from __future__ import annotations

import pytest

from zoe_job.common.missing import API_PROGRAMS
from zoe_job.submission.batch_script import judge
from zoe_job.submission.script_lines import read_lines

SCRIPT = """\
#!/bin/bash
##SBATCH --nodes=9
# SBATCH --nodes=9
#SBATCHX --nodes=9
#SBATCH --nodes=2 -n 4   # two of each
#SBATCH --job-name="my job"
#SBATCH --nonsense=1 --time=10
#SBATCH --comment="open
#SBATCH some words

module load gcc
#SBATCH --nodes=9
if true; then conda activate it; fi
echo module
"""


def test_lines_up_to_the_first_command_are_read() -> None:
    found = read_lines(SCRIPT)
    assert [(given.name, given.value, given.line) for given in found.given] == [
        ("nodes", "2", 5),
        ("ntasks", "4", 5),
        ("job-name", "my job", 6),
        ("time", "10", 7),
    ]
    assert [(line, text) for line, text, _ in found.refused] == [
        (4, "#SBATCHX --nodes=9"),
        (7, "--nonsense=1"),
        (8, '--comment="open'),
        (9, "some words"),
    ]
    assert found.late == [12]
    assert (found.module_lines, found.conda_lines) == ([11], [13])


@pytest.mark.parametrize(
    ("script", "names", "late", "indented", "refused"),
    [
        ("#SBATCH--mem=5M\n#SBATCH-n 2", ["mem", "ntasks"], [], [], []),
        ("#SBATCH\t--mem=5M\n#SBATCH", ["mem"], [], [], []),
        ("#SBATCHED are those\n#SBATCH: -n 2", [], [], [], [2, 3]),
        (" #SBATCH --mem=5M\n##SBATCH -n 2\n#sbatch -n 3", [], [], [2], []),
        ("true\n#SBATCH -n 2\n#SBATCHED\n #SBATCH -n 2", [], [3], [], []),
        ("cat > job.sh <<EOF\n#!/bin/sh\n#SBATCH -n 2\nEOF\n#SBATCH -n 3", [], [6], [], []),
        ("sbatch <<-'END'\n#SBATCH -n 2\n\tEND\n", [], [], [], []),
        ("# cat <<EOF\n#SBATCH -n 2\n# EOF", ["ntasks"], [], [], []),
    ],
)
def test_which_lines_are_options_as_in_slurm(
    script: str, names: list[str], late: list[int], indented: list[int], refused: list[int]
) -> None:
    """Debian's Slurm 22.05 read and refused the same lines. Lines of here-documents are texts, and not told."""
    found = read_lines(f"#!/bin/sh\n{script}\n")
    assert [given.name for given in found.given] == names
    assert (found.late, found.indented, [number for number, _, _ in found.refused]) == (late, indented, refused)


def test_variables_that_sbatch_would_read_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judge("job.sh", read_lines("#!/bin/sh\n"), []).texts == []
    monkeypatch.setenv("SBATCH_TIMELIMIT", "5")
    told = "job.sh: variables of sbatch are not read, use options: SBATCH_TIMELIMIT"
    assert judge("job.sh", read_lines("#!/bin/sh\n"), []).texts == [told]


CALLS = [
    "trap '{} $SLURM_JOB_ID; exit 0' USR1",
    "next() {{ {} next.sh; }}",
    "id=$({} next.sh)",
    "echo a | {} - /tmp/a",
    "if {} 1; then true; fi",
    "while ! {} 1; do true; done",
    "bash <<EOF\n{} 5\nEOF",
    "x=`{} 5`",
    "[ -f done ] && {} $0",
    "bash -c 'cd x; {} next.sh'",
    "[ $n = 0 ] || {{ {}; }}",
]


@pytest.mark.parametrize("line", CALLS)
@pytest.mark.parametrize("program", ["sbcast", "scontrol show config", "salloc"])
def test_calls_that_do_not_exist_are_refused_with_their_line(line: str, program: str) -> None:
    found = read_lines(f"#!/bin/bash\n{line.format(program)}\n")
    assert [number for number, _, _ in found.refused] == [3 if "<<EOF" in line else 2]
    assert found.api_calls == []


@pytest.mark.parametrize("line", CALLS)
@pytest.mark.parametrize("program", [*API_PROGRAMS, "scontrol requeue", "scontrol update", "scontrol show job"])
def test_calls_that_ask_the_api_are_found_with_their_line(line: str, program: str) -> None:
    found = read_lines(f"#!/bin/bash\n{line.format(program)}\n")
    assert [number for number, _ in found.api_calls] == [3 if "<<EOF" in line else 2]
    assert found.refused == []


@pytest.mark.parametrize(
    "line",
    [
        "srun -N1 \\\n  --pty bash",
        "/opt/slurm/bin/sbatch next.sh",
        "scontrol update JobId=$SLURM_JOB_ID Partition=long",
        "scontrol update jobid=$SLURM_JOB_ID TimeLimit=10 NumNodes=2",
    ],
)
def test_steps_and_paths_that_do_not_exist_are_refused(line: str) -> None:
    assert [number for number, _, _ in read_lines(f"#!/bin/bash\n{line}\n").refused] == [2]


@pytest.mark.parametrize(
    "line",
    [
        "srun -n2 --multi-prog file",
        "srun hostname; srun -l sh -c 'echo a : b'",
        "for host in $(scontrol show hostnames $SLURM_JOB_NODELIST); do true; done",
        "scontrol update JobId=$SLURM_JOB_ID TimeLimit=$left Nice=5 $more",
        "# sbatch next.sh",
        "echo to submit again: sbatch job.sh",
        "python my-sbatch.py sbatch",
        "srun-wrapper --pty",
        "srun sh -c 'while :; do true; done'",
        "srun sh -c 'first; : ;",  # the text ends in another line
        "srun -n1 true # --pty",
        "srun -n1 true; program --pty",
        "SBATCH_TIMELIMIT=1 true",
        "command -v sbatch",
        'x="sbatch foo"',
        "printf '%s\\n' \"squeue -u me\" 'sacct'",
        'echo "first\nsqueue -u $USER\nlast"',
        "cat <<EOF\nsbatch a.sh\nEOF",
        ": <<'END'\nsqueue\nEND",
        "case $1 in\nsbatch) true;;\nsqueue|sacct) true;;\nesac",
        "names=(sbatch squeue)",
        "alias sq='squeue'",
        "squeue() { true; }\nsqueue",
        'python3 -c "\nsbatch = 3\n"',
        "if command -v squeue > /dev/null; then squeue; fi",
    ],
)
def test_other_lines_pass(line: str) -> None:
    assert read_lines(f"#!/bin/bash\n{line}\n").refused == []


@pytest.mark.parametrize(
    ("line", "computes"),
    [
        ("export MASTER_PORT=$(expr 10000 + $(echo -n $SLURM_JOBID | tail -c 4))", True),
        ("PORT=$((10000 + SLURM_JOB_ID % 1000))", True),
        ("let port=9000+$SLURM_JOB_ID", True),
        ("mkdir /scratch/$SLURM_JOB_ID", False),
        ("echo $((1 + 1)) # 2", False),
    ],
)
def test_lines_that_compute_with_the_id_are_found(line: str, computes: bool) -> None:
    found = read_lines(f"#!/bin/sh\n{line}\n")
    assert found.arithmetic_lines == ([2] if computes else [])
    assert [number for number, _, why in found.refused if "not a number" in why] == found.arithmetic_lines


@pytest.mark.parametrize(
    ("call", "option"),
    [
        ("scancel -p long -n train", "scancel --partition"),
        ("scancel 5 -q quick", "scancel --qos"),
        ("while [ $(squeue -h -p long | wc -l) -gt 0 ]; do sleep 1; done", "squeue --partition"),
        ("squeue --start", "squeue --start"),
        ("squeue --nosuch", "squeue has no option"),
        ("sacct -S 2020-01-01", "sacct --starttime"),
        ("sattach --pty 5.0", "sattach --pty"),
    ],
)
def test_options_that_would_choose_other_jobs_are_refused_with_their_line(call: str, option: str) -> None:
    assert [why for _, _, why in read_lines(f"#!/bin/bash\n{call}\n").refused if option in why] != []


@pytest.mark.parametrize(
    "call", ["squeue -h -p zoe -u $USER", "scancel $(squeue -h -o %i)", "scancel --me", "sacct -j 5"]
)
def test_options_that_mean_the_same_are_taken(call: str) -> None:
    assert read_lines(f"#!/bin/bash\n{call}\n").refused == []
