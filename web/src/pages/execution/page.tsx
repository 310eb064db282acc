import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { useParams } from "react-router";
import { api, told } from "../../api/client";
import { type JournalEvent, useJournal } from "../../api/journal";
import { askAgainAfter } from "../../api/problem";
import { useMay } from "../../api/session";
import { ErrorBox, Loading, NoPage } from "../../components/feedback";
import { Tabs } from "../../components/tabs";
import { Actions } from "./actions";
import { ChartsTab } from "./charts";
import { DescriptionTab } from "./description";
import { Differences } from "./differences";
import { EventsTab } from "./events";
import { IdleWarning } from "./idle-warning";
import { Instances } from "./instances";
import { LastLines } from "./last-lines";
import { LogsTab } from "./logs";
import { askAgainMs } from "./progress";
import { ProgressBar } from "./progress-bar";
import { PromiseCard } from "./promise-card";
import { Results } from "./results";
import { ServiceConditions } from "./service-conditions";
import { ServicesTab } from "./services";
import { StepsTab } from "./steps-tab";
import { Details, Summary } from "./summary";
import { Timeline } from "./timeline";
import { UseCard } from "./use-card";
import { Waiting, WhyWaited } from "./waiting";
import { WorkflowLink } from "./workflow-link";

const TABS = ["services", "logs", "charts", "steps", "events", "description"];
const EVENTS_PAGE = 1000;

export default function ExecutionPage() {
  const { executionId = "", tab = "services" } = useParams();
  const { execution, events, error, link } = useExecution(executionId);
  const operates = useMay("operate");
  if (error && !execution) return <NoPage title="Execution" error={error} />;
  if (!execution) return <Loading what="Reading the execution" />;
  const waits = execution.state === "queued" || execution.state === "submitted";
  return (
    <>
      <div className="spread">
        <Summary execution={execution} link={link} />
        <WorkflowLink executionId={execution.id} />
        <Actions key={execution.id} execution={execution} />
      </div>
      <ErrorBox error={error} />
      <ProgressBar execution={execution} />
      <ServiceConditions execution={execution} />
      <Instances execution={execution} />
      <PromiseCard key={`promise ${execution.id}`} execution={execution} />
      <IdleWarning execution={execution} events={events} />
      <Results execution={execution} />
      <LastLines key={`last lines ${execution.id}`} execution={execution} />
      {waits ? (
        // Offers say themselves why it waits, and what would help.
        !execution.offers && <Waiting execution={execution} operates={operates} />
      ) : (
        <UseCard key={execution.id} execution={execution} />
      )}
      <Timeline execution={execution} />
      {!waits && <WhyWaited execution={execution} />}
      <Tabs
        label="Parts of the execution"
        tabs={TABS.map((name) => ({
          to: `/executions/${executionId}${name === "services" ? "" : `/${name}`}`,
          text: name.charAt(0).toUpperCase() + name.slice(1),
        }))}
      />
      {tab === "services" && <ServicesTab execution={execution} />}
      {tab === "logs" && <LogsTab execution={execution} />}
      {tab === "charts" && <ChartsTab execution={execution} />}
      {tab === "steps" && <StepsTab execution={execution} events={events} />}
      {tab === "events" && <EventsTab execution={execution} events={events} />}
      {tab === "description" && (
        <>
          <Differences key={execution.id} executionId={execution.id} />
          <DescriptionTab execution={execution} />
        </>
      )}
      <Details execution={execution} />
    </>
  );
}

/** An execution and what happened to it, kept up to date by the journal. */
function useExecution(executionId: string) {
  const queries = useQueryClient();
  const key = useMemo(() => ["execution", executionId], [executionId]);
  const path = { execution_id: executionId };
  const { data: execution, error } = useQuery({
    queryKey: key,
    queryFn: () => told(api.GET("/api/v1/executions/{execution_id}", { params: { path } })),
    refetchInterval: ({ state }) => askAgainAfter(state.error) || askAgainMs(state.data),
  });
  const { data: past } = useQuery({
    queryKey: [...key, "events"],
    queryFn: async () => {
      const all: JournalEvent[] = [];
      for (;;) {
        const after = all[all.length - 1]?.id ?? 0;
        const query = { after, limit: EVENTS_PAGE };
        const page = await told(
          api.GET("/api/v1/executions/{execution_id}/events", { params: { path, query } }),
        );
        all.push(...page.events);
        if (page.events.length < EVENTS_PAGE) return all;
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [news, setNews] = useState<{ of: string; events: JournalEvent[] }>({ of: executionId, events: [] });
  const after = past ? (past[past.length - 1]?.id ?? 0) : null;
  const link = useJournal({ executionId, after }, (events) => {
    setNews((before) => ({
      of: executionId,
      events: before.of === executionId ? [...before.events, ...events] : events,
    }));
  });
  const fresh = news.of === executionId ? news.events : [];
  const events = useMemo(() => {
    const lastPast = past?.[past.length - 1]?.id ?? 0;
    return [...(past ?? []), ...fresh.filter((event) => event.id > lastPast)];
  }, [past, fresh]);
  // Whatever came first, list or events: what is older than the newest event is read again.
  const newest = events[events.length - 1]?.version ?? 0;
  const shown = execution?.version;
  useEffect(() => {
    if (shown !== undefined && shown < newest) void queries.invalidateQueries({ queryKey: key, exact: true });
  }, [queries, key, shown, newest]);
  return { execution, events, error, link };
}
