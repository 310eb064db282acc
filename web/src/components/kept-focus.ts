/** Keeps a place for the keyboard: a control that goes or is disabled leaves the focus to a sensible neighbour. */

import { useEffect } from "react";

const FOCUSABLE =
  "a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary";
/** What lists consist of: when one goes, the next one has a control of the same kind. */
const ENTRY = "tr, li";
const PART = "section, form, dialog, main";
const HEADING = "h1, h2, h3";

/** Where something was before it was taken out of the page. */
interface Gone {
  parent: Element;
  next: Element | null;
  previous: Element | null;
  /** The text on the control that had the focus; null outside of lists. */
  control: string | null;
}

/** Gives the focus back whenever what had it is gone; an element that was clicked away loses it for good. */
export function useKeptFocus(): void {
  useEffect(() => {
    const kept = new KeptFocus();
    const observer = new MutationObserver((records) => kept.onChanges(records));
    observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ["disabled"] });
    const onFocus = (event: FocusEvent) => kept.onFocus(event.target);
    const onPress = (event: PointerEvent) => kept.onPress(event.target);
    document.addEventListener("focusin", onFocus);
    document.addEventListener("pointerdown", onPress);
    return () => {
      observer.disconnect();
      document.removeEventListener("focusin", onFocus);
      document.removeEventListener("pointerdown", onPress);
    };
  }, []);
}

class KeptFocus {
  /** What has the focus, and before it what opened the dialog that it is in. */
  private holders: Element[] = [];
  private readonly gone = new WeakMap<Element, Gone>();

  onFocus(target: EventTarget | null): void {
    if (!(target instanceof Element)) return;
    const dialog = target.closest("dialog");
    const opener = dialog && this.holders.findLast((one) => !dialog.contains(one));
    this.holders = opener ? [opener, target] : [target];
  }

  onPress(target: EventTarget | null): void {
    if (!(target instanceof Element) || target.closest(FOCUSABLE) === null) this.holders = [];
  }

  onChanges(records: MutationRecord[]): void {
    for (const record of records)
      for (const node of record.removedNodes)
        for (const holder of this.holders)
          if (node.contains(holder) && node instanceof Element)
            this.gone.set(holder, placeOf(record, node, holder));
    if (document.activeElement !== document.body) return;
    for (const holder of this.holders.toReversed()) {
      const to = holder.isConnected ? holder : this.neighbour(holder);
      if (holder.isConnected && holder.matches(":disabled")) return; // until its work is done
      if (to === null) continue;
      if (!to.matches(FOCUSABLE)) to.setAttribute("tabindex", "-1");
      (to as HTMLElement).focus({ preventScroll: true });
      return;
    }
  }

  private neighbour(holder: Element): Element | null {
    const place = this.gone.get(holder);
    if (!place?.parent.isConnected) return null;
    return sameControl(place) ?? heading(place.parent);
  }
}

function placeOf(record: MutationRecord, node: Element, holder: Element): Gone {
  return {
    parent: record.target as Element,
    next: elementOf(record.nextSibling, "nextSibling"),
    previous: elementOf(record.previousSibling, "previousSibling"),
    control: node.matches(ENTRY) ? holder.textContent : null,
  };
}

function elementOf(node: Node | null, way: "nextSibling" | "previousSibling"): Element | null {
  let found = node;
  while (found !== null && !(found instanceof Element)) found = found[way];
  return found;
}

/** The same control of the next entry of a list, or of the one before. */
function sameControl({ next, previous, control }: Gone): Element | null {
  if (control === null) return null;
  for (const entry of [next, previous]) {
    if (!entry?.isConnected || !entry.matches(ENTRY)) continue;
    const controls = [...entry.querySelectorAll(FOCUSABLE)];
    const found = controls.find((one) => one.textContent === control) ?? controls[0];
    if (found) return found;
  }
  return null;
}

/** The heading of the part of the page around it. */
function heading(parent: Element): Element | null {
  const part = parent.closest(PART);
  if (part === null) return null;
  return part.matches("main") ? (part.querySelector("h1") ?? part) : (part.querySelector(HEADING) ?? part);
}
