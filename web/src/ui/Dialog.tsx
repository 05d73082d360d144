import { type MouseEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { useWords } from "../i18n";
import { IconButton } from "./Button";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  actions?: ReactNode;
  wide?: boolean;
}

/** A question or a closer look, above the page; render it only while it is open. */
export function Dialog({ title, onClose, children, actions, wide }: DialogProps) {
  const words = useWords();
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);

  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);

  const closeOutside = (event: MouseEvent) => {
    if (event.target === dialog.current) onClose();
  };

  return (
    <dialog
      ref={dialog}
      className={`dialog${wide ? " dialog-wide" : ""}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={closeOutside}
    >
      <div className="dialog-head">
        <h2 id={id}>{title}</h2>
        <IconButton icon="close" label={words.common.close} onClick={onClose} />
      </div>
      <div className="dialog-body">{children}</div>
      {actions && <div className="dialog-actions">{actions}</div>}
    </dialog>
  );
}
