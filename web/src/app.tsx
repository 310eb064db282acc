import { lazy, Suspense } from "react";
import { Navigate, Route, Routes } from "react-router";
import { useMay, useSessionState, useWhose } from "./api/session";
import { Loading, ProblemBox } from "./components/feedback";
import { Frame } from "./frame";
import { SignInPage } from "./pages/sign-in";
import { SignInAgain } from "./pages/sign-in-again";

const CataloguePage = lazy(() => import("./pages/catalogue/page"));
const LaunchPage = lazy(() => import("./pages/catalogue/launch"));
const ClonePage = lazy(() => import("./pages/catalogue/clone"));
const EditPage = lazy(() => import("./pages/catalogue/edit"));
const ExecutionsPage = lazy(() => import("./pages/executions/page"));
const ExecutionPage = lazy(() => import("./pages/execution/page"));
const ArrayPage = lazy(() => import("./pages/arrays/page"));
const WorkflowsPage = lazy(() => import("./pages/workflows/list"));
const NewWorkflowPage = lazy(() => import("./pages/workflows/new/page"));
const WorkflowPage = lazy(() => import("./pages/workflows/page"));
const NewSchedulePage = lazy(() => import("./pages/schedules/new"));
const EditSchedulePage = lazy(() => import("./pages/schedules/edit"));
const SchedulesPage = lazy(() => import("./pages/schedules/page"));
const FilesPage = lazy(() => import("./pages/files/page"));
const ClusterPage = lazy(() => import("./pages/cluster/page"));
const StatementPage = lazy(() => import("./pages/statement"));
const UsagePage = lazy(() => import("./pages/usage"));
const AccountPage = lazy(() => import("./pages/account"));
const MachinePage = lazy(() => import("./pages/machine"));
const AdminPage = lazy(() => import("./pages/admin/page"));

export function App() {
  const { session, known, ended, problem } = useSessionState();
  if (!known) return <Loading />;
  if (session === null) return <SignInPage problem={problem} />;
  return (
    <>
      <Frame>
        <Suspense fallback={<Loading />}>
          <Pages />
        </Suspense>
      </Frame>
      {ended && <SignInAgain />}
    </>
  );
}

function Pages() {
  const operates = useMay("operate");
  const administers = useMay("admin");
  // Lists and streams of one tenant end with it; what is typed into the other pages stays.
  const whose = useWhose();
  return (
    <Routes>
      <Route path="/" element={<Navigate to="/catalogue" replace />} />
      <Route path="/catalogue" element={<CataloguePage />} />
      <Route path="/catalogue/:entryId" element={<LaunchPage />} />
      <Route path="/clone/:executionId" element={<ClonePage />} />
      <Route path="/new" element={<EditPage />} />
      <Route path="/executions" element={<ExecutionsPage key={whose} />} />
      <Route path="/executions/:executionId" element={<ExecutionPage key={whose} />} />
      <Route path="/executions/:executionId/:tab" element={<ExecutionPage key={whose} />} />
      <Route path="/arrays/:arrayId" element={<ArrayPage key={whose} />} />
      <Route path="/workflows" element={<WorkflowsPage key={whose} />} />
      <Route path="/workflows/new" element={<NewWorkflowPage />} />
      <Route path="/workflows/:workflowId" element={<WorkflowPage key={whose} />} />
      <Route path="/schedules" element={<SchedulesPage key={whose} />} />
      <Route path="/schedules/new" element={<NewSchedulePage />} />
      <Route path="/schedules/:name/edit" element={<EditSchedulePage key={whose} />} />
      <Route path="/files" element={<FilesPage key={whose} />} />
      <Route path="/statement" element={<StatementPage key={whose} />} />
      <Route path="/usage" element={<UsagePage key={whose} />} />
      <Route path="/account" element={<AccountPage />} />
      <Route path="/machine" element={<MachinePage />} />
      {operates && <Route path="/cluster/:tab?/:part?" element={<ClusterPage />} />}
      {administers && <Route path="/admin/:tab?" element={<AdminPage />} />}
      <Route
        path="*"
        element={
          <>
            <h1>No page</h1>
            <ProblemBox
              title="This page does not exist"
              text="The address may be wrong, or your role may not open it."
            />
          </>
        }
      />
    </Routes>
  );
}
