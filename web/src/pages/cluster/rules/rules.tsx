import { useQuery } from "@tanstack/react-query";
import { api, told } from "../../../api/client";
import { ErrorBox, Loading, ProblemBox } from "../../../components/feedback";
import { AddRule } from "./add-rule";
import { Applying } from "./applying";
import { warningsOf } from "./modes";
import { useControllers } from "./queries";
import { RemovedRules } from "./removed-rules";
import { RuleList } from "./rule-list";

const ASK_AGAIN_MS = 5_000;

/** For admins: the object store's rules, who wrote them, and what they did before. */
export function RulesPart() {
  const controllers = useControllers().data?.controllers ?? [];
  const rules = useQuery({
    queryKey: ["storage-rules"],
    queryFn: () => told(api.GET("/api/v1/storage/rules")),
    refetchInterval: ASK_AGAIN_MS,
    retry: false,
  });
  if (rules.isLoading) return <Loading what="Loading the rules" />;
  if (rules.error) return <ErrorBox error={rules.error} />;
  if (!rules.data) return null;
  return (
    <>
      {warningsOf(controllers).map((text) => (
        <ProblemBox key={text} title={text} />
      ))}
      {/* Before the list, which may be long. */}
      <AddRule />
      <RuleList rules={rules.data.rules} />
      <Applying />
      <RemovedRules inForce={rules.data.rules} />
    </>
  );
}
