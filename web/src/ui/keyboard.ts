/** Keys that mean something else while a character is being composed. */

import type { KeyboardEvent } from "react";

/** Whether Enter or Escape ends the input of a character, and is not meant for us; Safari tells it only by its code. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.nativeEvent.isComposing || event.keyCode === 229;
}
