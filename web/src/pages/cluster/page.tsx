import { useParams } from "react-router";
import { useMay } from "../../api/session";
import { Empty } from "../../components/feedback";
import { Tabs } from "../../components/tabs";
import { NodesTab } from "./nodes";
import { PolicyTab } from "./policy";
import { QueueTab } from "./queue";
import { ReplayTab } from "./replay";
import { RulesTab } from "./rules/parts";
import { StorageTab } from "./storage";

const TABS = ["nodes", "queue", "storage", "rules", "policy", "replay"];
/** Rules of the object store are read and written by admins only. */
const OF_ADMINS = new Set(["rules"]);

/** For operators: where everything runs, what waits and why, and what another policy would do. */
export default function ClusterPage() {
  const { tab = "nodes" } = useParams();
  const administers = useMay("admin");
  return (
    <>
      <h1>Cluster</h1>
      <Tabs
        label="Parts of the cluster"
        tabs={TABS.filter((name) => administers || !OF_ADMINS.has(name)).map((name) => ({
          to: name === "nodes" ? "/cluster" : `/cluster/${name}`,
          text: name.charAt(0).toUpperCase() + name.slice(1),
          parts: name === "rules",
        }))}
      />
      {tab === "nodes" && <NodesTab />}
      {tab === "queue" && <QueueTab />}
      {tab === "storage" && <StorageTab />}
      {tab === "rules" &&
        (administers ? (
          <RulesTab />
        ) : (
          <Empty>Rules of the object store are read and written by admins.</Empty>
        ))}
      {tab === "policy" && <PolicyTab />}
      {tab === "replay" && <ReplayTab />}
    </>
  );
}
