"""Search for a parent of control groups, on hierarchies of plain files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.manual_clock import ManualClock
from zoe_master.backends.local.machine import cgroups
from zoe_master.backends.local.supervisor.cgroup import Cgroup, cpu_weight


def proc_of(tmp_path: Path, mounts: list[str], groups: list[str]) -> Path:
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "mountinfo").write_text("\n".join(mounts) + "\n")
    (proc / "cgroup").write_text("\n".join(groups) + "\n")
    return proc


def mount(point: Path, kind: str, options: str, root: str = "/") -> str:
    return f"30 20 0:26 {root} {point} rw,nosuid shared:9 - {kind} cgroup {options}"


def kernel_fills(monkeypatch: pytest.MonkeyPatch, *files: str) -> None:
    """Let a new directory hold the files that the kernel would put there."""
    make = Path.mkdir

    def filling(self: Path, *args: object, **options: object) -> None:
        make(self, *args, **options)  # type: ignore[arg-type]
        for file in files:
            (self / file).touch()

    monkeypatch.setattr(Path, "mkdir", filling)


def test_version_1_below_our_own_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, pids = tmp_path / "memory", tmp_path / "pids"
    (memory / "ours").mkdir(parents=True)
    pids.mkdir()
    proc = proc_of(
        tmp_path,
        [mount(memory, "cgroup", "rw,memory"), mount(pids, "cgroup", "rw,pids")],
        ["4:memory:/ours", "8:pids:/"],
    )
    kernel_fills(monkeypatch, "memory.limit_in_bytes", "cgroup.procs")
    parent = cgroups.find_parent("zoe", proc)
    assert parent == cgroups.CgroupParent(1, memory / "ours" / "zoe", pids / "zoe")
    assert parent.spec("s") == {
        "version": 1,
        "memory": str(memory / "ours" / "zoe" / "s"),
        "pids": str(pids / "zoe" / "s"),
        "cpu": None,
    }


def test_version_1_with_a_hierarchy_for_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, cpu = tmp_path / "memory", tmp_path / "cpu"
    memory.mkdir()
    cpu.mkdir()
    mounts = [mount(memory, "cgroup", "rw,memory"), mount(cpu, "cgroup", "rw,cpu,cpuacct")]
    proc = proc_of(tmp_path, mounts, ["4:memory:/", "8:cpu,cpuacct:/"])
    kernel_fills(monkeypatch, "memory.limit_in_bytes", "cpu.cfs_quota_us")
    assert cgroups.find_parent("zoe", proc) == cgroups.CgroupParent(1, memory / "zoe", None, cpu / "zoe")


def test_a_container_sees_a_part_of_the_hierarchy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    proc = proc_of(tmp_path, [mount(memory, "cgroup", "rw,memory", root="/docker/x")], ["4:memory:/docker/x"])
    kernel_fills(monkeypatch, "memory.limit_in_bytes", "cgroup.procs")
    assert cgroups.find_parent("zoe", proc) == cgroups.CgroupParent(1, memory / "zoe", None)


def test_version_2_beside_our_own_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unified = tmp_path / "unified"
    own = unified / "system.slice" / "zoe.service"
    own.mkdir(parents=True)
    for group in (unified, own.parent):
        (group / "cgroup.subtree_control").write_text("cpu memory pids")
    proc = proc_of(tmp_path, [mount(unified, "cgroup2", "rw")], ["0::/system.slice/zoe.service"])
    kernel_fills(monkeypatch, "memory.max", "cgroup.subtree_control")
    parent = cgroups.find_parent("zoe", proc)
    expected = own.parent / "zoe"
    assert parent == cgroups.CgroupParent(2, expected, expected, expected)
    assert (expected / "cgroup.subtree_control").read_text() == "+cpu"  # written after +memory +pids


def test_version_2_does_without_cpu_where_that_is_not_handed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unified = tmp_path / "unified"
    unified.mkdir()
    (unified / "cgroup.subtree_control").write_text("memory pids")
    kernel_fills(monkeypatch, "memory.max", "cgroup.subtree_control")
    write = Path.write_text

    def refusing(self: Path, text: str) -> int:
        if "cpu" in text:
            raise PermissionError(text)
        return write(self, text)

    proc = proc_of(tmp_path, [mount(unified, "cgroup2", "rw")], ["0::/"])
    monkeypatch.setattr(Path, "write_text", refusing)
    expected = unified / "zoe"
    assert cgroups.find_parent("zoe", proc) == cgroups.CgroupParent(2, expected, expected)
    assert (expected / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_without_the_right_there_is_none_and_nothing_is_left(tmp_path: Path) -> None:
    unified = tmp_path / "unified"
    unified.mkdir()
    (unified / "cgroup.subtree_control").write_text("")
    proc = proc_of(tmp_path, [mount(unified, "cgroup2", "rw")], ["0::/"])
    assert cgroups.find_parent("zoe", proc) is None
    assert not (unified / "zoe").exists()
    assert cgroups.find_parent("zoe", tmp_path / "no-proc") is None


def test_parents_go_once_the_last_supervisor_has_tidied_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, pids = tmp_path / "memory", tmp_path / "pids"
    memory.mkdir()
    (pids / "service").mkdir(parents=True)
    procs = pids / "service" / "cgroup.procs"
    procs.touch()

    def meanwhile(_: float) -> None:
        procs.unlink()
        procs.parent.rmdir()

    clock = ManualClock()
    monkeypatch.setattr(clock, "sleep", meanwhile)
    cgroups.CgroupParent(1, memory, pids).remove(clock=clock)
    assert not memory.exists()
    assert not pids.exists()


def test_parents_stay_while_a_service_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = tmp_path / "zoe"
    (parent / "service").mkdir(parents=True)
    (parent / "service" / "cgroup.procs").write_text("12\n")
    clock = ManualClock()
    monkeypatch.setattr(clock, "sleep", pytest.fail)
    cgroups.CgroupParent(2, parent, parent, parent).remove(clock=clock)
    assert parent.exists()


def group_of(tmp_path: Path, version: int, **files: str) -> Cgroup:
    for name, text in files.items():
        (tmp_path / name.replace("__", ".")).write_text(text)
    return Cgroup(version, str(tmp_path), None)


def test_figures_of_version_1(tmp_path: Path) -> None:
    group = group_of(
        tmp_path,
        1,
        memory__usage_in_bytes="5000\n",
        memory__max_usage_in_bytes="9000\n",
        memory__stat="inactive_file 1\ntotal_inactive_file 1500\ntotal_active_file 500\n",
        memory__oom_control="oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
        cgroup__procs="12\n13\n",
    )
    assert (group.memory_bytes(), group.out_of_memory_kills(), group.pids()) == (3000, 3, [12, 13])
    assert (group.peak_bytes(), group.cpu_s()) == (9000, None)  # CPU time has a hierarchy of its own
    assert Cgroup(1, str(tmp_path), None, str(tmp_path)).cpu_s() is None
    (tmp_path / "cpuacct.usage").write_text("1500000000\n")
    assert Cgroup(1, str(tmp_path), None, str(tmp_path)).cpu_s() == 1.5


def test_figures_of_version_2(tmp_path: Path) -> None:
    group = group_of(
        tmp_path,
        2,
        memory__current="5000\n",
        memory__peak="8000\n",
        cpu__stat="usage_usec 2500000\nuser_usec 1\n",
        memory__stat="anon 1\ninactive_file 300\nactive_file 200\n",
        memory__events="low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\noom_group_kill 0\n",
        cgroup__procs="",
    )
    assert (group.memory_bytes(), group.out_of_memory_kills(), group.pids()) == (4500, 2, [])
    assert (group.peak_bytes(), group.restart_peak(), group.cpu_s()) == (8000, 8000, 2.5)


def test_version_2_gets_its_limits(tmp_path: Path) -> None:
    group = group_of(tmp_path, 2, memory__max="max", memory__swap__max="max", pids__max="max")
    Cgroup(2, str(tmp_path), str(tmp_path)).create(1024)
    assert (tmp_path / "memory.max").read_text() == "1024"
    assert (tmp_path / "memory.swap.max").read_text().startswith("0")
    assert Cgroup.from_document(group.document()) is not None
    assert Cgroup.from_document(None) is None


def test_a_limit_of_cores_is_a_share_of_each_period(tmp_path: Path) -> None:
    group_of(tmp_path, 2, memory__max="max", cpu__max="max 100000")
    Cgroup(2, str(tmp_path), None, str(tmp_path)).create(1024, 2500)
    assert (tmp_path / "cpu.max").read_text() == "250000 100000"
    group_of(tmp_path, 1, memory__limit_in_bytes="", cpu__cfs_period_us="", cpu__cfs_quota_us="-1")
    Cgroup(1, str(tmp_path), None, str(tmp_path)).create(1024, 1)
    assert (tmp_path / "cpu.cfs_period_us").read_text() == "100000"
    assert (tmp_path / "cpu.cfs_quota_us").read_text() == "1000"


def test_without_a_limit_of_cores_or_the_right_to_set_one_it_runs_all_the_same(tmp_path: Path) -> None:
    group_of(tmp_path, 2, memory__max="max", cpu__max="max 100000")
    Cgroup(2, str(tmp_path), None, str(tmp_path)).create(1024, None)
    assert (tmp_path / "cpu.max").read_text() == "max 100000"
    (tmp_path / "cpu.max").unlink()
    Cgroup(2, str(tmp_path), None, str(tmp_path)).create(1024, 500)


@pytest.mark.parametrize("version", [1, 2])
def test_a_promised_core_outweighs_what_others_can_reserve_beside_it(version: int) -> None:
    for cores_milli in (250, 1000, 4000, 16_000):
        promised, other = (cpu_weight(version, cores_milli, entry) for entry in (True, False))
        assert other / (promised + other) <= 0.05
    # Promises do not change the weight of a core; small reservations have a minimum weight, within the kernel's limits.
    for promised in (True, False):
        assert cpu_weight(version, 2000, promised) == 2 * cpu_weight(version, 1000, promised)
        assert 0 < cpu_weight(version, 0, promised) == cpu_weight(version, 250, promised)
    assert cpu_weight(version, 10**9, True) == {1: 262_144, 2: 10_000}[version]


def test_weight_of_reserved_cores_is_set_in_both_versions(tmp_path: Path) -> None:
    group_of(tmp_path, 2, memory__max="max", cpu__weight="100")
    Cgroup(2, str(tmp_path), None, str(tmp_path)).create(1024, None, 1000, promised=True)
    assert (tmp_path / "cpu.weight").read_text() == "512"
    group_of(tmp_path, 1, memory__limit_in_bytes="", cpu__shares="1024")
    Cgroup(1, str(tmp_path), None, str(tmp_path)).create(1024, None, 1000)
    assert (tmp_path / "cpu.shares").read_text() == "6424"  # an unknown file keeps its content
    group_of(tmp_path, 1, memory__limit_in_bytes="", cpu__shares="1024")
    Cgroup(1, str(tmp_path), None, str(tmp_path)).create(1024)  # started by an older master
    assert (tmp_path / "cpu.shares").read_text() == "1024"


def test_a_group_that_is_gone_has_no_figures(tmp_path: Path) -> None:
    group = Cgroup(1, str(tmp_path / "gone"), None)
    assert (group.memory_bytes(), group.out_of_memory_kills(), group.pids()) == (0, 0, [])
    assert (group.peak_bytes(), group.restart_peak(), group.cache_bytes(), group.cpu_s()) == (0, 0, 0, None)
    assert group.remove()
