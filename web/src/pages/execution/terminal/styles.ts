import type { Terminal } from "@xterm/xterm";

// xterm writes styles into `style` elements and attributes. The policy of our pages refuses both, and allows style sheets
// and properties that scripts set. xterm has no option for it; tests/web/test_terminals.py fails without.

/** Open a terminal whose styles are sheets of the document; what is returned takes them away. */
export function openStyled(terminal: Terminal, box: HTMLElement): () => void {
  const sheets = new Map<Node, CSSStyleSheet>();
  const observer = new MutationObserver((changes) => {
    for (const { target } of changes) sheets.get(target)?.replaceSync(target.textContent ?? "");
  });

  /** What stands for a `style` element: it holds the text, which goes into a sheet. */
  function styleHolder(): HTMLElement {
    const holder = document.createElement("span");
    holder.hidden = true;
    const sheet = new CSSStyleSheet();
    sheets.set(holder, sheet);
    document.adoptedStyleSheets.push(sheet);
    observer.observe(holder, { childList: true });
    return holder;
  }

  const create = document.createElement;
  const createStyled = (name: string) => {
    document.createElement = create;
    try {
      return name === "style" ? styleHolder() : document.createElement(name);
    } finally {
      document.createElement = createStyled as typeof create;
    }
  };
  document.createElement = createStyled as typeof create;
  try {
    terminal.open(box);
  } finally {
    document.createElement = create;
  }
  colourByProperties(terminal);
  return () => {
    observer.disconnect();
    const gone = new Set(sheets.values());
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !gone.has(sheet));
  };
}

interface Inside {
  _core: {
    _renderService: {
      _renderer: { value: { _rowFactory: { _addStyle: (element: HTMLElement, css: string) => void } } };
    };
  };
}

/** Colours that are none of the theme's come by properties. */
function colourByProperties(terminal: Terminal): void {
  const { _core } = terminal as unknown as Inside;
  _core._renderService._renderer.value._rowFactory._addStyle = (element, css) => {
    element.style.cssText += css;
  };
}
