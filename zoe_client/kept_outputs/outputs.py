"""The outputs of one run of a cell, from the messages of its kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

BYTES_MAX = 8 << 20
"""Maximum size of the outputs of a run; later ones are left out, and a line says so."""
Message = dict[str, Any]
"""A message of Jupyter's protocol with its `header`, `parent_header` and `content`."""
Output = dict[str, Any]
"""An output in the notebook format, version 4."""

_KEYS = {
    "stream": ("name", "text"),
    "display_data": ("data", "metadata"),
    "execute_result": ("data", "metadata", "execution_count"),
    "error": ("ename", "evalue", "traceback"),
}


@dataclass(slots=True)
class _Text:
    """The text of a stream: its whole lines as they came, and the last one, which may still change."""

    name: str
    lines: list[str] = field(default_factory=list)
    last: str = ""

    def add(self, text: str) -> None:
        head, line_end, tail = text.rpartition("\n")
        if line_end:
            self.lines.append(self.last + head + line_end)
            self.last = ""
        self.last = as_terminal(self.last + tail)

    def output(self) -> Output:
        return {"output_type": "stream", "name": self.name, "text": "".join(self.lines) + self.last}


@dataclass(slots=True)
class Outputs:
    """The outputs as JupyterLab would show them after the messages so far."""

    _entries: list[_Text | Output] = field(default_factory=list)
    _bytes: int = 0
    _of_display: dict[str, list[Output]] = field(default_factory=dict)
    _clears: bool = False

    def shown(self) -> list[Output]:
        """Return the outputs in the notebook format."""
        return [entry.output() if isinstance(entry, _Text) else dict(entry) for entry in self._entries]

    def take(self, message: Message) -> bool:
        """Apply a message of the kernel, and return whether the outputs changed."""
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "clear_output":
            return self._clear(wait=bool(content.get("wait")))
        display = content.get("transient", {}).get("display_id")
        if kind == "update_display_data":
            return self._update(display, content)
        if kind not in _KEYS:
            return False
        if self._clears:
            self._clear(wait=False)
        self._add({"output_type": kind} | {key: content[key] for key in _KEYS[kind]}, display)
        return True

    def _clear(self, wait: bool) -> bool:
        self._clears = wait
        if not wait:
            self._entries, self._of_display, self._bytes = [], {}, 0
        return not wait

    def _update(self, display: str | None, content: Message) -> bool:
        outputs = self._of_display.get(display or "", [])
        for output in outputs:
            output |= {"data": content["data"], "metadata": content["metadata"]}
        return bool(outputs)

    def _add(self, output: Output, display: str | None) -> None:
        if self._bytes > BYTES_MAX:
            return
        self._bytes += len(str(output))
        if self._bytes > BYTES_MAX:
            said = f"\nWhile no page was open, outputs beyond {BYTES_MAX >> 20} MiB were left out.\n"
            output = {"output_type": "stream", "name": "stderr", "text": said}
        if output["output_type"] == "stream":
            self._stream(output["name"]).add(output["text"])
            return
        if display:
            self._of_display.setdefault(display, []).append(output)
        self._entries.append(output)

    def _stream(self, name: str) -> _Text:
        last = self._entries[-1] if self._entries else None
        if not isinstance(last, _Text) or last.name != name:
            last = _Text(name)
            self._entries.append(last)
        return last


def as_terminal(line: str) -> str:
    """Return a line as a terminal shows it after carriage returns, such as those of progress bars."""
    kept = line.rstrip("\r")
    return kept[kept.rfind("\r") + 1 :] + line[len(kept) :]


def added_text(before: Output, after: Output) -> str:
    """Return what was added to the text of a stream; empty if anything else changed."""
    same = before["output_type"] == after["output_type"] == "stream" and before["name"] == after["name"]
    return after["text"][len(before["text"]) :] if same and after["text"].startswith(before["text"]) else ""
