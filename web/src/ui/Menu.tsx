import { type KeyboardEvent, type ToggleEvent, useId, useRef, useState } from "react";
import { Icon, type IconName } from "./Icon";

export interface MenuItem {
  icon: IconName;
  label: string;
  onPick: () => void;
  /** Set for something that is on or off. */
  isChecked?: boolean;
  isDanger?: boolean;
}

interface MenuProps {
  /** What the button opens, in words. */
  label: string;
  items: MenuItem[];
  small?: boolean;
}

const GAP_PX = 4;
const ITEM_PX = 46;

/** A button that opens a list of things to do. */
export function Menu({ label, items, small }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);

  const prepare = ({ newState }: ToggleEvent) => {
    setOpen(newState === "open");
    if (newState === "open") place(button.current!, list.current!, items.length);
  };
  const focus = ({ newState }: ToggleEvent) => {
    if (newState === "open") list.current?.querySelector("button")?.focus();
  };
  const pick = (item: MenuItem) => {
    list.current?.hidePopover();
    button.current?.focus();
    item.onPick();
  };
  const press = (event: KeyboardEvent) => {
    const all = [...list.current!.querySelectorAll("button")];
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const places: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    const next = places[event.key];
    if (event.key === "Tab") list.current?.hidePopover();
    if (next === undefined) return;
    event.preventDefault();
    all.at(next % all.length)?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={`button button-quiet button-icon menu-button${small ? " button-small" : ""}`}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        popoverTarget={id}
      >
        <Icon name="more" />
      </button>
      <div
        ref={list}
        id={id}
        className="menu"
        role="menu"
        aria-label={label}
        popover="auto"
        onBeforeToggle={prepare}
        onToggle={focus}
        onKeyDown={press}
      >
        {isOpen && items.map((item) => <Item key={item.label} item={item} onPick={() => pick(item)} />)}
      </div>
    </>
  );
}

function Item({ item, onPick }: { item: MenuItem; onPick: () => void }) {
  const isSwitch = item.isChecked !== undefined;
  return (
    <button
      type="button"
      role={isSwitch ? "menuitemcheckbox" : "menuitem"}
      aria-checked={item.isChecked}
      tabIndex={-1}
      className={`menu-item${item.isDanger ? " menu-danger" : ""}`}
      onClick={onPick}
    >
      <Icon name={item.icon} />
      <span>{item.label}</span>
      {item.isChecked && <Icon name="check" />}
    </button>
  );
}

/** Put the list below the button, or above it where there is no room. */
function place(button: HTMLElement, list: HTMLElement, count: number): void {
  const { top, bottom, right } = button.getBoundingClientRect();
  const isAbove = bottom + count * ITEM_PX > innerHeight;
  list.style.right = `${Math.max(innerWidth - right, GAP_PX)}px`;
  list.style.top = isAbove ? "auto" : `${bottom + GAP_PX}px`;
  list.style.bottom = isAbove ? `${innerHeight - top + GAP_PX}px` : "auto";
}
