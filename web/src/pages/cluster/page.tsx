import { useParams } from "react-router";
import { Tabs } from "../../components/tabs";
import { NodesTab } from "./nodes";
import { PolicyTab } from "./policy";
import { QueueTab } from "./queue";
import { ReplayTab } from "./replay";
import { StorageTab } from "./storage";

const TABS = ["nodes", "queue", "storage", "policy", "replay"];

/** For operators: where everything runs, what waits and why, and what another policy would do. */
export default function ClusterPage() {
  const { tab = "nodes" } = useParams();
  return (
    <>
      <h1>Cluster</h1>
      <Tabs
        label="Parts of the cluster"
        tabs={TABS.map((name) => ({
          to: name === "nodes" ? "/cluster" : `/cluster/${name}`,
          text: name.charAt(0).toUpperCase() + name.slice(1),
        }))}
      />
      {tab === "nodes" && <NodesTab />}
      {tab === "queue" && <QueueTab />}
      {tab === "storage" && <StorageTab />}
      {tab === "policy" && <PolicyTab />}
      {tab === "replay" && <ReplayTab />}
    </>
  );
}
