import { useParams } from "react-router";
import { Tabs } from "../../components/tabs";
import { AuditTab } from "./audit";
import { LimitsTab } from "./limits";
import { TenantsTab } from "./tenants";
import { TokensTab } from "./tokens";
import { UsersTab } from "./users";

const TABS = ["users", "tenants", "limits", "tokens", "audit"];

export default function AdminPage() {
  const { tab = "users" } = useParams();
  return (
    <>
      <h1>Administration</h1>
      <Tabs
        label="Parts of the administration"
        tabs={TABS.map((name) => ({
          to: name === "users" ? "/admin" : `/admin/${name}`,
          text: name.charAt(0).toUpperCase() + name.slice(1),
        }))}
      />
      {tab === "users" && <UsersTab />}
      {tab === "tenants" && <TenantsTab />}
      {tab === "limits" && <LimitsTab />}
      {tab === "tokens" && <TokensTab />}
      {tab === "audit" && <AuditTab />}
    </>
  );
}
