import { type ReactNode, useEffect, useRef } from "react";

interface DialogProps {
  title: string;
  /** Returns false to stay open. */
  onClose?: () => unknown;
  children: ReactNode;
}

/** A modal dialog; without `onClose` it stays until its work is done. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    box.current?.showModal();
    return () => {
      // A dialog that goes away takes the focus with it; who works by keyboard would begin anew at the top.
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={box}
      aria-label={title}
      onCancel={(event) => {
        if (!onClose) event.preventDefault();
      }}
      onClose={() => {
        // Browsers let Escape through in the end, whatever the page says.
        if (!onClose || onClose() === false) box.current?.showModal();
      }}
    >
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}
