import { type ReactNode, useRef, useState } from "react";
import { toProblem } from "../api";
import { useWords } from "../i18n";
import { Button, Dialog } from "../ui";

interface AddressQuestion {
  address: string;
  answer: (isMeant: boolean) => void;
}

/** Do something that sends words to an address; what the server refused stays refused if that is not meant. */
export type Confirm = <Value>(address: string | null, act: (confirm: boolean) => Promise<Value>) => Promise<Value>;

/** Ask once for each address outside this machine whether words shall be sent there. */
export function useConfirmation(): { confirm: Confirm; question: ReactNode } {
  const [asked, setAsked] = useState<AddressQuestion | null>(null);
  const confirmed = useRef(new Set<string>());

  const confirm: Confirm = async (address, act) => {
    if (address !== null && confirmed.current.has(address)) return act(true);
    try {
      return await act(false);
    } catch (error) {
      if (address === null || toProblem(error).code !== "unconfirmed-address") throw error;
      const isMeant = await new Promise<boolean>((answer) => setAsked({ address, answer }));
      setAsked(null);
      if (!isMeant) throw error;
      confirmed.current.add(address);
      return act(true);
    }
  };
  return { confirm, question: asked && <AddressDialog {...asked} /> };
}

function AddressDialog({ address, answer }: AddressQuestion) {
  const words = useWords();
  const actions = (
    <>
      <Button onClick={() => answer(false)}>{words.common.cancel}</Button>
      <Button tone="primary" onClick={() => answer(true)}>
        {words.models.confirm.yes}
      </Button>
    </>
  );
  return (
    <Dialog title={words.models.confirm.title} actions={actions} onClose={() => answer(false)}>
      <p>
        <code className="models-address">{address}</code>
      </p>
      <p>{words.models.confirm.text}</p>
    </Dialog>
  );
}
