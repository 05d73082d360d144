import type { PendingFact } from "../../api";
import type { LoadedValue } from "../../useLoaded";
import { PendingFacts } from "./PendingFacts";
import { RecentlyLearned } from "./RecentlyLearned";

/** What is pending review, and what was learned. */
export function LearnedView({ pending }: { pending: LoadedValue<{ pending: PendingFact[] }> }) {
  return (
    <div className="learned">
      <PendingFacts loaded={pending} />
      <RecentlyLearned />
    </div>
  );
}
