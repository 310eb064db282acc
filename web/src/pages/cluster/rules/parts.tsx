import { useParams } from "react-router";
import { Tabs } from "../../../components/tabs";
import { ControllersPart } from "./controllers";
import { MetricsPart } from "./metrics";
import { RulesPart } from "./rules";
import { StoreNodesPart } from "./store-nodes";

const PARTS = [
  { to: "/cluster/rules", text: "Rules of objects" },
  { to: "/cluster/rules/metrics", text: "Metrics" },
  { to: "/cluster/rules/controllers", text: "Controllers" },
  { to: "/cluster/rules/nodes", text: "Nodes of the store" },
];

/** For admins: what the object store does with objects, by which values, and what carries it out. */
export function RulesTab() {
  const { part } = useParams();
  return (
    <>
      <Tabs label="Parts of the rules" tabs={PARTS} />
      {part === undefined && <RulesPart />}
      {part === "metrics" && <MetricsPart />}
      {part === "controllers" && <ControllersPart />}
      {part === "nodes" && <StoreNodesPart />}
    </>
  );
}
