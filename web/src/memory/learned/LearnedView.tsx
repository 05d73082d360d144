import type { PendingFact } from "../../api";
import type { Loaded } from "../../useLoaded";
import { Pending } from "./Pending";
import { Recent } from "./Recent";

/** What is pending review, and what was learned. */
export function LearnedView({ pending }: { pending: Loaded<{ pending: PendingFact[] }> }) {
  return (
    <div className="learned">
      <Pending loaded={pending} />
      <Recent />
    </div>
  );
}
