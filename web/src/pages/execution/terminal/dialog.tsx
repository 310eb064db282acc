import "@xterm/xterm/css/xterm.css";
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { useEffect, useRef, useState } from "react";
import { Dialog } from "../../../components/dialog";
import { Connection } from "./connection";
import { openStyled } from "./styles";

// Images of applications have sh, and most have bash, which completes names.
const SHELL = ["sh", "-c", "command -v bash > /dev/null && exec bash; exec sh"];

interface TerminalDialogProps {
  executionId: string;
  service: { id: string; name: string };
  onClose: () => void;
}

/** A shell in a running service. */
export default function TerminalDialog({ executionId, service, onClose }: TerminalDialogProps) {
  const box = useRef<HTMLDivElement>(null);
  const leave = useRef<HTMLButtonElement>(null);
  const [end, setEnd] = useState("");
  useEffect(() => {
    if (!box.current) return;
    const fit = new FitAddon();
    const terminal = new Terminal({
      cursorBlink: true,
      fontSize: 14,
      screenReaderMode: true,
    });
    terminal.loadAddon(fit);
    const release = openStyled(terminal, box.current);
    fit.fit();
    const connection = new Connection(
      `/api/v1/executions/${executionId}/services/${service.id}/terminal`,
      { command: SHELL, rows: terminal.rows, columns: terminal.cols },
      { output: (data, done) => terminal.write(data, done), end: setEnd },
    );
    const encoder = new TextEncoder();
    terminal.onData((text) => connection.write(encoder.encode(text)));
    terminal.onResize(({ rows, cols }) => connection.resize(rows, cols));
    // Programs need every key, Tab and Escape too; this one leads out.
    terminal.attachCustomKeyEventHandler((event) => {
      const out = event.ctrlKey && event.shiftKey && event.code === "KeyL";
      if (out) {
        event.preventDefault();
        leave.current?.focus();
      }
      return !out;
    });
    const resizing = new ResizeObserver(() => fit.fit());
    resizing.observe(box.current);
    terminal.focus();
    return () => {
      resizing.disconnect();
      connection.close();
      terminal.dispose();
      release();
    };
  }, [executionId, service.id]);
  return (
    <Dialog title={`Terminal in ${service.name}`} onClose={onClose}>
      <div className="terminal" ref={box} />
      <div className="row">
        <button type="button" ref={leave} onClick={onClose}>
          Close
        </button>
        <span className="faint">Ctrl+Shift+L leads the keyboard out of the terminal.</span>
        <span role="status">{end}</span>
      </div>
    </Dialog>
  );
}
