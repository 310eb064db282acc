import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, defaultHighlightStyle, foldGutter, syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import type { Diagnostic } from "../../api/problem";
import { rangeOf } from "./pointer";

interface JsonEditorProps {
  text: string;
  onChange: (text: string) => void;
  findings: Diagnostic[];
}

// The library's own mark of a finding is a picture in a data: URL, which the pages' security policy forbids.
const FINDING = { backgroundImage: "none", textDecoration: "underline wavy #c62828" };

// Its colours of words are for a light ground.
const THEME = EditorView.theme({
  "&": {
    height: "60vh",
    fontSize: "14px",
    backgroundColor: "light-dark(#ffffff, #e9edf3)",
    color: "#1b2430",
  },
  ".cm-lintRange-error": FINDING,
});

/**
 * CodeMirror with the server's findings in their places. It lives in a shadow root: there its styles are sheets made by
 * script, which the pages' security policy allows, and not style elements, which it forbids.
 */
export default function JsonEditor({ text, onChange, findings }: JsonEditorProps) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const changed = useRef(onChange);
  changed.current = onChange;
  const first = useRef(text);
  useEffect(() => {
    const host = box.current;
    if (host === null) return;
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          lineNumbers(),
          foldGutter(),
          history(),
          bracketMatching(),
          json(),
          syntaxHighlighting(defaultHighlightStyle),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": "Description as JSON", tabindex: "0" }),
          // Escape, then Tab leaves the editor by keyboard.
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          THEME,
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const shown = findings.map((finding) => ({
      ...rangeOf(editor.state, finding.pointer),
      severity: "error" as const,
      message: finding.hint ? `${finding.message} (${finding.hint})` : finding.message,
    }));
    editor.dispatch(setDiagnostics(editor.state, shown));
  }, [findings]);
  return <div className="editor" ref={box} />;
}
