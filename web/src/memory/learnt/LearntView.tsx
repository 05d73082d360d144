import type { PendingFact } from "../../api";
import type { Loaded } from "../../loading";
import { Recent } from "./Recent";
import { Waiting } from "./Waiting";

/** What waits for the reader, and what was learnt by itself. */
export function LearntView({ pending }: { pending: Loaded<{ pending: PendingFact[] }> }) {
  return (
    <div className="learnt">
      <Waiting loaded={pending} />
      <Recent />
    </div>
  );
}
